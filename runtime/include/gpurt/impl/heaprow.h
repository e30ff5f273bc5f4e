/* SPDX-License-Identifier: Apache-2.0 */
/* heaprow.h - records about heaps that are no objects: what their words are. How
 * heaps fare, and what stands on them, is told of as objects (objectclass.h).
 *
 * They are records like all others (record.h), so a reader who knows nothing of them prints
 * them by their formats. Kernels write what is wrong and each call of a traced heap
 * (allocrow.h), which gpurt-replay runs again. The layouts are frozen. */
#ifndef GPURT_HEAPROW_H
#define GPURT_HEAPROW_H

#include <gpurt/impl/activity.h>

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

typedef struct gpurt_heap_damage_row {
    uint32_t heap;
    gpurt_pair_t object, size;
    uint32_t what, site, block, thread, free_site, free_block, free_thread;
    gpurt_pair_t at; /* signed */
} gpurt_heap_damage_row_t;

#endif
