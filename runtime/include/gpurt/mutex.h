/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.h - one lane, or one warp, at a time.
 *
 *     #define GPURT_DEFER_DEPTH 4     // before any include: whoever leaves gives back what it holds
 *     #include <gpurt/device.h>
 *     #include <gpurt/mutex.h>
 *
 *     gpurt_status_t st = gpurt_mutex_lock(m);
 *     if (st == GPURT_OK) {
 *         ...
 *         gpurt_mutex_unlock(m);
 *     }
 *
 *   void gpurt_mutex_init(m)               one lane, before others use it; memory of zeros is one too
 *   gpurt_mutex_name(m, name, index)       for reports (waits.h): "fork", 3; GPURT_WAITABLE_SINGLE
 *   gpurt_mutex_lock(m)  _lock_for(m, ns)  _lock_in(m, ns, scope)  gpurt_mutex_try_lock(m)
 *       GPURT_OK            taken
 *       GPURT_E_OWNER_DIED  taken too: the one before left (panic, cancelled block) while it held
 *                           it, so what it guards may be half done
 *       GPURT_E_TIMEOUT     ns are over; of try, somebody holds it
 *       GPURT_E_CANCELLED   the scope ended
 *       GPURT_E_DEADLOCK    this lane holds it already
 *       GPURT_E_HANDLE      destroyed
 *       GPURT_E_NOMEM       GPURT_DEFER_DEPTH is too small; it is not taken, and of an owner that
 *                           left the next one is told
 *   gpurt_mutex_unlock(m)                  GPURT_E_NOT_OWNER: this lane does not hold it
 *   gpurt_mutex_lock_warp(mask, m)  _lock_warp_for(mask, m, ns)  gpurt_mutex_unlock_warp(mask, m)
 *       the lowest lane of `mask` takes it for all, once all have come. They get the same answer
 *   gpurt_mutex_destroy(m)                 GPURT_E_HELD: held, or waited for; GPURT_E_HANDLE: twice
 *
 * What the last owner wrote is seen by the next one. Who waits is served in the order in which the
 * waits began; nobody passes them. A lane of a cancelled block leaves in the wait. Taking a free
 * mutex is one atomic, giving back another.
 *
 * A mutex lies in global memory, or in shared memory: then it is its block's own, and cheaper. Lanes
 * of a warp may take one mutex each by themselves; prefer the warp's form where all of them want it.
 * Without GPURT_DEFER_DEPTH a mutex of a lane that leaves stays locked.
 * Context: device code, any lane. */
#ifndef GPURT_MUTEX_H
#define GPURT_MUTEX_H

#include <gpurt/impl/turnqueue.h>

/* Owner: the program. */
typedef struct gpurt_mutex {
    gpurt_turns_t turns;
} gpurt_mutex_t;

GPURT_DEV void gpurt_mutex_init(gpurt_mutex_t *m)
{
    gpurt_turns_init(&m->turns, 0);
}

GPURT_DEV void gpurt_mutex_name(gpurt_mutex_t *m, const char *name, uint32_t index)
{
    gpurt_turns_name(&m->turns, GPURT_WAITABLE_LOCK, name, index);
}

/* A handler of defer.h. */
GPURT_DEVN void gpurt_mutex_died(uint64_t turns)
{
    gpurt_turns_died(turns, 1);
}

GPURT_DEV void gpurt_mutex_give(gpurt_mutex_t *m)
{
    gpurt_turns_disown(&m->turns, true);
    gpurt_turns_put_back(&m->turns, 1);
}

GPURT_DEV gpurt_status_t gpurt_mutex_lock_at(gpurt_mutex_t *m, const gpurt_wait_how_t *how)
{
    const gpurt_turn_want_t want = {0, 1, true, "mutex"};

    return gpurt_turns_lock(&m->turns, &want, how, gpurt_mutex_died);
}

GPURT_DEV gpurt_status_t gpurt_mutex_unlock(gpurt_mutex_t *m)
{
    if (!gpurt_turns_is_mine(&m->turns))
        return GPURT_E_NOT_OWNER;
    gpurt_turns_unnote(1u << gpurt_lane(), gpurt_mutex_died, &m->turns);
    gpurt_mutex_give(m);
    return GPURT_OK;
}

/* The leader may end in its wait, because the block is cancelled; then it says nothing, and all of
 * them end. With the mutex none ends before its handler is noted. */
GPURT_DEV gpurt_status_t gpurt_mutex_lock_warp_at(uint32_t mask, gpurt_mutex_t *m,
                                                  const gpurt_wait_how_t *how)
{
    const gpurt_turn_want_t want = {0, 1, true, "mutex"};
    gpurt_status_t st = GPURT_E_CANCELLED, room;
    uint32_t taken;

    gpurt_syncwarp(mask); /* before the leader takes it: others may want it alone first */
    if (gpurt_is_leader(mask))
        st = gpurt_turns_acquire(&m->turns, &want, how);
    taken = gpurt_ballot(mask, gpurt_turns_has(st));
    st = gpurt_shfl_i32(mask, st, gpurt_leader(mask));
    if (!taken) {
        gpurt_cancel_point();
        return st;
    }
    gpurt_syncwarp(mask); /* what the leader acquired, the others see */
    room = gpurt_turns_note(mask, gpurt_mutex_died, &m->turns);
    if (room == GPURT_OK)
        return st;
    if (gpurt_is_leader(mask)) {
        gpurt_turns_disown(&m->turns, true);
        gpurt_turns_undo(&m->turns, want.add, st);
    }
    return room;
}

GPURT_DEV gpurt_status_t gpurt_mutex_unlock_warp(uint32_t mask, gpurt_mutex_t *m)
{
    gpurt_status_t st = GPURT_E_NOT_OWNER;

    gpurt_syncwarp(mask); /* what the others wrote, the leader releases */
    if (gpurt_is_leader(mask) && gpurt_turns_is_mine(&m->turns)) {
        gpurt_turns_unnote(mask, gpurt_mutex_died, &m->turns);
        gpurt_mutex_give(m);
        st = GPURT_OK;
    }
    return gpurt_shfl_i32(mask, st, gpurt_leader(mask));
}

GPURT_DEV gpurt_status_t gpurt_mutex_destroy(gpurt_mutex_t *m)
{
    return gpurt_turns_end(&m->turns, 0);
}

#define gpurt_mutex_lock_in(m, ns, scope) \
    GPURT_WAIT_CALL_(gpurt_mutex_lock_at, "takes a mutex", ns, scope, m)
#define gpurt_mutex_lock_for(m, ns) gpurt_mutex_lock_in(m, ns, NULL)
#define gpurt_mutex_lock(m)         gpurt_mutex_lock_in(m, GPURT_FOREVER, NULL)
#define gpurt_mutex_try_lock(m)     gpurt_mutex_lock_in(m, 0, NULL)
#define gpurt_mutex_lock_warp_for(mask, m, ns) \
    GPURT_WAIT_CALL_(gpurt_mutex_lock_warp_at, "takes a mutex", ns, NULL, mask, m)
#define gpurt_mutex_lock_warp(mask, m) gpurt_mutex_lock_warp_for(mask, m, GPURT_FOREVER)

#endif
