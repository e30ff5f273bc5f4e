/* SPDX-License-Identifier: Apache-2.0 */
/* A worker's main fiber: takes units, lets lanes run, does their errands, waits. */
#include "failure.h"
#include "hostact.h"
#include "hostwait.h"

#include <gpurt/atomic.h>
#include <gpurt/impl/point.h>

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hosttime.h"
#include "sanitizer.h"

enum {
    IDLE_ADMIT_ROUNDS = 8,    /* others may be what they wait for: let one more block in */
    IDLE_SPIN_ROUNDS = 64,    /* look again at once */
    IDLE_YIELD_ROUNDS = 1000, /* then let other threads run, then sleep */
    IDLE_SLEEP_NS = 20000,
    DYING_TRIES = 5000, /* of IDLE_SLEEP_NS */
    /* Waits that are bounded in rounds end by then, also where other programs get the time. */
    SPIN_ROUNDS_LEAST = 2500,
    HELD_GRACE_MS = 50 /* seeded launches begin after this even if the host does not wait */
};
#define GIVEN_NS 1000000000ull /* to other threads, yield by yield */

/* ---- taking work ---------------------------------------------------------------------------- */
/* Blocks of a launch that failed, here or on another worker, end where they are. */
static void worker_reap(simt_worker_t *k)
{
    for (uint32_t i = 0; i < k->block_count;) {
        simt_block_t *b = k->blocks[i];

        if (!gpurt_load_relaxed_dev_u32(&b->launch->xfailed)) {
            i++;
            continue;
        }
        for (uint32_t t = 0; t < b->threads; t++)
            simt_lane_abandon(k, &b->lanes[t]);
        simt_block_end(k, b);
    }
}

static void unit_refused(simt_launch_t *l)
{
    uint32_t blocks = l->cluster_size;

    simt_launch_fail(l, GPURT_E_NOMEM, NULL, NULL);
    while (blocks--)
        simt_launch_block_ended(l, blocks == 0);
}

/* Under the mutex. */
static void wait_for_work(simt_device_t *d)
{
    if (!d->held || !d->pending) {
        pthread_cond_wait(&d->work, &d->mutex);
        return;
    }
    if (!gpurt_steady_wait(&d->work, &d->mutex, HELD_GRACE_MS * 1000000ull) && d->held) {
        d->replayable = false;
        simt_device_release(d);
    }
}

/* Fills the worker's places. Waits when it has no block. Returns: false to end the thread. */
static bool worker_admit(simt_worker_t *k)
{
    simt_device_t *d = k->device;
    simt_launch_t *l;
    uint64_t unit;

    pthread_mutex_lock(&d->mutex);
    for (;;) {
        k->seen_changes = d->xchanges;
        simt_park_busy(k, true);
        while (simt_launch_take(k, &l, &unit)) {
            k->quiet_since = 0;
            pthread_mutex_unlock(&d->mutex);
            if (!simt_unit_start(k, l, unit))
                unit_refused(l);
            pthread_mutex_lock(&d->mutex);
        }
        if (k->block_count || d->stopping)
            break;
        k->extra = 0;
        simt_park_busy(k, false);
        if (simt_acts_wait(d)) {
            pthread_mutex_unlock(&d->mutex);
            simt_acts_do_idle(k);
            pthread_mutex_lock(&d->mutex);
        } else {
            wait_for_work(d);
        }
    }
    pthread_mutex_unlock(&d->mutex);
    return k->block_count > 0;
}

/* ---- errands ---------------------------------------------------------------------------------- */
static void block_check(simt_worker_t *k, simt_block_t *b)
{
    simt_failure_t told;
    char *report;

    if (b->live == 0) {
        simt_block_end(k, b);
    } else if (simt_block_is_stuck(b)) {
        report = simt_report_deadlock(k, b, &told);
        simt_launch_fail(b->launch, GPURT_E_DEADLOCK, report, &told);
    }
}

static void lane_failed(simt_worker_t *k, simt_lane_t *lane)
{
    simt_failure_t told;
    char *report = simt_report_fault(k, lane, &k->fault, &told);

    simt_launch_fail(lane->warp->block->launch, k->fault.status, report, &told);
}

/* The program called abort() in a kernel, perhaps out of malloc: nothing is allocated, and nobody
 * is waited for long who may wait for malloc. */
static void lane_dies(simt_worker_t *k, simt_lane_t *lane)
{
    static char report[GPURT_PANIC_REPORT];
    static uint32_t xtaken; /* written by: the first lane that dies */
    simt_launch_t *l = lane->warp->block->launch;
    struct timespec t = {0, IDLE_SLEEP_NS};
    simt_failure_t told;

    if (gpurt_add_relaxed_dev_u32(&xtaken, 1) != 0) /* relaxed: a count */
        return;
    simt_report_dying(k, lane, report, sizeof report, &told);
    for (uint32_t tries = 0; tries < DYING_TRIES; tries++) {
        if (pthread_mutex_trylock(&k->device->mutex) == 0) {
            simt_failure_tell(l, &told, report);
            pthread_mutex_unlock(&k->device->mutex);
            return;
        }
        nanosleep(&t, NULL);
    }
}

/* After which the lane, or one that it chose, runs on at once. */
static bool errand_is_short(simt_errand_t errand)
{
    return errand == SIMT_ERRAND_FIBER || errand == SIMT_ERRAND_PANIC ||
           errand == SIMT_ERRAND_DYING;
}

static void worker_errand(simt_worker_t *k)
{
    simt_errand_t errand = k->errand;
    simt_lane_t *subject = k->subject;
    simt_block_t *b;

    k->errand = SIMT_ERRAND_NONE;
    k->subject = NULL;
    if (!subject)
        return;
    b = subject->warp->block;
    switch (errand) {
    case SIMT_ERRAND_EXIT:
        simt_lane_abandon(k, subject);
        block_check(k, b);
        break;
    case SIMT_ERRAND_STUCK:
    case SIMT_ERRAND_ENDED:
        block_check(k, b);
        break;
    case SIMT_ERRAND_MISUSE:
    case SIMT_ERRAND_FAULT:
        lane_failed(k, subject);
        break;
    default:
        break;
    }
}

static void worker_run(simt_worker_t *k, simt_lane_t *lane)
{
    gpurt_point_budget = simt_schedule_budget(k);
    simt_lane_run(k, lane);
    while (errand_is_short(k->errand)) {
        simt_errand_t errand = k->errand;

        lane = k->subject;
        k->errand = SIMT_ERRAND_NONE;
        if (errand == SIMT_ERRAND_PANIC)
            simt_panic_keep(k, lane);
        if (errand == SIMT_ERRAND_DYING)
            lane_dies(k, lane);
        if (errand == SIMT_ERRAND_FIBER)
            simt_lane_run(k, lane);
        else
            simt_lane_resume(k, lane);
    }
    worker_errand(k);
}

/* ---- nothing to do but wait --------------------------------------------------------------------- */
static simt_launch_t *launch_that_spins(const simt_worker_t *k)
{
    for (uint32_t i = 0; i < k->warp_count; i++)
        for (uint32_t m = k->warps[i]->ready; m; m &= m - 1)
            if (k->warps[i]->lanes[__builtin_ctz(m)].spins)
                return k->warps[i]->block->launch;
    return NULL;
}

/* Whether nobody on the device has advanced for the limit. */
static bool spun_too_long(simt_worker_t *k)
{
    const simt_device_t *d = k->device;
    uint64_t now;

    if (d->config.cpu.spin_limit)
        return k->idle_rounds - k->free_rounds >= d->config.cpu.spin_limit;
    if (d->config.cpu.spin_limit_ms == UINT32_MAX)
        return false;
    if (k->idle_rounds - k->free_rounds < SPIN_ROUNDS_LEAST)
        return false;
    now = gpurt_steady_ns();
    for (uint32_t i = 0; i < d->worker_count; i++) {
        const simt_worker_t *w = &d->workers[i];
        uint64_t since = gpurt_load_relaxed_dev_u64(&w->xidle_since); /* a heuristic */

        if (since == UINT64_MAX) /* has no block at all */
            continue;
        if (since == 0 || now - since < d->config.cpu.spin_limit_ms * 1000000ull)
            return false;
    }
    return true;
}

static void livelock(simt_worker_t *k)
{
    simt_launch_t *l = launch_that_spins(k);
    simt_failure_t told;
    bool occupancy;
    char *report;

    if (!l)
        return;
    pthread_mutex_lock(&k->device->mutex);
    occupancy = l->next_unit < l->unit_count;
    pthread_mutex_unlock(&k->device->mutex);
    report = simt_report_livelock(k, l, occupancy, &told);
    simt_launch_fail(l, occupancy ? GPURT_E_OCCUPANCY : GPURT_E_LIVELOCK, report, &told);
    k->idle_rounds = k->free_rounds = 0;
}

/* The first block with lanes asleep tells; its launch fails. */
static void asleep_for_ever(simt_worker_t *k)
{
    simt_block_t *b = k->blocks[0];
    simt_failure_t told;
    bool occupancy;
    char *report;

    for (uint32_t i = 0; i < k->block_count && !b->asleep; i++)
        b = k->blocks[i];
    pthread_mutex_lock(&k->device->mutex);
    occupancy = b->launch->next_unit < b->launch->unit_count;
    pthread_mutex_unlock(&k->device->mutex);
    report = simt_report_asleep(k, b, occupancy, &told);
    simt_launch_fail(b->launch, occupancy ? GPURT_E_OCCUPANCY : GPURT_E_DEADLOCK, report,
                     &told);
    k->quiet_since = 0;
}

/* A seeded livelock is one after so many rounds. Where a yield gives milliseconds to others each
 * time, it would be one after minutes: who was given a second has had his chance. */
static void nap_seeded(simt_worker_t *k)
{
    struct timespec t = {0, IDLE_SLEEP_NS};
    uint64_t begin;

    if (k->idle_rounds >= IDLE_YIELD_ROUNDS && k->idle_rounds % 256 == 0) {
        nanosleep(&t, NULL);
        return;
    }
    if (k->given_ns >= GIVEN_NS)
        return;
    begin = gpurt_steady_ns();
    sched_yield();
    k->given_ns += gpurt_steady_ns() - begin;
}

static void nap(simt_worker_t *k)
{
    struct timespec t = {0, IDLE_SLEEP_NS};

    if (k->idle_rounds < IDLE_SPIN_ROUNDS)
        return;
    if (k->device->config.seeded)
        nap_seeded(k);
    else if (k->idle_rounds < IDLE_YIELD_ROUNDS)
        sched_yield();
    else
        nanosleep(&t, NULL);
}

/* Nobody is to blame for rounds in which a wait had yet to end by itself. */
static void count_anew(simt_worker_t *k)
{
    k->free_rounds = k->idle_rounds;
    gpurt_store_relaxed_dev_u64(&k->xidle_since, gpurt_steady_ns()); /* a hint */
}

/* Under a seed there is one worker, and the clock counts steps: rounds lead to the first limit. */
static void judge(simt_worker_t *k)
{
    uint32_t awaited = simt_awaited(k->device);

    if (awaited && !k->device->config.seeded)
        count_anew(k);
    else if (k->idle_rounds < IDLE_SPIN_ROUNDS || !spun_too_long(k))
        return;
    else if (!awaited)
        livelock(k);
    else if (awaited == SIMT_AWAITS_TIME)
        simt_limit_skip(k);
}

/* A round in which nobody advanced. Blocks that have not begun may be what the others wait for,
 * so one more is let in; if that is no help, it is a livelock. */
static void worker_idle(simt_worker_t *k)
{
    k->idle = false;
    if (k->idle_rounds++ == 0)
        k->given_ns = k->free_rounds = 0;
    if (!k->xidle_since)
        gpurt_store_relaxed_dev_u64(&k->xidle_since, gpurt_steady_ns()); /* a hint */
    for (uint32_t i = 0; i < k->block_count; i++)
        if (simt_block_is_stuck(k->blocks[i])) {
            block_check(k, k->blocks[i]);
            return;
        }
    k->extra += k->idle_rounds >= IDLE_ADMIT_ROUNDS;
    if (simt_park_is_stuck(k)) {
        asleep_for_ever(k);
        return;
    }
    if (simt_host_idle(k))
        return;
    judge(k);
    nap(k);
}

/* ---- the thread ------------------------------------------------------------------------------------ */
static void worker_begin(simt_worker_t *k)
{
    char name[16] = "gpurt-sm";

    simt_worker_self = k;
    simt_fiber_adopt(&k->main);
    simt_fault_thread_begin(k);
    simt_schedule_begin(k);
    name[8] = (char)('0' + k->index / 10);
    name[9] = (char)('0' + k->index % 10);
    pthread_setname_np(pthread_self(), name);
}

static void worker_end(simt_worker_t *k)
{
    simt_blocks_free(k);
    while (k->chunks) {
        simt_fiber_chunk_t *c = k->chunks;

        k->chunks = c->next;
        simt_fiber_chunk_destroy(c);
    }
    simt_fault_thread_end(k);
    simt_worker_self = NULL;
}

/* The signal stack was that of its thread, which is not here. */
void simt_worker_abandon(simt_worker_t *k)
{
    simt_blocks_free(k);
    while (k->chunks) {
        simt_fiber_chunk_t *c = k->chunks;

        k->chunks = c->next;
        simt_fiber_chunk_destroy(c);
    }
    free(k->signal_stack);
}

void *simt_worker_main(void *worker)
{
    simt_worker_t *k = (simt_worker_t *)worker;

    worker_begin(k);
    for (;;) {
        simt_lane_t *lane;

        worker_reap(k);
        if (!k->block_count) {
            gpurt_store_relaxed_dev_u64(&k->xidle_since, UINT64_MAX); /* a hint */
            gpurt_store_relaxed_dev_u32(&k->xawaits, 0);              /* likewise */
        }
        if (!worker_admit(k))
            break;
        if (k->xidle_since == UINT64_MAX)
            gpurt_store_relaxed_dev_u64(&k->xidle_since, 0); /* a hint */
        simt_acts_do(k);
        lane = simt_schedule_pick(k);
        if (lane)
            worker_run(k, lane);
        if (k->idle)
            worker_idle(k);
    }
    worker_end(k);
    return NULL;
}
