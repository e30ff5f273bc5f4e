/* SPDX-License-Identifier: Apache-2.0 */
/* taskhall.h - where tasks that are ready go, between what a block keeps and the device's rings.
 *
 * A task that is ready goes to an idle warp of its block (taskhand.h); else to a pocket of its block,
 * while its warps take it up soon, or no other block is without work, or that finds some in the
 * device's rings; else to the device's ring. So a tree of tasks grows in breadth. While three quarters of all rows are taken, it
 * grows in depth: the oldest of a full pocket go to the block's deque (taskdeque.h). A block looks at the device's words
 * once in GPURT_HALL_LOOK_CYCLES, and then gives to blocks without work what it has too much.
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

/* Up to half of what idle warps of the block cannot take goes to blocks without work. The whole
 * warp. */
GPURT_DEVN void gpurt_hall_give(const gpurt_task_run_t *run)
{
    gpurt_executor_hall_t *hall = run->hall;
    uint32_t lane = gpurt_lane(), full = GPURT_FULL_MASK, level = lane % GPURT_TASK_LEVELS;
    /* relaxed: hints */
    uint32_t idle = gpurt_popc(gpurt_hands_idle(&hall->hands));
    uint32_t many = gpurt_pocket_count(&hall->ready[level]), index = GPURT_TASK_NONE, some;

    many = many > idle ? (many - idle + 1) / 2 : 0;
    some = gpurt_levels_of(many != 0);
    if (!some)
        return;
    level = gpurt_leader(some);
    many = gpurt_shfl_u32(full, many, level);
    many = many < GPURT_WARP_SIZE ? (1u << many) - 1 : full;
    gpurt_pocket_get(&hall->ready[level], full, many, &index, GPURT_POCKET_OLDEST);
    many = gpurt_ballot(full, index != GPURT_TASK_NONE);
    if (many)
        gpurt_tasks_share(run, full, many, level, index);
}

/* Tasks that waited for their group's time are ready again, as far as that has come. rings: those
 * with tasks, a bit each. The whole warp. */
GPURT_DEVN void gpurt_groups_bring(const gpurt_task_run_t *run, uint32_t rings)
{
    const gpurt_executor_map_t *m = run->map;
    uint32_t full = GPURT_FULL_MASK, lane = gpurt_lane();
    bool due = rings >> lane & 1u &&
               !gpurt_group_waits(m, lane + 1 - GPURT_RING_GROUPS, gpurt_globaltimer());

    for (rings = gpurt_ballot(full, due); rings; rings &= rings - 1) {
        gpurt_taskring_t ring =
            gpurt_group_ring(m, gpurt_ctz(rings) + 1 - GPURT_RING_GROUPS);
        uint32_t index = GPURT_TASK_NONE, some;

        gpurt_taskring_pop(&ring, full, full, 1, 2 * gpurt_grid_blocks(), &index);
        some = gpurt_ballot(full, index != GPURT_TASK_NONE);
        if (some)
            gpurt_tasks_push(run, full, some, index);
    }
}

/* The whole warp. The lanes' tasks of `who`, all of one level, are the block's now. What has no room goes to all. */
GPURT_DEVN void gpurt_hall_keep(const gpurt_task_run_t *run, uint32_t who, uint32_t level,
                                uint32_t index, uint32_t end)
{
    gpurt_executor_hall_t *hall = run->hall;
    uint32_t full = GPURT_FULL_MASK;

    who = gpurt_lanes_behind(
        full, who,
        gpurt_pocket_put(&hall->ready[level], full, who, index, GPURT_POCKET_NUMBERS, end));
    if (who)
        gpurt_tasks_share(run, full, who, level, index);
    if (gpurt_lane() == 0)
        gpurt_hall_news(hall);
}

/* The whole warp. Its lanes' tasks, as far as they have some, are the block's now: it runs them behind what it
 * has. */
GPURT_DEV void gpurt_places_keep(const gpurt_task_run_t *run, uint32_t index)
{
    bool mine = index != GPURT_TASK_NONE;
    uint32_t full = GPURT_FULL_MASK, level = mine ? run->map->tasks[index].head.level : 0;

    for (uint32_t left = gpurt_ballot(full, mine); left;) {
        uint32_t now = gpurt_shfl_u32(full, level, gpurt_leader(left));
        uint32_t same = gpurt_ballot(full, mine && level == now);

        left &= ~same;
        gpurt_hall_keep(run, same, now, index, GPURT_POCKET_OLDEST);
    }
}

/* Tasks of a deque, which are of one level, are the block's now. The whole warp. */
GPURT_DEV void gpurt_deque_keep(const gpurt_task_run_t *run, uint32_t index, uint32_t end)
{
    uint32_t full = GPURT_FULL_MASK, who = gpurt_ballot(full, index != GPURT_TASK_NONE);
    uint32_t level = index != GPURT_TASK_NONE ? run->map->tasks[index].head.level : 0;

    if (who)
        gpurt_hall_keep(run, who, gpurt_shfl_u32(full, level, gpurt_leader(who)), index,
                        end);
}

/* One lane: whether the block keeps a task that is ready. */
GPURT_DEV bool gpurt_hall_has(const gpurt_executor_hall_t *hall)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < GPURT_TASK_LEVELS; i++)
        count |= gpurt_pocket_count(&hall->ready[i]);
    return count || gpurt_deque_has(hall);
}

/* The whole warp, of a block that has nothing: some of what the fullest deque has. */
GPURT_DEVN void gpurt_deques_steal(const gpurt_task_run_t *run)
{
    uint32_t block = gpurt_deques_fullest(run->map), index, taken;

    if (block == UINT32_MAX)
        return;
    index = gpurt_deque_take(run, block);
    taken = gpurt_popc(gpurt_ballot(GPURT_FULL_MASK, index != GPURT_TASK_NONE));
    if (gpurt_lane() == 0 && block != gpurt_block_rank())
        gpurt_executor_count(&run->block->xstolen, taken);
    gpurt_deque_keep(run, index, GPURT_POCKET_OLDEST);
}

/* How many tasks of its places a block brings at a time: those that it takes up soon, and one a warp; one alone
 * while it keeps many. The whole warp. */
GPURT_DEV uint32_t gpurt_places_most(const gpurt_executor_hall_t *hall)
{
    uint32_t lane = gpurt_lane(), most = gpurt_hall_soon(hall) + gpurt_warps();
    uint32_t kept = gpurt_pocket_count(&hall->ready[lane % GPURT_TASK_LEVELS]);

    most = most < GPURT_WARP_SIZE ? most : (uint32_t)GPURT_WARP_SIZE;
    most = gpurt_shfl_u32(GPURT_FULL_MASK, most, 0);
    return gpurt_any(GPURT_FULL_MASK, kept > GPURT_POCKET_NUMBERS / 2) ? 1 : most;
}

/* Tasks of its places, to the block; or some of another's. The whole warp. */
GPURT_DEVN void gpurt_places_bring(const gpurt_task_run_t *run)
{
    const gpurt_executor_map_t *m = run->map;
    uint32_t full = GPURT_FULL_MASK, me = gpurt_block_rank(), blocks = gpurt_grid_blocks();
    /* relaxed: a flag within the block */
    bool strays = gpurt_any(full, gpurt_lane() == 0 && gpurt_xchg_relaxed_near_u32(
                                                           &run->hall->xstrays, 0) != 0);
    uint32_t most = strays ? (uint32_t)GPURT_PLACE_STRAYS : gpurt_places_most(run->hall);
    uint32_t first = strays ? 0 : me, step = strays ? 1 : blocks;

    for (; first < m->places; first += step * GPURT_WARP_SIZE) {
        uint32_t place = first + gpurt_lane() * step, some;

        some = gpurt_ballot(/* relaxed: a hint */
                            full, place < m->places &&
                                      gpurt_taskring_count(gpurt_load_relaxed_dev_u32(
                                          &m->homes[place].xcredits)));
        for (; some; some &= some - 1) {
            gpurt_places_keep(run,
                              gpurt_place_take(run, first + gpurt_ctz(some) * step, most));
            if (strays)
                return;
        }
    }
}

/* Whether it, or one that it is a child of, however far up, is asked to stop. Those live as long as it does, and the
 * queues have brought their heads along. relaxed: marks */
GPURT_DEVN bool gpurt_task_is_stopped(const gpurt_executor_map_t *m, uint32_t index)
{
    uint32_t at = index + 1;

    for (; at; at = m->tasks[at - 1].head.parent)
        if (gpurt_load_relaxed_dev_u64(&m->marks[at - 1]) & GPURT_TASK_STOP)
            return true;
    return false;
}

/* A task's time has come. Returns: whether it is ready; else its children live, and the last one makes it
 * so. */
GPURT_DEV bool gpurt_timed_ready(const gpurt_executor_map_t *m, uint32_t index)
{
    uint32_t *needs = &m->tasks[index].xneeds;

    return gpurt_load_relaxed_dev_u32(needs) == 0 || /* relaxed: the ring has brought it */
           gpurt_sub_acq_rel_dev_u32(needs, 1) == 1; /* TN1.acq TN1.rel */
}

/* Whether one that sleeps until then is to wake, since it is asked to stop and does not know. */
GPURT_DEV bool gpurt_timed_wakes(const gpurt_task_run_t *run, uint32_t index,
                                 uint64_t until)
{
    return gpurt_load_relaxed_near_u32(&run->hall->xstops) && /* relaxed: a hint */
           !gpurt_time_told(until) && gpurt_task_is_stopped(run->map, index);
}

/* Up to `count` tasks that wait for a time: those whose time has come become ready, the others go back.
 * Returns: in each lane the earliest time of the others, and of `due`; in *back, how many these are, too.
 * The whole warp. */
GPURT_DEV uint64_t gpurt_timed_sift(const gpurt_task_run_t *run, uint32_t count,
                                    uint64_t due, uint32_t *back)
{
    const gpurt_executor_map_t *m = run->map;
    gpurt_taskring_t ring = gpurt_timed_ring(m);
    uint32_t full = GPURT_FULL_MASK, index = GPURT_TASK_NONE, ready, later;
    uint64_t mine = GPURT_DUE_NEVER, now = gpurt_globaltimer();

    count = count < GPURT_WARP_SIZE ? (1u << count) - 1 : full;
    gpurt_taskring_pop(&ring, full, count, GPURT_WARP_SIZE, 1, &index);
    if (index != GPURT_TASK_NONE) /* relaxed: the ring has brought it */
        mine = gpurt_load_relaxed_dev_u64(&m->due[index]);
    if (index != GPURT_TASK_NONE && mine > now && gpurt_timed_wakes(run, index, mine))
        mine = now;
    ready = gpurt_ballot(full, index != GPURT_TASK_NONE && mine <= now &&
                                   gpurt_timed_ready(m, index));
    later = gpurt_ballot(full, index != GPURT_TASK_NONE && mine > now);
    if (later)
        gpurt_taskring_push(&ring, full, later, index);
    *back += gpurt_popc(later);
    mine = gpurt_reduce_min_u64(full, mine > now ? mine : GPURT_DUE_NEVER);
    if (ready) /* last: a call, and what lives across it costs the kernel registers */
        gpurt_tasks_push(run, full, ready, index);
    return mine < due ? mine : due;
}

/* When they are gone through again, if not for a time that comes before. */
GPURT_DEV uint64_t gpurt_timed_again(const gpurt_executor_hall_t *hall, uint64_t claim,
                                     uint64_t due)
{
    uint64_t soon = claim - GPURT_TIMED_CLAIM_NS + GPURT_TIMED_STOPS_NS;

    return gpurt_load_relaxed_near_u32(&hall->xstops) && soon < due
               ? soon
               : due; /* relaxed: a hint */
}

/* Tasks whose time has come are ready again. The whole warp. */
GPURT_DEVN void gpurt_timed_bring(const gpurt_task_run_t *run)
{
    const gpurt_executor_map_t *m = run->map;
    uint32_t full = GPURT_FULL_MASK, left = 0, back = 0;
    uint64_t due = GPURT_DUE_NEVER, claim = 0;

    if (gpurt_lane() == 0 && (claim = gpurt_timed_claim(m)) != 0) {
        left = gpurt_timed_count(m); /* relaxed, both: the claim has brought it along */
        gpurt_store_relaxed_near_u32(&run->hall->xstops,
                                     gpurt_load_relaxed_dev_u32(&m->words->xstops));
    }
    for (left = gpurt_shfl_u32(full, left, 0); left;
         left = left > GPURT_WARP_SIZE ? left - GPURT_WARP_SIZE : 0)
        due = gpurt_timed_sift(run, left, due, &back);
    if (claim) /* in lane 0 alone */
        gpurt_timed_done(m, claim, gpurt_timed_again(run->hall, claim, due), back);
}

/* Whether so many blocks are without work that the others hurry to give. The looks that all make anyway
 * feed a few of them: under load some warp of some block is always idle. */
GPURT_DEV bool gpurt_hall_hurries(const gpurt_executor_hall_t *hall)
{
    return gpurt_load_relaxed_near_u32(&hall->xhungry) * GPURT_HALL_MANY > /* relaxed: */
           gpurt_grid_blocks();                                            /* a hint */
}

/* Whether the device's words were not looked at for long. A look costs a warp some 2,000 cycles, and tells
 * little new while few blocks are without work. */
GPURT_DEV bool gpurt_hall_is_old(const gpurt_executor_hall_t *hall)
{
    uint32_t looked = gpurt_load_relaxed_near_u32(&hall->xlooked); /* relaxed: a time */
    uint32_t pause =
        gpurt_hall_hurries(hall) ? GPURT_HALL_LOOK_CYCLES : GPURT_HALL_CALM_CYCLES;

    return (uint32_t)gpurt_clock() - looked > pause;
}

/* One lane. The same: then the caller looks, and no other. */
GPURT_DEV bool gpurt_hall_due(gpurt_executor_hall_t *hall)
{
    uint32_t looked = gpurt_load_relaxed_near_u32(&hall->xlooked); /* relaxed: a time */

    return gpurt_hall_is_old(hall) &&
           gpurt_cas_relaxed_near_u32(&hall->xlooked, &looked, (uint32_t)gpurt_clock());
}

/* One lane: whoever asks next looks. */
GPURT_DEV void gpurt_hall_hurry(gpurt_executor_hall_t *hall)
{
    gpurt_store_relaxed_near_u32(&hall->xlooked, /* relaxed: a time */
                                 (uint32_t)gpurt_clock() - GPURT_HALL_CALM_CYCLES - 1);
}

/* The whole warp: what the block keeps, and bodies by kind, to those who count. */
GPURT_DEVN void gpurt_hall_tell(const gpurt_task_run_t *run)
{
    uint64_t kept[2] = {0, 0};

    if (gpurt_lane() == 0) {
        for (uint32_t i = 0; i < GPURT_TASK_LEVELS; i++)
            kept[i / 4] |= (uint64_t)gpurt_pocket_count(&run->hall->ready[i]) << i % 4 * 16;
        for (uint32_t i = 0; i < 2; i++) /* relaxed: numbers */
            gpurt_store_relaxed_dev_u64(&run->block->xkept[i], kept[i]);
        gpurt_store_relaxed_near_u32(&run->hall->xtold, /* relaxed: a time */
                                     (uint32_t)gpurt_clock());
    }
    gpurt_kinds_tell(run, run->hall, gpurt_lane(), GPURT_WARP_SIZE);
}

/* Whether it is long since the block told. Counts are looked at twice a second. */
GPURT_DEV bool gpurt_hall_owes_counts(const gpurt_executor_hall_t *hall)
{
    return (uint32_t)gpurt_clock() - gpurt_load_relaxed_near_u32(&hall->xtold) >
           GPURT_HALL_TELL_CYCLES; /* relaxed: a time */
}

/* The whole warp looks at the device's words for its block. */
GPURT_DEVN void gpurt_hall_look(const gpurt_task_run_t *run)
{
    const gpurt_executor_words_t *words = run->map->words;
    gpurt_executor_hall_t *hall = run->hall;
    uint32_t full = GPURT_FULL_MASK, lane = gpurt_lane(), sleepers, hungry, stops;
    /* relaxed: hints, and numbers. One line: a word a lane */
    uint32_t word = gpurt_load_relaxed_dev_u32(&words->xcredits[0] + lane);
    uint32_t rings = gpurt_ballot(full, lane < GPURT_RINGS && gpurt_taskring_count(word));
    uint32_t levels = rings & GPURT_LEVELS_RINGS, timed, placed, deques;
    bool scarce;

    timed = rings >> GPURT_RING_TIMED & 1u;
    rings &= (1u << GPURT_RING_TIMED) - (1u << GPURT_RING_GROUPS);
    sleepers = gpurt_shfl_u32(full, word, GPURT_WORD_SLEEPERS);
    hungry = gpurt_shfl_u32(full, word, GPURT_WORD_HUNGRY) + sleepers;
    stops = gpurt_shfl_u32(full, word, GPURT_WORD_STOPS);
    placed = gpurt_shfl_u32(full, word, GPURT_WORD_PLACED);
    deques = gpurt_shfl_u32(full, word, GPURT_WORD_DEQUES);
    scarce = gpurt_taskring_count(gpurt_shfl_u32(full, word, GPURT_RING_FREE_TASKS)) <
             run->map->scarce;
    word = gpurt_shfl_u32(full, word, GPURT_WORD_COMMAND);
    if (lane == 0) {
        gpurt_store_relaxed_near_u32(&hall->xstops, stops);
        hungry -= gpurt_load_relaxed_near_u32(&hall->xlooks) != 0; /* its own */
        gpurt_store_relaxed_near_u32(&hall->xlevels,
                                     levels | gpurt_deque_has(hall) |
                                         (scarce ? GPURT_LEVELS_SCARCE : 0));
        gpurt_store_relaxed_near_u32(&hall->xhungry, hungry);
        gpurt_store_relaxed_near_u32(&hall->xcommand, word);
        if (gpurt_load_relaxed_near_u32(&hall->xended) >= GPURT_HALL_ENDED)
            gpurt_hall_end(run->map, hall);
        if ((levels || placed || deques) && sleepers)
            gpurt_executor_wake(run->map);
    }
    if (gpurt_any(full, gpurt_hall_owes_counts(hall)))
        gpurt_hall_tell(run);
    if (run->map->groups && rings)
        gpurt_groups_bring(run, rings);
    if (timed)
        gpurt_timed_bring(run);
    if (placed)
        gpurt_places_bring(run);
    if (!levels && deques) {
        if (!gpurt_any(full, lane == 0 && gpurt_hall_has(hall)))
            gpurt_deques_steal(run);
    } else if (!levels && gpurt_shfl_u32(full, hungry, 0)) {
        gpurt_hall_give(run);
    }
}

/* One lane, when no warp of the block runs tasks any more: all that it keeps, to the others. */
GPURT_DEVN void gpurt_hall_empty(const gpurt_task_run_t *run, gpurt_executor_hall_t *hall)
{
    const gpurt_executor_map_t *m = run->map;
    uint32_t me = 1u << gpurt_lane(), index = GPURT_TASK_NONE;
    uint32_t posted = gpurt_xchg_acquire_near_u32(&hall->xposted, 0); /* TB1.acq */

    for (uint32_t i = 0; i < GPURT_TASK_LEVELS; i++)
        while (gpurt_pocket_get(&hall->ready[i], me, me, &index, GPURT_POCKET_OLDEST))
            gpurt_tasks_share(run, me, me, i, index);
    if (posted && posted != GPURT_GATHER_TAKEN)
        gpurt_tasks_share(run, me, me, m->tasks[posted - 1].head.level, posted - 1);
    while (gpurt_pocket_get(&hall->spare, me, me, &index, GPURT_POCKET_OLDEST)) {
        gpurt_taskring_t ring = gpurt_executor_ring(m, GPURT_RING_FREE_TASKS);

        gpurt_taskring_push(&ring, me, me, index);
    }
    for (uint32_t i = 0; i < 2; i++) /* relaxed: numbers */
        gpurt_store_relaxed_dev_u64(&run->block->xkept[i], 0);
    gpurt_kinds_tell(run, hall, 0, 1);
    gpurt_hall_end(m, hall);
}

#endif
