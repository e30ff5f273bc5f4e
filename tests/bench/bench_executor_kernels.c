/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 4

#include "bench_executor.h"

#include <gpurt/device.h>

GPURT_DEV struct bench_fan part_of(const struct bench_fan *t, uint32_t i, uint32_t parts)
{
    uint32_t from = (uint32_t)((uint64_t)t->count * i / parts);
    struct bench_fan part = {(uint32_t)((uint64_t)t->count * (i + 1) / parts) - from,
                             t->cycles};

    return part;
}

GPURT_TASK(fan, t, run)
{
    uint32_t lane = gpurt_lane(), parts = t->count < 32 ? t->count : 32;
    struct bench_fan part = part_of(t, lane, parts);
    struct bench_spin one = {t->cycles};
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
    uint64_t began = gpurt_clock();

    while (gpurt_clock() - began < t->cycles)
        gpurt_cancel_point();
}

GPURT_TASK(clocks, t, run)
{
    uint64_t cycles = gpurt_clock(), ns = gpurt_globaltimer(), took = 0;

    while (took < t->cycles)
        took = gpurt_clock() - cycles;
    if (gpurt_lane() == 0) {
        t->to[0] = took;
        t->to[1] = gpurt_globaltimer() - ns;
    }
}

GPURT_TASK(hop, t, run)
{
    uint64_t now = gpurt_globaltimer();
    struct bench_hops *hops = t->hops;
    struct bench_hop next = {hops, 0, t->left - 1};

    if (gpurt_lane() == 0) {
        hops->late[t->left] = now > t->spawned ? now - t->spawned : 0;
        gpurt_add_relaxed_dev_u32(&hops->xbegun, 1); /* relaxed: a number */
    }
    if (!t->left)
        return;
    gpurt_syncwarp(GPURT_FULL_MASK);
    next.spawned = gpurt_globaltimer();
    gpurt_task_spawn(run, hop, &next, gpurt_lane() == 0, 0);
    if (!hops->stays || gpurt_lane())
        return;
    now =
        gpurt_globaltimer(); /* at most a millisecond: the next may have been left to this warp */
    while (gpurt_load_relaxed_dev_u32(&hops->xbegun) <=
               BENCH_HOPS - t->left && /* relaxed */
           gpurt_globaltimer() - now < 1000000)
        gpurt_pause();
}

GPURT_TASK(fib, t, run)
{
    struct bench_fib part = {
        &t->parts[gpurt_lane() & 1], {0, 0}, t->n - 1 - gpurt_lane(), 0};

    bool over = t->n < 2 || t->again;

    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read it */
    if (over) {
        if (gpurt_lane() == 0)
            *t->to = t->n < 2 ? t->n : t->parts[0] + t->parts[1];
        return;
    }
    if (gpurt_lane() == 0)
        t->again = 1;
    if (gpurt_any(GPURT_FULL_MASK,
                  !gpurt_task_spawn(run, fib, &part, gpurt_lane() < 2, GPURT_TASK_CHILD) &&
                      gpurt_lane() < 2))
        gpurt_task_fail(run, GPURT_E_NOMEM);
    else
        gpurt_task_await(run);
}

GPURT_DEV float mads_pass(float x)
{
    for (uint32_t k = 0; k < BENCH_STEP_MADS; k++)
        x = x * 0.999f + 1.0f;
    return x;
}

GPURT_TASK(mads, t, run)
{
    uint32_t passes = t->passes, asks = t->asks, due = 0;
    uint64_t began = gpurt_globaltimer();
    float x = (float)gpurt_lane();

    if (asks == BENCH_ASKS_EACH)
        for (uint32_t i = 0; i < passes && !due; i++) {
            x = mads_pass(x);
            due = gpurt_task_due(run);
        }
    else if (asks == BENCH_ASKS_STEPS)
        for (uint32_t i = 0; i < passes && !due; i += BENCH_DUE_STEPS) {
            for (uint32_t k = 0; k < BENCH_DUE_STEPS; k++)
                x = mads_pass(x);
            due = gpurt_task_due(run);
        }
    else
        for (uint32_t i = 0; i < passes; i++)
            x = mads_pass(x);
    if (gpurt_lane() == 0 && x > 0)
        *t->to = due ? 0 : gpurt_globaltimer() - began;
}

GPURT_TASK(endure, t, run)
{
    struct bench_hops *hops = t->hops;
    uint32_t step = t->step, begun = 0;

    while (begun < BENCH_URGENT) {
        uint64_t began = gpurt_clock();

        while (gpurt_clock() - began < step) {
        }
        gpurt_syncwarp(GPURT_FULL_MASK);
        if (gpurt_task_due(run)) {
            gpurt_task_await(run);
            return;
        }
        if (gpurt_lane() == 0) /* relaxed: a number */
            begun = gpurt_load_relaxed_dev_u32(&hops->xbegun);
        begun = gpurt_shfl_u32(GPURT_FULL_MASK, begun, 0);
    }
}

GPURT_TASK(sender, t, run)
{
    struct bench_hops *hops = t->hops;
    uint32_t pause = t->pause;

    for (uint32_t i = 0; i < BENCH_URGENT; i++) {
        struct bench_urgent one = {hops, gpurt_globaltimer(), i};
        uint64_t began = gpurt_clock();

        if (gpurt_any(GPURT_FULL_MASK,
                      gpurt_task_spawn(run, urgent, &one, gpurt_lane() == 0,
                                       GPURT_TASK_PRIORITY(3)) == 0 &&
                          gpurt_lane() == 0))
            gpurt_task_fail(run, GPURT_E_NOMEM);
        while (gpurt_clock() - began < pause)
            gpurt_cancel_point();
        gpurt_syncwarp(GPURT_FULL_MASK);
        (void)gpurt_task_due(run);
    }
}

GPURT_TASK(urgent, t, run)
{
    uint64_t now = gpurt_globaltimer();

    if (gpurt_lane() == 0) {
        t->hops->late[t->number] = now > t->spawned ? now - t->spawned : 0;
        gpurt_add_relaxed_dev_u32(&t->hops->xbegun, 1); /* relaxed: a number */
    }
}

GPURT_TASK(doze, t, run)
{
    uint64_t now = gpurt_globaltimer(), until = t->until;
    uint32_t naps = t->naps, ns = t->ns, at = t->slot + naps;

    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read it */
    if (gpurt_lane() == 0) {
        if (until && at < BENCH_HOPS)
            t->hops->late[at] = now - until;
        t->until = gpurt_globaltimer() + ns;
        t->naps = naps - 1;
    }
    if (naps)
        gpurt_task_sleep(run, ns);
}

GPURT_EXECUTOR(bench_executor_tasks, BENCH_TASKS)

GPURT_TASK(strew, t, run)
{
    uint32_t lane = gpurt_lane(), parts = t->count < 32 ? t->count : 32;
    struct bench_fan part = part_of(t, lane, parts);
    struct bench_spin one = {t->cycles};
    gpurt_task_t task;

    if (t->count > 32)
        task = gpurt_task_spawn(run, strew, &part, true, 0);
    else
        task = gpurt_task_spawn(run, spark, &one, lane < t->count, 0);
    if (gpurt_any(GPURT_FULL_MASK, !task && lane < parts))
        gpurt_task_fail(run, GPURT_E_NOMEM);
}

GPURT_TASK_LANE(spark, t, lane)
{
    uint64_t began = gpurt_clock();

    while (gpurt_clock() - began < t->cycles)
        gpurt_cancel_point();
}

GPURT_TASK_LANE(forks, t, lane)
{
    if (t->n < 2 || t->again) {
        *t->to = t->n < 2 ? t->n : t->parts[0] + t->parts[1];
        return;
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct bench_fib part = {&t->parts[i], {0, 0}, t->n - 1 - i, 0};

        (void)gpurt_lane_spawn(lane, forks, &part, GPURT_TASK_CHILD);
    }
    t->again = 1;
    gpurt_lane_await(lane);
}

GPURT_EXECUTOR(bench_executor_lanes, BENCH_LANES)

GPURT_KERNEL(bench_executor_tickets, struct bench_tickets, p)
{
    uint32_t ticket = 0;

    do {
        if (gpurt_lane() == 0) /* relaxed: a number */
            ticket = gpurt_add_relaxed_dev_u32(p->counter, 1);
        ticket = gpurt_shfl_u32(GPURT_FULL_MASK, ticket, 0);
    } while (ticket < p->count);
}
