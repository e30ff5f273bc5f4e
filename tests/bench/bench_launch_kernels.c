/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_launch.h"

#include <gpurt/device.h>

GPURT_KERNEL(bench_tick, struct bench_launch_args, p)
{
    if (gpurt_global_id() == 0)
        gpurt_add_relaxed_dev_u32(p->ticks, 1);
}

GPURT_KERNEL(bench_tick_shared, struct bench_launch_args, p)
{
    GPURT_SHARED_DYN(uint32_t, word);

    if (gpurt_global_id() == 0) {
        word[0] = 1;
        gpurt_add_relaxed_dev_u32(p->ticks, word[0]);
    }
}
