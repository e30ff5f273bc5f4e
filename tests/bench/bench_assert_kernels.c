/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_assert.h"

#include <gpurt/device.h>
#include <gpurt/panic.h>

#include <assert.h>

#define MARK_NO_ONE_LEFT 0x6e6f6e65u
#define PLAIN            BENCH_ASSERT_FOR
#define HOLDS_AT         (at < p->count)
#define INSIDE           GPURT_ASSERT(HOLDS_AT, "element %llu", (unsigned long long)at)
#define NUMBER           GPURT_ASSERT(v == v, "element %llu is no number", (unsigned long long)i * 4)

/* What the compiler makes of a promise that says nothing when it is broken. */
#define TRAP_UNLESS(cond) \
    if (!(cond))          \
    gpurt_trap()

/* The cheapest look at a word of shared or global memory: nobody writes there, and it would not
 * know how to leave. volatile, because a relaxed load goes by a generic address, which is longer. */
#define LOOK_SHARED                                           \
    if (*(const volatile uint32_t *)word == MARK_NO_ONE_LEFT) \
    gpurt_trap()
#define LOOK_GLOBAL                                              \
    if (gpurt_load_relaxed_dev_u32(p->stop) == MARK_NO_ONE_LEFT) \
    gpurt_trap()

BENCH_ASSERT_TRANSPOSE(bench_transpose, , )
BENCH_ASSERT_TRANSPOSE(bench_transpose_assert, INSIDE, )
BENCH_ASSERT_TRANSPOSE(bench_transpose_each, , INSIDE)
BENCH_ASSERT_TRANSPOSE(bench_transpose_libc, assert(HOLDS_AT), )
BENCH_ASSERT_TRANSPOSE(bench_transpose_trap, TRAP_UNLESS(HOLDS_AT), )
BENCH_ASSERT_TRANSPOSE(bench_transpose_trap_each, , TRAP_UNLESS(HOLDS_AT))
BENCH_ASSERT_SUM(bench_sum, PLAIN, )
BENCH_ASSERT_SUM(bench_sum_assert, PLAIN, NUMBER)
BENCH_ASSERT_SUM(bench_sum_libc, PLAIN, assert(v == v))
BENCH_ASSERT_SUM(bench_sum_trap, PLAIN, TRAP_UNLESS(v == v))
BENCH_ASSERT_SUM(bench_sum_poll, PLAIN, gpurt_cancel_point())
BENCH_ASSERT_SUM(bench_sum_loop, GPURT_LOOP, )
BENCH_ASSERT_SUM(bench_sum_shared, PLAIN, LOOK_SHARED)
BENCH_ASSERT_SUM(bench_sum_global, PLAIN, LOOK_GLOBAL)
BENCH_ASSERT_COMPUTE(bench_compute, PLAIN, )
BENCH_ASSERT_COMPUTE(bench_compute_poll, PLAIN, gpurt_cancel_point())
BENCH_ASSERT_COMPUTE(bench_compute_loop, GPURT_LOOP, )
BENCH_ASSERT_COMPUTE(bench_compute_shared, PLAIN, LOOK_SHARED)
BENCH_ASSERT_COMPUTE(bench_compute_global, PLAIN, LOOK_GLOBAL)
