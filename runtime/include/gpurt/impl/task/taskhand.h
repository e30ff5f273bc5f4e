/* SPDX-License-Identifier: Apache-2.0 */
/* taskhand.h - a task from a warp to an idle warp of its block: no queue and no lock in between.
 *
 * An idle warp empties its hand, shows its bit, and looks at its hand. A giver takes the bit, then
 * fills the hand. A warp that goes on takes its own bit back; if that is gone, it waits for the hand
 * and has a task. So each bit has one owner, and no task is in two hands or in none.
 *
 * Progress: blocking, within a block. A giver stands between two instructions with no safe point, so
 * it cannot be cancelled there.
 * Order: what a giver's warp wrote before is seen by the taker (TG2).
 * Context: device code; all lanes of `mask` together, else one lane. */
#ifndef GPURT_TASKHAND_H
#define GPURT_TASKHAND_H

#include <gpurt/impl/task/taskring.h>

enum {
    GPURT_HANDS = 31 /* warps of a block, at most */
};

#define GPURT_HAND_AWAY  (GPURT_TASK_NONE - 1) /* of a hand: its warp is not idle */
#define GPURT_HANDS_SHUT (1u << GPURT_HANDS)   /* of xidle: all were idle, and meet */

/* In shared memory. */
typedef struct gpurt_hands {
    uint32_t xidle; /* a bit each warp that can be given a task; written by: any warp */
    uint32_t xtask[GPURT_HANDS]; /* written by: its warp, and who has taken its bit */
} gpurt_hands_t;

/* One lane; a barrier follows. */
GPURT_DEV void gpurt_hands_begin(gpurt_hands_t *h)
{
    gpurt_store_relaxed_near_u32(&h->xidle, 0); /* relaxed: so */
    for (uint32_t i = 0; i < GPURT_HANDS; i++)  /* relaxed: so */
        gpurt_store_relaxed_near_u32(&h->xtask[i], GPURT_HAND_AWAY);
}

/* The warps that idle, a bit each: a hint. */
GPURT_DEV uint32_t gpurt_hands_idle(const gpurt_hands_t *h)
{
    return gpurt_load_relaxed_near_u32(&h->xidle) & ~GPURT_HANDS_SHUT; /* relaxed: so */
}

/* All warps idle and meet: none may begin a task while others wait for it at a barrier. No warp is
 * left to give one, either. */
GPURT_DEV bool gpurt_hands_are_shut(const gpurt_hands_t *h)
{
    return gpurt_load_relaxed_near_u32(&h->xidle) & GPURT_HANDS_SHUT; /* relaxed: barrier */
}
GPURT_DEV void gpurt_hands_shut(gpurt_hands_t *h)
{
    uint32_t all = (1u << gpurt_warps()) - 1; /* relaxed: a barrier */

    (void)gpurt_cas_relaxed_near_u32(&h->xidle, &all, all | GPURT_HANDS_SHUT);
}
/* Thread 0, while all are at a barrier. */
GPURT_DEV void gpurt_hands_open(gpurt_hands_t *h)
{
    gpurt_store_relaxed_near_u32(&h->xidle, 0); /* relaxed: barriers around it */
}

/* The leader of a warp that idles. */
GPURT_DEV void gpurt_hand_offer(gpurt_hands_t *h, uint32_t warp)
{
    gpurt_store_relaxed_near_u32(&h->xtask[warp], GPURT_TASK_NONE); /* relaxed: TG1 */
    (void)gpurt_or_release_near_u32(&h->xidle, 1u << warp);         /* TG1.rel */
}

GPURT_DEV bool gpurt_hand_has(const gpurt_hands_t *h, uint32_t warp)
{
    /* relaxed: it is taken by gpurt_hand_withdraw */
    return gpurt_load_relaxed_near_u32(&h->xtask[warp]) != GPURT_TASK_NONE;
}

/* The leader of a warp that idles no more, or who cleans up behind one: also behind one that did not
 * idle. Returns: the task that it was given, or GPURT_TASK_NONE. */
GPURT_DEV uint32_t gpurt_hand_withdraw(gpurt_hands_t *h, uint32_t warp)
{
    uint32_t idle = gpurt_load_relaxed_near_u32(&h->xidle); /* relaxed: exchanged */
    uint32_t task = GPURT_TASK_NONE;

    if (gpurt_load_relaxed_near_u32(&h->xtask[warp]) == GPURT_HAND_AWAY) /* relaxed: own */
        return GPURT_TASK_NONE;
    while (!(idle & GPURT_HANDS_SHUT)) {
        if (!(idle >> warp & 1u)) {
            while ((task = gpurt_load_acquire_near_u32(&h->xtask[warp])) ==
                   GPURT_TASK_NONE) /* TG2.acq */
                gpurt_pause();
            break;
        }
        if (gpurt_cas_relaxed_near_u32(&h->xidle, &idle, idle & ~(1u << warp)))
            break; /* relaxed: nobody gave anything */
    }
    gpurt_store_relaxed_near_u32(&h->xtask[warp], GPURT_HAND_AWAY); /* relaxed: own */
    return task;
}

/* The lowest `count` bits of a set; all if there are fewer. */
GPURT_HD uint32_t gpurt_bits_first(uint32_t set, uint32_t count)
{
    uint32_t rest = set;

    for (; count && rest; count--)
        rest &= rest - 1;
    return set & ~rest;
}

/* The lanes in `who`, of mask, have a task each; the lowest are given first, to warps of `to`, which
 * is the leader's. Returns: how many were. */
GPURT_DEV uint32_t gpurt_hands_give(gpurt_hands_t *h, uint32_t mask, uint32_t who,
                                    uint32_t task, uint32_t to)
{
    uint32_t rank = gpurt_popc(who & gpurt_lanes_below()), given;

    if (gpurt_is_leader(mask) && to) {
        to = gpurt_bits_first(to, gpurt_popc(who));
        to &= gpurt_and_acquire_near_u32(&h->xidle, ~to); /* TG1.acq */
    }
    to = gpurt_shfl_u32(mask, to, gpurt_leader(mask));
    given = gpurt_popc(to);
    if (!given)
        return 0;
    gpurt_syncwarp(mask); /* what its lanes wrote before, and the leader has acquired */
    if (who >> gpurt_lane() & 1u && rank < given) {
        to &= ~gpurt_bits_first(to, rank);
        gpurt_store_release_near_u32(&h->xtask[gpurt_ctz(to)], task); /* TG2.rel */
    }
    return given;
}

#endif
