/* SPDX-License-Identifier: Apache-2.0 */
/* The pace of a host thread that waits: naps grow with the wait, looks cost under 1 % of a core where
 * naps may be long enough, a limit is kept. */
#include "check.h"
#include "hostpoll.h"

#include <time.h>

enum {
    MS = 1000000
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

/* A thread that works for 300 us at each look naps for 4 ms in the end. */
static void dear_looks_are_fewer(void)
{
    gpurt_hostpoll_t poll = gpurt_hostpoll_begin(300 * MS);
    uint32_t looks = 0;

    while (gpurt_hostpoll_next(&poll)) {
        uint64_t begin = used_ns();

        while (gpurt_hostpoll_naps(&poll) && used_ns() - begin < 300000)
            ;
        looks += gpurt_hostpoll_naps(&poll);
    }
    CHECK(gpurt_steady_ns() - poll.began_ns >= 300 * MS);
    printf("%u looks of %.0f us\n", looks, (double)poll.look_ns * 1e-3);
    CHECK(poll.look_ns > 250000);
    CHECK(looks < 300 / 4 + 120); /* one in 4 ms, behind those of the first 64 */
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
    a_limit_is_kept();
    return 0;
}
