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

#include <gpurt/clock.h>
#include <gpurt/service.h>

#include <gpurt/impl/taskcore.h>

enum {
    GPURT_WORKER_FLUSH = 64, /* bodies, after which a warp adds up what it did */
    GPURT_WORKER_FLUSH_CYCLES = 1 << 20, /* in bodies, likewise */
    GPURT_WORKER_BATCH_CYCLES = 450000,  /* that bodies of a batch take together, or so */
    GPURT_WORKER_CUT_CYCLES = 8000,      /* between two looks whether the rest is to wait */
    GPURT_WORKER_PART_CYCLES = 100000, /* of bodies that are worth giving to who is idle */
    GPURT_WORKER_PAUSES = 4            /* between looks before that */
};

/* Owner: each lane. Fields are the same in all lanes of the warp, but for the leader's. */
typedef struct gpurt_worker {
    gpurt_task_run_t run;
    gpurt_service_turn_t turn;
    gpurt_executor_warp_t *warp;
    gpurt_task_row_t *tasks; /* the map's, which lies farther away */
    uint64_t *marks;         /* likewise */
    uint32_t next;           /* a task to run at once, or GPURT_TASK_NONE */
    uint32_t left;    /* of the batch: lanes whose bodies are to begin still, a bit each */
    uint32_t whole;   /* the same, when it was taken up */
    uint32_t tainted; /* the same of tasks that are */
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
    bool asks;        /* it takes orders of the host's before it pulls */
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

/* The leader: a body of a group begins. */
GPURT_DEV void gpurt_worker_group_begin(gpurt_worker_t *w)
{
    uint32_t group = gpurt_body_group(w->run.key);

    if (group != w->group)
        gpurt_worker_group_tell(w);
    w->group = group;
    w->group_began = gpurt_globaltimer();
}

/* The leader: it has ended. */
GPURT_DEV void gpurt_worker_group_end(gpurt_worker_t *w)
{
    w->group_ns += gpurt_globaltimer() - w->group_began;
}

/* The leader, within a body: whether its group has had its share. */
GPURT_DEV bool gpurt_worker_group_over(gpurt_worker_t *w)
{
    if (!gpurt_body_group(w->run.key))
        return false;
    gpurt_worker_group_end(w);
    gpurt_worker_group_tell(w);
    w->group_began = gpurt_globaltimer();
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

/* ---- pulling --------------------------------------------------------------------------- */

/* How many tasks a warp takes up at a time, of `count`: all while the device's rings have more for
 * the others of its block, else its part, and half of that while blocks are without work. They take
 * GPURT_WORKER_BATCH_CYCLES at most. What becomes ready meanwhile would wait behind them in the
 * queue as well; what is more urgent does not wait. */
GPURT_DEV uint32_t gpurt_hall_batch(const gpurt_executor_hall_t *hall, uint32_t count)
{
    /* relaxed: hints */
    bool more = gpurt_load_relaxed_near_u32(&hall->xlevels) != 0;
    uint32_t part = more                    ? count
                    : gpurt_hall_owes(hall) ? count / (2 * gpurt_warps())
                                            : count / gpurt_warps();
    uint32_t most =
        GPURT_WORKER_BATCH_CYCLES / (gpurt_load_relaxed_near_u32(&hall->xtakes) + 1);

    most = most < GPURT_TASK_BATCH ? most : (uint32_t)GPURT_TASK_BATCH;
    most = most < part ? most : part;
    return most ? most : 1;
}

/* From the ring of a level, for the lanes in `who` at most: a batch for the caller, others for the
 * pocket. One warp of a block at a time; the others find what it brings in the pocket. The whole
 * warp. Returns: each lane's. */
GPURT_DEVN uint32_t gpurt_hall_draw(const gpurt_task_run_t *run, uint32_t level,
                                    uint32_t who)
{
    gpurt_taskring_t ring = gpurt_executor_ring(run->map, level);
    gpurt_executor_hall_t *hall = run->hall;
    uint32_t lane = gpurt_lane(), full = GPURT_FULL_MASK, index = GPURT_TASK_NONE, more,
             drawn;
    /* relaxed: a flag; tasks come by ring and pocket */
    bool mine = lane == 0 && !gpurt_xchg_relaxed_near_u32(&hall->xdraws, 1);

    if (!gpurt_any(full, mine)) {
        if (lane == 0) /* relaxed: a hint, for who comes next */
            gpurt_or_relaxed_near_u32(&hall->xlevels, 1u << level);
        return GPURT_TASK_NONE;
    }
    drawn = gpurt_taskring_pop(&ring, full, who, gpurt_hall_soon(hall),
                               2 * gpurt_grid_blocks(), &index);
    if (!drawn && lane == 0) /* relaxed: a hint */
        gpurt_and_relaxed_near_u32(&hall->xlevels, ~(1u << level));
    mine = lane < gpurt_shfl_u32(full, gpurt_hall_batch(hall, drawn), 0);
    more = gpurt_ballot(full, !mine && index != GPURT_TASK_NONE);
    if (more) {
        more =
            gpurt_lanes_behind(full, more,
                               gpurt_pocket_put(&hall->ready[level], full, more, index,
                                                GPURT_POCKET_NUMBERS, GPURT_POCKET_OLDEST));
        if (more)
            gpurt_tasks_share(run, full, more, level, index);
    }
    if (lane == 0) { /* relaxed: as above */
        gpurt_store_relaxed_near_u32(&hall->xdraws, 0);
        gpurt_hall_news(hall);
    }
    return mine ? index : GPURT_TASK_NONE;
}

/* Whether those that wait for longest have a turn, once in GPURT_HALL_FAIR pulls of a block: in the
 * ring, if its most urgent are of the same level as the pocket's, else at the pocket's other end. Else
 * tasks that fill the pockets anew keep them waiting for ever. The whole warp. */
GPURT_DEV bool gpurt_hall_turn(gpurt_executor_hall_t *hall)
{
    uint32_t turn = 0;

    if (gpurt_lane() == 0) { /* relaxed: of two warps at once one may not count */
        turn = gpurt_load_relaxed_near_u32(&hall->xturns) + 1;
        gpurt_store_relaxed_near_u32(&hall->xturns, turn);
    }
    return gpurt_shfl_u32(GPURT_FULL_MASK, turn, 0) % GPURT_HALL_FAIR == 0;
}

/* The lanes for which a warp draws from the device's rings before it looks into the pockets: all for
 * something more urgent, a batch where it is the ring's turn, or none. The whole warp. */
GPURT_DEV uint32_t gpurt_hall_wants(uint32_t here, uint32_t there, bool turn)
{
    if (!there)
        return 0;
    if (!here || gpurt_ctz(there) < gpurt_ctz(here))
        return GPURT_FULL_MASK;
    return gpurt_ctz(there) == gpurt_ctz(here) && turn ? (1u << GPURT_TASK_BATCH) - 1 : 0;
}

/* Whether the least urgent have a turn, once in the pulls of a block that its executor was told. The
 * whole warp. */
GPURT_DEV bool gpurt_hall_last(const gpurt_task_run_t *run)
{
    uint32_t *pulls = &run->hall->xpulls, pull = 1;

    if (!run->map->fair_pulls)
        return false;
    if (gpurt_lane() == 0) { /* relaxed: of two warps at once one may not count */
        pull = gpurt_load_relaxed_near_u32(pulls) + 1;
        gpurt_store_relaxed_near_u32(pulls, pull);
    }
    return gpurt_shfl_u32(GPURT_FULL_MASK, pull, 0) % run->map->fair_pulls == 0;
}

/* The whole warp. told: levels of the device's rings that only this warp knows of; of these, those that
 * it tried are left out. Returns: as gpurt_worker_pull. */
GPURT_DEV uint32_t gpurt_hall_pull(const gpurt_task_run_t *run, uint32_t *told)
{
    gpurt_executor_hall_t *hall = run->hall;
    uint32_t full = GPURT_FULL_MASK, lane = gpurt_lane(), index = GPURT_TASK_NONE;
    bool last = gpurt_hall_last(run), turn = gpurt_hall_turn(hall);

    for (;;) {
        uint32_t count = gpurt_pocket_count(&hall->ready[lane % GPURT_TASK_LEVELS]);
        uint32_t here = gpurt_levels_of(count != 0), level, who;
        /* relaxed: hints */
        uint32_t there = gpurt_load_relaxed_near_u32(&hall->xlevels) | *told;

        there = gpurt_shfl_u32(full, there, 0);
        if (!here && !there)
            return GPURT_TASK_NONE;
        if (last) {
            level = 1u << (31 - gpurt_clz(here | there));
            here &= level;
            there &= level;
        }
        who = gpurt_hall_wants(here, there, turn);
        if (who) {
            index = gpurt_hall_draw(run, gpurt_ctz(there), who);
            *told &= ~(1u << gpurt_ctz(there)); /* what is left, the draw has told */
            if (gpurt_any(full, index != GPURT_TASK_NONE) || !here)
                return index;
        }
        level = gpurt_ctz(here);
        count = gpurt_shfl_u32(full, gpurt_hall_batch(hall, count), level);
        if (gpurt_pocket_get(&hall->ready[level], full, (1u << count) - 1, &index,
                             turn ? GPURT_POCKET_OLDEST : GPURT_POCKET_NEWEST))
            return index;
    }
}

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

/* Nothing is asked about its batch for a while: half as long while blocks are without work, which wait
 * for what a look gives them. */
GPURT_DEV void gpurt_batch_uncut(gpurt_worker_t *w, uint64_t now)
{
    uint32_t hungry =
        gpurt_load_relaxed_near_u32(&w->run.hall->xhungry); /* relaxed: a hint */

    w->cut = hungry ? now - GPURT_WORKER_CUT_CYCLES / 2 : now;
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
    bool late = now - w->taken > 2 * GPURT_WORKER_BATCH_CYCLES;

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
 * lane that is missing has panicked: the others leave, and the last cleans up. */
GPURT_DEVN void gpurt_worker_odd(gpurt_worker_t *w, uint64_t took)
{
    gpurt_task_run_t *run = &w->run;

    if (!gpurt_task_whole())
        return;
    if (gpurt_body_function(run->key) != w->kind)
        gpurt_worker_kind_tell(w);
    gpurt_worker_kind(w, took);
    if (gpurt_lane() == 0 && gpurt_body_group(run->key))
        gpurt_worker_group_end(w);
    if (gpurt_any(GPURT_FULL_MASK, run->odd)) /* it has spawned something more urgent */
        w->cut = 0;
    if (run->parent || run->again)
        gpurt_worker_part(w);
    else
        gpurt_worker_result(w);
    run->status = GPURT_OK;
    run->value = 0;
    run->parent = run->again = run->odd = false;
}

/* The whole warp: the body has returned. */
GPURT_DEV void gpurt_worker_done(gpurt_worker_t *w)
{
    const gpurt_task_run_t *run = &w->run;
    uint64_t took = gpurt_clock() - w->began;
    uint64_t more = run->value | (uint32_t)run->status; /* all reads at once, no branches */

    more |= (uint32_t)run->parent | (uint32_t)run->again | (uint32_t)run->odd;
    more |= gpurt_body_function(run->key) ^ w->kind;
    if (GPURT_LIKELY(gpurt_ballot(GPURT_FULL_MASK, !more) == GPURT_FULL_MASK))
        gpurt_worker_kind(w, took);
    else
        gpurt_worker_odd(w, took);
}

#endif
