/* SPDX-License-Identifier: Apache-2.0 */
/* A body that spawns in one lane of its warp: a panic says so. In one file, as a program of the CPU back end may be. */
#define GPURT_DEFER_DEPTH 4 /* what an executor's file needs */
#include "../check.h"

#include <gpurt/device.h>
#include <gpurt/executors.h>

struct apart_args {
    uint64_t unused;
};

#define APART_TASKS(TASK)         \
    TASK(leaf, struct apart_args) \
    TASK(parts, struct apart_args)

GPURT_EXECUTOR_DECLARE(apart_tests, APART_TASKS);

GPURT_TASK(leaf, t, run) {}

GPURT_TASK(parts, t, run)
{
    if (gpurt_lane() == 0)
        (void)gpurt_task_spawn(run, leaf, t, true, 0);
}

GPURT_EXECUTOR(apart_tests, APART_TASKS)

int main(void)
{
    const gpurt_executor_options_t options = {.blocks = 1, .warps = 2, .tasks = 64};
    const struct apart_args a = {0};
    gpurt_submitted_t task;
    gpurt_executor_t x;
    gpurt_error_t err;
    gpurt_t *rt;

    CHECK_EQ(gpurt_open(NULL, &rt, &err), GPURT_OK);
    CHECK_EQ(gpurt_executor_open(rt, apart_tests, &options, &x, &err), GPURT_OK);
    CHECK_EQ(gpurt_executor_submit(rt, x, parts, &a, 1, 0, &task, &err), GPURT_OK);
    CHECK_EQ(gpurt_executor_wait(rt, x, task, UINT64_MAX, NULL, &err), GPURT_E_PANIC);
    CHECK_EQ(gpurt_executor_close(rt, x, NULL, &err), GPURT_E_PANIC);
    CHECK_CONTAINS(err.text, "32 lanes have to call together");
    CHECK_EQ(gpurt_close(rt, NULL), GPURT_OK);
    return 0;
}
