/* SPDX-License-Identifier: Apache-2.0 */
/* latch.h - a count that falls to 0 once, and lanes that wait for that.
 *
 *   void gpurt_latch_init(latch, count)       one lane, before others use it; up to 2^30: one with
 *                                             a larger count is broken
 *   gpurt_latch_name(latch, name)             for reports (waits.h); one lane, before others wait
 *   gpurt_latch_count_down(latch, n)          GPURT_E_INVALID: n is 0, or more than was left (then
 *                                             it is open, and that was a mistake of somebody's)
 *   gpurt_latch_wait(latch), _wait_for(latch, ns), _wait_in(latch, ns, scope)
 *       GPURT_OK, GPURT_E_TIMEOUT (ns 0: at once), GPURT_E_CANCELLED: the scope ended, or
 *       somebody broke the latch
 *   void gpurt_latch_break(latch)             who was to count down does not come: a handler for
 *                                             gpurt_defer (defer.h) takes the latch as its argument
 *
 * What a lane wrote before it counted down, is seen by who waited. A latch lies in shared memory
 * (then it is its block's own) or in global memory. It is used once; init begins anew when nobody
 * uses it any more. Context: device code, any lane. */
#ifndef GPURT_LATCH_H
#define GPURT_LATCH_H

#include <gpurt/futex.h>

#define GPURT_LATCH_BROKEN (-(1 << 30))
/* A count; what one subtraction counts down, which may go below 0 for a moment. */
enum {
    GPURT_LATCH_MOST = 1 << 30,
    GPURT_LATCH_FEW = 512
};

/* Owner: the program. */
typedef struct gpurt_latch {
    uint32_t xleft; /* a signed number; open at 0; written by: who counts down */
    gpurt_waitable_t waitable;
    const char *name;
} gpurt_latch_t;

GPURT_DEV void gpurt_latch_init(gpurt_latch_t *latch, uint32_t count)
{
    if (count > GPURT_LATCH_MOST)
        count = (uint32_t)GPURT_LATCH_BROKEN;
    gpurt_store_relaxed_dev_u32(&latch->xleft, count); /* handed out by who calls */
    latch->waitable.xnumber = 0;
    latch->name = NULL;
}

GPURT_DEV void gpurt_latch_name(gpurt_latch_t *latch, const char *name)
{
    /* relaxed, and where it is read: a name that comes late is seen or not */
    gpurt_store_relaxed_dev_u64((uint64_t *)&latch->name, (uint64_t)(uintptr_t)name);
    gpurt_waitable_name(&latch->waitable, GPURT_WAITABLE_FUTEX, name,
                        GPURT_WAITABLE_SINGLE);
}

GPURT_HD bool gpurt_latch_is_broken(uint32_t left)
{
    return (int32_t)left < -(1 << 29);
}

/* How much of n was too much. relaxed: it opens nothing, and what was released stays so */
GPURT_DEVN void gpurt_latch_undo(gpurt_latch_t *latch, uint32_t n)
{
    if (gpurt_is_shared(&latch->xleft))
        gpurt_red_add_relaxed_blk_u32(&latch->xleft, n);
    else
        gpurt_red_add_relaxed_dev_u32(&latch->xleft, n);
}

/* One subtraction. What was too much is added back: meanwhile the number is below 0, by less than
 * lanes of a GPU times GPURT_LATCH_FEW, so never as low as that of a broken one. acq_rel, both: who
 * opens it hands on what the others wrote who counted before. Returns: what was left. */
GPURT_DEV int32_t gpurt_latch_sub(gpurt_latch_t *latch, uint32_t n)
{
    int32_t left =
        (int32_t)(gpurt_is_shared(&latch->xleft)
                      ? gpurt_sub_acq_rel_blk_u32(&latch->xleft, n)   /* FX1.rel FX1.acq */
                      : gpurt_sub_acq_rel_dev_u32(&latch->xleft, n)); /* FX1.rel FX1.acq */

    if (GPURT_UNLIKELY(left < (int32_t)n))
        gpurt_latch_undo(latch, left > 0 ? n - (uint32_t)left : n);
    return left;
}

/* The same of many at once, of which some may be too much. */
GPURT_DEVN int32_t gpurt_latch_sub_many(gpurt_latch_t *latch, uint32_t n)
{
    uint32_t v = gpurt_futex_look(&latch->xleft), next;

    do {
        if ((int32_t)v <= 0)
            break;
        next = v > n ? v - n : 0;
    } while (
        gpurt_is_shared(&latch->xleft)
            ? !gpurt_cas_acq_rel_blk_u32(&latch->xleft, &v, next)   /* FX1.rel FX1.acq */
            : !gpurt_cas_acq_rel_dev_u32(&latch->xleft, &v, next)); /* FX1.rel FX1.acq */
    return (int32_t)v;
}

GPURT_DEV gpurt_status_t gpurt_latch_count_down(gpurt_latch_t *latch, uint32_t n)
{
    int32_t left;

    if (n == 0 || n > GPURT_LATCH_MOST)
        return GPURT_E_INVALID;
    left =
        n <= GPURT_LATCH_FEW ? gpurt_latch_sub(latch, n) : gpurt_latch_sub_many(latch, n);
    if (gpurt_latch_is_broken((uint32_t)left))
        return GPURT_E_CANCELLED;
    if (left > 0 && left <= (int32_t)n)
        gpurt_futex_wake(&latch->xleft, GPURT_FUTEX_ALL);
    return left < (int32_t)n ? GPURT_E_INVALID : GPURT_OK;
}

GPURT_DEVN void gpurt_latch_break_at(uint64_t latch)
{
    gpurt_latch_t *l = (gpurt_latch_t *)(uintptr_t)latch;

    if (gpurt_is_shared(&l->xleft))
        gpurt_xchg_release_blk_u32(&l->xleft, (uint32_t)GPURT_LATCH_BROKEN); /* FX1.rel */
    else
        gpurt_xchg_release_dev_u32(&l->xleft, (uint32_t)GPURT_LATCH_BROKEN); /* FX1.rel */
    gpurt_futex_wake(&l->xleft, GPURT_FUTEX_ALL);
}
GPURT_DEV void gpurt_latch_break(gpurt_latch_t *latch)
{
    gpurt_latch_break_at((uint64_t)(uintptr_t)latch);
}

GPURT_DEV gpurt_status_t gpurt_latch_wait_at(const gpurt_latch_t *latch,
                                             const gpurt_wait_how_t *how)
{
    const char *name = (const char *)(uintptr_t)gpurt_load_relaxed_dev_u64(
        (const uint64_t *)&latch->name); /* relaxed: as above */
    const gpurt_futex_of_t of = {"latch", name, &latch->waitable};
    uint64_t begin = how->ns == GPURT_FOREVER ? 0 : gpurt_globaltimer();
    gpurt_wait_how_t rest = *how;

    for (;;) {
        uint32_t left = gpurt_futex_look(&latch->xleft);
        gpurt_status_t st;

        if ((int32_t)left <= 0)
            return gpurt_latch_is_broken(left) ? GPURT_E_CANCELLED : GPURT_OK;
        st = gpurt_wait_goes_on(how, begin, &rest.ns);
        if (st == GPURT_OK)
            st = gpurt_futex_sleep(&latch->xleft, left, &of, &rest);
        if (st != GPURT_OK)
            return st;
    }
}

#define gpurt_latch_wait_in(latch, ns, scope) \
    GPURT_WAIT_CALL_(gpurt_latch_wait_at, "waits for a latch", ns, scope, latch)
#define gpurt_latch_wait_for(latch, ns) gpurt_latch_wait_in(latch, ns, NULL)
#define gpurt_latch_wait(latch)         gpurt_latch_wait_in(latch, GPURT_FOREVER, NULL)

#endif
