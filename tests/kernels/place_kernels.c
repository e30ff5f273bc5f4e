/* SPDX-License-Identifier: Apache-2.0 */
#include "place_kernels.h"

#include <gpurt/device.h>
#include <gpurt/matrix.h>
#include <gpurt/places.h>

/* Lanes swap objects with cells at random, through the pools. alike: lanes of a warp want
 * the same size. Objects that nobody swapped go the other way at the end. */
GPURT_KERNEL(place_storm, struct place_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, PLACE_WARPS);
    GPURT_SHARED(gpurt_rack_t, rack, 1);
    uint32_t state = holding_seed(p->seed);
    gpurt_places_t mine;

    gpurt_rack_init(rack);
    gpurt_places_init(&mine, &magazines[gpurt_warp()], rack, &p->heap);
    for (uint32_t round = 0; round < p->rounds; round++) {
        uint64_t *cell = &p->cells[holding_random(&state) % p->cell_count], old;
        uint32_t bytes = 4 + holding_random(&state) % (p->max_bytes / 4) * 4;
        void *object;

        if (p->alike)
            bytes = gpurt_shfl_u32(GPURT_FULL_MASK, bytes, 0);
        else if (holding_random(&state) % 4 == 0)
            bytes = 0;
        object = gpurt_places_alloc(&mine, bytes);
        if (object)
            holding_write(object, bytes);
        if (bytes)
            gpurt_red_add_relaxed_dev_u32(
                object ? &p->verdict->xserved : &p->verdict->xrefused, 1);
        old = gpurt_xchg_acq_rel_dev_u64(cell, (uint64_t)(uintptr_t)object);
        bytes = old ? holding_read((void *)(uintptr_t)old, p->verdict) : 0;
        gpurt_syncwarp(GPURT_FULL_MASK);
        gpurt_places_free(&mine, (void *)(uintptr_t)old, bytes);
    }
    gpurt_places_flush(&mine);
    gpurt_rack_flush(rack, &p->heap);
}

/* Frees what cells hold, the plain way. */
GPURT_KERNEL(place_drain, struct place_args, p)
{
    uint32_t lanes = gpurt_grid_blocks() * gpurt_block_threads();

    for (uint32_t i = gpurt_global_id(); i < p->cell_count; i += lanes) {
        if (p->cells[i])
            holding_read((void *)(uintptr_t)p->cells[i], p->verdict);
        gpurt_heap_free(&p->heap, (void *)(uintptr_t)p->cells[i]);
        p->cells[i] = 0;
    }
}

/* One block of two warps: the first has rows and gives them up, all levels up; the second
 * takes what lies in the rack, and more than that. out: rows in the rack that were the
 * warp's own, and another's, when they were taken. */
GPURT_KERNEL(place_rows, struct place_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, 2);
    GPURT_SHARED(gpurt_rack_t, rack, 1);
    void *rows[PLACE_ROWS] = {NULL};
    gpurt_places_t mine;

    gpurt_rack_init(rack);
    gpurt_places_init(&mine, &magazines[gpurt_warp()], rack, &p->heap);
    if (gpurt_warp() == 0) {
        for (uint32_t i = 0; i < p->rows; i++)
            rows[i] = gpurt_places_alloc(&mine, 64);
        for (uint32_t i = 0; i < p->rows; i++)
            gpurt_places_free(&mine, rows[i], 64);
    }
    gpurt_block_barrier();
    if (gpurt_warp() == 1)
        for (uint32_t i = 0; i < p->rows; i++) {
            rows[i] = gpurt_places_alloc(&mine, 64);
            if (rows[i])
                holding_write(rows[i], 64);
        }
    gpurt_block_barrier();
    if (gpurt_warp() == 0) { /* three more come back: the other warp lacks some, gets one */
        for (uint32_t i = 0; i < 3; i++)
            rows[i] = gpurt_places_alloc(&mine, 64);
        for (uint32_t i = 0; i < 3; i++)
            gpurt_places_free(&mine, rows[i], 64);
    }
    gpurt_block_barrier();
    if (gpurt_warp() == 1) {
        for (uint32_t i = 0; i < p->rows; i++)
            if (rows[i])
                holding_read(rows[i], p->verdict);
        for (uint32_t i = 0; i < p->rows; i++)
            gpurt_heap_free(&p->heap, rows[i]);
        gpurt_syncwarp(GPURT_FULL_MASK);
    }
    gpurt_places_flush(&mine);
    gpurt_block_barrier();
    if (gpurt_thread_rank() == 0) {
        p->out[0] = gpurt_load_relaxed_blk_u32(&rack->xown);
        p->out[1] = gpurt_load_relaxed_blk_u32(&rack->xstolen);
        p->out[2] = 0; /* rows that nobody took */
        for (uint32_t i = 0; i < GPURT_WARP_SIZE; i++)
            p->out[2] += rack->rows[i].xstate != 0;
    }
    gpurt_rack_flush(rack, &p->heap);
}

/* One warp, whose pocket, bin and rack are full of rows of 64 bytes, asks for one of 256, which has
 * the same bin: what must make room goes to the heap. */
GPURT_KERNEL(place_full, struct place_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, 1);
    GPURT_SHARED(gpurt_rack_t, rack, 1);
    void *rows[PLACE_ROWS] = {NULL}, *other;
    gpurt_places_t mine;

    gpurt_rack_init(rack);
    gpurt_places_init(&mine, magazines, rack, &p->heap);
    for (uint32_t i = 0; i < p->rows; i++)
        rows[i] = gpurt_places_alloc(&mine, 64);
    for (uint32_t i = 0; i < p->rows; i++)
        gpurt_places_free(&mine, rows[i], 64);
    other = gpurt_places_alloc(&mine, 256);
    if (other)
        holding_write(other, 256);
    gpurt_places_free(&mine, other, 256);
    for (uint32_t i = 0; i < p->rows; i++) {
        rows[i] = gpurt_places_alloc(&mine, 64);
        if (rows[i])
            holding_write(rows[i], 64);
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
    for (uint32_t i = 0; i < p->rows; i++) {
        if (rows[i])
            holding_read(rows[i], p->verdict);
        gpurt_places_free(&mine, rows[i], 64);
    }
    gpurt_places_flush(&mine);
    gpurt_rack_flush(rack, &p->heap);
}

/* One warp frees twice what lies in its pockets, from either place, once with none before it; then it
 * keeps four objects a lane in cells, which it also gives back without a size. */
GPURT_KERNEL(place_pocket, struct place_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, 1);
    GPURT_SHARED(gpurt_rack_t, rack, 1);
    gpurt_places_t mine;
    void *a, *b;

    gpurt_rack_init(rack);
    gpurt_places_init(&mine, magazines, rack, &p->heap);
    a = gpurt_places_alloc(&mine, 64);
    b = gpurt_places_alloc(&mine, 64);
    gpurt_places_free(&mine, a, 64);
    gpurt_places_free(&mine, a, 64);
    gpurt_places_free(&mine, b, 64);
    a = gpurt_places_alloc(&mine, 64);
    gpurt_places_free(&mine, b, 64);
    gpurt_places_free(&mine, a, 64);
    for (uint32_t i = 0; i < 4; i++)
        p->cells[i * GPURT_WARP_SIZE + gpurt_lane()] =
            (uint64_t)(uintptr_t)gpurt_places_alloc(&mine, 64);
    for (uint32_t i = 0; i < 4; i++)
        gpurt_places_free(
            &mine, (void *)(uintptr_t)p->cells[i * GPURT_WARP_SIZE + gpurt_lane()], 0);
    gpurt_places_flush(&mine);
    gpurt_rack_flush(rack, &p->heap);
}

/* Each warp gets `rows` objects by one call and gives all but one in 16 back by another;
 * out[warp]: how many are left. */
GPURT_KERNEL(place_free_warp, struct place_args, p)
{
    uint32_t warp = gpurt_global_id() / GPURT_WARP_SIZE, kept = 0;
    uint64_t *cells = &p->cells[warp * p->rows];
    uint32_t got =
        gpurt_heap_alloc_warp(&p->heap, p->rows, p->max_bytes, (void **)(uintptr_t)cells);

    for (uint32_t i = gpurt_lane(); i < p->rows; i += GPURT_WARP_SIZE) {
        if (i >= got)
            cells[i] = 0;
        else if (i % 16 == 5)
            kept++, cells[i] = 0; /* NULLs among them; the object stays live */
        else
            holding_write((void *)(uintptr_t)cells[i], p->max_bytes);
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
    gpurt_heap_free_warp(&p->heap, p->rows, (void *const *)(uintptr_t)cells);
    kept = gpurt_reduce_add_u32(GPURT_FULL_MASK, kept);
    if (gpurt_lane() == 0)
        p->out[warp] = kept;
}

/* One lane asks for a matrix and writes every row to its end. out: why, base, pitch; then
 * it is freed. */
GPURT_KERNEL(place_matrix, struct place_args, p)
{
    gpurt_matrix_t m;

    if (gpurt_global_id() > 0)
        return;
    p->out[0] = gpurt_matrix_alloc(&p->heap, p->matrix_rows, p->row_bytes, p->align, &m);
    p->out[1] = (uint64_t)(uintptr_t)m.base;
    p->out[2] = m.pitch;
    if (!m.base)
        return;
    for (uint64_t i = 0; i < p->matrix_rows; i++)
        if (p->row_bytes % 4 == 0)
            holding_write(gpurt_matrix_at(&m, i, 0), (uint32_t)p->row_bytes);
    for (uint64_t i = 0; i < p->matrix_rows; i++)
        if (p->row_bytes % 4 == 0)
            holding_read(gpurt_matrix_at(&m, i, 0), p->verdict);
    gpurt_heap_free(&p->heap, m.base);
}

/* A warp's vectors: each lane writes its own and finds it again. out: lane 0's base. */
GPURT_KERNEL(place_lanes, struct place_args, p)
{
    gpurt_lanes_t v = gpurt_alloc_lanes(&p->heap, p->matrix_rows, (uint32_t)p->row_bytes);
    uint64_t wrong = 0;

    if (gpurt_lane() == 0)
        p->out[0] = (uint64_t)(uintptr_t)v.base;
    if (!v.base)
        return;
    for (uint64_t i = 0; i < p->matrix_rows; i++)
        for (uint32_t k = 0; k < p->row_bytes; k++)
            v.base[i * v.stride + k] = (char)(gpurt_lane() * 7 + i + k);
    gpurt_syncwarp(GPURT_FULL_MASK);
    for (uint64_t i = 0; i < p->matrix_rows; i++)
        for (uint32_t k = 0; k < p->row_bytes; k++)
            wrong += v.base[i * v.stride + k] != (char)(gpurt_lane() * 7 + i + k);
    if (wrong)
        gpurt_red_add_relaxed_dev_u32(&p->verdict->xwrong, 1);
    gpurt_syncwarp(GPURT_FULL_MASK);
    if (gpurt_lane() == 0)
        gpurt_heap_free(&p->heap, v.base);
}

/* Each lane gets `rows` objects for cells of its own, as far as they are empty. One that gets
 * NULL says so, and tries again until there is memory, or the host has no more: gate[1]. */
GPURT_KERNEL(place_wait, struct place_args, p)
{
    uint64_t *cells = p->cells + (uint64_t)gpurt_global_id() * p->rows;
    bool told = false;

    for (uint32_t i = 0; i < p->rows;) {
        void *object;

        if (cells[i]) {
            i++;
            continue;
        }
        object = gpurt_heap_alloc(&p->heap, p->max_bytes);
        if (object) {
            holding_write(object, p->max_bytes);
            cells[i++] = (uint64_t)(uintptr_t)object;
            continue;
        }
        if (!told)
            gpurt_red_add_relaxed_sys_u32(&p->gate[0], 1);
        told = true;
        if (gpurt_load_relaxed_sys_u32(&p->gate[1]))
            break;
        gpurt_relax();
    }
}

/* Warps that have more rows than their own pools hold, again and again: rows go through the
 * rack from one to the other. */
GPURT_KERNEL(place_exchange, struct place_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, PLACE_WARPS);
    GPURT_SHARED(gpurt_rack_t, rack, 1);
    uint32_t state = holding_seed(p->seed);
    gpurt_places_t mine;
    void *rows[12];

    gpurt_rack_init(rack);
    gpurt_places_init(&mine, &magazines[gpurt_warp()], rack, &p->heap);
    for (uint32_t round = 0; round < p->rounds; round++) {
        uint32_t any = holding_random(&state), bytes = (gpurt_warp() + round) % 2 ? 32 : 80;
        uint32_t count = 6 + gpurt_shfl_u32(GPURT_FULL_MASK, any, 0) % 7;

        for (uint32_t i = 0; i < count; i++) {
            rows[i] = gpurt_places_alloc(&mine, bytes);
            if (rows[i])
                holding_write(rows[i], bytes);
        }
        gpurt_syncwarp(GPURT_FULL_MASK);
        for (uint32_t i = 0; i < count; i++) {
            if (rows[i])
                holding_read(rows[i], p->verdict);
            gpurt_syncwarp(GPURT_FULL_MASK);
            gpurt_places_free(&mine, rows[i], bytes);
        }
    }
    gpurt_places_flush(&mine);
    gpurt_rack_flush(rack, &p->heap);
    if (gpurt_thread_rank() == 0)
        gpurt_red_add_relaxed_dev_u64(p->out, gpurt_load_relaxed_blk_u32(&rack->xstolen));
}
