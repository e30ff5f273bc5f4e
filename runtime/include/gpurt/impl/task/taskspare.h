/* SPDX-License-Identifier: Apache-2.0 */
/* taskspare.h - rows of tasks that are free: a block keeps some, all share the others.
 *
 * Context: device code. Nothing here is a safe point, so a warp that is cancelled has done each
 * step wholly or not at all. A `mask` names the lanes that call together: a whole warp, or the
 * one lane that cleans up behind one. */
#ifndef GPURT_TASKSPARE_H
#define GPURT_TASKSPARE_H

#include <gpurt/impl/task/taskrun.h>

/* The whole warp: the block keeps the numbers of the lanes that have one; all get those for which
 * there is no room. */
GPURT_DEV void gpurt_spares_keep(const gpurt_task_run_t *run, uint32_t index)
{
    gpurt_taskring_t ring = gpurt_executor_ring(run->map, GPURT_RING_FREE_TASKS);
    uint32_t full = GPURT_FULL_MASK, who = gpurt_ballot(full, index != GPURT_TASK_NONE);

    who = gpurt_lanes_behind(full, who,
                             gpurt_pocket_put(&run->hall->spare, full, who, index,
                                              run->map->spare, GPURT_POCKET_OLDEST));
    if (who)
        gpurt_taskring_push(&ring, full, who, index);
}

/* The whole warp: numbers for the lanes in `who`, of all; where blocks keep some, a warp's worth, of which its block
 * keeps the rest. Seldom, so it is no part of who asks. */
GPURT_DEVN uint32_t gpurt_spares_draw(const gpurt_task_run_t *run, uint32_t who)
{
    gpurt_taskring_t ring = gpurt_executor_ring(run->map, GPURT_RING_FREE_TASKS);
    uint32_t full = GPURT_FULL_MASK, keeps = run->map->spare;
    uint32_t more = GPURT_TASK_NONE, rank, drawn, given;

    drawn = gpurt_taskring_pop(&ring, full, keeps ? full : who, GPURT_WARP_SIZE, 1, &more);
    if (!keeps)
        return more;
    rank = gpurt_popc(who & gpurt_lanes_below());
    given = gpurt_shfl_u32(full, more, rank); /* lane i has drawn the number i */
    gpurt_spares_keep(run, gpurt_lane() < gpurt_popc(who) ? GPURT_TASK_NONE : more);
    return who >> gpurt_lane() & 1u && rank < drawn ? given : GPURT_TASK_NONE;
}

/* The whole warp: numbers for the lanes in `who`, of the block's, else of all. Returns: each lane's. */
GPURT_DEV uint32_t gpurt_spares_get(const gpurt_task_run_t *run, uint32_t who)
{
    uint32_t full = GPURT_FULL_MASK, index = GPURT_TASK_NONE, more;

    if (run->map->spare)
        gpurt_pocket_get(&run->hall->spare, full, who, &index, GPURT_POCKET_NEWEST);
    who = gpurt_ballot(full, who >> gpurt_lane() & 1u && index == GPURT_TASK_NONE);
    if (!who)
        return index;
    more = gpurt_spares_draw(run, who);
    return index == GPURT_TASK_NONE ? more : index;
}

/* The `index` of each lane in `who` is free. From a pocket that is full, a warp's worth goes to
 * all. */
GPURT_DEV void gpurt_spares_put(const gpurt_task_run_t *run, uint32_t mask, uint32_t who,
                                uint32_t index)
{
    gpurt_taskring_t ring = gpurt_executor_ring(run->map, GPURT_RING_FREE_TASKS);
    uint32_t over;

    if (!who)
        return;
    if (run->hall && run->map->spare) {
        who = gpurt_lanes_behind(mask, who,
                                 gpurt_pocket_put(&run->hall->spare, mask, who, index,
                                                  run->map->spare, GPURT_POCKET_NEWEST));
        if (!who)
            return;
        over = GPURT_TASK_NONE;
        gpurt_pocket_get(&run->hall->spare, mask, mask & ~who, &over, GPURT_POCKET_OLDEST);
        if (over != GPURT_TASK_NONE)
            index = over;
        who |= gpurt_ballot(mask, over != GPURT_TASK_NONE);
    }
    gpurt_taskring_push(&ring, mask, who, index);
}

#endif
