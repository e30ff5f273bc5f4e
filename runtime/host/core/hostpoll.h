/* SPDX-License-Identifier: Apache-2.0 */
/* hostpoll.h - how the host waits for what a kernel stores: it polls, then sleeps between looks.
 * A kernel is microseconds away, and one that is not may be hours.
 *
 * The pace. For 50 us it polls. Then it naps for a sixteenth of the wait so far, so that a late look
 * costs little beside the wait. What a look costs, the way into sleep and out of it included, is
 * measured, and naps grow until looks take 0.9 % of a core. That bound is never below half a millisecond
 * or above four: a look of more than 36 us takes a larger share.
 *
 * No call here is a cancellation point (pthread_cancel): its caller holds what it must give back. */
#ifndef GPURT_HOST_HOSTPOLL_H
#define GPURT_HOST_HOSTPOLL_H

#include "hosttime.h"

#include <stdbool.h>
#include <stdint.h>

/* Owner: the thread that waits. */
typedef struct gpurt_hostpoll {
    uint64_t began_ns, timeout_ns; /* UINT64_MAX: for ever */
    uint64_t used_ns; /* of a core by this thread, at the last nap; 0: none yet */
    uint64_t look_ns; /* what a look costs, a running mean */
} gpurt_hostpoll_t;

static inline gpurt_hostpoll_t gpurt_hostpoll_begin(uint64_t timeout_ns)
{
    return (gpurt_hostpoll_t){gpurt_steady_ns(), timeout_ns, 0, 0};
}

/* Before the next look. Returns: false, the time is over. */
bool gpurt_hostpoll_next(gpurt_hostpoll_t *poll);

/* Whether it has slept: it does between all looks from then on, so one look at a time is enough. */
static inline bool gpurt_hostpoll_naps(const gpurt_hostpoll_t *poll)
{
    return poll->used_ns != 0;
}

/* The nap after a wait of so long, where a look costs so much. */
uint64_t gpurt_hostpoll_nap_ns(uint64_t gone_ns, uint64_t look_ns);

#endif
