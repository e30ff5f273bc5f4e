/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc_kernels.h"

#include <gpurt/alloc.h>
#include <gpurt/device.h>
#include <gpurt/magazine.h>

enum {
    ALLOC_BURST = 8 /* rows, at most */
};

/* An object begins with its size; the rest is a pattern of its address. Of very large ones
 * only a sample is written. */
GPURT_DEV uint32_t alloc_step(uint32_t bytes)
{
    return bytes > 1u << 19 ? 1021 : 1;
}

GPURT_DEV uint32_t alloc_pattern(const void *object, uint32_t i)
{
    return (uint32_t)((uintptr_t)object >> 4) * 2654435761u + i * 40503u;
}

GPURT_DEVN void alloc_write(void *object, uint32_t bytes)
{
    uint32_t *words = (uint32_t *)object;

    words[0] = bytes;
    for (uint32_t i = 1; i < bytes / 4; i += alloc_step(bytes))
        words[i] = alloc_pattern(object, i);
}

/* Reads all of it, and spoils it: what comes after must write its own. */
GPURT_DEVN void alloc_read(void *object, alloc_verdict_t *verdict)
{
    uint32_t *words = (uint32_t *)object, bytes = words[0], wrong = 0;

    if (bytes > 64u << 20 || bytes < 4)
        wrong = 1, bytes = 4;
    for (uint32_t i = 1; i < bytes / 4; i += alloc_step(bytes)) {
        wrong |= words[i] ^ alloc_pattern(object, i);
        words[i] = 0xdeadbeef;
    }
    words[0] = 0;
    if (wrong && gpurt_add_relaxed_dev_u32(&verdict->xwrong, 1) == 0)
        gpurt_store_relaxed_dev_u64(&verdict->xfirst, (uint64_t)(uintptr_t)object);
}

GPURT_DEV uint32_t alloc_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

GPURT_DEV uint32_t alloc_random_seed(const struct alloc_args *p)
{
    uint32_t state = (uint32_t)gpurt_global_id64() * 747796405u + p->seed * 2891336453u + 1;

    state = (state >> 15 ^ state) * 2246822519u;
    return state ? state : 1;
}

GPURT_DEV uint32_t alloc_size(const struct alloc_args *p, uint32_t *state)
{
    return p->min_bytes + alloc_random(state) % (p->max_bytes - p->min_bytes + 1);
}

/* Gets an object of that size and writes all of it. */
GPURT_DEVN void *alloc_get(const struct alloc_args *p, uint32_t bytes)
{
    void *object = gpurt_heap_alloc(&p->heap, bytes);

    if (!object) {
        gpurt_red_add_relaxed_dev_u32(&p->verdict->xnull, 1);
        return NULL;
    }
    gpurt_red_add_relaxed_dev_u32(&p->verdict->xserved, 1);
    gpurt_red_add_relaxed_dev_u64(&p->verdict->xbytes, bytes);
    if ((uintptr_t)object & 15)
        gpurt_red_add_relaxed_dev_u32(&p->verdict->xmisaligned, 1);
    else
        alloc_write(object, bytes);
    return object;
}

GPURT_DEVN void alloc_put(const struct alloc_args *p, uint64_t object)
{
    if (object) {
        alloc_read((void *)(uintptr_t)object, p->verdict);
        gpurt_heap_free(&p->heap, (void *)(uintptr_t)object);
    }
}

/* Each lane looks into cells at random: what it finds it reads and frees, whoever made it;
 * an empty one it fills. */
GPURT_KERNEL(alloc_storm, struct alloc_args, p)
{
    uint32_t state = alloc_random_seed(p);

    for (uint32_t round = 0; round < p->rounds; round++) {
        uint64_t *cell = &p->cells[alloc_random(&state) % p->cell_count];
        uint64_t object = gpurt_xchg_acquire_dev_u64(cell, 0);

        if (!object)
            object = gpurt_xchg_acq_rel_dev_u64(
                cell, (uint64_t)(uintptr_t)alloc_get(p, alloc_size(p, &state)));
        alloc_put(p, object);
    }
}

/* Lanes fill the empty ones among cells of their own, in order. mode 1: until memory is
 * out. */
GPURT_KERNEL(alloc_fill, struct alloc_args, p)
{
    uint32_t state = alloc_random_seed(p);
    uint64_t lanes = (uint64_t)gpurt_grid_blocks() * gpurt_block_threads();

    for (uint64_t i = gpurt_global_id64(); i < p->cell_count; i += lanes) {
        void *object;

        if (p->cells[i])
            continue;
        object = alloc_get(p, alloc_size(p, &state));
        p->cells[i] = (uint64_t)(uintptr_t)object;
        if (!object && p->mode == 1)
            break;
    }
}

/* The first lane of each warp asks once, and leaves alone what it gets. */
GPURT_KERNEL(alloc_leaders, struct alloc_args, p)
{
    if (gpurt_lane() == 0)
        p->cells[gpurt_global_id() / GPURT_WARP_SIZE] =
            (uint64_t)(uintptr_t)gpurt_heap_alloc(&p->heap, p->min_bytes);
}

/* Frees what cells hold, but those whose index is 0 modulo `mode` (0: all), in an order of
 * its own: by other lanes than those that made them. */
GPURT_KERNEL(alloc_drain, struct alloc_args, p)
{
    uint64_t lanes = (uint64_t)gpurt_grid_blocks() * gpurt_block_threads();

    for (uint64_t i = gpurt_global_id64(); i < p->cell_count; i += lanes) {
        uint64_t at = p->cell_count - 1 - i;

        if (p->mode && at % p->mode == 0)
            continue;
        alloc_put(p, p->cells[at]);
        p->cells[at] = 0;
    }
}

/* One lane, of warp `mode`. cells[0]: the answer; cells[1]: the reason. */
GPURT_KERNEL(alloc_one, struct alloc_args, p)
{
    uint32_t why = 0;

    if (gpurt_global_id() != p->mode * GPURT_WARP_SIZE)
        return;
    p->cells[0] = (uint64_t)(uintptr_t)gpurt_heap_alloc_why(&p->heap, p->min_bytes,
                                                            p->max_bytes, &why);
    p->cells[1] = why;
}

/* A warp asks for min_bytes, every other lane at a multiple of them. cells[lane]: the answer. */
GPURT_KERNEL(alloc_mixed, struct alloc_args, p)
{
    uint32_t lane = gpurt_global_id(), align = lane % 2 ? p->min_bytes : 16;
    void *object;

    if (lane >= GPURT_WARP_SIZE)
        return;
    object = gpurt_heap_alloc_aligned(&p->heap, p->min_bytes, align);
    p->cells[lane] = (uint64_t)(uintptr_t)object;
    if ((uintptr_t)object & (align - 1))
        gpurt_red_add_relaxed_dev_u32(&p->verdict->xmisaligned, 1);
}

/* One lane frees cells[0], whatever it is. */
GPURT_KERNEL(alloc_free_one, struct alloc_args, p)
{
    if (gpurt_global_id() == 0)
        gpurt_heap_free(&p->heap, (void *)(uintptr_t)p->cells[0]);
}

/* All lanes free cells[0]. */
GPURT_KERNEL(alloc_free_raced, struct alloc_args, p)
{
    gpurt_heap_free(&p->heap, (void *)(uintptr_t)p->cells[0]);
}

/* Each warp frees what it has just got, neighbours, and frees it again: in the same order, or each lane
 * another's (mode). */
GPURT_KERNEL(alloc_free_again, struct alloc_args, p)
{
    void *object = gpurt_heap_alloc(&p->heap, p->min_bytes);
    uint64_t other = gpurt_shfl_xor_u64(GPURT_FULL_MASK, (uint64_t)(uintptr_t)object, 5,
                                        GPURT_WARP_SIZE);

    gpurt_heap_free(&p->heap, object);
    gpurt_syncwarp(GPURT_FULL_MASK);
    gpurt_heap_free(&p->heap, p->mode ? (void *)(uintptr_t)other : object);
}

/* Two objects a lane: half of a warp frees the first one, the other half the second, at a time; then each
 * lane alone the other one. */
GPURT_KERNEL(alloc_free_crossed, struct alloc_args, p)
{
    void *one = gpurt_heap_alloc(&p->heap, p->min_bytes);
    void *two = gpurt_heap_alloc(&p->heap, p->min_bytes);
    bool crossed = gpurt_lane() >= GPURT_WARP_SIZE / 2;

    gpurt_heap_free(&p->heap, crossed ? two : one);
    for (uint32_t lane = 0; lane < GPURT_WARP_SIZE; lane++) {
        gpurt_syncwarp(GPURT_FULL_MASK);
        if (lane == gpurt_lane())
            gpurt_heap_free(&p->heap, crossed ? one : two);
    }
}

/* The default heap: each lane's answer in its cell, and the last round's is freed. */
GPURT_KERNEL(alloc_default, struct alloc_args, p)
{
    uint32_t i = gpurt_global_id();

    if (i >= p->cell_count)
        return;
    gpurt_free((void *)(uintptr_t)p->cells[i]);
    p->cells[i] =
        (uint64_t)(uintptr_t)(p->mode ? gpurt_alloc_aligned(p->min_bytes, p->mode) : NULL);
}

/* As alloc_storm, through a magazine a warp. mode 1: all lanes of a warp want the same size
 * at a time; an object may come back through another warp's magazine, or through none. */
GPURT_KERNEL(alloc_magazine, struct alloc_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, 8);
    gpurt_magazine_t *m = &magazines[gpurt_warp()];
    uint32_t state = alloc_random_seed(p), bytes;

    gpurt_magazine_init(m);
    for (uint32_t round = 0; round < p->rounds; round++) {
        uint64_t *cell = &p->cells[alloc_random(&state) % p->cell_count];
        uint64_t old = gpurt_xchg_acquire_dev_u64(cell, 0);
        void *object;

        bytes = old ? 0 : alloc_size(p, &state);
        if (p->mode == 1)
            bytes = gpurt_shfl_u32(GPURT_FULL_MASK, bytes, 0);
        object = gpurt_magazine_alloc(m, &p->heap, bytes);
        if (object) {
            alloc_write(object, bytes);
            gpurt_red_add_relaxed_dev_u32(&p->verdict->xserved, 1);
        } else if (bytes) {
            gpurt_red_add_relaxed_dev_u32(&p->verdict->xnull, 1);
        }
        if (old && object) { /* both: one goes the plain way */
            alloc_put(p, (uint64_t)(uintptr_t)object);
            object = NULL;
        }
        if (object)
            old = gpurt_xchg_acq_rel_dev_u64(cell, (uint64_t)(uintptr_t)object);
        bytes = old ? *(const uint32_t *)(uintptr_t)old : 0;
        if (old)
            alloc_read((void *)(uintptr_t)old, p->verdict);
        gpurt_syncwarp(GPURT_FULL_MASK);
        gpurt_magazine_free(m, &p->heap, (void *)(uintptr_t)old, bytes);
    }
    gpurt_magazine_flush(m, &p->heap);
}

/* Whole warps take a row of each of two classes, which share a bin, and give both back,
 * `rounds` times; a warp that has them in its magazine touches the heap no more.
 * cells[2 * lane]: the first and last object of the smaller class. */
GPURT_KERNEL(alloc_magazine_row, struct alloc_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, 8);
    gpurt_magazine_t *m = &magazines[gpurt_warp()];
    uint64_t *cell = &p->cells[2 * gpurt_global_id()];
    uint32_t bytes = p->min_bytes;
    void *small, *large;

    gpurt_magazine_init(m);
    for (uint32_t round = 0; round < p->rounds; round++) {
        large = round & 1 ? gpurt_magazine_alloc(m, &p->heap, 4 * bytes) : NULL;
        small = gpurt_magazine_alloc(m, &p->heap, bytes);
        if (!(round & 1))
            large = gpurt_magazine_alloc(m, &p->heap, 4 * bytes);
        cell[round > 0] = (uint64_t)(uintptr_t)small;
        if (!small || !large)
            break; /* the host misses it in its cell */
        alloc_write(small, bytes);
        alloc_write(large, 4 * bytes);
        gpurt_syncwarp(GPURT_FULL_MASK);
        alloc_read(small, p->verdict);
        alloc_read(large, p->verdict);
        gpurt_syncwarp(GPURT_FULL_MASK);
        if (round + 1 == p->rounds) /* lanes give back each other's */
            small = (void *)(uintptr_t)gpurt_shfl_xor_u64(
                GPURT_FULL_MASK, (uint64_t)(uintptr_t)small, 1, GPURT_WARP_SIZE);
        gpurt_magazine_free(m, &p->heap, small, bytes);
        gpurt_magazine_free(m, &p->heap, large, 4 * bytes);
    }
    if (p->mode)
        gpurt_magazine_flush(m, &p->heap);
}

/* Whole warps take p->mode rows of one class and give them back, `rounds` times: what a magazine has room
 * for stays in it. */
GPURT_KERNEL(alloc_magazine_burst, struct alloc_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, 8);
    gpurt_magazine_t *m = &magazines[gpurt_warp()];
    void *objects[ALLOC_BURST];
    uint32_t rows = p->mode < ALLOC_BURST ? p->mode : (uint32_t)ALLOC_BURST;

    gpurt_magazine_init(m);
    for (uint32_t round = 0; round < p->rounds; round++) {
        for (uint32_t i = 0; i < rows; i++) {
            objects[i] = gpurt_magazine_alloc(m, &p->heap, p->min_bytes);
            if (objects[i])
                alloc_write(objects[i], p->min_bytes);
            else
                gpurt_red_add_relaxed_dev_u32(&p->verdict->xnull, 1);
        }
        for (uint32_t i = 0; i < rows; i++) {
            if (objects[i])
                alloc_read(objects[i], p->verdict);
            gpurt_syncwarp(GPURT_FULL_MASK);
            gpurt_magazine_free(m, &p->heap, objects[i], p->min_bytes);
        }
    }
}

/* Whole warps give back one row more than a magazine has room for, and the first once more. */
GPURT_KERNEL(alloc_magazine_again, struct alloc_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, 8);
    gpurt_magazine_t *m = &magazines[gpurt_warp()];
    void *objects[GPURT_MAGAZINE_ROWS + 1];

    gpurt_magazine_init(m);
    for (uint32_t i = 0; i < GPURT_MAGAZINE_ROWS + 1; i++)
        objects[i] = gpurt_magazine_alloc(m, &p->heap, p->min_bytes);
    for (uint32_t i = 0; i < GPURT_MAGAZINE_ROWS + 1; i++)
        gpurt_magazine_free(m, &p->heap, objects[i], p->min_bytes);
    gpurt_magazine_free(m, &p->heap, objects[0], p->min_bytes);
}

/* One warp, whose magazine holds a row of 64 B, and whose lanes want eight sizes at a time. mode 0:
 * they give back what they got, but those of 64 B what lies in the row. 1: they take until
 * nothing is left. */
GPURT_KERNEL(alloc_magazine_mixed, struct alloc_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, 1);
    gpurt_magazine_t *m = &magazines[gpurt_warp()];
    uint32_t bytes = 16 * (gpurt_lane() / 4 + 1), served = 0;
    void *kept, *object;

    gpurt_magazine_init(m);
    kept = gpurt_magazine_alloc(m, &p->heap, 64);
    gpurt_magazine_free(m, &p->heap, kept, 64);
    do {
        object = gpurt_magazine_alloc(m, &p->heap, bytes);
        served += object != NULL;
    } while (gpurt_any(GPURT_FULL_MASK, p->mode && object));
    gpurt_red_add_relaxed_dev_u32(&p->verdict->xserved, served);
    if (!p->mode)
        gpurt_magazine_free(m, &p->heap, bytes == 64 ? kept : object, bytes);
}

/* Half of each warp gives back twice what it has taken out of a row of the magazine. */
GPURT_KERNEL(alloc_magazine_twice, struct alloc_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, 8);
    gpurt_magazine_t *m = &magazines[gpurt_warp()];
    uint32_t bytes = p->min_bytes, some = gpurt_lane() % 2 ? bytes : 0;
    void *object;

    gpurt_magazine_init(m);
    object = gpurt_magazine_alloc(m, &p->heap, bytes);
    gpurt_magazine_free(m, &p->heap, object, bytes);
    object = gpurt_magazine_alloc(m, &p->heap, some);
    if (object)
        gpurt_red_add_relaxed_dev_u32(&p->verdict->xserved, 1);
    for (uint32_t i = 0; i < 2; i++)
        gpurt_magazine_free(m, &p->heap, object, some);
    gpurt_magazine_flush(m, &p->heap);
}

/* A free without a size is none; every second lane says it. */
GPURT_KERNEL(alloc_magazine_no_size, struct alloc_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, 8);
    gpurt_magazine_t *m = &magazines[gpurt_warp()];
    uint64_t *cell = &p->cells[gpurt_global_id()];

    gpurt_magazine_init(m);
    *cell = (uint64_t)(uintptr_t)gpurt_heap_alloc(&p->heap, p->min_bytes);
    gpurt_magazine_free(m, &p->heap, (void *)(uintptr_t)*cell, 0);
    gpurt_magazine_free(m, &p->heap, (void *)(uintptr_t)*cell,
                        gpurt_lane() % 2 ? p->min_bytes : 0);
    if (gpurt_lane() % 2)
        *cell = 0;
    gpurt_magazine_flush(m, &p->heap);
}

/* One warp. The count of a chunk says 8 more than there are, as objects that were freed twice can have
 * it: none of those is served. */
GPURT_KERNEL(alloc_warp_short, struct alloc_args, p)
{
    uint32_t all, got, freed = 40, wrong = 8;
    size_t chunk;

    all = gpurt_heap_alloc_warp(&p->heap, p->cell_count, p->min_bytes,
                                (void **)(uintptr_t)p->cells);
    chunk = (p->cells[0] - (uint64_t)(uintptr_t)p->heap.chunks) >> GPURT_CHUNK_SHIFT;
    if (all < freed + wrong)
        return;
    gpurt_heap_free_warp(&p->heap, freed, (void **)(uintptr_t)(p->cells + wrong));
    for (uint32_t i = gpurt_lane(); i < freed + wrong; i += GPURT_WARP_SIZE)
        p->cells[i] = 0;
    if (gpurt_lane() == 0)
        gpurt_red_add_relaxed_dev_u32(gpurt_slab_state(&p->heap, (uint32_t)chunk), wrong);
    gpurt_syncwarp(GPURT_FULL_MASK);
    got = gpurt_heap_alloc_warp(&p->heap, freed + wrong, p->min_bytes,
                                (void **)(uintptr_t)p->cells);
    for (uint32_t i = gpurt_lane(); i < got; i += GPURT_WARP_SIZE)
        if (!p->cells[i])
            gpurt_red_add_relaxed_dev_u32(&p->verdict->xnull, 1);
    if (gpurt_lane() == 0)
        gpurt_red_add_relaxed_dev_u32(&p->verdict->xserved, got);
}

/* Each warp gets `mode` objects at once for cells of its own, as many as there are; all but those of
 * the last of `rounds` it gives back, for others to have. */
GPURT_KERNEL(alloc_warp, struct alloc_args, p)
{
    uint32_t warp = gpurt_global_id() / GPURT_WARP_SIZE, got;
    uint64_t *cells = &p->cells[warp * p->mode];

    for (uint32_t left = p->rounds ? p->rounds : 1;; left--) {
        got = gpurt_heap_alloc_warp(&p->heap, p->mode, p->min_bytes,
                                    (void **)(uintptr_t)cells);
        for (uint32_t i = gpurt_lane(); i < got; i += GPURT_WARP_SIZE)
            alloc_write((void *)(uintptr_t)cells[i], p->min_bytes);
        if (left == 1)
            break;
        for (uint32_t i = gpurt_lane(); i < got; i += GPURT_WARP_SIZE) {
            alloc_put(p, cells[i]);
            cells[i] = 0;
        }
        gpurt_syncwarp(GPURT_FULL_MASK);
    }
    if (gpurt_lane() == 0)
        gpurt_red_add_relaxed_dev_u32(&p->verdict->xserved, got);
}
