/* SPDX-License-Identifier: Apache-2.0 */
/* tasks_app SCENE MS - an executor for so long, as who looks at one may find it:
 *
 *   load     rounds of many short tasks
 *   stuck    a task that runs on, and three that wait for it
 *   lane, block  one of a lane, or of a block, that runs on
 *   held     a task that nobody starts, and one that waits for it
 *   deadlock two tasks that wait for each other
 *   dead     panics end all blocks, and three tasks never run
 *   quota    three tasks of a group that has had its share
 *   asleep   a task that sleeps, then one that waits for a child that does
 *   rare     a slice a second: three bodies as long as what is stuck, the first the longest, and one that is not;
 *            then 20 that fail, and 100 more, all by one warp
 *   slices, unsliced   tasks of all kinds, some of which fail, with as many slices as may be, or none
 *
 * SIGUSR1 ends all but the first before. Or: tasks_app fib N, which says how many tasks that took, runs
 * 33 fans that spawn 1,000 marks, and then is idle until that signal. */
#include "../executor_stage.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

static sigset_t enough;

static void wait_ms(uint32_t ms)
{
    struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

    sigtimedwait(&enough, NULL, &t);
}

enum {
    BLOCKS = 4
};

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Rounds of it, since tasks beyond the pool would be refused. */
static void load(gpurt_executor_t x, uint32_t ms)
{
    struct task_fan_args yielder = {.board = board, .count = 100};
    struct task_fan_args fan = {.board = board, .count = 1000};

    for (uint64_t end = now_ms() + ms; now_ms() < end;) {
        for (uint32_t i = 0; i < 8; i++) {
            fan.how = GPURT_TASK_PRIORITY(i);
            must(gpurt_executor_submit(rt, x, fan, &fan, 1, 0, NULL, &err));
        }
        must(gpurt_executor_submit(rt, x, yields, &yielder, 1, 0, NULL, &err));
        must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    }
}

static void after(gpurt_executor_t x, gpurt_submitted_t before, gpurt_submitted_t then)
{
    must(gpurt_executor_after(rt, x, before, then, &err));
}

static void stuck(gpurt_executor_t x, uint32_t ms)
{
    gpurt_submitted_t gate = gate_shut(x, 0, 1), marks[3];

    for (uint32_t i = 0; i < 3; i++) {
        marks[i] = submit_mark(x, 1 + i, GPURT_TASK_HELD);
        after(x, gate, marks[i]);
        must(gpurt_executor_start(rt, x, marks[i], &err));
    }
    wait_ms(ms);
    gate_open();
}

static void lane(gpurt_executor_t x, uint32_t ms)
{
    struct task_mark_args a = {.board = board};

    must(gpurt_executor_submit(rt, x, stays, &a, 1, 0, NULL, &err));
    wait_ms(ms);
    gate_open();
}

static void block(gpurt_executor_t x, uint32_t ms)
{
    struct task_mark_args a = {.board = board};

    must(gpurt_executor_submit(rt, x, camps, &a, 1, 0, NULL, &err));
    wait_ms(ms);
    gate_open();
}

static void held(gpurt_executor_t x, uint32_t ms)
{
    gpurt_submitted_t first = submit_mark(x, 0, GPURT_TASK_HELD);
    gpurt_submitted_t then = submit_mark(x, 1, GPURT_TASK_HELD);

    after(x, first, then);
    must(gpurt_executor_start(rt, x, then, &err));
    wait_ms(ms);
    must(gpurt_executor_start(rt, x, first, &err));
}

/* Closed as they are. */
static void deadlock(gpurt_executor_t x, uint32_t ms)
{
    gpurt_submitted_t a = submit_mark(x, 0, GPURT_TASK_HELD);
    gpurt_submitted_t b = submit_mark(x, 1, GPURT_TASK_HELD);

    after(x, a, b);
    after(x, b, a);
    must(gpurt_executor_start(rt, x, a, &err));
    must(gpurt_executor_start(rt, x, b, &err));
    wait_ms(ms);
}

/* A panic ends the block of its task. */
static void dead(gpurt_executor_t x, uint32_t ms)
{
    struct task_mark_args a = {.board = board, .panics = 1};

    for (uint32_t i = 0; i < 3; i++)
        (void)submit_mark(x, 1 + i, GPURT_TASK_HELD);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        gpurt_submitted_t task;

        must(gpurt_executor_submit(rt, x, mark, &a, 1, 0, &task, &err));
        CHECK_EQ(wait_of(x, task, NULL), GPURT_E_PANIC);
    }
    wait_ms(ms);
}

/* A body of 1.6 s on one of 8 warps, at one percent of all, is paid for in 20 s. */
static void quota(gpurt_executor_t x, uint32_t ms)
{
    struct task_spends_args a = {.board = board, .ns = 1600000000};
    gpurt_submitted_t spent;

    must(gpurt_executor_quota(rt, x, 1, 1, 0, &err));
    must(gpurt_executor_submit(rt, x, spends, &a, 1, GPURT_TASK_GROUP(1), &spent, &err));
    CHECK_EQ(wait_of(x, spent, NULL), GPURT_OK);
    for (uint32_t i = 0; i < 3; i++)
        (void)submit_mark(x, i, GPURT_TASK_GROUP(1));
    wait_ms(ms);
    must(gpurt_executor_quota(rt, x, 1, 0, 0, &err));
}

static void asleep(gpurt_executor_t x, uint32_t ms)
{
    struct task_sleeps_args a = {.board = board, .ns = 900000000, .left = 1, .child = 1};

    must(gpurt_executor_submit(rt, x, sleeps, &a, 1, 0, NULL, &err));
    wait_ms(ms);
}

static void slices(gpurt_executor_t x, uint32_t ms)
{
    struct task_spends_args spend = {.board = board, .ns = (uint64_t)ms * 1000000};
    struct task_mark_args fails = {.board = board, .mark = 1, .fails = GPURT_E_TIMEOUT};
    struct task_graph_args crowds = {.board = board, .first = 2, .count = 7};
    struct task_fan_args fan = {.board = board, .first = 10, .count = 500};
    struct task_mark_args alone[40];
    struct task_fib_args a = {.n = 12};
    gpurt_submitted_t first = submit_mark(x, 0, GPURT_TASK_HELD), then;

    for (uint32_t i = 0; i < 40; i++)
        alone[i] = (struct task_mark_args){.board = board, .mark = 600 + i};
    alone[39].fails = GPURT_E_HANDLE;
    must(gpurt_executor_submit(rt, x, mark, &fails, 1,
                               GPURT_TASK_HELD | GPURT_TASK_PRIORITY(-2), &then, &err));
    after(x, first, then);
    must(gpurt_executor_start(rt, x, then, &err));
    must(gpurt_executor_start(rt, x, first, &err));
    CHECK_EQ(wait_of(x, then, NULL), GPURT_E_TIMEOUT);
    must(gpurt_executor_submit(rt, x, spends, &spend, 1, 0, NULL, &err));
    must(gpurt_executor_submit(rt, x, fib, &a, 1, 0, NULL, &err));
    must(gpurt_executor_submit(rt, x, fan, &fan, 1, 0, NULL, &err));
    must(gpurt_executor_submit(rt, x, crowd, &crowds, 1, 0, NULL, &err));
    must(gpurt_executor_submit(rt, x, each, alone, 40, 0, NULL, &err));
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    printf("%llu slices\n", (unsigned long long)status_of(x).sliced);
}

static void rare(gpurt_executor_t x, uint32_t ms)
{
    const uint32_t parts[] = {4, 3, 3, 1};
    struct task_mark_args marks[120];

    for (uint32_t i = 0; i < 4; i++) {
        struct task_spends_args spend = {.board = board,
                                         .ns = (uint64_t)ms * 1000000 * parts[i]};

        must(gpurt_executor_submit(rt, x, spends, &spend, 1, 0, NULL, &err));
        must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    }
    for (uint32_t i = 0; i < 120; i++)
        marks[i] = (struct task_mark_args){
            .board = board, .mark = i, .fails = i < 20 ? GPURT_E_TIMEOUT : 0};
    must(gpurt_executor_submit(rt, x, mark, marks, 120, 0, NULL, &err));
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    printf("%llu slices\n", (unsigned long long)status_of(x).sliced);
}

static void fib_of(gpurt_executor_t x, uint32_t n)
{
    struct task_fan_args fan = {.board = board, .count = 1000};
    struct task_fib_args a = {.n = n};
    gpurt_submitted_t task;

    must(gpurt_executor_submit(rt, x, fib, &a, 1, 0, &task, &err));
    CHECK_EQ(wait_of(x, task, NULL), GPURT_OK);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    printf("%llu tasks\n", (unsigned long long)status_of(x).ended);
    fflush(stdout);
    must(gpurt_executor_submit(rt, x, fan, &fan, 1, 0, NULL, &err));
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    wait_ms(60000);
}

static const struct {
    const char *name;
    void (*play)(gpurt_executor_t x, uint32_t ms);
} scenes[] = {{"load", load},       {"stuck", stuck},   {"lane", lane},
              {"block", block},     {"held", held},     {"deadlock", deadlock},
              {"quota", quota},     {"asleep", asleep}, {"slices", slices},
              {"unsliced", slices}, {"rare", rare},     {"dead", dead},
              {"fib", fib_of}};

int main(int argc, char **argv)
{
    gpurt_executor_options_t options = {
        .blocks = BLOCKS, .warps = 2, .tasks = 32768, .stuck_ms = 300, .groups = 1};
    gpurt_executor_t x;
    bool over;

    sigemptyset(&enough);
    sigaddset(&enough, SIGUSR1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &enough, NULL), 0);
    if (argc == 3 && strcmp(argv[1], "slices") == 0)
        options.slices = GPURT_EXECUTOR_SLICES_MOST;
    if (argc == 3 && strcmp(argv[1], "rare") == 0)
        options.slices = options.blocks = options.warps = 1;
    if (argc == 3 && strcmp(argv[1], "unsliced") == 0)
        options.slices = GPURT_EXECUTOR_NO_SLICES;
    must(gpurt_open(NULL, &rt, &err));
    must(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    board_make(1000);
    for (size_t i = 0; argc == 3 && i < sizeof scenes / sizeof scenes[0]; i++)
        if (strcmp(argv[1], scenes[i].name) == 0)
            scenes[i].play(x, (uint32_t)strtoul(argv[2], NULL, 10));
    over = argc == 3 && strcmp(argv[1], "dead") == 0;
    if (argc == 3 && !over && strcmp(argv[1], "deadlock") != 0)
        must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    CHECK_EQ(gpurt_executor_close(rt, x, NULL, &err), over ? GPURT_E_PANIC : GPURT_OK);
    board_free();
    must(gpurt_close(rt, &err));
    return 0;
}
