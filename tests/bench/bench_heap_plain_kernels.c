/* SPDX-License-Identifier: Apache-2.0 */
#include <gpurt/alloc.h>
#include <gpurt/device.h>

#include "bench_heap_checks.h"

GPURT_KERNEL(bench_heap_plain, struct bench_heap_args, p)
{
    bench_heap_loop(p);
}
