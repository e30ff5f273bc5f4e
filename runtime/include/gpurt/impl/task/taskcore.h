/* SPDX-License-Identifier: Apache-2.0 */
/* taskcore.h - how tasks begin, wait for each other and end: the body of task.h.
 *
 * Context: device code. Nothing here is a safe point, so a warp that is cancelled has done each
 * step wholly or not at all. A `mask` names the lanes that call together: a whole warp, or the
 * one lane that cleans up behind one. */
#ifndef GPURT_TASKCORE_H
#define GPURT_TASKCORE_H

#include <gpurt/impl/task/tasklook.h>
#include <gpurt/impl/task/taskspare.h>

/* ---- spawn ----------------------------------------------------------------------------- */

/* A row that is to be filled. Owner: the lane. */
typedef struct gpurt_task_plan {
    uint64_t args[GPURT_TASK_ARGS_BYTES / 8];
    uint32_t function, how, record;
} gpurt_task_plan_t;

GPURT_DEV void gpurt_task_fill(gpurt_task_row_t *row, const gpurt_task_plan_t *plan,
                               uint32_t parent)
{
    row->head.parent = parent;
    row->head.record = plan->record;
    row->head.function = (uint16_t)plan->function;
    row->head.level = (uint8_t)gpurt_task_level(plan->how);
    row->head.flags = gpurt_task_flags(plan->how);
    for (uint32_t i = 0; i < GPURT_TASK_ARGS_BYTES / 8; i++)
        row->args[i] = plan->args[i];
    /* relaxed: it is found only by who is told of it later */
    gpurt_store_relaxed_dev_u32(&row->xneeds, plan->how & GPURT_TASK_HELD ? 1 : 0);
}

/* The whole warp: of the lanes in `who` some have got a row. */
GPURT_DEV void gpurt_rows_count(const gpurt_task_run_t *run, uint32_t who, uint32_t index)
{
    uint32_t made = gpurt_ballot(GPURT_FULL_MASK, index != GPURT_TASK_NONE);

    if (gpurt_is_leader(GPURT_FULL_MASK)) {
        /* relaxed: who ends them has them from a queue, so comes after */
        gpurt_executor_count(&run->map->words->xlive, gpurt_popc(made));
        gpurt_executor_count(&run->block->xrefused, gpurt_popc(who & ~made));
    }
}

/* The whole warp: rows for lanes with wanted, as far as there is room. Returns: each lane's number. */
GPURT_DEV uint32_t gpurt_rows_take(const gpurt_task_run_t *run, bool wanted)
{
    uint32_t who = gpurt_ballot(GPURT_FULL_MASK, wanted), index = GPURT_TASK_NONE;

    if (who)
        index = gpurt_spares_get(run, who);
    gpurt_rows_count(run, who, index);
    return index;
}

/* The whole warp: lanes that have a row fill it, and queue it unless it is held. parent: + 1. by: the task
 * that spawns. Returns: its handle, or 0. */
GPURT_DEV gpurt_task_t gpurt_rows_fill(gpurt_task_run_t *run, uint32_t index,
                                       const gpurt_task_plan_t *plan, uint32_t parent,
                                       gpurt_task_t by)
{
    const gpurt_executor_map_t *m = run->map;
    bool has = index != GPURT_TASK_NONE;
    uint32_t level = gpurt_task_level(plan->how), ready;
    gpurt_task_t named = 0;

    run->odd |= has && level < gpurt_body_level(run->key);
    if (has) {
        named = gpurt_task_named(m, index); /* far: under way until it is returned */
        gpurt_task_fill(&m->tasks[index], plan, parent);
        if (m->places)
            m->at[index] = (uint8_t)gpurt_how_place(plan->how);
        gpurt_cause_put(m, index, by);
    }
    ready = gpurt_ballot(GPURT_FULL_MASK, has && !(plan->how & GPURT_TASK_HELD));
    gpurt_tasks_queue(run, GPURT_FULL_MASK, ready, index, level, GPURT_POCKET_NEWEST);
    return named;
}

/* The whole warp: lanes with wanted get a task each, as far as there is room. In xneeds of a parent, its
 * children count, and it itself while it runs. */
GPURT_DEVN gpurt_task_t gpurt_tasks_make(gpurt_task_run_t *run, bool wanted,
                                         const gpurt_task_plan_t *plan)
{
    uint32_t index = gpurt_rows_take(run, wanted), children;
    bool child = index != GPURT_TASK_NONE && plan->how & GPURT_TASK_CHILD;

    children = gpurt_ballot(GPURT_FULL_MASK, child);
    if (children && gpurt_is_leader(GPURT_FULL_MASK))
        /* relaxed: the parent is counted, too, and does not end meanwhile */
        gpurt_add_relaxed_dev_u32(&run->row->xneeds, gpurt_popc(children) + !run->parent);
    run->parent |= children != 0;
    return gpurt_rows_fill(run, index, plan, child ? gpurt_task_index(run->task) + 1 : 0,
                           run->task);
}

/* The whole warp: one thing less that they wait for. Those that wait for nothing more become
 * ready. */
GPURT_DEV void gpurt_tasks_release(gpurt_task_run_t *run, bool wanted, uint32_t index)
{
    bool ready = wanted && gpurt_sub_acq_rel_dev_u32(&run->map->tasks[index].xneeds, 1) ==
                               1; /* TN1.acq TN1.rel */

    gpurt_tasks_push(run, GPURT_FULL_MASK, gpurt_ballot(GPURT_FULL_MASK, ready), index);
}

/* Whether it had not begun: then its body is skipped. One that had is asked to stop. */
GPURT_DEV bool gpurt_task_cancel_one(const gpurt_executor_map_t *m, gpurt_task_t task)
{
    uint64_t *at = &m->marks[gpurt_task_index(task)];
    uint64_t word = gpurt_load_relaxed_dev_u64(at), with; /* relaxed: a mark */

    do {
        if (!gpurt_task_is_of(word, task) || word & GPURT_TASK_STOP)
            return false;
        with = word & GPURT_TASK_BEGUN ? GPURT_TASK_STOP : GPURT_TASK_CANCELLED;
    } while (!gpurt_cas_relaxed_dev_u64(at, &word, word | with));
    if (with == GPURT_TASK_STOP) { /* relaxed: a count */
        gpurt_red_add_relaxed_dev_u32(&m->words->xstops, 1);
        gpurt_timed_stop(m);
    }
    return with == GPURT_TASK_CANCELLED;
}

/* ---- edges ----------------------------------------------------------------------------- */

/* Whether the edge hangs at `before`; not where that has ended, what it did is seen then. */
GPURT_DEV bool gpurt_edge_hang(const gpurt_executor_map_t *m, uint32_t edge,
                               gpurt_task_t before)
{
    uint64_t *at = &m->marks[gpurt_task_index(before)];
    uint64_t word = gpurt_load_acquire_dev_u64(at), with; /* TD2.acq */

    do {
        if (!gpurt_task_is_of(word, before))
            return false;
        m->edges[edge].next = (uint32_t)(word & GPURT_TASK_EDGES);
        with = (word & ~GPURT_TASK_EDGES) | (edge + 1);
    } while (!gpurt_cas_acq_rel_dev_u64(at, &word, with)); /* TD1.rel TD2.acq */
    return true;
}

/* The whole warp. In each lane with wanted: `after`, which the caller holds, waits for `before`, too. Returns:
 * GPURT_E_NOMEM where there is no edge left. */
GPURT_DEVN gpurt_status_t gpurt_edges_add(gpurt_task_run_t *run, bool wanted,
                                          gpurt_task_t before, gpurt_task_t after)
{
    const gpurt_executor_map_t *m = run->map;
    gpurt_taskring_t free_ones = gpurt_executor_ring(m, GPURT_RING_FREE_EDGES);
    uint32_t mask = GPURT_FULL_MASK, who = gpurt_ballot(mask, wanted),
             edge = GPURT_TASK_NONE, unused;
    bool has, hangs = false;

    if (!who)
        return GPURT_OK;
    gpurt_taskring_pop(&free_ones, mask, who, GPURT_WARP_SIZE, 1, &edge);
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
    if (unused)
        gpurt_taskring_push(&free_ones, mask, unused, edge);
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
        row->head.flags |= GPURT_TASK_OVER;
        row->args[0] = (uint64_t)(int64_t)run->status;
        row->args[1] = run->value;
    }
    return gpurt_sub_acq_rel_dev_u32(&row->xneeds, 1) == 1; /* TN1.acq TN1.rel */
}

/* A lane's task that has ended. */
typedef struct gpurt_task_ended {
    gpurt_task_t task; /* 0: none */
    gpurt_task_head_t head;
    gpurt_status_t status;
    uint64_t value;
} gpurt_task_ended_t;

/* The lanes of mask, each with its own: counted, and told to the host where that waits. */
GPURT_DEV void gpurt_ended_tell(const gpurt_task_run_t *run, uint32_t mask,
                                const gpurt_task_ended_t *e)
{
    uint32_t all = gpurt_popc(gpurt_ballot(mask, e->task != 0));
    uint32_t well = gpurt_popc(gpurt_ballot(mask, e->task && e->status == GPURT_OK));
    uint32_t not_run =
        gpurt_popc(gpurt_ballot(mask, e->task && e->status == GPURT_E_CANCELLED));

    if (gpurt_is_leader(mask)) {
        gpurt_executor_count(&run->block->xended, well);
        gpurt_executor_count(&run->block->xcancelled, not_run);
        gpurt_executor_count(&run->block->xfailed, all - well - not_run);
    }
    if (e->task && e->head.record) {
        gpurt_task_record_t *record = &run->map->records[e->head.record - 1];

        record->value = e->value;
        gpurt_hostword_tell(&record->xstatus, (uint32_t)e->status);
    }
}

/* One that it waits for has failed. Behind it, something is released that brings the mark along. */
GPURT_DEV void gpurt_task_taint(const gpurt_executor_map_t *m, uint32_t index)
{
    (void)gpurt_or_relaxed_dev_u64(&m->marks[index], GPURT_TASK_TAINTED); /* relaxed: so */
}

/* One lane more or less of those that wait for it: a successor, or the parent. */
GPURT_DEV bool gpurt_task_arrive(const gpurt_executor_map_t *m, uint32_t index, bool well)
{
    if (!well)
        gpurt_task_taint(m, index);
    return gpurt_sub_acq_rel_dev_u32(&m->tasks[index].xneeds, 1) == 1; /* TN1.acq TN1.rel */
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

/* The ready ones of the lanes in `ready`: one of them, as urgent as `level` at least, is the
 * caller's to run at once if it has none yet; the others are pushed. */
GPURT_DEV uint32_t gpurt_tasks_choose(const gpurt_task_run_t *run, uint32_t mask,
                                      uint32_t level, bool ready, uint32_t index,
                                      uint32_t next)
{
    const gpurt_task_row_t *tasks = run->map->tasks;
    uint32_t urgent;

    if (next == GPURT_TASK_NONE) {
        urgent = gpurt_ballot(
            mask, ready && tasks[index].head.level <= level &&
                      (!run->map->places || gpurt_place_is_here(run->map, index)));
        if (urgent) {
            next = gpurt_shfl_u32(mask, index, gpurt_leader(urgent));
            ready = ready && gpurt_lane() != gpurt_leader(urgent);
        }
    }
    gpurt_tasks_push(run, mask, gpurt_ballot(mask, ready), index);
    return next;
}

/* The lanes of mask: those of `ready` became it by the end of the task of one of them. */
GPURT_DEV void gpurt_ended_cause(const gpurt_executor_map_t *m, uint32_t mask,
                                 uint32_t lane, const gpurt_task_ended_t *e, bool ready,
                                 uint32_t index)
{
    gpurt_task_t task;

    if (!m->causes)
        return;
    task = gpurt_shfl_u64(mask, e->task, lane);
    if (ready)
        gpurt_cause_put(m, index, task);
}

/* Up to popc(mask) of those that wait for a task, one a lane: what edges from *edge on lead to, and behind the
 * last of these its *parent. Returns: this lane's; GPURT_TASK_NONE: none. */
GPURT_DEV uint32_t gpurt_waiting_next(const gpurt_executor_map_t *m, uint32_t mask,
                                      uint32_t *edge, uint32_t *parent)
{
    gpurt_taskring_t free_edges = gpurt_executor_ring(m, GPURT_RING_FREE_EDGES);
    uint32_t to = GPURT_TASK_NONE, mine, used;

    if (*edge) {
        mine = gpurt_edges_walk(m, mask, edge);
        used = gpurt_ballot(mask, mine != 0);
        to = mine ? m->edges[mine - 1].to : GPURT_TASK_NONE;
        gpurt_taskring_push(&free_edges, mask, used, mine - 1);
        return to;
    }
    if (gpurt_is_leader(mask))
        to = *parent - 1;
    *parent = 0;
    return to;
}

/* The lanes of mask see to those that wait for the task of one of them. Returns: as
 * gpurt_tasks_close. */
GPURT_DEV uint32_t gpurt_ended_follow(const gpurt_task_run_t *run, uint32_t mask,
                                      uint32_t lane, const gpurt_task_ended_t *e,
                                      uint32_t edge, uint32_t next)
{
    const gpurt_executor_map_t *m = run->map;
    uint32_t parent = gpurt_shfl_u32(mask, e->head.parent, lane);
    uint32_t level = gpurt_shfl_u32(mask, e->head.level, lane);
    bool well = gpurt_shfl_i32(mask, e->status, lane) == GPURT_OK;

    edge = gpurt_shfl_u32(mask, edge, lane);
    while (edge || parent) { /* one loop for both: the code is large */
        uint32_t to = gpurt_waiting_next(m, mask, &edge, &parent);
        bool ready = to != GPURT_TASK_NONE && gpurt_task_arrive(m, to, well);

        gpurt_ended_cause(m, mask, lane, e, ready, to);
        next = gpurt_tasks_choose(run, mask, level, ready, to, next);
    }
    return next;
}

/* The tasks of the lanes of mask have ended: all are closed together, so that one fence and one
 * trip to memory do for all. next: a task that the caller is to run at once, or GPURT_TASK_NONE.
 * Returns: that, or another if there was none. */
GPURT_DEV uint32_t gpurt_tasks_close_by(const gpurt_task_run_t *run, uint32_t mask,
                                        const gpurt_task_ended_t *e, uint32_t next)
{
    const gpurt_executor_map_t *m = run->map;
    uint32_t index = gpurt_task_index(e->task), edge = 0, who, more;

    gpurt_syncwarp(mask); /* what the bodies wrote, in all lanes */
    if (e->task) {
        uint64_t *at = &m->marks[index];
        uint64_t word = (e->task >> 32) + 1; /* the next to use the row is another */

        word = gpurt_xchg_release_dev_u64(at, word << 32); /* TD2.rel */
        edge = (uint32_t)(word & GPURT_TASK_EDGES);
        if (word & (GPURT_TASK_EDGES | GPURT_TASK_STOP)) { /* mostly neither: one branch */
            if (word & GPURT_TASK_STOP)                    /* relaxed: a count */
                gpurt_red_add_relaxed_dev_u32(&m->words->xstops, UINT32_MAX);
            if (edge) /* only then, since to acquire empties the L1 */
                (void)gpurt_load_acquire_dev_u64(at); /* TD1.acq */
        }
    }
    gpurt_syncwarp(mask);           /* the edges, to all lanes */
    gpurt_ended_tell(run, mask, e); /* the release need not wait for counts */
    more = gpurt_ballot(mask, e->task && (edge || e->head.parent));
    for (; more; more &= more - 1)
        next = gpurt_ended_follow(run, mask, gpurt_ctz(more), e, edge, next);
    gpurt_syncwarp(mask); /* what one lane has acquired of `next` holds for all */
    who = gpurt_ballot(mask, e->task != 0);
    gpurt_spares_put(run, mask, who, index);
    if (gpurt_is_leader(mask) && run->hall)
        gpurt_add_release_near_u32(&run->hall->xended, gpurt_popc(who)); /* TL2.rel */
    else if (gpurt_is_leader(mask))
        gpurt_live_end(m, gpurt_popc(who));
    return next;
}
GPURT_BY_MASK(uint32_t, gpurt_tasks_close,
              (const gpurt_task_run_t *run, uint32_t mask, const gpurt_task_ended_t *e,
               uint32_t next),
              run, e, next)

/* A run of a task that waits for others has ended, or one that was cut short. Returns: as
 * gpurt_tasks_close; perhaps the task itself. */
GPURT_DEV uint32_t gpurt_task_end(gpurt_task_run_t *run, uint32_t mask,
                                  gpurt_task_head_t head)
{
    uint32_t over = 0, me = gpurt_task_index(run->task);
    gpurt_task_ended_t e = {0, head, run->status, run->value};

    gpurt_syncwarp(mask);                    /* what its lanes wrote */
    if (run->again && gpurt_is_leader(mask)) /* before its last child can end */
        gpurt_cause_put(run->map, me, run->task);
    if (run->until) { /* xneeds goes on counting a parent until its time comes */
        if (gpurt_is_leader(mask))
            gpurt_timed_hold(run->map, me, run->until);
        return GPURT_TASK_NONE;
    }
    if (gpurt_is_leader(mask)) {
        over = gpurt_task_leave(run);
        e.task = run->task;
    }
    over = gpurt_shfl_u32(mask, over, gpurt_leader(mask));
    if (!over)
        return GPURT_TASK_NONE;
    gpurt_syncwarp(mask); /* what its children wrote */
    if (!run->again)
        return gpurt_tasks_close(run, mask, &e, GPURT_TASK_NONE);
    if (run->parent)
        return me;
    /* others come first */
    gpurt_tasks_put(run, mask, 1u << gpurt_leader(mask), me, GPURT_POCKET_OLDEST);
    return GPURT_TASK_NONE;
}

#endif
