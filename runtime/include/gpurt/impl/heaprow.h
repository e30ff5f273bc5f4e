/* SPDX-License-Identifier: Apache-2.0 */
/* heaprow.h - records about heaps that are no objects: their kinds, and what their words are. How
 * heaps fare, and what stands on them, is told of as objects (objectclass.h).
 *
 * They are records like all others (record.h), so a reader who knows nothing of them prints
 * them by their formats. Kernels write what is wrong and each call of a traced heap
 * (allocrow.h), which gpurt-replay runs again. The layouts are frozen. */
#ifndef GPURT_HEAPROW_H
#define GPURT_HEAPROW_H

#include <gpurt/impl/activity.h>

enum {
    GPURT_KIND_HEAP_WRONG = GPURT_KIND_ALLOCATOR,
    GPURT_KIND_HEAP_ALLOC = 17, /* trace: heap, size, unit, alignment; a column each */
    GPURT_KIND_HEAP_FREE = 18,  /* trace: heap, unit */
    GPURT_KIND_HEAP_LEAK =
        23 /* by the host, when a heap ends: who still holds memory of it */
};

/* Addresses in traces count units of 16 bytes from the heap's begin. */
/* Units are of 16 bytes, so heaps of 64 GiB and more are not traced; a size of 4 GiB and more
 * is told as 4 GiB - 1. */
#define GPURT_HEAP_NO_UNIT 0xffffffffu /* NULL */
#define GPURT_HEAP_ALIEN   0xfffffffeu /* freed, but not of this heap */

typedef struct gpurt_heap_leak_row {
    uint32_t heap;
    gpurt_pair_t bytes, objects;
    uint32_t site;
} gpurt_heap_leak_row_t;

/* Calls of traced heaps: too many to be lines of a log. */
static inline bool gpurt_kind_is_trace(uint32_t kind)
{
    return kind == GPURT_KIND_HEAP_ALLOC || kind == GPURT_KIND_HEAP_FREE;
}

/* Kinds that are lines of a log: neither what devices did nor how objects fare. */
static inline bool gpurt_kind_is_line(uint32_t kind)
{
    return !gpurt_kind_is_activity(kind) && !gpurt_kind_is_trace(kind) &&
           kind != GPURT_KIND_OBJECT;
}

#endif
