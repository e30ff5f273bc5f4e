/* SPDX-License-Identifier: Apache-2.0 */
/* taskdeque.h - tasks for which a pocket has no room: a queue of its block in device memory, with two ends, before the
 * rings of all. The block puts and gets the newest, so that what is begun is ended before more is begun, and few tasks
 * live. Blocks without work take the oldest, of which most is to come; also those of a block that is gone.
 *
 * One word has both ends, a level that all tasks in it are of, and a count of changes. Who takes the oldest reads them
 * first, and has them if the word is still the same. So nobody reads what is overwritten.
 *
 * Progress: the block's own end is blocking, within the block, as a pocket is. The other is lock-free.
 * Order: what a putter wrote before is seen by who gets or takes (TQ1); who has read a number is seen by who
 * overwrites it (TQ1). Within the block the lock does the same (TQ2).
 * Context: device code, whole warps. Nothing here is a safe point. */
#ifndef GPURT_TASKDEQUE_H
#define GPURT_TASKDEQUE_H

#include <gpurt/impl/task/taskrun.h>

enum {
    GPURT_DEQUE_NUMBERS = 1 << GPURT_DEQUE_SHIFT,
    GPURT_DEQUE_LEVEL_BIT = 32, /* below it: tail << 16 | head */
    GPURT_DEQUE_TURN_BIT = 35
};

GPURT_HD uint64_t gpurt_deque_word(uint64_t before, uint32_t head, uint32_t tail,
                                   uint32_t level)
{
    return ((before >> GPURT_DEQUE_TURN_BIT) + 1) << GPURT_DEQUE_TURN_BIT |
           (uint64_t)level << GPURT_DEQUE_LEVEL_BIT | (uint64_t)(tail & 0xffffu) << 16 |
           (head & 0xffffu);
}
GPURT_HD uint32_t gpurt_deque_head(uint64_t word)
{
    return (uint16_t)word;
}
GPURT_HD uint32_t gpurt_deque_tail(uint64_t word)
{
    return (uint16_t)(word >> 16);
}

/* Whether any block's has tasks. One lane. relaxed: a hint, or behind a fence */
GPURT_DEV bool gpurt_deques_any(const gpurt_executor_map_t *m)
{
    return gpurt_load_relaxed_dev_u32(&m->words->xdeques) != 0;
}

/* The bit of xlevels for the block's own; 0: it has no tasks. Others may have taken them: who gets some finds out. */
GPURT_DEV uint32_t gpurt_deque_bit(uint64_t word)
{
    return gpurt_deque_count(word) ? GPURT_LEVELS_DEQUE << gpurt_deque_level(word) : 0;
}
GPURT_DEV uint32_t gpurt_deque_has(const gpurt_executor_hall_t *hall)
{
    return gpurt_deque_bit(
        gpurt_load_relaxed_near_u64(&hall->xdeque)); /* relaxed: a hint */
}

GPURT_DEV uint32_t *gpurt_deque_slot(const gpurt_executor_map_t *m, uint32_t block,
                                     uint32_t at)
{
    return &m->deques[((size_t)block << GPURT_DEQUE_SHIFT) +
                      at % (uint32_t)GPURT_DEQUE_NUMBERS];
}

/* The leader. Returns: the word as the block knows it. Its tail is right, its head can be too low. */
GPURT_DEV uint64_t gpurt_deque_lock(gpurt_executor_hall_t *hall)
{
    while (gpurt_xchg_acquire_near_u32(&hall->xdequelock, 1)) /* TQ2.acq */
        gpurt_pause();
    return gpurt_load_relaxed_near_u64(&hall->xdeque); /* relaxed: under the lock */
}
GPURT_DEV void gpurt_deque_unlock(gpurt_executor_hall_t *hall, uint64_t word)
{
    uint32_t bit = gpurt_deque_bit(word);

    gpurt_store_relaxed_near_u64(&hall->xdeque,
                                 word); /* relaxed, all: under the lock; hints */
    if (bit)
        gpurt_or_relaxed_near_u32(&hall->xlevels, bit);
    else
        gpurt_and_relaxed_near_u32(&hall->xlevels,
                                   ~(GPURT_LEVELS_RINGS << GPURT_TASK_LEVELS));
    gpurt_store_release_near_u32(&hall->xdequelock, 0); /* TQ2.rel */
}

/* One lane: of a deque that had tasks, or has. */
GPURT_DEV void gpurt_deque_counts(const gpurt_executor_map_t *m, uint64_t before,
                                  uint64_t now)
{
    bool had = gpurt_deque_count(before) != 0, has = gpurt_deque_count(now) != 0;

    if (had != has) /* relaxed: a hint */
        gpurt_red_add_relaxed_dev_u32(&m->words->xdeques, has ? 1 : UINT32_MAX);
}

/* The lanes in `who` put their tasks, as the newest, in the order of the lanes; none while it has tasks of another
 * level. Returns: how many were put. *first: they are the only ones. */
GPURT_DEV uint32_t gpurt_deque_put(const gpurt_task_run_t *run, uint32_t who,
                                   uint32_t level, uint32_t index, bool *first)
{
    const gpurt_executor_map_t *m = run->map;
    uint32_t full = GPURT_FULL_MASK, rank = gpurt_popc(who & gpurt_lanes_below());
    uint32_t me = gpurt_block_rank(), count = gpurt_popc(who), room = 0, tail;
    uint64_t word = 0, with;

    *first = false;
    if (gpurt_lane() == 0) {
        word = gpurt_deque_lock(run->hall);
        if (!gpurt_deque_count(word) || gpurt_deque_level(word) == level)
            room = GPURT_DEQUE_NUMBERS - gpurt_deque_count(word);
        room = room < count ? room : count;
    }
    room = gpurt_shfl_u32(full, room, 0);
    tail = gpurt_shfl_u32(full, gpurt_deque_tail(word), 0);
    gpurt_syncwarp(full); /* what lane 0 has acquired holds for all */
    if (who >> gpurt_lane() & 1u && rank < room) /* relaxed: the word says the rest */
        gpurt_store_relaxed_dev_u32(gpurt_deque_slot(m, me, tail + rank), index);
    gpurt_syncwarp(full); /* all numbers, and what its lanes wrote before */
    if (gpurt_lane())
        return room;
    if (room) {
        do
            with = gpurt_deque_word(word, gpurt_deque_head(word), tail + room, level);
        while (!gpurt_cas_acq_rel_dev_u64(&run->block->xdeque, &word,
                                          with)); /* TQ1.rel TQ1.acq */
        gpurt_deque_counts(m, word, with);
        *first = !gpurt_deque_count(word);
        word = with;
    }
    gpurt_deque_unlock(run->hall, word);
    return room;
}

/* The whole warp: the newest, one a lane, the oldest of these first. Returns: each lane's, or GPURT_TASK_NONE. */
GPURT_DEV uint32_t gpurt_deque_get(const gpurt_task_run_t *run)
{
    const gpurt_executor_map_t *m = run->map;
    uint32_t full = GPURT_FULL_MASK, lane = gpurt_lane(), index = GPURT_TASK_NONE, tail;
    uint32_t have = 0;
    uint64_t word = 0, with = 0;

    if (lane == 0) {
        word = gpurt_deque_lock(run->hall);
        do {
            have = gpurt_deque_count(word);
            have = have < GPURT_WARP_SIZE ? have : (uint32_t)GPURT_WARP_SIZE;
            with = gpurt_deque_word(word, gpurt_deque_head(word),
                                    gpurt_deque_tail(word) - have, gpurt_deque_level(word));
        } while (!gpurt_cas_acq_rel_dev_u64(&run->block->xdeque, &word,
                                            with)); /* TQ1.rel TQ1.acq */
        gpurt_deque_counts(m, word, with);
    }
    have = gpurt_shfl_u32(full, have, 0);
    tail = gpurt_shfl_u32(full, gpurt_deque_tail(with), 0);
    gpurt_syncwarp(full); /* what lane 0 has acquired holds for all */
    if (lane < have)      /* relaxed: the word has said the rest */
        index = gpurt_load_relaxed_dev_u32(
            gpurt_deque_slot(m, gpurt_block_rank(), tail + lane));
    gpurt_syncwarp(full); /* they are read */
    if (lane == 0)
        gpurt_deque_unlock(run->hall, with);
    return index;
}

/* The whole warp: up to half of the oldest of a block, one a lane. Returns: each lane's, or GPURT_TASK_NONE; also where
 * another was faster. */
GPURT_DEV uint32_t gpurt_deque_take(const gpurt_task_run_t *run, uint32_t block)
{
    const gpurt_executor_map_t *m = run->map;
    uint64_t *at = &m->blocks[block].xdeque, word = 0;
    uint32_t full = GPURT_FULL_MASK, lane = gpurt_lane(), index = GPURT_TASK_NONE, have;
    bool mine = false;

    if (lane == 0)
        word = gpurt_load_acquire_dev_u64(at); /* TQ1.acq */
    word = gpurt_shfl_u64(full, word, 0);
    gpurt_syncwarp(full); /* what lane 0 has acquired holds for all */
    have = (gpurt_deque_count(word) + 1) / 2;
    have = have < GPURT_WARP_SIZE ? have : (uint32_t)GPURT_WARP_SIZE;
    if (!have)
        return GPURT_TASK_NONE;
    if (lane < have) /* relaxed: of no use unless the word stays */
        index = gpurt_load_relaxed_dev_u32(
            gpurt_deque_slot(m, block, gpurt_deque_head(word) + lane));
    gpurt_syncwarp(full); /* they are read */
    if (lane == 0) {
        uint64_t with = gpurt_deque_word(word, gpurt_deque_head(word) + have,
                                         gpurt_deque_tail(word), gpurt_deque_level(word));

        mine = gpurt_cas_acq_rel_dev_u64(at, &word, with); /* TQ1.rel TQ1.acq */
        if (mine)
            gpurt_deque_counts(m, word, with);
    }
    return gpurt_any(full, mine) ? index : GPURT_TASK_NONE;
}

/* The whole warp. Returns: the block with most tasks in its deque, as far as one look tells; UINT32_MAX: none has. */
GPURT_DEV uint32_t gpurt_deques_fullest(const gpurt_executor_map_t *m)
{
    uint32_t best = 0, of = 0, most;

    for (uint32_t i = gpurt_lane(); i < gpurt_grid_blocks(); i += GPURT_WARP_SIZE) {
        uint32_t count = gpurt_deque_count(
            gpurt_load_relaxed_dev_u64(&m->blocks[i].xdeque)); /* relaxed: a hint */

        of = count > best ? i : of;
        best = count > best ? count : best;
    }
    most = gpurt_reduce_max_u32(GPURT_FULL_MASK, best);
    if (!most)
        return UINT32_MAX;
    return gpurt_shfl_u32(GPURT_FULL_MASK, of,
                          gpurt_leader(gpurt_ballot(GPURT_FULL_MASK, best == most)));
}

#endif
