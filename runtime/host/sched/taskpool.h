/* SPDX-License-Identifier: Apache-2.0 */
/* taskpool.h - a copy of an executor's rows and edges, and what it says of each task: for how many others
 * it waits, and how many wait for it. Kernels write the rows meanwhile. So marks are read first and last:
 * a row whose mark has changed in between is left out, as if no task were there.
 *
 * Context: host, under the viewer's lock. */
#ifndef GPURT_HOST_TASKPOOL_H
#define GPURT_HOST_TASKPOOL_H

#include "executoreyes.h"

enum {
    GPURT_POOL_WALK = 4096 /* edges of a task that are followed */
};

/* Owner: the look. */
typedef struct gpurt_taskpool {
    uint32_t count, edge_count;
    gpurt_task_row_t *rows;
    uint64_t *marks;
    gpurt_task_edge_t *edges;
    gpurt_group_t *waits;          /* what bodies told; NULL: nothing was read */
    uint32_t *edges_to, *children; /* that wait, and that a row waits for: how many, */
    uint32_t *before, *child;      /* ... and one of them, + 1 */
    uint32_t *awaited;             /* tasks that wait for it */
} gpurt_taskpool_t;

/* waits: also those. Returns: false, it is too large, or there is no memory. */
bool gpurt_taskpool_read(gpurt_viewer_t *v, const gpurt_executor_own_t *e, bool waits,
                         gpurt_taskpool_t *p);
void gpurt_taskpool_free(gpurt_taskpool_t *p);

/* Whether a task is there that waits, or has begun. One that is ready and has not begun may be there, too; of a row that
 * is free neither holds. */
bool gpurt_taskpool_lives(const gpurt_taskpool_t *p, uint32_t row);

/* Each task that waits for that of `row`: those behind it, then its parent. */
typedef void gpurt_taskpool_fn(void *context, uint32_t row, uint32_t waiter, bool parent);
void gpurt_taskpool_waiters(const gpurt_taskpool_t *p, uint32_t row,
                            gpurt_taskpool_fn *each, void *context);

#endif
