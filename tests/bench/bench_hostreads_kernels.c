/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_hostreads.h"

#include <gpurt/device.h>

/* A warp's reads come one after the other, as those of a lane that polls. relaxed: numbers */
GPURT_KERNEL(bench_hostreads, struct bench_hostreads_args, p)
{
    uint32_t warp = gpurt_global_id() / GPURT_WARP_SIZE, sum = 0;
    const uint32_t *word =
        (const uint32_t *)(const void *)(p->words + (uint64_t)warp * p->apart);

    if (gpurt_lane() != 0)
        return;
    for (uint32_t i = 0; i < p->rounds; i++)
        sum += gpurt_load_relaxed_sys_u32(word);
    p->sums[warp] = sum;
}
