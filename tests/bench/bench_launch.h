/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_BENCH_LAUNCH_H
#define GPURT_TESTS_BENCH_LAUNCH_H

#include <gpurt/kernel.h>

/* As large as the arguments of an ordinary kernel. */
struct bench_launch_args {
    uint32_t *ticks; /* one more for each launch that has run */
    uint64_t unused[5];
};

#endif
