/* SPDX-License-Identifier: Apache-2.0 */
/* taskcore.h - how tasks begin, wait for each other and end: the body of task.h.
 *
 * Context: device code. Nothing here is a safe point, so a warp that is cancelled has done each
 * step wholly or not at all. A `mask` names the lanes that call together: a whole warp, or the
 * one lane that cleans up behind one. */
#ifndef GPURT_TASKCORE_H
#define GPURT_TASKCORE_H

#include <gpurt/hostword.h>
#include <gpurt/status.h>

#include <gpurt/impl/taskmap.h>

/* generation << 32 | index + 1; 0: none. */
typedef uint64_t gpurt_task_t;

/* Of a block. In shared memory. */
typedef struct gpurt_executor_hall {
    uint32_t xmeet;  /* 1: its warps come to gpurt_service_go; written by: any warp */
    uint32_t xidle;  /* warps that found nothing; written by: any warp */
    uint32_t xnews;  /* grows when idle warps should look; written by: any warp */
    uint32_t xlooks; /* 1: an idle warp looks for all of them; written by: it */
} gpurt_executor_hall_t;

/* What a task's body is given. Owner: each lane; the same in all lanes of the warp. */
typedef struct gpurt_task_run {
    const gpurt_executor_map_t *map;
    gpurt_executor_hall_t *hall; /* NULL: a lane that cleans up */
    gpurt_executor_block_t *block;
    gpurt_task_row_t *row;
    gpurt_task_t task;
    uint64_t value;
    gpurt_status_t status;
    bool parent; /* it has got children in this run, or waits again: xneeds counts it */
    bool again;
    bool tainted;
} gpurt_task_run_t;

GPURT_HD uint32_t gpurt_task_index(gpurt_task_t task)
{
    return (uint32_t)task - 1;
}

GPURT_DEV bool gpurt_task_is_of(uint64_t word, gpurt_task_t task)
{
    return word >> 32 == task >> 32 && !(word & GPURT_TASK_CLOSED);
}

GPURT_DEV void gpurt_executor_count(uint64_t *counter, uint64_t n)
{
    if (n)
        gpurt_red_add_relaxed_dev_u64(counter, n); /* relaxed: a count */
}

/* Whether no lane of the warp has left. If one has, of a panic or by itself, the block is cancelled
 * and the others leave, too. */
GPURT_DEV bool gpurt_task_whole(void)
{
    if (gpurt_ballot(GPURT_FULL_MASK, true) == GPURT_FULL_MASK)
        return true;
    gpurt_cancel_block();
    gpurt_cancel_point();
    return false;
}

/* ---- queues ---------------------------------------------------------------------------- */

/* Behind a push, by one lane: who sleeps wakes. The sleeper counts itself and looks at the queues,
 * this side fills a queue and looks at the count: with a fence in each, one sees the other. */
GPURT_DEV void gpurt_executor_wake(const gpurt_task_run_t *run)
{
    const gpurt_executor_map_t *m = run->map;

    gpurt_fence_seq_cst_dev();
    /* relaxed: the fence orders it; and a number */
    if (gpurt_load_relaxed_dev_u32(&m->words->xsleepers)) {
        gpurt_add_relaxed_dev_u32(&m->words->xwake, 1);
        gpurt_host_wake();
    }
    /* relaxed: hints; an idle warp looks at the queues by itself, too */
    if (run->hall && gpurt_load_relaxed_blk_u32(&run->hall->xidle))
        gpurt_add_relaxed_blk_u32(&run->hall->xnews, 1);
}

/* The lanes in `who`, of mask, have a task each that is ready. */
GPURT_DEVN void gpurt_tasks_push(const gpurt_task_run_t *run, uint32_t mask, uint32_t who,
                                 uint32_t index)
{
    bool mine = who >> gpurt_lane() & 1u;
    uint32_t level = mine ? run->map->tasks[index].level : 0;

    for (uint32_t left = who; left;) {
        uint32_t now = gpurt_shfl_u32(mask, level, gpurt_leader(left));
        uint32_t same = gpurt_ballot(mask, mine && level == now);
        gpurt_taskring_t ring = gpurt_executor_ring(run->map, now);

        if (same >> gpurt_lane() & 1u)
            gpurt_taskring_push(&ring, same, index);
        left &= ~same;
    }
    gpurt_syncwarp(mask); /* all are pushed; what one lane has acquired holds for all */
    if (who && gpurt_is_leader(mask))
        gpurt_executor_wake(run);
}

/* ---- how many live --------------------------------------------------------------------- */

/* Nothing lives and a drain is asked for: one lane tells the host. */
GPURT_DEV void gpurt_live_tell(const gpurt_executor_map_t *m, uint64_t live)
{
    if ((uint32_t)live == 0 && live >> 32 &&
        gpurt_cas_acq_rel_dev_u64(&m->words->xlive, &live, 0)) /* TL1.acq TL1.rel */
        gpurt_hostword_tell(&m->desk->xquiet, (uint32_t)(live >> 32));
}

GPURT_DEV void gpurt_live_end(const gpurt_executor_map_t *m)
{
    uint64_t live = gpurt_sub_acq_rel_dev_u64(&m->words->xlive, 1); /* TL1.acq TL1.rel */

    gpurt_live_tell(m, live - 1);
}

GPURT_DEV void gpurt_live_ask(const gpurt_executor_map_t *m, uint32_t drain)
{
    uint64_t live = gpurt_load_relaxed_dev_u64(&m->words->xlive); /* relaxed: exchanged */
    uint64_t asked;

    do
        asked = (uint64_t)drain << 32 | (uint32_t)live;
    while (
        !gpurt_cas_acq_rel_dev_u64(&m->words->xlive, &live, asked)); /* TL1.acq TL1.rel */
    gpurt_live_tell(m, asked);
}

/* ---- spawn ----------------------------------------------------------------------------- */

/* A row that is to be filled. Owner: the lane. */
typedef struct gpurt_task_plan {
    const void *args;
    uint32_t bytes, function, how, record;
} gpurt_task_plan_t;

GPURT_DEV void gpurt_task_fill(gpurt_task_row_t *row, const gpurt_task_plan_t *plan,
                               uint32_t parent)
{
    row->parent = parent;
    row->record = plan->record;
    row->function = (uint16_t)plan->function;
    row->level = (uint8_t)gpurt_task_level(plan->how);
    row->flags = (uint8_t)(plan->how & GPURT_TASK_ANYWAY);
    __builtin_memcpy(row->args, plan->args, plan->bytes);
    /* relaxed: it is found only by who is told of it later */
    gpurt_store_relaxed_dev_u32(&row->xneeds, plan->how & GPURT_TASK_HELD ? 1 : 0);
}

/* Lanes with wanted get a task each, as far as there is room. In xneeds of a parent, its
 * children count, and it itself while it runs. Returns: the lanes that got one. */
GPURT_DEVN uint32_t gpurt_tasks_make(gpurt_task_run_t *run, uint32_t mask, bool wanted,
                                     const gpurt_task_plan_t *plan, gpurt_task_t *task)
{
    const gpurt_executor_map_t *m = run->map;
    gpurt_taskring_t free_ones = gpurt_executor_ring(m, GPURT_RING_FREE_TASKS);
    uint32_t who = gpurt_ballot(mask, wanted), index, made, children, ready;
    bool child = wanted && plan->how & GPURT_TASK_CHILD;

    gpurt_taskring_pop(&free_ones, mask, who, &index);
    made = gpurt_ballot(mask, index != GPURT_TASK_NONE);
    children = gpurt_ballot(mask, index != GPURT_TASK_NONE && child);
    if (gpurt_is_leader(mask)) {
        /* relaxed: who ends them has them from a queue, so comes after */
        gpurt_add_relaxed_dev_u64(&m->words->xlive, gpurt_popc(made));
        if (children) /* relaxed: the parent is counted, too, and does not end meanwhile */
            gpurt_add_relaxed_dev_u32(&run->row->xneeds,
                                      gpurt_popc(children) + !run->parent);
        gpurt_executor_count(&run->block->xrefused, gpurt_popc(who & ~made));
    }
    run->parent |= children != 0;
    *task = 0;
    if (index != GPURT_TASK_NONE) {
        gpurt_task_row_t *row = &m->tasks[index];

        gpurt_task_fill(row, plan, child ? gpurt_task_index(run->task) + 1 : 0);
        /* relaxed: the pop has acquired it */
        *task =
            (gpurt_load_relaxed_dev_u64(&row->xword) & ~(uint64_t)UINT32_MAX) | (index + 1);
    }
    ready = gpurt_ballot(mask, index != GPURT_TASK_NONE && !(plan->how & GPURT_TASK_HELD));
    gpurt_tasks_push(run, mask, ready, index);
    return made;
}

/* One thing less that they wait for: those that wait for nothing more become ready. */
GPURT_DEV void gpurt_tasks_release(gpurt_task_run_t *run, uint32_t mask, bool wanted,
                                   uint32_t index)
{
    bool ready = wanted && gpurt_sub_acq_rel_dev_u32(&run->map->tasks[index].xneeds, 1) ==
                               1; /* TN1.acq TN1.rel */

    gpurt_tasks_push(run, mask, gpurt_ballot(mask, ready), index);
}

/* Whether it had not begun: then its body is skipped. */
GPURT_DEV bool gpurt_task_cancel_one(const gpurt_executor_map_t *m, gpurt_task_t task)
{
    uint64_t *at = &m->tasks[gpurt_task_index(task)].xword;
    uint64_t word = gpurt_load_relaxed_dev_u64(at); /* relaxed: a mark */

    do
        if (!gpurt_task_is_of(word, task) || word & GPURT_TASK_BEGUN)
            return false;
    while (!gpurt_cas_relaxed_dev_u64(at, &word, word | GPURT_TASK_CANCELLED));
    return true;
}

/* ---- edges ----------------------------------------------------------------------------- */

/* Whether the edge hangs at `before`; not where that has ended, what it did is seen then. */
GPURT_DEV bool gpurt_edge_hang(const gpurt_executor_map_t *m, uint32_t edge,
                               gpurt_task_t before)
{
    gpurt_task_row_t *row = &m->tasks[gpurt_task_index(before)];
    uint64_t word = gpurt_load_acquire_dev_u64(&row->xword), with; /* TD2.acq */

    do {
        if (!gpurt_task_is_of(word, before))
            return false;
        m->edges[edge].next = (uint32_t)(word & GPURT_TASK_EDGES);
        with = (word & ~GPURT_TASK_EDGES) | (edge + 1);
    } while (!gpurt_cas_acq_rel_dev_u64(&row->xword, &word, with)); /* TD1.rel TD2.acq */
    return true;
}

/* In each lane with wanted: `after`, which the caller holds, waits for `before`, too. Returns:
 * GPURT_E_NOMEM where there is no edge left. */
GPURT_DEVN gpurt_status_t gpurt_edges_add(gpurt_task_run_t *run, uint32_t mask, bool wanted,
                                          gpurt_task_t before, gpurt_task_t after)
{
    const gpurt_executor_map_t *m = run->map;
    gpurt_taskring_t free_ones = gpurt_executor_ring(m, GPURT_RING_FREE_EDGES);
    uint32_t who = gpurt_ballot(mask, wanted), edge, unused;
    bool has, hangs = false;

    gpurt_taskring_pop(&free_ones, mask, who, &edge);
    has = edge != GPURT_TASK_NONE;
    if (has) {
        uint32_t *needs = &m->tasks[gpurt_task_index(after)].xneeds;

        m->edges[edge].to = gpurt_task_index(after);
        gpurt_add_relaxed_dev_u32(needs, 1); /* relaxed: the edge brings it along */
        hangs = gpurt_edge_hang(m, edge, before);
        if (!hangs)
            gpurt_sub_relaxed_dev_u32(needs, 1); /* relaxed: it is held, so not the last */
    }
    unused = gpurt_ballot(mask, has && !hangs);
    if (unused >> gpurt_lane() & 1u)
        gpurt_taskring_push(&free_ones, unused, edge);
    unused = gpurt_ballot(mask, wanted && !has);
    if (gpurt_is_leader(mask))
        gpurt_executor_count(&run->block->xrefused, gpurt_popc(unused));
    return wanted && !has ? GPURT_E_NOMEM : GPURT_OK;
}

/* ---- the end --------------------------------------------------------------------------- */

/* One lane. Whether the task is over now: not while children live. */
GPURT_DEV bool gpurt_task_leave(gpurt_task_run_t *run)
{
    gpurt_task_row_t *row = run->row;

    if (!run->parent)
        return true;
    if (!run->again) {
        row->flags |= GPURT_TASK_OVER;
        row->args[0] = (uint64_t)(int64_t)run->status;
        row->args[1] = run->value;
    }
    return gpurt_sub_acq_rel_dev_u32(&row->xneeds, 1) == 1; /* TN1.acq TN1.rel */
}

/* One lane: told to who waits for it, but for tasks. */
GPURT_DEV void gpurt_task_tell(const gpurt_task_run_t *run)
{
    gpurt_executor_block_t *b = run->block;

    gpurt_executor_count(run->status == GPURT_OK            ? &b->xended
                         : run->status == GPURT_E_CANCELLED ? &b->xcancelled
                                                            : &b->xfailed,
                         1);
    if (run->row->record) {
        gpurt_task_record_t *record = &run->map->records[run->row->record - 1];

        record->value = run->value;
        gpurt_hostword_tell(&record->xstatus, (uint32_t)run->status);
    }
}

/* One that it waits for has failed. Behind it, something is released that brings the mark along. */
GPURT_DEV void gpurt_task_taint(gpurt_task_row_t *row)
{
    (void)gpurt_or_relaxed_dev_u64(&row->xword, GPURT_TASK_TAINTED); /* relaxed: so */
}

/* One lane more or less of those that wait for it: a successor, or the parent. */
GPURT_DEV bool gpurt_task_arrive(const gpurt_task_run_t *run, uint32_t index)
{
    gpurt_task_row_t *row = &run->map->tasks[index];

    if (run->status != GPURT_OK)
        gpurt_task_taint(row);
    return gpurt_sub_acq_rel_dev_u32(&row->xneeds, 1) == 1; /* TN1.acq TN1.rel */
}

/* Up to popc(mask) edges from *edge on, one a lane. Returns: this lane's, + 1, or 0. */
GPURT_DEV uint32_t gpurt_edges_walk(const gpurt_executor_map_t *m, uint32_t mask,
                                    uint32_t *edge)
{
    uint32_t rank = gpurt_popc(mask & gpurt_lanes_below()), count = gpurt_popc(mask);
    uint32_t mine = 0;

    for (uint32_t i = 0; i < count && *edge; i++) {
        if (i == rank)
            mine = *edge;
        *edge = m->edges[*edge - 1].next;
    }
    return mine;
}

/* The ready ones of the lanes in `ready`: one of them, as urgent as the task at least, is the
 * caller's to run at once if it has none yet; the others are pushed. */
GPURT_DEV uint32_t gpurt_tasks_choose(const gpurt_task_run_t *run, uint32_t mask,
                                      bool ready, uint32_t index, uint32_t next)
{
    const gpurt_task_row_t *tasks = run->map->tasks;
    uint32_t urgent;

    if (next == GPURT_TASK_NONE) {
        urgent = gpurt_ballot(mask, ready && tasks[index].level <= run->row->level);
        if (urgent) {
            next = gpurt_shfl_u32(mask, index, gpurt_leader(urgent));
            ready = ready && gpurt_lane() != gpurt_leader(urgent);
        }
    }
    gpurt_tasks_push(run, mask, gpurt_ballot(mask, ready), index);
    return next;
}

/* The task of the run has ended, with status and value. Returns: another that the caller is to
 * run at once, or GPURT_TASK_NONE. */
GPURT_DEVN uint32_t gpurt_task_close(const gpurt_task_run_t *run, uint32_t mask)
{
    const gpurt_executor_map_t *m = run->map;
    gpurt_taskring_t free_tasks = gpurt_executor_ring(m, GPURT_RING_FREE_TASKS);
    gpurt_taskring_t free_edges = gpurt_executor_ring(m, GPURT_RING_FREE_EDGES);
    uint32_t next = GPURT_TASK_NONE, edge = 0, me = gpurt_task_index(run->task);
    bool leads = gpurt_is_leader(mask), ready;
    uint64_t word = 0;

    if (leads) {
        gpurt_task_tell(run);
        word = gpurt_or_acq_rel_dev_u64(&run->row->xword,
                                        GPURT_TASK_CLOSED); /* TD1.acq TD2.rel */
    }
    gpurt_syncwarp(mask); /* the edges, to all lanes */
    word = gpurt_shfl_u64(mask, word, gpurt_leader(mask));
    edge = (uint32_t)(word & GPURT_TASK_EDGES);
    while (edge) {
        uint32_t mine = gpurt_edges_walk(m, mask, &edge);
        uint32_t used = gpurt_ballot(mask, mine != 0);
        uint32_t to = mine ? m->edges[mine - 1].to : 0;

        ready = mine && gpurt_task_arrive(run, to);
        if (mine)
            gpurt_taskring_push(&free_edges, used, mine - 1);
        next = gpurt_tasks_choose(run, mask, ready, to, next);
    }
    if (run->row->parent) { /* the same in all lanes */
        uint32_t parent = run->row->parent - 1;

        ready = leads && gpurt_task_arrive(run, parent);
        next = gpurt_tasks_choose(run, mask, ready, parent, next);
    }
    gpurt_syncwarp(mask); /* the row is read */
    if (leads) {
        word = ((word >> 32) + 1) << 32;
        gpurt_store_release_dev_u64(&run->row->xword, word); /* TD2.rel */
        gpurt_taskring_push(&free_tasks, 1u << gpurt_lane(), me);
        gpurt_live_end(m);
    }
    return next;
}

/* A run of it has ended, of its own accord or not. Returns: as gpurt_task_close. */
GPURT_DEVN uint32_t gpurt_task_end(gpurt_task_run_t *run, uint32_t mask)
{
    uint32_t over = 0, me = gpurt_task_index(run->task);

    gpurt_syncwarp(mask); /* what its lanes wrote */
    if (gpurt_is_leader(mask))
        over = gpurt_task_leave(run);
    over = gpurt_shfl_u32(mask, over, gpurt_leader(mask));
    if (!over)
        return GPURT_TASK_NONE;
    gpurt_syncwarp(mask); /* what its children wrote */
    if (!run->again)
        return gpurt_task_close(run, mask);
    if (run->parent)
        return me;
    gpurt_tasks_push(run, mask, 1u << gpurt_leader(mask), me); /* others come first */
    return GPURT_TASK_NONE;
}

#endif
