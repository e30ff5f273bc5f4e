/* SPDX-License-Identifier: Apache-2.0 */
/* semaphore.h - a bounded number of units that lanes take and give back.
 *
 *   gpurt_semaphore_init(s, bound, free)     one lane, before others use it; bound 1 to
 *                                            GPURT_SEMAPHORE_MOST, free at most that
 *   gpurt_semaphore_name(s, name, index)     for reports (waits.h)
 *   gpurt_semaphore_acquire(s, n)  _acquire_for(s, n, ns)  _acquire_in(s, n, ns, scope)
 *   gpurt_semaphore_try_acquire(s, n)
 *       n units at once, or none. GPURT_OK, GPURT_E_TIMEOUT, GPURT_E_CANCELLED, GPURT_E_HANDLE;
 *       GPURT_E_INVALID: n is 0 or above the bound
 *   gpurt_semaphore_release(s, n)            GPURT_E_INVALID: more than is taken, or 0
 *   gpurt_semaphore_free(s)                  at this moment
 *   gpurt_semaphore_destroy(s)               GPURT_E_HELD: somebody waits; GPURT_E_HANDLE: twice
 *
 * Who waits is served in the order in which the waits began: one that wants many units is not passed
 * by those that want few. What a lane wrote before it released is seen by who acquires after it. A
 * semaphore has no owner: another lane may release, and units of a lane that leaves stay taken,
 * unless the program defers a handler that gives them back. Context: device code, any lane. */
#ifndef GPURT_SEMAPHORE_H
#define GPURT_SEMAPHORE_H

#include <gpurt/impl/turnqueue.h>

enum {
    GPURT_SEMAPHORE_MOST = GPURT_TURN_COUNT
};

/* Owner: the program. */
typedef struct gpurt_semaphore {
    gpurt_turns_t turns; /* its count: units that are taken */
    uint32_t bound;
} gpurt_semaphore_t;

GPURT_DEV gpurt_status_t gpurt_semaphore_init(gpurt_semaphore_t *s, uint32_t bound,
                                              uint32_t free)
{
    if (bound == 0 || bound > GPURT_SEMAPHORE_MOST || free > bound)
        return GPURT_E_INVALID;
    gpurt_turns_init(&s->turns, bound - free);
    s->bound = bound;
    return GPURT_OK;
}

GPURT_DEV void gpurt_semaphore_name(gpurt_semaphore_t *s, const char *name, uint32_t index)
{
    gpurt_turns_name(&s->turns, GPURT_WAITABLE_SEMAPHORE, name, index);
}

GPURT_DEV gpurt_status_t gpurt_semaphore_acquire_at(gpurt_semaphore_t *s, uint32_t n,
                                                    const gpurt_wait_how_t *how)
{
    gpurt_turn_want_t want = {0, n, false, "semaphore"};
    uint64_t free = 0;

    if (n == 0 || n > s->bound)
        return GPURT_E_INVALID;
    want.most = s->bound - n;
    return gpurt_turns_take(&s->turns, &free, n) ? GPURT_OK
                                                 : gpurt_turns_wait(&s->turns, &want, how);
}

GPURT_DEV gpurt_status_t gpurt_semaphore_release(gpurt_semaphore_t *s, uint32_t n)
{
    uint64_t v = gpurt_turns_look(&s->turns);

    do {
        if (v & GPURT_TURN_ENDED)
            return GPURT_E_HANDLE;
        if (n == 0 || n > gpurt_turn_count(v))
            return GPURT_E_INVALID;
    } while (!gpurt_turns_put(&s->turns, &v, v - n));
    gpurt_turns_wake(&s->turns, v);
    return GPURT_OK;
}

GPURT_DEV uint32_t gpurt_semaphore_free(const gpurt_semaphore_t *s)
{
    return s->bound - gpurt_turn_count(gpurt_turns_look(&s->turns));
}

GPURT_DEV gpurt_status_t gpurt_semaphore_destroy(gpurt_semaphore_t *s)
{
    uint64_t v = gpurt_turns_look(&s->turns);

    return gpurt_turns_end(&s->turns, gpurt_turn_count(v));
}

#define gpurt_semaphore_acquire_in(s, n, ns, scope) \
    GPURT_WAIT_CALL_(gpurt_semaphore_acquire_at, "takes units", ns, scope, s, n)
#define gpurt_semaphore_acquire_for(s, n, ns) gpurt_semaphore_acquire_in(s, n, ns, NULL)
#define gpurt_semaphore_acquire(s, n)         gpurt_semaphore_acquire_in(s, n, GPURT_FOREVER, NULL)
#define gpurt_semaphore_try_acquire(s, n)     gpurt_semaphore_acquire_in(s, n, 0, NULL)

#endif
