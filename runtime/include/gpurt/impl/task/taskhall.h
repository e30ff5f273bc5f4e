/* SPDX-License-Identifier: Apache-2.0 */
/* taskhall.h - where tasks that are ready go, between what a block keeps and the device's rings.
 *
 * A task that is ready goes to an idle warp of its block (taskhand.h); else to a pocket of its block,
 * while its warps take it up soon, or no other block is without work, or that finds some in the
 * device's rings; else to the device's ring. So a tree of tasks grows in breadth. While three quarters of all rows are taken, it
 * grows in depth: the oldest of a full pocket go to the block's deque (taskdeque.h). A block gives what it has too much
 * when it looks at the device's words (tasklook.h).
 *
 * Context: device code. Nothing here is a safe point, so a warp that is cancelled has done each
 * step wholly or not at all. A `mask` names the lanes that call together: a whole warp, or the
 * one lane that cleans up behind one. */
#ifndef GPURT_TASKHALL_H
#define GPURT_TASKHALL_H

#include <gpurt/clock.h>
#include <gpurt/hostword.h>

#include <gpurt/impl/task/taskdeque.h>
#include <gpurt/impl/task/taskgroup.h>
#include <gpurt/impl/task/tasklive.h>
#include <gpurt/impl/task/taskplace.h>
#include <gpurt/impl/task/taskseen.h>
#include <gpurt/impl/task/tasktimed.h>

/* The levels for which `some` holds in lane 0 to 7, a bit each. The whole warp. */
GPURT_DEV uint32_t gpurt_levels_of(bool some)
{
    return gpurt_ballot(GPURT_FULL_MASK, gpurt_lane() < GPURT_TASK_LEVELS && some);
}

/* Behind a push into the device's ring, by one lane: who sleeps wakes. A block that falls asleep at
 * the same time can be missed here. It is not at the next look of a block awake, as this one is, and
 * the last to sleep looks at the queues behind a fence. */
GPURT_DEV void gpurt_executor_wake(const gpurt_executor_map_t *m)
{
    /* relaxed: a number */
    if (gpurt_load_relaxed_dev_u32(&m->words->xsleepers)) {
        gpurt_add_relaxed_dev_u32(&m->words->xwake, 1);
        gpurt_host_wake();
    }
}

/* One lane. relaxed: hints; an idle warp looks by itself, too. */
GPURT_DEV void gpurt_hall_news(gpurt_executor_hall_t *hall)
{
    if (gpurt_hands_idle(&hall->hands))
        gpurt_add_relaxed_near_u32(&hall->xnews, 1);
}

/* The lanes of `who` push into the ring of their level, of all. */
GPURT_DEV void gpurt_tasks_share_by(const gpurt_task_run_t *run, uint32_t mask,
                                    uint32_t who, uint32_t level, uint32_t index)
{
    gpurt_taskring_t ring = gpurt_executor_ring(run->map, level);

    gpurt_taskring_push(&ring, mask, who, index);
    gpurt_syncwarp(mask); /* all are pushed */
    if (!gpurt_is_leader(mask))
        return;
    /* relaxed: hints. For what is urgent a look of the block may be too old: who sleeps is asked */
    if (!run->hall || level < gpurt_body_level(run->key) ||
        gpurt_load_relaxed_near_u32(&run->hall->xhungry))
        gpurt_executor_wake(run->map);
    if (run->hall) { /* relaxed: as above */
        gpurt_or_relaxed_near_u32(&run->hall->xlevels, 1u << level);
        gpurt_hall_news(run->hall);
    }
}
GPURT_BY_MASK(void, gpurt_tasks_share,
              (const gpurt_task_run_t *run, uint32_t mask, uint32_t who, uint32_t level,
               uint32_t index),
              run, who, level, index)

/* One lane: some bodies took so long, each. A mean of the last ones, in which some may be lost, and
 * those that are far longer count as twice the mean. */
GPURT_DEV void gpurt_hall_learn(gpurt_executor_hall_t *hall, uint32_t runs, uint64_t took)
{
    uint32_t mean = gpurt_load_relaxed_near_u32(&hall->xtakes); /* relaxed: so */
    uint32_t most = 2 * mean + GPURT_HALL_PULL_CYCLES;
    uint32_t one = took < most ? (uint32_t)took : most;

    runs = runs < 8 ? runs : 8;
    if (mean < UINT32_MAX / 4 || one < mean)
        gpurt_store_relaxed_near_u32(&hall->xtakes,
                                     mean - mean / 8 * runs + one / 8 * runs);
}

/* How many tasks the block's warps take up in GPURT_HALL_AHEAD_CYCLES: none where they are long. */
GPURT_DEV uint32_t gpurt_hall_soon(const gpurt_executor_hall_t *hall)
{
    return gpurt_warps() * GPURT_HALL_AHEAD_CYCLES / /* relaxed: a hint */
           (gpurt_load_relaxed_near_u32(&hall->xtakes) + GPURT_HALL_PULL_CYCLES);
}

/* Whether blocks are without work and find none in the device's rings or this block's deque. */
GPURT_DEV bool gpurt_hall_owes(const gpurt_executor_hall_t *hall)
{
    return gpurt_load_relaxed_near_u32(&hall->xhungry) && /* relaxed: hints */
           !(gpurt_load_relaxed_near_u32(&hall->xlevels) & (GPURT_LEVELS_SCARCE - 1));
}

/* How many tasks of a level the block keeps: all, or those that it takes up soon. */
GPURT_DEV uint32_t gpurt_hall_most(const gpurt_executor_hall_t *hall)
{
    uint32_t most;

    if (!gpurt_hall_owes(hall))
        return hall->map.pocket;
    most = gpurt_popc(gpurt_hands_idle(&hall->hands)) + gpurt_hall_soon(hall);
    return most < hall->map.pocket ? most : hall->map.pocket;
}

/* As gpurt_tasks_share, into a pocket as far as there is room. Where there are other blocks, a task
 * that is more urgent than what its maker runs is not kept. It goes to the device's ring, where any
 * block finds it: one that wakes, or one whose warp looks at the device's words. Returns: how many
 * were put. */
GPURT_DEV uint32_t gpurt_tasks_keep(const gpurt_task_run_t *run, uint32_t mask,
                                    uint32_t who, uint32_t level, uint32_t index,
                                    uint32_t end)
{
    gpurt_executor_hall_t *hall = run->hall;
    uint32_t most, kept;

    if (level < gpurt_body_level(run->key) && gpurt_grid_blocks() > 1)
        return 0;
    most = gpurt_is_leader(mask) ? gpurt_hall_most(hall) : 0;
    kept = gpurt_pocket_put(&hall->ready[level], mask, who, index, most, end);
    if (kept && gpurt_is_leader(mask))
        gpurt_hall_news(hall);
    return kept;
}

/* Whether most rows are taken, as last seen. All lanes of mask. */
GPURT_DEV bool gpurt_hall_is_scarce(const gpurt_executor_hall_t *hall, uint32_t mask)
{
    return gpurt_any(mask, gpurt_load_relaxed_near_u32(&hall->xlevels) &
                               GPURT_LEVELS_SCARCE); /* relaxed: a hint */
}

/* The whole warp: the lanes of `who` have a task each for which the pocket had no room. They become the newest there, and
 * its oldest go to the deque, unless they are for all. Returns: in the lanes of `who` a task for which there is no room
 * there, either, or GPURT_TASK_NONE. */
GPURT_DEVN uint32_t gpurt_tasks_spill(const gpurt_task_run_t *run, uint32_t who,
                                      uint32_t level, uint32_t index)
{
    gpurt_executor_hall_t *hall = run->hall;
    uint32_t full = GPURT_FULL_MASK, older, put;
    bool mine = who >> gpurt_lane() & 1u, first, all = false;

    if (gpurt_lane() == 0)
        all = gpurt_hall_owes(hall) ||
              (level < gpurt_body_level(run->key) && gpurt_grid_blocks() > 1);
    if (gpurt_any(full, all))
        return index;
    older = gpurt_pocket_swap(&hall->ready[level], who, index);
    put = gpurt_deque_put(run, who, level, older, &first);
    if (first) /* in lane 0 alone */
        gpurt_executor_wake(run->map);
    put = who & ~gpurt_lanes_behind(full, who, put);
    return mine && put >> gpurt_lane() & 1u ? GPURT_TASK_NONE : older;
}

/* The leader: idle warps that can be given `count` tasks of that level. None while the block knows of
 * others that come first; the one that looks at the queues comes last. */
GPURT_DEV uint32_t gpurt_hall_takers(const gpurt_executor_hall_t *hall, uint32_t count,
                                     uint32_t level)
{
    uint32_t idle = gpurt_hands_idle(&hall->hands), first = (2u << level) - 1, looks,
             some = 0;

    if (!idle || gpurt_load_relaxed_near_u32(&hall->xlevels) & first) /* relaxed: a hint */
        return 0;
    for (uint32_t i = 0; i < GPURT_TASK_LEVELS; i++) /* all at once, without branches */
        some |= i <= level ? gpurt_pocket_count(&hall->ready[i]) : 0;
    if (some)
        return 0;
    if (gpurt_popc(idle) <= count)
        return idle;
    looks = gpurt_load_relaxed_near_u32(&hall->xlooks); /* relaxed: a hint */
    return looks ? idle & ~(1u << (looks - 1)) : idle;
}

/* As gpurt_tasks_share, to idle warps of the block. Returns: how many were given. */
GPURT_DEV uint32_t gpurt_tasks_hand(const gpurt_task_run_t *run, uint32_t mask,
                                    uint32_t who, uint32_t level, uint32_t index)
{
    uint32_t to = gpurt_is_leader(mask) && who
                      ? gpurt_hall_takers(run->hall, gpurt_popc(who), level)
                      : 0;

    return gpurt_hands_give(&run->hall->hands, mask, who, index, to);
}

/* As gpurt_places_put; who sleeps wakes. */
GPURT_DEVN uint32_t gpurt_tasks_place(const gpurt_task_run_t *run, uint32_t mask,
                                      uint32_t who, uint32_t index)
{
    uint32_t rest = gpurt_places_put(run, mask, who, index);

    if (rest != who && gpurt_is_leader(mask))
        gpurt_executor_wake(run->map);
    return rest;
}

/* The lanes in `who`, of mask, have a task each for which there was no room. It goes to the deque or to all. */
GPURT_DEV void gpurt_tasks_overflow_by(const gpurt_task_run_t *run, uint32_t mask,
                                       uint32_t who, uint32_t level, uint32_t index,
                                       uint32_t end)
{
    if (run->hall && end == GPURT_POCKET_NEWEST && gpurt_hall_is_scarce(run->hall, mask)) {
        index = gpurt_tasks_spill(run, who, level, index);
        who = gpurt_ballot(mask, who >> gpurt_lane() & 1u && index != GPURT_TASK_NONE);
        if (!who)
            return;
    }
    gpurt_tasks_share(run, mask, who, level, index);
}
GPURT_BY_MASK(void, gpurt_tasks_overflow,
              (const gpurt_task_run_t *run, uint32_t mask, uint32_t who, uint32_t level,
               uint32_t index, uint32_t end),
              run, who, level, index, end)

/* The lanes in `who`, of mask, have a task each that is ready. end: of a pocket; as its oldest they come
 * behind the others of their block. */
GPURT_DEV void gpurt_tasks_queue_by(const gpurt_task_run_t *run, uint32_t mask,
                                    uint32_t who, uint32_t index, uint32_t level,
                                    uint32_t end)
{
    bool mine = who >> gpurt_lane() & 1u;

    if (mine)
        gpurt_queued_begin(run->map, index);
    if (GPURT_UNLIKELY(run->map->places)) {
        who = gpurt_tasks_place(run, mask, who, index);
        mine = who >> gpurt_lane() & 1u;
    }
    for (uint32_t left = who; left;) {
        uint32_t now = gpurt_shfl_u32(mask, level, gpurt_leader(left));
        uint32_t same = gpurt_ballot(mask, mine && level == now);

        left &= ~same;
        if (run->hall)
            same = gpurt_lanes_behind(mask, same,
                                      gpurt_tasks_hand(run, mask, same, now, index));
        if (same && run->hall)
            same = gpurt_lanes_behind(mask, same,
                                      gpurt_tasks_keep(run, mask, same, now, index, end));
        if (same)
            gpurt_tasks_overflow(run, mask, same, now, index, end);
    }
}
GPURT_BY_MASK(void, gpurt_tasks_queue,
              (const gpurt_task_run_t *run, uint32_t mask, uint32_t who, uint32_t index,
               uint32_t level, uint32_t end),
              run, who, index, level, end)

/* The same, of tasks that were spawned before. */
GPURT_DEV void gpurt_tasks_put(const gpurt_task_run_t *run, uint32_t mask, uint32_t who,
                               uint32_t index, uint32_t end)
{
    bool mine = who >> gpurt_lane() & 1u;

    gpurt_tasks_queue(run, mask, who, index, mine ? run->map->tasks[index].head.level : 0,
                      end);
}
GPURT_DEV void gpurt_tasks_push(const gpurt_task_run_t *run, uint32_t mask, uint32_t who,
                                uint32_t index)
{
    gpurt_tasks_put(run, mask, who, index, GPURT_POCKET_NEWEST);
}

#endif
