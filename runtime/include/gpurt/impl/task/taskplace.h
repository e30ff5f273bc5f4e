/* SPDX-License-Identifier: Apache-2.0 */
/* taskplace.h - tasks with a place: the block that runs them, if it can.
 *
 * An executor has so many places, and each is at home in one block, which finds there what it needs in
 * its L1. A place has a ring, at which its block looks when it looks at the device's words. A task that
 * finds no room there goes where any block finds it. A block without work takes some from the places of
 * others, so no task waits for its place while a warp idles.
 *
 * relaxed, all of it: numbers; tasks come by a ring.
 * Context: device code. Nothing here is a safe point. */
#ifndef GPURT_TASKPLACE_H
#define GPURT_TASKPLACE_H

#include <gpurt/impl/task/taskrun.h>

enum {
    /* in vain, before a block takes what belongs to others; it does before it sleeps */
    GPURT_PLACE_LOOKS = GPURT_IDLE_LOOKS < 8 ? GPURT_IDLE_LOOKS : 8,
    GPURT_PLACE_STRAYS = 4 /* tasks that it takes then */
};

GPURT_DEV gpurt_taskring_t gpurt_place_ring(const gpurt_executor_map_t *m, uint32_t place)
{
    gpurt_task_place_t *p = &m->homes[place];
    gpurt_taskring_t r = {&p->xcredits, &p->head.x, &p->tail.x,
                          m->home_slots + ((size_t)place << m->home_shift), m->home_shift};

    return r;
}

/* Of a task that has one. */
GPURT_DEV uint32_t gpurt_place_of(const gpurt_executor_map_t *m, uint32_t index)
{
    return (m->at[index] - 1u) % m->places;
}

/* Whether its place is this block, or any. */
GPURT_DEVN bool gpurt_place_is_here(const gpurt_executor_map_t *m, uint32_t index)
{
    return !m->places || !m->at[index] ||
           gpurt_place_of(m, index) % gpurt_grid_blocks() == gpurt_block_rank();
}

/* One lane. Returns: for how many of `count` tasks the ring has room, which is theirs from now on. */
GPURT_DEV uint32_t gpurt_place_hold(const gpurt_executor_map_t *m, uint32_t place,
                                    uint32_t count)
{
    uint32_t *at = &m->homes[place].xheld, most = 1u << m->home_shift;
    uint32_t held = gpurt_add_relaxed_far_u32(at, count);
    uint32_t room = held < most ? most - held : 0;

    if (room >= count)
        return count;
    gpurt_sub_relaxed_dev_u32(at, count - room);
    return room;
}

/* The lanes of `who` have a task each that is ready: those with a place go there. Returns: the others, and those
 * that found no room. */
GPURT_DEV uint32_t gpurt_places_put_by(const gpurt_task_run_t *run, uint32_t mask,
                                       uint32_t who, uint32_t index)
{
    const gpurt_executor_map_t *m = run->map;
    bool placed = who >> gpurt_lane() & 1u && m->at[index];
    uint32_t place = placed ? gpurt_place_of(m, index) : 0, left, rest = who;

    for (left = gpurt_ballot(mask, placed); left;) {
        uint32_t now = gpurt_shfl_u32(mask, place, gpurt_leader(left)), room = 0;
        uint32_t same = gpurt_ballot(mask, placed && place == now);
        gpurt_taskring_t ring = gpurt_place_ring(m, now);

        left &= ~same;
        if (gpurt_is_leader(mask))
            room = gpurt_place_hold(m, now, gpurt_popc(same));
        room = gpurt_shfl_u32(mask, room, gpurt_leader(mask));
        same &= ~gpurt_lanes_behind(mask, same, room);
        if (!same)
            continue;
        if (gpurt_is_leader(mask)) /* before they can be found: it is never too low */
            gpurt_red_add_relaxed_dev_u32(&m->words->xplaced, room);
        gpurt_taskring_push(&ring, mask, same, index);
        rest &= ~same;
    }
    return rest;
}
GPURT_BY_MASK(uint32_t, gpurt_places_put,
              (const gpurt_task_run_t *run, uint32_t mask, uint32_t who, uint32_t index),
              run, who, index)

/* The whole warp: up to `most` tasks of a place. Returns: each lane's. */
GPURT_DEV uint32_t gpurt_place_take(const gpurt_task_run_t *run, uint32_t place,
                                    uint32_t most)
{
    const gpurt_executor_map_t *m = run->map;
    gpurt_taskring_t ring = gpurt_place_ring(m, place);
    uint32_t full = GPURT_FULL_MASK, index = GPURT_TASK_NONE, taken;
    uint32_t who = most < GPURT_WARP_SIZE ? (1u << most) - 1 : full;

    taken = gpurt_taskring_pop(&ring, full, who, most, 1, &index);
    if (taken && gpurt_lane() == 0) {
        gpurt_sub_relaxed_dev_u32(&m->homes[place].xheld, taken);
        gpurt_sub_relaxed_dev_u32(&m->words->xplaced, taken);
    }
    return index;
}

/* One lane. Whether places of its block have tasks. */
GPURT_DEV bool gpurt_places_have(const gpurt_executor_map_t *m)
{
    uint32_t some = 0;

    for (uint32_t i = gpurt_block_rank(); i < m->places; i += gpurt_grid_blocks())
        some |= gpurt_taskring_count(gpurt_load_relaxed_dev_u32(&m->homes[i].xcredits));
    return some != 0;
}

/* One lane. Whether any place has. */
GPURT_DEV bool gpurt_places_any(const gpurt_executor_map_t *m)
{
    return m->places && gpurt_load_relaxed_dev_u32(&m->words->xplaced);
}

/* The whole warp counts tasks that it takes up, one a lane or GPURT_TASK_NONE. */
GPURT_DEVN void gpurt_places_count(const gpurt_task_run_t *run, uint32_t index)
{
    const gpurt_executor_map_t *m = run->map;
    bool placed = index != GPURT_TASK_NONE && m->at[index];
    uint32_t all = gpurt_ballot(GPURT_FULL_MASK, placed);
    uint32_t away = gpurt_ballot(GPURT_FULL_MASK, placed && !gpurt_place_is_here(m, index));

    if (gpurt_lane() == 0) {
        gpurt_executor_count(&run->block->xplaced, gpurt_popc(all));
        gpurt_executor_count(&run->block->xastray, gpurt_popc(away));
    }
}

#endif
