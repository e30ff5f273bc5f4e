/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns of bench_alloc_calls, each of the heap, of a magazine, of all pools, and of a bare
 * addition in memory. A round is one request and one free of a whole warp, both timed. */
#include "bench_alloc_calls.h"
#include "bench_alloc_took.h"

#include <gpurt/alloc.h>
#include <gpurt/places.h>

typedef struct calls {
    const struct bench_alloc_args *p;
    gpurt_magazine_t *magazine;
    gpurt_places_t *places;
    uint32_t random;
} calls_t;

GPURT_DEV uint32_t calls_random(calls_t *k)
{
    k->random ^= k->random << 13;
    k->random ^= k->random >> 17;
    k->random ^= k->random << 5;
    return k->random;
}

/* The size of the object in a place: by the place, so that the free knows it, too. */
GPURT_DEV uint32_t calls_bytes(const calls_t *k, uint32_t place)
{
    uint32_t range = k->p->max_bytes - k->p->min_bytes + 1;

    if (range == 1)
        return k->p->min_bytes;
    return k->p->min_bytes +
           (uint32_t)((gpurt_global_id() * 977u + place) * 2654435761u >> 8) % range;
}

/* ---- who is asked -------------------------------------------------------------------- */
GPURT_DEV void *calls_get_heap(calls_t *k, uint32_t bytes)
{
    return gpurt_heap_alloc(&k->p->heap, bytes);
}
GPURT_DEV void calls_put_heap(calls_t *k, void *object, uint32_t bytes)
{
    (void)bytes;
    gpurt_heap_free(&k->p->heap, object);
}
GPURT_DEV void *calls_get_magazine(calls_t *k, uint32_t bytes)
{
    return gpurt_magazine_alloc(k->magazine, &k->p->heap, bytes);
}
GPURT_DEV void calls_put_magazine(calls_t *k, void *object, uint32_t bytes)
{
    gpurt_magazine_free(k->magazine, &k->p->heap, object, bytes);
}
GPURT_DEV void *calls_get_places(calls_t *k, uint32_t bytes)
{
    return gpurt_places_alloc(k->places, bytes);
}
GPURT_DEV void calls_put_places(calls_t *k, void *object, uint32_t bytes)
{
    gpurt_places_free(k->places, object, bytes);
}
/* One addition that is waited for: the least that goes to memory at all. */
GPURT_DEV uint64_t calls_bare(const calls_t *k)
{
    uint64_t at = 0;

    if (gpurt_lane() == 0)
        at = gpurt_add_relaxed_far_u64(k->p->bump + gpurt_sm() * 16, GPURT_WARP_SIZE);
    return gpurt_shfl_u64(GPURT_FULL_MASK, at, 0);
}
GPURT_DEV void *calls_get_bare(calls_t *k, uint32_t bytes)
{
    (void)bytes;
    return k->p->arena + (calls_bare(k) + gpurt_global_id()) % (1u << 18) * 64;
}
GPURT_DEV void calls_put_bare(calls_t *k, void *object, uint32_t bytes)
{
    (void)object;
    (void)bytes;
    if (calls_bare(k) == 1)
        gpurt_red_add_relaxed_dev_u64(&k->p->sums[BENCH_WRONG], 1);
}

/* ---- patterns ------------------------------------------------------------------------ */
/* An object at a time, freed at once. */
#define CALLS_PAIRS(who)                                               \
    for (uint32_t round = 0; round < p->rounds; round++) {             \
        uint32_t bytes = calls_bytes(&k, round);                       \
        uint64_t begin = gpurt_clock(), got, end;                      \
        void *object = calls_get_##who(&k, bytes);                     \
        uint32_t kept = gpurt_ballot(GPURT_FULL_MASK, object != NULL); \
                                                                       \
        got = gpurt_clock() - begin;                                   \
        bench_touch(p, round, object, kept);                           \
        begin = gpurt_clock();                                         \
        calls_put_##who(&k, object, bytes);                            \
        gpurt_syncwarp(GPURT_FULL_MASK);                               \
        end = gpurt_clock() - begin;                                   \
        bench_take_down(p, round, &took, got, end);                    \
    }

/* CALLS_BURST requests, then as many frees. */
#define CALLS_BURSTS(who)                                                        \
    for (uint32_t round = 0; round < p->rounds; round += CALLS_BURST) {          \
        void *objects[CALLS_BURST];                                              \
        uint32_t got[CALLS_BURST];                                               \
                                                                                 \
        for (uint32_t i = 0; i < CALLS_BURST; i++) {                             \
            uint64_t begin = gpurt_clock();                                      \
            uint32_t kept;                                                       \
                                                                                 \
            objects[i] = calls_get_##who(&k, calls_bytes(&k, round + i));        \
            kept = gpurt_ballot(GPURT_FULL_MASK, objects[i] != NULL);            \
            got[i] = (uint32_t)(gpurt_clock() - begin);                          \
            bench_touch(p, round + i, objects[i], kept);                         \
        }                                                                        \
        for (uint32_t i = 0; i < CALLS_BURST; i++) {                             \
            uint64_t begin = gpurt_clock();                                      \
                                                                                 \
            calls_put_##who(&k, objects[i], calls_bytes(&k, round + i));         \
            gpurt_syncwarp(GPURT_FULL_MASK);                                     \
            bench_take_down(p, round + i, &took, got[i], gpurt_clock() - begin); \
        }                                                                        \
    }

/* Each lane holds CALLS_LIVE objects and changes one of them each round: any, the same of all. */
#define CALLS_LIVES(who)                                       \
    uint64_t *cells = p->cells + gpurt_global_id();            \
    uint32_t step = gpurt_grid_dim_x() * gpurt_block_dim_x();  \
                                                               \
    for (uint32_t round = 0; round < p->rounds; round++) {     \
        uint32_t place = calls_random(&k) % CALLS_LIVE;        \
        uint64_t *cell = cells + place * step, begin, put;     \
        void *object = (void *)(uintptr_t)*cell;               \
        uint32_t kept, bytes = calls_bytes(&k, place);         \
                                                               \
        begin = gpurt_clock();                                 \
        calls_put_##who(&k, object, bytes);                    \
        gpurt_syncwarp(GPURT_FULL_MASK);                       \
        put = gpurt_clock() - begin;                           \
        begin = gpurt_clock();                                 \
        object = calls_get_##who(&k, bytes);                   \
        kept = gpurt_ballot(GPURT_FULL_MASK, object != NULL);  \
        begin = gpurt_clock() - begin;                         \
        bench_touch(p, round, object, kept);                   \
        *cell = (uint64_t)(uintptr_t)object;                   \
        bench_take_down(p, round, &took, begin, put);          \
    }                                                          \
    for (uint32_t place = 0; place < CALLS_LIVE; place++) {    \
        void *object = (void *)(uintptr_t)cells[place * step]; \
                                                               \
        calls_put_##who(&k, object, calls_bytes(&k, place));   \
        cells[place * step] = 0;                               \
        gpurt_syncwarp(GPURT_FULL_MASK);                       \
    }

/* What a warp asked for the next one of its block frees. */
#define CALLS_OTHERS(who)                                                          \
    uint64_t *cells = p->cells + gpurt_block_x() * gpurt_block_dim_x();            \
    uint32_t next = (gpurt_thread_rank() + GPURT_WARP_SIZE) % gpurt_block_dim_x(); \
                                                                                   \
    for (uint32_t round = 0; round < p->rounds; round++) {                         \
        uint64_t begin = gpurt_clock(), got;                                       \
        void *object = calls_get_##who(&k, p->min_bytes);                          \
        uint32_t kept = gpurt_ballot(GPURT_FULL_MASK, object != NULL);             \
                                                                                   \
        got = gpurt_clock() - begin;                                               \
        bench_touch(p, round, object, kept);                                       \
        cells[gpurt_thread_rank()] = (uint64_t)(uintptr_t)object;                  \
        gpurt_block_barrier();                                                     \
        object = (void *)(uintptr_t)cells[next];                                   \
        gpurt_block_barrier();                                                     \
        begin = gpurt_clock();                                                     \
        calls_put_##who(&k, object, p->min_bytes);                                 \
        gpurt_syncwarp(GPURT_FULL_MASK);                                           \
        bench_take_down(p, round, &took, got, gpurt_clock() - begin);              \
    }

/* Blocks of 16 warps must fit into the registers. */
#if GPURT_ON_CUDA
#    define CALLS_KERNEL(name)                                         \
        extern "C" __global__ void __launch_bounds__(CALLS_WARPS * 32) \
            name(const __grid_constant__ struct bench_alloc_args);     \
        GPURT_KERNEL(name, struct bench_alloc_args, p)
#else
#    define CALLS_KERNEL(name) GPURT_KERNEL(name, struct bench_alloc_args, p)
#endif

/* ---- kernels ------------------------------------------------------------------------- */
#define CALLS_BEGIN()           \
    bench_took_t took = {0, 0}; \
    calls_t k = {               \
        p, NULL, NULL,          \
        (gpurt_global_id() / GPURT_WARP_SIZE * 747796405u + p->seed * 2891336453u) | 1u}

#define CALLS_PLAIN(who, pattern, steps)        \
    CALLS_KERNEL(bench_calls_##who##_##pattern) \
    {                                           \
        CALLS_BEGIN();                          \
        {                                       \
            steps(who)                          \
        }                                       \
    }
#define CALLS_MAGAZINE(pattern, steps)                                \
    CALLS_KERNEL(bench_calls_magazine_##pattern)                      \
    {                                                                 \
        GPURT_SHARED(gpurt_magazine_t, magazines, CALLS_WARPS);       \
        CALLS_BEGIN();                                                \
        k.magazine = &magazines[gpurt_warp()];                        \
        gpurt_magazine_init(k.magazine);                              \
        {steps(magazine)} gpurt_magazine_flush(k.magazine, &p->heap); \
    }
#define CALLS_PLACES(pattern, steps)                                        \
    CALLS_KERNEL(bench_calls_places_##pattern)                              \
    {                                                                       \
        GPURT_SHARED(gpurt_magazine_t, magazines, CALLS_WARPS);             \
        GPURT_SHARED(gpurt_rack_t, rack, 1);                                \
        gpurt_places_t mine;                                                \
        CALLS_BEGIN();                                                      \
        k.places = &mine;                                                   \
        gpurt_rack_init(rack);                                              \
        gpurt_places_init(&mine, &magazines[gpurt_warp()], rack, &p->heap); \
        {steps(places)} gpurt_places_flush(&mine);                          \
        gpurt_block_barrier();                                              \
        gpurt_rack_flush(rack, &p->heap);                                   \
    }
#define CALLS_ALL(pattern, steps)     \
    CALLS_PLAIN(heap, pattern, steps) \
    CALLS_PLAIN(bare, pattern, steps) \
    CALLS_MAGAZINE(pattern, steps)    \
    CALLS_PLACES(pattern, steps)

CALLS_ALL(pairs, CALLS_PAIRS)
CALLS_ALL(bursts, CALLS_BURSTS)
CALLS_ALL(live, CALLS_LIVES)
CALLS_ALL(others, CALLS_OTHERS)
