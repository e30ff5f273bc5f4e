/* SPDX-License-Identifier: Apache-2.0 */
/* unwind_kernels.h - what the kernels of test_unwind are told, and what they write down. */
#ifndef GPURT_TESTS_UNWIND_KERNELS_H
#define GPURT_TESTS_UNWIND_KERNELS_H

#include <gpurt/kernel.h>

enum {
    UNWIND_BLOCKS = 8,
    UNWIND_THREADS = 96,
    UNWIND_WARPS = UNWIND_THREADS / 32,
    UNWIND_NOBODY = 0xff
};

/* ---- unwind_defer: a digit of the log word a warp for each handler that ran -------------- */
enum {
    DEFER_ORDER,  /* all lanes note 1, 2, 3; one panics */
    DEFER_PART,   /* halves note 2 and 3 each for itself, after all noted 1 */
    DEFER_TAKEN,  /* 3 is taken back, 2 is run by hand, 1 stays */
    DEFER_PANIC,  /* 2 panics when it runs */
    DEFER_RETURN, /* the warp returns with 1 noted: nothing runs, and none panics */
    DEFER_FULL,   /* one more than there is room for */
    DEFER_SAFE,   /* 2 passes safe points when it runs */
    DEFER_THREAD, /* level THREAD: 1 by all, 2 by the lane that panics */
    DEFER_LANES,  /* each lane of a warp its own handler: 1, by two lanes */
    DEFER_KINDS
};

/* ---- unwind_work: a sum that every block must have made, whatever happened --------------- */
enum {
    WORK_AT_BARRIER, /* all blocks but the victim's go round a barrier until it is over */
    WORK_IN_RELAX,
    WORK_IN_LOOP, /* gpurt_cancel_point */
    WORK_AT_GRID,
    WORK_ONCE /* no loop: each block does its work and ends */
};
enum {
    WORK_HOW_PANIC = 1, /* what the victim does */
    WORK_HOW_KERNEL = 2 /* gpurt_cancel_kernel */
};

struct unwind_args {
    uint64_t *log;     /* a word a warp of the grid: digits, in order */
    uint32_t *runs;    /* a word a block: how often it came to its end */
    uint32_t *begun;   /* a word a block: how often it began */
    uint32_t *started; /* one word the host looks at: blocks that are in their loop */
    uint32_t kind;     /* DEFER_* or WORK_* */
    uint32_t how;      /* WORK_HOW_* */
    uint32_t victims;  /* a bit a block */
    uint32_t failures; /* a victim fails so often, then no more */
    uint32_t lane;     /* of warp 0, which panics */
    uint32_t degraded_passes; /* 1: a victim does not fail when it is degraded */
};

GPURT_KERNEL_DECLARE(unwind_defer, struct unwind_args);
GPURT_KERNEL_DECLARE(unwind_work, struct unwind_args);
GPURT_KERNEL_DECLARE(unwind_fallback, struct unwind_args);
GPURT_KERNEL_DECLARE(unwind_cluster, struct unwind_args);
GPURT_KERNEL_DECLARE(unwind_plain, struct unwind_args);
GPURT_KERNEL_DECLARE(unwind_trapped, struct unwind_args);

#endif
