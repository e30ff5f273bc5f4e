/* SPDX-License-Identifier: Apache-2.0 */
/* gcsteps.h - what the steps of a collection do. Kernels of the program run beside all of
 * them; docs/RECLAMATION.md says why that is sound. `rank` of `step` lanes share a step that
 * goes through all entries. For gc_kernels.c, and for tests that put mutators and collector
 * under one schedule. */
#ifndef GPURT_HOST_GCSTEPS_H
#define GPURT_HOST_GCSTEPS_H

#include "gc_kernels.h"

#include <gpurt/device.h>
#include <gpurt/object.h>

enum {
    GPURT_GC_PATIENCE = 4096 /* looks at an empty queue while another warp is at work */
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
        gpurt_store_relaxed_dev_u32(&c->xbusy, 0);
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
    gpurt_red_add_relaxed_dev_u64(&p->gc.control->xmarked, 1); /* relaxed: a statistic */
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

/* Up to 32 places of the queue. Context: one lane. Returns: how many. */
GPURT_DEV uint32_t gpurt_gc_take(gpurt_gc_control_t *c, uint32_t limit, uint32_t *first)
{
    uint32_t head = gpurt_load_relaxed_dev_u32(&c->xhead); /* relaxed, all: hints */

    for (;;) {
        uint32_t tail = gpurt_load_relaxed_dev_u32(&c->xtail), n;

        tail = tail < limit ? tail : limit;
        n = head < tail ? tail - head : 0;
        n = n < GPURT_WARP_SIZE ? n : (uint32_t)GPURT_WARP_SIZE;
        *first = head;
        if (!n || gpurt_cas_relaxed_dev_u32(&c->xhead, &head, head + n))
            return n;
    }
}

/* Looks through what is in the queue, and what that brings in, until nothing is left. */
GPURT_DEVN void gpurt_gc_mark_all(const struct gpurt_gc_args *p)
{
    gpurt_gc_control_t *c = p->gc.control;

    for (uint32_t idle = 0; idle < GPURT_GC_PATIENCE;) {
        uint32_t n = 0, first = 0, busy = 0, index = 0;

        if (gpurt_lane() == 0) { /* relaxed, all: who ends too early leaves it to others */
            gpurt_add_relaxed_dev_u32(&c->xbusy, 1);
            n = gpurt_gc_take(c, p->gc.entry_count, &first);
            if (!n)
                busy = gpurt_sub_relaxed_dev_u32(&c->xbusy, 1) - 1;
        }
        n = gpurt_shfl_u32(GPURT_FULL_MASK, n, 0);
        first = gpurt_shfl_u32(GPURT_FULL_MASK, first, 0);
        busy = gpurt_shfl_u32(GPURT_FULL_MASK, busy, 0);
        if (!n && !busy)
            break;
        idle = n ? 0 : idle + 1;
        if (!n) {
            gpurt_relax();
            continue;
        }
        if (gpurt_lane() < n) /* relaxed: a hint; one that is not there yet is sought */
            index = gpurt_load_relaxed_dev_u32(p->gc.queue + first + gpurt_lane());
        if (index)
            gpurt_gc_blacken(p, p->gc.entries + index - 1);
        gpurt_syncwarp(GPURT_FULL_MASK);
        if (gpurt_lane() == 0)
            gpurt_sub_relaxed_dev_u32(&c->xbusy, 1);
    }
}

/* Looks through all that is shaded and not looked through: the queue may have lost some. */
GPURT_DEVN void gpurt_gc_seek_all(const struct gpurt_gc_args *p, uint32_t rank,
                                  uint32_t step)
{
    for (uint32_t i = rank; i < p->gc.entry_count; i += step) {
        gpurt_gc_entry_t *e = p->gc.entries + i;

        /* relaxed: only who is shaded matters, and what gpurt_gc_blacken does acquires */
        if (gpurt_load_relaxed_dev_u32(&e->xmark) == p->cycle << 1 &&
            gpurt_gc_blacken(p, e))
            gpurt_red_add_relaxed_dev_u32(&p->gc.control->course.xfound,
                                          1); /* the host looks */
    }
}

/* ---- after --------------------------------------------------------------------------- */

/* Another cycle lived through. */
GPURT_DEV void gpurt_gc_grow_older(const struct gpurt_gc_args *p, gpurt_gc_entry_t *e,
                                   uint32_t meta)
{
    if (gpurt_gc_is_old(meta))
        return;
    if (gpurt_gc_age(meta) + 1 < GPURT_GC_OLD_AGE) {
        gpurt_red_add_relaxed_dev_u32(&e->xmeta, GPURT_GC_AGE); /* relaxed: its own */
        return;
    }
    /* Old from now on, and dirty: nobody has noted what it refers to. One atomic for both,
     * or a write in between would note it for nothing. Nobody else sets flags of the young. */
    gpurt_red_add_relaxed_dev_u32(&e->xmeta, GPURT_GC_AGE | GPURT_GC_DIRTY);
    gpurt_red_add_relaxed_dev_u64(&p->gc.control->xpromoted, 1); /* relaxed: a statistic */
}

/* Handles of what was not reached are dead from here on; its memory waits for sections that
 * may have been given its address. */
GPURT_DEVN void gpurt_gc_condemn_all(const struct gpurt_gc_args *p, uint32_t rank,
                                     uint32_t step)
{
    for (uint32_t i = rank; i < p->gc.entry_count; i += step) {
        gpurt_gc_entry_t *e = p->gc.entries + i;
        uint32_t meta, generation;

        if (!gpurt_load_acquire_dev_u64(&e->xaddress)) /* GC5.acq */
            continue;
        meta = gpurt_load_relaxed_dev_u32(&e->xmeta); /* relaxed, all: GC5 ordered them */
        if (((p->flags & GPURT_GC_MINOR) && gpurt_gc_is_old(meta)) ||
            !gpurt_gc_is_older(gpurt_load_relaxed_dev_u32(&e->xmark), p->cycle)) {
            gpurt_gc_grow_older(p, e, meta);
            continue;
        }
        if (meta & GPURT_GC_DYING)
            continue;
        generation = gpurt_load_relaxed_dev_u32(&e->xgeneration) + 1;
        gpurt_store_relaxed_dev_u32(&e->xgeneration, generation ? generation : 1);
        gpurt_red_or_relaxed_dev_u32(&e->xmeta, GPURT_GC_DYING);
    }
}

GPURT_DEVN void gpurt_gc_free_all(const struct gpurt_gc_args *p, uint32_t rank,
                                  uint32_t step)
{
    for (uint32_t i = rank; i < p->gc.entry_count; i += step) {
        gpurt_gc_entry_t *e = p->gc.entries + i;
        uint64_t object = gpurt_load_acquire_dev_u64(&e->xaddress); /* GC5.acq */
        uint32_t meta = gpurt_load_relaxed_dev_u32(&e->xmeta); /* relaxed, all: likewise */

        if (!object || !(meta & GPURT_GC_DYING))
            continue;
        gpurt_red_add_relaxed_dev_u64(&p->gc.control->xfreed, 1);
        gpurt_red_add_relaxed_dev_u64(&p->gc.control->xfreed_bytes,
                                      gpurt_load_relaxed_dev_u32(&e->xsize));
        gpurt_store_relaxed_dev_u64(&e->xaddress, 0); /* relaxed: the set publishes it */
        gpurt_slotset_put(&p->gc.unused, i);
        gpurt_heap_free(&p->gc.heap, (void *)(uintptr_t)object);
    }
}

#endif
