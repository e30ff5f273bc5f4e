/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 4 /* what an executor's file needs */
#include "hang_tasks.h"

#include <gpurt/device.h>

GPURT_DEV void state_set(struct hang_task_args *t, uint32_t state)
{
    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read it */
    if (gpurt_lane() == 0)
        t->state = state;
}

GPURT_DEV void names_give(hang_board_t *b)
{
    if (gpurt_lane() == 0) {
        gpurt_tasklock_name(&b->ledger, "ledger", GPURT_WAITABLE_SINGLE);
        gpurt_tasklock_name(&b->journal, "journal", GPURT_WAITABLE_SINGLE);
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
}

GPURT_TASK(outer, t, run)
{
    struct hang_task_args child = {.board = t->board};
    gpurt_status_t st;

    if (t->state)
        return;
    names_give(t->board);
    st = gpurt_tasklock_take(run, &t->board->ledger); /* the outer one */
    if (st == GPURT_E_NOT_READY) {
        gpurt_task_await(run); /* one of a crowd was faster, and gives it back */
        return;
    }
    if (t->way)
        (void)gpurt_task_spawn(run, quits, &child, gpurt_lane() == 0, GPURT_TASK_CHILD);
    else
        (void)gpurt_task_spawn(run, inner, &child, gpurt_lane() == 0, GPURT_TASK_CHILD);
    state_set(t, 1);
    gpurt_task_await(run);
}

GPURT_TASK(inner, t, run)
{
    gpurt_tasklock_t *l = &t->board->ledger;

    names_give(t->board); /* two of a crowd may meet at it before the outer one has begun */
    if (gpurt_tasklock_take(run, l) == GPURT_E_NOT_READY) /* the inner one */
        gpurt_task_await(run);
    else
        (void)gpurt_tasklock_give(run, l);
}

GPURT_TASK(owner, t, run)
{
    struct hang_task_args child = {.board = t->board};
    bool first = gpurt_lane() == 0;

    if (t->state)
        return;
    if (first) {
        gpurt_waitable_t *jobs = gpurt_channel_waitable(&t->board->jobs.channel);

        gpurt_task_hold(run, jobs, GPURT_HOLD_SENDER); /* the end */
    }
    if (t->way)
        (void)gpurt_task_spawn(run, taker, &child, first, GPURT_TASK_CHILD);
    else
        (void)gpurt_task_spawn(run, sleeper, &child, first, GPURT_TASK_CHILD);
    state_set(t, 1);
    gpurt_task_await(run);
}

GPURT_TASK(sleeper, t, run)
{
    const gpurt_channel_t *c = &t->board->jobs.channel;
    uint32_t job = 0;

    GPURT_TASK_UNTIL_OF(run, &t->naps, gpurt_channel_waitable(c), GPURT_WAIT_DATA,
                        gpurt_lane() == 0 &&
                            gpurt_try_receive(&t->board->jobs, &job) == GPURT_OK);
}

GPURT_TASK(taker, t, run)
{
    uint32_t job;

    if (gpurt_lane() == 0)
        (void)gpurt_receive(&t->board->jobs, &job); /* in its body */
    gpurt_syncwarp(GPURT_FULL_MASK);
}

GPURT_TASK(crosses, t, run)
{
    hang_board_t *b = t->board;
    gpurt_tasklock_t *first = t->way ? &b->journal : &b->ledger;
    gpurt_tasklock_t *then = t->way ? &b->ledger : &b->journal;

    if (t->state == 0) {
        names_give(b);
        if (gpurt_tasklock_take(run, first) != GPURT_OK)
            return;
        if (gpurt_lane() == 0)
            gpurt_red_add_relaxed_dev_u32(&b->xholds, 1);
        state_set(t, 1);
    }
    if (gpurt_any(GPURT_FULL_MASK, gpurt_load_relaxed_dev_u32(&b->xholds) < 2) ||
        gpurt_tasklock_take(run, then) == GPURT_E_NOT_READY)
        gpurt_task_await(run);
}

/* It goes on without the lock. */
GPURT_TASK(quits, t, run)
{
    const uint32_t state = t->state;

    if (state < 2)
        (void)gpurt_tasklock_take(run, &t->board->ledger);
    state_set(t, state + 1);
    gpurt_task_sleep(run, 1000000);
}

GPURT_TASK(idles, t, run)
{
    GPURT_TASK_UNTIL(run, &t->naps, false); /* what never comes */
}

GPURT_TASK(plain, t, run) {}

GPURT_TASK(turns, t, run)
{
    const uint32_t left = t->left;

    gpurt_syncwarp(GPURT_FULL_MASK); /* all have read it */
    if (gpurt_tasklock_take(run, &t->board->ledger) != GPURT_OK) {
        gpurt_task_await(run);
        return;
    }
    if (gpurt_lane() == 0) {
        gpurt_red_add_relaxed_dev_u32(&t->board->xsum, 1);
        t->left = left - 1;
    }
    (void)gpurt_tasklock_give(run, &t->board->ledger);
    if (left > 1)
        gpurt_task_await(run);
}

GPURT_EXECUTOR(hang_tasks, HANG_TASKS)
