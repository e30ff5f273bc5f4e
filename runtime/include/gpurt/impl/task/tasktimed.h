/* SPDX-License-Identifier: Apache-2.0 */
/* tasktimed.h - tasks that wait for a time: a ring, and the earliest time of those in it.
 *
 * A body that calls gpurt_task_sleep ends its run. Its time goes into m->due, its number into the ring, and
 * the earliest of all times into xdue. Once that has come, a warp that looks at the device's words goes
 * through the ring: tasks whose time it is become ready, the others go back. One warp at a time does: it
 * moves xdue on by GPURT_TIMED_CLAIM_NS first, and to the earliest time of those that went back in the end.
 *
 * Nobody is forgotten. A task is in the ring before its time goes into xdue (TT1). So who moves xdue sees the
 * task if that time was there before, and leaves the time there if it comes behind. Behind its last move a
 * warp counts the ring once more: a time that was later than xdue has left no trace in it.
 *
 * A task that is asked to stop is woken, if it was not told before it slept. Who asks makes all times due: one
 * pass through the ring wakes it. It may come into the ring behind that pass. So, while such a task lives,
 * passes follow each other in GPURT_TIMED_STOPS_NS.
 *
 * Cost: a warp goes through all that wait, 32 at a time, whenever the earliest time has come.
 * Order: what a task wrote is seen by who runs it next, as with any ring (TK1).
 * Context: device code. Nothing here is a safe point. */
#ifndef GPURT_TASKTIMED_H
#define GPURT_TASKTIMED_H

#include <gpurt/clock.h>

#include <gpurt/impl/task/taskgroup.h>

#define GPURT_DUE_NEVER UINT64_MAX

enum {
    GPURT_TIMED_CLAIM_NS = 1000000,
    GPURT_TIMED_STOPS_NS = 100000
};

/* When so many nanoseconds have passed, or in some 580 years. told: who sleeps knows that it is asked to stop, and
 * is not woken for that. It is the time's lowest bit. */
GPURT_DEV uint64_t gpurt_time_in(uint64_t ns, bool told)
{
    uint64_t now = gpurt_globaltimer(), until = now + ns + 1;

    return ((until < now ? UINT64_MAX - 3 : until) & ~1ull) | told;
}
GPURT_DEV bool gpurt_time_told(uint64_t until)
{
    return until & 1;
}

/* One lane: a task is asked to stop, which may sleep, or have children that do. All times are due now. Who goes
 * through them sees it in xstops (TT2). */
GPURT_DEV void gpurt_timed_stop(const gpurt_executor_map_t *m)
{
    gpurt_red_min_release_dev_u64(&m->words->xdue, gpurt_globaltimer()); /* TT2.rel */
}

GPURT_DEV gpurt_taskring_t gpurt_timed_ring(const gpurt_executor_map_t *m)
{
    gpurt_taskring_t r = gpurt_executor_ring(m, GPURT_RING_TIMED);

    /* Behind those of the groups that there are, and that of the edges, which has a size of its own. */
    r.slots = m->slots + ((size_t)(GPURT_RING_FREE_EDGES + m->groups) << m->task_shift) +
              ((size_t)1 << m->edge_shift);
    return r;
}

/* One lane: the task is the caller's no more. */
GPURT_DEV void gpurt_timed_hold(const gpurt_executor_map_t *m, uint32_t index,
                                uint64_t until)
{
    gpurt_taskring_t ring = gpurt_timed_ring(m);
    uint32_t me = 1u << gpurt_lane();

    gpurt_store_relaxed_dev_u64(&m->due[index], until); /* relaxed: the ring brings it */
    gpurt_taskring_push(&ring, me, me, index);
    gpurt_red_min_release_dev_u64(&m->words->xdue, until); /* TT1.rel */
}

/* relaxed, below: hints, but for TT1. */
GPURT_DEV uint32_t gpurt_timed_count(const gpurt_executor_map_t *m)
{
    return gpurt_taskring_count(
        gpurt_load_relaxed_dev_u32(&m->words->xcredits[GPURT_RING_TIMED]));
}

/* One lane. Returns: nanoseconds until a task's time comes; 0: it has; UINT64_MAX: none waits for one. */
GPURT_DEVN uint64_t gpurt_timed_next(const gpurt_executor_map_t *m)
{
    uint64_t due, now;

    if (!gpurt_timed_count(m))
        return UINT64_MAX;
    due = gpurt_load_relaxed_dev_u64(&m->words->xdue);
    now = gpurt_globaltimer();
    return due <= now ? 0 : due - now;
}

/* One lane. Returns: until when the ring is the caller's to go through; 0: it is not. */
GPURT_DEV uint64_t gpurt_timed_claim(const gpurt_executor_map_t *m)
{
    uint64_t *due = &m->words->xdue, was = gpurt_load_relaxed_dev_u64(due);
    uint64_t now = gpurt_globaltimer(), claim = now + GPURT_TIMED_CLAIM_NS;

    return was <= now && gpurt_cas_acquire_dev_u64(due, &was, claim)
               ? claim
               : 0; /* TT1.acq TT2.acq */
}

/* One lane: it has gone through the ring, and put back so many. due: the earliest of those. */
GPURT_DEV void gpurt_timed_done(const gpurt_executor_map_t *m, uint64_t claim, uint64_t due,
                                uint32_t back)
{
    uint64_t *at = &m->words->xdue;

    if (due < claim)
        gpurt_red_min_relaxed_dev_u64(at, due);
    else
        (void)gpurt_cas_acquire_dev_u64(at, &claim, due); /* TT1.acq */
    if (gpurt_timed_count(m) > back)
        gpurt_red_min_relaxed_dev_u64(at, gpurt_globaltimer());
}

/* One lane. Returns: nanoseconds until a task that waits for its time, or its group's, may run; UINT64_MAX:
 * none does. */
GPURT_DEV uint64_t gpurt_waits_next(const gpurt_executor_map_t *m)
{
    uint64_t groups = gpurt_groups_next(m), timed = gpurt_timed_next(m);

    return groups < timed ? groups : timed;
}

#endif
