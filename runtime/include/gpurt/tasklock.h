/* SPDX-License-Identifier: Apache-2.0 */
/* tasklock.h - a lock that a task keeps while it awaits, and that makes its holder urgent.
 *
 *     struct args { gpurt_tasklock_t *lock; ... };     gpurt_tasklock_init, before tasks use it
 *
 *     GPURT_TASK(writes, t, run)
 *     {
 *         gpurt_status_t st = gpurt_tasklock_take(run, t->lock);
 *
 *         if (st == GPURT_E_NOT_READY)
 *             gpurt_task_await(run);                   at the next turn again
 *         if (st != GPURT_OK && st != GPURT_E_OWNER_DIED)
 *             return;                                  GPURT_E_INVALID ...: it never gets the lock
 *         ...                                          runs that await in between, if need be
 *         gpurt_tasklock_give(run, t->lock);
 *     }
 *
 *   gpurt_tasklock_init(l, how)      one lane. how: GPURT_TASK_PRIORITY of the most urgent task that
 *                                    takes it. Memory of zeros is one for GPURT_TASK_PRIORITY(0)
 *   gpurt_tasklock_take(run, l)
 *       GPURT_OK            taken
 *       GPURT_E_OWNER_DIED  taken too: the task before has ended with it (a panic, or it forgot)
 *       GPURT_E_NOT_READY   another task holds it
 *       GPURT_E_DEADLOCK    this task holds it already
 *       GPURT_E_INVALID     this task is more urgent than the lock is for, by its own priority or by
 *                           that of a lock that it holds
 *       GPURT_E_CANCELLED   lanes of the warp are missing
 *   gpurt_tasklock_name(l, name, index)  for reports (waits.h): "journal", GPURT_WAITABLE_SINGLE. Else it is
 *                                    "task lock". One lane
 *   gpurt_tasklock_give(run, l)      GPURT_E_NOT_OWNER: this task does not hold it
 *
 * A mutex (mutex.h) belongs to a lane, so a body gives it back before it returns. This lock belongs
 * to a task: other warps may run the task's next part.
 *
 * While a task holds it, the task is as urgent as the lock: it comes to its next turn before tasks
 * of levels in between. Without that, those run first for as long as there are any, and so does an
 * urgent task that asks for the lock again and again. A task that is ready cannot be moved to
 * another level, so the level is raised when the lock is taken and not when somebody waits
 * (priority ceiling). It is what it was when the lock is given back.
 *
 * A task takes several locks in rising order of their priorities: the one for the least urgent tasks
 * first. In falling order the second is refused with GPURT_E_INVALID. Give them back in the opposite
 * order. Only the holder is raised: tasks that it spawns, or awaits, keep their own levels, and tasks
 * in between come before them.
 *
 * A task that has taken one does not run again behind a panic (GPURT_TASK_RETRIES).
 *
 * There is no queue: of those that wait, the first to look gets it. A wait costs a run of the body
 * each time, and no warp in between. What the last holder wrote is seen by the next one.
 * Context: device code, bodies of tasks, the whole warp together. All tasks of a lock belong to one
 * executor, and it lies in global memory. */
#ifndef GPURT_TASKLOCK_H
#define GPURT_TASKLOCK_H

#include <gpurt/task.h>

/* Owner: the program. */
typedef struct gpurt_tasklock {
    uint64_t xholder; /* the task; 0: none. Written by: tasks that take it */
    uint32_t how;     /* the most urgent priority of those */
    uint32_t xwas;    /* the holder's level before; written by: the holder */
    uint64_t xwaits;  /* looks that found it held; written by: any task */
    uint32_t xdied;   /* was held by a task that had ended; written by: who took it then */
    gpurt_waitable_t waitable;
    uint32_t xsite, xsince; /* where it was taken, and when >> 16; written by: the holder */
} gpurt_tasklock_t;

GPURT_DEV void gpurt_tasklock_init(gpurt_tasklock_t *l, uint32_t how)
{
    l->xholder = l->xwaits = 0;
    l->how = how;
    l->xwas = l->xdied = 0;
    l->waitable.xnumber = l->xsite = l->xsince = 0;
}

/* One lane, once. */
GPURT_DEV void gpurt_tasklock_name(gpurt_tasklock_t *l, const char *name, uint32_t index)
{
    gpurt_waitable_name(&l->waitable, GPURT_WAITABLE_LOCK, name, index);
}

/* One lane found that another task holds it. It tells of both, so that who takes and gives a lock for which nobody
 * waits tells nothing. relaxed: hints */
GPURT_DEVN void gpurt_tasklock_tell(const gpurt_task_run_t *run, gpurt_tasklock_t *l,
                                    gpurt_task_t holder, gpurt_site_t *place)
{
    if (!run->map->waits)
        return;
    if (!gpurt_waitable_number(&l->waitable))
        gpurt_tasklock_name(l, "task lock", GPURT_WAITABLE_SINGLE);
    gpurt_taskwait_hold(run->map, gpurt_waitable_number(&l->waitable), GPURT_HOLD_ALONE,
                        holder, gpurt_load_relaxed_dev_u32(&l->xsite),
                        (uint64_t)gpurt_load_relaxed_dev_u32(&l->xsince) << 16);
    gpurt_taskwait_tell(run, gpurt_waitable_number(&l->waitable), GPURT_WAIT_OWNER, place);
}

/* One lane has taken it. relaxed: as above */
GPURT_DEVN void gpurt_tasklock_taken(const gpurt_task_run_t *run, gpurt_tasklock_t *l,
                                     gpurt_site_t *place)
{
    if (!run->map->waits)
        return;
    gpurt_store_relaxed_dev_u32(&l->xsite, gpurt_place_number(place));
    gpurt_store_relaxed_dev_u32(&l->xsince, (uint32_t)(gpurt_globaltimer() >> 16));
    gpurt_taskwait_end(run);
}

/* One lane. */
GPURT_DEV gpurt_status_t gpurt_tasklock_try(const gpurt_task_run_t *run,
                                            gpurt_tasklock_t *l, gpurt_site_t *place)
{
    uint64_t was = 0;

    if (gpurt_body_level(run->key) < gpurt_task_level(l->how))
        return GPURT_E_INVALID;
    if (gpurt_cas_acquire_dev_u64(&l->xholder, &was, run->task)) /* TM1.acq */
        return GPURT_OK;
    if (was == run->task)
        return GPURT_E_DEADLOCK;
    if (gpurt_task_ended(run, was) && /* relaxed: TD2 has acquired what it wrote */
        gpurt_cas_relaxed_dev_u64(&l->xholder, &was, run->task)) {
        gpurt_red_add_relaxed_dev_u32(&l->xdied, 1); /* relaxed: a statistic */
        return GPURT_E_OWNER_DIED;
    }
    gpurt_red_add_relaxed_dev_u64(&l->xwaits, 1); /* relaxed: a statistic */
    gpurt_tasklock_tell(run, l, was, place);
    return GPURT_E_NOT_READY;
}

/* The whole warp: from its next turn on. The row is this warp's while it runs the task. */
GPURT_DEV void gpurt_tasklock_level(gpurt_task_run_t *run, uint32_t level)
{
    if (gpurt_lane() == 0)
        run->row->head.level = (uint8_t)level;
    run->key = (run->key & ~0xff00u) | level << 8;
}

GPURT_DEVN gpurt_status_t gpurt_tasklock_take_at(gpurt_task_run_t *run, gpurt_tasklock_t *l,
                                                 gpurt_site_t *place)
{
    int32_t st = GPURT_OK;

    if (!gpurt_task_whole())
        return GPURT_E_CANCELLED;
    if (gpurt_lane() == 0)
        st = gpurt_tasklock_try(run, l, place);
    st = gpurt_shfl_i32(GPURT_FULL_MASK, st, 0);
    if (st != GPURT_OK && st != GPURT_E_OWNER_DIED)
        return st;
    if (gpurt_lane() == 0) { /* relaxed: its own; the host may look */
        gpurt_store_relaxed_dev_u32(&l->xwas, gpurt_body_level(run->key));
        run->row->head.flags |= GPURT_TASK_LOCKED;
        gpurt_tasklock_taken(run, l, place);
    }
    gpurt_syncwarp(GPURT_FULL_MASK); /* what lane 0 acquired, the others see */
    gpurt_tasklock_level(run, gpurt_task_level(l->how));
    return st;
}
#define gpurt_tasklock_take(run, l)                        \
    __extension__({                                        \
        GPURT_PLACE(gpurt_place_, "takes a task lock");    \
        gpurt_tasklock_take_at((run), (l), &gpurt_place_); \
    })

GPURT_DEVN gpurt_status_t gpurt_tasklock_give(gpurt_task_run_t *run, gpurt_tasklock_t *l)
{
    uint32_t level = 0, held = 0;

    if (!gpurt_task_whole())
        return GPURT_E_CANCELLED;
    gpurt_syncwarp(GPURT_FULL_MASK); /* what the others wrote, lane 0 releases */
    if (gpurt_lane() == 0) {
        held = gpurt_load_relaxed_dev_u64(&l->xholder) == run->task; /* relaxed: its own */
        level = held ? gpurt_load_relaxed_dev_u32(&l->xwas) : 0;     /* relaxed: likewise */
    }
    held = gpurt_shfl_u32(GPURT_FULL_MASK, held, 0);
    if (!held)
        return GPURT_E_NOT_OWNER;
    gpurt_tasklock_level(run, gpurt_shfl_u32(GPURT_FULL_MASK, level, 0));
    if (gpurt_lane() == 0)
        gpurt_store_release_dev_u64(&l->xholder, 0); /* TM1.rel */
    return GPURT_OK;
}

#endif
