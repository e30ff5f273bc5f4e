/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers: block, named, cluster, grid. The first
 * three complete inside one worker and wake their lanes at once; a grid barrier spans workers
 * and is a phase counter that each polls. */
#include "simt.h"

#include <gpurt/atomic.h>

#include "sanitizer.h"

static void wake_where(simt_block_t *b, simt_state_t state, uint32_t id, uint32_t sum,
                       uint32_t everybody)
{
    for (uint32_t t = 0; t < b->threads; t++) {
        simt_lane_t *l = &b->lanes[t];

        if (l->state != state || (state == SIMT_AT_BARRIER && l->barrier != id))
            continue;
        l->result = l->answer == GPURT_SIMT_COUNT   ? sum
                    : l->answer == GPURT_SIMT_EVERY ? (uint64_t)(sum == everybody)
                                                    : (uint64_t)(sum != 0);
        l->spins = 0;
        simt_lane_wake(l);
    }
    simt_worker_self->progress = true;
}

/* ---- block and named barriers --------------------------------------------------------------- */
static void barrier_try(simt_block_t *b, uint32_t id)
{
    simt_barrier_t *bar = &b->barriers[id];
    uint32_t expected = id ? bar->expected : b->live, sum = bar->sum;

    if (!bar->arrived || bar->arrived < expected)
        return;
    bar->arrived = bar->sum = 0;
    bar->parity ^= 1u;
    bar->site = NULL;
    wake_where(b, SIMT_AT_BARRIER, id, sum, expected);
}

static void barrier_arrive(simt_lane_t *me, uint32_t id, bool wait)
{
    simt_barrier_t *bar = &me->warp->block->barriers[id];

    simt_order_release(&bar->word[bar->parity]);
    bar->arrived++;
    bar->sum += me->predicate;
    me->barrier = (uint8_t)id;
    if (!bar->site)
        bar->site = me->site;
    else if (bar->site != me->site && id == 0 &&
             me->warp->block->worker->device->config.cpu.strict)
        simt_lane_misuse(me, GPURT_E_SYNC,
                         "threads of a block meet at barriers on different lines", NULL);
    if (wait)
        simt_lane_block(me, SIMT_AT_BARRIER);
}

static simt_lane_t *lane_here(const char *site)
{
    simt_worker_t *k = simt_worker_self;

    if (GPURT_UNLIKELY(!k || !k->current))
        return NULL;
    k->current->site = site;
    k->current->answer = GPURT_SIMT_COUNT;
    k->current->predicate = false;
    simt_cancel_point(k->current);
    return k->current;
}

uint32_t gpurt_simt_block_barrier(uint32_t answer, bool predicate, const char *site)
{
    simt_lane_t *me = lane_here(site);
    simt_block_t *b;
    char *word;

    if (GPURT_UNLIKELY(!me))
        return predicate;
    b = me->warp->block;
    word = &b->barriers[0].word[b->barriers[0].parity];
    me->answer = (uint8_t)answer;
    me->predicate = predicate;
    barrier_arrive(me, 0, true);
    barrier_try(b, 0);
    simt_lane_wait(me);
    simt_cancel_point(me);
    simt_order_acquire(word);
    return (uint32_t)me->result;
}

void gpurt_simt_named_barrier(uint32_t id, uint32_t threads, bool wait, const char *site)
{
    simt_lane_t *me = lane_here(site);
    simt_barrier_t *bar;
    char *word;

    if (GPURT_UNLIKELY(!me))
        return;
    if (id == 0 || id >= GPURT_NAMED_BARRIERS)
        simt_lane_misuse(me, GPURT_E_SYNC, "the id of a named barrier is not 1..15", NULL);
    if (threads == 0 || threads % GPURT_WARP_SIZE || threads > GPURT_MAX_BLOCK_THREADS)
        simt_lane_misuse(me, GPURT_E_SYNC,
                         "the thread count of a named barrier is not a multiple of 32",
                         NULL);
    bar = &me->warp->block->barriers[id];
    if (bar->arrived && bar->expected != threads)
        simt_lane_misuse(me, GPURT_E_SYNC,
                         "threads at one named barrier expect different counts", NULL);
    bar->expected = threads;
    word = &bar->word[bar->parity];
    barrier_arrive(me, id, wait);
    barrier_try(me->warp->block, id);
    simt_lane_wait(me); /* one that only arrives is ready still */
    simt_cancel_point(me);
    if (wait)
        simt_order_acquire(word);
}

/* ---- cluster barrier ------------------------------------------------------------------------- */
static void cluster_try(simt_cluster_t *c)
{
    if (!c->arrived || c->arrived < c->live)
        return;
    c->arrived = 0;
    c->parity ^= 1u;
    for (uint32_t i = 0; i < c->size; i++)
        if (c->blocks[i])
            wake_where(c->blocks[i], SIMT_AT_CLUSTER, 0, 0, 0);
}

void gpurt_simt_cluster_barrier(const char *site)
{
    simt_lane_t *me = lane_here(site);
    simt_cluster_t *c;
    char *word;

    if (GPURT_UNLIKELY(!me))
        return;
    c = me->warp->block->cluster;
    if (!c) { /* a cluster of one block */
        gpurt_simt_block_barrier(GPURT_SIMT_COUNT, false, site);
        return;
    }
    word = &c->word[c->parity];
    simt_order_release(word);
    c->arrived++;
    simt_lane_block(me, SIMT_AT_CLUSTER);
    cluster_try(c);
    simt_lane_wait(me);
    simt_cancel_point(me);
    simt_order_acquire(word);
}

void simt_barrier_lane_ended(simt_lane_t *lane)
{
    simt_block_t *b = lane->warp->block;

    if (b->live)
        barrier_try(b, 0);
    if (b->cluster) {
        b->cluster->live--;
        cluster_try(b->cluster);
    }
}

/* ---- grid barrier ------------------------------------------------------------------------------ */
/* The last block of the grid opens the next phase. Each worker sees it when it polls. */
static void grid_arrive(simt_block_t *b)
{
    simt_launch_t *l = b->launch;

    if (gpurt_add_acq_rel_dev_u32(&l->xgrid_arrived, 1) + 1 < /* G2.rel G2.acq */
        l->block_count)
        return;
    /* everybody has arrived and nobody can arrive again before the phase opens */
    gpurt_store_relaxed_dev_u32(&l->xgrid_arrived, 0);
    gpurt_add_release_dev_u64(&l->xgrid_phase, 1); /* G1.rel */
    simt_park_news(l->device);
}

void gpurt_simt_grid_barrier(const char *site)
{
    simt_lane_t *me = lane_here(site);
    simt_block_t *b;
    simt_launch_t *l;
    uint64_t phase;

    if (GPURT_UNLIKELY(!me))
        return;
    b = me->warp->block;
    l = b->launch;
    if (!l->cooperative)
        simt_lane_misuse(me, GPURT_E_SYNC,
                         "a grid barrier in a launch that is not cooperative", NULL);
    if (GPURT_UNLIKELY(gpurt_load_relaxed_dev_u32(&l->xcancelled))) { /* as the poll's */
        simt_block_cancel(b);
        simt_cancel_point(me);
    }
    phase = gpurt_load_relaxed_dev_u64(&l->xgrid_phase); /* cannot move before we arrive */
    simt_order_release(&l->grid_word[phase & 1u]);
    b->grid_phase = phase;
    simt_lane_block(me, SIMT_AT_GRID);
    if (++b->at_grid == b->threads)
        grid_arrive(b);
    simt_lane_wait(me);
    simt_cancel_point(me);
    simt_order_acquire(&l->grid_word[phase & 1u]);
}

bool simt_grid_poll(simt_worker_t *k)
{
    bool woke = false;

    for (uint32_t i = 0; i < k->block_count; i++) {
        simt_block_t *b = k->blocks[i];

        if (!b->at_grid)
            continue;
        /* relaxed: its lanes end, they read nothing */
        if (gpurt_load_relaxed_dev_u32(&b->launch->xcancelled)) {
            simt_block_cancel(b);
            woke = true;
            continue;
        }
        if (gpurt_load_acquire_dev_u64(&b->launch->xgrid_phase) ==
            b->grid_phase) /* G1.acq */
            continue;
        b->at_grid = 0;
        wake_where(b, SIMT_AT_GRID, 0, 0, 0);
        woke = true;
    }
    return woke;
}

/* ---- deadlock ------------------------------------------------------------------------------------ */
/* The block waits for other blocks only: all of it stands at the grid barrier, which can still
 * complete because no block of the grid has ended; or was cancelled, which ends its lanes. */
static bool waits_for_grid(const simt_block_t *b)
{
    if (gpurt_load_relaxed_dev_u32(&b->launch->xcancelled))
        return b->at_grid != 0; /* the next poll wakes them */
    return b->at_grid == b->threads && gpurt_load_relaxed_dev_u32(&b->launch->xended) == 0;
}

static bool has_lane_at_cluster(const simt_block_t *b)
{
    for (uint32_t t = 0; t < b->threads; t++)
        if (b->lanes[t].state == SIMT_AT_CLUSTER)
            return true;
    return false;
}

/* A lane asleep at a word that others reach, or that sleeps for so long only. */
static bool has_lane_to_wake(const simt_block_t *b)
{
    for (uint32_t t = 0; b->asleep && t < b->threads; t++)
        if (b->lanes[t].state == SIMT_AT_WORD && !simt_park_is_own(&b->lanes[t]))
            return true;
    return false;
}

/* Who could wake a lane? At warp operations, block and named barriers, and at words of shared
 * memory: lanes of its block. At a cluster barrier: the cluster's. At a grid barrier and at other
 * words: any block. So a block without runnable lanes is stuck unless one of these can still
 * happen; of words on the whole device, park.c says. */
bool simt_block_is_stuck(const simt_block_t *b)
{
    if (b->live == 0 || b->runnable || waits_for_grid(b) || has_lane_to_wake(b))
        return false;
    if (!b->cluster || !has_lane_at_cluster(b))
        return true;
    for (uint32_t i = 0; i < b->cluster->size; i++)
        if (b->cluster->blocks[i] && b->cluster->blocks[i]->runnable)
            return false;
    return true;
}
