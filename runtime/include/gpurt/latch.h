/* SPDX-License-Identifier: Apache-2.0 */
/* latch.h - a count that falls to 0 once, and lanes that wait for that.
 *
 *   void gpurt_latch_init(latch, count)       one lane, before others use it; up to 2^30
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

/* Owner: the program. */
typedef struct gpurt_latch {
    uint32_t xleft; /* a signed number; open at 0 and below; written by: who counts down */
    gpurt_waitable_t waitable;
    const char *name;
} gpurt_latch_t;

GPURT_DEV void gpurt_latch_init(gpurt_latch_t *latch, uint32_t count)
{
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

/* acq_rel: who opens it hands on what the others wrote who counted before. */
GPURT_DEV gpurt_status_t gpurt_latch_count_down(gpurt_latch_t *latch, uint32_t n)
{
    int32_t left;

    if (n == 0 || n > 1u << 30)
        return GPURT_E_INVALID;
    left =
        (int32_t)(gpurt_is_shared(&latch->xleft)
                      ? gpurt_sub_acq_rel_blk_u32(&latch->xleft, n)   /* FX1.rel FX1.acq */
                      : gpurt_sub_acq_rel_dev_u32(&latch->xleft, n)); /* FX1.rel FX1.acq */
    if (left < -(1 << 29))
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
            return (int32_t)left < -(1 << 29) ? GPURT_E_CANCELLED : GPURT_OK;
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
