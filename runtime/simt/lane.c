/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes give the worker to one another without going through its main fiber: one switch a
 * block, and none at all when a lane ends and the next one has not begun yet, because it then
 * begins on the same fiber. Under the race detector every lane slot keeps a fiber of its own,
 * since two lanes run on one fiber would look like one thread to it. */
#include "simt.h"

#include <execinfo.h>

#include "sanitizer.h"

GPURT_TLS simt_worker_t *simt_worker_self;

static const gpurt_simt_block_t origin_block = {
    .dim = {1, 1, 1}, .grid = {1, 1, 1}, .cluster_size = 1};
static const gpurt_simt_lane_t origin_lane = {.block = &origin_block};

GPURT_TLS const gpurt_simt_lane_t *gpurt_simt_self = &origin_lane;

bool gpurt_simt_in_kernel(void)
{
    return gpurt_simt_self != &origin_lane;
}

static void fiber_put(simt_worker_t *k, simt_fiber_t *f)
{
    f->next = k->idle_fibers;
    k->idle_fibers = f;
}

static simt_fiber_t *fiber_take(simt_worker_t *k)
{
    simt_fiber_t *f = k->idle_fibers;

    if (f)
        k->idle_fibers = f->next;
    return f;
}

/* Main fiber only: it allocates. */
bool simt_fibers_grow(simt_worker_t *k)
{
    simt_fiber_chunk_t *c =
        simt_fiber_chunk_create(k->device->config.cpu.stack_bytes, simt_lane_entry);

    if (!c)
        return false;
    c->next = k->chunks;
    k->chunks = c;
    for (uint32_t i = GPURT_WARP_SIZE; i-- > 0;)
        fiber_put(k, &c->fibers[i]);
    return true;
}

static void lane_become_current(simt_worker_t *k, simt_lane_t *lane)
{
    const simt_block_t *b = lane->warp->block;

    k->current = lane;
    gpurt_simt_self = &lane->self;
    k->xswitches++;
    /* FNV over the choices: what "the same schedule" means. */
    k->xhash = (k->xhash ^ ((uint64_t)b->rank << 12 | lane->rank)) * 0x100000001b3u;
}

/* The fiber of a chosen lane, found for it if it begins now. Returns: NULL when main must make
 * fibers first. */
static simt_fiber_t *lane_fiber(simt_worker_t *k, simt_lane_t *lane)
{
    if (!lane->fiber)
        lane->fiber = fiber_take(k);
    return lane->fiber;
}

static void leave_to_main(simt_worker_t *k, simt_fiber_t *from)
{
    k->current = NULL;
    gpurt_simt_self = &origin_lane;
    simt_fiber_switch(from, &k->main);
}

/* Chooses who runs after the lane on `from` stops, and switches there. */
static void lane_pass_on(simt_worker_t *k, simt_fiber_t *from)
{
    simt_lane_t *next = simt_schedule_pick(k);
    simt_fiber_t *to;

    if (!next) {
        leave_to_main(k, from);
        return;
    }
    to = lane_fiber(k, next);
    if (!to) {
        k->errand = SIMT_ERRAND_FIBER;
        k->subject = next;
        leave_to_main(k, from);
        return;
    }
    lane_become_current(k, next);
    if (to != from)
        simt_fiber_switch(from, to);
}

/* The race detector takes this call into libc for the main fiber's. */
void simt_lane_trace(simt_worker_t *k)
{
    simt_tsan_fiber_switch(k->main.tsan);
    k->fault.frames = (uint32_t)backtrace(k->fault.trace, SIMT_TRACE_FRAMES);
    simt_tsan_fiber_switch(k->current->fiber->tsan);
}

/* A lane that was asked to, tells where it stands: only it can unwind its own stack. */
static void lane_tell(simt_worker_t *k, simt_lane_t *me)
{
    me->tell = false;
    simt_lane_trace(k);
    simt_lane_errand(me, SIMT_ERRAND_TOLD);
}

void simt_lane_yield(simt_lane_t *me)
{
    simt_worker_t *k = simt_worker_self;

    lane_pass_on(k, me->fiber);
    while (GPURT_UNLIKELY(me->tell))
        lane_tell(k, me);
}

void simt_lane_errand(simt_lane_t *me, simt_errand_t errand)
{
    simt_worker_t *k = simt_worker_self;

    k->errand = errand;
    k->subject = me;
    leave_to_main(k, me->fiber);
}

void simt_lane_misuse(simt_lane_t *me, gpurt_status_t status, const char *what,
                      simt_lane_t *other)
{
    simt_worker_t *k = simt_worker_self;

    k->fault =
        (simt_fault_t){.status = status, .what = what, .site = me->site, .other = other};
    simt_lane_trace(k);
    for (;;)
        simt_lane_errand(me, SIMT_ERRAND_MISUSE);
}

void simt_lane_block(simt_lane_t *me, simt_state_t state)
{
    simt_warp_t *w = me->warp;

    me->state = (uint8_t)state;
    w->ready &= ~(1u << me->self.lane);
    if (state != SIMT_PARKED)
        w->block->runnable--;
}

void simt_lane_wake(simt_lane_t *lane)
{
    simt_warp_t *w = lane->warp;
    uint32_t bit = 1u << lane->self.lane;

    if (lane->state != SIMT_PARKED)
        w->block->runnable++;
    lane->state = SIMT_READY;
    w->ready |= bit;
    w->yielded &= ~bit;
}

void simt_lane_wait(simt_lane_t *me)
{
    simt_worker_t *k = simt_worker_self;

    if (me->state == SIMT_READY) {
        if (k->device->config.seeded)
            simt_lane_yield(me);
        return;
    }
    if (me->warp->block->runnable == 0)
        simt_lane_errand(me, SIMT_ERRAND_STUCK);
    else
        lane_pass_on(k, me->fiber);
    while (GPURT_UNLIKELY(me->tell))
        lane_tell(k, me);
}

/* The lane's kernel returned or it exited: nobody waits for it any more. */
static void lane_end(simt_lane_t *me)
{
    simt_warp_t *w = me->warp;
    simt_block_t *b = w->block;

    simt_order_release(&b->end_word);
    simt_order_release(&b->launch->end_word);
    simt_lane_block(me, SIMT_DONE);
    w->done |= 1u << me->self.lane;
    w->yielded &= ~w->done;
    b->live--;
    simt_worker_self->progress = true;
    simt_warp_lane_ended(me);
    simt_barrier_lane_ended(me);
}

/* After an end: the fiber goes on with a lane that has not begun, or waits to be needed. */
static void fiber_after_lane(simt_worker_t *k, simt_lane_t *me, simt_fiber_t *fiber)
{
    simt_block_t *b = me->warp->block;

    if (!simt_sanitizers.tsan) { /* else the slot keeps it */
        me->fiber = NULL;
        fiber_put(k, fiber);
    }
    if (b->live == 0 || b->runnable == 0) {
        k->errand = b->live == 0 ? SIMT_ERRAND_ENDED : SIMT_ERRAND_STUCK;
        k->subject = me;
        leave_to_main(k, fiber);
        return;
    }
    lane_pass_on(k, fiber);
}

void simt_lane_entry(void)
{
    simt_worker_t *k = simt_worker_self;
    simt_fiber_t *fiber = k->current->fiber;

    simt_fiber_landed(fiber, &k->main);
    for (;;) {
        simt_lane_t *me = k->current;
        simt_block_t *b = me->warp->block;
        simt_launch_t *l = b->launch;

        simt_order_acquire(&b->begin_word);
        l->kernel->cpu(l->args);
        lane_end(me);
        fiber_after_lane(k, me, fiber);
    }
}

void gpurt_simt_exit(void)
{
    simt_worker_t *k = simt_worker_self;
    simt_lane_t *me = k->current;

    lane_end(me);
    for (;;)
        simt_lane_errand(me, SIMT_ERRAND_EXIT);
}

void simt_lane_abandon(simt_worker_t *k, simt_lane_t *lane)
{
    simt_fiber_t *f = lane->fiber;

    if (!f)
        return;
    if (lane->state == SIMT_AT_WORD)
        simt_park_leave(lane);
    /* what it did happens before whatever its memory is used for next */
    simt_tsan_fiber_switch(f->tsan);
    simt_order_release(&lane->warp->block->end_word);
    simt_order_release(&lane->warp->block->launch->end_word);
    simt_tsan_fiber_switch(k->main.tsan);
    f->spoiled = true;
    simt_fiber_remake(f, simt_lane_entry);
    if (!simt_sanitizers.tsan) {
        lane->fiber = NULL;
        fiber_put(k, f);
    }
}

void simt_lane_resume(simt_worker_t *k, simt_lane_t *lane)
{
    k->current = lane;
    gpurt_simt_self = &lane->self;
    simt_fiber_switch(&k->main, lane->fiber);
}

void simt_lane_run(simt_worker_t *k, simt_lane_t *lane)
{
    simt_fiber_t *to = lane_fiber(k, lane);

    if (!to) {
        if (!simt_fibers_grow(k)) {
            simt_launch_fail(lane->warp->block->launch, GPURT_E_NOMEM, NULL, NULL);
            return;
        }
        to = lane_fiber(k, lane);
    }
    lane_become_current(k, lane);
    simt_fiber_switch(&k->main, to);
}
