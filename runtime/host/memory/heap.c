/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps: layout and life. A heap is one allocation: chunks,
 * aligned to their size, then the tables. */
#include "heapmap.h"

#include "heapgrow.h"
#include "heaptable.h"
#include "heapview.h"
#include "life.h"
#include "memat.h"
#include "ownwait.h"
#include "process.h"
#include "refuse.h"
#include "servicerest.h"
#include "viewer.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEFAULT_BYTES = 256 << 20,
    MIB = 1 << 20,
    CHUNKS_A_SHARD = 16, /* fewer shards in a small heap */
    MOST_SHIFT = 40,     /* a run tells its first of 2^24 chunks */
    TABLE_ALIGN = 128,
    /* no version of the options is shorter; a smaller struct_size was never set */
    OPTIONS_FIRST = offsetof(gpurt_heap_options_t, keep_bytes)
};

static gpurt_lock_t grow_lock = GPURT_LOCK_INIT; /* the ranges of heaps */

/* ---- layout -------------------------------------------------------------------------- */

void gpurt_heap_count_words(gpurt_heap_t *h)
{
    h->leaf_words = (h->chunk_count + 63) / 64;
    h->branch_words = (h->leaf_words + 63) / 64;
    h->root_words = (h->branch_words + 63) / 64;
    h->tree_words = h->leaf_words + h->branch_words + h->root_words;
    h->tail_words = (h->shard_count + 63) / 64;
    h->start_words = h->leaf_words;
}

static void counts_set(gpurt_heap_t *h, uint32_t chunks, const gpurt_heap_options_t *o,
                       uint32_t sm_count)
{
    uint32_t fit = chunks / CHUNKS_A_SHARD, wanted = sm_count << o->spread;

    h->chunk_count = chunks;
    h->spread = o->spread;
    h->shard_count = o->shards ? o->shards : wanted < fit ? wanted : fit ? fit : 1;
    gpurt_heap_count_words(h);
    h->run_chunks = o->run_chunks;
    if (h->run_chunks == 0) /* about an eighth of a shard's share */
        for (h->run_chunks = 1; h->run_chunks < GPURT_RUN_CHUNKS &&
                                h->run_chunks * h->shard_count * 16 <= chunks;)
            h->run_chunks *= 2;
}

static void *part(char *memory, size_t *at, size_t bytes)
{
    char *begin = (char *)((uintptr_t)memory + *at);

    *at += (bytes + TABLE_ALIGN - 1) / TABLE_ALIGN * TABLE_ALIGN;
    return begin;
}

static size_t tables_place(gpurt_heap_t *h, char *memory)
{
    size_t at = 0;

    h->counts = (gpurt_heap_counts_t *)part(memory, &at, sizeof *h->counts);
    h->currents = (uint64_t *)part(memory, &at,
                                   sizeof(uint64_t) * GPURT_CLASS_STRIDE * h->shard_count);
    h->tails = (uint64_t *)part(
        memory, &at, sizeof(uint64_t) * (2 * GPURT_CLASS_COUNT + 1) * h->tail_words);
    h->trees =
        (uint64_t *)part(memory, &at, sizeof(uint64_t) * GPURT_TREE_COUNT * h->tree_words);
    h->states = (uint32_t *)part(memory, &at, sizeof(uint32_t) * h->chunk_count);
    h->bits = (uint32_t *)part(memory, &at,
                               sizeof(uint32_t) * GPURT_CHUNK_BITS_WORDS * h->chunk_count);
    return at;
}

size_t gpurt_heap_table_bytes(const gpurt_heap_t *heap)
{
    gpurt_heap_t h = *heap;

    return tables_place(&h, NULL);
}

void gpurt_heap_place(gpurt_heap_t *heap, char *memory)
{
    tables_place(heap, memory);
}

/* As many chunks as fit with their tables, and what aligning them may cost. */
static uint32_t chunks_fit(gpurt_heap_t *h, gpurt_heap_watch_t *watch,
                           const gpurt_heap_options_t *o, uint32_t sm_count)
{
    uint64_t chunks = o->bytes / GPURT_CHUNK_BYTES;

    for (; chunks > 0; chunks -= chunks / 4096 + 1) {
        counts_set(h, (uint32_t)chunks, o, sm_count);
        if (gpurt_heap_table_bytes(h) +
                gpurt_heap_watch_place(watch, (uint32_t)chunks, NULL) +
                (chunks + 1) * GPURT_CHUNK_BYTES <=
            o->bytes)
            return (uint32_t)chunks;
    }
    return 0;
}

/* ---- life ---------------------------------------------------------------------------- */

/* The pool holds every chunk; branches and roots say so. */
static void pool_fill(uint64_t *words, uint32_t members)
{
    for (uint32_t i = 0; i * 64 < members; i++)
        words[i] = members - i * 64 >= 64 ? ~0ull : (1ull << (members - i * 64)) - 1;
}

static gpurt_status_t tables_init(gpurt_t *rt, const gpurt_heap_t *h, gpurt_error_t *err)
{
    size_t bytes = sizeof(uint64_t) * h->tree_words;
    uint32_t most = h->start_words * 64, leaves = h->start_words;
    uint32_t chunks = h->chunk_count < most ? h->chunk_count : most;
    uint64_t *pool = (uint64_t *)calloc(1, bytes), grown[2] = {leaves, leaves};
    gpurt_status_t st;

    if (!pool)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "heap: tables");
    pool_fill(pool, chunks);
    pool_fill(pool + h->leaf_words, leaves);
    pool_fill(pool + h->leaf_words + h->branch_words, (leaves + 63) / 64);
    st = gpurt_fill(rt, GPURT_STREAM_DEFAULT, h->counts, 0, gpurt_heap_table_bytes(h), err);
    if (st == GPURT_OK)
        st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, h->trees, pool, bytes, err);
    if (st == GPURT_OK)
        st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, &h->counts->xgrown, grown, sizeof grown,
                        err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
    free(pool);
    return st;
}

static gpurt_status_t options_check(const gpurt_heap_options_t *in,
                                    gpurt_heap_options_t *out, gpurt_error_t *err)
{
    memset(out, 0, sizeof *out);
    if (in) {
        size_t given = in->struct_size ? in->struct_size : sizeof *in;

        if (given < OPTIONS_FIRST)
            return REFUSE(
                err, GPURT_E_INVALID,
                "heap: struct_size is %zu: set it to sizeof(gpurt_heap_options_t)", given);
        memcpy(out, in, given < sizeof *out ? given : sizeof *out);
    }
    if (out->bytes == 0)
        out->bytes = DEFAULT_BYTES;
    if (out->run_chunks > GPURT_RUN_CHUNKS || (out->run_chunks & (out->run_chunks - 1)))
        return REFUSE(err, GPURT_E_INVALID,
                      "heap: run_chunks %u: a power of two up to %d, or 0", out->run_chunks,
                      GPURT_RUN_CHUNKS);
    if (out->spread > 6 || out->shards > 1u << 16)
        return REFUSE(err, GPURT_E_INVALID,
                      "heap: spread is %u (at most 6), shards is %u (at most 65536)",
                      out->spread, out->shards);
    if (out->bytes >> MOST_SHIFT)
        return REFUSE(err, GPURT_E_INVALID,
                      "heap: bytes %llu: less than 1 TiB is what a heap can have",
                      (unsigned long long)out->bytes);
    return GPURT_OK;
}

/* What is checked lies behind the tables. */
static void tables_begin(gpurt_heap_t *h, gpurt_heap_watch_t *watch, char *tables)
{
    gpurt_heap_place(h, tables);
    if (!watch->level)
        return;
    tables += gpurt_heap_table_bytes(h);
    gpurt_heap_watch_place(watch, h->chunk_count, tables);
    h->watch = (gpurt_heap_watch_t *)(void *)tables;
}

/* The back end knows what failed, not what the memory was for. */
static gpurt_status_t heap_memory(gpurt_t *rt, uint64_t bytes, uint64_t device_bytes,
                                  void **memory, gpurt_error_t *err)
{
    gpurt_error_t why = {0};
    gpurt_status_t st = gpurt_mem_create(rt, bytes, memory, &why);

    if (st == GPURT_E_NOMEM)
        return gpurt_fail(err, st, why.origin, why.code,
                          "heap: no memory for %llu bytes, of %llu that the device has in "
                          "all: give it less (bytes)",
                          (unsigned long long)bytes, (unsigned long long)device_bytes);
    if (st != GPURT_OK && err)
        *err = why;
    return st;
}

/* A heap that can grow: its chunks in a range, its tables for all of it in one piece. */
static gpurt_status_t heap_reserve(gpurt_t *rt, const gpurt_heap_options_t *o,
                                   uint32_t sm_count, gpurt_heap_t *h,
                                   gpurt_heap_watch_t *watch, void **memory,
                                   gpurt_range_t **range, gpurt_error_t *err)
{
    uint64_t step = GPURT_HEAP_STEP, all = (o->reserve_bytes + step - 1) / step;
    uint64_t first = (o->bytes + step - 1) / step;
    gpurt_status_t st;

    if (all < first || all * 64 >> 24)
        return REFUSE(err, GPURT_E_INVALID,
                      "heap: reserve_bytes %llu: at least bytes, and less than 1 TiB",
                      (unsigned long long)o->reserve_bytes);
    counts_set(h, (uint32_t)all * 64, o, sm_count);
    h->start_words = (uint32_t)first;
    st = gpurt_heapgrow_create(rt, h->chunk_count, first * step, h, range, err);
    if (st == GPURT_OK)
        st = gpurt_mem_create(rt,
                              gpurt_heap_table_bytes(h) +
                                  gpurt_heap_watch_place(watch, h->chunk_count, NULL),
                              memory, err);
    if (st == GPURT_OK)
        tables_begin(h, watch, (char *)*memory);
    return st;
}

/* h: of one chunk, as it was tried last. */
static gpurt_status_t too_few(const gpurt_heap_t *h, const gpurt_heap_options_t *o,
                              gpurt_error_t *err)
{
    const char *are = o->bytes == 1 ? " is" : "s are";

    if (o->shards && o->bytes >= MIB)
        return REFUSE(err, GPURT_E_INVALID,
                      "heap: %llu byte%s too few for a chunk and the tables of %u shards, "
                      "of %zu bytes: give more bytes or fewer shards",
                      (unsigned long long)o->bytes, are, h->shard_count,
                      gpurt_heap_table_bytes(h));
    return REFUSE(err, GPURT_E_INVALID,
                  "heap: %llu byte%s too few for a chunk and its tables: give 1 MiB",
                  (unsigned long long)o->bytes, are);
}

static gpurt_status_t heap_make(gpurt_t *rt, const gpurt_heap_options_t *o,
                                gpurt_heap_t *out, gpurt_heap_watch_t *out_watch,
                                void **memory, gpurt_range_t **range, gpurt_error_t *err)
{
    gpurt_heap_t h = {0};
    gpurt_heap_watch_t watch;
    gpurt_info_t info;
    gpurt_status_t st = gpurt_life_check(rt, err);
    uintptr_t begin;

    if (st == GPURT_OK)
        st = gpurt_info(rt, &info);
    if (st != GPURT_OK)
        return st;
    st = gpurt_heap_watch_plan(o, &watch, err);
    if (st != GPURT_OK)
        return st;
    if (o->reserve_bytes) {
        st = heap_reserve(rt, o, info.sm_count, &h, &watch, memory, range, err);
        *out = h;
        *out_watch = watch;
        return st == GPURT_OK ? tables_init(rt, &h, err) : st;
    }
    if (chunks_fit(&h, &watch, o, info.sm_count) == 0)
        return too_few(&h, o, err);
    st = heap_memory(rt, o->bytes, info.memory_bytes, memory, err);
    if (st != GPURT_OK)
        return st;
    begin = ((uintptr_t)*memory + GPURT_CHUNK_BYTES - 1) / GPURT_CHUNK_BYTES *
            GPURT_CHUNK_BYTES;
    h.chunks = (char *)*memory + (begin - (uintptr_t)*memory);
    tables_begin(&h, &watch, h.chunks + (size_t)h.chunk_count * GPURT_CHUNK_BYTES);
    *out = h;
    st = tables_init(rt, &h, err);
    *out_watch = watch;
    return st;
}

gpurt_status_t gpurt_heap_create(gpurt_t *rt, const gpurt_heap_options_t *options,
                                 gpurt_heap_t *out, gpurt_error_t *err)
{
    gpurt_heap_options_t o;
    gpurt_heap_watch_t watch;
    gpurt_heap_t h;
    gpurt_range_t *range = NULL;
    void *memory = NULL;
    gpurt_status_t st;
    bool added;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the heap");
    memset(out, 0, sizeof *out);
    st = options_check(options, &o, err);
    if (st == GPURT_OK && o.make_default)
        st = gpurt_heapunit_check(rt, err);
    if (st == GPURT_OK && o.make_default)
        gpurt_heapauto_give_way(rt);
    if (st == GPURT_OK)
        st = heap_make(rt, &o, &h, &watch, &memory, &range, err);
    if (st == GPURT_OK)
        st = gpurt_heaptable_add(rt, &h, memory, range, err);
    added = st == GPURT_OK;
    if (added && h.watch)
        st = gpurt_heap_watch_begin(rt, &h, &watch, err);
    if (st != GPURT_OK) {
        if (added)
            gpurt_heaptable_remove(&h);
        gpurt_mem_destroy(rt, memory);
        gpurt_heapgrow_destroy(rt, range);
        return st;
    }
    gpurt_heaptable_open(&h);
    if (o.make_default)
        st = gpurt_heap_set_default(rt, &h, err);
    if (st != GPURT_OK) {
        gpurt_heap_destroy(rt, &h, NULL);
        return st;
    }
    *out = h;
    gpurt_heapview_begin(rt, &h);
    return st;
}

/* At `at`, if the back end can say where memory lies; else wherever it comes to lie. */
static gpurt_status_t memory_at(gpurt_t *rt, size_t bytes, void *at, void **memory,
                                gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_mem_create_at(rt, bytes, at, memory, err);

    return st == GPURT_E_UNSUPPORTED
               ? gpurt_mem_create(rt, bytes + GPURT_CHUNK_BYTES, memory, err)
               : st;
}

gpurt_status_t gpurt_heap_make_at(gpurt_t *rt, gpurt_heap_t *h, void *at, bool may_move,
                                  gpurt_error_t *err)
{
    size_t chunks = (size_t)h->chunk_count * GPURT_CHUNK_BYTES;
    size_t bytes = chunks + gpurt_heap_table_bytes(h);
    void *memory = NULL;
    gpurt_status_t st = memory_at(rt, bytes, at, &memory, err);
    uintptr_t begin;

    if (st == GPURT_E_MOVED && may_move)
        st = gpurt_mem_create(rt, bytes + GPURT_CHUNK_BYTES, &memory, err);
    if (st != GPURT_OK)
        return st;
    begin =
        ((uintptr_t)memory + GPURT_CHUNK_BYTES - 1) / GPURT_CHUNK_BYTES * GPURT_CHUNK_BYTES;
    h->chunks = (char *)memory + (begin - (uintptr_t)memory);
    gpurt_heap_place(h, h->chunks + chunks);
    if (h->chunks != at && !may_move)
        st = REFUSE(err, GPURT_E_MOVED,
                    "heap: it lay at %p and would lie at %p; objects that hold addresses "
                    "would be wrong (GPURT_CHECKPOINT_MAY_MOVE)",
                    at, (void *)h->chunks);
    if (st == GPURT_OK)
        st = gpurt_heaptable_add(rt, h, memory, NULL, err);
    if (st == GPURT_OK)
        gpurt_heaptable_open(h);
    else
        gpurt_mem_destroy(rt, memory);
    return st;
}

/* Services that use it rest. A refusal leaves all as it was. */
static gpurt_status_t heap_end(gpurt_t *rt, gpurt_heap_t *heap, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;

    if (gpurt_heap_defaults[gpurt_life_index(rt)].id == heap->id)
        st = gpurt_heapunit_clear(rt, err);
    if (st == GPURT_OK)
        st = gpurt_heaptable_retire(rt, heap, err);
    if (st != GPURT_OK)
        return st;
    if (heap->watch)
        gpurt_heap_report_last(rt, heap);
    gpurt_heapview_end(rt, heap);
    st = gpurt_heap_drop(heap);
    if (st != GPURT_OK)
        return REFUSE(err, st, "heap: its memory could not be freed");
    memset(heap, 0, sizeof *heap);
    return GPURT_OK;
}

gpurt_status_t gpurt_heap_destroy(gpurt_t *rt, gpurt_heap_t *heap, gpurt_error_t *err)
{
    gpurt_service_rest_t rest;
    gpurt_status_t st;

    if (!heap || !heap->chunks)
        return GPURT_OK;
    st = gpurt_heap_known(rt, heap, err);
    if (st == GPURT_OK)
        st = gpurt_services_rest(rt, &heap->id, 1, &rest, err);
    if (st != GPURT_OK)
        return st;
    st = heap_end(rt, heap, err);
    gpurt_services_resume(&rest);
    return st;
}

/* The wait only where somebody is told: it takes what a later one would be told. */
gpurt_status_t gpurt_heaps_closing(gpurt_t *rt, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;
    bool waited = false;
    gpurt_heap_t heap;

    for (uint32_t i = 0; i < GPURT_HEAPS; i++) {
        if (!gpurt_heap_take_nth(i, rt, &heap))
            continue;
        if (heap.watch && gpurt_heap_report_wanted(rt)) {
            if (!waited)
                st = gpurt_own_sync(rt, err);
            waited = true;
            gpurt_heap_report_last(rt, &heap);
        }
        gpurt_heap_drop(&heap);
    }
    return st == GPURT_E_CLOSED ? GPURT_OK : st;
}

gpurt_status_t gpurt_heap_grow(gpurt_t *rt, const gpurt_heap_t *heap, uint64_t bytes,
                               gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_heap_take(rt, heap, err);
    gpurt_range_t *range;

    if (st != GPURT_OK)
        return st;
    range = gpurt_heaptable_range(heap);
    gpurt_lock_take(&grow_lock); /* two may grow it */
    if (range)
        st = gpurt_heapgrow_more(rt, heap, range, bytes, err);
    else
        st = REFUSE(err, GPURT_E_INVALID,
                    "heap: it cannot grow: create it with reserve_bytes");
    gpurt_lock_give(&grow_lock);
    gpurt_heap_drop(heap);
    return st;
}
