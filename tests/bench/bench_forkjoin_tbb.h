/* SPDX-License-Identifier: Apache-2.0 */
/* bench_forkjoin_tbb.h - the programs of bench_forkjoin on all cores of the host, by oneTBB. The build takes
 * bench_forkjoin_tbb.cpp where it finds oneTBB, else bench_forkjoin_no_tbb.c. */
#ifndef GPURT_TESTS_BENCH_FORKJOIN_TBB_H
#define GPURT_TESTS_BENCH_FORKJOIN_TBB_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Context: host. Returns: how many threads take part; 0 where there is no oneTBB. */
uint32_t forkjoin_tbb_threads(void);

/* fib(n) by tasks down to `cut`. */
uint64_t forkjoin_tbb_fib(uint32_t n, uint32_t cut);

/* The steps of all points, a range of rows a task, as many rows as oneTBB likes. */
uint64_t forkjoin_tbb_points(uint32_t wide, uint32_t high, uint32_t most);

#ifdef __cplusplus
}
#endif

#endif
