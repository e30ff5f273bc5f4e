/* SPDX-License-Identifier: Apache-2.0 */
/* Executors: what becomes of the host's orders where the pool is small, and which make no sense. */
#include "../executor_stage.h"

enum {
    POOL = 64,
    MARKS = 3000, /* more than the pool and the ring of orders have room for */
    FEW = 8,
    NAP_NS = 250000000 /* a wait goes on in steps, which end in time-outs, of 0.1 s */
};

/* Nobody waits for one of them, so nobody would be told that it did not run. */
static void orders_wait_for_rows(void)
{
    const gpurt_executor_options_t options = {.blocks = 2, .warps = 2, .tasks = POOL};
    gpurt_executor_status_t s;
    gpurt_executor_t x;

    must(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    board_make(MARKS);
    for (uint32_t i = 0; i < MARKS; i++) {
        struct task_mark_args a = {.board = board, .mark = i};

        must(gpurt_executor_submit(rt, x, mark, &a, 1, 0, NULL, &err));
    }
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(0, MARKS);
    s = status_of(x);
    CHECK_EQ(s.refused, 0);
    CHECK_EQ(s.ended, MARKS);
    executor_end(x);
    board_free();
}

/* What would free a row is an order behind that which wants one. */
static void a_pool_of_held_tasks_refuses(void)
{
    const gpurt_executor_options_t options = {.blocks = 2, .warps = 2, .tasks = FEW};
    gpurt_submitted_t held[FEW], task;
    gpurt_executor_t x;

    must(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    board_make(FEW + 1);
    for (uint32_t i = 0; i <= FEW; i++) {
        struct task_mark_args a = {.board = board, .mark = i};

        must(gpurt_executor_submit(rt, x, mark, &a, 1, i < FEW ? GPURT_TASK_HELD : 0u,
                                   i < FEW ? &held[i] : &task, &err));
    }
    for (uint32_t i = 0; i < FEW; i++)
        must(gpurt_executor_start(rt, x, held[i], &err));
    CHECK_EQ(wait_of(x, task, NULL), GPURT_E_NOMEM);
    for (uint32_t i = 0; i < FEW; i++)
        CHECK_EQ(wait_of(x, held[i], NULL), GPURT_OK);
    each_ran_once(0, FEW);
    CHECK_EQ(status_of(x).refused, 1);
    executor_end(x);
    board_free();
}

static void refused(gpurt_status_t st, const char *word)
{
    CHECK_EQ(st, GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, word);
}

static void what_makes_no_sense_is_refused(void)
{
    const gpurt_executor_options_t options = {.blocks = 1, .warps = 1, .tasks = FEW};
    struct task_mark_args a = {.mark = 0};
    gpurt_submission_t s = {.bytes = sizeof a, .count = 1, .args = &a};
    gpurt_submitted_t held, free_one;
    gpurt_executor_t x;

    must(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    board_make(2);
    a.board = board;
    must(gpurt_executor_submit(rt, x, mark, &a, 1, GPURT_TASK_HELD, &held, &err));
    a.mark = 1;
    must(gpurt_executor_submit(rt, x, mark, &a, 1, 0, &free_one, &err));
    refused(gpurt_executor_start(rt, x, free_one, &err), "not held");
    refused(gpurt_executor_after(rt, x, held, free_one, &err), "not held");
    must(gpurt_executor_after(rt, x, free_one, held, &err));
    must(gpurt_executor_start(rt, x, held, &err));
    refused(gpurt_executor_start(rt, x, held, &err), "started");
    refused(gpurt_executor_after(rt, x, free_one, held, &err), "started");
    CHECK_EQ(wait_of(x, free_one, NULL), GPURT_OK);
    CHECK_EQ(wait_of(x, held, NULL), GPURT_OK);
    s.function = gpurt_task_count_of_task_tests;
    refused(gpurt_executor_submit_all(rt, x, &s, NULL, &err), "of that number");
    s.function = gpurt_task_number_mark;
    s.name = "another's";
    refused(gpurt_executor_submit_all(rt, x, &s, NULL, &err), "another's");
    each_ran_once(0, 2);
    executor_end(x);
    board_free();
}

/* What was compiled with other headers would take one word for another. */
static void another_build_is_refused(void)
{
    gpurt_task_list_t list = gpurt_task_list_of_task_tests;
    gpurt_executor_t x;

    list.layout++;
    CHECK_EQ(
        gpurt_executor_open_kernel(rt, &gpurt_kernel_task_tests, &list, NULL, &x, &err),
        GPURT_E_VERSION);
    CHECK_CONTAINS(err.text, "compile it anew");
}

/* err is of this call, or of none. */
static void a_wait_says_whose_status_it_is(void)
{
    const gpurt_executor_options_t options = {.blocks = 1, .warps = 1, .tasks = FEW};
    struct task_mark_args a = {.mark = 0, .fails = GPURT_E_UNSUPPORTED};
    struct task_sleeps_args nap = {.ns = NAP_NS, .mark = 1, .left = 1};
    gpurt_submitted_t task;
    gpurt_executor_t x;

    must(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    board_make(2);
    a.board = nap.board = board;
    must(gpurt_executor_submit(rt, x, mark, &a, 1, 0, &task, &err));
    CHECK_EQ(gpurt_executor_wait(rt, x, task, WAIT_NS, NULL, &err), GPURT_E_UNSUPPORTED);
    CHECK_CONTAINS(err.text, "GPURT_E_UNSUPPORTED");
    must(gpurt_executor_submit(rt, x, sleeps, &nap, 1, 0, NULL, &err));
    memset(&err, 0, sizeof err);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    CHECK_MSG(!err.text[0], "%s", err.text);
    executor_end(x);
    board_free();
}

int main(void)
{
    must(gpurt_open(NULL, &rt, &err));
    orders_wait_for_rows();
    a_pool_of_held_tasks_refuses();
    what_makes_no_sense_is_refused();
    another_build_is_refused();
    a_wait_says_whose_status_it_is();
    return gpurt_close(rt, NULL) == GPURT_OK ? 0 : 1;
}
