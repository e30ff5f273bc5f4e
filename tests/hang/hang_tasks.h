/* SPDX-License-Identifier: Apache-2.0 */
/* hang_tasks.h - tasks that wait for each other: for children, for task locks, for channels. */
#ifndef GPURT_TESTS_HANG_TASKS_H
#define GPURT_TESTS_HANG_TASKS_H

#include <gpurt/channel.h>
#include <gpurt/tasklock.h>

enum {
    HANG_TASK_CROWD = 300,
    HANG_TASK_ROUNDS = 400
};

GPURT_CHANNEL(hang_jobs, uint32_t, 4);

/* Owner: the program, in device memory. */
typedef struct hang_board {
    gpurt_tasklock_t ledger, journal;
    hang_jobs_t jobs;
    uint32_t xholds; /* tasks that hold the lock they begin with */
    uint32_t xsum;   /* of `turns` */
} hang_board_t;

/* state: between its runs, 0 at first. */
struct hang_task_args {
    hang_board_t *board;
    uint32_t state, naps, way, left;
};

#define HANG_TASKS(TASK)                                                             \
    TASK(outer, struct hang_task_args)   /* holds the ledger, awaits a child */      \
    TASK(inner, struct hang_task_args)   /* the child: wants the ledger */           \
    TASK(owner, struct hang_task_args)   /* holds the sending end, awaits a child */ \
    TASK(sleeper, struct hang_task_args) /* the child: sleeps until a job comes */   \
    TASK(taker, struct hang_task_args)   /* the child: its body waits for a job */   \
    TASK(crosses, struct hang_task_args) /* way: which lock it takes first */        \
    TASK(idles, struct hang_task_args)   /* sleeps for what never comes */           \
    TASK(quits, struct hang_task_args)   /* the child: wants the ledger, twice */    \
    TASK(plain, struct hang_task_args)   /* ends */                                  \
    TASK(turns, struct hang_task_args)   /* takes and gives the ledger, `left` times */

GPURT_EXECUTOR_DECLARE(hang_tasks, HANG_TASKS);

#endif
