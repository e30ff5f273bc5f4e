/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 4 /* what an executor's file needs */
#include "tasklock_kernels.h"

#include <gpurt/device.h>

GPURT_DEV void tasklock_blame(tasklock_board_t *b, bool wrong)
{
    if (wrong && gpurt_lane() == 0)
        gpurt_red_add_relaxed_dev_u32(&b->xwrong, 1);
}

/* Whether it has the lock; if not, it comes again. */
GPURT_DEV bool tasklock_has(struct tasklock_args *t, gpurt_task_run_t *run)
{
    gpurt_status_t st = gpurt_tasklock_take(run, &t->board->lock);

    if (st == GPURT_OK || st == GPURT_E_OWNER_DIED) {
        if (st == GPURT_E_OWNER_DIED && gpurt_lane() == 0)
            gpurt_red_add_relaxed_dev_u32(&t->board->xdied, 1);
        return true;
    }
    tasklock_blame(t->board, st != GPURT_E_NOT_READY);
    gpurt_task_await(run);
    return false;
}

GPURT_DEV void tasklock_gives(struct tasklock_args *t, gpurt_task_run_t *run)
{
    tasklock_blame(t->board, gpurt_tasklock_give(run, &t->board->lock) != GPURT_OK);
}

/* state 1: it holds the lock, and the sum is `at` still. */
GPURT_TASK(adds, t, run)
{
    tasklock_board_t *b = t->board;
    const bool holds = t->state == 1;

    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read it */
    if (!holds && !tasklock_has(t, run))
        return;
    if (!holds) {
        if (gpurt_lane() == 31) { /* not who takes and gives */
            if (b->half)
                gpurt_red_add_relaxed_dev_u32(&b->xwrong, 1);
            b->half = 1;
            t->at = b->sum;
            t->state = 1;
        }
        gpurt_task_await(run);
        return;
    }
    if (gpurt_lane() == 31) {
        b->sum = t->at + 1;
        b->half = 0;
        t->state = 0;
        t->left--;
    }
    tasklock_gives(t, run);
    gpurt_syncwarp(GPURT_FULL_MASK); /* `left` */
    if (t->left)
        gpurt_task_await(run);
}

/* state 0 takes it and spawns; 1 holds it for `left` runs; 2 has given it back. */
GPURT_TASK(low, t, run)
{
    tasklock_board_t *b = t->board;
    struct tasklock_args other = {b, 0, TASKLOCK_RUNS, 0};
    const uint32_t state = t->state, left = t->left;

    if (state == 0 && !tasklock_has(t, run))
        return;
    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read it */
    if (state == 0) {
        (void)gpurt_task_spawn(run, urgent, &other, gpurt_lane() == 0,
                               GPURT_TASK_PRIORITY(3));
        (void)gpurt_task_spawn(run, between, &other, gpurt_lane() < TASKLOCK_BETWEEN,
                               GPURT_TASK_PRIORITY(0));
    } else if (state == 1 && left == 0) {
        tasklock_gives(t, run);
    } else if (state == 2) {
        if (gpurt_lane() == 0)
            b->low_saw = gpurt_load_relaxed_dev_u32(&b->xruns);
        return;
    }
    if (gpurt_lane() == 0) {
        t->state = state == 1 && left == 0 ? 2 : 1;
        t->left = left ? left - 1 : 0;
    }
    gpurt_task_await(run);
}

GPURT_TASK(between, t, run)
{
    const uint32_t left = t->left;

    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read it */
    if (gpurt_lane() == 0) {
        gpurt_red_add_relaxed_dev_u32(&t->board->xruns, 1);
        t->left = left - 1;
    }
    if (left > 1)
        gpurt_task_await(run);
}

GPURT_TASK(urgent, t, run)
{
    tasklock_board_t *b = t->board;
    uint32_t tries = 0;

    if (gpurt_lane() == 0)
        tries = gpurt_add_relaxed_dev_u32(&b->xtries, 1);
    tries = gpurt_shfl_u32(GPURT_FULL_MASK, tries, 0);
    if (tries >= TASKLOCK_TRIES) {
        if (gpurt_lane() == 0)
            gpurt_store_relaxed_dev_u32(&b->xgave_up, 1);
        return;
    }
    if (!tasklock_has(t, run))
        return;
    if (gpurt_lane() == 0)
        b->urgent_saw = gpurt_load_relaxed_dev_u32(&b->xruns);
    tasklock_gives(t, run);
}

GPURT_TASK(forgets, t, run)
{
    (void)tasklock_has(t, run);
}

GPURT_TASK(dies, t, run)
{
    if (tasklock_has(t, run) && gpurt_lane() == 3)
        GPURT_PANIC("it holds the lock");
}

GPURT_TASK(keeps, t, run)
{
    const uint32_t *gate = (const uint32_t *)(uintptr_t)t->at;

    if (t->state == 0 && !tasklock_has(t, run))
        return;
    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read it */
    if (gpurt_lane() == 0)
        t->state = 1;
    if (gpurt_any(GPURT_FULL_MASK, !gpurt_load_relaxed_sys_u32(gate)))
        gpurt_task_await(run);
}

GPURT_TASK(asks, t, run)
{
    tasklock_board_t *b = t->board;

    if (t->state) { /* it is too urgent */
        tasklock_blame(b, gpurt_tasklock_take(run, &b->inner) != GPURT_E_INVALID);
        return;
    }
    tasklock_blame(b, gpurt_tasklock_give(run, &b->lock) != GPURT_E_NOT_OWNER);
    tasklock_blame(b, gpurt_tasklock_take(run, &b->lock) != GPURT_OK);
    tasklock_blame(b, gpurt_tasklock_take(run, &b->inner) != GPURT_E_INVALID); /* falling */
    tasklock_blame(b, gpurt_tasklock_give(run, &b->lock) != GPURT_OK);
    tasklock_blame(b, gpurt_tasklock_take(run, &b->inner) != GPURT_OK);
    tasklock_blame(b, gpurt_tasklock_take(run, &b->lock) != GPURT_OK);
    tasklock_blame(b, gpurt_tasklock_take(run, &b->lock) != GPURT_E_DEADLOCK);
    tasklock_blame(b, gpurt_tasklock_give(run, &b->lock) != GPURT_OK);
    tasklock_blame(b, gpurt_tasklock_give(run, &b->lock) != GPURT_E_NOT_OWNER);
    tasklock_blame(b, gpurt_tasklock_give(run, &b->inner) != GPURT_OK);
}

GPURT_EXECUTOR(tasklock_tests, TASKLOCK_TASKS)
