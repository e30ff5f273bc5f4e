/* SPDX-License-Identifier: Apache-2.0 */
/* taskworker.h - what a warp of an executor knows while it works, and what it did and has not added
 * up yet: bodies of a kind, time of a group, useful and waiting cycles.
 *
 * Context: device code, whole warps. */
#ifndef GPURT_TASKWORKER_H
#define GPURT_TASKWORKER_H

#include <gpurt/clock.h>
#include <gpurt/service.h>

#include <gpurt/impl/task/taskcore.h>

/* Owner: each lane. Fields are the same in all lanes of the warp, but for the leader's. */
typedef struct gpurt_worker {
    gpurt_task_run_t run;
    gpurt_service_turn_t turn;
    gpurt_executor_warp_t *warp;
    gpurt_task_row_t *tasks; /* the map's: a read less between bodies */
    uint64_t *marks;         /* likewise */
    uint32_t next;           /* a task to run at once, or GPURT_TASK_NONE */
    uint32_t left;    /* of the batch: lanes whose bodies are to begin still, a bit each */
    uint32_t whole;   /* the same, when it was taken up */
    uint32_t tainted; /* the same of tasks that are */
    uint32_t stopped; /* the same of those that are asked to stop */
    uint32_t before;  /* the same of those that had begun before this batch */
    /* each lane's own: its task of the batch, and as what that ends, unless more is said */
    gpurt_task_ended_t mine;
    uint32_t key;    /* each lane's own: of its task */
    uint64_t began;  /* clock: the body did */
    uint64_t looked; /* clock: its body asked what is due, or began */
    uint64_t taken;  /* clock: the batch was */
    uint64_t cut;    /* clock: it looked whether the rest of its batch is to wait */
    /* bodies of one function that are not told yet */
    uint64_t kind_cycles, kind_longest;
    uint32_t kind_runs, kind;
    /* the leader's */
    uint32_t bodies;
    /* slices (taskslice.h) */
    const char *const *names; /* of functions */
    uint64_t over;    /* cycles: a body that takes longer is told of; UINT64_MAX: none is */
    uint64_t took;    /* cycles: the last body of which that was asked */
    uint64_t sliced;  /* clock: one was */
    uint64_t failing; /* clock: since then `failed` bodies that failed were told of */
    uint32_t failed;
    uint64_t anchor, anchor_ns; /* clock and globaltimer of one moment */
    uint32_t ran, told;         /* bodies, but for kind_runs: all, and as one was told of */
    uint32_t together,
        together_key; /* lanes that ran at once, under that key; of these one: */
    gpurt_task_t together_task;
    gpurt_status_t together_status;
    bool asks;        /* it takes orders of the host's before it pulls */
    bool gathers;     /* all warps have met for a task of the block; of all lanes */
    bool hurries;     /* its body was told of something more urgent: it pulls first */
    uint32_t there;   /* levels of the device's rings of which only this warp was told */
    uint32_t command; /* of the host's, that the block has obeyed; of thread 0 */
    uint64_t since, useful, waiting, at_once;
    uint32_t looked_far; /* clock: it looked at the device's and the host's words */
    /* bodies of one group that is not charged yet */
    uint64_t group_began, group_ns;
    uint32_t group; /* 0: none */
} gpurt_worker_t;

/* ---- what is noted ------------------------------------------------------------------------ */

/* relaxed, here and below: the same warp reads it. The leader: what is to run at once. */
GPURT_DEV void gpurt_warp_next(gpurt_executor_warp_t *warp, uint32_t next)
{
    gpurt_store_relaxed_dev_u32(&warp->xnext, next);
}
/* The leader: how large its batch is, of which none has begun. */
GPURT_DEV void gpurt_warp_batch(gpurt_executor_warp_t *warp, uint32_t count)
{
    gpurt_store_relaxed_dev_u64(&warp->xat, 0);
    gpurt_store_relaxed_dev_u32(&warp->xcount, count);
}
/* A lane: its task of the batch. */
GPURT_DEV void gpurt_held_put(gpurt_task_held_t *held, uint32_t index,
                              const gpurt_task_ended_t *e)
{
    gpurt_store_relaxed_dev_u32(&held->xindex, index);
    gpurt_store_relaxed_dev_u32(&held->xstatus, (uint32_t)e->status);
    gpurt_store_relaxed_dev_u64(&held->xvalue, e->value);
}

/* Bodies of one function, to the block. The whole warp. */
GPURT_DEVN void gpurt_worker_kind_tell(gpurt_worker_t *w)
{
    if (gpurt_lane() == 0 && w->kind_runs) {
        gpurt_kind_count(&w->run, w->kind, w->kind_runs, w->kind_cycles);
        gpurt_kind_longest(&w->run, w->kind, w->kind_longest);
        gpurt_hall_learn(w->run.hall, w->kind_runs, w->kind_cycles / w->kind_runs);
        w->bodies += w->kind_runs;
        w->useful += w->kind_cycles;
        w->ran += w->kind_runs;
    }
    w->kind_runs = 0;
    w->kind_cycles = w->kind_longest = 0;
    w->kind = gpurt_body_function(w->run.key);
}

/* A body has ended. Tasks mostly follow others of their function, so that of one body only the warp
 * knows. The whole warp: a lane alone would cost a branch. */
GPURT_DEV void gpurt_worker_kind(gpurt_worker_t *w, uint64_t took)
{
    w->kind_runs++;
    w->kind_cycles += took;
    w->kind_longest = took > w->kind_longest ? took : w->kind_longest;
}

/* The leader: bodies of one group, to the group. */
GPURT_DEV void gpurt_worker_group_tell(gpurt_worker_t *w)
{
    if (w->group_ns)
        gpurt_group_charge(w->run.map, w->group, w->group_ns);
    w->group_ns = 0;
}

/* The leader: time of its group passes. Noted for who cleans up, if the body does not come to its end.
 * relaxed: the same warp reads it */
GPURT_DEV void gpurt_worker_group_on(gpurt_worker_t *w)
{
    w->group_began = gpurt_globaltimer();
    gpurt_store_relaxed_dev_u64(&w->warp->xowes, w->group_began - w->group_ns);
    gpurt_store_relaxed_dev_u32(&w->warp->xgroup, w->group);
}

/* The leader: a body of a group begins. */
GPURT_DEV void gpurt_worker_group_begin(gpurt_worker_t *w)
{
    uint32_t group = gpurt_body_group(w->run.key);

    if (group != w->group)
        gpurt_worker_group_tell(w);
    w->group = group;
    gpurt_worker_group_on(w);
}

/* The leader: it has ended. */
GPURT_DEV void gpurt_worker_group_end(gpurt_worker_t *w)
{
    w->group_ns += gpurt_globaltimer() - w->group_began;
    gpurt_store_relaxed_dev_u32(&w->warp->xgroup, 0); /* relaxed: as where it is set */
}

/* The leader, within a body: whether its group has had its share. */
GPURT_DEV bool gpurt_worker_group_over(gpurt_worker_t *w)
{
    if (!gpurt_body_group(w->run.key))
        return false;
    gpurt_worker_group_end(w);
    gpurt_worker_group_tell(w);
    gpurt_worker_group_on(w);
    return gpurt_group_waits(w->run.map, w->group, w->group_began) != 0;
}

/* The leader adds up what its warp did. */
GPURT_DEV void gpurt_worker_flush(gpurt_worker_t *w)
{
    gpurt_executor_block_t *b = w->run.block;
    uint64_t now = gpurt_clock();

    gpurt_executor_count(&b->xuseful, w->useful);
    gpurt_executor_count(&b->xwaiting, w->waiting);
    gpurt_executor_count(&b->xtotal, now - w->since);
    gpurt_executor_count(&b->xat_once, w->at_once);
    w->since = now;
    w->useful = w->waiting = w->at_once = 0;
    w->bodies = 0;
}

#endif
