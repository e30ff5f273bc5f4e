/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 4 /* so that a panic ends its block alone */

#include "tasks.h"

#include <gpurt/device.h>

GPURT_TASK(tile, t, run)
{
    uint64_t mine = 0;

    for (uint32_t i = gpurt_lane(); i < t->count; i += GPURT_WARP_SIZE)
        mine += (uint64_t)t->from[i] * t->from[i];
    mine = gpurt_reduce_add_u64(GPURT_FULL_MASK, mine);
    if (gpurt_lane() == 0)
        *t->sum = mine;
}

GPURT_TASK(pair, t, run)
{
    uint64_t sum = t->sum[0] + t->sum[t->distance];

    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read it */
    if (gpurt_lane() == 0)
        t->sum[0] = sum;
    gpurt_task_result(run, sum);
}

GPURT_EXECUTOR(sum_tasks, SUM_TASKS)
