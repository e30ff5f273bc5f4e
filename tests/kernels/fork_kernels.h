/* SPDX-License-Identifier: Apache-2.0 */
/* fork_kernels.h - kernels of a program that forks: work that can be checked, and work that lasts
 * until the host says so. */
#ifndef GPURT_TESTS_FORK_KERNELS_H
#define GPURT_TESTS_FORK_KERNELS_H

#include <gpurt/kernel.h>

enum {
    FORK_BLOCKS = 4,
    FORK_THREADS = 64,
    FORK_LANES = FORK_BLOCKS * FORK_THREADS
};

/* Owner: the test. Shared with: every lane. */
struct fork_args {
    uint32_t *out;     /* one a lane */
    uint32_t *xgo;     /* fork_last ends when it is not 0; written by: the host */
    uint32_t *xbegun;  /* lanes of fork_last that run; written by: any lane */
    uint32_t *xserved; /* lanes whose object came from a heap; written by: any lane */
    uint32_t factor, says;
};

/* out[i] = i * factor, by way of the default heap where there is one; each block says `says`
 * messages. fork_guarded: the same numbers, and no more. */
GPURT_KERNEL_DECLARE(fork_work, struct fork_args);
GPURT_KERNEL_DECLARE(fork_guarded, struct fork_args);
GPURT_KERNEL_DECLARE(fork_last, struct fork_args);
/* Block 0 panics. */
GPURT_KERNEL_DECLARE(fork_raise, struct fork_args);
/* Writes to NULL. */
GPURT_KERNEL_DECLARE(fork_fault, struct fork_args);

#endif
