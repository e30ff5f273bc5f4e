/* SPDX-License-Identifier: Apache-2.0 */
/* tasklock_kernels.h - tasks that take a lock, keep it while they await, and give it back. */
#ifndef GPURT_TESTS_TASKLOCK_KERNELS_H
#define GPURT_TESTS_TASKLOCK_KERNELS_H

#include <gpurt/tasklock.h>

/* Owner: the test, in device memory. The plain words are written by who holds the lock. */
typedef struct tasklock_board {
    gpurt_tasklock_t lock, inner;
    uint64_t sum;        /* plain */
    uint32_t half;       /* plain: 1 while a holder awaits */
    uint32_t xwrong;     /* answers that should not be, words half done */
    uint32_t xdied;      /* locks taken of tasks that had ended */
    uint32_t xruns;      /* of tasks between the holder and the urgent one */
    uint32_t xtries;     /* of the urgent one */
    uint32_t xgave_up;   /* 1: it never got the lock */
    uint32_t urgent_saw; /* runs in between when it got the lock */
    uint32_t low_saw;    /* ... when the holder had its first turn behind that */
} tasklock_board_t;

enum {
    TASKLOCK_TRIES = 400, /* of the urgent one */
    TASKLOCK_BETWEEN = 5, /* tasks of a level in between */
    TASKLOCK_RUNS = 60    /* of each of them */
};

/* state: where a task is between its runs, 0 at first. */
struct tasklock_args {
    tasklock_board_t *board;
    uint32_t state, left;
    uint64_t at;
};

#define TASKLOCK_TASKS(TASK)                                                           \
    TASK(adds, struct tasklock_args) /* to the sum, left times, awaiting with it */    \
    TASK(low, struct tasklock_args)  /* holds it for some runs, spawns the others */   \
    TASK(between, struct tasklock_args)                                                \
    TASK(urgent, struct tasklock_args)                                                 \
    TASK(forgets, struct tasklock_args) /* ends with it */                             \
    TASK(dies, struct tasklock_args)    /* panics with it */                           \
    TASK(keeps, struct tasklock_args)   /* until the host's word `at`, ends with it */ \
    TASK(asks, struct tasklock_args)    /* what each call answers */

GPURT_EXECUTOR_DECLARE(tasklock_tests, TASKLOCK_TASKS);

#endif
