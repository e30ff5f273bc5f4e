/* SPDX-License-Identifier: Apache-2.0 */
/* taskwork.h - what a warp of an executor does: it pulls tasks, runs them, waits, and meets the
 * other warps of its block at gpurt_service_go. GPURT_EXECUTOR (task.h) makes the kernel:
 *
 *     gpurt_worker_t w;
 *
 *     gpurt_worker_begin(&w, p, names);
 *     do
 *         while ((key = gpurt_worker_next(&w)) != 0) {
 *             the body of gpurt_body_function(key)
 *             gpurt_worker_done(&w);
 *         }
 *     while (gpurt_worker_find(&w));
 *
 * Context: device code, whole warps. */
#ifndef GPURT_TASKWORK_H
#define GPURT_TASKWORK_H

#include <gpurt/clock.h>

#include <gpurt/impl/task/taskidle.h>

/* One lane; a barrier follows. Others are without work until one has looked. */
GPURT_DEV void gpurt_hall_begin(gpurt_executor_hall_t *hall,
                                const gpurt_executor_map_t *map)
{
    hall->map = *map;
    gpurt_store_relaxed_near_u32(&hall->xmeet, 1); /* relaxed: so, all of them */
    gpurt_store_relaxed_near_u32(&hall->xnews, 0);
    gpurt_store_relaxed_near_u32(&hall->xlooks, 0);
    gpurt_store_relaxed_near_u32(&hall->xdraws, 0);
    gpurt_store_relaxed_near_u32(&hall->xlevels, 0);
    gpurt_store_relaxed_near_u32(&hall->xhungry, 1);
    gpurt_store_relaxed_near_u32(&hall->xlooked, (uint32_t)gpurt_clock());
    gpurt_store_relaxed_near_u32(&hall->xtold, (uint32_t)gpurt_clock());
    gpurt_store_relaxed_near_u32(&hall->xended, 0);
    gpurt_store_relaxed_near_u32(&hall->xcommand, 0);
    gpurt_store_relaxed_near_u32(&hall->xturns, 0);
    gpurt_store_relaxed_near_u32(&hall->xpulls, 0);
    gpurt_store_relaxed_near_u32(&hall->xstrays, 0);
    gpurt_store_relaxed_near_u32(&hall->xdequelock, 0);
    gpurt_store_relaxed_near_u32(&hall->xposted, 0);
    gpurt_store_relaxed_near_u32(&hall->xinside, 0);
    gpurt_store_relaxed_near_u32(&hall->xgathers, 0);
    gpurt_store_relaxed_near_u32(&hall->xstops, 0);
    gpurt_store_relaxed_near_u32(&hall->xleaves, 0);
    gpurt_store_relaxed_near_u32(&hall->xtakes, GPURT_HALL_AHEAD_CYCLES);
    for (uint32_t i = 0; i < GPURT_TASK_KINDS; i++) { /* relaxed: as above */
        gpurt_store_relaxed_near_u32(&hall->kinds[i].xruns, 0);
        gpurt_store_relaxed_near_u32(&hall->kinds[i].xcycles, 0);
        gpurt_store_relaxed_near_u64(&hall->kinds[i].xlongest, 0);
    }
    for (uint32_t i = 0; i < GPURT_TASK_LEVELS; i++)
        gpurt_pocket_begin(&hall->ready[i]);
    gpurt_pocket_begin(&hall->spare);
    gpurt_hands_begin(&hall->hands);
}

/* All threads of the block. */
GPURT_DEV void gpurt_worker_begin(gpurt_worker_t *w, const struct gpurt_executor_args *p,
                                  const char *const *names)
{
    GPURT_SHARED(gpurt_executor_hall_t, hall, 1);

    __builtin_memset(w, 0, sizeof *w);
    w->turn = gpurt_service_begin(&p->service);
    w->run.map = &hall->map;
    w->run.hall = hall;
    w->run.block = &p->map.blocks[gpurt_block_rank()];
    w->tasks = p->map.tasks;
    w->marks = p->map.marks;
    w->warp = &p->map.warps[gpurt_block_rank() * gpurt_warps() + gpurt_warp()];
    w->next = GPURT_TASK_NONE;
    w->asks = true;
    w->since = gpurt_clock();
    if (gpurt_thread_rank() == 0) {
        gpurt_hall_begin(hall, &p->map);
        gpurt_store_relaxed_near_u64(&hall->xdeque,
                                     gpurt_load_relaxed_dev_u64(&w->run.block->xdeque));
        gpurt_store_relaxed_dev_u64(&w->run.block->xsm, gpurt_sm()); /* relaxed: so */
    }
    if (gpurt_lane() == 0) {
        w->warp->map = p->map.self;
        w->warp->block = w->run.block;
        w->warp->hall = hall;
        gpurt_store_relaxed_dev_u32(&w->warp->xlooks, 0); /* relaxed: as in hold */
        gpurt_store_relaxed_dev_u32(&w->warp->xinside, 0);
        gpurt_warp_next(w->warp, GPURT_TASK_NONE);
        gpurt_warp_batch(w->warp, 0);
    }
    gpurt_worker_note(w);
    gpurt_block_barrier();
    gpurt_slices_begin(w, names);
}

enum {
    GPURT_WORKER_MEETS = 1,
    GPURT_WORKER_ASKS = 2,
    GPURT_WORKER_ENDS = 4,
    GPURT_WORKER_LOOK = 8
};

/* The leader: whether its block's warps meet, as far as the block knows. */
GPURT_DEV bool gpurt_worker_meets(const gpurt_worker_t *w)
{
    gpurt_executor_hall_t *hall = w->run.hall;

    if (gpurt_thread_rank() == 0 && /* relaxed: hints */
        gpurt_host_calls(w, gpurt_load_relaxed_near_u32(&hall->xcommand)))
        gpurt_store_relaxed_near_u32(&hall->xmeet, 1);
    return gpurt_hall_meets(hall);
}

/* The leader, between tasks: what its warp is to do before it pulls. */
GPURT_DEV uint32_t gpurt_worker_called(gpurt_worker_t *w)
{
    uint32_t what = gpurt_cancelled() ? GPURT_WORKER_ENDS : 0;
    gpurt_executor_hall_t *hall = w->run.hall;

    if (gpurt_worker_meets(w))
        return what | GPURT_WORKER_MEETS;
    if (w->hurries) {
        w->hurries = false;
        return what;
    }
    if (gpurt_hall_due(hall)) {
        what |= GPURT_WORKER_LOOK;
        w->asks = w->asks || gpurt_host_look(w);
    }
    if (w->asks && w->next == GPURT_TASK_NONE)
        what |= GPURT_WORKER_ASKS;
    return what;
}

/* Whether another warp of the block has left, and what was taken up may come from its handler. relaxed: the queue has
 * brought it along. The whole warp. */
GPURT_DEV bool gpurt_worker_leaves(const gpurt_worker_t *w)
{
    uint32_t leaves = gpurt_load_relaxed_near_u32(&w->run.hall->xleaves);

    return GPURT_UNLIKELY(gpurt_any(GPURT_FULL_MASK, leaves));
}

/* The whole warp leaves: what it took up goes back, so that another block runs it; but for one that it was to run at
 * once, which its handler finds. */
GPURT_DEVN void gpurt_worker_leave(gpurt_worker_t *w, uint32_t index)
{
    if (w->next == GPURT_TASK_NONE)
        gpurt_tasks_push(&w->run, GPURT_FULL_MASK,
                         gpurt_ballot(GPURT_FULL_MASK, index != GPURT_TASK_NONE), index);
    gpurt_cancel_point();
}

/* The whole warp takes up its next batch, or has met the others for a task of the block. Cancellation is
 * asked once, by the leader: lanes that asked apart could part, and some pull a task that the others never
 * see. Returns: false, the executor ends. */
GPURT_DEVN bool gpurt_worker_find(gpurt_worker_t *w)
{
    for (;;) {
        uint32_t what, index;

        gpurt_batch_end(w);
        what = gpurt_lane() == 0 ? gpurt_worker_called(w) : 0;
        if (!gpurt_task_whole())
            return false;
        what = gpurt_shfl_u32(GPURT_FULL_MASK, what, 0);
        if (what & GPURT_WORKER_ENDS)
            gpurt_cancel_point();
        if (what & GPURT_WORKER_MEETS) {
            if (!gpurt_worker_meet(w))
                return false;
            if (w->gathers)
                return true;
            continue;
        }
        if (what & GPURT_WORKER_ASKS)
            w->asks = gpurt_orders_take(&w->run); /* there may be more */
        if (what & GPURT_WORKER_LOOK)
            gpurt_hall_look(&w->run);
        index = GPURT_TASK_NONE;
        if (w->next == GPURT_TASK_NONE) {
            index = gpurt_worker_pull(w);
        } else if (gpurt_lane() == 0) {
            index = w->next;
            gpurt_queued_not(w->run.map, index);
            w->at_once++;
        }
        if (!gpurt_any(GPURT_FULL_MASK, index != GPURT_TASK_NONE)) {
            index = gpurt_worker_wait(w);
            if (!gpurt_task_whole())
                return false;
        }
        if (gpurt_any(GPURT_FULL_MASK, index != GPURT_TASK_NONE)) {
            if (gpurt_worker_leaves(w)) {
                gpurt_worker_leave(w, index);
                return false;
            }
            gpurt_batch_take(w, index);
            return true;
        }
    }
}

/* The whole warp. From one body of a batch to the next it calls nothing. The compiler knows that a
 * reduction gives one value to all lanes. So it leaves out what keeps lanes together behind the branches
 * to a body, some 30 cycles each. Returns: the key of a body that is to run; 0: find a batch. */
GPURT_DEV uint32_t gpurt_worker_next(gpurt_worker_t *w)
{
    return gpurt_reduce_max_u32(GPURT_FULL_MASK, gpurt_batch_next(w));
}

#endif
