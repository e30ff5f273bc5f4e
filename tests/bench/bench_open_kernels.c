/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_open.h"

#include <gpurt/device.h>
#include <gpurt/panic.h>

GPURT_KERNEL(bench_open_raise, struct bench_open_args, p)
{
    GPURT_ASSERT(p->panics == 0);
}
