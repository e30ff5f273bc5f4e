/* SPDX-License-Identifier: Apache-2.0 */
/* taskbatch.h - how a warp takes tasks up, runs their bodies one after the other, and ends them.
 *
 * A trip to the L2 takes as long as hundreds of instructions, and a fence longer. A warp takes up to
 * GPURT_TASK_BATCH tasks at once, one in a lane: one trip brings all their rows, one fence and one
 * trip end them. What a batch holds lies in device memory too, for who cleans up behind the warp.
 *
 * Context: device code, whole warps. */
#ifndef GPURT_TASKBATCH_H
#define GPURT_TASKBATCH_H

#include <gpurt/impl/task/taskpull.h>
#include <gpurt/impl/task/taskslice.h>

enum {
    GPURT_WORKER_FLUSH = 64, /* bodies, after which a warp adds up what it did */
    GPURT_WORKER_FLUSH_CYCLES = 1 << 20, /* in bodies, likewise */
    GPURT_WORKER_CUT_CYCLES = 32000,     /* between two looks whether the rest is to wait */
    GPURT_WORKER_CUT_HURRIED = 8000,     /* the same while many blocks are without work */
    GPURT_WORKER_PART_CYCLES = 100000, /* of bodies that are worth giving to who is idle */
    GPURT_WORKER_PAUSES = 4            /* between looks before that */
};

/* The whole warp. Of what it alone was told it tells the others only now: another body that asks would
 * end its run for that, before this warp comes to pull. Returns: each lane's of the most urgent tasks
 * that the block knows of, or of the least urgent at their turn, in the lowest lanes, or
 * GPURT_TASK_NONE. */
GPURT_DEV uint32_t gpurt_worker_pull(gpurt_worker_t *w)
{
    uint32_t told = w->there, index = gpurt_hall_pull(&w->run, &told);

    if (told) /* the leader's; relaxed: a hint */
        gpurt_or_relaxed_near_u32(&w->run.hall->xlevels, told);
    w->there = 0;
    return index;
}

/* ---- running --------------------------------------------------------------------------- */

/* A lane takes its task up: what befell it before this run. Returns: whether it is tainted. */
GPURT_DEV bool gpurt_task_begin(gpurt_worker_t *w, uint32_t index)
{
    gpurt_task_row_t *row = &w->tasks[index];
    gpurt_task_ended_t *e = &w->mine;
    gpurt_task_head_t head = row->head; /* no use of it before the mark is under way, too */
    uint64_t word;
    bool tainted;

    gpurt_soon(&row->args[2]); /* the other half of the row: the body asks for it next */
    word = gpurt_or_relaxed_far_u64(&w->marks[index], GPURT_TASK_BEGUN); /* relaxed: the */
    e->head = head; /* ... queue brought it along */
    e->task = (word & ~(uint64_t)UINT32_MAX) | (index + 1);
    e->status = (gpurt_status_t)GPURT_TASK_PENDING;
    e->value = word & GPURT_TASK_BEGUN; /* of one that is PENDING: it had begun before */
    tainted = (word & GPURT_TASK_TAINTED) != 0;
    if (e->head.flags & GPURT_TASK_OVER) {
        e->status = (gpurt_status_t)(int64_t)row->args[0];
        e->value = row->args[1];
    } else if (!(word & GPURT_TASK_BEGUN) &&
               (word & GPURT_TASK_CANCELLED ||
                (tainted && !(e->head.flags & GPURT_TASK_ANYWAY)))) {
        e->status = GPURT_E_CANCELLED;
    }
    gpurt_queued_end(&w->run, index);
    return tainted;
}

/* The whole warp has taken up a batch while some task is asked to stop. */
GPURT_DEVN void gpurt_batch_stop(gpurt_worker_t *w)
{
    bool stopped =
        w->mine.task && gpurt_task_is_stopped(w->run.map, gpurt_task_index(w->mine.task));

    w->stopped = gpurt_ballot(GPURT_FULL_MASK, stopped);
    if (!stopped || w->mine.status != (gpurt_status_t)GPURT_TASK_PENDING || w->mine.value)
        return; /* it had begun before, or has ended */
    w->mine.status = GPURT_E_CANCELLED;
    gpurt_held_put(&w->warp->held[gpurt_lane()], gpurt_task_index(w->mine.task), &w->mine);
}

/* One that was taken up goes back without a run: it can be cancelled again, unless it had begun
 * before. */
GPURT_DEV void gpurt_task_unbegin(const gpurt_executor_map_t *m, uint32_t index,
                                  uint64_t before)
{
    if (!before) /* relaxed: a mark; the queue brings it along */
        (void)gpurt_and_relaxed_dev_u64(&m->marks[index], ~GPURT_TASK_BEGUN);
}

/* Tasks of a batch whose group has had its share go into the group's ring, as if they had not been
 * taken up. The whole warp. */
GPURT_DEVN void gpurt_batch_hold(gpurt_worker_t *w)
{
    const gpurt_executor_map_t *m = w->run.map;
    uint32_t full = GPURT_FULL_MASK, index = gpurt_task_index(w->mine.task), left;
    uint32_t group = w->mine.task && w->mine.status == (gpurt_status_t)GPURT_TASK_PENDING
                         ? gpurt_group_of(m, w->mine.head.flags)
                         : 0;
    bool over = group && gpurt_group_waits(m, group, gpurt_globaltimer());

    left = gpurt_ballot(full, over);
    if (over)
        gpurt_task_unbegin(m, index, w->mine.value);
    while (left) {
        uint32_t now = gpurt_shfl_u32(full, group, gpurt_leader(left));
        uint32_t same = gpurt_ballot(full, over && group == now);

        left &= ~same;
        gpurt_group_hold(m, now, same, index);
    }
    if (over) {
        w->mine.task = 0;
        gpurt_held_put(&w->warp->held[gpurt_lane()], GPURT_TASK_NONE, &w->mine);
    }
}

/* Nothing is asked about its batch for a while: not for long while many blocks are without work, which
 * wait for what a look gives them. */
GPURT_DEV void gpurt_batch_uncut(gpurt_worker_t *w, uint64_t now)
{
    uint32_t less = GPURT_WORKER_CUT_CYCLES - GPURT_WORKER_CUT_HURRIED;

    w->cut = gpurt_hall_hurries(w->run.hall) ? now - less : now;
}

/* The whole warp takes up those of its lanes. */
GPURT_DEV void gpurt_batch_take(gpurt_worker_t *w, uint32_t index)
{
    bool mine = index != GPURT_TASK_NONE, tainted = false, runs;
    uint32_t full = GPURT_FULL_MASK, count = gpurt_popc(gpurt_ballot(full, mine)), group,
             lost;

    w->mine.task = 0;
    w->next = GPURT_TASK_NONE;
    if (mine) {
        tainted = gpurt_task_begin(w, index);
        gpurt_held_put(&w->warp->held[gpurt_lane()], index, &w->mine);
    }
    w->tainted = gpurt_ballot(full, tainted);
    w->stopped = 0;
    if (GPURT_UNLIKELY(gpurt_any(full, gpurt_load_relaxed_near_u32(&w->run.hall->xstops))))
        gpurt_batch_stop(w); /* relaxed: a hint */
    if (w->run.map->places)
        gpurt_places_count(&w->run, index);
    if (w->run.map->groups)
        gpurt_batch_hold(w);
    runs = w->mine.task && w->mine.status == (gpurt_status_t)GPURT_TASK_PENDING;
    w->left = w->whole = gpurt_ballot(full, runs);
    w->before = gpurt_ballot(full, runs && w->mine.value);
    if (runs) {
        w->mine.status = GPURT_OK;
        w->mine.value = 0;
    }
    group = gpurt_group_of(w->run.map, w->mine.head.flags);
    w->key = gpurt_body_key(&w->mine.head, group, gpurt_lane());
    lost = gpurt_ballot(full, runs && gpurt_task_group(w->mine.head.flags) != group);
    w->taken = gpurt_clock();
    gpurt_batch_uncut(w, w->taken);
    gpurt_slice_due(w);
    if (gpurt_lane() == 0) {
        gpurt_executor_count(&w->run.block->xgroupless, gpurt_popc(lost));
        gpurt_warp_batch(w->warp, count);
        gpurt_warp_next(w->warp, GPURT_TASK_NONE);
    }
}

/* Levels with tasks in the block's pockets, a bit each. The whole warp. */
GPURT_DEV uint32_t gpurt_pockets_levels(const gpurt_executor_hall_t *hall)
{
    return gpurt_levels_of(
        gpurt_pocket_count(&hall->ready[gpurt_lane() % GPURT_TASK_LEVELS]) != 0);
}

/* The whole warp looks at the device's words for its block, if no other warp does. */
GPURT_DEVN void gpurt_batch_look(gpurt_worker_t *w)
{
    uint32_t due = gpurt_lane() == 0 && gpurt_hall_due(w->run.hall);

    if (!gpurt_shfl_u32(GPURT_FULL_MASK, due, 0))
        return;
    gpurt_hall_look(&w->run);
    w->cut = 0; /* what it found is asked for behind the next body */
}

/* Between two bodies of a batch, now and then. The first runs whatever comes: the least urgent have
 * their turn so. The whole warp; each lane reads all, so that none waits for what another says.
 * Returns: whether the rest is to wait, because something is more urgent, or it has waited for long;
 * or because others could run it now, and it is worth the way. */
GPURT_DEVN bool gpurt_batch_cut(gpurt_worker_t *w)
{
    const gpurt_executor_hall_t *hall = w->run.hall;
    uint32_t full = GPURT_FULL_MASK, lane = gpurt_lane();
    uint32_t key = gpurt_shfl_u32(full, w->key, gpurt_ctz(w->left));
    uint32_t level = gpurt_body_level(key);
    /* relaxed: hints */
    uint32_t there = gpurt_load_relaxed_near_u32(&hall->xlevels) | w->there;
    uint32_t here = gpurt_pocket_count(&hall->ready[lane % GPURT_TASK_LEVELS]);
    uint64_t takes = gpurt_load_relaxed_near_u32(&hall->xtakes), now = gpurt_clock();
    uint32_t idle = gpurt_hands_idle(&hall->hands);
    bool owes = gpurt_hall_owes(hall);
    bool urgent = there & ((1u << level) - 1) || (lane < level && here);
    bool parts = (owes || idle) && takes * gpurt_popc(w->left) > GPURT_WORKER_PART_CYCLES;
    bool late = now - w->taken > 2 * GPURT_PULL_CYCLES;

    gpurt_batch_uncut(w, now);
    if (gpurt_any(full, gpurt_hall_is_old(hall)))
        gpurt_batch_look(w);
    return w->left != w->whole && gpurt_any(full, urgent || parts || late);
}

/* The lanes of `who` give their tasks back. */
GPURT_DEVN void gpurt_batch_give(gpurt_worker_t *w, uint32_t who)
{
    w->left &= ~who;
    if (who >> gpurt_lane() & 1u)
        gpurt_task_unbegin(w->run.map, gpurt_task_index(w->mine.task),
                           w->before >> gpurt_lane() & 1u);
    gpurt_tasks_push(&w->run, GPURT_FULL_MASK, who, gpurt_task_index(w->mine.task));
    if (who >> gpurt_lane() & 1u) {
        w->mine.task = 0;
        gpurt_held_put(&w->warp->held[gpurt_lane()], GPURT_TASK_NONE, &w->mine);
    }
}

/* Whether it is time to ask for something, by the clock of any lane: a vote is cheaper than what one
 * lane says. 64 bits, because a clock's half is read the long way. The whole warp. */
GPURT_DEV bool gpurt_worker_is_time(uint64_t since, uint32_t cycles)
{
    return GPURT_UNLIKELY(gpurt_any(GPURT_FULL_MASK, gpurt_clock() - since > cycles));
}

/* The whole warp. From one body to the next it reads little, all of it near and at once, and branches
 * less: each such step costs as much as ten instructions. Returns: the key of a body that is to run; 0:
 * none of its batch is left. */
GPURT_DEV uint32_t gpurt_batch_next(gpurt_worker_t *w)
{
    gpurt_task_run_t *run = &w->run;
    gpurt_task_row_t *tasks = w->tasks;
    gpurt_executor_warp_t *warp = w->warp;
    uint32_t full = GPURT_FULL_MASK, left = w->left, at = gpurt_ctz(left | 1u << 31);
    uint32_t key = gpurt_shfl_u32(full, w->key, at);
    gpurt_task_t task = gpurt_shfl_u64(full, w->mine.task, at);
    bool time = gpurt_worker_is_time(w->cut, GPURT_WORKER_CUT_CYCLES);

    if (!left)
        return 0;
    if (time && gpurt_batch_cut(w)) {
        gpurt_batch_give(w, left);
        return 0;
    }
    w->left = left & (left - 1);
    run->key = key;
    run->task = task;
    run->row = &tasks[gpurt_task_index(task)];
    if (GPURT_UNLIKELY(gpurt_body_group(key))) {
        run->odd = true;
        if (gpurt_lane() == 0)
            gpurt_worker_group_begin(w);
    }
    w->began = w->looked = gpurt_clock();
    if (gpurt_lane() == 0) /* relaxed: the same warp reads it */
        gpurt_store_relaxed_dev_u64(&warp->xat, gpurt_warp_word(w->began, key));
    return key;
}

/* The whole warp closes those of its batch that have ended. */
GPURT_DEV void gpurt_batch_end(gpurt_worker_t *w)
{
    gpurt_worker_kind_tell(w);
    if (w->group_ns) /* in the leader alone */
        gpurt_worker_group_tell(w);
    if (gpurt_lane() == 0 &&
        (w->bodies >= GPURT_WORKER_FLUSH || w->useful >= GPURT_WORKER_FLUSH_CYCLES))
        gpurt_worker_flush(w);
    if (!gpurt_any(GPURT_FULL_MASK, w->mine.task != 0))
        return;
    w->next = gpurt_tasks_close(&w->run, GPURT_FULL_MASK, &w->mine, w->next);
    w->mine.task = 0;
    if (gpurt_lane() == 0) {
        gpurt_warp_batch(w->warp, 0);
        gpurt_warp_next(w->warp, w->next);
    }
}

/* The head of the task that runs. The whole warp. */
GPURT_DEV gpurt_task_head_t gpurt_worker_head(const gpurt_worker_t *w)
{
    uint32_t words[sizeof(gpurt_task_head_t) / 4], at = gpurt_body_begun(w->run.key) - 1;
    gpurt_task_head_t head;

    __builtin_memcpy(words, &w->mine.head, sizeof words);
    for (uint32_t i = 0; i < sizeof words / 4; i++)
        words[i] = gpurt_shfl_u32(GPURT_FULL_MASK, words[i], at);
    __builtin_memcpy(&head, words, sizeof head);
    return head;
}

/* A task that waits for others is seen to at once: what follows it runs next, if that is free. */
GPURT_DEV void gpurt_worker_part(gpurt_worker_t *w)
{
    uint32_t next = gpurt_task_end(&w->run, GPURT_FULL_MASK, gpurt_worker_head(w));

    if (gpurt_lane() + 1 == gpurt_body_begun(w->run.key)) {
        w->mine.task = 0;
        gpurt_held_put(&w->warp->held[gpurt_lane()], GPURT_TASK_NONE, &w->mine);
    }
    if (next == GPURT_TASK_NONE)
        return;
    if (w->next == GPURT_TASK_NONE)
        w->next = next;
    else
        gpurt_tasks_push(&w->run, GPURT_FULL_MASK, 1, next);
    if (gpurt_lane() == 0)
        gpurt_warp_next(w->warp, w->next);
}

/* The body has failed, or has a result, as lane 0 says. The whole warp. */
GPURT_DEV void gpurt_worker_result(gpurt_worker_t *w)
{
    gpurt_status_t status = gpurt_shfl_i32(GPURT_FULL_MASK, w->run.status, 0);
    uint64_t value = gpurt_shfl_u64(GPURT_FULL_MASK, w->run.value, 0);

    if (gpurt_lane() + 1 != gpurt_body_begun(w->run.key))
        return;
    w->mine.status = status;
    w->mine.value = value;
    gpurt_held_put(&w->warp->held[gpurt_lane()], gpurt_task_index(w->mine.task), &w->mine);
}

/* A body has returned, and there is more to say of it than that; or it is the first of its function. A
 * lane that is missing has panicked: the others leave, and the last cleans up. Returns: whether the log is told
 * of it. */
GPURT_DEVN bool gpurt_worker_counts(gpurt_worker_t *w, uint64_t took)
{
    if (!gpurt_task_whole())
        return false;
    gpurt_kind_turn(w);
    gpurt_worker_kind(w, took);
    return gpurt_slice_wanted(w, took);
}

/* The rest of it. */
GPURT_DEVN void gpurt_worker_odd(gpurt_worker_t *w)
{
    gpurt_task_run_t *run = &w->run;

    if (gpurt_lane() == 0 && gpurt_body_group(run->key))
        gpurt_worker_group_end(w);
    if (gpurt_any(GPURT_FULL_MASK, run->odd)) /* it has spawned something more urgent */
        w->cut = 0;
    if (run->parent || run->again)
        gpurt_worker_part(w);
    else
        gpurt_worker_result(w);
    run->status = GPURT_OK;
    run->value = run->until = 0;
    run->parent = run->again = run->vain = run->odd = false;
}

/* The whole warp: the body has returned. */
GPURT_DEV void gpurt_worker_done(gpurt_worker_t *w)
{
    const gpurt_task_run_t *run = &w->run;
    uint64_t took = gpurt_clock() - w->began;
    uint64_t more = run->value | (uint32_t)run->status; /* all reads at once, no branches */

    more |= (uint32_t)run->parent | (uint32_t)run->again | (uint32_t)run->odd;
    more |= (uint32_t)(took > w->over);
    more |= gpurt_body_function(run->key) ^ w->kind;
    if (GPURT_LIKELY(gpurt_ballot(GPURT_FULL_MASK, !more) == GPURT_FULL_MASK)) {
        gpurt_worker_kind(w, took);
    } else {
        if (gpurt_worker_counts(
                w, took)) /* none calls the other: each level costs registers */
            gpurt_slice_tell(w);
        gpurt_worker_odd(w);
    }
}

#endif
