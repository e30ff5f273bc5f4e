/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_cancel.h"

#include <gpurt/device.h>

BENCH_CANCEL_BARRIERS(bench_barrier_looks)
