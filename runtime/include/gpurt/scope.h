/* SPDX-License-Identifier: Apache-2.0 */
/* scope.h - a unit of work inside a warp or a block that fails by itself: it is left by
 * statuses, its lanes live on.
 *
 *     gpurt_status_t work(uint32_t mask, gpurt_scope_t *s, ...)
 *     {
 *         GPURT_SCOPE_ASSERT(mask, s, n > 0, "nothing to do");    // returns GPURT_E_PANIC
 *         GPURT_TRY(gpurt_scope_look(mask, s));                   // ... or GPURT_E_CANCELLED
 *         ...
 *
 *     do {
 *         if (gpurt_is_leader(mask))
 *             gpurt_scope_begin(&s, number);
 *         gpurt_syncwarp(mask);
 *         (void)work(mask, &s, ...);
 *         status = gpurt_scope_end(mask, &s);                     // runs what was deferred
 *     } while (status == GPURT_E_PANIC && gpurt_scope_again(&tries, 3));
 *
 *   void gpurt_scope_begin(scope, number)      one lane, before the others touch it; `number` is
 *                                              the task's, not 0
 *   void gpurt_scope_cancel(scope, status)     any lane that sees it, at any time; the first
 *                                              status counts
 *   gpurt_status_t gpurt_scope_look(mask, scope)
 *                                              a safe point: the same answer for all of `mask`
 *   gpurt_status_t gpurt_scope_defer(mask, scope, handler, arg)     as gpurt_defer
 *   gpurt_status_t gpurt_scope_end(mask, scope)
 *                                              runs this mask's handlers of the scope, newest
 *                                              first, when it failed; drops them when not
 *   bool gpurt_scope_again(&tries, limit)          waits longer each time; false after `limit`
 *
 *   gpurt_status_t gpurt_word_wait(word, seen, scope, limit_ns, &now)
 *       One lane waits until *word is no longer `seen` (acquire): for locks, barriers, queues
 *       of one's own. Returns: GPURT_E_CANCELLED when bit GPURT_WORD_BROKEN is set, or the
 *       scope (NULL: none) was cancelled; GPURT_E_TIMEOUT after limit_ns (0: never).
 *   void gpurt_word_break(word)                sets that bit: note it with gpurt_defer when
 *                                              others will wait for what you hold
 *
 * Context: device code. The scope lies where all its lanes see it: shared memory, or a local
 * variable of one lane. GPURT_PANIC in a scope goes further than it: to the block, or as the
 * guard says. */
#ifndef GPURT_SCOPE_H
#define GPURT_SCOPE_H

#include <gpurt/atomic.h>
#include <gpurt/clock.h>
#include <gpurt/defer.h>
#include <gpurt/status.h>
#include <gpurt/unwind.h>

#define GPURT_WORD_BROKEN 0x80000000u

/* Owner: who began it. Shared with: the lanes that work in it, and who may cancel it. */
typedef struct gpurt_scope {
    int32_t xstatus; /* GPURT_OK while it works; written by: who cancels it, once */
    uint32_t number; /* of the task */
} gpurt_scope_t;

#define GPURT_TRY(call)                          \
    do {                                         \
        const gpurt_status_t gpurt_st_ = (call); \
        if (gpurt_st_ != GPURT_OK)               \
            return gpurt_st_;                    \
    } while (0)

/* The order is that of what hands the scope to the other lanes. */
GPURT_DEV void gpurt_scope_begin(gpurt_scope_t *scope, uint32_t number)
{
    scope->number = number;
    gpurt_store_relaxed_dev_i32(&scope->xstatus, GPURT_OK);
}

/* relaxed: no data goes with it */
GPURT_DEV void gpurt_scope_cancel(gpurt_scope_t *scope, gpurt_status_t status)
{
    int32_t works = GPURT_OK;

    if (gpurt_cas_relaxed_dev_i32(&scope->xstatus, &works, status))
        gpurt_unpark_stopped(&scope->xstatus);
}

GPURT_DEV gpurt_status_t gpurt_scope_look(uint32_t mask, const gpurt_scope_t *scope)
{
    int32_t status = GPURT_OK;

    gpurt_cancel_point();
    if (gpurt_is_leader(mask))
        status = gpurt_load_relaxed_dev_i32(&scope->xstatus);
    return gpurt_shfl_i32(mask, status, gpurt_leader(mask));
}

/* The lanes of `failed` have told their panic; a guard may find it is one too many. */
GPURT_DEVN void gpurt_scope_panicked(gpurt_scope_t *scope, uint32_t failed)
{
    gpurt_guard_t *guard = gpurt_guard_here();
    uint32_t level = 0;

    gpurt_scope_cancel(scope, GPURT_E_PANIC);
    if (!guard)
        return;
    if (gpurt_is_leader(failed)) {
        level = gpurt_guard_judge(guard);
        if (level == gpurt_load_relaxed_sys_u32(&guard->xlevel))
            level = 0; /* not escalated: the scope's affair */
    }
    level = gpurt_shfl_u32(failed, level, gpurt_leader(failed));
    if (level)
        gpurt_unwind_at(level);
}

#if defined(GPURT_DEFER_DEPTH) && GPURT_DEFER_DEPTH > 0
GPURT_DEV gpurt_status_t gpurt_scope_defer(uint32_t mask, const gpurt_scope_t *scope,
                                           void (*handler)(uint64_t), uint64_t arg)
{
    return gpurt_defer_in(mask, scope->number, handler, arg);
}
#endif

GPURT_DEV gpurt_status_t gpurt_scope_end(uint32_t mask, const gpurt_scope_t *scope)
{
    gpurt_status_t status = gpurt_scope_look(mask, scope);

#if defined(GPURT_DEFER_DEPTH) && GPURT_DEFER_DEPTH > 0
    if (gpurt_is_leader(mask))
        (void)gpurt_defer_drop(mask, scope->number, UINT32_MAX, status != GPURT_OK);
    gpurt_syncwarp(mask);
#endif
    return status;
}

GPURT_DEV bool gpurt_scope_again(uint32_t *tries, uint32_t limit)
{
    uint32_t rounds = 1u << (*tries < 10 ? *tries : 10);

    if (*tries >= limit)
        return false;
    ++*tries;
    while (rounds--)
        gpurt_relax();
    return true;
}

/* ---- words that lanes wait for ------------------------------------------------------- */
GPURT_DEVN void gpurt_word_break(uint64_t word)
{
    gpurt_red_or_release_dev_u32((uint32_t *)(uintptr_t)word, /* UW1.rel */
                                 GPURT_WORD_BROKEN);
}

GPURT_DEV gpurt_status_t gpurt_word_wait(const uint32_t *word, uint32_t seen,
                                         const gpurt_scope_t *scope, uint64_t limit_ns,
                                         uint32_t *now)
{
    uint64_t begin = limit_ns ? gpurt_globaltimer() : 0;

    for (;;) {
        *now = gpurt_load_acquire_dev_u32(word); /* UW1.acq */
        if (*now & GPURT_WORD_BROKEN)
            return GPURT_E_CANCELLED;
        if (*now != seen)
            return GPURT_OK;
        if (scope && gpurt_load_relaxed_dev_i32(&scope->xstatus) != GPURT_OK)
            return GPURT_E_CANCELLED;
        if (limit_ns && gpurt_globaltimer() - begin > limit_ns)
            return GPURT_E_TIMEOUT;
        gpurt_relax_until(limit_ns ? gpurt_until(begin, limit_ns) : UINT64_MAX);
    }
}

#endif
