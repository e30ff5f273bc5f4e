/* SPDX-License-Identifier: Apache-2.0 */
/* Executors: tasks that sleep, and that wait for what no task tells of, and hold no warp meanwhile. */
#include "../executor_stage.h"

#include "hosttime.h"

#include <time.h>

/* Less than WAIT_NS: what is lost here never comes. */
#define SOON_NS 40000000000ull

/* On one warp: tasks that sleep let others run, none comes back too soon, and children count. */
static void sleepers_let_others_run(void)
{
    enum {
        SLEEPERS = 70, /* more than a warp goes through at once */
        NAPS = 2
    };
    struct task_sleeps_args a = {
        .board = NULL, .ns = CHECK_SANITIZED ? 500000000 : 150000000, .left = NAPS};
    struct task_fan_args children = {
        .first = SLEEPERS + 2 + NAPS, .count = 40, .how = GPURT_TASK_CHILD};
    gpurt_executor_t x = executor_of(1, 1, 256);
    uint64_t began;

    board_make(children.first + children.count);
    a.board = board;
    began = gpurt_steady_ns();
    for (a.mark = 0; a.mark < SLEEPERS; a.mark++)
        must(gpurt_executor_submit(rt, x, sleeps, &a, 1, 0, NULL, &err));
    a.child = 1; /* the marks behind it */
    a.mark = SLEEPERS + 1;
    must(gpurt_executor_submit(rt, x, sleeps, &a, 1, 0, NULL, &err));
    (void)submit_mark(x, SLEEPERS, GPURT_TASK_PRIORITY(-4));
    must(gpurt_executor_drain(rt, x, SOON_NS, &err));
    CHECK(gpurt_steady_ns() - began >= NAPS * a.ns);
    each_ran_once(0, SLEEPERS + 2 + NAPS);
    CHECK_EQ(board->marks[SLEEPERS].order, 1); /* while all others slept */
    CHECK_EQ(status_of(x).timed, 0);
    children.board = board; /* and what naps is forgotten: these end */
    must(gpurt_executor_submit(rt, x, fan, &children, 1, 0, NULL, &err));
    must(gpurt_executor_drain(rt, x, SOON_NS, &err));
    each_ran_once(children.first, children.count);
    executor_end(x);
    board_free();
}

/* All blocks sleep until a task's time comes, which is not far more. What sleeps is no cause to tell
 * that it is stuck, and counts as such. */
static void an_executor_wakes_for_a_sleeper(void)
{
    struct task_sleeps_args a = {.ns = 300000000, .left = 1};
    gpurt_executor_t x = executor_of(2, 1, 64);
    uint64_t began = gpurt_steady_ns(), most = 0;
    gpurt_submitted_t task;

    board_make(1);
    a.board = board;
    must(gpurt_executor_submit(rt, x, sleeps, &a, 1, 0, &task, &err));
    for (uint32_t i = 0; i < 1000 && gpurt_executor_wait(rt, x, task, 20000000, NULL,
                                                         &err) == GPURT_E_TIMEOUT;
         i++) { /* which orders nothing, so wakes nobody */
        gpurt_executor_status_t s = status_of(x);

        most = s.timed > most ? s.timed : most;
    }
    began = gpurt_steady_ns() - began;
    CHECK_EQ(most, 1);
    CHECK_MSG(began >= a.ns && began < 30 * a.ns, "%llu ns", (unsigned long long)began);
    each_ran_once(0, 1);
    executor_end(x);
    board_free();
}

/* More tasks wait for a channel than there are warps, and one that finds it full: no warp waits. */
static void tasks_wait_for_a_channel(void)
{
    enum {
        NOTES = 12 /* the channel holds 4 */
    };
    struct task_hears_args a = {.note = NOTES};
    gpurt_executor_t x = executor_of(1, 1, 64);
    gpurt_submitted_t t[NOTES];
    uint64_t note, sum = 0;
    task_desk_t *desk = desk_make();

    board_make(NOTES + 1);
    a.board = board;
    a.desk = desk;
    for (; a.mark < NOTES / 2; a.mark++)
        must(gpurt_executor_submit(rt, x, hears, &a, 1, 0, &t[a.mark], &err));
    a.mark = NOTES;
    must(gpurt_executor_submit(rt, x, says, &a, 1, 0, NULL, &err));
    for (a.mark = NOTES / 2; a.mark < NOTES; a.mark++) {
        struct timespec pause = {.tv_nsec = 2000000}; /* it finds the channel full */

        nanosleep(&pause, NULL);
        must(gpurt_executor_submit(rt, x, hears, &a, 1, 0, &t[a.mark], &err));
    }
    for (uint32_t i = 0; i < NOTES; i++) {
        CHECK_EQ(wait_of(x, t[i], &note), GPURT_OK);
        sum += note;
    }
    CHECK_EQ(sum, NOTES * (NOTES + 1) / 2);
    must(gpurt_executor_drain(rt, x, SOON_NS, &err));
    each_ran_once(0, NOTES + 1);
    executor_end(x);
    desk_free(desk);
    board_free();
}

int main(void)
{
    must(gpurt_open(NULL, &rt, &err));
    sleepers_let_others_run();
    an_executor_wakes_for_a_sleeper();
    tasks_wait_for_a_channel();
    must(gpurt_close(rt, &err));
    return 0;
}
