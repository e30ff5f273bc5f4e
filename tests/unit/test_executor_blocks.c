/* SPDX-License-Identifier: Apache-2.0 */
/* Executors: tasks of a block, beside those of its warps and lanes. */
#include "../executor_stage.h"

/* Less than WAIT_NS: what is lost here never comes. */
#define SOON_NS 30000000000ull

enum {
    WARPS = 3
};

static gpurt_submitted_t submit_crowd(gpurt_executor_t x, uint32_t first, uint32_t fails,
                                      uint32_t panics, uint32_t how)
{
    struct task_graph_args a = {
        .board = board, .first = first, .count = fails, .fans = panics};
    gpurt_submitted_t task;

    must(gpurt_executor_submit(rt, x, crowd, &a, 1, how, &task, &err));
    return task;
}

/* All warps of a block are in one body, twice, and what they spawn runs in between. Others run meanwhile. */
static void all_warps_run_one_body(uint32_t blocks, uint32_t warps)
{
    enum {
        CROWDS = 12,
        OTHERS = 60
    };
    gpurt_executor_t x = executor_of(blocks, warps, 512);
    gpurt_submitted_t t[CROWDS], last, skipped;
    uint32_t first = OTHERS;
    uint64_t threads;

    board_make(OTHERS + (CROWDS + 2) * WARPS);
    for (uint32_t i = 0; i < CROWDS; i++, first += WARPS) {
        struct task_mark_args lane = {.board = board, .mark = 5 * i};

        must(gpurt_executor_submit(rt, x, each, &lane, 1, 0, NULL, &err));
        for (uint32_t k = 1; k < 5; k++)
            (void)submit_mark(x, 5 * i + k, GPURT_TASK_PRIORITY(k));
        t[i] = submit_crowd(x, first, i == 4 ? 70 : 0, 0,
                            i == 4 ? GPURT_TASK_HELD : GPURT_TASK_PRIORITY(i % 3));
    }
    last = submit_crowd(x, first, 0, 0, GPURT_TASK_HELD | GPURT_TASK_ANYWAY);
    skipped = submit_crowd(x, first + WARPS, 0, 0, GPURT_TASK_HELD);
    must(gpurt_executor_after(rt, x, t[4], last, &err));
    must(gpurt_executor_after(rt, x, t[4], skipped, &err));
    must(gpurt_executor_start(rt, x, t[4], &err));
    must(gpurt_executor_start(rt, x, last, &err));
    must(gpurt_executor_start(rt, x, skipped, &err));
    for (uint32_t i = 0; i < CROWDS; i++) {
        CHECK_EQ(wait_of(x, t[i], &threads), i == 4 ? -70 : GPURT_OK);
        CHECK_EQ(threads, 32 * warps);
    }
    CHECK_EQ(wait_of(x, last, &threads), GPURT_OK);
    CHECK_EQ(threads, 32 * warps);
    CHECK_EQ(wait_of(x, skipped, NULL), GPURT_E_CANCELLED);
    executor_end(x);
    each_ran_once(0, OTHERS);
    for (uint32_t i = 0; i <= CROWDS; i++)
        each_ran_once(OTHERS + i * WARPS, warps);
    CHECK_EQ(board->marks[first + WARPS].xruns, 0);
    board_free();
}

/* The block goes with it, and the others run what is left. */
static void a_panic_ends_it(void)
{
    enum {
        CROWDS = 6
    };
    gpurt_executor_t x = executor_of(2, WARPS, 256);
    gpurt_submitted_t t[CROWDS], ill;
    uint32_t failed = 0;

    board_make((CROWDS + 1) * WARPS);
    for (uint32_t i = 0; i < CROWDS / 2; i++)
        t[i] = submit_crowd(x, i * WARPS, 0, 0, 0);
    ill = submit_crowd(x, CROWDS * WARPS, 0, 1, 0);
    for (uint32_t i = CROWDS / 2; i < CROWDS; i++)
        t[i] = submit_crowd(x, i * WARPS, 0, 0, 0);
    CHECK_EQ(gpurt_executor_wait(rt, x, ill, SOON_NS, NULL, &err), GPURT_E_PANIC);
    for (uint32_t i = 0; i < CROWDS; i++) {
        gpurt_status_t st = wait_of(x, t[i], NULL);

        CHECK(st == GPURT_OK || st == GPURT_E_PANIC);
        failed += st == GPURT_E_PANIC;
    }
    CHECK_EQ(failed, 0); /* its block ran nothing else at the time */
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    CHECK_EQ(status_of(x).live, 0);
    CHECK_EQ(gpurt_executor_close(rt, x, NULL, NULL), GPURT_E_PANIC);
    board_free();
}

/* Closed while some are posted, run, or wait for their children: each is dropped and counted, or has ended. */
static void a_close_drops_them(void)
{
    enum {
        CROWDS = 30
    };
    gpurt_executor_t x = executor_of(2, WARPS, 512);
    gpurt_submitted_t t[CROWDS];
    uint64_t dropped = 0;
    uint32_t ended = 0;

    board_make(CROWDS * WARPS);
    for (uint32_t i = 0; i < CROWDS; i++)
        t[i] = submit_crowd(x, i * WARPS, 0, 0, 0);
    CHECK_EQ(wait_of(x, t[0], NULL), GPURT_OK);
    must(gpurt_executor_close(rt, x, &dropped, &err));
    for (uint32_t i = 0; i < CROWDS * WARPS; i++)
        ended += board->marks[i].data == i + 1;
    CHECK(ended >= WARPS && dropped <= CROWDS - 1 + CROWDS * WARPS - ended);
    board_free();
}

int main(void)
{
    must(gpurt_open(NULL, &rt, &err));
    all_warps_run_one_body(2, WARPS);
    all_warps_run_one_body(1, WARPS);
    all_warps_run_one_body(2, 1);
    a_close_drops_them();
    a_panic_ends_it();
    must(gpurt_close(rt, &err));
    return 0;
}
