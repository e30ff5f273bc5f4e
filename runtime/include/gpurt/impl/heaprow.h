/* SPDX-License-Identifier: Apache-2.0 */
/* heaprow.h - records about heaps: their kinds, and what their words are. What stands on heaps is
 * told of as objects (objectclass.h).
 *
 * They are records like all others (record.h), so a reader who knows nothing of them prints
 * them by their formats. Kernels write what is wrong and each call of a traced heap
 * (allocrow.h), the host side how heaps fare (viewer.h): the structs below, word by word.
 * The model adds them up, gpurt-replay runs traces again. The layouts are frozen. */
#ifndef GPURT_HEAPROW_H
#define GPURT_HEAPROW_H

#include <gpurt/impl/activity.h>

enum {
    GPURT_KIND_HEAP_WRONG = GPURT_KIND_ALLOCATOR,
    GPURT_KIND_HEAP_ALLOC = 17, /* trace: heap, size, unit, alignment; a column each */
    GPURT_KIND_HEAP_FREE = 18,  /* trace: heap, unit */
    GPURT_KIND_HEAP_STATE = 19, /* by the host, as all below: a heap as a whole, ... */
    GPURT_KIND_HEAP_CLASS = 20, /* ... a size class, */
    GPURT_KIND_HEAP_MAP = 21,   /* ... its chunks, */
    GPURT_KIND_HEAP_SITE = 22,  /* ... who holds most, */
    GPURT_KIND_HEAP_LEAK = 23,  /* ... and when it ends, who still does; */
    GPURT_KIND_HEAP_POOLS = 24  /* what pools above it served */
};

/* Addresses in traces count units of 16 bytes from the heap's begin. */
/* Units are of 16 bytes, so heaps of 64 GiB and more are not traced; a size of 4 GiB and more
 * is told as 4 GiB - 1. */
#define GPURT_HEAP_NO_UNIT 0xffffffffu /* NULL */
#define GPURT_HEAP_ALIEN   0xfffffffeu /* freed, but not of this heap */

/* flags of a state */
#define GPURT_HEAP_LEVEL 0xffu /* GPURT_CHECKS_*, 0 none */
#define GPURT_HEAP_TRACE 0x100u
#define GPURT_HEAP_ENDED 0x200u

typedef struct gpurt_heap_state_row {
    uint32_t heap, flags;
    gpurt_pair_t bytes; /* of all chunks */
    gpurt_pair_t live, live_bytes;
    gpurt_pair_t slack; /* bytes of free slots in chunks that belong to a class */
    gpurt_pair_t kept;  /* bytes kept back after their free */
    uint32_t free_chunks, largest_row; /* chunks of 64 KiB: in the pool, of them in a row */
    uint32_t large_chunks;
    gpurt_pair_t refused,
        wrong; /* requests that got NULL; bad frees and all that was found */
} gpurt_heap_state_row_t;

typedef struct gpurt_heap_class_row {
    uint32_t heap, bytes; /* of a slot */
    uint32_t chunks;
    gpurt_pair_t live, reusable, fresh; /* slots */
} gpurt_heap_class_row_t;

/* Four bits a cell, the first lowest: 0 all its chunks are free, 1..13 the share of its bytes
 * that is live, 14 large objects alone, 15 beyond the end. */
enum {
    GPURT_HEAP_CELLS = 128,
    GPURT_HEAP_CELL_FULL = 13,
    GPURT_HEAP_CELL_LARGE = 14,
    GPURT_HEAP_CELL_NONE = 15
};
typedef struct gpurt_heap_map_row {
    uint32_t heap, chunks; /* a cell */
    gpurt_pair_t cells[GPURT_HEAP_CELLS / 16];
} gpurt_heap_map_row_t;

typedef struct gpurt_heap_site_row {
    uint32_t heap, site;
    uint32_t rank, count; /* of the list that it is in */
    gpurt_pair_t objects, bytes;
    uint32_t sampled; /* one of so many chunks was looked at */
} gpurt_heap_site_row_t;

typedef struct gpurt_heap_leak_row {
    uint32_t heap;
    gpurt_pair_t bytes, objects;
    uint32_t site;
} gpurt_heap_leak_row_t;

/* Objects by the level of the pool (GPURT_PLACE_*: thread, warp, block, global) that served
 * them or took them back, as flushes have told. */
enum {
    GPURT_HEAP_POOLS = 4
};
typedef struct gpurt_heap_pools_row {
    uint32_t heap;
    gpurt_pair_t got[GPURT_HEAP_POOLS], put[GPURT_HEAP_POOLS];
} gpurt_heap_pools_row_t;

/* Kinds that tell of a heap's state or calls, or of what stands on heaps: too many to be lines
 * of a log. */
static inline bool gpurt_kind_is_heap(uint32_t kind)
{
    return kind >= GPURT_KIND_HEAP_ALLOC && kind <= GPURT_KIND_HEAP_POOLS &&
           kind != GPURT_KIND_HEAP_LEAK;
}

/* Kinds that are lines of a log: neither what devices did nor how objects fare. */
static inline bool gpurt_kind_is_line(uint32_t kind)
{
    return !gpurt_kind_is_activity(kind) && !gpurt_kind_is_heap(kind) &&
           kind != GPURT_KIND_OBJECT;
}

#endif
