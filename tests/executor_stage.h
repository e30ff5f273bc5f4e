/* SPDX-License-Identifier: Apache-2.0 */
/* executor_stage.h - an executor of task_kernels.h, and the board on which its tasks say what they
 * did: what tests of executors share. One runtime, one board at a time.
 *
 * Context: host, the thread of the test. */
#ifndef GPURT_TESTS_EXECUTOR_STAGE_H
#define GPURT_TESTS_EXECUTOR_STAGE_H

#include "must.h"

#include <gpurt/channels.h>
#include <gpurt/executors.h>
#include <gpurt/hostwords.h>

#include "kernels/task_kernels.h"

/* For what has to come: a sanitizer beside other work takes ten times as long as it does alone. */
#define WAIT_NS 120000000000ull

static gpurt_t *rt;
static gpurt_error_t err;
static task_board_t *board;

static inline gpurt_executor_t executor_of(uint32_t blocks, uint32_t warps, uint32_t tasks)
{
    const gpurt_executor_options_t options = {
        .blocks = blocks, .warps = warps, .tasks = tasks};
    gpurt_executor_t x;

    must(gpurt_executor_open(rt, task_tests, &options, &x, &err));
    return x;
}

static inline gpurt_executor_t executor_open(uint32_t blocks, uint32_t tasks)
{
    return executor_of(blocks, 2, tasks);
}

static inline void board_make(uint32_t marks)
{
    size_t bytes = sizeof *board + marks * sizeof board->marks[0];
    void *memory;

    must(gpurt_host_create(rt, bytes, &memory, &err));
    memset(memory, 0, bytes);
    board = memory;
}

static inline void board_free(void)
{
    must(gpurt_host_destroy(rt, board));
    board = NULL;
}

static inline task_desk_t *desk_make(void)
{
    task_desk_t *desk;
    void *memory;

    must(gpurt_host_create(rt, sizeof *desk, &memory, &err));
    memset(memory, 0, sizeof *desk);
    desk = memory;
    must(gpurt_make_channel(rt, &desk->notes, NULL, &err));
    return desk;
}

static inline void desk_free(task_desk_t *desk)
{
    must(gpurt_channel_destroy(rt, &desk->notes.channel, &err));
    must(gpurt_host_destroy(rt, desk));
}

static inline void executor_end(gpurt_executor_t x)
{
    uint64_t dropped;

    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    must(gpurt_executor_close(rt, x, &dropped, &err));
    CHECK_EQ(dropped, 0);
}

static inline gpurt_executor_status_t status_of(gpurt_executor_t x)
{
    gpurt_executor_status_t s;

    must(gpurt_executor_status(rt, x, &s, &err));
    return s;
}

static inline void each_ran_once(uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        CHECK_MSG(board->marks[i].xruns == 1, "mark %u ran %u times", i,
                  board->marks[i].xruns);
        CHECK_MSG(!board->marks[i].early, "mark %u ran too early", i);
    }
}

static inline gpurt_submitted_t submit_mark(gpurt_executor_t x, uint32_t mark, uint32_t how)
{
    struct task_mark_args a = {.board = board, .mark = mark};
    gpurt_submitted_t task;

    must(gpurt_executor_submit(rt, x, mark, &a, 1, how, &task, &err));
    return task;
}

static inline gpurt_status_t wait_of(gpurt_executor_t x, gpurt_submitted_t task,
                                     uint64_t *value)
{
    return gpurt_executor_wait(rt, x, task, WAIT_NS, value, &err);
}

/* A worker is in a task until the gate opens. */
static inline gpurt_submitted_t gate_shut(gpurt_executor_t x, uint32_t mark, uint32_t here)
{
    struct task_mark_args a = {.board = board, .mark = mark};
    gpurt_submitted_t task;

    must(gpurt_executor_submit(rt, x, gated, &a, 1, GPURT_TASK_PRIORITY(3), &task, &err));
    while (gpurt_load_relaxed_sys_u32(&board->xhere) < here)
        must(gpurt_hostword_wait(rt, &board->xhere, here - 1, WAIT_NS, NULL, &err));
    return task;
}

static inline void gate_open(void)
{
    must(gpurt_hostword_store(rt, &board->xgate, 1, &err));
}

#endif
