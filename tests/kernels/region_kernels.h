/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that use a region: a given list of calls, and storms. */
#ifndef GPURT_TESTS_REGION_KERNELS_H
#define GPURT_TESTS_REGION_KERNELS_H

#include "holding.h"

#include <gpurt/impl/alloc/allocmap.h>
#include <gpurt/kernel.h>
#include <gpurt/region.h>

enum {
    REGION_ALLOC, /* slot: where the block goes; size, align */
    REGION_FREE,
    REGION_RESIZE,
    REGION_SPLIT, /* other: the slot of the second part */
    REGION_MERGE, /* other: the slot of the second part, empty then */
    REGION_KINDS
};

typedef struct region_op {
    uint32_t kind, slot, other, align;
    uint64_t size;
} region_op_t;

enum {
    REGION_MADE = 0, /* modes of region_storm, by bits: nothing special */
    REGION_CANCELS = 1
};

struct region_args {
    gpurt_region_t region;
    gpurt_heap_t heap;
    region_op_t *ops;
    uint64_t
        *answers; /* of each op: the block's offset plus one, or what was answered << 48 */
    uint64_t *cells; /* slots of a trace; hands of a storm */
    holding_verdict_t *verdict;
    uint32_t op_count, cell_count;
    uint32_t max_bytes, rounds, seed, mode;
};

#endif
