/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_forkjoin_tbb.h"

uint32_t forkjoin_tbb_threads(void)
{
    return 0;
}

uint64_t forkjoin_tbb_fib(uint32_t n, uint32_t cut)
{
    (void)n;
    (void)cut;
    return 0;
}

uint64_t forkjoin_tbb_points(uint32_t wide, uint32_t high, uint32_t most)
{
    (void)wide;
    (void)high;
    (void)most;
    return 0;
}
