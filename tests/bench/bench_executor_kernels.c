/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 4

#include "bench_executor.h"

#include <gpurt/device.h>

GPURT_TASK(fan, t, run)
{
    uint32_t lane = gpurt_lane(), parts = t->count < 32 ? t->count : 32;
    uint32_t from = (uint32_t)((uint64_t)t->count * lane / parts);
    uint32_t to = (uint32_t)((uint64_t)t->count * (lane + 1) / parts);
    struct bench_fan part = {t->late, to - from, t->cycles};
    struct bench_spin one = {t->late, gpurt_globaltimer(), t->cycles};
    gpurt_task_t task;

    if (t->count > 32)
        task = gpurt_task_spawn(run, fan, &part, true, 0);
    else
        task = gpurt_task_spawn(run, spin, &one, lane < t->count, 0);
    if (gpurt_any(GPURT_FULL_MASK, !task && lane < parts))
        gpurt_task_fail(run, GPURT_E_NOMEM);
}

GPURT_TASK(spin, t, run)
{
    uint64_t began = gpurt_clock(), now = gpurt_globaltimer();

    if (gpurt_lane() == 0) { /* relaxed: sums, read when all has ended */
        gpurt_red_add_relaxed_dev_u64(&t->late[0], now > t->spawned ? now - t->spawned : 0);
        gpurt_red_add_relaxed_dev_u64(&t->late[1], 1);
    }
    while (gpurt_clock() - began < t->cycles)
        gpurt_cancel_point();
}

GPURT_EXECUTOR(bench_executor_tasks, BENCH_TASKS)

GPURT_KERNEL(bench_executor_tickets, struct bench_tickets, p)
{
    uint32_t ticket = 0;

    do {
        if (gpurt_lane() == 0) /* relaxed: a number */
            ticket = gpurt_add_relaxed_dev_u32(p->counter, 1);
        ticket = gpurt_shfl_u32(GPURT_FULL_MASK, ticket, 0);
    } while (ticket < p->count);
}
