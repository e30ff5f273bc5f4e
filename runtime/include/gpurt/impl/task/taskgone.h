/* SPDX-License-Identifier: Apache-2.0 */
/* taskgone.h - cleaning up behind a warp whose block is cancelled: no task is lost with it.
 *
 * Context: device code; the last lane that leaves. */
#ifndef GPURT_TASKGONE_H
#define GPURT_TASKGONE_H

#include <gpurt/defer.h>

#include <gpurt/impl/task/taskbatch.h>
#include <gpurt/impl/task/taskgroup.h>

/* One lane: a run was cut short. children: it has some, which a second run would make twice. Nor does a task run
 * again that has taken a task lock: it may hold it, and what that guards may be half done. Returns: whether its task
 * is queued for another. */
GPURT_DEV bool gpurt_gone_retry(const gpurt_task_run_t *run, bool children)
{
    uint8_t *flags = &run->row->head.flags;
    uint32_t me = 1u << gpurt_lane();

    if (children || *flags & GPURT_TASK_LOCKED || !(*flags & GPURT_TASK_RETRIES(3)))
        return false;
    *flags = (uint8_t)(*flags - GPURT_TASK_RETRIES(1));
    gpurt_executor_count(&run->block->xretried, 1);
    gpurt_tasks_push(run, me, me, gpurt_task_index(run->task));
    return true;
}

/* One lane: a task of a warp that is gone, of which `begun` bodies had begun. They run in order, and what
 * is plain to end is not noted: of those that are PENDING the last ran, those before it had ended. Those that
 * ran TOGETHER are marked. */
GPURT_DEVN void gpurt_held_gone(gpurt_task_run_t *run, const gpurt_task_held_t *held,
                                uint32_t at, uint32_t begun)
{
    /* relaxed: this warp's own */
    uint32_t index = gpurt_load_relaxed_dev_u32(&held->xindex), me = 1u << gpurt_lane(),
             next;
    uint32_t status = gpurt_load_relaxed_dev_u32(&held->xstatus);
    bool together = status == GPURT_TASK_TOGETHER;
    bool pending = together || status == GPURT_TASK_PENDING;
    bool running = together || (pending && at + 1 == begun);

    if (index == GPURT_TASK_NONE || status == GPURT_TASK_GATHERED)
        return;
    if (pending && !together && at >= begun) { /* relaxed: as above */
        gpurt_task_unbegin(run->map, index, gpurt_load_relaxed_dev_u64(&held->xvalue));
        gpurt_tasks_push(run, me, me, index);
        return;
    }
    run->row = &run->map->tasks[index];
    run->task = gpurt_task_named(run->map, index);
    run->status = running ? GPURT_E_PANIC : pending ? GPURT_OK : (gpurt_status_t)status;
    run->value = pending ? 0 : gpurt_load_relaxed_dev_u64(&held->xvalue);
    /* relaxed: only this warp made it more than 0 */
    run->parent = running && gpurt_load_relaxed_dev_u32(&run->row->xneeds) != 0;
    if (running && gpurt_gone_retry(run, run->parent))
        return;
    next = gpurt_task_end(run, me, run->row->head);
    if (next != GPURT_TASK_NONE)
        gpurt_tasks_push(run, me, me, next);
}

/* One lane. Its warp leaves the body of a task of the block, if it was inside. relaxed: this warp's own. Returns:
 * whether it was the last: all that they did is seen. */
GPURT_DEV bool gpurt_inside_leave(gpurt_executor_warp_t *warp)
{
    if (!gpurt_load_relaxed_dev_u32(&warp->xinside))
        return false;
    gpurt_store_relaxed_dev_u32(&warp->xinside, 0);
    return gpurt_add_acq_rel_near_u32(&warp->hall->xinside, UINT32_MAX) ==
           1; /* TB2.acq TB2.rel */
}

/* One lane of a warp that is gone. A task of the block has failed when no warp is in its body any more. */
GPURT_DEV void gpurt_gather_gone(gpurt_task_run_t *run, gpurt_executor_warp_t *warp)
{
    gpurt_executor_hall_t *hall = warp->hall;
    uint32_t me = 1u << gpurt_lane(), next;

    /* relaxed: TB2 brings them along */
    if (!gpurt_inside_leave(warp) || !gpurt_load_relaxed_near_u32(&hall->xgathers))
        return;
    run->task = gpurt_load_relaxed_near_u64(&hall->xtask);
    run->row = &run->map->tasks[gpurt_task_index(run->task)];
    /* relaxed, both: as above; xneeds counts the task itself */
    if (gpurt_load_relaxed_dev_u32(&run->row->xneeds) == 1) {
        gpurt_store_relaxed_dev_u32(&run->row->xneeds, 0);
        if (gpurt_gone_retry(run, false))
            return;
        gpurt_store_relaxed_dev_u32(&run->row->xneeds, 1);
    }
    run->status = GPURT_E_PANIC;
    run->value = 0;
    run->parent = true;
    next = gpurt_task_end(run, me, run->row->head);
    if (next != GPURT_TASK_NONE)
        gpurt_tasks_push(run, me, me, next);
}

/* A lane leaves last of a warp whose block is cancelled: the task whose body ran has failed, what
 * it held besides goes back into the queue. */
GPURT_DEVN void gpurt_worker_gone(uint64_t at)
{
    gpurt_executor_warp_t *warp = (gpurt_executor_warp_t *)(uintptr_t)at;
    /* relaxed: this warp's own */
    uint32_t count = gpurt_load_relaxed_dev_u32(&warp->xcount), me = 1u << gpurt_lane();
    uint32_t begun = gpurt_warp_begun(gpurt_load_relaxed_dev_u64(&warp->xat));
    uint32_t next = gpurt_load_relaxed_dev_u32(&warp->xnext);
    uint32_t group = gpurt_load_relaxed_dev_u32(&warp->xgroup);
    gpurt_task_run_t run;

    __builtin_memset(&run, 0, sizeof run);
    run.map = warp->map;
    run.block = warp->block;
    if (group) /* relaxed: as above */
        gpurt_group_charge(run.map, group,
                           gpurt_globaltimer() - gpurt_load_relaxed_dev_u64(&warp->xowes));
    gpurt_store_relaxed_near_u32(&warp->hall->xleaves,
                                 1); /* relaxed: the queues bring it along */
    /* Others of the block may fill it once more, and empty it then. */
    gpurt_hall_empty(&run, warp->hall);
    if (gpurt_load_relaxed_dev_u32(&warp->xlooks)) /* relaxed: this warp's own */
        gpurt_red_add_relaxed_dev_u32(&warp->map->words->xhungry, UINT32_MAX);
    if (next != GPURT_TASK_NONE)
        gpurt_tasks_push(&run, me, me, next);
    next = gpurt_hand_withdraw(&warp->hall->hands, gpurt_warp());
    if (next != GPURT_TASK_NONE)
        gpurt_tasks_push(&run, me, me, next);
    gpurt_gather_gone(&run, warp);
    for (uint32_t i = 0; i < count; i++)
        gpurt_held_gone(&run, &warp->held[i], i, begun);
    gpurt_warp_batch(warp, 0);                   /* for who looks: nothing runs there */
    if (gpurt_waits_next(run.map) != UINT64_MAX) /* those who sleep do not know of them */
        gpurt_executor_wake(run.map);
}

#if defined(GPURT_DEFER_DEPTH) && GPURT_DEFER_DEPTH > 1
#    define GPURT_WORKER_CLEANS 1
GPURT_DEV void gpurt_worker_note(const gpurt_worker_t *w)
{
    (void)gpurt_defer(GPURT_FULL_MASK, gpurt_worker_gone, (uint64_t)(uintptr_t)w->warp);
}
GPURT_DEV void gpurt_worker_unnote(void)
{
    (void)gpurt_undefer(GPURT_FULL_MASK, false);
}
#else
#    define GPURT_WORKER_CLEANS 0
GPURT_DEV void gpurt_worker_note(const gpurt_worker_t *w)
{
    (void)w;
}
GPURT_DEV void gpurt_worker_unnote(void) {}
#endif

#endif
