/* SPDX-License-Identifier: Apache-2.0 */
#include "hosttime.h"

#include <errno.h>

#define SECOND_NS 1000000000u

static uint64_t clock_ns(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_nsec;
}

uint64_t gpurt_real_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

uint64_t gpurt_steady_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

struct timespec gpurt_steady_in(uint64_t ns)
{
    uint64_t until = gpurt_steady_ns() + ns;

    return (struct timespec){(time_t)(until / SECOND_NS), (long)(until % SECOND_NS)};
}

bool gpurt_steady_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t ns)
{
    const struct timespec until = gpurt_steady_in(ns);

    return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &until) != ETIMEDOUT;
}
