/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_assert.h"

#include <gpurt/device.h>
#include <gpurt/panic.h>

BENCH_ASSERT_TRANSPOSE(bench_transpose_asserts)
BENCH_ASSERT_REDUCE(bench_reduce_asserts, )
BENCH_ASSERT_COMPUTE(bench_compute_polls, gpurt_cancel_point())
