/* SPDX-License-Identifier: Apache-2.0 */
/* hostpoll.h - how the host waits for what a kernel stores: it polls, then sleeps between looks.
 * A kernel is microseconds away, and one that is not may be hours. */
#ifndef GPURT_HOST_HOSTPOLL_H
#define GPURT_HOST_HOSTPOLL_H

#include "hosttime.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct gpurt_hostpoll {
    uint64_t began_ns, timeout_ns; /* UINT64_MAX: for ever */
    uint64_t nap_ns;               /* the longest nap; 0: a millisecond */
} gpurt_hostpoll_t;

static inline gpurt_hostpoll_t gpurt_hostpoll_begin(uint64_t timeout_ns)
{
    return (gpurt_hostpoll_t){gpurt_steady_ns(), timeout_ns, 0};
}

/* Before the next look. Returns: false, the time is over. */
bool gpurt_hostpoll_next(const gpurt_hostpoll_t *poll);

#endif
