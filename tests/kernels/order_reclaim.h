/* SPDX-License-Identifier: Apache-2.0 */
/* order_reclaim.h - scenes of what frees later: sections, hazard pointers, counted objects. For
 * order_kernels.c only. */
#ifndef GPURT_TESTS_ORDER_RECLAIM_H
#define GPURT_TESTS_ORDER_RECLAIM_H

#include "order_heap.h"

#include <gpurt/epoch.h>
#include <gpurt/hazard.h>
#include <gpurt/ref.h>

/* ---- sections ------------------------------------------------------------------------ */

GPURT_DEVN void order_section(const struct order_args *p, bool first)
{
    uint32_t slot = first || p->scene == ORDER_SECTION_NEXT
                        ? gpurt_epoch_enter(&p->one, GPURT_FULL_MASK)
                        : 0;

    order_expect(p, slot == 0);
    if (first) {
        order_write(p);
        gpurt_epoch_leave(&p->one, slot, GPURT_FULL_MASK);
        return;
    }
    if (p->scene == ORDER_BORROW)
        order_expect(p,
                     gpurt_slot_borrow(p->one.slots, gpurt_epoch_word(1), GPURT_FULL_MASK));
    order_read(p);
}

/* Left, seen by another lane than the one that advances, freed by a third warp. */
GPURT_DEVN void order_epoch(const struct order_args *p, uint32_t block)
{
    uint64_t word =
        gpurt_epoch_word((uint32_t)gpurt_load_relaxed_dev_u64(&p->few.counts->xepoch));

    if (block == 0) {
        gpurt_slot_borrow(p->few.slots + ORDER_SECTION, word, GPURT_FULL_MASK);
        order_write(p);
        gpurt_epoch_leave(&p->few, ORDER_SECTION, GPURT_FULL_MASK);
    } else if (block == 1) {
        order_expect(p, gpurt_epoch_advance(&p->few, GPURT_FULL_MASK));
    } else {
        gpurt_epoch_free_ripe(&p->few, 0, GPURT_FULL_MASK);
        order_read(p);
    }
}

/* ---- hazard pointers ----------------------------------------------------------------- */

/* What a lane used it lets go of: by a clear, or by the next one. */
GPURT_DEVN void order_hazard(const struct order_args *p, bool first)
{
    const gpurt_hazards_t *h = &p->hazards;
    uint64_t objects[GPURT_HAZARD_BATCH] = {0};
    uint32_t slot;

    if (!first && p->scene != ORDER_HAZARD_SLOT) {
        objects[0] = (uint64_t)(uintptr_t)p->notes;
        order_expect(p, gpurt_hazard_used(h, GPURT_FULL_MASK, objects) == 0);
        order_read(p);
        return;
    }
    slot = gpurt_hazard_open(h, GPURT_FULL_MASK);
    order_expect(p, slot == 0);
    if (!first) {
        order_read(p);
        return;
    }
    gpurt_hazard_set(h, slot, 0, p->notes);
    order_write(p);
    if (p->scene == ORDER_HAZARD_SLOT)
        gpurt_hazard_close(h, slot, GPURT_FULL_MASK);
    else if (p->scene == ORDER_HAZARD_CLEAR)
        gpurt_hazard_clear(h, slot, 0);
    else
        gpurt_hazard_set(h, slot, 0, p->cells);
}

GPURT_DEVN void order_hazard_find(const struct order_args *p, bool first)
{
    if (first) {
        order_write_all(p);
        gpurt_hazard_publish(p->cells, p->notes);
        return;
    }
    order_expect(p, gpurt_hazard_protect(&p->hazards, 0, 0, p->cells) == p->notes);
    order_read(p);
}

/* An object is unlinked while a lane is about to name it: either that finds out in time, or who
 * unlinked it sees it named, as a scan would. cells: where it is linked, whether the lane is there, whether
 * the object is gone. Context: one lane of each block. */
GPURT_DEVN void order_hazard_late(const struct order_args *p, bool first)
{
    const gpurt_hazards_t *h = &p->hazards;
    uint64_t object = (uint64_t)(uintptr_t)p->notes;

    if (first) {
        gpurt_store_relaxed_dev_u64(p->cells, object);
        gpurt_store_relaxed_dev_u64(p->cells + 1, 1);
        if (gpurt_hazard_protect(h, 0, 0, p->cells) == p->notes) {
            gpurt_red_add_relaxed_dev_u32(p->xmet, 1);
            gpurt_relax();
            order_expect(p, !gpurt_load_relaxed_dev_u64(p->cells + 2));
        }
        return;
    }
    while (!gpurt_load_relaxed_dev_u64(p->cells + 1))
        gpurt_relax();
    gpurt_xchg_acq_rel_dev_u64(p->cells, 0);
    gpurt_fence_store_load_dev();
    if (gpurt_slot_peek(gpurt_hazard_pointer(h, 0, 0)) != object)
        gpurt_store_relaxed_dev_u64(p->cells + 2, 1);
}

/* Objects of all lanes, again and again, with nothing between the calls: the words of a slot are
 * handed from lane to lane by these alone. Context: one warp. */
GPURT_DEVN void order_retire(const struct order_args *p)
{
    bool epoch = p->scene == ORDER_RETIRE_EPOCH;
    void *objects[ORDER_RETIRES];
    uint32_t slot;

    for (uint32_t i = 0; i < ORDER_RETIRES; i++)
        objects[i] = gpurt_heap_alloc(&p->heap, 16);
    slot = epoch ? gpurt_epoch_enter(&p->few, GPURT_FULL_MASK)
                 : gpurt_hazard_open(&p->hazards, GPURT_FULL_MASK);
    if (!epoch && gpurt_lane() % 2) /* of the first ones every other stays */
        gpurt_hazard_set(&p->hazards, slot, 0, objects[0]);
    for (uint32_t i = 0; i < ORDER_RETIRES; i++)
        if (epoch)
            gpurt_epoch_retire(&p->few, slot, GPURT_FULL_MASK, objects[i]);
        else
            gpurt_hazard_retire(&p->hazards, slot, GPURT_FULL_MASK, objects[i]);
    if (epoch)
        gpurt_epoch_leave(&p->few, slot, GPURT_FULL_MASK);
    else
        gpurt_hazard_close(&p->hazards, slot, GPURT_FULL_MASK);
    for (uint32_t i = 0; i < 2; i++) /* then there is nothing left */
        if (epoch)
            gpurt_epoch_flush(&p->few, GPURT_FULL_MASK);
        else
            gpurt_hazard_flush(&p->hazards, GPURT_FULL_MASK);
}

/* ---- counted objects ----------------------------------------------------------------- */

GPURT_DEVN void order_ref_record(const struct order_args *p, bool first)
{
    uint32_t answer;

    if (first) {
        if (gpurt_lane() == 0) {
            order_write_all(p);
            order_tell(p, gpurt_ref_alloc(&p->refs, 16, 0, &answer));
        }
        return;
    }
    order_expect(p, gpurt_ref_try_retain(&p->refs, order_told(p)) == GPURT_REF_OK);
    order_read(p);
}

/* All lanes use an object and let go; one reference stays, the last one's. */
GPURT_DEVN void order_ref_last(const struct order_args *p, bool first)
{
    gpurt_ref_t ref = 0;
    uint32_t answer;

    if (first) {
        if (gpurt_lane() == 0)
            ref = gpurt_ref_alloc(&p->refs, 16, 0, &answer);
        ref = gpurt_shfl_u64(GPURT_FULL_MASK, ref, 0);
        gpurt_ref_retain(&p->refs, ref);
        order_write(p);
        order_expect(p, gpurt_ref_release(&p->refs, ref) == GPURT_REF_OK);
        if (gpurt_lane() == 0)
            order_tell(p, ref);
    } else if (gpurt_lane() == 0) {
        order_expect(p, gpurt_ref_release(&p->refs, order_told(p)) == GPURT_REF_FREED);
        order_read(p);
    }
}

/* A count was added by mistake, and outlives the owner's. Context: one lane. */
GPURT_DEVN void order_ref_undo(const struct order_args *p, bool first)
{
    gpurt_ref_t ref;
    uint32_t answer;

    if (!first) {
        gpurt_ref_undo(&p->refs, p->refs.records + order_told(p), 1);
        order_read(p);
        return;
    }
    ref = gpurt_ref_alloc(&p->refs, 16, 0, &answer);
    gpurt_red_add_relaxed_dev_u64(&p->refs.records[(uint32_t)ref].xword, 1);
    order_write_all(p);
    order_expect(p, gpurt_ref_release(&p->refs, ref) == GPURT_REF_OK);
    order_tell(p, (uint32_t)ref);
}

GPURT_DEVN void order_numbers(const struct order_args *p, bool first)
{
    uint32_t number = gpurt_slotset_take(&p->refs.unused, GPURT_FULL_MASK);

    order_expect(p, number != GPURT_SLOT_NONE);
    if (first) {
        order_write(p);
        gpurt_slotset_put(&p->refs.unused, number);
    } else {
        order_read(p);
    }
}

#endif
