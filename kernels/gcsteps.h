/* SPDX-License-Identifier: Apache-2.0 */
/* gcsteps.h - what the steps of a collection do. Kernels of the program run beside all of
 * them; docs/RECLAMATION.md says why that is sound. `rank` of `step` lanes share a step that
 * goes through all entries. For gc_kernels.c, and for tests that put mutators and collector
 * under one schedule. */
#ifndef GPURT_HOST_GCSTEPS_H
#define GPURT_HOST_GCSTEPS_H

#include "gc_kernels.h"

#include <gpurt/device.h>
#include <gpurt/impl/warptally.h>
#include <gpurt/object.h>

enum {
    GPURT_GC_PATIENCE = 4096 /* looks at an empty place while nobody gets on */
};

/* ---- before -------------------------------------------------------------------------- */

/* The queue is empty: no section shades between cycles. */
GPURT_DEVN void gpurt_gc_reset_all(const struct gpurt_gc_args *p, uint32_t rank,
                                   uint32_t step)
{
    gpurt_gc_control_t *c = p->gc.control;

    for (uint32_t i = rank; i < p->gc.entry_count; i += step)
        gpurt_store_relaxed_dev_u32(p->gc.queue + i, 0); /* relaxed, all: next launch */
    if (rank == 0) {
        gpurt_store_relaxed_dev_u32(&c->xhead, 0);
        gpurt_store_relaxed_dev_u32(&c->xtail, 0);
        gpurt_store_relaxed_dev_u64(&c->xmarked, 0);
        gpurt_store_relaxed_dev_u32(&c->xdone, 0);
    }
}

/* Until every section that was open when it began has ended, or polls are used up. One
 * warp. */
GPURT_DEVN bool gpurt_gc_wait_warp(const struct gpurt_gc_args *p)
{
    gpurt_gc_control_t *c = p->gc.control;
    const gpurt_epochs_t *e = &p->gc.sections;
    uint64_t target = 0;
    bool reached = false;

    if (gpurt_lane() == 0 && p->begins) {
        gpurt_store_release_dev_u64(&c->course.xcontrol, p->control); /* GC3.rel */
        /* Whoever has not seen that is seen by who advances from here on. */
        gpurt_fence_store_load_dev();
        target =
            gpurt_load_relaxed_dev_u64(&e->counts->xepoch) + 2; /* relaxed: the fence */
        gpurt_store_relaxed_dev_u64(&c->course.xtarget, (uint32_t)target);
        if (p->marked) { /* relaxed, all: the next launch; what comes meanwhile is sought */
            uint32_t tail = gpurt_load_relaxed_dev_u32(&c->xtail);

            gpurt_store_relaxed_dev_u32(&c->xhead, tail);
            gpurt_store_relaxed_dev_u32(&c->xdone, tail);
        }
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
    target = gpurt_load_relaxed_dev_u64(&c->course.xtarget); /* relaxed: this warp's own */
    for (uint32_t i = 0; i < p->polls && !reached; i++) {
        uint64_t now = gpurt_load_acquire_dev_u64(&e->counts->xepoch); /* EP2.acq */

        reached =
            gpurt_any(GPURT_FULL_MASK, (int32_t)((uint32_t)now - (uint32_t)target) >= 0);
        if (!reached && !gpurt_epoch_advance(e, GPURT_FULL_MASK))
            gpurt_relax();
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
    if (gpurt_lane() == 0)
        gpurt_store_relaxed_dev_u32(&c->course.xreached,
                                    reached); /* relaxed: the host waits */
    return reached;
}

/* ---- marking ------------------------------------------------------------------------- */

/* Shades what an object refers to. Returns: whether a young one was there. */
GPURT_DEVN bool gpurt_gc_look_through(const struct gpurt_gc_args *p, gpurt_gc_entry_t *e)
{
    /* relaxed, all: ordered by who shaded the object */
    uint64_t *words = (uint64_t *)(uintptr_t)gpurt_load_relaxed_dev_u64(&e->xaddress);
    uint32_t count = gpurt_load_relaxed_dev_u32(&e->xsize) / 8;
    const gpurt_gc_type_t *type =
        p->gc.types + (gpurt_load_relaxed_dev_u32(&e->xmeta) >> 16);
    uint64_t some = type->handles & (count < 64 ? (1ull << count) - 1 : ~0ull);
    uint32_t word = some ? gpurt_ctz64(some) : type->tail;
    bool young = false;

    while (word < count) {
        gpurt_object_t object = gpurt_load_acquire_dev_u64(words + word); /* GC1.acq */

        if (object && (uint32_t)object < p->gc.entry_count)
            young |= !gpurt_gc_is_old(
                gpurt_load_relaxed_dev_u32(&p->gc.entries[(uint32_t)object].xmeta));
        gpurt_gc_shade(&p->gc, p->cycle, p->flags, object);
        some &= some - 1;
        word = some ? gpurt_ctz64(some) : word >= type->tail ? word + 1 : type->tail;
    }
    return young;
}

/* Looks through an entry that was shaded, if nobody else does. Returns: whether. */
GPURT_DEV bool gpurt_gc_blacken(const struct gpurt_gc_args *p, gpurt_gc_entry_t *e)
{
    uint32_t grey = p->cycle << 1;

    if (!gpurt_cas_acquire_dev_u32(&e->xmark, &grey, grey | 1)) /* GC4.acq */
        return false;
    gpurt_gc_look_through(p, e);
    return true;
}

/* Where marking begins: the roots; of a minor cycle also old objects that were written. */
GPURT_DEVN void gpurt_gc_begin_all(const struct gpurt_gc_args *p, uint32_t rank,
                                   uint32_t step)
{
    for (uint32_t i = rank; i < p->gc.root_count; i += step)
        gpurt_gc_shade(&p->gc, p->cycle, p->flags,
                       gpurt_load_acquire_dev_u64(p->gc.roots + i)); /* GC1.acq */
    if (!(p->flags & GPURT_GC_MINOR))
        return;
    for (uint32_t i = rank; i < p->gc.entry_count; i += step) {
        gpurt_gc_entry_t *e = p->gc.entries + i;
        uint32_t meta;

        if (!gpurt_load_acquire_dev_u64(&e->xaddress)) /* GC5.acq */
            continue;
        meta = gpurt_load_relaxed_dev_u32(&e->xmeta); /* relaxed: a look */
        if (!gpurt_gc_is_old(meta) || !(meta & GPURT_GC_DIRTY))
            continue;
        gpurt_and_acquire_dev_u32(&e->xmeta, ~GPURT_GC_DIRTY); /* GC2.acq */
        if (gpurt_gc_look_through(p, e)) /* relaxed: says nothing new */
            gpurt_red_or_relaxed_dev_u32(&e->xmeta, GPURT_GC_DIRTY);
    }
}

/* Whether all that was put into the queue has been looked through: then true. If not, and
 * nobody got on since the last call, *idle grows. Context: a warp. */
GPURT_DEV bool gpurt_gc_is_over(gpurt_gc_control_t *c, uint32_t *seen, uint32_t *idle)
{
    uint32_t done = 0, tail = 0;

    if (gpurt_lane() == 0) {
        done = gpurt_load_acquire_dev_u32(&c->xdone); /* GC6.acq */
        tail = gpurt_load_relaxed_dev_u32(&c->xtail); /* relaxed: after the acquire */
    }
    done = gpurt_shfl_u32(GPURT_FULL_MASK, done, 0);
    tail = gpurt_shfl_u32(GPURT_FULL_MASK, tail, 0);
    *idle = done == *seen ? *idle + 1 : 0;
    *seen = done;
    return done == tail;
}

/* Looks through what comes into the 32 places of the queue that this warp has drawn, until
 * all have been filled or nobody is left who could. Returns: whether all were. */
GPURT_DEVN bool gpurt_gc_mark_row(const struct gpurt_gc_args *p, uint32_t first)
{
    gpurt_gc_control_t *c = p->gc.control;
    uint32_t at = first + gpurt_lane(), idle = 0, seen = 0, marked = 0;
    bool waits = at < p->gc.entry_count, over = false;

    while (!over && idle < GPURT_GC_PATIENCE && gpurt_any(GPURT_FULL_MASK, waits)) {
        /* relaxed: a hint; what is not there yet, or is lost, is sought */
        uint32_t index = waits ? gpurt_load_relaxed_dev_u32(p->gc.queue + at) : 0;
        uint32_t come = gpurt_ballot(GPURT_FULL_MASK, index != 0);

        if (index) {
            marked += gpurt_gc_blacken(p, p->gc.entries + index - 1);
            waits = false;
        }
        gpurt_syncwarp(GPURT_FULL_MASK); /* what they shaded is counted in the tail */
        if (come && gpurt_lane() == 0)
            gpurt_red_add_release_dev_u32(&c->xdone, gpurt_popc(come)); /* GC6.rel */
        if (come)
            continue;
        over = gpurt_gc_is_over(c, &seen, &idle);
        gpurt_relax();
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
    gpurt_tally_red(&c->xmarked, marked);
    return !gpurt_any(GPURT_FULL_MASK, waits);
}

/* Looks through what is in the queue, and what that brings in, until nothing is left. Warps
 * draw places before anything is there, so that no two want the same. */
GPURT_DEVN void gpurt_gc_mark_all(const struct gpurt_gc_args *p)
{
    uint32_t *head = &p->gc.control->xhead, first;

    do {
        first = 0;
        if (gpurt_lane() == 0) /* relaxed: a ticket */
            first = gpurt_add_relaxed_dev_u32(head, (uint32_t)GPURT_WARP_SIZE);
        first = gpurt_shfl_u32(GPURT_FULL_MASK, first, 0);
    } while (first < p->gc.entry_count && gpurt_gc_mark_row(p, first));
}

/* Looks through all that is shaded and not looked through: the queue may have lost some. */
GPURT_DEVN void gpurt_gc_seek_all(const struct gpurt_gc_args *p, uint32_t rank,
                                  uint32_t step)
{
    uint32_t found = 0;

    for (uint32_t i = rank; i < p->gc.entry_count; i += step) {
        gpurt_gc_entry_t *e = p->gc.entries + i;

        /* relaxed: only who is shaded matters, and what gpurt_gc_blacken does acquires */
        if (gpurt_load_relaxed_dev_u32(&e->xmark) == p->cycle << 1)
            found += gpurt_gc_blacken(p, e);
    }
    if (found) /* relaxed: the host looks */
        gpurt_red_add_relaxed_dev_u32(&p->gc.control->course.xfound, found);
    gpurt_tally_red(&p->gc.control->xmarked, found);
}

/* ---- after --------------------------------------------------------------------------- */

/* Another cycle lived through. Returns: whether it has become old. */
GPURT_DEV bool gpurt_gc_grow_older(gpurt_gc_entry_t *e, uint32_t meta)
{
    if (gpurt_gc_is_old(meta))
        return false;
    if (gpurt_gc_age(meta) + 1 < GPURT_GC_OLD_AGE) {
        gpurt_red_add_relaxed_dev_u32(&e->xmeta, GPURT_GC_AGE); /* relaxed: its own */
        return false;
    }
    /* Old from now on, and dirty: nobody has noted what it refers to. One atomic for both,
     * or a write in between would note it for nothing. Nobody else sets flags of the young. */
    gpurt_red_add_relaxed_dev_u32(&e->xmeta, GPURT_GC_AGE | GPURT_GC_DIRTY);
    return true;
}

/* Handles of what was not reached are dead from here on; its memory waits for sections that
 * may have been given its address. */
GPURT_DEVN void gpurt_gc_condemn_all(const struct gpurt_gc_args *p, uint32_t rank,
                                     uint32_t step)
{
    uint32_t promoted = 0;

    for (uint32_t i = rank; i < p->gc.entry_count; i += step) {
        gpurt_gc_entry_t *e = p->gc.entries + i;
        uint32_t meta, generation;

        if (!gpurt_load_acquire_dev_u64(&e->xaddress)) /* GC5.acq */
            continue;
        meta = gpurt_load_relaxed_dev_u32(&e->xmeta); /* relaxed, all: GC5 ordered them */
        if (((p->flags & GPURT_GC_MINOR) && gpurt_gc_is_old(meta)) ||
            !gpurt_gc_is_older(gpurt_load_relaxed_dev_u32(&e->xmark), p->cycle)) {
            promoted += gpurt_gc_grow_older(e, meta);
            continue;
        }
        if (meta & GPURT_GC_DYING)
            continue;
        generation = gpurt_load_relaxed_dev_u32(&e->xgeneration) + 1;
        gpurt_store_relaxed_dev_u32(&e->xgeneration, generation ? generation : 1);
        gpurt_red_or_relaxed_dev_u32(&e->xmeta, GPURT_GC_DYING);
    }
    gpurt_tally_red(&p->gc.control->xpromoted, promoted);
}

GPURT_DEVN void gpurt_gc_free_all(const struct gpurt_gc_args *p, uint32_t rank,
                                  uint32_t step)
{
    uint64_t freed = 0, bytes = 0;

    for (uint32_t i = rank; i < p->gc.entry_count; i += step) {
        gpurt_gc_entry_t *e = p->gc.entries + i;
        uint64_t object = gpurt_load_acquire_dev_u64(&e->xaddress); /* GC5.acq */
        uint32_t meta = gpurt_load_relaxed_dev_u32(&e->xmeta); /* relaxed, all: likewise */

        if (!object || !(meta & GPURT_GC_DYING))
            continue;
        freed++;
        bytes += gpurt_load_relaxed_dev_u32(&e->xsize);
        gpurt_store_relaxed_dev_u64(&e->xaddress, 0); /* relaxed: the set publishes it */
        gpurt_slotset_put(&p->gc.unused, i);
        gpurt_heap_free_at(&p->gc.heap, (void *)(uintptr_t)object, "gpurt_gc_collect:0");
    }
    gpurt_tally_red(&p->gc.control->xfreed, freed);
    gpurt_tally_red(&p->gc.control->xfreed_bytes, bytes);
}

#endif
