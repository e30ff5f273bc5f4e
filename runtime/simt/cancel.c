/* SPDX-License-Identifier: Apache-2.0 */
/* How a block of the CPU back end learns that it was cancelled, and how its lanes leave: what
 * they deferred first, then the end (unwind.h, defer.h). */
#include "hostwait.h"
#include "sanitizer.h"

#include <gpurt/atomic.h>

static simt_lane_t *lane_of_caller(void)
{
    simt_worker_t *k = simt_worker_self;

    return GPURT_LIKELY(k != NULL) ? k->current : NULL;
}

/* ---- who is cancelled ------------------------------------------------------------------------ */
/* Lanes at barriers are woken, and end where they waited. Those in warp operations meet the
 * others of their warp, or their ends. */
void simt_block_cancel(simt_block_t *b)
{
    if (b->guard && !b->cancelled) /* relaxed: the kernel's end orders it */
        gpurt_store_relaxed_sys_u32(&gpurt_guard_blocks(b->guard)[b->rank], b->attempt + 1);
    b->cancelled = 1;
    b->at_grid = 0;
    for (uint32_t id = 0; id < GPURT_NAMED_BARRIERS; id++)
        b->barriers[id].arrived = 0;
    for (uint32_t t = 0; t < b->threads; t++) {
        simt_lane_t *l = &b->lanes[t];

        if (l->state == SIMT_AT_WORD)
            simt_park_leave(l);
        if (l->state == SIMT_AT_BARRIER || l->state == SIMT_AT_CLUSTER ||
            l->state == SIMT_AT_GRID || l->state == SIMT_AT_WORD)
            simt_lane_wake(l);
    }
    simt_worker_self->progress = true;
}

/* With its cluster, and, by the word that grid barriers poll, whoever waits for it there. */
static void unit_cancel(simt_block_t *b)
{
    simt_cluster_t *c = b->cluster;

    if (b->launch->cooperative) /* relaxed: the others poll it */
        gpurt_store_relaxed_dev_u32(&b->launch->xcancelled, 1);
    if (b->launch->cooperative)
        simt_park_news(b->launch->device);
    if (!c) {
        simt_block_cancel(b);
        return;
    }
    c->arrived = 0;
    for (uint32_t i = 0; i < c->size; i++)
        if (c->blocks[i])
            simt_block_cancel(c->blocks[i]);
}

/* relaxed: words without data */
static bool launch_is_stopped(const simt_block_t *b)
{
    return gpurt_load_relaxed_dev_u32(&b->launch->xstopped) ||
           (b->guard && gpurt_load_relaxed_sys_u32(&b->guard->xstop) != GPURT_STOP_NOT);
}

void simt_block_look(simt_block_t *b)
{
    if (GPURT_UNLIKELY(!b->cancelled && launch_is_stopped(b)))
        unit_cancel(b);
}

static bool lane_is_cancelled(simt_lane_t *me)
{
    simt_block_t *b = me->warp->block;

    simt_block_look(b);
    return GPURT_UNLIKELY(b->cancelled) && !me->in_deferred;
}

void simt_cancel_point(simt_lane_t *me)
{
    if (GPURT_UNLIKELY(lane_is_cancelled(me)))
        gpurt_simt_leave();
}

bool gpurt_simt_cancelled(void)
{
    simt_lane_t *me = lane_of_caller();

    if (GPURT_UNLIKELY(!me))
        return false;
    simt_schedule_looked(simt_worker_self, me);
    return lane_is_cancelled(me);
}

void gpurt_simt_cancel_block(void)
{
    simt_lane_t *me = lane_of_caller();

    if (GPURT_LIKELY(me != NULL))
        unit_cancel(me->warp->block);
}

void gpurt_simt_stop_kernel(uint32_t why)
{
    simt_lane_t *me = lane_of_caller();
    uint32_t none = GPURT_STOP_NOT;
    simt_block_t *b;

    if (GPURT_UNLIKELY(!me))
        return;
    b = me->warp->block;
    if (b->guard) /* relaxed, both: the first reason counts, no data goes with it */
        (void)gpurt_cas_relaxed_sys_u32(&b->guard->xstop, &none, why);
    gpurt_store_relaxed_dev_u32(&b->launch->xstopped, 1);
    simt_park_news(b->launch->device); /* who sleeps looks */
    simt_host_news(b->launch->device);
    unit_cancel(b);
}

void gpurt_simt_guard_bind(gpurt_guard_t *guard, uint32_t attempt)
{
    simt_lane_t *me = lane_of_caller();

    if (GPURT_UNLIKELY(!me))
        return;
    me->warp->block->guard = guard;
    me->warp->block->attempt = attempt;
}

gpurt_guard_t *gpurt_simt_guard_here(void)
{
    simt_lane_t *me = lane_of_caller();

    return me ? me->warp->block->guard : NULL;
}

/* ---- what lanes deferred --------------------------------------------------------------------- */
/* Word by word to the compiler, which else calls memmove: the race detector would take that for the
 * lane's. */
static void deferred_remove(simt_warp_t *w, uint32_t at)
{
    w->deferred_count--;
    for (; at < w->deferred_count; at++) {
        w->deferred[at] = w->deferred[at + 1];
        __asm__ volatile("" ::: "memory");
    }
}

bool gpurt_simt_defer(uint32_t mask, uint32_t scope, void (*handler)(uint64_t),
                      uint64_t arg, uint32_t depth)
{
    simt_lane_t *me = lane_of_caller();
    simt_warp_t *w;

    if (GPURT_UNLIKELY(!me))
        return false;
    w = me->warp;
    if (w->deferred_count >= depth || w->deferred_count >= SIMT_DEFERRED)
        return false;
    w->deferred[w->deferred_count++] =
        (simt_deferred_t){.handler = handler, .arg = arg, .mask = mask, .scope = scope};
    return true;
}

/* The newest that these lanes noted with that argument: rows of other objects stay. */
void gpurt_simt_forget(uint32_t mask, void (*handler)(uint64_t), uint64_t arg)
{
    simt_lane_t *me = lane_of_caller();

    for (uint32_t i = me ? me->warp->deferred_count : 0; i-- > 0;) {
        const simt_deferred_t *d = &me->warp->deferred[i];

        if (d->mask != mask || d->handler != handler || d->arg != arg)
            continue;
        deferred_remove(me->warp, i);
        return;
    }
}

uint32_t gpurt_simt_undefer(uint32_t mask, uint32_t scope, uint32_t most, bool run)
{
    simt_lane_t *me = lane_of_caller();
    uint32_t found = 0;

    if (GPURT_UNLIKELY(!me))
        return 0;
    for (uint32_t i = me->warp->deferred_count; i-- > 0 && found < most;) {
        simt_deferred_t d = me->warp->deferred[i];

        if (d.mask != mask || d.scope != scope)
            continue;
        deferred_remove(me->warp, i);
        found++;
        if (run) {
            d.handler(d.arg);
            i = me->warp->deferred_count; /* others may have come and gone */
        }
    }
    return found;
}

bool gpurt_simt_in_deferred(void)
{
    simt_lane_t *me = lane_of_caller();

    return me && me->in_deferred;
}

/* A handler that panics comes here again, and the rest of the handlers run from there: each round
 * takes a row away, so it ends. Handlers may note others and take them back; so the search
 * begins anew after each. */
static void deferred_run(simt_lane_t *me)
{
    simt_warp_t *w = me->warp;
    uint32_t bit = 1u << me->self.lane;

    me->in_deferred = true;
    /* The lock of a GPU's stack of handlers: what lanes did before they left is seen by the last. */
    simt_order_acquire(w->deferred);
    simt_order_release(w->deferred);
    for (uint32_t i = w->deferred_count; i-- > 0;) {
        simt_deferred_t *d = &w->deferred[i], due = *d;

        if (!(d->mask & bit))
            continue;
        d->mask &= ~bit;
        if (d->mask)
            continue;
        deferred_remove(w, i);
        due.handler(due.arg);
        i = w->deferred_count;
    }
}

void gpurt_simt_leave(void)
{
    simt_lane_t *me = simt_worker_self->current;

    if (GPURT_UNLIKELY(me->warp->deferred_count))
        deferred_run(me);
    gpurt_simt_exit();
}
