/* SPDX-License-Identifier: Apache-2.0 */
/* tasklanes.h - tasks of a lane: those of a warp's batch that have one function run together, a lane
 * each.
 *
 * A batch holds a task a lane as it is. So the lanes of one function call the body at once, each with its own
 * arguments. What a body asks for is noted in its lane and done by the whole warp behind all of them: spawns,
 * one after the other, then ends and waits, all at once.
 *
 * Who cleans up behind a warp finds its tasks marked as running together, and fails each. Those that have
 * returned are no exception: what they asked for was not done.
 * Context: device code, whole warps; nothing here is a safe point but the bodies. */
#ifndef GPURT_TASKLANES_H
#define GPURT_TASKLANES_H

#include <gpurt/impl/task/taskwork.h>

enum {
    GPURT_LANE_SPAWNS = 4 /* of a lane in one run */
};

/* What the body of a lane's task is given. Owner: the lane. */
typedef struct gpurt_lane_run {
    gpurt_task_row_t *row;
    gpurt_task_t task;
    gpurt_status_t status;
    uint64_t value;
    uint64_t until; /* globaltimer: it does not run again before; 0: no matter when */
    bool again;     /* its body runs again */
    bool parent;    /* it has got children in this run */
    bool tainted, stopped;
    uint32_t spawns;
    gpurt_task_plan_t plans[GPURT_LANE_SPAWNS];
} gpurt_lane_run_t;

/* The whole warp, before the body that gpurt_worker_next has found. Returns: whether the caller's lane runs
 * its own. */
GPURT_DEVN bool gpurt_lanes_begin(gpurt_worker_t *w, gpurt_lane_run_t *lane)
{
    uint32_t me = gpurt_lane(), first = gpurt_body_begun(w->run.key) - 1;
    bool mine =
        (w->left >> me & 1u || me == first) && gpurt_bodies_alike(w->key, w->run.key);
    const gpurt_task_ended_t together = {.status = (gpurt_status_t)GPURT_TASK_TOGETHER};

    w->left &= ~gpurt_ballot(GPURT_FULL_MASK, mine);
    lane->row = &w->tasks[mine ? gpurt_task_index(w->mine.task) : 0];
    lane->task = w->mine.task;
    lane->status = GPURT_OK;
    lane->value = lane->until = 0;
    lane->again = lane->parent = false;
    lane->tainted = w->tainted >> me & 1u;
    lane->stopped = w->stopped >> me & 1u;
    lane->spawns = 0;
    if (mine)
        gpurt_held_put(&w->warp->held[me], gpurt_task_index(w->mine.task), &together);
    return mine;
}

/* The whole warp. One spawn of each lane with wanted. For what is refused its task fails. */
GPURT_DEVN void gpurt_lanes_spawn(gpurt_worker_t *w, gpurt_lane_run_t *lane, bool wanted,
                                  const gpurt_task_plan_t *plan)
{
    uint32_t index = gpurt_rows_take(&w->run, wanted);
    bool has = index != GPURT_TASK_NONE, child = has && plan->how & GPURT_TASK_CHILD;

    if (child) { /* relaxed: the parent is counted, too, and does not end meanwhile */
        gpurt_add_relaxed_dev_u32(&lane->row->xneeds, 1 + !lane->parent);
        lane->parent = true;
    }
    if (wanted && !has) {
        lane->status = lane->status ? lane->status : GPURT_E_NOMEM;
        lane->again = false;
        lane->until = 0;
    }
    (void)gpurt_rows_fill(&w->run, index, plan,
                          child ? gpurt_task_index(lane->task) + 1 : 0, lane->task);
}

/* One lane. Whether its task is over, or can run again; not while it sleeps or children live. */
GPURT_DEV bool gpurt_lane_leave(const gpurt_worker_t *w, const gpurt_lane_run_t *lane)
{
    gpurt_task_run_t one;

    if (lane->again) /* before its last child can end */
        gpurt_cause_put(w->run.map, gpurt_task_index(lane->task), lane->task);
    if (lane->until) {
        gpurt_timed_hold(w->run.map, gpurt_task_index(lane->task), lane->until);
        return false;
    }
    one.row = lane->row;
    one.parent = lane->parent;
    one.again = lane->again;
    one.status = lane->status;
    one.value = lane->value;
    return gpurt_task_leave(&one);
}

/* The whole warp. Those that have ended stay in its batch, which closes them; the others leave it. */
GPURT_DEVN void gpurt_lanes_part(gpurt_worker_t *w, const gpurt_lane_run_t *lane, bool mine)
{
    uint32_t full = GPURT_FULL_MASK, index = gpurt_task_index(lane->task), now, later;
    bool over = mine && gpurt_lane_leave(w, lane), ended = over && !lane->again;

    now = gpurt_ballot(full, over && !ended && lane->parent);
    later = gpurt_ballot(full, over && !ended && !lane->parent);
    if (now)
        gpurt_tasks_push(&w->run, full, now, index);
    if (later) /* others come first */
        gpurt_tasks_put(&w->run, full, later, index, GPURT_POCKET_OLDEST);
    if (!mine)
        return;
    w->mine.task = ended ? lane->task : 0;
    w->mine.status = lane->status;
    w->mine.value = lane->value;
    gpurt_held_put(&w->warp->held[gpurt_lane()], ended ? index : GPURT_TASK_NONE, &w->mine);
}

/* So many bodies took the time of one. */
GPURT_DEV void gpurt_lanes_count(gpurt_worker_t *w, uint32_t bodies)
{
    gpurt_kind_turn(w);
    w->kind_runs += bodies - 1;
}

/* The whole warp, behind the bodies. A lane that is missing has panicked: the others leave. */
GPURT_DEVN void gpurt_lanes_end(gpurt_worker_t *w, gpurt_lane_run_t *lane, bool mine)
{
    uint32_t full = GPURT_FULL_MASK, first = gpurt_body_begun(w->run.key) - 1;

    if (!gpurt_task_whole())
        return;
    for (uint32_t i = 0; gpurt_any(full, mine && i < lane->spawns); i++)
        gpurt_lanes_spawn(w, lane, mine && i < lane->spawns,
                          &lane->plans[i % GPURT_LANE_SPAWNS]);
    gpurt_lanes_count(w, gpurt_popc(gpurt_ballot(full, mine)));
    gpurt_lanes_part(w, lane, mine);
    gpurt_slice_note(w, lane->task, lane->status, mine);
    /* What gpurt_worker_done would say of the first of them. */
    w->run.status = gpurt_shfl_i32(full, w->mine.status, first);
    w->run.value = gpurt_shfl_u64(full, w->mine.value, first);
}

#endif
