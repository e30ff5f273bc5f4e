/* SPDX-License-Identifier: Apache-2.0 */
/* litmus_kernels.h - litmus tests of memory order: what the kernels take, and who counts as weak.
 *
 * An instance is two words and up to four threads, its roles. Each thread of the launch plays each
 * role once a round, in an instance of its own each time. */
#ifndef GPURT_TESTS_LITMUS_KERNELS_H
#define GPURT_TESTS_LITMUS_KERNELS_H

#include <gpurt/kernel.h>

typedef enum litmus_shape {
    LITMUS_MP, /* message passing: the flag is seen, and not the data */
    LITMUS_SB, /* store buffering: of two that store and then look, neither sees the other */
    LITMUS_LB,   /* load buffering: of two that look and then store, each sees the other */
    LITMUS_IRIW, /* two readers see two writes in different orders */
    LITMUS_CORR, /* of two loads of one word the later sees the older value */
    LITMUS_SHAPES
} litmus_shape_t;

/* Where the threads of an instance run, and the scope of its accesses. */
typedef enum litmus_scope {
    LITMUS_BLK, /* warps of a block */
    LITMUS_CLU, /* blocks of a cluster */
    LITMUS_DEV, /* blocks of the device */
    LITMUS_SYS, /* the same; the words lie in memory of the host */
    LITMUS_SCOPES
} litmus_scope_t;

typedef enum litmus_form {
    LITMUS_STRONG, /* no weak outcome is allowed */
    LITMUS_WEAK,   /* relaxed; CoRR: the second load is plain, or of block scope */
    LITMUS_NARROW, /* the strong orders, of block scope: not for LITMUS_BLK */
    LITMUS_FORMS
} litmus_form_t;

enum {
    LITMUS_SEEN = 4,      /* words of outcome an instance */
    LITMUS_CLUSTER = 4,   /* blocks, as many as roles */
    LITMUS_THREADS = 128, /* a block: as many warps as roles */
    LITMUS_STRIDE = 8     /* words from cell to cell: sectors of a line apart */
};

/* On the GPU's side of each: device memory, of LITMUS_SYS memory of the host. */
struct litmus_args {
    uint32_t *cells; /* all x, then all y; zeros */
    uint32_t *seen;  /* LITMUS_SEEN each instance */
    uint64_t *weak;  /* count of them, of litmus_judge */
    uint32_t shape, form, scope;
    uint32_t rounds,
        jitter; /* passes of an empty loop that a warp waits at most before a role */
    uint32_t seed;
    uint64_t instances;
};

GPURT_KERNEL_DECLARE(litmus_run, struct litmus_args);
GPURT_KERNEL_DECLARE(litmus_judge, struct litmus_args);

#endif
