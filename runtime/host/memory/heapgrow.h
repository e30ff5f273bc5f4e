/* SPDX-License-Identifier: Apache-2.0 */
/* heapgrow.h - the memory of heaps whose addresses are reserved: the chunks' lies in a range
 * of the back end that is backed from below, the tables' in one piece, for all chunks that
 * can ever be. For heap.c only. */
#ifndef GPURT_HOST_HEAPGROW_H
#define GPURT_HOST_HEAPGROW_H

#include "backend.h"

#include <gpurt/impl/alloc/allocmap.h>

enum {
    GPURT_HEAP_STEP = 64 * GPURT_CHUNK_BYTES /* a leaf of the pool: what a heap grows by */
};

/* Reserves addresses and backs the first of them. chunks: that the heap can have. Sets the
 * heap's chunks. bytes: rounded up to steps. */
gpurt_status_t gpurt_heapgrow_create(gpurt_t *rt, uint32_t chunks, uint64_t bytes,
                                     gpurt_heap_t *h, gpurt_range_t **out,
                                     gpurt_error_t *err);

/* NULL: nothing. */
gpurt_status_t gpurt_heapgrow_destroy(gpurt_t *rt, gpurt_range_t *range);

/* Backs more of it and makes that known to kernels, which may run. */
gpurt_status_t gpurt_heapgrow_more(gpurt_t *rt, const gpurt_heap_t *h, gpurt_range_t *range,
                                   uint64_t bytes, gpurt_error_t *err);

#endif
