/* SPDX-License-Identifier: Apache-2.0 */
/* The pace of a host thread that waits: naps grow with the wait, looks cost under 1 % of a core where
 * naps may be long enough, a limit is kept. */
#include "check.h"
#include "hostpoll.h"

#include <gpurt/atomic.h>

#include <pthread.h>
#include <time.h>

enum {
    MS = 1000000,
    LONG_NAPS = 5
};

static void naps_grow_with_the_wait(void)
{
    uint64_t before = 0;

    for (uint64_t gone = 50000; gone < 3600ull * 1000 * MS; gone *= 2) {
        uint64_t nap = gpurt_hostpoll_nap_ns(gone, 12000);

        CHECK(nap >= before && nap >= 20000);
        CHECK(nap <= 20000 || nap <= gone / 16);
        before = nap;
    }
    CHECK(before > MS && before < 3 * MS / 2); /* a look of 12 us */
}

static void looks_cost_under_one_percent(void)
{
    for (uint64_t look = 1000; look <= 35000; look += 500) {
        uint64_t nap = gpurt_hostpoll_nap_ns(3600ull * 1000 * MS, look);

        CHECK(look * 100 < nap);
        CHECK(nap <= 4 * MS);
    }
    CHECK_EQ(gpurt_hostpoll_nap_ns(3600ull * 1000 * MS, 1u << 30), 4 * MS);
    CHECK_EQ(gpurt_hostpoll_nap_ns(3600ull * 1000 * MS, 0), MS / 2);
}

static uint64_t used_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void work_for(uint64_t ns)
{
    uint64_t begin = used_ns();

    while (used_ns() - begin < ns)
        ;
}

/* A thread that works for 300 us at each look naps for 4 ms in the end: from 64 ms on, and on a slow
 * machine for longer. */
static void dear_looks_are_fewer(void)
{
    gpurt_hostpoll_t poll = gpurt_hostpoll_begin(UINT64_MAX);
    uint32_t naps = 0, long_naps = 0;

    while (long_naps < LONG_NAPS) {
        uint64_t begin = gpurt_steady_ns();
        const bool is_long = naps >= 2 && begin - poll.began_ns >= 64 * MS;

        CHECK(gpurt_hostpoll_next(&poll));
        CHECK(!is_long || gpurt_steady_ns() - begin >= 4 * MS);
        long_naps += is_long;
        naps += gpurt_hostpoll_naps(&poll);
        if (gpurt_hostpoll_naps(&poll))
            work_for(300000);
    }
    CHECK(poll.look_ns > 250000);
}

/* ---- a thread that is cancelled ---------------------------------------------------------- */
static uint32_t xnaps, xcancelled; /* flags alone; written by: the thread, main */

static void *nap_often(void *context)
{
    gpurt_hostpoll_t poll = gpurt_hostpoll_begin(UINT64_MAX);

    while (!gpurt_load_relaxed_sys_u32(&xcancelled)) { /* relaxed: a flag alone */
        (void)gpurt_hostpoll_next(&poll);
        gpurt_store_relaxed_sys_u32(&xnaps, gpurt_hostpoll_naps(&poll));
    }
    for (uint32_t i = 0; i < LONG_NAPS; i++)
        (void)gpurt_hostpoll_next(&poll);
    return context;
}

/* It goes on, for what it waits in has to be left. */
static void a_nap_is_no_cancellation_point(void)
{
    pthread_t thread;
    void *end;

    CHECK(pthread_create(&thread, NULL, nap_often, &xnaps) == 0);
    while (!gpurt_load_relaxed_sys_u32(&xnaps)) /* relaxed: a flag alone */
        sched_yield();
    CHECK(pthread_cancel(thread) == 0);
    gpurt_store_relaxed_sys_u32(&xcancelled, 1); /* relaxed: as above */
    CHECK(pthread_join(thread, &end) == 0);
    CHECK(end == &xnaps);
}

static void a_limit_is_kept(void)
{
    gpurt_hostpoll_t poll = gpurt_hostpoll_begin(0);

    CHECK(!gpurt_hostpoll_next(&poll));
    poll = gpurt_hostpoll_begin(UINT64_MAX);
    CHECK(gpurt_hostpoll_next(&poll) && !gpurt_hostpoll_naps(&poll));
}

int main(void)
{
    naps_grow_with_the_wait();
    looks_cost_under_one_percent();
    dear_looks_are_fewer();
    a_nap_is_no_cancellation_point();
    a_limit_is_kept();
    return 0;
}
