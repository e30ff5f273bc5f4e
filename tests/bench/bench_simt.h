/* SPDX-License-Identifier: Apache-2.0 */
/* bench_simt.h - what the bench of the CPU back end and its kernels share. */
#ifndef GPURT_TESTS_BENCH_SIMT_H
#define GPURT_TESTS_BENCH_SIMT_H

#include <gpurt/kernel.h>

struct bench_simt_args {
    uint32_t *out; /* one word a lane */
    uint64_t *top; /* bump pointer of bench_bump */
    uint32_t rounds;
};

GPURT_KERNEL_DECLARE(bench_empty, struct bench_simt_args);
GPURT_KERNEL_DECLARE(bench_ballot, struct bench_simt_args);
GPURT_KERNEL_DECLARE(bench_barrier, struct bench_simt_args);
GPURT_KERNEL_DECLARE(bench_bump, struct bench_simt_args);
GPURT_KERNEL_DECLARE(bench_hold, struct bench_simt_args);
GPURT_KERNEL_DECLARE(bench_tally, struct bench_simt_args);

#endif
