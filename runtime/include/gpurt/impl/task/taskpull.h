/* SPDX-License-Identifier: Apache-2.0 */
/* taskpull.h - which ready tasks a warp takes up next, and how many: of its block's pockets or the
 * device's rings, the most urgent first, and now and then those that wait for longest.
 *
 * Context: device code, whole warps. */
#ifndef GPURT_TASKPULL_H
#define GPURT_TASKPULL_H

#include <gpurt/impl/task/taskcore.h>

enum {
    GPURT_PULL_CYCLES = 450000 /* that bodies of a batch take together, or so */
};

/* How many tasks a warp takes up at a time, of `count`: all while the device's rings or the block's deque have more for
 * the others of its block, else its part, and half of that while blocks are without work. They take
 * GPURT_PULL_CYCLES at most. What becomes ready meanwhile would wait behind them in the
 * queue as well; what is more urgent does not wait. */
GPURT_DEV uint32_t gpurt_hall_batch(const gpurt_executor_hall_t *hall, uint32_t count)
{
    /* relaxed: hints */
    bool more =
        (gpurt_load_relaxed_near_u32(&hall->xlevels) & (GPURT_LEVELS_SCARCE - 1)) != 0;
    uint32_t part = more                    ? count
                    : gpurt_hall_owes(hall) ? count / (2 * gpurt_warps())
                                            : count / gpurt_warps();
    uint32_t most = GPURT_PULL_CYCLES / (gpurt_load_relaxed_near_u32(&hall->xtakes) + 1);

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

/* Who has a turn. */
enum {
    GPURT_PULL_NEWEST,
    GPURT_PULL_OLDEST, /* the oldest of the pocket */
    GPURT_PULL_RING /* the ring, if its most urgent are of the same level as the pocket's; else as before */
};

/* Of the so-manieth turn of those that wait for longest. */
GPURT_DEV uint32_t gpurt_pull_turn(uint32_t number)
{
    return number % 2 ? GPURT_PULL_RING : GPURT_PULL_OLDEST;
}

/* Those that wait for longest have a turn once in GPURT_HALL_FAIR pulls of a block, at the pocket's other end and in the
 * ring by turns. Else tasks that fill the pockets anew, or fill the ring, keep them waiting for ever. The whole warp. */
GPURT_DEV uint32_t gpurt_hall_turn(gpurt_executor_hall_t *hall)
{
    uint32_t turn = 0;

    if (gpurt_lane() == 0) { /* relaxed: of two warps at once one may not count */
        turn = gpurt_load_relaxed_near_u32(&hall->xturns) + 1;
        gpurt_store_relaxed_near_u32(&hall->xturns, turn);
    }
    turn = gpurt_shfl_u32(GPURT_FULL_MASK, turn, 0);
    if (turn % GPURT_HALL_FAIR)
        return GPURT_PULL_NEWEST;
    return gpurt_pull_turn(turn / GPURT_HALL_FAIR);
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

enum {
    GPURT_SERVED = 1,     /* the pocket has more now */
    GPURT_SERVED_TURN = 2 /* times who has a turn */
};

/* The whole warp, before it pulls while its block has a deque, or rows are scarce. Then turns are rare, since each begins
 * what others have put off. here: levels of the pockets; there: xlevels. last: the least urgent come first. Returns:
 * GPURT_SERVED. */
GPURT_DEVN uint32_t gpurt_deque_serve(const gpurt_task_run_t *run, uint32_t here,
                                      uint32_t there, uint32_t turn, bool last)
{
    gpurt_executor_hall_t *hall = run->hall;
    uint32_t full = GPURT_FULL_MASK,
             deque = there / GPURT_LEVELS_DEQUE & GPURT_LEVELS_RINGS;
    uint32_t turns = gpurt_load_relaxed_near_u32(&hall->xturns); /* relaxed: a number */
    uint32_t count, index, level, others;
    bool deep;

    turns = gpurt_shfl_u32(full, turns, 0);
    deep = turns % GPURT_HALL_DEEP == 0;
    if (there & GPURT_LEVELS_SCARCE)
        turn =
            deep ? gpurt_pull_turn(turns / GPURT_HALL_DEEP) : (uint32_t)GPURT_PULL_NEWEST;
    if (!deque)
        return GPURT_SERVED_TURN * turn;
    level = gpurt_ctz(deque);
    if (deep)
        gpurt_deque_keep(run, gpurt_deque_take(run, gpurt_block_rank()),
                         GPURT_POCKET_OLDEST);
    count = gpurt_shfl_u32(full, gpurt_pocket_count(&hall->ready[level]), 0);
    others = (here | there) & GPURT_LEVELS_RINGS;
    others &= last ? ~((2u << level) - 1) : (1u << level) - 1; /* those that come first */
    if (others || count >= GPURT_TASK_BATCH)
        return GPURT_SERVED_TURN * turn;
    index = gpurt_deque_get(run);
    gpurt_deque_keep(run, index, GPURT_POCKET_NEWEST);
    return GPURT_SERVED_TURN * turn + gpurt_any(full, index != GPURT_TASK_NONE);
}

/* The whole warp. told: levels of the device's rings that only this warp knows of; of these, those that
 * it tried are left out. Returns: as gpurt_worker_pull. */
GPURT_DEV uint32_t gpurt_hall_pull(const gpurt_task_run_t *run, uint32_t *told)
{
    gpurt_executor_hall_t *hall = run->hall;
    uint32_t full = GPURT_FULL_MASK, lane = gpurt_lane(), index = GPURT_TASK_NONE;
    uint32_t turn = gpurt_hall_turn(hall);
    bool last = gpurt_hall_last(run);

    for (;;) {
        uint32_t count = gpurt_pocket_count(&hall->ready[lane % GPURT_TASK_LEVELS]);
        uint32_t here = gpurt_levels_of(count != 0), level, who;
        /* relaxed: hints */
        uint32_t there = gpurt_load_relaxed_near_u32(&hall->xlevels) | *told;

        there = gpurt_shfl_u32(full, there, 0);
        if (GPURT_UNLIKELY(there & ~GPURT_LEVELS_RINGS)) {
            uint32_t what = gpurt_deque_serve(run, here, there, turn, last);

            if (what & GPURT_SERVED)
                continue;
            turn = what / GPURT_SERVED_TURN;
            there &= GPURT_LEVELS_RINGS;
        }
        if (!here && !there)
            return GPURT_TASK_NONE;
        if (last) {
            level = 1u << (31 - gpurt_clz(here | there));
            here &= level;
            there &= level;
        }
        who = gpurt_hall_wants(here, there, turn == GPURT_PULL_RING);
        if (who) {
            index = gpurt_hall_draw(run, gpurt_ctz(there), who);
            *told &= ~(1u << gpurt_ctz(there)); /* what is left, the draw has told */
            if (gpurt_any(full, index != GPURT_TASK_NONE) || !here)
                return index;
        }
        level = gpurt_ctz(here);
        count = gpurt_shfl_u32(full, gpurt_hall_batch(hall, count), level);
        if (gpurt_pocket_get(&hall->ready[level], full, (1u << count) - 1, &index,
                             turn != GPURT_PULL_NEWEST ? GPURT_POCKET_OLDEST
                                                       : GPURT_POCKET_NEWEST))
            return index;
    }
}

#endif
