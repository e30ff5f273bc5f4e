/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 4 /* so that a panic ends its block alone */

#include "fib.h"

#include <gpurt/device.h>

/* Below it a child would cost more than its result. */
enum {
    SMALL = 8
};

GPURT_DEV uint64_t fib_plain(uint32_t n)
{
    uint64_t a = 0, b = 1;

    while (n--) {
        uint64_t next = a + b;

        a = b;
        b = next;
    }
    return a;
}

/* First run: two children, whose results come into t->of. Second run: they are there. */
GPURT_TASK(fib, t, run)
{
    uint32_t lane = gpurt_lane(), n = t->n, waits = t->waits;
    struct fib part = {&t->of[lane & 1u], {0, 0}, n - 1 - (lane & 1u), 0};
    gpurt_task_t child;
    uint64_t value;

    if (n >= SMALL && !waits) {
        child = gpurt_task_spawn(run, fib, &part, lane < 2, GPURT_TASK_CHILD);
        if (gpurt_any(GPURT_FULL_MASK, lane < 2 && !child))
            gpurt_task_fail(run, GPURT_E_NOMEM); /* the pool is empty */
        if (lane == 0)
            t->waits = 1;
        gpurt_task_await(run);
        return;
    }
    if (gpurt_task_tainted(run)) /* a child has failed */
        gpurt_task_fail(run, GPURT_E_NOMEM);
    value = n < SMALL ? fib_plain(n) : t->of[0] + t->of[1];
    if (t->to && lane == 0)
        *t->to = value;
    gpurt_task_result(run, value);
}

GPURT_EXECUTOR(fib_tasks, FIB_TASKS)
