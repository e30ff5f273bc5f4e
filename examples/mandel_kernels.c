/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 4 /* so that a panic ends its block alone */

#include "mandel.h"

#include <gpurt/device.h>

/* Points take one step or two hundred: no split by rows would be even. */
GPURT_TASK_LANE(pixel, t, lane)
{
    uint32_t row = t->at / MANDEL_WIDE, column = t->at % MANDEL_WIDE, steps = 0;
    float x = 0, y = 0, re = -2.2f + 3.2f * (float)column / MANDEL_WIDE,
          im = -1.2f + 2.4f * (float)row / MANDEL_HIGH;

    for (; steps < MANDEL_STEPS && x * x + y * y < 4; steps++) {
        float next = x * x - y * y + re;

        y = 2 * x * y + im;
        x = next;
    }
    t->steps[t->at] = (uint8_t)steps;
}

/* Up to 32 pixels at a time, a spawn for each lane. It ends when they have. */
GPURT_TASK(band, t, run)
{
    uint32_t lane = gpurt_lane(), from = t->from, end = from + t->count;

    for (; from < end; from += GPURT_WARP_SIZE) {
        struct pixel one = {t->steps, from + lane};
        bool wanted = from + lane < end;

        if (!gpurt_task_spawn(run, pixel, &one, wanted, GPURT_TASK_CHILD) && wanted)
            gpurt_task_fail(run, GPURT_E_NOMEM); /* the pool is empty */
    }
}

/* First run: a band for each warp of the block. Second run: they are drawn, and all threads count. */
GPURT_TASK_BLOCK(picture, t, run)
{
    uint32_t part = MANDEL_PIXELS / gpurt_warps(), drawn = t->drawn, inside = 0;
    struct band mine = {t->steps, gpurt_warp() * part, part};

    if (gpurt_warp() + 1 == gpurt_warps())
        mine.count = MANDEL_PIXELS - mine.from;
    gpurt_block_barrier(); /* all have read it */
    if (!drawn) {
        (void)gpurt_task_spawn(run, band, &mine, gpurt_lane() == 0, GPURT_TASK_CHILD);
        if (gpurt_thread_rank() == 0)
            t->drawn = 1;
        gpurt_task_await(run);
        return;
    }
    for (uint32_t i = gpurt_thread_rank(); i - gpurt_thread_rank() < MANDEL_PIXELS;
         i += gpurt_block_threads())
        inside +=
            gpurt_block_barrier_count(i < MANDEL_PIXELS && t->steps[i] == MANDEL_STEPS);
    if (gpurt_task_tainted(run))
        gpurt_task_fail(run, GPURT_E_NOMEM);
    gpurt_task_result(run, inside);
}

GPURT_EXECUTOR(mandel_tasks, MANDEL_TASKS)
