/* SPDX-License-Identifier: Apache-2.0 */
/* taskgather.h - tasks of a block: all its warps run one body together.
 *
 * A warp whose turn it is to run one does not: it posts the task in the hall, gives the rest of its batch back,
 * and calls the block's warps to meet, as the host does when the executor is to rest. Behind the meeting
 * warp 0 takes the task up as a batch of one, and all run its body. One is posted at a time; who finds
 * another posted gives its own back.
 *
 * A task that is posted is the hall's, so a panic or a stop finds it there (gpurt_hall_empty). While warps are inside,
 * the last that leaves ends it: others may be in the body still when the first has panicked. Behind the body it is
 * warp 0's. In xneeds it counts itself from the start, so all warps can spawn children of it.
 * Context: device code, whole warps; nothing here is a safe point but barriers and the body. */
#ifndef GPURT_TASKGATHER_H
#define GPURT_TASKGATHER_H

#include <gpurt/impl/task/tasklanes.h>

/* The turn of a task of a block, in a warp: it is posted, or given back. The whole warp. */
GPURT_DEVN void gpurt_gather_post(gpurt_worker_t *w)
{
    uint32_t full = GPURT_FULL_MASK, me = gpurt_lane(),
             at = gpurt_body_begun(w->run.key) - 1;
    gpurt_executor_hall_t *hall = w->run.hall;
    uint32_t nobody = 0, posted = 0;

    if (me == at) {
        uint32_t index = gpurt_task_index(w->mine.task);

        gpurt_task_unbegin(w->run.map, index, w->before >> me & 1u);
        posted =
            gpurt_cas_release_near_u32(&hall->xposted, &nobody, index + 1); /* TB1.rel */
        if (posted) {
            gpurt_queued_begin(w->run.map, index);
            w->mine.task = 0;
            gpurt_held_put(&w->warp->held[me], GPURT_TASK_NONE, &w->mine);
        }
        gpurt_store_relaxed_near_u32(&hall->xmeet, 1); /* relaxed: a barrier follows */
    }
    posted = gpurt_shfl_u32(full, posted, at);
    gpurt_batch_give(w, w->left | (posted ? 0 : 1u << at));
    gpurt_lanes_count(w, 0); /* no body has run */
}

/* All warps leave, behind a barrier. Warp 0 has what they did as its own. */
GPURT_DEV void gpurt_gather_close(gpurt_worker_t *w)
{
    if (gpurt_thread_rank() == 0) { /* relaxed: who is cancelled now finds nothing to end */
        gpurt_store_relaxed_near_u32(&w->run.hall->xgathers, 0);
        gpurt_store_relaxed_near_u32(&w->run.hall->xposted, 0);
    }
    if (gpurt_lane() == 0)
        (void)gpurt_inside_leave(w->warp);
}

/* Warp 0. The task that is posted becomes its batch. Returns: its key; 0: it is not to run, because it was cancelled
 * or its group waits. */
GPURT_DEV uint32_t gpurt_gather_take(gpurt_worker_t *w)
{
    gpurt_executor_hall_t *hall = w->run.hall;
    uint32_t full = GPURT_FULL_MASK, index = GPURT_TASK_NONE, key;

    if (w->next != GPURT_TASK_NONE) /* a batch of its own comes first now */
        gpurt_tasks_push(&w->run, full, 1, w->next);
    if (gpurt_lane() == 0) /* relaxed: all have met; nobody else takes it */
        index = gpurt_xchg_relaxed_near_u32(&hall->xposted, GPURT_GATHER_TAKEN) - 1;
    gpurt_batch_take(w, index);
    key = w->left ? gpurt_shfl_u32(full, w->key, 0) : 0;
    w->left = 0;
    if (gpurt_lane() == 0) { /* relaxed: a barrier follows */
        gpurt_store_relaxed_near_u32(&hall->xkey, key);
        gpurt_store_relaxed_near_u32(&hall->xtainted, w->tainted);
        gpurt_store_relaxed_near_u32(&hall->xstopped, w->stopped);
        gpurt_store_relaxed_near_u64(&hall->xtask, w->mine.task);
    }
    return key;
}

/* Warp 0. It is the last's to end of those inside, and counts itself before others spawn children. */
GPURT_DEV void gpurt_gather_open(gpurt_worker_t *w)
{
    const gpurt_task_ended_t gathered = {.status = (gpurt_status_t)GPURT_TASK_GATHERED};

    if (gpurt_lane())
        return; /* relaxed: a barrier follows */
    gpurt_add_relaxed_dev_u32(&w->run.row->xneeds, 1);
    gpurt_held_put(&w->warp->held[0], gpurt_task_index(w->run.task), &gathered);
    gpurt_store_relaxed_dev_u64(&w->warp->xat, gpurt_warp_word(w->began, w->run.key));
    gpurt_store_relaxed_near_u32(&w->run.hall->xgathers, 1);
}

/* All warps, behind their meeting. A warp that is cancelled at a barrier has left. Who goes on behind the second is
 * cancelled there, too, if another was: none runs what has been given back. Returns: the key of a body that is to
 * run; 0: none. */
GPURT_DEVN uint32_t gpurt_gather_begin(gpurt_worker_t *w)
{
    gpurt_task_run_t *run = &w->run;
    gpurt_executor_hall_t *hall = run->hall;
    uint32_t key;

    w->gathers = false;
    if (gpurt_lane() == 0) { /* relaxed: TB2 orders what matters */
        gpurt_store_relaxed_dev_u32(&w->warp->xinside, 1);
        gpurt_add_relaxed_near_u32(&hall->xinside, 1);
    }
    if (gpurt_warp() == 0)
        (void)gpurt_gather_take(w);
    gpurt_block_barrier();
    key = gpurt_load_relaxed_near_u32(&hall->xkey); /* relaxed, below: behind a barrier */
    run->key = key;
    run->task = gpurt_load_relaxed_near_u64(&hall->xtask);
    run->row = &w->tasks[key ? gpurt_task_index(run->task) : 0];
    run->parent = key != 0;
    w->tainted = gpurt_load_relaxed_near_u32(&hall->xtainted);
    w->stopped = gpurt_load_relaxed_near_u32(&hall->xstopped);
    w->began = w->looked = gpurt_clock();
    if (key && gpurt_warp() == 0)
        gpurt_gather_open(w);
    if (gpurt_lane() == 0 && gpurt_body_group(key))
        gpurt_worker_group_begin(w);
    gpurt_block_barrier();
    gpurt_cancel_point();
    if (!key)
        gpurt_gather_close(w);
    return key;
}

/* Warp 0: it ends, or waits, or comes behind the others of its level. */
GPURT_DEVN void gpurt_gather_part(gpurt_worker_t *w)
{
    uint32_t me = gpurt_task_index(w->run.task);

    gpurt_worker_part(w);
    if (w->next == me) {
        w->next = GPURT_TASK_NONE;
        gpurt_warp_next(w->warp, GPURT_TASK_NONE);
        gpurt_tasks_put(&w->run, GPURT_FULL_MASK, 1, me, GPURT_POCKET_OLDEST);
    }
}

/* All warps, behind it. Returns: in warp 0 the cycles that it took; else 0. */
GPURT_DEVN uint64_t gpurt_gather_counts(gpurt_worker_t *w)
{
    uint64_t took = gpurt_clock() - w->began;

    if (!gpurt_task_whole())
        return 0;
    if (gpurt_lane() == 0 && gpurt_body_group(w->run.key))
        gpurt_worker_group_end(w);
    gpurt_block_barrier(); /* what all warps wrote and spawned */
    gpurt_gather_close(w);
    if (gpurt_warp() == 0) {
        gpurt_lanes_count(w, 1);
        gpurt_worker_kind(w, took);
        return took | 1;
    }
    if (gpurt_lane() == 0)
        w->useful += took;
    return 0;
}

/* All warps. None of these calls another, because each level costs the kernel registers. */
GPURT_DEV void gpurt_gather_end(gpurt_worker_t *w)
{
    gpurt_task_run_t *run = &w->run;
    uint64_t took = gpurt_gather_counts(w);

    if (gpurt_any(GPURT_FULL_MASK, took)) {
        if (gpurt_slice_wanted(w, took))
            gpurt_slice_tell(w);
        gpurt_gather_part(w);
    }
    run->status = GPURT_OK;
    run->value = run->until = 0;
    run->parent = run->again = run->vain = run->odd = false;
}

#endif
