/* SPDX-License-Identifier: Apache-2.0 */
/* tasklook.h - when a block looks at the device's words, and what it does then: it learns who is without work, tells its
 * counts, brings what is due and gives what it has too much.
 *
 * Context: device code. Nothing here is a safe point, so a warp that is cancelled has done each
 * step wholly or not at all. */
#ifndef GPURT_TASKLOOK_H
#define GPURT_TASKLOOK_H

#include <gpurt/impl/task/taskbring.h>

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
