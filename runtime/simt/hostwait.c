/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that wait for a word the host stores (hostword.h). Who ends such a wait is outside the
 * kernel, so it counts as no spinning: while a lane waits so, others may wait for what it does
 * next, and nothing is called a livelock. The same holds for a lane whose wait has a time limit. A
 * worker whose lanes all wait for the host, or sleep (park.c), sleeps. */
#include "simt.h"

#include "hostact.h"
#include "hosttime.h"
#include "hostwait.h"
#include "peers.h"

#include <gpurt/atomic.h>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    NAP_FIRST_NS = 20000,
    NAP_MOST_NS = 50000000 /* a wait with a deadline bounds its own */
};

/* ---- lanes -------------------------------------------------------------------------------- */
void gpurt_simt_host_pause_held(uint64_t left_ns, const char *site)
{
    simt_worker_t *k = simt_worker_self;
    simt_lane_t *me;

    if (GPURT_UNLIKELY(!k || !k->current))
        return;
    me = k->current;
    me->at_host = true;
    me->host_until_ns = left_ns == UINT64_MAX ? left_ns : gpurt_steady_ns() + left_ns;
    gpurt_simt_pause(site); /* a lane that is abandoned here is made anew: block.c */
    me->at_host = false;
}

void gpurt_simt_host_pause(uint64_t left_ns, const char *site)
{
    simt_worker_t *k = simt_worker_self;
    simt_lane_t *me;

    if (GPURT_UNLIKELY(!k || !k->current))
        return;
    me = k->current;
    gpurt_simt_host_pause_held(left_ns, site);
    simt_cancel_point(me);
}

void gpurt_simt_host_wake(void)
{
    if (GPURT_LIKELY(simt_worker_self != NULL))
        simt_host_news(simt_worker_self->device);
}

void gpurt_simt_peer_wake(void)
{
    if (GPURT_LIKELY(simt_worker_self != NULL))
        simt_peers_each(simt_host_news);
}

/* ---- workers ------------------------------------------------------------------------------ */
typedef struct waiters {
    bool some, others; /* lanes that wait for the host; that can run otherwise */
    uint64_t until_ns; /* the first deadline, or UINT64_MAX */
    uint64_t limit_ns; /* the same of lanes that spin, by gpurt_globaltimer */
} waiters_t;

static waiters_t waiters_of(const simt_worker_t *k)
{
    waiters_t w = {.until_ns = UINT64_MAX, .limit_ns = UINT64_MAX};

    for (uint32_t i = 0; i < k->block_count; i++)
        w.others |= k->blocks[i]->at_grid != 0; /* which other workers complete */
    for (uint32_t i = 0; i < k->warp_count; i++)
        for (uint32_t m = k->warps[i]->ready; m; m &= m - 1) {
            const simt_lane_t *lane = &k->warps[i]->lanes[__builtin_ctz(m)];

            w.some |= lane->at_host;
            w.others |= !lane->at_host;
            if (lane->at_host && lane->host_until_ns < w.until_ns)
                w.until_ns = lane->host_until_ns;
            if (lane->until_ns < w.limit_ns)
                w.limit_ns = lane->until_ns;
        }
    return w;
}

uint32_t simt_awaited(const simt_device_t *d)
{
    uint32_t what = 0;

    for (uint32_t i = 0; i < d->worker_count; i++) /* relaxed: workers that idle keep it */
        what |= gpurt_load_relaxed_dev_u32(&d->workers[i].xawaits);
    return what;
}

/* A hint for the others. relaxed: as simt_awaited */
static void awaits_tell(simt_worker_t *k, const waiters_t *w)
{
    bool limited = w->limit_ns != UINT64_MAX || k->timed;

    gpurt_store_relaxed_dev_u32(&k->xawaits, (w->some ? SIMT_AWAITS_HOST : 0) |
                                                 (limited ? SIMT_AWAITS_TIME : 0));
}

void simt_limit_skip(simt_worker_t *k)
{
    uint64_t until = waiters_of(k).limit_ns, now = gpurt_simt_globaltimer();
    uint64_t sleeper = simt_park_deadline(k);

    until = sleeper < until ? sleeper : until;
    if (until != UINT64_MAX && until > now)
        k->steps += until - now;
}

/* The kernel looks at the word again, so a change between the look and the sleep wakes at once. */
static void nap(simt_device_t *d, uint32_t seen, uint64_t ns)
{
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u),
                         .tv_nsec = (long)(ns % 1000000000u)};

    gpurt_add_relaxed_sys_u32(&d->xhost_sleepers, 1); /* relaxed: the fence orders it */
    gpurt_fence_seq_cst_sys(); /* before the kernel looks at the word */
    syscall(SYS_futex, &d->xhost_news, FUTEX_WAIT_PRIVATE, seen, &t, NULL, 0);
    gpurt_add_relaxed_sys_u32(&d->xhost_sleepers, UINT32_MAX); /* relaxed: a hint goes */
}

/* Naps grow, in case that somebody stores without a word to us. */
static uint64_t nap_ns(simt_worker_t *k, uint64_t until_ns)
{
    uint64_t ns = k->host_nap_ns ? k->host_nap_ns * 2 : NAP_FIRST_NS, now;

    k->host_nap_ns = ns < NAP_MOST_NS ? ns : NAP_MOST_NS;
    if (until_ns == UINT64_MAX)
        return k->host_nap_ns;
    now = gpurt_steady_ns();
    if (until_ns <= now)
        return 0;
    return until_ns - now < k->host_nap_ns ? until_ns - now : k->host_nap_ns;
}

/* The first deadline of lanes that sleep at words, too. */
static uint64_t sleepers_until(simt_worker_t *k, uint64_t until_ns)
{
    uint64_t until = simt_park_until(k), now = gpurt_simt_globaltimer();
    uint64_t ns = until > now ? until - now : 0;

    if (until == UINT64_MAX)
        return until_ns;
    ns += gpurt_steady_ns();
    return ns < until_ns ? ns : until_ns;
}

bool simt_host_idle(simt_worker_t *k)
{
    waiters_t w = waiters_of(k);
    bool waits = w.some || k->asleep;
    uint32_t seen = k->host_seen;
    uint64_t ns, until_ns;

    awaits_tell(k, &w);
    /* Before the lanes of the next pass look at their words. */
    k->host_seen = gpurt_load_acquire_sys_u32(&k->device->xhost_news); /* HW1.acq */
    if (!waits || w.others || seen != k->host_seen) {
        k->host_nap_ns = 0;
        return waits && !w.others;
    }
    until_ns = sleepers_until(k, w.until_ns);
    if (k->device->config.seeded && until_ns != UINT64_MAX)
        return true; /* its clock counts steps: nothing is gained by sleeping */
    if (simt_acts_ahead(k->device))
        return true; /* so many passes on */
    ns = nap_ns(k, until_ns);
    if (ns)
        nap(k->device, seen, ns);
    return true;
}

/* ---- hosts -------------------------------------------------------------------------------- */
void simt_host_news(simt_device_t *d)
{
    gpurt_add_release_sys_u32(&d->xhost_news, 1);       /* HW1.rel */
    gpurt_fence_seq_cst_sys();                          /* before the look for sleepers */
    if (gpurt_load_relaxed_sys_u32(&d->xhost_sleepers)) /* relaxed: the fence orders it */
        syscall(SYS_futex, &d->xhost_news, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}
