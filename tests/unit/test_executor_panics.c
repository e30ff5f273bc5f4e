/* SPDX-License-Identifier: Apache-2.0 */
/* Executors and panics: a panic ends its task and takes its block; all others run once, and whoever
 * waits is told. */
#include "../executor_stage.h"

#include <time.h>

enum {
    BLOCKS = 3
};

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

/* One warp takes up tasks together, and the last of them panics: the others have ended well. */
static void what_has_ended_stays_so(void)
{
    enum {
        FEW = 5
    };
    const gpurt_executor_options_t options = {.blocks = 1, .warps = 1, .tasks = 64};
    struct task_mark_args last;
    struct task_fan_args a[FEW];
    gpurt_submitted_t t[FEW], panicking;
    gpurt_executor_t x;

    must(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    board_make(2);
    gate_shut(x, 1, 1);
    for (uint32_t i = 0; i < FEW; i++)
        a[i] = (struct task_fan_args){.board = board, .count = 1};
    last = (struct task_mark_args){.board = board, .panics = 1};
    must(gpurt_executor_submit(rt, x, renews, a, FEW, 0, t, &err));
    must(gpurt_executor_submit(rt, x, mark, &last, 1, 0, &panicking, &err));
    gate_open();
    CHECK_EQ(wait_of(x, panicking, NULL), GPURT_E_PANIC);
    for (uint32_t i = 0; i < FEW; i++)
        CHECK_EQ(wait_of(x, t[i], NULL), GPURT_OK);
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
    task_desk_t *desk = desk_make();

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
    desk_free(desk);
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

/* A block is counted as its last lane leaves, which is after its task has ended. */
static void left_are(gpurt_executor_t x, uint32_t count)
{
    const struct timespec pause = {0, 1000000};

    for (uint32_t tries = 0; status_of(x).left != count && tries < 20000; tries++)
        nanosleep(&pause, NULL);
    CHECK_EQ(status_of(x).left, count);
}

/* A task of each kind: with `retries` it survives as many panics, each of which takes a block. */
static void flaky_is(uint32_t kind, uint32_t panics, uint32_t retries,
                     gpurt_status_t status, int32_t child)
{
    gpurt_executor_t x = executor_open(6, 64);
    struct task_mark_args a;
    gpurt_submitted_t task;
    gpurt_executor_status_t s;
    gpurt_status_t got;
    uint32_t how = GPURT_TASK_RETRIES(retries), tried = panics < retries ? panics : retries;

    board_make(1);
    a = (struct task_mark_args){.board = board, .fails = child, .panics = panics};
    if (kind == 0)
        must(gpurt_executor_submit(rt, x, flaky, &a, 1, how, &task, &err));
    else if (kind == 1)
        must(gpurt_executor_submit(rt, x, flakes, &a, 1, how, &task, &err));
    else
        must(gpurt_executor_submit(rt, x, falters, &a, 1, how, &task, &err));
    got = wait_of(x, task, NULL);
    s = status_of(x);
    CHECK_MSG(got == status,
              "kind %u, %u panics, %u retries: %d; retried %llu, left %u, here %u, err %s",
              kind, panics, retries, got, (unsigned long long)s.retried, s.left,
              board->xhere, err.text);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    s = status_of(x);
    CHECK_EQ(s.retried, child ? 0 : tried);
    CHECK_EQ(s.failed, status != GPURT_OK);
    left_are(x, status == GPURT_OK ? panics : child ? 1 : tried + 1);
    if (status == GPURT_OK)
        each_ran_once(0, 1);
    CHECK_EQ(gpurt_executor_close(rt, x, NULL, &err), GPURT_E_PANIC);
    board_free();
}

static void a_panic_is_retried(void)
{
    for (uint32_t kind = 0; kind < 3; kind++) {
        flaky_is(kind, 1, 1, GPURT_OK, 0);
        flaky_is(kind, 3, 3, GPURT_OK, 0);
        flaky_is(kind, 3, 2, GPURT_E_PANIC, 0);
        flaky_is(kind, 1, 0, GPURT_E_PANIC, 0);
    }
    flaky_is(0, 1, 3, GPURT_E_PANIC, 1); /* its child would be made twice */
}

int main(void)
{
    const gpurt_options_t options = {.panics = GPURT_PANICS_QUIET};

    must(gpurt_open(&options, &rt, &err));
    a_panic_loses_nothing();
    what_has_ended_stays_so();
    a_panic_loses_nothing_in_hands();
    a_panic_lets_go_of_what_it_held();
    without_blocks_nobody_waits();
    a_panic_is_retried();
    must(gpurt_close(rt, &err));
    return 0;
}
