/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_BENCH_HEAP_STATS_H
#define GPURT_TESTS_BENCH_HEAP_STATS_H

#include <gpurt/impl/alloc/allocmap.h>
#include <gpurt/kernel.h>

enum {
    BENCH_THREADS = 128, /* of a block */
    BENCH_HELD = 4       /* objects at a time, where pools serve */
};

struct bench_stats_args {
    gpurt_heap_t heap;
    uint32_t *xseen; /* [0] objects that were not one's own, [1] requests refused */
    uint32_t min_bytes, max_bytes, rounds, seed;
};

GPURT_KERNEL_DECLARE(bench_stats_churn, struct bench_stats_args);
GPURT_KERNEL_DECLARE(bench_stats_pools, struct bench_stats_args);

#endif
