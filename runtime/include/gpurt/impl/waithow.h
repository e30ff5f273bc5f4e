/* SPDX-License-Identifier: Apache-2.0 */
/* waithow.h - what futexes, locks and latches have in common: how long a lane waits, what ends that
 * early, and where the caller stands.
 *
 * A wait asks gpurt_wait_goes_on once a turn and then parks (spot.h). A cancelled block's lane
 * leaves before that, by its caller's own way out. */
#ifndef GPURT_WAITHOW_H
#define GPURT_WAITHOW_H

#include <gpurt/impl/spot.h>
#include <gpurt/scope.h>
#include <gpurt/waits.h>

/* Owner: the caller. */
typedef struct gpurt_wait_how {
    uint64_t ns;                /* so long at most; 0: not at all, GPURT_FOREVER */
    const gpurt_scope_t *scope; /* its end ends the wait; NULL */
    gpurt_site_t *place;        /* of the caller, for waits.h */
    const char *here;           /* its line, for reports of the CPU back end */
} gpurt_wait_how_t;

/* A call as an expression, with the caller's place. */
#define GPURT_WAIT_CALL_(function, text, ns, scope, ...)                                \
    __extension__({                                                                     \
        GPURT_PLACE(gpurt_place_, text);                                                \
        const gpurt_wait_how_t gpurt_how_ = {(ns), (scope), &gpurt_place_, GPURT_HERE}; \
        function(__VA_ARGS__, &gpurt_how_);                                             \
    })

/* begin: gpurt_globaltimer when the wait began. Returns: GPURT_OK, and *left: nanoseconds. */
GPURT_DEV gpurt_status_t gpurt_wait_goes_on(const gpurt_wait_how_t *how, uint64_t begin,
                                            uint64_t *left)
{
    uint64_t gone;

    /* relaxed: no data goes with it */
    if (how->scope && gpurt_load_relaxed_dev_i32(&how->scope->xstatus) != GPURT_OK)
        return GPURT_E_CANCELLED;
    *left = GPURT_FOREVER;
    if (how->ns == GPURT_FOREVER)
        return GPURT_OK;
    gone = gpurt_globaltimer() - begin;
    if (gone >= how->ns)
        return GPURT_E_TIMEOUT;
    *left = how->ns - gone;
    return GPURT_OK;
}

GPURT_DEV const int32_t *gpurt_wait_stop(const gpurt_wait_how_t *how)
{
    return how->scope ? &how->scope->xstatus : NULL;
}

#endif
