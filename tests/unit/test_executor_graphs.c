/* SPDX-License-Identifier: Apache-2.0 */
/* Executors: graphs that the host and tasks make. Each task runs once, after those that it waits for;
 * what fails or is cancelled is told to those behind it, and what finds no room to its maker. */
#include "../executor_stage.h"

#include <stdlib.h>

enum {
    BLOCKS = 3
};

/* 0 -> 1 -> 3, 0 -> 2 -> 3; 4 waits for what has ended, 5 and 6 for 2. */
static void graph_of_the_host(gpurt_status_t of_two, bool cancels)
{
    static const uint32_t edges[][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {2, 5}, {2, 6}};
    gpurt_executor_t x = executor_open(BLOCKS, 64);
    bool fails = of_two != GPURT_OK;
    gpurt_status_t told = fails ? GPURT_E_CANCELLED : GPURT_OK;
    gpurt_submitted_t t[7];

    board_make(7);
    for (uint32_t i = 0; i < 7; i++) {
        struct task_mark_args a = {
            .board = board, .mark = i, .fails = i == 2 && !cancels ? of_two : 0};
        uint32_t how = GPURT_TASK_HELD | (i == 6 ? GPURT_TASK_ANYWAY : 0);

        must(gpurt_executor_submit(rt, x, mark, &a, 1, how, &t[i], &err));
    }
    for (uint32_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        task_mark_t *m = &board->marks[edges[i][1]];

        m->befores[m->before_count++] = edges[i][0];
        must(gpurt_executor_after(rt, x, t[edges[i][0]], t[edges[i][1]], &err));
    }
    if (cancels)
        must(gpurt_executor_cancel(rt, x, t[2], &err));
    for (uint32_t i = 7; i-- > 0;)
        if (i != 4)
            must(gpurt_executor_start(rt, x, t[i], &err));
    CHECK_EQ(wait_of(x, t[0], NULL), GPURT_OK);
    CHECK_EQ(wait_of(x, t[1], NULL), GPURT_OK);
    CHECK_EQ(wait_of(x, t[2], NULL), of_two);
    CHECK_EQ(wait_of(x, t[3], NULL), told);
    CHECK_EQ(wait_of(x, t[5], NULL), told);
    CHECK_EQ(wait_of(x, t[6], NULL), GPURT_OK);
    must(gpurt_executor_after(rt, x, t[2], t[4], &err));
    must(gpurt_executor_start(rt, x, t[4], &err));
    CHECK_EQ(wait_of(x, t[4], NULL), GPURT_OK);
    CHECK_EQ(gpurt_executor_start(rt, x, t[4], &err), GPURT_E_HANDLE);
    executor_end(x);
    for (uint32_t i = 0; i < 7; i++) {
        bool ran = !fails || i == 0 || i == 1 || i == 4 || i == 6 || (i == 2 && !cancels);

        CHECK_EQ(board->marks[i].xruns, ran);
        CHECK(!board->marks[i].early);
    }
    CHECK_EQ(board->marks[6].tainted, fails);
    board_free();
}

/* Chains and fans that a task makes while it runs. */
static void graph_of_a_task(uint32_t count, bool fans)
{
    gpurt_executor_t x = executor_open(BLOCKS, count + 1);
    struct task_graph_args a;
    uint32_t last = 0;

    board_make(count);
    a = (struct task_graph_args){.board = board, .count = count, .fans = fans};
    for (uint32_t i = 1; i < count; i++) {
        board->marks[i].before_count = 1;
        board->marks[i].befores[0] = fans ? 0 : i - 1;
    }
    must(gpurt_executor_submit(rt, x, graph, &a, 1, 0, NULL, &err));
    /* A step takes 0.2 ms on two idle cores, five times as long beside other tests. */
    must(gpurt_executor_drain(rt, x, WAIT_NS + count * 1000000ull, &err));
    each_ran_once(0, count);
    CHECK_EQ(board->xrefused, 0);
    for (uint32_t i = 0; !fans && i < count; i++) {
        CHECK_EQ(board->marks[i].order, last + 1);
        last++;
    }
    while (!fans &&
           status_of(x).at_once < count - 1) /* each by the warp of the one before, */
        must(gpurt_executor_drain(rt, x, WAIT_NS,
                                  &err)); /* ... which adds it up when idle */
    CHECK_EQ(fans ? 0 : status_of(x).at_once, fans ? 0 : count - 1);
    executor_end(x);
    board_free();
}

static void children_are_awaited(uint32_t n, uint64_t expected)
{
    gpurt_executor_t x = executor_open(BLOCKS, 4096);
    struct task_fib_args a = {.n = n};
    gpurt_submitted_t task;
    uint64_t value;

    must(gpurt_executor_submit(rt, x, fib, &a, 1, 0, &task, &err));
    CHECK_EQ(wait_of(x, task, &value), GPURT_OK);
    CHECK_EQ(value, expected);
    executor_end(x);
}

/* A task that spawns more than there is room for hears of each. */
static void a_spawner_hears_of_it(void)
{
    gpurt_executor_t x = executor_open(BLOCKS, 64);
    gpurt_submitted_t held[32], root;
    struct task_fan_args a;
    uint32_t ran = 0;

    board_make(1032);
    for (uint32_t i = 0; i < 32; i++)
        held[i] = submit_mark(x, 1000 + i, GPURT_TASK_HELD);
    a = (struct task_fan_args){.board = board, .count = 1000};
    must(gpurt_executor_submit(rt, x, fan, &a, 1, 0, &root, &err));
    CHECK_EQ(wait_of(x, root, NULL), GPURT_OK);
    CHECK_EQ(gpurt_executor_drain(rt, x, 1000000, &err), GPURT_E_TIMEOUT);
    CHECK_CONTAINS(err.text, "tasks live");
    for (uint32_t i = 0; i < 32; i++)
        must(gpurt_executor_start(rt, x, held[i], &err));
    for (uint32_t i = 0; i < 32; i++)
        CHECK_EQ(wait_of(x, held[i], NULL), GPURT_OK);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK(board->marks[i].xruns <= 1);
        ran += board->marks[i].xruns;
    }
    each_ran_once(1000, 32);
    CHECK_EQ(status_of(x).refused, board->xrefused);
    CHECK(board->xrefused > 0 && ran < 1000);
    executor_end(x);
    board_free();
}

/* ---- exhaustion -------------------------------------------------------------------------- */

/* `pool` tasks live at once, held, and then all run: no row of the pool is lost. */
static void the_pool_is_whole(gpurt_executor_t x, uint32_t pool)
{
    gpurt_submitted_t *t = (gpurt_submitted_t *)calloc(pool, sizeof *t);
    uint64_t refused = status_of(x).refused;

    board_make(pool);
    for (uint32_t i = 0; i < pool; i++)
        t[i] = submit_mark(x, i, GPURT_TASK_HELD);
    for (uint32_t i = 0; i < pool; i++)
        must(gpurt_executor_start(rt, x, t[i], &err));
    for (uint32_t i = 0; i < pool; i++)
        CHECK_EQ(wait_of(x, t[i], NULL), GPURT_OK);
    each_ran_once(0, pool);
    CHECK_EQ(status_of(x).refused, refused);
    board_free();
    free(t);
}

/* A tree for which the pool is far too small: each spawn that finds no room is told, and counted. */
static void a_pool_runs_dry(uint32_t many)
{
    uint32_t pool = many / 64 > 64 ? many / 64 : 64, ran = 0;
    const gpurt_executor_options_t options = {
        .blocks = BLOCKS, .warps = 2, .tasks = pool, .records = pool + 1};
    gpurt_executor_t x;
    struct task_fan_args a;

    must(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    board_make(many);
    a = (struct task_fan_args){.board = board, .count = many};
    must(gpurt_executor_submit(rt, x, fan, &a, 1, 0, NULL, &err));
    must(gpurt_executor_drain(rt, x, WAIT_NS + many * 100000ull, &err));
    for (uint32_t i = 0; i < many; i++) {
        CHECK(board->marks[i].xruns <= 1);
        ran += board->marks[i].xruns;
    }
    CHECK_EQ(board->xorder, ran);
    CHECK_EQ(status_of(x).refused, board->xrefused);
    CHECK(board->xrefused > 0 || ran == many);
    board_free();
    the_pool_is_whole(x, pool);
    executor_end(x);
}

/* As many edges as there is room for: the others are told, and all come back. */
static void edges_run_out(uint32_t many)
{
    const gpurt_executor_options_t options = {
        .blocks = BLOCKS, .warps = 2, .tasks = many + 1, .edges = many / 2};
    struct task_graph_args a;
    gpurt_executor_t x;

    must(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    for (uint32_t round = 1; round <= 2; round++) {
        board_make(many);
        a = (struct task_graph_args){.board = board, .count = many, .fans = 1};
        must(gpurt_executor_submit(rt, x, graph, &a, 1, 0, NULL, &err));
        must(gpurt_executor_drain(rt, x, WAIT_NS + many * 100000ull, &err));
        each_ran_once(0, many);
        CHECK_EQ(board->xrefused, many - 1 - many / 2);
        CHECK_EQ(status_of(x).refused, round * board->xrefused);
        board_free();
    }
    executor_end(x);
}

int main(int argc, char **argv)
{
    bool seeded = getenv("GPURT_SEED") != NULL;
    uint32_t many = argc > 1                    ? (uint32_t)atoi(argv[1])
                    : seeded || CHECK_SANITIZED ? 300
                                                : 10000;

    must(gpurt_open(NULL, &rt, &err));
    graph_of_the_host(GPURT_OK, false);
    graph_of_the_host(-77, false);
    graph_of_the_host(GPURT_E_CANCELLED, true);
    graph_of_a_task(many, false);
    graph_of_a_task(many, true);
    children_are_awaited(seeded ? 8 : 15, seeded ? 21 : 610);
    a_spawner_hears_of_it();
    a_pool_runs_dry(many);
    edges_run_out(many);
    must(gpurt_close(rt, &err));
    return 0;
}
