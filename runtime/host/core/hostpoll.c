/* SPDX-License-Identifier: Apache-2.0 */
#include "hostpoll.h"

#include <sched.h>
#include <time.h>

enum {
    SPIN_NS = 50000,
    NAP_LEAST_NS = 20000,
    NAP_MOST_NS = 1000000,
    NAP_SHARE = 16 /* a nap is so much of what has passed: a late look costs no more */
};

bool gpurt_hostpoll_next(const gpurt_hostpoll_t *poll)
{
    uint64_t gone = gpurt_steady_ns() - poll->began_ns, nap = gone / NAP_SHARE;
    uint64_t most = poll->nap_ns ? poll->nap_ns : NAP_MOST_NS;
    struct timespec t = {0, 0};

    if (gone >= poll->timeout_ns)
        return false;
    if (gone < SPIN_NS) {
        sched_yield(); /* on the CPU back end the kernel may want this core */
        return true;
    }
    nap = nap < NAP_LEAST_NS ? NAP_LEAST_NS : nap > most ? most : nap;
    if (poll->timeout_ns - gone < nap)
        nap = poll->timeout_ns - gone;
    t.tv_nsec = (long)nap;
    nanosleep(&t, NULL);
    return true;
}
