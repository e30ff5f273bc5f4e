/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "taskpool.h"

#include <stdlib.h>
#include <string.h>

void gpurt_taskpool_free(gpurt_taskpool_t *p)
{
    free(p->rows);
    free(p->marks);
    free(p->edges);
    free(p->waits);
    free(p->edges_to);
    memset(p, 0, sizeof *p);
}

static bool room_make(const gpurt_executor_own_t *e, bool waits, gpurt_taskpool_t *p)
{
    size_t rows = e->map.task_count, edges = e->map.edge_count;

    p->count = e->map.task_count;
    p->edge_count = e->map.edge_count;
    p->rows = (gpurt_task_row_t *)malloc(rows * sizeof *p->rows);
    p->marks = (uint64_t *)malloc(2 * rows * sizeof *p->marks);
    p->edges = (gpurt_task_edge_t *)malloc(edges * sizeof *p->edges);
    p->waits = waits ? (gpurt_group_t *)malloc(rows * sizeof *p->waits) : NULL;
    p->edges_to = (uint32_t *)calloc(5 * rows, sizeof *p->edges_to);
    if (!p->rows || !p->marks || !p->edges || (waits && !p->waits) || !p->edges_to)
        return false;
    p->children = p->edges_to + rows;
    p->before = p->children + rows;
    p->child = p->before + rows;
    p->awaited = p->child + rows;
    return true;
}

static bool all_fetch(gpurt_viewer_t *v, const gpurt_executor_own_t *e, gpurt_taskpool_t *p)
{
    size_t marks = p->count * sizeof *p->marks;

    return gpurt_eyes_fetch(v, e, p->marks, e->map.marks, marks) &&
           (!p->waits ||
            gpurt_eyes_fetch(v, e, p->waits, e->map.waits, p->count * sizeof *p->waits)) &&
           gpurt_eyes_fetch(v, e, p->rows, e->map.tasks, p->count * sizeof *p->rows) &&
           gpurt_eyes_fetch(v, e, p->edges, e->map.edges,
                            p->edge_count * sizeof *p->edges) &&
           gpurt_eyes_fetch(v, e, p->marks + p->count, e->map.marks, marks);
}

/* Of a row that was another task's, or got another edge, while the copy was made. */
static void changed_drop(gpurt_taskpool_t *p)
{
    for (uint32_t row = 0; row < p->count; row++) {
        uint64_t was = p->marks[row], is = p->marks[p->count + row];

        p->marks[row] = is;
        if (was >> 32 == is >> 32 && (was & GPURT_TASK_EDGES) == (is & GPURT_TASK_EDGES))
            continue;
        p->marks[row] &= ~GPURT_TASK_EDGES;
        p->rows[row].xneeds = p->rows[row].head.parent = 0;
        if (p->waits)
            memset(&p->waits[row], 0, sizeof p->waits[row]);
    }
}

void gpurt_taskpool_waiters(const gpurt_taskpool_t *p, uint32_t row,
                            gpurt_taskpool_fn *each, void *context)
{
    uint32_t edge = (uint32_t)(p->marks[row] & GPURT_TASK_EDGES);
    uint32_t parent = p->rows[row].head.parent;

    for (uint32_t i = 0; i < GPURT_POOL_WALK && edge && edge <= p->edge_count; i++) {
        uint32_t to = p->edges[edge - 1].to;

        edge = p->edges[edge - 1].next;
        if (to < p->count)
            each(context, row, to, false);
    }
    if (parent && parent <= p->count)
        each(context, row, parent - 1, true);
}

bool gpurt_taskpool_lives(const gpurt_taskpool_t *p, uint32_t row)
{
    return p->rows[row].xneeds || p->marks[row] & GPURT_TASK_BEGUN;
}

/* Of a row that is free, the parent is another's. */
static void waiter_count(void *context, uint32_t row, uint32_t waiter, bool parent)
{
    gpurt_taskpool_t *p = (gpurt_taskpool_t *)context;

    if (parent && !gpurt_taskpool_lives(p, row))
        return;
    p->awaited[row]++;
    if (parent) {
        p->children[waiter]++;
        p->child[waiter] = row + 1;
    } else {
        p->edges_to[waiter]++;
        p->before[waiter] = row + 1;
    }
}

bool gpurt_taskpool_read(gpurt_viewer_t *v, const gpurt_executor_own_t *e, bool waits,
                         gpurt_taskpool_t *p)
{
    memset(p, 0, sizeof *p);
    if (e->map.task_count > GPURT_EYES_ROWS || e->map.edge_count > 2 * GPURT_EYES_ROWS)
        return false;
    if (!room_make(e, waits, p) || !all_fetch(v, e, p)) {
        gpurt_taskpool_free(p);
        return false;
    }
    changed_drop(p);
    for (uint32_t row = 0; row < p->count; row++)
        gpurt_taskpool_waiters(p, row, waiter_count, p);
    return true;
}
