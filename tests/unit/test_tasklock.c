/* SPDX-License-Identifier: Apache-2.0 */
/* Locks of tasks, on both back ends: what each call answers; a task that keeps one while it awaits;
 * one that ends with it; a low task with the lock that an urgent one waits for comes to its turn
 * before those in between, and is low again afterwards. */
#include "../kernels/tasklock_stage.h"
#include "stage_parts.h"

static void answers(void)
{
    tasklock_stage_t s = tasklock_open(1, 1);

    TASKLOCK_SUBMIT(&s, asks, 0, 0, GPURT_TASK_PRIORITY(0));
    OK(gpurt_executor_drain(rt, s.x, TASKLOCK_WAIT_NS, &err));
    TASKLOCK_SUBMIT(&s, asks, 1, 0, GPURT_TASK_PRIORITY(2));
    (void)tasklock_close(&s);
}

static void one_at_a_time(void)
{
    tasklock_storm(1, 1, 10, 20, 0);
    tasklock_storm(3, 4, 40, 20, 0);
}

static void who_ends_with_it_is_told(void)
{
    tasklock_storm(1, 1, 4, 3, 4);
    tasklock_storm(2, 2, 20, 5, 20);
}

/* One warp, so that levels alone say who runs. */
static void nobody_comes_between(void)
{
    tasklock_stage_t s = tasklock_open(1, 1);
    tasklock_board_t b;

    TASKLOCK_SUBMIT(&s, low, 0, 10, GPURT_TASK_PRIORITY(-4));
    b = tasklock_close(&s);
    CHECK_MSG(!b.xgave_up, "the urgent task looked %u times", b.xtries);
    CHECK_EQ(b.urgent_saw, 0);
    CHECK_EQ(b.xruns, TASKLOCK_BETWEEN * TASKLOCK_RUNS);
    CHECK_EQ(b.low_saw, TASKLOCK_BETWEEN * TASKLOCK_RUNS);
    CHECK(b.lock.xwaits > 0);
}

/* Another run could not take the lock anew, and might find things half done: the next holder is told. */
static void a_holder_does_not_run_again(void)
{
    tasklock_stage_t s = tasklock_open(2, 1);
    const struct tasklock_args args = {.board = s.board};
    gpurt_executor_status_t status;
    gpurt_submitted_t task;
    tasklock_board_t b;

    OK(gpurt_executor_submit(rt, s.x, dies, &args, 1, GPURT_TASK_RETRIES(3), &task, &err));
    CHECK_EQ(gpurt_executor_wait(rt, s.x, task, TASKLOCK_WAIT_NS, NULL, NULL),
             GPURT_E_PANIC);
    TASKLOCK_SUBMIT(&s, adds, 0, 1, 0);
    OK(gpurt_executor_drain(rt, s.x, TASKLOCK_WAIT_NS, &err));
    OK(gpurt_executor_status(rt, s.x, &status, &err));
    stage_read(&b, s.board, sizeof b);
    CHECK_EQ(status.retried, 0);
    CHECK_EQ(b.sum, 1);
    CHECK_EQ(b.xdied, 1);
    CHECK_EQ(b.xwrong, 0);
    CHECK_EQ(gpurt_executor_close(rt, s.x, NULL, NULL), GPURT_E_PANIC);
    CHECK_EQ(gpurt_mem_destroy(rt, s.board), GPURT_OK);
}

static const stage_part_t parts[] = {
    {"answers", answers},
    {"one_at_a_time", one_at_a_time},
    {"who_ends_with_it_is_told", who_ends_with_it_is_told},
    {"nobody_comes_between", nobody_comes_between},
    {"a_holder_does_not_run_again", a_holder_does_not_run_again},
};

int main(int argc, char **argv)
{
    return stage_parts(argc, argv, parts, sizeof parts / sizeof *parts);
}
