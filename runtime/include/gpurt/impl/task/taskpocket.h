/* SPDX-License-Identifier: Apache-2.0 */
/* taskpocket.h - numbers of tasks that a block keeps to itself: a short queue in shared memory, in
 * front of a ring (taskring.h) that all blocks share. It has two ends. A warp takes the newest, so that
 * what a task has spawned is done before others spawn more, and rows are near still. Others get the
 * oldest, of which most is to come.
 *
 * What a warp spawns mostly runs on the same multiprocessor. There a lock costs some 40 cycles,
 * where one access to the L2 costs 600, and no other block comes in between.
 *
 * Progress: blocking, within a block. The holder of the lock stands between a few instructions
 * with no safe point, so it cannot be cancelled there.
 * Order: what a putter wrote before is seen by the getter, in all lanes of its mask (TP1).
 * Context: device code; all lanes of `mask` together. Where the compiler knows the mask, a vote or
 * a shuffle is one instruction; where it does not, some 150 cycles go into asking who is there. So
 * callers pass a constant, and name the lanes that they mean by `who`. */
#ifndef GPURT_TASKPOCKET_H
#define GPURT_TASKPOCKET_H

#include <gpurt/atomic.h>
#include <gpurt/block.h>
#include <gpurt/ids.h>
#include <gpurt/warp.h>

enum {
    GPURT_POCKET_NUMBERS = 256
};

/* In shared memory. The numbers are of who holds the lock. */
typedef struct gpurt_pocket {
    uint32_t xlock;        /* 1: held; written by: any warp */
    uint32_t xhead, xtail; /* of a queue that goes round; written by: who holds the lock */
    uint32_t numbers[GPURT_POCKET_NUMBERS];
} gpurt_pocket_t;

/* One lane; a barrier follows. */
GPURT_DEV void gpurt_pocket_begin(gpurt_pocket_t *p)
{
    gpurt_store_relaxed_near_u32(&p->xlock, 0); /* relaxed: so */
    gpurt_store_relaxed_near_u32(&p->xhead, 0);
    gpurt_store_relaxed_near_u32(&p->xtail, 0);
}

/* How many it has: exact for who holds the lock, a hint for others. */
GPURT_DEV uint32_t gpurt_pocket_count(const gpurt_pocket_t *p)
{
    uint32_t head = gpurt_load_relaxed_near_u32(&p->xhead); /* relaxed: so */
    uint32_t count = gpurt_load_relaxed_near_u32(&p->xtail) - head;

    return count < GPURT_POCKET_NUMBERS ? count : (uint32_t)GPURT_POCKET_NUMBERS;
}

GPURT_DEV void gpurt_pocket_lock(gpurt_pocket_t *p)
{
    while (gpurt_xchg_acquire_near_u32(&p->xlock, 1)) /* TP1.acq */
        gpurt_pause();
}
GPURT_DEV void gpurt_pocket_unlock(gpurt_pocket_t *p)
{
    gpurt_store_release_near_u32(&p->xlock, 0); /* TP1.rel */
}

/* Ends of a pocket. */
enum {
    GPURT_POCKET_NEWEST,
    GPURT_POCKET_OLDEST
};

/* The lanes in `who`, of mask, put their numbers, the lowest first, while there are fewer than
 * `most`, which is the leader's. end: as which they count. Returns: how many were put. */
GPURT_DEV uint32_t gpurt_pocket_put(gpurt_pocket_t *p, uint32_t mask, uint32_t who,
                                    uint32_t number, uint32_t most, uint32_t end)
{
    uint32_t rank = gpurt_popc(who & gpurt_lanes_below()), count = gpurt_popc(who);
    uint32_t from = 0, room = 0;

    if (gpurt_is_leader(mask)) {
        uint32_t have;

        gpurt_pocket_lock(p);
        have = gpurt_pocket_count(p);
        room = have < most ? most - have : 0;
        room = room < count ? room : count;
        from = end == GPURT_POCKET_NEWEST /* relaxed: under the lock */
                   ? gpurt_load_relaxed_near_u32(&p->xtail)
                   : gpurt_load_relaxed_near_u32(&p->xhead) - room;
    }
    room = gpurt_shfl_u32(mask, room, gpurt_leader(mask));
    from = gpurt_shfl_u32(mask, from, gpurt_leader(mask));
    gpurt_syncwarp(mask); /* what the leader has acquired holds for all */
    if (who >> gpurt_lane() & 1u && rank < room)
        p->numbers[(from + rank) % GPURT_POCKET_NUMBERS] = number;
    gpurt_syncwarp(mask);        /* all numbers, and what its lanes wrote before */
    if (gpurt_is_leader(mask)) { /* relaxed: under the lock */
        if (end == GPURT_POCKET_NEWEST)
            gpurt_store_relaxed_near_u32(&p->xtail, from + room);
        else
            gpurt_store_relaxed_near_u32(&p->xhead, from);
        gpurt_pocket_unlock(p);
    }
    return room;
}

/* The lanes in `who`, of mask, want one each, of that end; the lowest of them are served, and get the
 * oldest of these. Returns: how many were. *number: that of a lane that was; of others it stays. */
GPURT_DEV uint32_t gpurt_pocket_get(gpurt_pocket_t *p, uint32_t mask, uint32_t who,
                                    uint32_t *number, uint32_t end)
{
    uint32_t rank = gpurt_popc(who & gpurt_lanes_below()), count = gpurt_popc(who);
    uint32_t from = 0, have = 0;

    if (gpurt_is_leader(mask) && gpurt_pocket_count(p)) {
        gpurt_pocket_lock(p);
        have = gpurt_pocket_count(p);
        have = have < count ? have : count;
        from = end == GPURT_POCKET_NEWEST /* relaxed: under the lock */
                   ? gpurt_load_relaxed_near_u32(&p->xtail) - have
                   : gpurt_load_relaxed_near_u32(&p->xhead);
        if (!have)
            gpurt_pocket_unlock(p);
    }
    have = gpurt_shfl_u32(mask, have, gpurt_leader(mask));
    from = gpurt_shfl_u32(mask, from, gpurt_leader(mask));
    if (!have)
        return 0;
    gpurt_syncwarp(mask); /* what the leader has acquired holds for all */
    if (who >> gpurt_lane() & 1u && rank < have)
        *number = p->numbers[(from + rank) % GPURT_POCKET_NUMBERS];
    gpurt_syncwarp(mask);        /* they are read */
    if (gpurt_is_leader(mask)) { /* relaxed: under the lock */
        if (end == GPURT_POCKET_NEWEST)
            gpurt_store_relaxed_near_u32(&p->xtail, from);
        else
            gpurt_store_relaxed_near_u32(&p->xhead, from + have);
        gpurt_pocket_unlock(p);
    }
    return have;
}

/* The whole warp. The lanes in `who` put their numbers as the newest, and get the oldest for them, of a pocket that is
 * full. Returns: each lane's; of one for which there was no other, its own. */
GPURT_DEV uint32_t gpurt_pocket_swap(gpurt_pocket_t *p, uint32_t who, uint32_t number)
{
    uint32_t full = GPURT_FULL_MASK, rank = gpurt_popc(who & gpurt_lanes_below());
    uint32_t head = 0, tail = 0, have = 0, older = number;
    bool swaps;

    if (gpurt_lane() == 0) { /* relaxed, both: under the lock */
        gpurt_pocket_lock(p);
        head = gpurt_load_relaxed_near_u32(&p->xhead);
        tail = gpurt_load_relaxed_near_u32(&p->xtail);
        have = gpurt_pocket_count(p);
        have = have < gpurt_popc(who) ? have : gpurt_popc(who);
    }
    head = gpurt_shfl_u32(full, head, 0);
    tail = gpurt_shfl_u32(full, tail, 0);
    have = gpurt_shfl_u32(full, have, 0);
    swaps = who >> gpurt_lane() & 1u && rank < have;
    gpurt_syncwarp(full); /* what lane 0 has acquired holds for all */
    if (swaps)
        older = p->numbers[(head + rank) % GPURT_POCKET_NUMBERS];
    gpurt_syncwarp(full); /* they are read: in a full pocket these are the same places */
    if (swaps)
        p->numbers[(tail + rank) % GPURT_POCKET_NUMBERS] = number;
    gpurt_syncwarp(full);    /* all numbers, and what its lanes wrote before */
    if (gpurt_lane() == 0) { /* relaxed, both: under the lock */
        gpurt_store_relaxed_near_u32(&p->xhead, head + have);
        gpurt_store_relaxed_near_u32(&p->xtail, tail + have);
        gpurt_pocket_unlock(p);
    }
    return older;
}

#endif
