/* SPDX-License-Identifier: Apache-2.0 */
/* turn_kernels.h - lanes of a warp that ask at different lines who is with them. */
#ifndef GPURT_TESTS_TURN_KERNELS_H
#define GPURT_TESTS_TURN_KERNELS_H

#include <gpurt/base.h>
#include <gpurt/kernel.h>

enum {
    TURN_ROUNDS = 5000,
    TURN_PATIENT = 7 /* the lane that asks once */
};

/* Owner: the test. Shared with: the lanes of one warp, which run one at a time. */
struct turn_args {
    uint32_t *rounds; /* of lane 0 */
    uint32_t *seen;   /* of them, when the patient lane went on */
};

/* Lanes 0 and 1 ask TURN_ROUNDS times, each at a line of its own, and wait for nobody. */
GPURT_KERNEL_DECLARE(turn_ask, struct turn_args);

#endif
