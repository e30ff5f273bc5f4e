/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_HEAP_CHECKS 2
#include <gpurt/alloc.h>
#include <gpurt/device.h>

#include "bench_heap_checks.h"

GPURT_KERNEL(bench_heap_checked, struct bench_heap_args, p)
{
    bench_heap_loop(p);
}
