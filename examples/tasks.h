/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.h - the tasks of a sum: tiles that are squared, and pairs that are added. */
#ifndef TASKS_H
#define TASKS_H

#include <gpurt/task.h>

struct tile {
    const uint32_t *from; /* count numbers */
    uint64_t *sum;
    uint32_t count;
};
struct pair {
    uint64_t *sum; /* sum[0] += sum[distance] */
    uint32_t distance;
};

#define SUM_TASKS(TASK)     \
    TASK(tile, struct tile) \
    TASK(pair, struct pair)

GPURT_EXECUTOR_DECLARE(sum_tasks, SUM_TASKS);

#endif
