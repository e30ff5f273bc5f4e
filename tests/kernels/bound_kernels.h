/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_BOUND_KERNELS_H
#define GPURT_TESTS_BOUND_KERNELS_H

#include <gpurt/kernel.h>

enum {
    BOUND_TOP = 10,
    BOUND_MOST = 1000,
    BOUND_LEAST = 7
};

/* Words that all lanes want, and how often each answer came. */
typedef struct bound_desk {
    uint32_t xup, xdown, xmost, xleast;
    uint64_t xup_wide, xdown_wide, xmost_wide, xleast_wide;
    uint32_t xup_seen[BOUND_TOP + 2], xdown_seen[BOUND_TOP + 2];
    uint32_t xup_wide_seen[BOUND_TOP + 2], xdown_wide_seen[BOUND_TOP + 2];
    uint64_t xadded, xadded_wide, xtaken, xtaken_wide; /* by those whose answer said so */
} bound_desk_t;

struct bound_args {
    bound_desk_t *desk;
    uint32_t rounds;
};

GPURT_KERNEL_DECLARE(bound_storm, struct bound_args);

#endif
