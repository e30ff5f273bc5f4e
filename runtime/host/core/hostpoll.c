/* SPDX-License-Identifier: Apache-2.0 */
#include "hostpoll.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

enum {
    SPIN_NS = 50000,
    NAP_LEAST_NS = 20000,
    NAP_SHARE = 16, /* a nap is so much of what has passed: a late look costs no more */
    BOUND_LEAST_NS =
        500000, /* whatever a look seems to cost: some clocks of threads are coarse */
    BOUND_MOST_NS = 4000000,
    LOOKS = 111, /* a nap is as long as so many: 0.9 % of a core */
    MEAN = 8     /* the last look's part of the mean */
};

static uint64_t used_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t gpurt_hostpoll_nap_ns(uint64_t gone_ns, uint64_t look_ns)
{
    uint64_t nap = gone_ns / NAP_SHARE, most = look_ns * LOOKS;

    most = most < BOUND_LEAST_NS ? BOUND_LEAST_NS : most;
    most = most > BOUND_MOST_NS ? BOUND_MOST_NS : most;
    nap = nap > most ? most : nap;
    return nap < NAP_LEAST_NS ? NAP_LEAST_NS : nap;
}

/* What this thread has used since the last nap is what a look costs. */
static void look_measure(gpurt_hostpoll_t *poll)
{
    uint64_t used = used_ns(), look = poll->used_ns ? used - poll->used_ns : 0;

    if (poll->used_ns && poll->look_ns)
        poll->look_ns += look / MEAN - poll->look_ns / MEAN;
    else
        poll->look_ns = look;
    poll->used_ns = used;
}

/* A thread that was cancelled here would leave its call behind: as a user of its channel, whose destroy
 * waits for it, and as one that waits. */
static void nap_take(uint64_t ns)
{
    const struct timespec until = gpurt_steady_in(ns);
    int state;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ; /* signals of the program's make no look dearer */
    pthread_setcancelstate(state, &state);
}

bool gpurt_hostpoll_next(gpurt_hostpoll_t *poll)
{
    uint64_t gone = gpurt_steady_ns() - poll->began_ns, nap;

    if (gone >= poll->timeout_ns)
        return false;
    if (gone < SPIN_NS) {
        sched_yield(); /* on the CPU back end the kernel may want this core */
        return true;
    }
    look_measure(poll);
    nap = gpurt_hostpoll_nap_ns(gone, poll->look_ns);
    if (poll->timeout_ns - gone < nap)
        nap = poll->timeout_ns - gone;
    nap_take(nap);
    return true;
}
