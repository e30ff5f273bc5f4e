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

#endif
