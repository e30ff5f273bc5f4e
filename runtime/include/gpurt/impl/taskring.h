/* SPDX-License-Identifier: Apache-2.0 */
/* taskring.h - queues of task numbers that never overflow: tickets, with the flag in the data.
 *
 * A slot holds turn << 32 | number in one word. An even turn is an empty slot of that lap, the odd
 * one after it a full one. A pusher draws a ticket and stores its slot; a popper draws credits
 * first, then as many tickets. An empty queue hands out no credit, so nobody waits at one.
 *
 * Progress. Drawing credits is lock-free: an exchange fails only because another succeeded. From
 * ticket to slot a lane waits for one other lane at most, which has drawn the same slot's ticket
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

/* Each lane of `mask` pushes its number. */
GPURT_DEV void gpurt_taskring_push(const gpurt_taskring_t *r, uint32_t mask,
                                   uint32_t number)
{
    uint32_t count = gpurt_popc(mask), ticket = 0;
    uint64_t *slot;

    if (gpurt_is_leader(mask)) /* relaxed: a number; the slot says the rest */
        ticket = gpurt_add_relaxed_dev_u32(r->tail, count);
    ticket = gpurt_shfl_u32(mask, ticket, gpurt_leader(mask)) +
             gpurt_popc(mask & gpurt_lanes_below());
    slot = gpurt_taskring_slot(r, ticket);
    /* relaxed: the popper of a lap ago has read it, and wrote nothing else */
    while (gpurt_load_relaxed_dev_u64(slot) != gpurt_taskring_empty(ticket, r->shift))
        gpurt_pause();
    gpurt_store_release_dev_u64(
        slot, gpurt_taskring_full(ticket, r->shift, number)); /* TK1.rel */
    gpurt_syncwarp(mask); /* so that who draws a credit seldom waits */
    if (gpurt_is_leader(mask))
        gpurt_red_add_relaxed_dev_u32(r->credits, count); /* relaxed: as above */
}

/* Credits, at most `most` of them. Returns: how many. */
GPURT_DEV uint32_t gpurt_taskring_draw(const gpurt_taskring_t *r, uint32_t most)
{
    /* relaxed: the exchange checks it again, and the slots say the rest */
    uint32_t have = gpurt_load_relaxed_dev_u32(r->credits), drawn;

    do {
        drawn = have < most ? have : most;
        if (!drawn)
            return 0;
    } while (!gpurt_cas_relaxed_dev_u32(r->credits, &have, have - drawn));
    return drawn;
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

/* The lanes in `who`, of mask, want one each; the lowest of them are served first.
 * Returns: how many were. *number: that of a lane that was, else GPURT_TASK_NONE. */
GPURT_DEV uint32_t gpurt_taskring_pop(const gpurt_taskring_t *r, uint32_t mask,
                                      uint32_t who, uint32_t *number)
{
    uint32_t rank = gpurt_popc(who & gpurt_lanes_below()), drawn;
    uint64_t both = 0;

    if (gpurt_is_leader(mask)) {
        both = (uint64_t)gpurt_taskring_draw(r, gpurt_popc(who)) << 32;
        if (both) /* relaxed: a number */
            both |= gpurt_add_relaxed_dev_u32(r->head, (uint32_t)(both >> 32));
    }
    both = gpurt_shfl_u64(mask, both, gpurt_leader(mask));
    drawn = (uint32_t)(both >> 32);
    *number = GPURT_TASK_NONE;
    if (!drawn)
        return 0;
    if (who >> gpurt_lane() & 1u && rank < drawn)
        *number = gpurt_taskring_read(r, (uint32_t)both + rank);
    gpurt_syncwarp(mask); /* what one lane has acquired holds for all */
    return drawn;
}

#endif
