/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_ASSERT_LEVEL 0
#include "bench_assert.h"

#include <gpurt/device.h>
#include <gpurt/panic.h>

BENCH_ASSERT_TRANSPOSE(bench_transpose_bare)
BENCH_ASSERT_REDUCE(bench_reduce_bare, )
BENCH_ASSERT_REDUCE(bench_reduce_polls, gpurt_cancel_point())
BENCH_ASSERT_COMPUTE(bench_compute_bare, )
