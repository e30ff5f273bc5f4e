/* SPDX-License-Identifier: Apache-2.0 */
/* Executors: tasks of a lane, beside those of a warp. */
#include "../executor_stage.h"

/* Less than WAIT_NS: what is lost here never comes. */
#define SOON_NS 40000000000ull

static gpurt_submitted_t submit_each(gpurt_executor_t x, uint32_t mark, int32_t fails,
                                     uint32_t how)
{
    struct task_mark_args a = {.board = board, .mark = mark, .fails = fails};
    gpurt_submitted_t task;

    must(gpurt_executor_submit(rt, x, each, &a, 1, how, &task, &err));
    return task;
}

/* Of one batch they run at once: each waits for all others, on one warp. Tasks of a warp between them have
 * their own turn. */
static void lanes_run_together(void)
{
    enum {
        MEET = 12
    };
    struct task_fan_args a = {.count = MEET + 1}; /* and the one at the gate */
    gpurt_executor_t x = executor_of(1, 1, 128);
    gpurt_submitted_t t[MEET];
    uint64_t met;

    board_make(2 + MEET);
    a.board = board;
    (void)gate_shut(x, 0, 1);
    for (uint32_t i = 0; i < MEET; i++) {
        must(gpurt_executor_submit(rt, x, meets, &a, 1, 0, &t[i], &err));
        if (i % 4 == 0)
            (void)submit_mark(x, 2 + i / 4, 0);
    }
    gate_open();
    for (uint32_t i = 0; i < MEET; i++) {
        CHECK_EQ(wait_of(x, t[i], &met), GPURT_OK);
        CHECK_EQ(met, 1);
    }
    executor_end(x);
    each_ran_once(2, MEET / 4);
    board_free();
}

/* Each has its own arguments, result, failure, priority and place in a graph. */
static void each_is_a_task_of_its_own(void)
{
    enum {
        MANY = 200
    };
    gpurt_executor_t x = executor_open(2, 512);
    gpurt_submitted_t t[MANY], last, skipped;
    uint64_t value;

    board_make(MANY + 2);
    for (uint32_t i = 0; i < MANY; i++)
        t[i] = submit_each(x, i, i % 7 == 3 ? -70 - (int32_t)(i % 5) : 0,
                           GPURT_TASK_PRIORITY(i % 8));
    last = submit_each(x, MANY, 0, GPURT_TASK_HELD | GPURT_TASK_ANYWAY);
    skipped = submit_each(x, MANY + 1, 0, GPURT_TASK_HELD);
    for (uint32_t i = 0; i < MANY; i += 50) {
        must(gpurt_executor_after(rt, x, t[i], last, &err));
        must(gpurt_executor_after(rt, x, last, skipped, &err));
    }
    must(gpurt_executor_cancel(rt, x, last, &err));
    must(gpurt_executor_start(rt, x, last, &err));
    must(gpurt_executor_start(rt, x, skipped, &err));
    for (uint32_t i = 0; i < MANY; i++) {
        CHECK_EQ(wait_of(x, t[i], &value), i % 7 == 3 ? -70 - (int32_t)(i % 5) : GPURT_OK);
        CHECK_EQ(value, 100 + i);
    }
    CHECK_EQ(wait_of(x, last, NULL), GPURT_E_CANCELLED);
    CHECK_EQ(wait_of(x, skipped, NULL), GPURT_E_CANCELLED);
    executor_end(x);
    each_ran_once(0, MANY);
    CHECK_EQ(board->marks[MANY].xruns + board->marks[MANY + 1].xruns, 0);
    board_free();
}

/* Children, awaited; a spawn that finds no room fails its task, and with it those that wait for it. */
static void lanes_fork_and_join(void)
{
    struct task_fib_args a = {.n = 11};
    struct task_fan_args s = {.count = 50};
    gpurt_executor_t x = executor_open(2, 1024);
    gpurt_executor_status_t did;
    gpurt_submitted_t task;
    uint64_t value = 0;

    must(gpurt_executor_submit(rt, x, forks, &a, 1, 0, &task, &err));
    CHECK_EQ(wait_of(x, task, &value), GPURT_OK);
    CHECK_EQ(value, 89);
    board_make(s.count);
    s.board = board;
    must(gpurt_executor_submit(rt, x, sows, &s, 1, 0, &task, &err));
    CHECK_EQ(wait_of(x, task, NULL), GPURT_OK);
    each_ran_once(0, s.count);
    CHECK_EQ(board->xrefused, 0);
    executor_end(x);
    board_free();

    x = executor_of(1, 1, 32);
    a.n = 16;
    must(gpurt_executor_submit(rt, x, forks, &a, 1, 0, &task, &err));
    CHECK_EQ(wait_of(x, task, NULL), GPURT_E_NOMEM);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    did = status_of(x);
    CHECK(did.refused > 0);
    CHECK_EQ(did.live, 0);
    a.n = 3; /* the pool is whole again */
    must(gpurt_executor_submit(rt, x, forks, &a, 1, 0, &task, &err));
    CHECK_EQ(wait_of(x, task, &value), GPURT_OK);
    CHECK_EQ(value, 2);
    executor_end(x);
}

/* Naps, or yields, with children that nap for longer. */
static void lanes_sleep(void)
{
    enum {
        SLEEPERS = 40,
        NAPS = 2
    };
    struct task_sleeps_args a = {.ns = 2000000, .left = NAPS};
    gpurt_executor_t x = executor_of(1, 2, 256);

    board_make(SLEEPERS + 1 + NAPS);
    a.board = board;
    for (; a.mark < SLEEPERS; a.mark++) {
        a.ns = a.mark % 3 ? 2000000 : 0;
        must(gpurt_executor_submit(rt, x, dozes, &a, 1, 0, NULL, &err));
    }
    a.child = 1; /* the marks behind it */
    must(gpurt_executor_submit(rt, x, dozes, &a, 1, 0, NULL, &err));
    must(gpurt_executor_drain(rt, x, SOON_NS, &err));
    executor_end(x);
    each_ran_once(0, SLEEPERS + 1 + NAPS);
    board_free();
}

/* All that are in a body with one that panics fail, and none of them runs again on the block that is left. */
static void a_panic_fails_those_beside_it(void)
{
    enum {
        MEET = 8
    };
    struct task_fan_args a = {.count = MEET + 2, /* and those at the gate */
                              .how = 2000};      /* not all of them are taken up at once */
    gpurt_executor_t x = executor_of(2, 1, 128);
    gpurt_submitted_t t[MEET];
    uint32_t failed = 0;

    board_make(2);
    a.board = board;
    (void)gate_shut(x, 0, 1);
    (void)gate_shut(x, 1, 2);
    for (uint32_t i = 0; i < MEET; i++) {
        a.mark = i == 2;
        must(gpurt_executor_submit(rt, x, meets, &a, 1, 0, &t[i], &err));
    }
    gate_open();
    for (uint32_t i = 0; i < MEET; i++) {
        gpurt_status_t st = wait_of(x, t[i], NULL);

        CHECK(st == GPURT_OK || st == GPURT_E_PANIC);
        failed += st == GPURT_E_PANIC;
    }
    CHECK(failed >= 1);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    /* each began once; relaxed: a panic orders nothing */
    CHECK_EQ(gpurt_load_relaxed_sys_u32(&board->xhere), MEET + 2);
    CHECK_EQ(gpurt_executor_close(rt, x, NULL, NULL), GPURT_E_PANIC);
    board_free();
}

int main(void)
{
    must(gpurt_open(NULL, &rt, &err));
    lanes_run_together();
    each_is_a_task_of_its_own();
    lanes_fork_and_join();
    lanes_sleep();
    a_panic_fails_those_beside_it();
    must(gpurt_close(rt, &err));
    return 0;
}
