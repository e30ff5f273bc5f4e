/* SPDX-License-Identifier: Apache-2.0 */
/* taskbring.h - tasks that come to a block from elsewhere, and those that it gives away: from its places, from deques, from
 * groups whose time has come, and those that slept.
 *
 * Context: device code. Nothing here is a safe point, so a warp that is cancelled has done each
 * step wholly or not at all. */
#ifndef GPURT_TASKBRING_H
#define GPURT_TASKBRING_H

#include <gpurt/impl/task/taskhall.h>

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

#endif
