/* SPDX-License-Identifier: Apache-2.0 */
/* Resident blocks: made ready on a worker, put in its scheduling row, taken out and kept for
 * the next one of the same size. */
#include "simt.h"

#include <gpurt/atomic.h>

#include <stdlib.h>
#include <string.h>

#include "sanitizer.h"

static size_t shared_room(const simt_launch_t *l)
{
    return ((l->shared_bytes + 127u) & ~(size_t)127) + SIMT_STATIC_SHARED;
}

static void block_free(simt_block_t *b)
{
    if (!b)
        return;
    free(b->shared);
    free(b->warps);
    free(b->lanes);
    free(b);
}

static simt_block_t *block_create(simt_worker_t *k, uint32_t threads)
{
    uint32_t warps = (threads + GPURT_WARP_SIZE - 1) / GPURT_WARP_SIZE;
    simt_block_t *b = (simt_block_t *)calloc(1, sizeof *b);

    if (!b)
        return NULL;
    b->worker = k;
    b->capacity = warps * GPURT_WARP_SIZE;
    b->warps = (simt_warp_t *)calloc(warps, sizeof *b->warps);
    b->lanes = (simt_lane_t *)calloc(b->capacity, sizeof *b->lanes);
    if (!b->warps || !b->lanes) {
        block_free(b);
        return NULL;
    }
    for (uint32_t i = 0; i < warps; i++) {
        b->warps[i].block = b;
        b->warps[i].lanes = &b->lanes[i * GPURT_WARP_SIZE];
    }
    for (uint32_t t = 0; t < b->capacity; t++)
        b->lanes[t].warp = &b->warps[t / GPURT_WARP_SIZE];
    return b;
}

/* An idle block of the same width, so that a slot's lanes keep their fibers. */
static simt_block_t *block_take(simt_worker_t *k, uint32_t threads)
{
    uint32_t capacity = (threads + GPURT_WARP_SIZE - 1) & ~(GPURT_WARP_SIZE - 1u);

    for (simt_block_t **at = &k->idle_blocks; *at; at = &(*at)->next)
        if ((*at)->capacity == capacity) {
            simt_block_t *b = *at;

            *at = b->next;
            return b;
        }
    return block_create(k, threads);
}

static bool shared_prepare(simt_block_t *b, const simt_launch_t *l)
{
    size_t room = shared_room(l);

    if (b->shared_bytes < room) {
        free(b->shared);
        b->shared_bytes = 0;
        b->shared = (char *)aligned_alloc(128, room);
        if (!b->shared)
            return false;
        b->shared_bytes = b->shared_dirty = room;
    }
    memset(b->shared, SIMT_SHARED_POISON, b->shared_dirty);
    return true;
}

static gpurt_dim3_t place_of(uint64_t rank, gpurt_dim3_t in)
{
    return (gpurt_dim3_t){(uint32_t)(rank % in.x), (uint32_t)(rank / in.x % in.y),
                          (uint32_t)(rank / in.x / in.y)};
}

/* Block `index` of cluster `unit`: clusters tile the grid. */
static gpurt_dim3_t block_place(const simt_launch_t *l, uint64_t unit, uint32_t index)
{
    gpurt_dim3_t c = place_of(unit, l->clusters), i = place_of(index, l->cluster);

    return (gpurt_dim3_t){c.x * l->cluster.x + i.x, c.y * l->cluster.y + i.y,
                          c.z * l->cluster.z + i.z};
}

static void warps_reset(simt_block_t *b)
{
    b->warp_count = (b->threads + GPURT_WARP_SIZE - 1) / GPURT_WARP_SIZE;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        simt_warp_t *w = &b->warps[i];
        uint32_t lanes = b->threads - i * GPURT_WARP_SIZE;

        w->all = lanes >= GPURT_WARP_SIZE ? GPURT_FULL_MASK : (1u << lanes) - 1u;
        w->ready = w->all;
        w->yielded = w->waiting = w->parked = w->done = w->deferred_count = 0;
        w->turn = 0;
    }
}

static void lanes_reset(simt_worker_t *k, simt_block_t *b)
{
    const simt_launch_t *l = b->launch;

    for (uint32_t t = 0; t < b->threads; t++) {
        simt_lane_t *lane = &b->lanes[t];

        lane->self.thread = place_of(t, l->block);
        lane->self.lane = t % GPURT_WARP_SIZE;
        lane->self.block = &b->self;
        lane->rank = t;
        lane->state = SIMT_READY;
        lane->site = NULL;
        lane->spins = lane->seen = 0;
        lane->tell = lane->in_deferred = lane->at_host = false;
        lane->sleep.spot = NULL;
        lane->awaits = NULL;
        lane->until_ns = UINT64_MAX;
        simt_schedule_lane(k, lane);
    }
}

static void block_begin(simt_worker_t *k, simt_block_t *b, simt_launch_t *l, uint64_t unit,
                        uint32_t index)
{
    gpurt_dim3_t at = block_place(l, unit, index);

    simt_order_acquire(&b->end_word);   /* lanes of the slot's last block */
    simt_order_acquire(&l->start_word); /* the host thread that launched */
    /* NOLINTNEXTLINE(clang-analyzer-*): unit_prepare gave every block, which it cannot see */
    b->launch = l;
    b->threads = b->live = b->runnable = l->threads;
    b->rank = (at.z * l->grid.y + at.y) * l->grid.x + at.x;
    b->self = (gpurt_simt_block_t){.index = at,
                                   .device = k->device->index,
                                   .dim = l->block,
                                   .grid = l->grid,
                                   .sm = k->index,
                                   .cluster_rank = index,
                                   .cluster_size = l->cluster_size,
                                   .launch = l->number,
                                   .kernel = l->kernel->name};
    b->at_grid = b->cancelled = 0;
    b->asleep = 0;
    b->guard = NULL;
    memset(b->barriers, 0, sizeof b->barriers);
    warps_reset(b);
    lanes_reset(k, b);
    simt_order_release(&b->begin_word);
}

/* ---- the worker's rows of blocks and warps --------------------------------------------------- */
/* A slot number no resident warp has: slots of ended blocks are used again. */
static void slots_assign(simt_worker_t *k, simt_block_t *b)
{
    uint32_t first = 0;

    for (uint32_t i = 0; i < k->block_count; i++) {
        const simt_block_t *other = k->blocks[i];
        uint32_t begin = other->lanes[0].self.warp_slot;

        if (first < begin + other->warp_count && begin < first + b->warp_count) {
            first = begin + other->warp_count;
            i = UINT32_MAX; /* start over: an earlier one may be in the way now */
        }
    }
    for (uint32_t t = 0; t < b->threads; t++)
        b->lanes[t].self.warp_slot = first + t / GPURT_WARP_SIZE;
}

static bool rows_grow(simt_worker_t *k, uint32_t blocks, uint32_t warps)
{
    if (k->block_count + blocks > k->block_room) {
        uint32_t room = 2 * (k->block_count + blocks);
        void *p = realloc(k->blocks, room * sizeof *k->blocks);

        if (!p)
            return false;
        k->blocks = (simt_block_t **)p;
        k->block_room = room;
    }
    if (k->warp_count + warps > k->warp_room) {
        uint32_t room = 2 * (k->warp_count + warps);
        void *p = realloc(k->warps, room * sizeof *k->warps);

        if (!p)
            return false;
        k->warps = (simt_warp_t **)p;
        k->warp_room = room;
    }
    return true;
}

static void block_enter(simt_worker_t *k, simt_block_t *b)
{
    if (k->block_count == 0)
        simt_schedule_wakeup(k);
    slots_assign(k, b);
    k->blocks[k->block_count++] = b;
    for (uint32_t i = 0; i < b->warp_count; i++)
        k->warps[k->warp_count++] = &b->warps[i];
    k->resident_lanes += b->threads;
    k->progress = true;
}

static void block_leave(simt_worker_t *k, simt_block_t *b)
{
    uint32_t kept = 0, before = 0;

    for (uint32_t i = 0; i < k->warp_count; i++)
        if (k->warps[i]->block != b)
            k->warps[kept++] = k->warps[i];
        else
            before += i < k->cursor;
    k->warp_count = kept;
    k->cursor -= before;
    if (k->cursor >= kept)
        k->cursor = 0;
    kept = 0;
    for (uint32_t i = 0; i < k->block_count; i++)
        if (k->blocks[i] != b)
            k->blocks[kept++] = k->blocks[i];
    k->block_count = kept;
    k->resident_lanes -= b->threads;
}

/* ---- units -------------------------------------------------------------------------------------- */
static simt_cluster_t *cluster_create(simt_launch_t *l)
{
    simt_cluster_t *c = (simt_cluster_t *)calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->size = c->live_blocks = l->cluster_size;
    c->live = l->cluster_size * l->threads;
    return c;
}

static void unit_undo(simt_worker_t *k, simt_block_t **blocks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        blocks[i]->next = k->idle_blocks;
        k->idle_blocks = blocks[i];
    }
}

/* All memory a unit needs, before any of its blocks begins. */
static bool unit_prepare(simt_worker_t *k, simt_launch_t *l, simt_block_t **blocks,
                         simt_cluster_t **c)
{
    uint32_t warps = (l->threads + GPURT_WARP_SIZE - 1) / GPURT_WARP_SIZE;

    *c = NULL;
    for (uint32_t i = 0; i < l->cluster_size; i++) {
        blocks[i] = block_take(k, l->threads);
        if (!blocks[i] || !shared_prepare(blocks[i], l)) {
            unit_undo(k, blocks, blocks[i] ? i + 1 : i);
            return false;
        }
    }
    if (l->cluster_size > 1)
        *c = cluster_create(l);
    if (!rows_grow(k, l->cluster_size, l->cluster_size * warps) ||
        (l->cluster_size > 1 && !*c)) {
        free(*c);
        unit_undo(k, blocks, l->cluster_size);
        return false;
    }
    return true;
}

bool simt_unit_start(simt_worker_t *k, simt_launch_t *launch, uint64_t unit)
{
    simt_block_t *blocks[GPURT_MAX_CLUSTER_BLOCKS] = {NULL};
    simt_cluster_t *c;

    if (!unit_prepare(k, launch, blocks, &c))
        return false;
    for (uint32_t i = 0; i < launch->cluster_size; i++) {
        block_begin(k, blocks[i], launch, unit, i);
        blocks[i]->cluster = c;
        if (c)
            c->blocks[i] = blocks[i];
        block_enter(k, blocks[i]);
    }
    return true;
}

void simt_block_end(simt_worker_t *k, simt_block_t *b)
{
    simt_launch_t *l = b->launch;
    simt_cluster_t *c = b->cluster;
    size_t used = ((l->shared_bytes + 127u) & ~(size_t)127) +
                  gpurt_load_relaxed_dev_u32(&l->xshared_used); /* ours are all in it */
    bool unit_ended = true;

    simt_order_acquire(&l->end_word);
    block_leave(k, b);
    b->shared_dirty = used;
    if (c) {
        c->blocks[b->self.cluster_rank] = NULL;
        unit_ended = --c->live_blocks == 0;
        if (unit_ended)
            free(c);
        b->cluster = NULL;
    }
    b->next = k->idle_blocks;
    k->idle_blocks = b;
    simt_launch_block_ended(l, unit_ended);
}

void simt_blocks_free(simt_worker_t *k)
{
    while (k->idle_blocks) {
        simt_block_t *b = k->idle_blocks;

        k->idle_blocks = b->next;
        block_free(b);
    }
    free(k->blocks);
    free(k->warps);
}
