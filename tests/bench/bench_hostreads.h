/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_BENCH_HOSTREADS_H
#define GPURT_BENCH_HOSTREADS_H

#include <gpurt/kernel.h>

/* Each warp reads a word of its own, `apart` bytes from the next one's; 0: all read one. */
struct bench_hostreads_args {
    const char *words;
    uint32_t *sums; /* one a warp */
    uint32_t apart, rounds;
};

GPURT_KERNEL_DECLARE(bench_hostreads, struct bench_hostreads_args);

#endif
