/* SPDX-License-Identifier: Apache-2.0 */
/* Executors: each task runs once, in the order of priorities; what finds no room, fails or is
 * cancelled is told, and everything else goes on. */
#include "../executor_stage.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum {
    BLOCKS = 3
};

/* ---- what is submitted ------------------------------------------------------------------- */

static void tasks_run_and_tell(void)
{
    gpurt_executor_t x = executor_open(BLOCKS, 256);
    gpurt_submitted_t tasks[100];
    struct task_mark_args a[100];
    uint64_t value = 0;

    board_make(101);
    for (uint32_t i = 0; i < 100; i++)
        a[i] =
            (struct task_mark_args){.board = board, .mark = i, .fails = i == 50 ? -77 : 0};
    must(gpurt_executor_submit(rt, x, mark, a, 100, 0, tasks, &err));
    for (uint32_t i = 0; i < 100; i++) {
        CHECK_EQ(wait_of(x, tasks[i], &value), i == 50 ? -77 : GPURT_OK);
        CHECK_EQ(value, 100 + i);
    }
    each_ran_once(0, 100);
    CHECK_EQ(wait_of(x, tasks[7], &value), GPURT_E_HANDLE);
    CHECK_EQ(wait_of(x, submit_mark(x, 100, 0), NULL), GPURT_OK);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    CHECK_EQ(status_of(x).ended, 100);
    CHECK_EQ(status_of(x).failed, 1);
    CHECK_EQ(status_of(x).live, 0);
    executor_end(x);
    board_free();
}

/* More than the ring of orders and the list of records hold, more than the pool at a time. */
static void many_flow_through(void)
{
    enum {
        MANY = 3000
    };
    gpurt_executor_t x = executor_open(BLOCKS, MANY);
    struct task_mark_args *a;

    board_make(MANY);
    a = calloc(MANY, sizeof *a);
    for (uint32_t i = 0; i < MANY; i++)
        a[i] = (struct task_mark_args){.board = board, .mark = i};
    must(gpurt_executor_submit(rt, x, mark, a, MANY, 0, NULL, &err));
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(0, MANY);
    CHECK_EQ(status_of(x).ended, MANY);
    free(a);
    executor_end(x);
    board_free();
}

/* One warp, which is busy until all wait in the queues. */
static void the_urgent_run_first(void)
{
    const gpurt_executor_options_t one = {.blocks = 1, .warps = 1, .tasks = 64};
    gpurt_submitted_t gate, tasks[16];
    gpurt_executor_t x;

    board_make(17);
    must(gpurt_executor_open(rt, task_tests, &one, &x, &err));
    gate = gate_shut(x, 16, 1);
    for (int32_t i = 0; i < 16; i++)
        tasks[i] = submit_mark(x, (uint32_t)i, GPURT_TASK_PRIORITY(i % 8 - 4));
    gate_open();
    for (uint32_t i = 0; i < 16; i++)
        CHECK_EQ(wait_of(x, tasks[i], NULL), GPURT_OK);
    CHECK_EQ(wait_of(x, gate, NULL), GPURT_OK);
    each_ran_once(0, 17);
    for (uint32_t i = 1; i < 8;
         i++) /* each level: its first, its second, and then the next */
        for (uint32_t j = 0; j < 2; j++)
            CHECK(board->marks[i + 8 * j].order < board->marks[i - 1].order);
    for (uint32_t i = 0; i < 8; i++)
        CHECK(board->marks[i].order < board->marks[i + 8].order);
    executor_end(x);
    board_free();
}

static void a_yield_lets_others_run(void)
{
    const gpurt_executor_options_t one = {.blocks = 1, .warps = 1, .tasks = 64};
    struct task_fan_args a;
    gpurt_executor_t x;

    board_make(3);
    a = (struct task_fan_args){.board = board, .count = 20};
    must(gpurt_executor_open(rt, task_tests, &one, &x, &err));
    gate_shut(x, 2, 1);
    must(gpurt_executor_submit(rt, x, yields, &a, 1, 0, NULL, &err));
    submit_mark(x, 0, 0);
    gate_open();
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    CHECK_EQ(board->xorder, 22);
    /* Behind the gate and the first turn, or some more, if its order is taken later than the other's. */
    CHECK_MSG(board->marks[0].order >= 3 && board->marks[0].order <= 10, "after %u",
              board->marks[0].order);
    executor_end(x);
    board_free();
}

/* ---- no room ----------------------------------------------------------------------------- */

static void a_full_pool_refuses(void)
{
    gpurt_executor_t x = executor_open(1, 32);
    struct task_mark_args a[40];
    gpurt_submitted_t gates[2], tasks[40];
    uint32_t refused = 0;

    board_make(42);
    gates[0] = gate_shut(x, 40, 1);
    gates[1] = gate_shut(x, 41, 2);
    for (uint32_t i = 0; i < 40; i++)
        a[i] = (struct task_mark_args){.board = board, .mark = i};
    must(gpurt_executor_submit(rt, x, mark, a, 40, GPURT_TASK_HELD, tasks, &err));
    gate_open();
    CHECK_EQ(wait_of(x, gates[0], NULL), GPURT_OK);
    CHECK_EQ(wait_of(x, gates[1], NULL), GPURT_OK);
    for (uint32_t i = 0; i < 40; i++)
        must(gpurt_executor_start(rt, x, tasks[i], &err));
    for (uint32_t i = 0; i < 40; i++) {
        gpurt_status_t st = wait_of(x, tasks[i], NULL);

        CHECK(st == GPURT_OK || st == GPURT_E_NOMEM);
        CHECK_EQ(board->marks[i].xruns, st == GPURT_OK);
        refused += st != GPURT_OK;
    }
    CHECK(refused >= 8 && refused <= 10); /* the gates lived, or not any more */
    CHECK_EQ(status_of(x).refused, refused);
    executor_end(x);
    board_free();
}

static void close_drops_what_is_left(void)
{
    gpurt_executor_t x = executor_open(1, 512);
    struct task_mark_args a[300];
    gpurt_executor_status_t s;
    gpurt_submitted_t task;
    uint64_t dropped;
    uint32_t ran = 0;

    board_make(303);
    gate_shut(x, 300, 1);
    gate_shut(x, 301, 2);
    for (uint32_t i = 0; i < 300; i++)
        a[i] = (struct task_mark_args){.board = board, .mark = i};
    must(gpurt_executor_submit(rt, x, mark, a, 300, 0, NULL, &err));
    task = submit_mark(x, 302, GPURT_TASK_HELD);
    CHECK_EQ(gpurt_executor_wait(rt, x, task, 1000000, NULL, &err), GPURT_E_TIMEOUT);
    CHECK_CONTAINS(err.text, "has not ended");
    gate_open();
    s = status_of(x);
    CHECK_EQ(s.blocks, 1);
    must(gpurt_executor_close(rt, x, &dropped, &err));
    for (uint32_t i = 0; i < 303; i++)
        ran += board->marks[i].xruns;
    CHECK_EQ(ran + dropped, 303);
    CHECK(dropped >= 1);
    CHECK_EQ(gpurt_executor_drain(rt, x, WAIT_NS, &err), GPURT_E_HANDLE);
    board_free();
}

/* ---- beside each other ------------------------------------------------------------------- */

static void two_side_by_side(void)
{
    gpurt_executor_t x = executor_open(1, 2048), y = executor_open(2, 2048);
    struct task_fan_args a;

    board_make(2000);
    a = (struct task_fan_args){.board = board, .count = 1000};
    must(gpurt_executor_submit(rt, x, fan, &a, 1, 0, NULL, &err));
    a.first = 1000;
    must(gpurt_executor_submit(rt, y, fan, &a, 1, 0, NULL, &err));
    must(gpurt_executor_drain(rt, y, WAIT_NS, &err));
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(0, 2000);
    CHECK_EQ(status_of(x).ended, status_of(y).ended);
    executor_end(x);
    executor_end(y);
    board_free();
}

/* It rests between tasks while a heap that it declared goes, and runs on. */
static void it_rests_between_tasks(void)
{
    gpurt_heap_options_t small = {.bytes = 1 << 22};
    gpurt_executor_options_t options = {.blocks = BLOCKS, .warps = 2, .tasks = 64};
    const gpurt_heap_t *heaps[1];
    struct task_fan_args a[4];
    gpurt_heap_t heap;
    gpurt_executor_t x;

    board_make(0);
    must(gpurt_heap_create(rt, &small, &heap, &err));
    heaps[0] = &heap;
    options.service.heaps = heaps;
    options.service.heap_count = 1;
    must(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    for (uint32_t i = 0; i < 4; i++)
        a[i] = (struct task_fan_args){.board = board, .count = 200};
    must(gpurt_executor_submit(rt, x, yields, a, 4, 0, NULL, &err));
    must(gpurt_heap_destroy(rt, &heap, &err));
    executor_end(x);
    CHECK_EQ(board->xorder, 800);
    board_free();
}

/* Whatever orders a warp takes together: what was cancelled first does not run. */
static void a_cancelled_one_does_not_start(void)
{
    enum {
        MANY = 40,
        ROUNDS = 20
    };
    gpurt_executor_t x = executor_open(BLOCKS, 2 * MANY);
    gpurt_submitted_t t[MANY];

    for (uint32_t round = 0; round < ROUNDS; round++) {
        board_make(MANY);
        for (uint32_t i = 0; i < MANY; i++)
            t[i] = submit_mark(x, i, GPURT_TASK_HELD);
        for (uint32_t i = 0; i < MANY; i++) {
            must(gpurt_executor_cancel(rt, x, t[i], &err));
            must(gpurt_executor_start(rt, x, t[i], &err));
        }
        for (uint32_t i = 0; i < MANY; i++)
            CHECK_EQ(wait_of(x, t[i], NULL), GPURT_E_CANCELLED);
        for (uint32_t i = 0; i < MANY; i++)
            CHECK_EQ(board->marks[i].xruns, 0);
        board_free();
    }
    executor_end(x);
}

/* ---- idle -------------------------------------------------------------------------------- */

static uint64_t processor_ns(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * 1000000000u +
           ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) * 1000u;
}

static void sleep_is_seen(gpurt_executor_t x, uint32_t blocks)
{
    struct timespec moment = {0, 1000000};

    for (uint32_t i = 0; i < 20000 && status_of(x).asleep < blocks; i++)
        nanosleep(&moment, NULL); /* they look on for a while before they sleep */
    CHECK_EQ(status_of(x).asleep, blocks);
}

/* A block falls asleep after the other has seen it at work, and did not look again. Returns: whether it was
 * woken; not where it was about to look, and found the task by itself. */
static bool the_urgent_wake_who_sleeps(void)
{
    const gpurt_executor_options_t two = {.blocks = 2, .warps = 1, .tasks = 64};
    struct task_mark_args a = {.mark = 1};
    gpurt_submitted_t rouses;
    gpurt_executor_t x;
    bool woken;

    board_make(2);
    a.board = board;
    must(gpurt_executor_open(rt, task_tests, &two, &x, &err));
    gate_shut(x, 0, 1);
    must(gpurt_executor_submit(rt, x, rouses, &a, 1, 0, &rouses, &err));
    must(gpurt_hostword_wait(rt, &board->xhere, 1, WAIT_NS, NULL, &err));
    gate_open();
    sleep_is_seen(x, 1);
    must(gpurt_hostword_store(rt, &board->xgate, 2, &err));
    CHECK_EQ(wait_of(x, rouses, NULL), GPURT_OK);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(0, 2);
    woken = board->woken == 1;
    executor_end(x);
    board_free();
    return woken;
}

static void idle_takes_no_time(void)
{
    gpurt_executor_t x = executor_open(BLOCKS, 64);
    struct timespec second = {1, 0};
    uint64_t before;

    board_make(1);
    CHECK_EQ(wait_of(x, submit_mark(x, 0, 0), NULL), GPURT_OK);
    sleep_is_seen(x, BLOCKS);
    before = processor_ns();
    nanosleep(&second, NULL);
    CHECK_MSG(processor_ns() - before < 50000000, "%llu ns",
              (unsigned long long)(processor_ns() - before));
    CHECK_EQ(status_of(x).asleep, BLOCKS);
    executor_end(x);
    board_free();
}

static void mistakes_are_refused(void)
{
    const gpurt_executor_options_t many = {.warps = 32},
                                   both = {.blocks = 1, .share_percent = 9},
                                   sliced = {.slices = GPURT_EXECUTOR_SLICES_MOST + 1};
    struct task_mark_args a = {.board = NULL};
    gpurt_submitted_t tasks[2];
    gpurt_executor_t x;

    CHECK_EQ(gpurt_executor_open(rt, task_tests, &many, &x, &err), GPURT_E_INVALID);
    CHECK_EQ(gpurt_executor_open(rt, task_tests, &both, &x, &err), GPURT_E_INVALID);
    CHECK_EQ(gpurt_executor_open(rt, task_tests, &sliced, &x, &err), GPURT_E_INVALID);
    CHECK_EQ(x, 0);
    CHECK_EQ(gpurt_executor_drain(rt, x, 0, &err), GPURT_E_HANDLE);
    {
        const gpurt_executor_options_t few = {
            .blocks = 1, .warps = 1, .tasks = 8, .records = 1};

        must(gpurt_executor_open(rt, task_tests, &few, &x, &err));
    }
    CHECK_EQ(gpurt_executor_submit(rt, x, mark, &a, 2, 0, tasks, &err), GPURT_E_NOMEM);
    CHECK_EQ(gpurt_executor_submit(rt, x, mark, &a, 1, GPURT_TASK_HELD, NULL, &err),
             GPURT_E_INVALID);
    CHECK_EQ(gpurt_executor_submit(rt, x, mark, &a, 1, GPURT_TASK_CHILD, tasks, &err),
             GPURT_E_INVALID);
    CHECK_EQ(gpurt_executor_start(rt, x, 1, &err), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_executor_after(rt, x, 0, 1, &err), GPURT_E_HANDLE);
    executor_end(x);
}

int main(void)
{
    must(gpurt_open(NULL, &rt, &err));
    mistakes_are_refused();
    tasks_run_and_tell();
    many_flow_through();
    the_urgent_run_first();
    a_yield_lets_others_run();
    a_full_pool_refuses();
    close_drops_what_is_left();
    two_side_by_side();
    a_cancelled_one_does_not_start();
    it_rests_between_tasks();
    for (uint32_t tries = 1; !the_urgent_wake_who_sleeps(); tries++)
        CHECK(tries < 5);
    if (!getenv("GPURT_SEED"))
        idle_takes_no_time();
    must(gpurt_close(rt, &err));
    return 0;
}
