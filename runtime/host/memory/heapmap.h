/* SPDX-License-Identifier: Apache-2.0 */
/* heapmap.h - where the tables of a heap lie, and a copy of them that host code can read.
 * */
#ifndef GPURT_HOST_HEAPMAP_H
#define GPURT_HOST_HEAPMAP_H

#include <gpurt/alloc.h>
#include <gpurt/heap.h>

/* heaptable.c: what gpurt_heap_create gave, if the heap still exists and is not another open
 * device's. */
gpurt_status_t gpurt_heap_known(gpurt_t *rt, const gpurt_heap_t *heap, gpurt_error_t *err);
/* The same; its memory stays until the drop, whoever destroys it meanwhile. */
gpurt_status_t gpurt_heap_take(gpurt_t *rt, const gpurt_heap_t *heap, gpurt_error_t *err);
/* Heap number i of GPURT_HEAPS, if there is one of that runtime: taken. */
bool gpurt_heap_take_nth(uint32_t i, const gpurt_t *rt, gpurt_heap_t *out);
/* Of malloc.h: whether the memory is of the chunks of a heap that exists, and of which. Not taken:
 * who frees an object knows that its heap stays meanwhile. */
bool gpurt_heap_find(const void *memory, gpurt_heap_t *out);
/* Ends a use. Returns: what became of its memory where that went with it, else GPURT_OK. */
gpurt_status_t gpurt_heap_drop(const gpurt_heap_t *heap);

/* heapunit.c: device code of the program has gpurt/malloc.h, which calls the first as it is
 * loaded; whether any has. */
void gpurt_heap_want(void);
bool gpurt_heap_wanted(void);
/* Whether the default heap may change now. Returns: GPURT_E_SERVICE, a service may read it. */
gpurt_status_t gpurt_heapunit_check(gpurt_t *rt, gpurt_error_t *err);
/* There is none from now on. Context: its heap ends, so that services have stopped using it. */
gpurt_status_t gpurt_heapunit_clear(gpurt_t *rt, gpurt_error_t *err);

/* heapauto.c: the default heap of a program that has gpurt/malloc.h and makes none. */
void gpurt_heapauto_open(gpurt_t *rt);
/* The host makes its own: ends the other where nothing lives in it. */
void gpurt_heapauto_give_way(gpurt_t *rt);
void gpurt_heapauto_close(gpurt_t *rt);

/* In a forked child: no device has a default heap. Context: no call is inside. */
void gpurt_heapauto_forked(void);
void gpurt_heapunit_forked(void);

/* Bytes of the tables of a heap with the counts set. */
size_t gpurt_heap_table_bytes(const gpurt_heap_t *heap);

/* Points the tables of a heap with the counts set to their places in `memory`. */
void gpurt_heap_place(gpurt_heap_t *heap, char *memory);

/* Sets what follows from chunk_count and shard_count. */
void gpurt_heap_count_words(gpurt_heap_t *heap);

/* Makes a heap with the counts set, whose chunks lie at `at`, or, if it may move, anywhere;
 * its tables are not filled. GPURT_E_MOVED: they cannot. */
gpurt_status_t gpurt_heap_make_at(gpurt_t *rt, gpurt_heap_t *heap, void *at, bool may_move,
                                  gpurt_error_t *err);

/* Chunks that have memory behind them. h: with its tables in the host's memory. */
static inline uint32_t gpurt_heap_backed(const gpurt_heap_t *h)
{
    uint64_t chunks = h->counts->xgrown * 64;

    return chunks < h->chunk_count ? (uint32_t)chunks : h->chunk_count;
}

/* The same heap with its tables in the host's memory. */
typedef struct gpurt_heap_mirror {
    gpurt_heap_t heap;
    char *memory; /* owned */
} gpurt_heap_mirror_t;

gpurt_status_t gpurt_heap_mirror_load(gpurt_t *rt, const gpurt_heap_t *heap,
                                      gpurt_heap_mirror_t *out, gpurt_error_t *err);
gpurt_status_t gpurt_heap_mirror_store(gpurt_t *rt, const gpurt_heap_t *heap,
                                       const gpurt_heap_mirror_t *mirror,
                                       gpurt_error_t *err);
void gpurt_heap_mirror_free(gpurt_heap_mirror_t *mirror);

/* heaplook.c: gpurt_heap_walk in a mirror. Returns: GPURT_E_NOMEM. */
gpurt_status_t gpurt_heap_mirror_walk(const gpurt_heap_t *mirror, gpurt_heap_visit_fn visit,
                                      void *context, gpurt_error_t *err);
/* Figures of a mirror; its bits are not looked at. live: zeroed, becomes the bytes
 * that are live in each chunk of a class; or NULL. */
gpurt_status_t gpurt_heap_figures(const gpurt_heap_t *mirror, gpurt_heap_stats_t *out,
                                  uint32_t *live, gpurt_error_t *err);

/* ---- heapguard.c: what a heap that checks has besides ---------------------------------- */

/* Fills level, trace and the sizes in, as options and environment say; level 0: it has
 * nothing. */
gpurt_status_t gpurt_heap_watch_plan(const gpurt_heap_options_t *o, gpurt_heap_watch_t *out,
                                     gpurt_error_t *err);
/* Bytes for that many chunks, and where its parts lie in `memory`. */
size_t gpurt_heap_watch_place(gpurt_heap_watch_t *watch, uint32_t chunks, char *memory);
/* Begins it in device memory of heap->watch. */
gpurt_status_t gpurt_heap_watch_begin(gpurt_t *rt, const gpurt_heap_t *heap,
                                      const gpurt_heap_watch_t *watch, gpurt_error_t *err);
/* Copies it, without its tables. Context: heap->watch is not NULL. */
gpurt_status_t gpurt_heap_watch_load(gpurt_t *rt, const gpurt_heap_t *heap,
                                     gpurt_heap_watch_t *out, gpurt_error_t *err);
/* Of each object that is live or kept back: its record, and where its slot lies in the heap.
 * A failure ends it. mirror: of the same moment. */
typedef gpurt_status_t (*gpurt_heap_record_fn)(void *context, const gpurt_alloc_record_t *r,
                                               uint64_t begin, uint64_t bytes);
gpurt_status_t gpurt_heap_records_each(gpurt_t *rt, const gpurt_heap_t *heap,
                                       const gpurt_heap_mirror_t *mirror,
                                       const gpurt_heap_watch_t *watch,
                                       gpurt_heap_record_fn fn, void *context,
                                       gpurt_error_t *err);
/* What is wrong with guards and poison of objects, and no call has found. A failure ends it.
 * mirror, watch: of the same moment. */
typedef gpurt_status_t (*gpurt_heap_found_fn)(void *context, const gpurt_heap_found_t *f);
gpurt_status_t gpurt_heap_guards_each(gpurt_t *rt, const gpurt_heap_t *heap,
                                      const gpurt_heap_mirror_t *mirror,
                                      const gpurt_heap_watch_t *watch,
                                      gpurt_heap_found_fn fn, void *context,
                                      gpurt_error_t *err);
/* GPURT_E_FAULT says the first of it. mirror: of the same moment. */
gpurt_status_t gpurt_heap_guards_check(gpurt_t *rt, const gpurt_heap_t *heap,
                                       const gpurt_heap_mirror_t *mirror,
                                       gpurt_error_t *err);

/* heapreport.c: a heap that checks ends. Whether anybody wants to be told: GPURT_HEAP_LEAKS
 * names a file, or there is a log. */
bool gpurt_heap_report_wanted(const gpurt_t *rt);
/* Tells them. Context: it is taken, and no kernel works in it. */
void gpurt_heap_report_last(gpurt_t *rt, const gpurt_heap_t *heap);

/* The slot that begins at that offset of the heap's chunks is with the program, or kept back.
 * *bytes: of it. mirror: a heap whose tables lie here. */
bool gpurt_heap_slot_taken(const gpurt_heap_t *mirror, uint64_t offset, uint64_t *bytes);

/* heap.c: the heaps of a runtime that is about to be closed. Returns: the first failure of
 * work that had to be waited for. */
gpurt_status_t gpurt_heaps_closing(gpurt_t *rt, gpurt_error_t *err);

#endif
