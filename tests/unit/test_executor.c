/* SPDX-License-Identifier: Apache-2.0 */
/* Executors: each task runs once, after those that it waits for, in the order of priorities; what
 * finds no room, fails, panics or is cancelled is told, and everything else goes on. */
#include "../executor_stage.h"

#include <gpurt/channels.h>

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

/* ---- graphs ------------------------------------------------------------------------------ */

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
    must(gpurt_executor_drain(rt, x, WAIT_NS + count * 100000ull, &err));
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
    CHECK_EQ(board->marks[0].order, 3); /* behind the gate and the first turn */
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

/* ---- panics ------------------------------------------------------------------------------ */

/* Each panic takes a block; all that its warps held is run by others, once. */
static void a_panic_loses_nothing(void)
{
    enum {
        MANY = 400
    };
    gpurt_executor_t x = executor_open(BLOCKS, MANY + 8);
    struct task_mark_args a[MANY];
    gpurt_executor_status_t s;
    uint32_t ran = 0;

    board_make(MANY);
    for (uint32_t i = 0; i < MANY; i++)
        a[i] = (struct task_mark_args){
            .board = board, .mark = i, .panics = i == 100 || i == 200};
    must(gpurt_executor_submit(rt, x, mark, a, MANY, 0, NULL, &err));
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    for (uint32_t i = 0; i < MANY;
         i++) { /* relaxed: a task that a panic ended orders nothing */
        uint32_t runs = gpurt_load_relaxed_dev_u32(&board->marks[i].xruns);

        CHECK(runs <= 1);
        ran += runs;
    }
    s = status_of(x);
    CHECK_EQ(s.ended + s.failed, MANY);
    CHECK(s.failed >= 2 && s.failed <= 4); /* the other warp's may go with it */
    CHECK(ran >= s.ended && ran <= MANY);
    CHECK(s.left == 1 || s.left == 2); /* one, where two warps of a block panic at once */
    CHECK_EQ(gpurt_executor_close(rt, x, NULL, &err), GPURT_E_PANIC);
    board_free();
}

/* An idle warp that is given a task may be cancelled before it takes it up. */
static void a_panic_loses_nothing_in_hands(void)
{
    enum {
        LEAVERS = 6
    };
    gpurt_executor_t x = executor_open(LEAVERS + 1, 64);
    gpurt_executor_status_t s;

    board_make(LEAVERS);
    for (uint32_t i = 0; i < LEAVERS; i++) {
        struct task_mark_args a = {.board = board, .mark = i};

        must(gpurt_executor_submit(rt, x, leaves, &a, 1, 0, NULL, &err));
        must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    }
    s = status_of(x);
    CHECK_EQ(s.ended + s.failed, 2 * LEAVERS);
    CHECK_EQ(gpurt_executor_close(rt, x, NULL, &err), GPURT_E_PANIC);
    board_free();
}

/* The next one is told of the mutex, and gets the note that the dead receiver waited for. */
static void a_panic_lets_go_of_what_it_held(void)
{
    gpurt_executor_t x = executor_open(BLOCKS, 64);
    static const uint64_t told[] = {0, 1ull << 32 | 5, 6};
    task_desk_t *desk;
    void *memory;

    must(gpurt_host_create(rt, sizeof *desk, &memory, &err));
    memset(memory, 0, sizeof *desk);
    desk = memory;
    must(gpurt_make_channel(rt, &desk->notes, NULL, &err));
    for (uint32_t i = 0; i < 3; i++) {
        struct task_holds_args a = {.desk = desk, .note = i ? 4 + i : 0};
        gpurt_submitted_t task;
        uint64_t value = 0;

        must(gpurt_executor_submit(rt, x, holds, &a, 1, 0, &task, &err));
        CHECK_EQ(wait_of(x, task, &value), i ? GPURT_OK : GPURT_E_PANIC);
        CHECK_EQ(value, told[i]);
    }
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    CHECK_EQ(gpurt_executor_close(rt, x, NULL, &err), GPURT_E_PANIC);
    must(gpurt_channel_destroy(rt, &desk->notes.channel, &err));
    must(gpurt_host_destroy(rt, desk));
}

static void without_blocks_nobody_waits(void)
{
    gpurt_executor_t x = executor_open(1, 64);
    struct task_mark_args a;
    gpurt_submitted_t task, held;

    board_make(2);
    a = (struct task_mark_args){.board = board, .panics = 1};
    held = submit_mark(x, 1, GPURT_TASK_HELD);
    must(gpurt_executor_submit(rt, x, mark, &a, 1, 0, &task, &err));
    CHECK_EQ(wait_of(x, task, NULL), GPURT_E_PANIC);
    CHECK_EQ(wait_of(x, held, NULL), GPURT_E_PANIC);
    CHECK_CONTAINS(err.text, "none of its 1 block is left");
    CHECK_EQ(gpurt_executor_submit(rt, x, mark, &a, 1, 0, NULL, &err), GPURT_E_PANIC);
    CHECK_EQ(gpurt_executor_close(rt, x, NULL, &err), GPURT_E_PANIC);
    board_free();
}

/* ---- idle -------------------------------------------------------------------------------- */

static uint64_t processor_ns(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * 1000000000u +
           ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) * 1000u;
}

static void idle_takes_no_time(void)
{
    gpurt_executor_t x = executor_open(BLOCKS, 64);
    struct timespec second = {1, 0}, moment = {0, 1000000};
    uint64_t before;

    board_make(1);
    CHECK_EQ(wait_of(x, submit_mark(x, 0, 0), NULL), GPURT_OK);
    for (uint32_t i = 0; i < 20000 && status_of(x).asleep < BLOCKS; i++)
        nanosleep(&moment, NULL); /* they look on for a while before they sleep */
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
                                   both = {.blocks = 1, .share_percent = 9};
    struct task_mark_args a = {.board = NULL};
    gpurt_submitted_t tasks[2];
    gpurt_executor_t x;

    CHECK_EQ(gpurt_executor_open(rt, task_tests, &many, &x, &err), GPURT_E_INVALID);
    CHECK_EQ(gpurt_executor_open(rt, task_tests, &both, &x, &err), GPURT_E_INVALID);
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

int main(int argc, char **argv)
{
    const gpurt_options_t options = {.panics = GPURT_PANICS_QUIET};
    bool seeded = getenv("GPURT_SEED") != NULL;
    uint32_t many = argc > 1                    ? (uint32_t)atoi(argv[1])
                    : seeded || CHECK_SANITIZED ? 300
                                                : 10000;

    must(gpurt_open(&options, &rt, &err));
    mistakes_are_refused();
    tasks_run_and_tell();
    many_flow_through();
    the_urgent_run_first();
    graph_of_the_host(GPURT_OK, false);
    graph_of_the_host(-77, false);
    graph_of_the_host(GPURT_E_CANCELLED, true);
    graph_of_a_task(many, false);
    graph_of_a_task(many, true);
    children_are_awaited(seeded ? 8 : 15, seeded ? 21 : 610);
    a_yield_lets_others_run();
    a_full_pool_refuses();
    a_spawner_hears_of_it();
    close_drops_what_is_left();
    two_side_by_side();
    a_cancelled_one_does_not_start();
    it_rests_between_tasks();
    a_panic_loses_nothing();
    a_panic_loses_nothing_in_hands();
    a_panic_lets_go_of_what_it_held();
    without_blocks_nobody_waits();
    if (!seeded)
        idle_takes_no_time();
    must(gpurt_close(rt, &err));
    return 0;
}
