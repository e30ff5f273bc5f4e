/* SPDX-License-Identifier: Apache-2.0 */
#include "region_kernels.h"

#include <gpurt/alloc.h>
#include <gpurt/device.h>

/* ---- a list of calls ----------------------------------------------------------------- */

GPURT_DEV uint64_t region_answer(const gpurt_region_t *r, const void *block, uint32_t why)
{
    return why ? (uint64_t)why << 48 : (uint64_t)((const char *)block - r->base) + 1;
}

/* Lanes that go through a list together, by mode. */
GPURT_DEV uint32_t region_width(const struct region_args *p)
{
    return p->mode == 0 ? 1 : p->mode == 1 ? (uint32_t)GPURT_WARP_SIZE : 8;
}

GPURT_DEV uint32_t region_lanes(uint32_t n)
{
    return n < GPURT_WARP_SIZE ? (1u << n) - 1 : GPURT_FULL_MASK;
}

/* Requests of the list from i on that want alike: as many as there are lanes, at most. */
GPURT_DEV uint32_t region_alike(const struct region_args *p, uint32_t i)
{
    uint32_t n = 1;

    while (n < region_width(p) && i + n < p->op_count &&
           p->ops[i + n].kind == REGION_ALLOC && p->ops[i + n].size == p->ops[i].size &&
           p->ops[i + n].align == p->ops[i].align)
        n++;
    return n;
}

/* A lane asks for each of n requests; mode 1, 2: all lanes look, also those that do not. */
GPURT_DEVN void region_ask(const struct region_args *p, uint32_t i, uint32_t n)
{
    const region_op_t *op = p->ops + i + (gpurt_lane() < n ? gpurt_lane() : 0);
    gpurt_region_query_t q;
    void *block = NULL;
    uint32_t at = 0, why;

    if (p->mode == 0) {
        block = gpurt_region_alloc_why(&p->region, op->size, op->align, &why);
    } else {
        why = gpurt_region_ask(&p->region, op->size, op->align, &q);
        if (!why) {
            at = gpurt_region_serve(&p->region, region_lanes(region_width(p)),
                                    region_lanes(n), &q, &why);
            block = p->region.base + ((size_t)at << p->region.shift);
        }
    }
    if (gpurt_lane() >= n)
        return;
    block = why ? NULL : block;
    if (block && p->mode)
        gpurt_store_relaxed_dev_u32(p->region.lengths + at, q.n);
    if (block) /* or the slot stays empty; two that are refused may name the same */
        p->cells[op->slot] = (uint64_t)(uintptr_t)block;
    p->answers[i + gpurt_lane()] = region_answer(&p->region, block, why);
}

GPURT_DEVN uint64_t region_do(const struct region_args *p, const region_op_t *op)
{
    const gpurt_region_t *r = &p->region;
    void *block = (void *)(uintptr_t)p->cells[op->slot], *other;
    uint32_t why;

    switch (op->kind) {
    case REGION_FREE:
        p->cells[op->slot] = 0;
        return (uint64_t)gpurt_region_free(r, block) << 48;
    case REGION_RESIZE:
        return (uint64_t)gpurt_region_resize(r, block, op->size) << 48;
    case REGION_SPLIT:
        other = gpurt_region_split(r, block, op->size);
        p->cells[op->other] = (uint64_t)(uintptr_t)other;
        return region_answer(r, other, other ? 0 : GPURT_REGION_TOO_LARGE);
    default:
        other = (void *)(uintptr_t)p->cells[op->other];
        why = gpurt_region_merge(r, block, other);
        if (why == GPURT_REGION_OK)
            p->cells[op->other] = 0;
        return (uint64_t)why << 48;
    }
}

/* One warp, or some lanes of it, does what the list says, in order; requests that want alike
 * are made by one call. */
GPURT_KERNEL(region_trace, struct region_args, p)
{
    uint32_t lanes = region_lanes(region_width(p));

    if (gpurt_warp() > 0 || !(lanes >> gpurt_lane() & 1u))
        return;
    for (uint32_t i = 0, n; i < p->op_count; i += n) {
        const region_op_t *op = p->ops + i;

        n = 1;
        if (op->kind == REGION_ALLOC) {
            n = region_alike(p, i);
            region_ask(p, i, n);
        } else if (gpurt_lane() == 0) {
            p->answers[i] = region_do(p, op);
        }
        gpurt_syncwarp(lanes);
    }
}

/* ---- storms -------------------------------------------------------------------------- */

GPURT_DEV uint32_t region_bytes(const struct region_args *p, uint32_t *state)
{
    return 4 + holding_random(state) % (p->max_bytes / 4) * 4;
}

GPURT_DEVN void *region_get(const struct region_args *p, uint32_t *state)
{
    uint32_t bytes = region_bytes(p, state), align = 1u << holding_random(state) % 11, why;
    void *block = gpurt_region_alloc_why(&p->region, bytes, align, &why);

    if (!block) {
        if (why != GPURT_REGION_FULL && why != GPURT_REGION_FRAGMENTED)
            gpurt_red_add_relaxed_dev_u32(&p->verdict->xmisplaced, 1);
        gpurt_red_add_relaxed_dev_u32(&p->verdict->xrefused, 1);
        return NULL;
    }
    if ((uintptr_t)block & (align - 1) || gpurt_region_size(&p->region, block) < bytes)
        gpurt_red_add_relaxed_dev_u32(&p->verdict->xmisplaced, 1);
    gpurt_red_add_relaxed_dev_u32(&p->verdict->xserved, 1);
    holding_write(block, bytes);
    return block;
}

GPURT_DEV void region_drop(const struct region_args *p, uint64_t block)
{
    if (!block)
        return;
    holding_read((void *)(uintptr_t)block, p->verdict);
    if (gpurt_region_free(&p->region, (void *)(uintptr_t)block))
        gpurt_red_add_relaxed_dev_u32(&p->verdict->xmisplaced, 1);
}

/* A block into a cell; what was there before is freed. */
GPURT_DEV void region_keep(const struct region_args *p, uint32_t *state, void *block)
{
    uint64_t *cell = &p->cells[holding_random(state) % p->cell_count];

    region_drop(p, gpurt_xchg_acq_rel_dev_u64(cell, (uint64_t)(uintptr_t)block));
}

GPURT_DEVN void region_change(const struct region_args *p, uint32_t *state, void *block)
{
    uint32_t bytes = holding_read(block, p->verdict), to = region_bytes(p, state);
    void *second;

    switch (holding_random(state) % 3) {
    case 0:
        if (gpurt_region_resize(&p->region, block, to) == GPURT_REGION_OK)
            bytes = to;
        break;
    case 1:
        second = gpurt_region_split(&p->region, block, bytes / 2);
        if (!second)
            break;
        if (holding_random(state) & 1) {
            if (gpurt_region_merge(&p->region, block, second))
                gpurt_red_add_relaxed_dev_u32(&p->verdict->xmisplaced, 1);
            break;
        }
        bytes = (uint32_t)gpurt_region_size(&p->region, block);
        holding_write(second, (uint32_t)gpurt_region_size(&p->region, second));
        region_keep(p, state, second);
        break;
    default:
        break;
    }
    holding_write(block, bytes);
    region_keep(p, state, block);
}

/* Each lane looks into cells at random: what it finds it reads, and frees or changes; an
 * empty one it fills. With REGION_CANCELS some blocks are cancelled on the way. */
GPURT_KERNEL(region_storm, struct region_args, p)
{
    uint32_t state = holding_seed(p->seed);

    for (uint32_t round = 0; round < p->rounds; round++) {
        uint64_t *cell = &p->cells[holding_random(&state) % p->cell_count];
        uint64_t block = gpurt_xchg_acquire_dev_u64(cell, 0);

        if (!block)
            region_keep(p, &state, region_get(p, &state));
        else if (holding_random(&state) % 3 == 0)
            region_drop(p, block);
        else
            region_change(p, &state, (void *)(uintptr_t)block);
        if ((p->mode & REGION_CANCELS) && gpurt_block_x() % 2 &&
            holding_random(&state) % 64 == 0)
            gpurt_cancel_block();
        gpurt_cancel_point();
    }
}

/* Frees what cells hold. */
GPURT_KERNEL(region_drain, struct region_args, p)
{
    uint32_t lanes = gpurt_grid_blocks() * gpurt_block_threads();

    for (uint32_t i = gpurt_global_id(); i < p->cell_count; i += lanes) {
        region_drop(p, p->cells[i]);
        p->cells[i] = 0;
    }
}

/* A block makes a region in an object of the heap, its warps use it, and the object goes
 * back. cells[block]: blocks that were had. */
GPURT_KERNEL(region_inner, struct region_args, p)
{
    GPURT_SHARED(gpurt_region_t, region, 1);
    GPURT_SHARED(uint32_t, had, 1);
    uint32_t bytes = 4 + gpurt_thread_rank() * 12;
    void *block;

    if (gpurt_warp() == 0) {
        gpurt_region_t mine;
        uint64_t memory = 0;

        if (gpurt_lane() == 0) {
            memory = (uint64_t)(uintptr_t)gpurt_heap_alloc(&p->heap, 200000);
            had[0] = 0;
        }
        memory = gpurt_shfl_u64(GPURT_FULL_MASK, memory, 0);
        if (gpurt_region_init(&mine, (void *)(uintptr_t)memory, 200000, 64,
                              GPURT_FIT_BEST) != GPURT_REGION_OK)
            gpurt_red_add_relaxed_dev_u32(&p->verdict->xmisplaced, 1);
        if (gpurt_lane() == 0)
            *region = mine;
    }
    gpurt_block_barrier();
    block = gpurt_region_alloc(region, bytes);
    if (block) {
        holding_write(block, bytes);
        gpurt_add_relaxed_blk_u32(had, 1);
    }
    gpurt_block_barrier();
    if (block) {
        holding_read(block, p->verdict);
        gpurt_region_free(region, block);
    }
    gpurt_block_barrier();
    if (gpurt_thread_rank() > 0)
        return;
    p->cells[gpurt_block_x()] = had[0];
    block = gpurt_region_alloc(region, (size_t)(region->granules - 1) << region->shift);
    if (!block) /* nothing is in use: all of it is one row */
        gpurt_red_add_relaxed_dev_u32(&p->verdict->xmisplaced, 1);
    gpurt_heap_free(&p->heap, (char *)region->base);
}
