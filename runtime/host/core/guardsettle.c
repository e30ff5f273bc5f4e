/* SPDX-License-Identifier: Apache-2.0 */
/* A guarded launch's verdict: wait, look which blocks failed, launch those again, and at last let
 * the fallbacks have them. */
#include "guardpart.h"
#include "plural.h"
#include "refuse.h"

#include <gpurt/atomic.h>

#include <stdlib.h>
#include <time.h>

enum {
    MAX_BACKOFF_US = 1000000
};

/* ---- which blocks -------------------------------------------------------------------- */

bool gpurt_guard_block_failed(const guard_t *g, uint32_t rank)
{
    return gpurt_load_relaxed_sys_u32(&gpurt_guard_blocks(g->words)[rank]) ==
           g->attempt + 1; /* relaxed, as all here: the kernel has ended */
}

static uint32_t failed_count(const guard_t *g)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < g->words->block_count; i++)
        count += gpurt_guard_block_failed(g, i);
    return count;
}

static gpurt_dim3_t place_of(uint32_t rank, gpurt_dim3_t in)
{
    return (gpurt_dim3_t){rank % in.x, rank / in.x % in.y, rank / in.x / in.y};
}

/* Number of the cluster that a block is of. */
static uint32_t cluster_of(const gpurt_launch_t *l, uint32_t rank)
{
    gpurt_dim3_t at = place_of(rank, l->grid), c = l->cluster;

    return (at.z / c.z * (l->grid.y / c.y) + at.y / c.y) * (l->grid.x / c.x) + at.x / c.x;
}

/* Blocks that meet each other run again together: a cluster's, a cooperative grid's. */
static gpurt_status_t failed_widen(const guard_t *g)
{
    const gpurt_launch_t *l = &g->launch;
    uint32_t cluster_blocks = l->cluster.x * l->cluster.y * l->cluster.z;
    uint32_t blocks = g->words->block_count, *words = gpurt_guard_blocks(g->words);
    uint32_t units = l->cooperative ? 1 : blocks / cluster_blocks;
    bool *unit;

    if (units == blocks)
        return GPURT_OK;
    unit = (bool *)calloc(units, sizeof *unit);
    if (!unit)
        return GPURT_E_NOMEM;
    for (uint32_t i = 0; i < blocks; i++)
        unit[l->cooperative ? 0 : cluster_of(l, i)] |= gpurt_guard_block_failed(g, i);
    for (uint32_t i = 0; i < blocks; i++)
        if (unit[l->cooperative ? 0 : cluster_of(l, i)])
            gpurt_store_relaxed_sys_u32(&words[i], g->attempt + 1);
    free(unit);
    return GPURT_OK;
}

/* ---- the verdict --------------------------------------------------------------------- */

static uint32_t stop_of(const guard_t *g)
{
    return gpurt_load_relaxed_sys_u32(&g->words->xstop); /* relaxed: a word without data */
}

static void backoff(const guard_t *g, uint32_t retry)
{
    uint64_t us = (uint64_t)g->policy.backoff_us << (retry < 20 ? retry : 20);
    struct timespec t;

    us = us < MAX_BACKOFF_US ? us : MAX_BACKOFF_US;
    t = (struct timespec){(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    if (us)
        nanosleep(&t, NULL);
}

/* Launches what failed again. Returns: how that ended. */
static gpurt_status_t redo(const gpurt_opened_t *o, guard_t *g,
                           const gpurt_kernel_t *kernel, gpurt_error_t *err)
{
    uint32_t by_panic = GPURT_STOP_PANIC;
    gpurt_status_t st = failed_widen(g);

    if (st != GPURT_OK)
        return st;
    /* relaxed: a stop by the host stays */
    (void)gpurt_cas_relaxed_sys_u32(&g->words->xstop, &by_panic, GPURT_STOP_NOT);
    g->attempt++;
    st = gpurt_guard_launch(o, g, kernel, err);
    return st == GPURT_OK ? gpurt_guard_stream_wait(o, g, err) : st;
}

/* Retries, then the fallback kernel. Returns: OK, or why a launch failed. */
static gpurt_status_t repair(const gpurt_opened_t *o, guard_t *g, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;

    for (uint32_t i = 0; st == GPURT_OK && i < g->policy.retries; i++) {
        if (!failed_count(g) || stop_of(g) > GPURT_STOP_PANIC)
            return GPURT_OK;
        backoff(g, i);
        st = redo(o, g, g->kernel, err);
    }
    if (st == GPURT_OK && g->policy.fallback_kernel && failed_count(g) &&
        stop_of(g) <= GPURT_STOP_PANIC)
        st = redo(o, g, g->policy.fallback_kernel, err);
    return st;
}

/* The host's fallback, a block at a time. */
static void fall_back(guard_t *g)
{
    uint32_t *words = gpurt_guard_blocks(g->words);

    for (uint32_t i = 0; g->policy.fallback && i < g->words->block_count; i++)
        if (gpurt_guard_block_failed(g, i) && stop_of(g) <= GPURT_STOP_PANIC &&
            g->policy.fallback(g->policy.context, place_of(i, g->launch.grid)) ==
                GPURT_OK) {
            words[i] = 0;
            g->outcome.fallbacks++;
        }
}

static gpurt_status_t verdict(const guard_t *g, gpurt_error_t *err)
{
    const gpurt_outcome_t *out = &g->outcome;

    if (!out->failed)
        return GPURT_OK;
    if (stop_of(g) > GPURT_STOP_PANIC)
        return REFUSE(err, GPURT_E_CANCELLED,
                      "kernel %s was cancelled: %u of its %u block%s did not come to their "
                      "end",
                      g->kernel->name, out->failed, g->words->block_count,
                      gpurt_plural(g->words->block_count, "s"));
    return REFUSE(err, GPURT_E_PANIC,
                  "kernel %s: %u of %u block%s failed, %u panic%s in %u launch%s; "
                  "gpurt-panic tells what they said",
                  g->kernel->name, out->failed, g->words->block_count,
                  gpurt_plural(g->words->block_count, "s"), out->panics,
                  gpurt_plural(out->panics, "s"), out->launches,
                  gpurt_plural(out->launches, "es"));
}

/* Under the guard's lock. */
static void settle(const gpurt_opened_t *o, guard_t *g, bool again, gpurt_error_t *err)
{
    gpurt_outcome_t *out = &g->outcome;
    const gpurt_guard_t *w = g->words;
    gpurt_status_t st = gpurt_guard_stream_wait(o, g, err);

    out->failed_first = failed_count(g);
    if (st == GPURT_OK && again) {
        st = repair(o, g, err);
        if (st == GPURT_OK)
            fall_back(g);
    }
    out->failed = failed_count(g);
    out->panics = gpurt_load_relaxed_sys_u32(&w->xpanics); /* relaxed: all have ended */
    out->nested = gpurt_load_relaxed_sys_u32(&w->xnested);
    out->escalated = gpurt_load_relaxed_sys_u32(&w->xescalated);
    out->degraded = gpurt_load_relaxed_sys_u32(&w->xdegraded) != 0;
    out->status = st == GPURT_OK ? verdict(g, err) : st;
    gpurt_store_relaxed_sys_u32(&g->xsettled, 1); /* read under lock, or as a hint */
}

gpurt_status_t gpurt_guard_settle(const gpurt_opened_t *o, guard_t *g, bool again,
                                  gpurt_outcome_t *outcome, gpurt_error_t *err)
{
    gpurt_status_t st;

    pthread_mutex_lock(&g->lock);
    if (!gpurt_load_relaxed_sys_u32(&g->xsettled)) /* relaxed: under the lock */
        settle(o, g, again, err);
    else if (g->outcome.status != GPURT_OK)
        (void)REFUSE(err, g->outcome.status,
                     "kernel %s failed: %s; an earlier wait has the report",
                     g->kernel->name, gpurt_status_text(g->outcome.status));
    st = g->outcome.status;
    if (outcome)
        *outcome = g->outcome;
    pthread_mutex_unlock(&g->lock);
    return st;
}
