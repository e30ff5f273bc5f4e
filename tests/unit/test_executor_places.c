/* SPDX-License-Identifier: Apache-2.0 */
/* Executors: tasks with a place run in its block while that can, and elsewhere rather than not at all. */
#include "../executor_stage.h"

enum {
    TASKS = 16, /* of a place */
    MANY = 3000 /* more than a place has room for */
};

static gpurt_executor_t places_open(uint32_t blocks, uint32_t places, uint32_t tasks)
{
    const gpurt_executor_options_t options = {
        .blocks = blocks, .warps = 1, .tasks = tasks, .places = places};
    gpurt_executor_t x;

    must(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    return x;
}

/* One of two blocks is held up, and nobody knows which before. The other runs what has its own place, and then, as
 * it has nothing else to do, what has the other's. */
static void a_place_is_kept(void)
{
    gpurt_executor_t x = places_open(2, 2, 256);
    struct task_fan_args fan = {.count = 2 * TASKS, .places = 2};
    gpurt_executor_status_t s;
    uint32_t held, last = 0, first = UINT32_MAX;

    board_make(2 * TASKS + 1);
    gate_shut(x, 2 * TASKS, 1);
    fan.board = board; /* all at once: a block without work would take whatever there is */
    must(gpurt_executor_submit(rt, x, fan, &fan, 1, 0, NULL, &err));
    do
        s = status_of(x);
    while (s.ended < 2 * TASKS + 1);
    gate_open();
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(0, 2 * TASKS + 1);
    held = board->marks[2 * TASKS].block;
    for (uint32_t i = 0; i < TASKS; i++) {
        const task_mark_t *own = &board->marks[2 * i + 1 - held],
                          *other = &board->marks[2 * i + held];

        CHECK_EQ(own->block, 1 - held);
        CHECK_EQ(other->block, 1 - held);
        last = own->order > last ? own->order : last;
        first = other->order < first ? other->order : first;
    }
    CHECK_MSG(last < first, "its own come first: %u, %u", last, first);
    s = status_of(x);
    CHECK(s.placed >= 2 * TASKS); /* one that is given back is taken up again */
    CHECK(s.astray >= TASKS && s.placed - s.astray >= TASKS);
    CHECK_EQ(s.at_places, 0);
    executor_end(x);
    board_free();
}

/* Blocks that all can: the counts are those of the marks. Places that there are not are those that there are. */
static void strays_are_counted(void)
{
    gpurt_executor_t x = places_open(3, 6, 256);
    gpurt_executor_status_t s;
    uint32_t astray = 0;

    board_make(4 * TASKS);
    for (uint32_t i = 0; i < 4 * TASKS; i++)
        (void)submit_mark(x, i, GPURT_TASK_AT(i % 12));
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(0, 4 * TASKS);
    for (uint32_t i = 0; i < 4 * TASKS; i++)
        astray += board->marks[i].block != i % 3;
    s = status_of(x);
    CHECK(s.astray >= astray && s.placed - s.astray >= 4 * TASKS - astray);
    executor_end(x);
    board_free();
}

/* A place has less room than there are tasks for it; the others go where they can. */
static void a_full_place_loses_none(void)
{
    gpurt_executor_t x = places_open(2, 1, MANY + 64);
    struct task_fan_args fan = {.count = MANY, .places = 1};
    gpurt_submitted_t task;

    board_make(MANY);
    fan.board = board;
    must(gpurt_executor_submit(rt, x, fan, &fan, 1, 0, &task, &err));
    CHECK_EQ(wait_of(x, task, NULL), GPURT_OK);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    each_ran_once(0, MANY);
    CHECK_EQ(status_of(x).refused, 0);
    executor_end(x);
    board_free();
}

/* What is made ready by another task goes to its place, too: the warp that ends that one does not run it at once. */
static void a_successor_goes_to_its_place(void)
{
    gpurt_executor_t x = places_open(1, 1, 64);
    gpurt_submitted_t first, second;

    board_make(2);
    first = submit_mark(x, 0, GPURT_TASK_HELD | GPURT_TASK_AT(0));
    second = submit_mark(x, 1, GPURT_TASK_HELD | GPURT_TASK_AT(0));
    must(gpurt_executor_after(rt, x, first, second, &err));
    must(gpurt_executor_start(rt, x, second, &err));
    must(gpurt_executor_start(rt, x, first, &err));
    CHECK_EQ(wait_of(x, second, NULL), GPURT_OK);
    CHECK_EQ(wait_of(x, first, NULL), GPURT_OK);
    each_ran_once(0, 2);
    CHECK(board->marks[0].order < board->marks[1].order);
    CHECK_EQ(status_of(x).at_once, 1); /* it is at home here */
    executor_end(x);
    board_free();
}

static void mistakes_are_told(void)
{
    const gpurt_executor_options_t many = {.places = GPURT_EXECUTOR_PLACES + 1};
    struct task_mark_args a = {.board = NULL};
    gpurt_executor_t x = executor_of(1, 1, 64);

    CHECK_EQ(gpurt_executor_submit(rt, x, mark, &a, 1, GPURT_TASK_AT(3), NULL, &err),
             GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, "open it with places");
    executor_end(x);
    CHECK_EQ(gpurt_executor_open(rt, task_tests, &many, &x, &err), GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, "256 places, at most 255");
}

int main(void)
{
    must(gpurt_open(NULL, &rt, &err));
    a_place_is_kept();
    strays_are_counted();
    a_full_place_loses_none();
    a_successor_goes_to_its_place();
    mistakes_are_told();
    CHECK_EQ(gpurt_close(rt, NULL), GPURT_OK);
    return 0;
}
