/* SPDX-License-Identifier: Apache-2.0 */
/* bench_open.h - the kernel of bench_open. */
#ifndef GPURT_TESTS_BENCH_OPEN_H
#define GPURT_TESTS_BENCH_OPEN_H

#include <gpurt/kernel.h>

struct bench_open_args {
    uint32_t panics; /* not 0: it does */
};

GPURT_KERNEL_DECLARE(bench_open_raise, struct bench_open_args);

#endif
