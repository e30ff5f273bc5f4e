/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_BENCH_RECLAIM_H
#define GPURT_TESTS_BENCH_RECLAIM_H

#include <gpurt/impl/gcmap.h>
#include <gpurt/kernel.h>

/* What a warp does again and again. */
enum {
    RECLAIM_ATOMIC, /* the floor: an atomic that answers, on a word of the lane's own */
    RECLAIM_RETAIN_OWN,
    RECLAIM_RETAIN_SAME, /* all lanes of the warp one object */
    RECLAIM_TRY_RETAIN,
    RECLAIM_EPOCH_SECTION,
    RECLAIM_EPOCH_RETIRE, /* allocate and retire, in a section of its own */
    RECLAIM_HAZARD_PROTECT,
    RECLAIM_HAZARD_RETIRE,
    RECLAIM_ALLOC_FREE, /* what a retire without anybody to wait for would be */
    RECLAIM_GC_SECTION,
    RECLAIM_GC_GET,
    RECLAIM_GC_WRITE,
    RECLAIM_OPS,
    RECLAIM_LIST = 16, /* objects of a root */
    RECLAIM_NODE_BYTES = 32
};

struct bench_reclaim_args {
    gpurt_heap_t heap;
    gpurt_refs_t refs;
    gpurt_epochs_t epochs;
    gpurt_hazards_t hazards;
    gpurt_gc_t gc;
    uint64_t *words;  /* one a lane, 16 apart */
    uint64_t *clocks; /* a warp and round */
    uint64_t *sums;   /* [0] wrong, [1] seen */
    uint64_t *rate;   /* [0] cycles, [1] the same in nanoseconds */
    uint32_t rounds, op, every;
};

#endif
