/* SPDX-License-Identifier: Apache-2.0 */
/* order_object.h - scenes of collected objects. For order_kernels.c only. */
#ifndef GPURT_TESTS_ORDER_OBJECT_H
#define GPURT_TESTS_ORDER_OBJECT_H

#include "order_heap.h"

#include "../../kernels/gcsteps.h"

#include <gpurt/object.h>

/* ---- collected objects --------------------------------------------------------------- */

/* Both words of it are handles, all others its program's. */
GPURT_DEV gpurt_object_t order_object(const struct order_args *p, gpurt_section_t in)
{
    uint32_t answer;
    gpurt_object_t o = gpurt_object_alloc(&p->gc, in, 0, 40, &answer);

    order_expect(p, o != 0);
    order_tell(p, o);
    return o;
}

GPURT_DEV gpurt_gc_entry_t *order_entry(const struct order_args *p, gpurt_object_t o)
{
    return p->gc.entries + (uint32_t)o;
}

GPURT_DEV void order_gc_args(const struct order_args *p, struct gpurt_gc_args *a)
{
    a->gc = p->gc;
    a->control = 9ull << 32;
    a->begins = 1;
    a->polls = 1;
    a->marked = 0;
    a->moves = NULL;
    a->move_count = 0;
    a->cycle = 9;
    a->flags =
        p->scene == ORDER_GC_BEGIN || p->scene == ORDER_GC_DIRTY ? GPURT_GC_MINOR : 0;
}

/* The first block, in a section: a lane tells of an object, of a word of it, of a root. */
GPURT_DEVN void order_gc_release(const struct order_args *p, gpurt_section_t in)
{
    bool makes = p->scene <= ORDER_GC_BEGIN;
    gpurt_object_t o;

    if (makes)
        order_write_all(p);
    o = order_object(p, in);
    if (makes)
        return;
    if (p->scene == ORDER_GC_DIRTY) /* it is old */
        gpurt_red_or_relaxed_dev_u32(&order_entry(p, o)->xmeta,
                                     GPURT_GC_OLD_AGE * GPURT_GC_AGE);
    if (p->scene == ORDER_GC_WORD_MARKING)
        in.flags |= GPURT_GC_ACTIVE;
    order_write_all(p);
    if (p->scene == ORDER_GC_SHADE)
        gpurt_gc_shade(&p->gc, 9, 0, o);
    else if (p->scene == ORDER_GC_ROOT || p->scene == ORDER_GC_ROOT_BEGIN)
        gpurt_gc_root_write(&p->gc, in, 0, o);
    else
        gpurt_gc_write(&p->gc, in, o, 0, o);
    if (p->scene == ORDER_GC_DIRTY) /* no word is looked at: what orders is the flag */
        gpurt_store_relaxed_dev_u32(&order_entry(p, o)->xsize, 0);
}

/* The second block, one lane. */
GPURT_DEVN void order_gc_acquire(const struct order_args *p)
{
    gpurt_object_t o = order_told(p);
    gpurt_section_t in = {0, 8, GPURT_GC_ACTIVE};
    struct gpurt_gc_args a;

    order_gc_args(p, &a);
    switch (p->scene) {
    case ORDER_GC_OBJECT:
        order_expect(p, gpurt_object_get(&p->gc, o) != NULL);
        break;
    case ORDER_GC_CONDEMN:
        gpurt_gc_condemn_all(&a, 0, 1);
        break;
    case ORDER_GC_FREE:
        gpurt_gc_free_all(&a, 0, 1);
        break;
    case ORDER_GC_WORD:
    case ORDER_GC_WORD_MARKING:
        order_expect(p, gpurt_gc_read(&p->gc, o, 0) == o);
        break;
    case ORDER_GC_WORD_NEXT:
        gpurt_gc_write(&p->gc, in, o, 0, 0);
        break;
    case ORDER_GC_WORD_LOOK:
        gpurt_gc_look_through(&a, order_entry(p, o));
        break;
    case ORDER_GC_ROOT:
        order_expect(p, gpurt_gc_root_read(&p->gc, 0) == o);
        break;
    case ORDER_GC_SHADE:
        order_expect(p, gpurt_gc_blacken(&a, order_entry(p, o)));
        break;
    default:
        gpurt_gc_begin_all(&a, 0, 1);
    }
    order_read(p);
}

GPURT_DEVN void order_gc(const struct order_args *p, bool first)
{
    gpurt_section_t in;

    if (first) {
        in = gpurt_gc_enter(&p->gc, GPURT_FULL_MASK);
        if (gpurt_lane() == 0)
            order_gc_release(p, in);
        gpurt_gc_leave(&p->gc, in, GPURT_FULL_MASK);
    } else if (gpurt_lane() == 0) {
        order_gc_acquire(p);
    }
}

/* Another warp has advanced the epoch for which the collector waits. */
GPURT_DEVN void order_gc_wait(const struct order_args *p, bool first)
{
    struct gpurt_gc_args a;

    if (first) {
        order_write(p);
        order_expect(p, gpurt_epoch_advance(&p->gc.sections, GPURT_FULL_MASK));
        gpurt_store_relaxed_dev_u64(
            &p->gc.control->course.xtarget,
            (uint32_t)gpurt_load_relaxed_dev_u64(&p->gc.sections.counts->xepoch));
        return;
    }
    order_gc_args(p, &a);
    a.begins = 0; /* long ago */
    order_expect(p, gpurt_gc_wait_warp(&a));
    order_read(p);
}

/* A cycle begins: sections know of it. It takes more than one step until all have ended. */
GPURT_DEVN void order_gc_control(const struct order_args *p, bool first)
{
    struct gpurt_gc_args a;
    gpurt_section_t in;

    if (first) {
        order_gc_args(p, &a);
        if (gpurt_lane() == 0)
            order_write_all(p);
        order_expect(p, !gpurt_gc_wait_warp(&a));
        return;
    }
    in = gpurt_gc_enter(&p->gc, GPURT_FULL_MASK);
    order_expect(p, in.cycle == 9);
    order_read(p);
    gpurt_gc_leave(&p->gc, in, GPURT_FULL_MASK);
}

/* A warp of the collector has looked through what it drew; another one finds all done. */
GPURT_DEVN void order_gc_done(const struct order_args *p, bool first)
{
    struct gpurt_gc_args a;
    gpurt_section_t in;
    uint32_t seen = 0, idle = 0;
    bool over;

    if (!first) {
        over = gpurt_gc_is_over(p->gc.control, &seen, &idle);
        order_expect(p, over);
        if (gpurt_lane() == 0)
            order_read(p);
        return;
    }
    order_gc_args(p, &a);
    in = gpurt_gc_enter(&p->gc, GPURT_FULL_MASK);
    if (gpurt_lane() == 0)
        gpurt_gc_shade(&p->gc, 9, 0, order_object(p, in));
    gpurt_gc_leave(&p->gc, in, GPURT_FULL_MASK);
    order_write(p);
    gpurt_gc_mark_row(&a, 0);
}

#endif
