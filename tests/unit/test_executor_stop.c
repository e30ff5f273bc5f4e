/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that are cancelled when they have begun: they are told, and their children do not begin. */
#include "../executor_stage.h"

#include <time.h>

enum {
    MANY = 300
};

static gpurt_submitted_t warden_submit(gpurt_executor_t x, uint32_t depth,
                                       uint32_t of_lanes)
{
    struct task_warden_args a = {
        .board = board, .count = MANY, .depth = depth, .of_lanes = of_lanes};
    gpurt_submitted_t task;

    must(gpurt_executor_submit(rt, x, warden, &a, 1, 0, &task, &err));
    return task;
}

static uint32_t marks_ran(void)
{
    uint32_t ran = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        CHECK(board->marks[i].xruns <= 1);
        ran += board->marks[i].xruns;
    }
    return ran;
}

/* With one warp nothing comes between the cancel and the children. Then the executor is as before. */
static void children_do_not_begin(uint32_t depth, uint32_t of_lanes)
{
    gpurt_executor_t x = executor_of(1, 1, 1024);
    gpurt_executor_status_t s;
    uint64_t stopped = 0;

    board_make(MANY);
    CHECK_EQ(wait_of(x, warden_submit(x, depth, of_lanes), &stopped), GPURT_OK);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    s = status_of(x);
    CHECK_EQ(stopped, 1);
    CHECK_EQ(marks_ran(), 0);
    CHECK_EQ(s.cancelled, MANY);
    CHECK_EQ(s.ended, depth + 2);      /* those above, and what cancelled them */
    CHECK_EQ(board->xhere, depth + 1); /* each of which was told */
    CHECK_EQ(board->xrefused, 0);
    CHECK_EQ(wait_of(x, submit_mark(x, 5, 0), NULL), GPURT_OK);
    executor_end(x);
    board_free();
}

/* With many, some begin before: each runs, or is cancelled. */
static void each_runs_or_does_not(uint32_t depth)
{
    gpurt_executor_t x = executor_of(4, 2, 1024);
    gpurt_executor_status_t s;

    board_make(MANY);
    CHECK_EQ(wait_of(x, warden_submit(x, depth, 0), NULL), GPURT_OK);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    s = status_of(x);
    CHECK_EQ(s.cancelled + marks_ran(), MANY);
    CHECK_EQ(s.failed, 0);
    executor_end(x);
    board_free();
}

/* A handle of one that has ended names nobody, though its row has another task. */
static void a_row_is_not_its_task(void)
{
    gpurt_executor_t x = executor_of(1, 1, 2);
    struct task_graph_args a;
    gpurt_submitted_t task;

    board_make(2);
    a = (struct task_graph_args){.board = board};
    must(gpurt_executor_submit(rt, x, stale, &a, 1, 0, &task, &err));
    CHECK_EQ(wait_of(x, task, NULL), GPURT_OK);
    each_ran_once(0, 2);
    CHECK_EQ(board->cancelled, 0);
    CHECK_EQ(status_of(x).cancelled, 0);
    executor_end(x);
    board_free();
}

/* A body that asks what is due is told to end its run, and in the next one that it is to stop. */
static void a_long_body_is_told(void)
{
    gpurt_executor_t x = executor_open(1, 64);
    struct task_patient_args a;
    gpurt_submitted_t task;
    uint64_t stopped = 0;

    board_make(1);
    a = (struct task_patient_args){.board = board};
    must(gpurt_executor_submit(rt, x, obeys, &a, 1, 0, &task, &err));
    while (gpurt_load_relaxed_sys_u32(&board->xhere) == 0)
        must(gpurt_hostword_wait(rt, &board->xhere, 0, WAIT_NS, NULL, &err));
    must(gpurt_executor_cancel(rt, x, task, &err));
    CHECK_EQ(wait_of(x, task, &stopped), GPURT_OK);
    CHECK_EQ(stopped, 1);
    executor_end(x);
    board_free();
}

/* Those that sleep are woken, with all below them, and may sleep on then. One that nobody cancels is not. */
static void sleepers_are_woken(uint32_t blocks, uint32_t below)
{
    gpurt_executor_t x = executor_of(blocks, 2, 64);
    const struct timespec pause = {0, 1000000};
    struct task_slumber_args a[2] = {{0}};
    gpurt_submitted_t tasks[2];

    board_make(1);
    a[0].board = board;
    a[0].left = below;
    a[1] = a[0];
    must(gpurt_executor_submit(rt, x, slumber, a, 2, 0, tasks, &err));
    while (status_of(x).timed < 2 * (below + 1))
        nanosleep(&pause, NULL);
    must(gpurt_executor_cancel(rt, x, tasks[0], &err));
    CHECK_EQ(wait_of(x, tasks[0], NULL), GPURT_OK);
    CHECK_EQ(gpurt_executor_wait(rt, x, tasks[1], 0, NULL, &err), GPURT_E_TIMEOUT);
    must(gpurt_executor_cancel(rt, x, tasks[1], &err));
    CHECK_EQ(wait_of(x, tasks[1], NULL), GPURT_OK);
    CHECK_EQ(board->xhere, 2 * (below + 1));
    CHECK_EQ(board->xrefused, 0);
    executor_end(x);
    board_free();
}

int main(void)
{
    must(gpurt_open(NULL, &rt, &err));
    for (uint32_t depth = 0; depth < 4; depth++) {
        children_do_not_begin(depth, depth % 2);
        each_runs_or_does_not(depth);
    }
    a_row_is_not_its_task();
    a_long_body_is_told();
    sleepers_are_woken(1, 0);
    sleepers_are_woken(2, 3);
    must(gpurt_close(rt, &err));
    return 0;
}
