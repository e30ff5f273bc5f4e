/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_places.h"

#include <gpurt/blockarena.h>
#include <gpurt/device.h>
#include <gpurt/places.h>

/* ---- what each kernel does: get a batch, look at it, give it back --------------------- */

typedef struct lap {
    uint64_t begin, get, put;
} lap_t;

GPURT_DEV uint32_t *bench_word(void *object)
{
    return (uint32_t *)object;
}

/* Every object is this lane's alone, or the bench is worth nothing. */
GPURT_DEVN void bench_look(const struct bench_places_args *p, void **objects)
{
    uint64_t wrong = 0;

    for (uint32_t i = 0; i < BENCH_BATCH; i++)
        if (objects[i])
            *bench_word(objects[i]) = gpurt_global_id() * BENCH_BATCH + i;
    gpurt_syncwarp(GPURT_FULL_MASK);
    for (uint32_t i = 0; i < BENCH_BATCH; i++)
        wrong +=
            !objects[i] || *bench_word(objects[i]) != gpurt_global_id() * BENCH_BATCH + i;
    if (wrong)
        gpurt_red_add_relaxed_dev_u64(p->wrong, wrong);
    gpurt_syncwarp(GPURT_FULL_MASK);
}

GPURT_DEV void bench_tell(const struct bench_places_args *p, const lap_t *lap)
{
    uint32_t warp = gpurt_global_id() / GPURT_WARP_SIZE;

    if (gpurt_lane() > 0)
        return;
    p->cycles[2 * warp] = lap->get;
    p->cycles[2 * warp + 1] = lap->put;
}

/* A batch with `get`, then `put` for each or for all. */
#define BENCH_LAPS(get_each, put_each, put_all)                                    \
    lap_t lap = {0, 0, 0};                                                         \
    for (uint32_t round = 0; round < p->rounds + BENCH_ROUNDS_LEFT_OUT; round++) { \
        void *objects[BENCH_BATCH];                                                \
        bool counts = round >= BENCH_ROUNDS_LEFT_OUT;                              \
                                                                                   \
        lap.begin = gpurt_clock();                                                 \
        for (uint32_t i = 0; i < BENCH_BATCH; i++)                                 \
            objects[i] = get_each;                                                 \
        lap.get += counts ? gpurt_clock() - lap.begin : 0;                         \
        if (!counts)                                                               \
            bench_look(p, objects);                                                \
        for (uint32_t i = 0; i < BENCH_BATCH; i++) /* kept till here */            \
            if ((uintptr_t)objects[i] == 1)                                        \
                gpurt_red_add_relaxed_dev_u64(p->wrong, 1);                        \
        lap.begin = gpurt_clock();                                                 \
        for (uint32_t i = 0; i < BENCH_BATCH; i++) {                               \
            put_each;                                                              \
        }                                                                          \
        put_all;                                                                   \
        lap.put += counts ? gpurt_clock() - lap.begin : 0;                         \
    }                                                                              \
    bench_tell(p, &lap)

/* The least that a request can cost: a pointer that moves and is not looked at. */
GPURT_KERNEL(bench_places_bare, struct bench_places_args, p)
{
    char *first = p->scratch + (size_t)gpurt_global_id() * 4096, *at = first;

    BENCH_LAPS((at += p->bytes) - p->bytes, (void)0, at = first);
}

GPURT_KERNEL(bench_places_arena, struct bench_places_args, p)
{
    gpurt_arena_t a;

    gpurt_arena_init(&a, p->scratch + (size_t)gpurt_global_id() * 4096, 4096);
    gpurt_arena_grow_from(&a, &p->source, 0);
    {
        BENCH_LAPS(gpurt_arena_alloc(&a, p->bytes), (void)0, gpurt_arena_reset(&a));
    }
    gpurt_arena_end(&a);
}

GPURT_KERNEL(bench_places_arena_warp, struct bench_places_args, p)
{
    uint32_t warp = gpurt_global_id() / GPURT_WARP_SIZE;
    gpurt_arena_t a;

    gpurt_arena_init(&a, p->scratch + (size_t)warp * 131072, 131072);
    gpurt_arena_grow_from(&a, &p->source, 0);
    {
        BENCH_LAPS(gpurt_arena_warp_alloc(&a, p->bytes), (void)0,
                   gpurt_arena_warp_reset(&a));
    }
    gpurt_arena_warp_end(&a);
}

GPURT_KERNEL(bench_places_arena_block, struct bench_places_args, p)
{
    GPURT_SHARED(gpurt_block_arena_t, a, 1);

    gpurt_block_arena_init(a, p->scratch + (size_t)gpurt_block_x() * BENCH_THREADS * 4096,
                           BENCH_THREADS * 4096, &p->source, 65536);
    {
        BENCH_LAPS(gpurt_block_arena_alloc(a, p->bytes), (void)0,
                   gpurt_block_arena_reset(a));
    }
    gpurt_block_arena_end(a);
}

/* Rounds in which nothing comes of the first memory: pieces of the heap, for each batch. */
GPURT_KERNEL(bench_places_arena_heap, struct bench_places_args, p)
{
    gpurt_arena_t a;

    gpurt_arena_init(&a, NULL, 0);
    gpurt_arena_grow_from(&a, &p->source, 1024);
    {
        BENCH_LAPS(gpurt_arena_alloc(&a, p->bytes), (void)0, gpurt_arena_end(&a));
    }
}

GPURT_KERNEL(bench_places_heap, struct bench_places_args, p)
{
    BENCH_LAPS(gpurt_heap_alloc(&p->heap, p->bytes), gpurt_heap_free(&p->heap, objects[i]),
               (void)0);
}

/* The same of a warp by one call, a batch for each lane. */
GPURT_KERNEL(bench_places_heap_warp, struct bench_places_args, p)
{
    GPURT_SHARED(uint64_t, hands, BENCH_THREADS * BENCH_BATCH);
    void **mine = (void **)(hands + gpurt_warp() * 32 * BENCH_BATCH);

    BENCH_LAPS(i ? mine[i * 32 + gpurt_lane()]
                 : (gpurt_heap_alloc_warp(&p->heap, 32 * BENCH_BATCH, p->bytes, mine),
                    mine[gpurt_lane()]),
               (void)0, gpurt_heap_free_warp(&p->heap, 32 * BENCH_BATCH, mine));
}

GPURT_KERNEL(bench_places_magazine, struct bench_places_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, BENCH_THREADS / 32);
    gpurt_magazine_t *m = &magazines[gpurt_warp()];

    gpurt_magazine_init(m);
    {
        BENCH_LAPS(gpurt_magazine_alloc(m, &p->heap, p->bytes),
                   gpurt_magazine_free(m, &p->heap, objects[i], p->bytes), (void)0);
    }
    gpurt_magazine_flush(m, &p->heap);
}

GPURT_KERNEL(bench_places_pools, struct bench_places_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, BENCH_THREADS / 32);
    GPURT_SHARED(gpurt_rack_t, rack, 1);
    gpurt_places_t mine;

    gpurt_rack_init(rack);
    gpurt_places_init(&mine, &magazines[gpurt_warp()], rack, &p->heap);
    {
        BENCH_LAPS(gpurt_places_alloc(&mine, p->bytes),
                   gpurt_places_free(&mine, objects[i], p->bytes), (void)0);
    }
    gpurt_places_flush(&mine);
    gpurt_rack_flush(rack, &p->heap);
}

/* The whole warp asks, each lane for its own. */
GPURT_KERNEL(bench_places_region, struct bench_places_args, p)
{
    BENCH_LAPS(gpurt_region_alloc(&p->region, p->bytes),
               gpurt_region_free(&p->region, objects[i]), (void)0);
}

/* Loads of a tile of 32 rows of 32 words, down its columns; bytes: rows times pitch fit. */
GPURT_KERNEL(bench_places_tile, struct bench_places_args, p)
{
    GPURT_SHARED(uint32_t, tile, 32 * 33);
    uint32_t sum = 0, row = gpurt_lane() * p->pitch;
    lap_t lap = {0, 0, 0};

    for (uint32_t i = gpurt_thread_rank(); i < 32 * 33; i += gpurt_block_threads())
        tile[i] = i;
    gpurt_block_barrier();
    for (uint32_t round = 0; round < p->rounds; round++) {
        lap.begin = gpurt_clock();
        for (uint32_t column = 0; column < 32; column++)
            sum += gpurt_load_relaxed_blk_u32(tile + row + column); /* relaxed: is loaded */
        lap.get += gpurt_clock() - lap.begin;
    }
    if (sum != p->rounds * (32 * row + 31 * 16))
        gpurt_red_add_relaxed_dev_u64(p->wrong, 1);
    bench_tell(p, &lap);
}
