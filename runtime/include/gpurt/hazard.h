/* SPDX-License-Identifier: Apache-2.0 */
/* hazard.h - pointers that lanes say they are using: what is named is not freed.
 *
 *     uint32_t slot = gpurt_hazard_open(&p->hazards, lanes);
 *     node = (struct node *)gpurt_hazard_protect(&p->hazards, slot, 0, &p->head);
 *     ... *node stays until the lane names another by the same pointer, or ...
 *     gpurt_hazard_clear(&p->hazards, slot, 0);
 *     gpurt_hazard_retire(&p->hazards, slot, lanes, node);    unlinked; NULL: none
 *     gpurt_hazard_close(&p->hazards, slot, lanes);
 *
 * Each lane of a warp has `each` pointers of its own. Beside epochs (epoch.h): a use costs a
 * fence for each pointer, not for each section, and a warp that stops holds up the objects
 * that it names, not all. What waits is bounded: a slot that is full of objects that are in
 * use says GPURT_RETIRE_FULL, and the object is still the caller's. Without a slot, or by a pointer
 * of number `each` or more, nothing is protected: gpurt_hazard_protect gives NULL, and the host's
 * statistics count it as wrong. A warp that is cancelled keeps its slot until the host sweeps
 * (reclaim.h).
 * Context: device code; open, close, retire and scan: all lanes of the mask together; the
 * others: any lane alone. Lock-free. */
#ifndef GPURT_HAZARD_H
#define GPURT_HAZARD_H

#include <gpurt/alloc.h>
#include <gpurt/epoch.h>
#include <gpurt/impl/reclaimmap.h>
#include <gpurt/impl/warptally.h>

enum {
    GPURT_HAZARD_BATCH = 8 /* objects of a lane that one look at all pointers is for */
};

GPURT_DEV uint64_t *gpurt_hazard_pointer(const gpurt_hazards_t *h, uint32_t slot,
                                         uint32_t k)
{
    return h->pointers + ((size_t)slot * h->each + k) * GPURT_WARP_SIZE + gpurt_lane();
}

/* Returns: the warp's slot; GPURT_SLOT_NONE when all are taken. */
GPURT_DEVN uint32_t gpurt_hazard_open(const gpurt_hazards_t *h, uint32_t lanes)
{
    uint32_t slot = GPURT_SLOT_NONE;

    if (gpurt_is_leader(lanes)) {
        slot = gpurt_slot_take(h->slots, h->slot_count, gpurt_epoch_word(0));
        if (slot == GPURT_SLOT_NONE) /* relaxed: a statistic */
            gpurt_red_add_relaxed_dev_u64(&h->counts->xno_slot, 1);
    }
    gpurt_syncwarp(lanes);
    return gpurt_shfl_u32(lanes, slot, gpurt_leader(lanes));
}

/* Whether there is such a pointer. One that is not is counted. */
GPURT_DEV bool gpurt_hazard_is_there(const gpurt_hazards_t *h, uint32_t slot, uint32_t k)
{
    if (GPURT_LIKELY(slot < h->slot_count && k < h->each))
        return true;
    if (h->counts) /* relaxed: a statistic */
        gpurt_red_add_relaxed_dev_u64(&h->counts->xwrong, 1);
    return false;
}

/* gpurt_hazard_set by a pointer that is there. */
GPURT_DEV void gpurt_hazard_name(const gpurt_hazards_t *h, uint32_t slot, uint32_t k,
                                 const void *object)
{
    gpurt_store_release_dev_u64(gpurt_hazard_pointer(h, slot, k), /* HZ1.rel */
                                (uint64_t)(uintptr_t)object);
    gpurt_fence_store_load_dev();
}

/* Says that this lane uses an object, and no longer the one before. It holds from the next
 * look on that finds the object still linked: whoever frees either sees the pointer, or
 * unlinked before that look. Order: release, what the lane did with the one before. */
GPURT_DEV void gpurt_hazard_set(const gpurt_hazards_t *h, uint32_t slot, uint32_t k,
                                const void *object)
{
    if (gpurt_hazard_is_there(h, slot, k))
        gpurt_hazard_name(h, slot, k, object);
}

/* Links an object where others find it by gpurt_hazard_protect; any release of the
 * program's own does as well. Order: release. */
GPURT_DEV void gpurt_hazard_publish(uint64_t *where, const void *object)
{
    gpurt_store_release_dev_u64(where, (uint64_t)(uintptr_t)object); /* HZ2.rel */
}

/* What *from points to, which stays until the pointer is set anew or cleared. Loops only
 * when another has changed *from meanwhile. Returns: NULL, too, where there is no such pointer: look
 * whether gpurt_hazard_open gave a slot. Order: acquire. */
GPURT_DEV void *gpurt_hazard_protect(const gpurt_hazards_t *h, uint32_t slot, uint32_t k,
                                     uint64_t *from)
{
    uint64_t seen, again;

    if (!gpurt_hazard_is_there(h, slot, k))
        return NULL;
    seen = gpurt_load_relaxed_dev_u64(from); /* relaxed: looked at again */
    for (;;) {
        gpurt_hazard_name(h, slot, k, (void *)(uintptr_t)seen);
        again = gpurt_load_acquire_dev_u64(from); /* HZ2.acq */
        if (again == seen)
            return (void *)(uintptr_t)seen;
        seen = again;
        gpurt_relax();
    }
}

/* Order: release, what the lane did with the object. */
GPURT_DEV void gpurt_hazard_clear(const gpurt_hazards_t *h, uint32_t slot, uint32_t k)
{
    if (gpurt_hazard_is_there(h, slot, k))
        gpurt_store_release_dev_u64(gpurt_hazard_pointer(h, slot, k), 0); /* HZ1.rel */
}

/* Once for each gpurt_hazard_open, as of gpurt_epoch_leave. */
GPURT_DEVN void gpurt_hazard_close(const gpurt_hazards_t *h, uint32_t slot, uint32_t lanes)
{
    if (slot >= h->slot_count || !gpurt_slot_is_own_all(h->slots + slot, h->counts, lanes))
        return;
    for (uint32_t k = 0; k < h->each; k++)
        gpurt_hazard_clear(h, slot, k);
    gpurt_syncwarp(lanes);
    if (gpurt_is_leader(lanes))
        gpurt_store_release_dev_u64(h->slots + slot, 0); /* EP1.rel */
}

/* Of this lane's objects those that are among the words that the lanes have loaded. */
GPURT_DEV uint32_t gpurt_hazard_compare(uint32_t lanes, uint64_t mine,
                                        const uint64_t *objects)
{
    uint32_t named = 0;

    for (uint32_t some = gpurt_ballot(lanes, mine != 0); some; some &= some - 1) {
        uint64_t other = gpurt_shfl_u64(lanes, mine, gpurt_leader(some));

        for (uint32_t i = 0; i < GPURT_HAZARD_BATCH; i++)
            named |= (uint32_t)(other == objects[i]) << i;
    }
    return named;
}

/* Of this lane's objects those that a taken slot names: bit i for objects[i]. taken: of the
 * slots from `base` on, one for each lane, by lane. Several rows of pointers are on their way
 * at a time. */
GPURT_DEVN uint32_t gpurt_hazard_named(const gpurt_hazards_t *h, uint32_t lanes,
                                       uint32_t base, uint32_t taken,
                                       const uint64_t *objects)
{
    uint32_t words = h->each * GPURT_WARP_SIZE, step = gpurt_popc(lanes), at = 0;
    uint32_t rank = gpurt_popc(lanes & gpurt_lanes_below()), named = 0;

    while (taken) {
        uint64_t rows[GPURT_PEEKS];

        for (uint32_t i = 0; i < GPURT_PEEKS; i++) {
            uint32_t below = taken ? (taken & (0u - taken)) - 1 : 0;
            uint64_t first = (uint64_t)(base + gpurt_popc(lanes & below)) * words;
            bool is_one = taken && at + rank < words;

            rows[i] = is_one ? gpurt_slot_peek(h->pointers + first + at + rank) : 0;
            at += step;
            if (at >= words) {
                at = 0;
                taken &= taken - 1;
            }
        }
        for (uint32_t i = 0; i < GPURT_PEEKS; i++)
            named |= gpurt_hazard_compare(lanes, rows[i], objects);
    }
    return named;
}

/* The same of all slots. What lanes did with objects that they no longer name comes before.
 * Context: all lanes of the mask. */
GPURT_DEV uint32_t gpurt_hazard_used(const gpurt_hazards_t *h, uint32_t lanes,
                                     const uint64_t *objects)
{
    uint32_t step = gpurt_popc(lanes), rank = gpurt_popc(lanes & gpurt_lanes_below());
    uint32_t named = 0;

    for (uint32_t base = 0; base < h->slot_count; base += GPURT_PEEKS * step) {
        uint64_t words[GPURT_PEEKS];

        gpurt_slots_peek(h->slots, h->slot_count, base + rank, step, words);
        for (uint32_t i = 0; i < GPURT_PEEKS; i++)
            named |= gpurt_hazard_named(h, lanes, base + i * step,
                                        gpurt_ballot(lanes, words[i] != 0), objects);
    }
    gpurt_fence_acquire_dev(); /* EP1.acq HZ1.acq */
    gpurt_syncwarp(lanes);     /* each has acquired what the others have */
    return named;
}

/* Moves what is left of a slot's retired objects together. */
GPURT_DEV void gpurt_hazard_pack(const gpurt_hazards_t *h, uint32_t slot, uint32_t lanes)
{
    uint64_t *retired = h->retired + (size_t)slot * h->retired_size;
    uint32_t count = h->retired_counts[slot], left = 0;
    uint32_t rank = gpurt_popc(lanes & gpurt_lanes_below());

    for (uint32_t base = 0; base < count; base += gpurt_popc(lanes)) {
        uint64_t object = base + rank < count ? retired[base + rank] : 0;
        uint32_t kept = gpurt_ballot(lanes, object != 0);

        gpurt_syncwarp(lanes); /* all have read */
        if (object)
            retired[left + gpurt_popc(kept & gpurt_lanes_below())] = object;
        left += gpurt_popc(kept);
    }
    gpurt_syncwarp(lanes);
    if (gpurt_is_leader(lanes))
        h->retired_counts[slot] = left;
    gpurt_syncwarp(lanes);
}

/* Frees what nobody names of a slot's retired objects. Each goes out of the list before it
 * is freed, so that a lane that ends in a free leaves none behind that is free already.
 * Context: the slot is the caller's. */
GPURT_DEVN void gpurt_hazard_scan(const gpurt_hazards_t *h, uint32_t slot, uint32_t lanes)
{
    uint64_t *retired = h->retired + (size_t)slot * h->retired_size;
    uint32_t count = h->retired_counts[slot], step = gpurt_popc(lanes), freed = 0;
    uint32_t rank = gpurt_popc(lanes & gpurt_lanes_below());

    gpurt_fence_store_load_dev(); /* what was unlinked before is unlinked for who sets now */
    gpurt_syncwarp(lanes);
    for (uint32_t base = 0; base < count; base += GPURT_HAZARD_BATCH * step) {
        uint64_t objects[GPURT_HAZARD_BATCH];
        uint32_t used;

        for (uint32_t i = 0; i < GPURT_HAZARD_BATCH; i++) {
            uint32_t at = base + i * step + rank;

            objects[i] = at < count ? retired[at] : 0;
        }
        used = gpurt_hazard_used(h, lanes, objects);
        for (uint32_t i = 0; i < GPURT_HAZARD_BATCH; i++) {
            if (!objects[i] || used >> i & 1u)
                continue;
            retired[base + i * step + rank] = 0;
            gpurt_heap_free(&h->heap, (void *)(uintptr_t)objects[i]);
            freed++;
        }
        gpurt_syncwarp(lanes);
    }
    gpurt_tally_red(&h->counts->xfreed, freed);
    gpurt_hazard_pack(h, slot, lanes);
}

/* Frees `object` when nobody names it. It must be out of reach. Returns: a
 * gpurt_retire_answer_t, to each lane its own. */
GPURT_DEVN uint32_t gpurt_hazard_retire(const gpurt_hazards_t *h, uint32_t slot,
                                        uint32_t lanes, void *object)
{
    uint32_t want = gpurt_ballot(lanes, object != NULL), n = gpurt_popc(want);
    uint32_t rank = gpurt_popc(want & gpurt_lanes_below()), count, room;
    bool mine;

    if (slot >= h->slot_count)
        return object ? GPURT_RETIRE_NO_SLOT : GPURT_RETIRE_KEPT;
    if (h->retired_counts[slot] + n > h->retired_size)
        gpurt_hazard_scan(h, slot, lanes); /* meets before it changes anything */
    count = h->retired_counts[slot];
    room = h->retired_size - count;
    mine = object && rank < room;
    if (mine)
        h->retired[(size_t)slot * h->retired_size + count + rank] =
            (uint64_t)(uintptr_t)object;
    gpurt_syncwarp(lanes); /* all have looked */
    if (gpurt_is_leader(lanes)) {
        h->retired_counts[slot] = count + (n < room ? n : room);
        gpurt_red_add_relaxed_dev_u64(&h->counts->xretired,
                                      n < room ? n : room); /* relaxed: a statistic */
    }
    gpurt_syncwarp(lanes);
    if (mine || !object)
        return GPURT_RETIRE_KEPT;
    gpurt_red_add_relaxed_dev_u64(&h->counts->xfull, 1); /* relaxed: a statistic */
    return GPURT_RETIRE_FULL;
}

/* Frees what nobody names of what waits in slots that nobody has taken: for who was refused
 * memory. Context: the lanes have no slot. */
GPURT_DEVN void gpurt_hazard_flush(const gpurt_hazards_t *h, uint32_t lanes)
{
    for (uint32_t slot = 0; slot < h->slot_count; slot++) {
        if (!gpurt_slot_borrow(h->slots + slot, gpurt_epoch_word(0), lanes))
            continue;
        gpurt_hazard_scan(h, slot, lanes);
        gpurt_hazard_close(h, slot, lanes);
    }
}

#endif
