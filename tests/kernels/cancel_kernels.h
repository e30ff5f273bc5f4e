/* SPDX-License-Identifier: Apache-2.0 */
/* cancel_kernels.h - what the kernels of test_cancel are told, and what they write down. */
#ifndef GPURT_TESTS_CANCEL_KERNELS_H
#define GPURT_TESTS_CANCEL_KERNELS_H

#include <gpurt/kernel.h>

/* Where the lanes of the victim's block are when it panics; `cancel_where`. */
enum {
    CANCEL_AT_BLOCK_BARRIER,
    CANCEL_AT_NAMED_BARRIER, /* warp 0 panics, all other warps wait for it */
    CANCEL_AT_NAMED_PART,    /* one lane of warp 0 does, the rest of it only relaxes */
    CANCEL_IN_RELAX,
    CANCEL_IN_LOOP,   /* gpurt_cancel_point */
    CANCEL_IN_PASSES, /* GPURT_LOOP */
    CANCEL_IN_ASKED,  /* gpurt_cancelled, and a word of farewell */
    CANCEL_IN_WARP,   /* a vote that names the lane that panicked */
    CANCEL_BY_ALL,    /* every lane of the block panics */
    CANCEL_AT_CLUSTER_BARRIER,
    CANCEL_IN_CLUSTER_RELAX,
    CANCEL_AT_GRID_BARRIER,
    CANCEL_KINDS
};

enum {
    CANCEL_BEGAN = 1,
    CANCEL_PASSED = 2,
    CANCEL_FAREWELL = 3,
    CANCEL_NOBODY = 0xffffffffu
};

struct cancel_args {
    uint32_t *out;   /* a word a lane: CANCEL_* */
    uint32_t where;  /* CANCEL_AT_* */
    uint32_t victim; /* the block that panics, or CANCEL_NOBODY */
    uint32_t late;   /* it relaxes so often before */
};

/* One lane: GPURT_LOOP, which is left at `leave`. */
struct cancel_loop_args {
    uint32_t *out; /* passes; a hash of what i was; i at the last one */
    uint32_t from, to, step, leave;
};

GPURT_KERNEL_DECLARE(cancel_loop, struct cancel_loop_args);
GPURT_KERNEL_DECLARE(cancel_block, struct cancel_args);
GPURT_KERNEL_DECLARE(cancel_cluster, struct cancel_args);
GPURT_KERNEL_DECLARE(cancel_grid, struct cancel_args);

#endif
