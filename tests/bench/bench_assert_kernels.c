/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_assert.h"

#include <gpurt/device.h>
#include <gpurt/panic.h>

#define INSIDE GPURT_ASSERT(at < p->count, "element %llu", (unsigned long long)at)
#define NUMBER GPURT_ASSERT(v == v, "element %llu is no number", (unsigned long long)i * 4)

BENCH_ASSERT_TRANSPOSE(bench_transpose, , )
BENCH_ASSERT_TRANSPOSE(bench_transpose_assert, INSIDE, )
BENCH_ASSERT_TRANSPOSE(bench_transpose_each, , INSIDE)
BENCH_ASSERT_SUM(bench_sum, )
BENCH_ASSERT_SUM(bench_sum_assert, NUMBER)
BENCH_ASSERT_SUM(bench_sum_poll, gpurt_cancel_point())
BENCH_ASSERT_COMPUTE(bench_compute, )
BENCH_ASSERT_COMPUTE(bench_compute_poll, gpurt_cancel_point())
