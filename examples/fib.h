/* SPDX-License-Identifier: Apache-2.0 */
/* fib.h - a task that spawns two of its kind and goes on when both have ended. */
#ifndef FIB_H
#define FIB_H

#include <gpurt/task.h>

/* What the second run needs is here: a task has no stack of its own between its runs. */
struct fib {
    uint64_t *to; /* NULL: the host's */
    uint64_t of[2];
    uint32_t n, waits;
};

#define FIB_TASKS(TASK) TASK(fib, struct fib)

GPURT_EXECUTOR_DECLARE(fib_tasks, FIB_TASKS);

#endif
