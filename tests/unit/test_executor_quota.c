/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of tasks with a quota: what they take of an executor's time, who waits for that and who does
 * not, and what is refused. */
#include "../executor_stage.h"

#include "hosttime.h"

#define MS 1000000ull

static gpurt_executor_t groups_open(uint32_t blocks, uint32_t warps, uint32_t groups)
{
    const gpurt_executor_options_t options = {
        .blocks = blocks, .warps = warps, .tasks = 1024, .groups = groups};
    gpurt_executor_t x;

    must(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    return x;
}

static gpurt_submitted_t submit_spends(gpurt_executor_t x, uint64_t ns, uint32_t asks)
{
    struct task_spends_args a = {.board = board, .ns = ns, .asks = asks};
    gpurt_submitted_t task;

    must(gpurt_executor_submit(rt, x, spends, &a, 1, GPURT_TASK_GROUP(1), &task, &err));
    return task;
}

/* One warp, of which the group has a tenth: behind a body of 3 ms it waits for 27 at least. Others do
 * not wait. */
static void a_group_waits_for_its_time(void)
{
    gpurt_executor_t x = groups_open(1, 1, 2);
    gpurt_executor_status_t s;
    gpurt_submitted_t held, other;
    uint64_t begin;

    board_make(2);
    for (uint32_t i = 0; i < 40; i++) /* the last one holds */
        must(gpurt_executor_quota(rt, x, 1, i % 2 * 100, 1, &err));
    must(gpurt_executor_quota(rt, x, 1, 10, 1, &err));
    begin = gpurt_steady_ns();
    CHECK_EQ(wait_of(x, submit_spends(x, 3 * MS, 0), NULL), GPURT_OK);
    held = submit_mark(x, 0, GPURT_TASK_GROUP(1) | GPURT_TASK_PRIORITY(3));
    other = submit_mark(x, 1, GPURT_TASK_GROUP(2));
    CHECK_EQ(wait_of(x, other, NULL), GPURT_OK);
    CHECK_EQ(wait_of(x, held, NULL), GPURT_OK);
    CHECK_MSG(gpurt_steady_ns() - begin >= 30 * MS, "after %.1f ms",
              (double)(gpurt_steady_ns() - begin) / MS);
    CHECK_EQ(board->marks[1].order, 1);
    each_ran_once(0, 2);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    s = status_of(x);
    CHECK_EQ(s.groups[0].percent, 10);
    CHECK(s.groups[0].held >= 1);
    CHECK(s.groups[0].used_ns >= 3 * MS);
    CHECK_EQ(s.groups[0].waiting, 0);
    CHECK_EQ(s.groups[1].percent + s.groups[1].held, 0);
    executor_end(x);
    board_free();
}

/* A body spawns tasks of a group that the executor does not have: they run, and are counted. */
static void a_group_that_is_not_there_is_told(void)
{
    enum {
        FEW = 10
    };
    struct task_fan_args a = {.count = FEW, .how = GPURT_TASK_GROUP(5)};
    gpurt_executor_t x = groups_open(1, 1, 1);

    board_make(FEW);
    a.board = board;
    must(gpurt_executor_submit(rt, x, fan, &a, 1, GPURT_TASK_GROUP(1), NULL, &err));
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(0, FEW);
    CHECK(status_of(x).groupless >= FEW); /* one that is given back counts again */
    executor_end(x);
    board_free();
}

/* Behind a body of 20 ms it would wait for 2 s. Meanwhile its task counts as one that waits, and can be
 * cancelled. */
static void a_quota_ends(void)
{
    gpurt_executor_t x = groups_open(1, 1, 1);
    gpurt_submitted_t held, cancelled;
    uint64_t begin;

    board_make(2);
    must(gpurt_executor_quota(rt, x, 1, 1, 1, &err));
    CHECK_EQ(wait_of(x, submit_spends(x, 20 * MS, 0), NULL), GPURT_OK);
    begin = gpurt_steady_ns();
    held = submit_mark(x, 0, GPURT_TASK_GROUP(1));
    cancelled = submit_mark(x, 1, GPURT_TASK_GROUP(1));
    while (status_of(x).groups[0].waiting < 2 && gpurt_steady_ns() - begin < 1000 * MS)
        ;
    CHECK_EQ(status_of(x).groups[0].waiting, 2);
    must(gpurt_executor_cancel(rt, x, cancelled, &err));
    must(gpurt_executor_quota(rt, x, 1, 0, 0, &err));
    CHECK_EQ(wait_of(x, held, NULL), GPURT_OK);
    CHECK_MSG(gpurt_steady_ns() - begin < 1500 * MS, "after %.1f ms",
              (double)(gpurt_steady_ns() - begin) / MS);
    CHECK_EQ(wait_of(x, cancelled, NULL), GPURT_E_CANCELLED);
    CHECK_EQ(board->marks[0].xruns, 1);
    CHECK_EQ(board->marks[1].xruns, 0);
    executor_end(x);
    board_free();
}

/* A body that asks hears that its group has had its share. */
static void a_long_body_hears_of_it(void)
{
    gpurt_executor_t x = groups_open(1, 1, 1);
    uint64_t told;

    must(gpurt_executor_quota(rt, x, 1, 50, 1, &err));
    CHECK_EQ(wait_of(x, submit_spends(x, 2000 * MS, 1), &told), GPURT_OK);
    CHECK_EQ(told, 1);
    must(gpurt_executor_quota(rt, x, 1, 0, 0, &err));
    CHECK_EQ(wait_of(x, submit_spends(x, 1 * MS, 1), &told), GPURT_OK);
    CHECK_EQ(told, 0);
    executor_end(x);
}

/* A quarter of four warps is one, so bodies take as long as one after the other. At first batches
 * take more than their share, which is paid for after the last. */
static void a_share_is_kept(void)
{
    enum {
        TASKS = 200
    };
    static struct task_spends_args all[TASKS];
    gpurt_executor_t x = groups_open(2, 2, 1);
    uint64_t took, used;

    for (uint32_t i = 0; i < TASKS; i++)
        all[i].ns = MS / 2;
    must(gpurt_executor_quota(rt, x, 1, 25, 0, &err));
    took = gpurt_steady_ns();
    must(gpurt_executor_submit(rt, x, spends, all, TASKS, GPURT_TASK_GROUP(1), NULL, &err));
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    took = gpurt_steady_ns() - took;
    used = status_of(x).groups[0].used_ns;
    CHECK_MSG(used >= TASKS * MS / 2, "%.1f ms in bodies", (double)used / MS);
    CHECK_MSG(took >= used / 2, "%.1f ms for bodies of %.1f", (double)took / MS,
              (double)used / MS);
    CHECK_EQ(status_of(x).ended, TASKS);
    executor_end(x);
}

/* A body that panics is charged, too, and the next of its group waits for that. */
static void a_panic_is_charged(void)
{
    struct task_spends_args a = {.ns = 30 * MS, .panics = 1};
    gpurt_executor_t x = groups_open(2, 1, 1);
    gpurt_submitted_t panicking, held;
    uint64_t begin;

    board_make(1);
    a.board = board;
    must(gpurt_executor_quota(rt, x, 1, 50, 1, &err)); /* of two warps: of one */
    must(
        gpurt_executor_submit(rt, x, spends, &a, 1, GPURT_TASK_GROUP(1), &panicking, &err));
    begin = gpurt_steady_ns();
    CHECK_EQ(wait_of(x, panicking, NULL), GPURT_E_PANIC);
    held = submit_mark(x, 0, GPURT_TASK_GROUP(1));
    CHECK_EQ(wait_of(x, held, NULL), GPURT_OK);
    CHECK_MSG(gpurt_steady_ns() - begin >= 60 * MS, "after %.1f ms",
              (double)(gpurt_steady_ns() - begin) / MS);
    CHECK(status_of(x).groups[0].used_ns >= 30 * MS);
    CHECK_EQ(gpurt_executor_close(rt, x, NULL, &err), GPURT_E_PANIC);
    board_free();
}

static void what_is_refused(void)
{
    const gpurt_executor_options_t many = {.groups = GPURT_TASK_GROUPS + 1};
    struct task_mark_args a = {.board = NULL};
    gpurt_executor_t x;

    CHECK_EQ(gpurt_executor_open(rt, task_tests, &many, &x, &err), GPURT_E_INVALID);
    x = groups_open(1, 1, 2);
    CHECK_EQ(gpurt_executor_quota(rt, x, 0, 10, 0, &err), GPURT_E_INVALID);
    CHECK_EQ(gpurt_executor_quota(rt, x, 3, 10, 0, &err), GPURT_E_INVALID);
    CHECK_EQ(gpurt_executor_quota(rt, x, 2, 101, 0, &err), GPURT_E_INVALID);
    for (uint32_t group = 3; group < 20; group += 6) /* 9 and 15: 1 and 7 in three bits */
        CHECK_EQ(
            gpurt_executor_submit(rt, x, mark, &a, 1, GPURT_TASK_GROUP(group), NULL, &err),
            GPURT_E_INVALID);
    executor_end(x);
    CHECK_EQ(gpurt_executor_quota(rt, x, 1, 10, 0, &err), GPURT_E_HANDLE);
}

int main(void)
{
    must(gpurt_open(NULL, &rt, &err));
    a_group_that_is_not_there_is_told();
    a_group_waits_for_its_time();
    a_quota_ends();
    a_long_body_hears_of_it();
    a_share_is_kept();
    a_panic_is_charged();
    what_is_refused();
    must(gpurt_close(rt, &err));
    return 0;
}
