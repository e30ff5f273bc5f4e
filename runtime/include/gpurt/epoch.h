/* SPDX-License-Identifier: Apache-2.0 */
/* epoch.h - memory that is freed when nobody can be using it any more.
 *
 *     uint32_t slot = gpurt_epoch_enter(&p->epochs, lanes);
 *     ... follow shared pointers; unlink a node: nobody finds it any more ...
 *     gpurt_epoch_retire(&p->epochs, slot, lanes, node);      NULL: this lane has none
 *     gpurt_epoch_leave(&p->epochs, slot, lanes);
 *
 * A retired object is freed after every section that may have met it ends. A section
 * belongs to the lanes of a warp that enter it together, and takes a slot; while it is open
 * nothing is freed that was retired since it began, so keep it short. What waits is
 * bounded: when a slot has no room the answer is GPURT_RETIRE_FULL, the object is still the
 * caller's, and after leaving and entering again there may be room. A warp that is
 * cancelled inside of a section keeps its slot until the host sweeps (reclaim.h); until
 * then frees wait and full slots say so.
 * Context: device code; all lanes of the mask together, with the same slot. Lock-free. */
#ifndef GPURT_EPOCH_H
#define GPURT_EPOCH_H

#include <gpurt/alloc.h>
#include <gpurt/impl/reclaimmap.h>
#include <gpurt/impl/warptally.h>

enum {
    GPURT_PEEKS = 8 /* words that a lane asks for before it looks at the first */
};

GPURT_DEV uint32_t gpurt_epoch_of(uint64_t word)
{
    return (uint32_t)(word >> 32);
}
GPURT_DEV uint64_t gpurt_epoch_word(uint32_t epoch)
{
    return (uint64_t)epoch << 32 | GPURT_SLOT_TAKEN |
           (gpurt_block_rank() & (uint32_t)(GPURT_SLOT_TAKEN - 1));
}

/* Where a warp looks for a slot first: no other resident warp begins there. */
GPURT_DEV uint32_t gpurt_slot_first(uint32_t slot_count)
{
    return (gpurt_sm() * 64u + gpurt_warp_slot()) % slot_count;
}

/* Takes a slot that is free. Returns: it, or GPURT_SLOT_NONE. Context: one lane. */
GPURT_DEVN uint32_t gpurt_slot_take(uint64_t *slots, uint32_t count, uint64_t word)
{
    uint32_t slot = gpurt_slot_first(count);

    for (uint32_t i = 0; i < count; i++) {
        uint64_t was = 0;

        if (gpurt_load_relaxed_dev_u64(slots + slot) == 0 &&     /* relaxed: a look */
            gpurt_cas_acquire_dev_u64(slots + slot, &was, word)) /* EP1.acq */
            return slot;
        slot = slot + 1 < count ? slot + 1 : 0;
    }
    return GPURT_SLOT_NONE;
}

/* Returns: the section's slot; GPURT_SLOT_NONE when all are taken: then there is no
 * section. */
GPURT_DEVN uint32_t gpurt_epoch_enter(const gpurt_epochs_t *e, uint32_t lanes)
{
    uint32_t slot = GPURT_SLOT_NONE, epoch, now;

    if (gpurt_is_leader(lanes)) {
        now = (uint32_t)gpurt_load_relaxed_dev_u64(
            &e->counts->xepoch); /* relaxed: again below */
        slot = gpurt_slot_take(e->slots, e->slot_count, gpurt_epoch_word(now));
        /* Either who advances sees this slot, or this lane sees that it has: then the epoch
         * is corrected. A slot that is visible stops it at the next one. */
        while (slot != GPURT_SLOT_NONE) {
            gpurt_fence_store_load_dev();
            epoch = (uint32_t)gpurt_load_relaxed_dev_u64(
                &e->counts->xepoch); /* relaxed: the fence */
            if (epoch == now)
                break;
            now = epoch;
            /* relaxed: the fence. Exchanged, as the slot was taken: who reads a word that
             * was stored would not meet the owner before, whose release it is to acquire. */
            gpurt_xchg_relaxed_dev_u64(e->slots + slot, gpurt_epoch_word(now));
        }
        if (slot == GPURT_SLOT_NONE) /* relaxed: a statistic */
            gpurt_red_add_relaxed_dev_u64(&e->counts->xno_slot, 1);
    }
    gpurt_syncwarp(lanes);
    return gpurt_shfl_u32(lanes, slot, gpurt_leader(lanes));
}

/* Whether the caller's block has this slot. One that it has not is counted, and not closed: the
 * objects of those who have it would be freed under them. Only on the CPU, and in code that checks;
 * elsewhere the look would cost every section a trip to memory. Context: one lane. */
GPURT_DEV bool gpurt_slot_is_own(const uint64_t *slot, gpurt_reclaim_counts_t *counts)
{
#if !GPURT_ON_CUDA || GPURT_HEAP_CHECKS
    /* relaxed, both: the block's own word, or one that is not; a statistic */
    if ((uint32_t)gpurt_load_relaxed_dev_u64(slot) != (uint32_t)gpurt_epoch_word(0)) {
        gpurt_red_add_relaxed_dev_u64(&counts->xwrong, 1);
        return false;
    }
#else
    (void)slot;
    (void)counts;
#endif
    return true;
}

/* The same, to all lanes of the mask. */
GPURT_DEV bool gpurt_slot_is_own_all(const uint64_t *slot, gpurt_reclaim_counts_t *counts,
                                     uint32_t lanes)
{
    bool own = !gpurt_is_leader(lanes) || gpurt_slot_is_own(slot, counts);

#if !GPURT_ON_CUDA || GPURT_HEAP_CHECKS
    own = gpurt_shfl_u32(lanes, own, gpurt_leader(lanes));
#endif
    return own;
}

/* Once for each gpurt_epoch_enter: a second time may close a section of others, who have the slot by
 * then. Order: release, what the lanes did with what they met. */
GPURT_DEV void gpurt_epoch_leave(const gpurt_epochs_t *e, uint32_t slot, uint32_t lanes)
{
    gpurt_syncwarp(lanes);
    if (slot < e->slot_count && gpurt_is_leader(lanes) &&
        gpurt_slot_is_own(e->slots + slot, e->counts))
        gpurt_store_release_dev_u64(e->slots + slot, 0); /* EP1.rel */
}

/* A look at a slot that holds it open: several are on their way at a time, and the fence
 * behind all of them acquires what each brought. */
GPURT_DEV uint64_t gpurt_slot_peek(const uint64_t *word)
{
    uint64_t found = gpurt_load_relaxed_dev_u64(word); /* relaxed: the fence */

    gpurt_fence_covers(word);
    return found;
}

/* The next words of a row of slots, one a lane and step; 0 beyond its end. */
GPURT_DEV void gpurt_slots_peek(const uint64_t *slots, uint32_t slot_count, uint32_t at,
                                uint32_t step, uint64_t *words)
{
    for (uint32_t i = 0; i < GPURT_PEEKS; i++, at += step)
        words[i] = at < slot_count ? gpurt_slot_peek(slots + at) : 0;
}

/* Whether a section is open that began in another epoch. If not, all that sections which
 * have ended did comes before. Context: all lanes of the mask. */
GPURT_DEV bool gpurt_epoch_is_held(const gpurt_epochs_t *e, uint32_t lanes, uint32_t epoch)
{
    uint32_t step = gpurt_popc(lanes), rank = gpurt_popc(lanes & gpurt_lanes_below());
    bool held = false;

    for (uint32_t base = 0; base < e->slot_count; base += GPURT_PEEKS * step) {
        uint64_t words[GPURT_PEEKS];

        gpurt_slots_peek(e->slots, e->slot_count, base + rank, step, words);
        for (uint32_t i = 0; i < GPURT_PEEKS; i++)
            held |= words[i] && gpurt_epoch_of(words[i]) != epoch;
        if (gpurt_any(lanes, held))
            return true;
    }
    gpurt_fence_acquire_dev(); /* EP1.acq */
    return false;
}

/* One epoch on, if every open section has seen this one. Returns: whether. */
GPURT_DEVN bool gpurt_epoch_advance(const gpurt_epochs_t *e, uint32_t lanes)
{
    uint64_t epoch = 0;
    bool on = false;

    if (gpurt_is_leader(lanes)) {
        epoch = gpurt_load_relaxed_dev_u64(&e->counts->xepoch); /* relaxed: the fence */
        gpurt_fence_store_load_dev();
    }
    gpurt_syncwarp(lanes);
    epoch = gpurt_shfl_u64(lanes, epoch, gpurt_leader(lanes));
    if (gpurt_epoch_is_held(e, lanes, (uint32_t)epoch))
        return false;
    gpurt_syncwarp(lanes); /* the leader publishes what all have acquired */
    if (gpurt_is_leader(lanes))
        on = gpurt_cas_release_dev_u64(&e->counts->xepoch, &epoch, /* EP2.rel */
                                       (uint32_t)(epoch + 1));
    return gpurt_shfl_u32(lanes, on, gpurt_leader(lanes));
}

/* Frees what waits in a slot for long enough. Context: the slot is the caller's. Returns:
 * the epoch by which it did. */
GPURT_DEVN uint32_t gpurt_epoch_free_ripe(const gpurt_epochs_t *e, uint32_t slot,
                                          uint32_t lanes)
{
    const gpurt_limbo_item_t *items = e->items + (size_t)slot * e->limbo_size;
    gpurt_limbo_t *limbo = &e->limbos[slot];
    uint32_t rank = gpurt_popc(lanes & gpurt_lanes_below()), ripe, now = 0;

    if (gpurt_is_leader(lanes))
        now = (uint32_t)gpurt_load_acquire_dev_u64(&e->counts->xepoch); /* EP2.acq */
    now = gpurt_shfl_u32(lanes, now, gpurt_leader(lanes));
    do {
        uint32_t at = limbo->head + rank;
        gpurt_limbo_item_t item = items[at & (e->limbo_size - 1)];
        bool mine = (int32_t)(limbo->tail - at) > 0 && (int32_t)(now - item.stamp) >= 2;

        ripe = gpurt_popc(gpurt_ballot(lanes, mine)); /* the first ones: stamps only grow */
        gpurt_syncwarp(lanes); /* all have read, and what the leader acquired is all's */
        if (gpurt_is_leader(lanes))
            limbo->head += ripe;
        gpurt_syncwarp(lanes);
        if (mine) {
            gpurt_heap_free(&e->heap, (void *)(uintptr_t)item.object);
            gpurt_tally_red(&e->counts->xfreed, 1);
        }
        gpurt_syncwarp(lanes);
    } while (ripe == gpurt_popc(lanes));
    return now;
}

/* Puts objects of the lanes of `want` behind the others of a slot, as far as there is room.
 * Returns: whether this lane's was put. */
GPURT_DEV bool gpurt_epoch_put(const gpurt_epochs_t *e, uint32_t slot, uint32_t lanes,
                               uint32_t want, void *object)
{
    gpurt_limbo_t *limbo = &e->limbos[slot];
    uint32_t tail = limbo->tail, room = e->limbo_size - (tail - limbo->head);
    uint32_t rank = gpurt_popc(want & gpurt_lanes_below()), n = gpurt_popc(want);
    bool mine = (want >> gpurt_lane() & 1u) && rank < room;

    if (mine) {
        gpurt_limbo_item_t *item =
            &e->items[(size_t)slot * e->limbo_size + ((tail + rank) & (e->limbo_size - 1))];

        item->object = (uint64_t)(uintptr_t)object;
        /* While this section is open the epoch is its own or the next: sections that begin
         * until the object is out of reach have no later one. relaxed: its own word */
        item->stamp = gpurt_epoch_of(gpurt_load_relaxed_dev_u64(e->slots + slot)) + 1;
    }
    gpurt_syncwarp(lanes); /* all have read */
    if (gpurt_is_leader(lanes)) {
        limbo->tail = tail + (n < room ? n : room);
        gpurt_red_add_relaxed_dev_u64(&e->counts->xretired,
                                      n < room ? n : room); /* relaxed: a statistic */
    }
    gpurt_syncwarp(lanes);
    return mine;
}

/* Whether n objects more are reason to look at all slots: there is no room for them, or more
 * than half would be full and nobody has advanced the epoch since this was asked last. Of
 * many that retire, one looks for all. */
GPURT_DEV bool gpurt_epoch_is_due(const gpurt_epochs_t *e, const gpurt_limbo_t *limbo,
                                  uint32_t n, uint32_t now)
{
    uint32_t waiting = limbo->tail - limbo->head + n;

    return waiting > e->limbo_size || (waiting > e->limbo_size / 2 && limbo->looked == now);
}

/* Frees `object` when no section can be using it. It must be out of reach for sections that
 * begin from now on. Returns: a gpurt_retire_answer_t, to each lane its own. */
GPURT_DEVN uint32_t gpurt_epoch_retire(const gpurt_epochs_t *e, uint32_t slot,
                                       uint32_t lanes, void *object)
{
    uint32_t want = gpurt_ballot(lanes, object != NULL), n = gpurt_popc(want);
    gpurt_limbo_t *limbo;

    if (slot >= e->slot_count)
        return object ? GPURT_RETIRE_NO_SLOT : GPURT_RETIRE_KEPT;
    limbo = &e->limbos[slot];
    if (limbo->tail - limbo->head + n > e->limbo_size / 2) {
        uint32_t now;
        bool due;

        now = gpurt_epoch_free_ripe(e, slot, lanes); /* meets before it changes anything */
        due = gpurt_epoch_is_due(e, limbo, n, now);
        gpurt_syncwarp(lanes); /* all have read */
        if (due) {
            now += gpurt_epoch_advance(e, lanes);
            gpurt_epoch_free_ripe(e, slot, lanes);
        }
        if (gpurt_is_leader(lanes))
            limbo->looked = now; /* read when lanes have met again: below, in the put */
    }
    if (gpurt_epoch_put(e, slot, lanes, want, object) || !object)
        return GPURT_RETIRE_KEPT;
    gpurt_red_add_relaxed_dev_u64(&e->counts->xfull, 1); /* relaxed: a statistic */
    return GPURT_RETIRE_FULL;
}

/* Takes this slot if nobody has it, for the lanes. */
GPURT_DEVN bool gpurt_slot_borrow(uint64_t *slot, uint64_t word, uint32_t lanes)
{
    uint64_t was = 0;
    bool taken = false;

    if (gpurt_is_leader(lanes))
        taken = gpurt_load_relaxed_dev_u64(slot) == 0 &&     /* relaxed: a look */
                gpurt_cas_acquire_dev_u64(slot, &was, word); /* EP1.acq */
    gpurt_syncwarp(lanes);
    return gpurt_shfl_u32(lanes, taken, gpurt_leader(lanes));
}

/* Frees what can be freed in slots that nobody has taken: for who was refused memory.
 * Nothing depends on it. Context: outside of sections. */
GPURT_DEVN void gpurt_epoch_flush(const gpurt_epochs_t *e, uint32_t lanes)
{
    for (uint32_t i = 0; i < 3; i++)
        gpurt_epoch_advance(e, lanes);
    for (uint32_t slot = 0; slot < e->slot_count; slot++) {
        /* relaxed: of any epoch; at worst it holds the next one up meanwhile */
        uint64_t epoch = gpurt_load_relaxed_dev_u64(&e->counts->xepoch);

        if (!gpurt_slot_borrow(e->slots + slot, gpurt_epoch_word((uint32_t)epoch), lanes))
            continue;
        gpurt_epoch_free_ripe(e, slot, lanes);
        gpurt_epoch_leave(e, slot, lanes);
    }
}

#endif
