/* SPDX-License-Identifier: Apache-2.0 */
/* taskdue.h - what a long body asks between its steps: whether others should run now.
 *
 * A body holds its warp. Meanwhile the warp cannot look at queues, and where all warps of a block run
 * long bodies, nobody gives away what the block keeps. So the question is also a look for the block:
 * it takes orders of the host, gives tasks to blocks without work, those of the warp's own batch too,
 * and calls the block's warps to meet when the host wants that.
 *
 * Context: device code, whole warps, from within a body. */
#ifndef GPURT_TASKDUE_H
#define GPURT_TASKDUE_H

#include <gpurt/impl/task/taskwork.h>

/* Between two looks, from the end of one on; in between, the answer is no. */
enum {
    GPURT_DUE_CYCLES = 4000, /* at words of the block */
    GPURT_DUE_FAR_CYCLES =
        32000 /* of a warp at words of the device and the host: some 3,000 */
};

/* Bodies of the batch that wait behind this one go back, where others could run them now, or when
 * they have waited for long. */
GPURT_DEV void gpurt_due_give(gpurt_worker_t *w)
{
    uint32_t give = 0;

    if (!w->left)
        return;
    if (gpurt_lane() == 0)
        give = gpurt_hall_owes(w->run.hall) || gpurt_hands_idle(&w->run.hall->hands) ||
               gpurt_clock() - w->taken > 2 * GPURT_PULL_CYCLES;
    if (gpurt_shfl_u32(GPURT_FULL_MASK, give, 0))
        gpurt_batch_give(w, w->left);
}

enum {
    GPURT_DUE_OVER =
        16 /* beside GPURT_WORKER_MEETS and others: the group has had its share, or it is to stop */
};

/* The leader: what its warp is to do besides. */
GPURT_DEV uint32_t gpurt_due_called(gpurt_worker_t *w)
{
    const gpurt_executor_hall_t *hall = w->run.hall;

    if (gpurt_worker_group_over(w))
        return GPURT_DUE_OVER;
    if (gpurt_load_relaxed_near_u32(&hall->xstops) && /* relaxed: a hint */
        !(w->stopped >> (gpurt_body_begun(w->run.key) - 1) & 1u) &&
        gpurt_task_is_stopped(w->run.map, gpurt_task_index(w->run.task)))
        return GPURT_DUE_OVER;
    if ((uint32_t)gpurt_clock() - w->looked_far > GPURT_DUE_FAR_CYCLES)
        return gpurt_worker_called(w);
    return gpurt_worker_meets(w) ? (uint32_t)GPURT_WORKER_MEETS : 0;
}

/* Whether the block knows of tasks that are more urgent than the body's. Those of the device's rings
 * are told to one warp of the block, since that many tasks there seldom are. The whole warp. */
GPURT_DEV bool gpurt_due_urgent(gpurt_worker_t *w)
{
    gpurt_executor_hall_t *hall = w->run.hall;
    uint32_t urgent = (1u << gpurt_body_level(w->run.key)) - 1, there = 0;

    if (gpurt_lane() == 0 && gpurt_load_relaxed_near_u32(&hall->xlevels) & urgent) {
        there = gpurt_and_relaxed_near_u32(&hall->xlevels, ~urgent) & urgent;
        w->there |= there; /* relaxed: hints */
    }
    return gpurt_shfl_u32(GPURT_FULL_MASK, there, 0) || gpurt_pockets_levels(hall) & urgent;
}

/* A look. Returns: whether something more urgent is ready, the block's warps are to meet, its group
 * has had its share, or its task is asked to stop. */
GPURT_DEVN bool gpurt_due_look(gpurt_worker_t *w)
{
    uint32_t what;

    w->hurries = false; /* it did not end its run when it was told to */
    what = gpurt_shfl_u32(GPURT_FULL_MASK, gpurt_lane() == 0 ? gpurt_due_called(w) : 0, 0);
    if (what & GPURT_WORKER_ASKS)
        w->asks = gpurt_orders_take(&w->run);
    if (what & GPURT_WORKER_LOOK)
        gpurt_hall_look(&w->run);
    gpurt_due_give(w);
    w->looked = gpurt_clock();
    if (what & (GPURT_WORKER_ASKS | GPURT_WORKER_LOOK))
        w->looked_far = (uint32_t)w->looked;
    w->hurries = gpurt_due_urgent(w);
    if (w->hurries) /* the rest of its batch waits, too */
        w->cut = 0;
    return w->hurries || what & (GPURT_WORKER_MEETS | GPURT_DUE_OVER);
}

GPURT_STATIC_ASSERT(offsetof(gpurt_worker_t, run) == 0, "a body has its warp's run");

/* Whether it is time for a look, and what that says. The whole warp. */
GPURT_DEV bool gpurt_due_ask(gpurt_task_run_t *run)
{
    gpurt_worker_t *w = (gpurt_worker_t *)(void *)run;

    if (!gpurt_worker_is_time(w->looked, GPURT_DUE_CYCLES))
        return false;
    gpurt_cancel_point();
    return gpurt_task_whole() && gpurt_due_look(w);
}

#endif
