/* SPDX-License-Identifier: Apache-2.0 */
/* taskring.h - queues of task numbers that never overflow: tickets, with the flag in the data.
 *
 * A slot holds turn << 32 | number in one word. An even turn is an empty slot of that lap, the odd
 * one after it a full one. A pusher draws a ticket and stores its slot; a popper draws credits
 * first, then as many tickets. An empty queue hands out no credit, so nobody waits at one.
 *
 * Progress. Drawing credits is wait-free: who draws more than there is gives the rest back, and for
 * that moment others find less than there is. It looks again before it sleeps. From ticket to slot a lane waits for one other lane at most, which has drawn the same slot's ticket
 * before it and stands between two instructions. Neither can be cancelled there: no safe point.
 * Order: what a pusher wrote before is seen by the popper, in all lanes of its mask (TK1).
 * Context: device code; all lanes of `mask` together. A queue has a slot more for each number that
 * can be in it at a time, so a push never finds it full. */
#ifndef GPURT_TASKRING_H
#define GPURT_TASKRING_H

#include <gpurt/atomic.h>
#include <gpurt/block.h>
#include <gpurt/ids.h>
#include <gpurt/warp.h>

/* No task. */
#define GPURT_TASK_NONE UINT32_MAX

/* Where one lies. Owner: the caller, in registers. */
typedef struct gpurt_taskring {
    uint32_t *credits, *head, *tail; /* each written by: any lane */
    uint64_t *slots;
    uint32_t shift; /* 1 << shift slots, 1 to 31; tickets begin at -(1 << shift) */
} gpurt_taskring_t;

/* The lap of a ticket: 0 of the first ones, so zeros are empty slots. */
GPURT_HD uint32_t gpurt_taskring_lap(uint32_t ticket, uint32_t shift)
{
    return ((ticket >> shift) + 1u) & (UINT32_MAX >> shift);
}
GPURT_HD uint64_t gpurt_taskring_empty(uint32_t ticket, uint32_t shift)
{
    return (uint64_t)gpurt_taskring_lap(ticket, shift) << 33;
}
GPURT_HD uint64_t gpurt_taskring_full(uint32_t ticket, uint32_t shift, uint32_t number)
{
    return gpurt_taskring_empty(ticket, shift) | 1ull << 32 | number;
}
GPURT_HD uint32_t gpurt_taskring_first(uint32_t shift)
{
    return 0u - (1u << shift);
}

GPURT_DEV uint64_t *gpurt_taskring_slot(const gpurt_taskring_t *r, uint32_t ticket)
{
    return &r->slots[ticket & ((1u << r->shift) - 1u)];
}

GPURT_DEV void gpurt_taskring_write(const gpurt_taskring_t *r, uint32_t ticket,
                                    uint32_t number)
{
    uint64_t *slot = gpurt_taskring_slot(r, ticket);

    /* relaxed: the popper of a lap ago has read it, and wrote nothing else */
    while (gpurt_load_relaxed_dev_u64(slot) != gpurt_taskring_empty(ticket, r->shift))
        gpurt_pause();
    gpurt_store_release_dev_u64(
        slot, gpurt_taskring_full(ticket, r->shift, number)); /* TK1.rel */
}

/* The lanes in `who`, of mask, push their numbers; one at least. */
GPURT_DEV void gpurt_taskring_push(const gpurt_taskring_t *r, uint32_t mask, uint32_t who,
                                   uint32_t number)
{
    uint32_t count = gpurt_popc(who), ticket = 0;

    if (gpurt_is_leader(mask)) /* relaxed: a number; the slot says the rest */
        ticket = gpurt_add_relaxed_far_u32(r->tail, count);
    ticket = gpurt_shfl_u32(mask, ticket, gpurt_leader(mask)) +
             gpurt_popc(who & gpurt_lanes_below());
    if (who >> gpurt_lane() & 1u)
        gpurt_taskring_write(r, ticket, number);
    gpurt_syncwarp(mask); /* so that who draws a credit seldom waits */
    if (gpurt_is_leader(mask))
        gpurt_red_add_relaxed_dev_u32(r->credits, count); /* relaxed: as above */
}

/* Below 0: poppers have drawn more than there was, and are about to give it back. */
GPURT_HD uint32_t gpurt_taskring_count(uint32_t credits)
{
    return (int32_t)credits > 0 ? credits : 0;
}

/* Credits: of what there is a share, one of `sharers` parts but `least` at least, and `most` at
 * most. Returns: how many. */
GPURT_DEV uint32_t gpurt_taskring_draw(const gpurt_taskring_t *r, uint32_t least,
                                       uint32_t most, uint32_t sharers)
{
    /* relaxed: numbers; the slots say the rest */
    uint32_t have = gpurt_taskring_count(gpurt_load_relaxed_dev_u32(r->credits)), wanted,
             got;

    wanted = (have + sharers - 1) / sharers;
    wanted = wanted > least ? wanted : least;
    wanted = wanted < most ? wanted : most;
    wanted = wanted < have ? wanted
                           : have; /* what is drawn in vain hides what comes meanwhile */
    if (!wanted)
        return 0;
    have = gpurt_taskring_count(gpurt_add_relaxed_far_u32(r->credits, 0u - wanted));
    got = have < wanted ? have : wanted;
    if (got < wanted)
        gpurt_red_add_relaxed_dev_u32(r->credits, wanted - got); /* relaxed: so */
    return got;
}

GPURT_DEV uint32_t gpurt_taskring_read(const gpurt_taskring_t *r, uint32_t ticket)
{
    uint64_t *slot = gpurt_taskring_slot(r, ticket), word;
    uint64_t turn = gpurt_taskring_full(ticket, r->shift, 0) >> 32;

    while ((word = gpurt_load_acquire_dev_u64(slot)) >> 32 != turn) /* TK1.acq */
        gpurt_pause();
    /* relaxed: the next pusher of the slot learns only that it was read */
    gpurt_store_relaxed_dev_u64(slot,
                                gpurt_taskring_empty(ticket + (1u << r->shift), r->shift));
    return (uint32_t)word;
}

/* The lanes in `who`, of mask, want one each, or as many of them as gpurt_taskring_draw gives; the
 * lowest are served first. Returns: how many were. *number: that of a lane that was; of others it
 * stays. */
GPURT_DEV uint32_t gpurt_taskring_pop(const gpurt_taskring_t *r, uint32_t mask,
                                      uint32_t who, uint32_t least, uint32_t sharers,
                                      uint32_t *number)
{
    uint32_t rank = gpurt_popc(who & gpurt_lanes_below()), drawn = 0, ticket = 0;

    if (gpurt_is_leader(mask)) {
        drawn = gpurt_taskring_draw(r, least, gpurt_popc(who), sharers);
        if (drawn) /* relaxed: a number */
            ticket = gpurt_add_relaxed_far_u32(r->head, drawn);
    }
    drawn = gpurt_shfl_u32(mask, drawn, gpurt_leader(mask));
    ticket = gpurt_shfl_u32(mask, ticket, gpurt_leader(mask));
    if (!drawn)
        return 0;
    if (who >> gpurt_lane() & 1u && rank < drawn)
        *number = gpurt_taskring_read(r, ticket + rank);
    gpurt_syncwarp(mask); /* what one lane has acquired holds for all */
    return drawn;
}

#endif
