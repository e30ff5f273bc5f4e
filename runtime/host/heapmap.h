/* SPDX-License-Identifier: Apache-2.0 */
/* heapmap.h - where the tables of a heap lie, and a copy of them that host code can read.
 * */
#ifndef GPURT_HOST_HEAPMAP_H
#define GPURT_HOST_HEAPMAP_H

#include <gpurt/alloc.h>
#include <gpurt/heap.h>

/* What gpurt_heap_create gave, if the heap still exists. */
gpurt_status_t gpurt_heap_known(const gpurt_heap_t *heap, gpurt_error_t *err);

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

#endif
