/* SPDX-License-Identifier: Apache-2.0 */
/* Executors: what a block cannot keep near. A tree of tasks needs few rows at a time, and tasks behind a long body are
 * run by another block. */
#include "../executor_stage.h"

enum {
    MARKS =
        400, /* more than a pocket has room for, and several times what is stolen at once */
    FIB = 20,
    FIB_VALUE = 6765,
    FIB_TASKS = 21891,
    FIB_LIVE = 3000 /* two warps of 31 lanes, 19 deep, are a third of it */
};

static uint64_t fib_of(gpurt_executor_t x, bool lanes)
{
    struct task_fib_args a = {.n = FIB};
    gpurt_submitted_t task;
    uint64_t value = 0;

    if (lanes)
        must(gpurt_executor_submit(rt, x, forks, &a, 1, 0, &task, &err));
    else
        must(gpurt_executor_submit(rt, x, fib, &a, 1, 0, &task, &err));
    CHECK_EQ(wait_of(x, task, &value), GPURT_OK);
    return value;
}

/* Were it run breadth first, a quarter of all would live at a time. */
static void a_tree_needs_few_rows(void)
{
    const gpurt_executor_options_t options = {
        .blocks = 2, .warps = 1, .tasks = FIB_LIVE, .edges = 64};
    gpurt_executor_status_t s;
    gpurt_executor_t x;

    must(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    CHECK_EQ(fib_of(x, true), FIB_VALUE);
    CHECK_EQ(fib_of(x, false), FIB_VALUE);
    s = status_of(x);
    CHECK_EQ(s.refused, 0);
    CHECK_EQ(s.failed, 0);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    CHECK_EQ(status_of(x).ended, 2 * FIB_TASKS);
    executor_end(x);
}

/* A body spawns tasks while nobody is without work, waits for half of them and asks for nothing. The other block is let go
 * then, and finds them. */
static void what_lies_deep_is_stolen(void)
{
    const gpurt_executor_options_t options = {
        .blocks = 2, .warps = 1, .tasks = 2 * MARKS, .deep = 1};
    struct task_clings_args a = {.spawns = MARKS, .until = MARKS / 2};
    gpurt_executor_status_t s;
    gpurt_submitted_t task;
    gpurt_executor_t x;
    uint64_t ran = 0;

    must(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    board_make(MARKS + 1);
    a.board = board;
    gate_shut(x, MARKS, 1);
    must(gpurt_executor_submit(rt, x, clings, &a, 1, 0, &task, &err));
    while (gpurt_load_relaxed_sys_u32(&board->xhere) < 2)
        must(gpurt_hostword_wait(rt, &board->xhere, 1, WAIT_NS, NULL, &err));
    s = status_of(x); /* of those in pockets it tells later */
    CHECK(s.ready[GPURT_TASK_NORMAL] >= MARKS - GPURT_POCKET_NUMBERS);
    gate_open();
    CHECK_EQ(wait_of(x, task, &ran), GPURT_OK);
    CHECK(ran >= MARKS / 2);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(0, MARKS + 1);
    s = status_of(x);
    CHECK_EQ(s.refused + board->xrefused, 0);
    CHECK(s.stolen >= MARKS / 2);
    executor_end(x);
    board_free();
}

/* A block whose pocket is filled anew all the time has a task in the ring, because its deque has others. That task has its
 * turn all the same, though rows are scarce. */
static void the_ring_has_a_turn(void)
{
    enum {
        POCKET = 8, /* of so small a pool */
        RUNS = 5000
    };
    const gpurt_executor_options_t options = {
        .blocks = 1, .warps = 1, .tasks = 4 * POCKET, .deep = 1};
    struct task_fan_args renewer = {.count = RUNS};
    gpurt_executor_t x;

    must(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    board_make(POCKET + 3);
    renewer.board = board;
    gate_shut(x, POCKET + 2, 1);
    for (uint32_t i = 0; i <= POCKET; i++) /* one is in the deque */
        (void)submit_mark(x, 1 + i, GPURT_TASK_PRIORITY(-1));
    (void)submit_mark(x, 0, 0);
    for (uint32_t i = 0; i < POCKET; i++) /* the mark has no room in the pocket any more */
        must(gpurt_executor_submit(rt, x, renews, &renewer, 1, 0, NULL, &err));
    gate_open();
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(0, POCKET + 3);
    CHECK_MSG(board->marks[0].order < POCKET * RUNS / 10 * 9, "after %u runs of others",
              board->marks[0].order);
    executor_end(x);
    board_free();
}

/* Who has read numbers of a deque finds out that they are others by now, though it has as many. */
static void a_word_does_not_come_back(void)
{
    const uint64_t word = gpurt_deque_word(0, 7, 9, 3);
    const uint64_t less = gpurt_deque_word(word, 7, 8, 3);
    const uint64_t again = gpurt_deque_word(less, 7, 9, 3);

    CHECK(again != word);
    CHECK_EQ(gpurt_deque_count(again), 2);
    CHECK_EQ(gpurt_deque_count(gpurt_deque_word(word, 65535, 3, 3)), 4);
    CHECK_EQ(gpurt_deque_level(again), 3);
}

int main(void)
{
    a_word_does_not_come_back();
    must(gpurt_open(NULL, &rt, &err));
    a_tree_needs_few_rows();
    what_lies_deep_is_stolen();
    the_ring_has_a_turn();
    CHECK_EQ(gpurt_close(rt, NULL), GPURT_OK);
    return 0;
}
