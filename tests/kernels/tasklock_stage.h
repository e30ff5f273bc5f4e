/* SPDX-License-Identifier: Apache-2.0 */
/* tasklock_stage.h - an executor whose tasks share a lock, and what must be true afterwards. */
#ifndef GPURT_TESTS_TASKLOCK_STAGE_H
#define GPURT_TESTS_TASKLOCK_STAGE_H

#include "stage.h"
#include "tasklock_kernels.h"

#include <gpurt/executors.h>

#define TASKLOCK_WAIT_NS 120000000000ull

typedef struct tasklock_stage {
    gpurt_executor_t x;
    tasklock_board_t *board; /* of the device */
} tasklock_stage_t;

/* The first lock is for the most urgent, the second for tasks up to 1. */
static inline tasklock_stage_t tasklock_open(uint32_t blocks, uint32_t warps)
{
    const gpurt_executor_options_t options = {
        .blocks = blocks, .warps = warps, .tasks = 512};
    tasklock_board_t b = {.lock.how = GPURT_TASK_PRIORITY(3),
                          .inner.how = GPURT_TASK_PRIORITY(1)};
    tasklock_stage_t s = {0};

    s.board = (tasklock_board_t *)stage_zeros(sizeof b);
    OK(gpurt_copy(rt, 0, s.board, &b, sizeof b, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    OK(gpurt_executor_open(rt, tasklock_tests, &options, &s.x, &err));
    return s;
}

#define TASKLOCK_SUBMIT(s, name, state_, left_, how)                             \
    do {                                                                         \
        const struct tasklock_args args_ = {                                     \
            .board = (s)->board, .state = (state_), .left = (left_)};            \
                                                                                 \
        OK(gpurt_executor_submit(rt, (s)->x, name, &args_, 1, how, NULL, &err)); \
    } while (0)

static inline tasklock_board_t tasklock_close(tasklock_stage_t *s)
{
    tasklock_board_t b;
    uint64_t dropped = 1;

    OK(gpurt_executor_drain(rt, s->x, TASKLOCK_WAIT_NS, &err));
    stage_read(&b, s->board, sizeof b);
    OK(gpurt_executor_close(rt, s->x, &dropped, &err));
    CHECK_EQ(dropped, 0);
    CHECK_EQ(gpurt_mem_destroy(rt, s->board), GPURT_OK);
    CHECK_EQ(b.xwrong, 0);
    return b;
}

/* Tasks of all levels add to one plain word, each awaiting in the middle. */
static inline void tasklock_storm(uint32_t blocks, uint32_t warps, uint32_t tasks,
                                  uint32_t each, uint32_t forget)
{
    tasklock_stage_t s = tasklock_open(blocks, warps);
    tasklock_board_t b;

    for (uint32_t i = 0; i < tasks; i++) {
        TASKLOCK_SUBMIT(&s, adds, 0, each, i % 8);
        if (i < forget)
            TASKLOCK_SUBMIT(&s, forgets, 0, 0, i % 8);
    }
    b = tasklock_close(&s);
    CHECK_EQ(b.sum, (uint64_t)tasks * each);
    CHECK_MSG(b.xdied <= forget && b.xdied + 1 >= forget, "%u of %u", b.xdied, forget);
}

#endif
