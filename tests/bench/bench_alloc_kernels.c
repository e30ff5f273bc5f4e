/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_alloc_took.h"

#include <gpurt/alloc.h>
#include <gpurt/device.h>
#include <gpurt/magazine.h>
#include <stdlib.h>

/* As a kernel that wants full occupancy, or half, would say it: the paths that are seldom taken
 * then keep their registers in memory. */
#if GPURT_ON_CUDA
/* Turing holds 1,024 threads a multiprocessor, consumer GPUs since 1,536. */
#    if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#        define BENCH_HOLDS 4
#    elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 800 && __CUDA_ARCH__ != 900
#        define BENCH_HOLDS 6
#    else
#        define BENCH_HOLDS 8
#    endif
#    define BENCH_BOUNDS(name, blocks)                             \
        extern "C" __global__ void __launch_bounds__(              \
            256, (blocks) < BENCH_HOLDS ? (blocks) : BENCH_HOLDS)  \
            name(const __grid_constant__ struct bench_alloc_args); \
        GPURT_KERNEL(name, struct bench_alloc_args, p)
#else
#    define BENCH_BOUNDS(name, blocks) GPURT_KERNEL(name, struct bench_alloc_args, p)
#endif
/* The others: as many registers as the compiler likes. */
#define BENCH_KERNEL(name) BENCH_BOUNDS(name, 1)

GPURT_DEV uint32_t bench_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

GPURT_DEV uint32_t bench_seed(const struct bench_alloc_args *p)
{
    uint32_t state = gpurt_global_id() * 747796405u + p->seed * 2891336453u + 1;

    state = (state >> 15 ^ state) * 2246822519u;
    return state ? state : 1;
}

GPURT_DEV void *bench_bump(const struct bench_alloc_args *p, uint32_t counter,
                           uint32_t bytes)
{
    uint32_t lanes = gpurt_activemask(), n = gpurt_popc(lanes);
    uint64_t at = 0;

    if (gpurt_is_leader(lanes))
        at = gpurt_add_relaxed_dev_u64(p->bump + counter * 16, n);
    at = gpurt_shfl_u64(lanes, at, gpurt_leader(lanes)) +
         gpurt_popc(lanes & gpurt_lanes_below());
    return p->arena + (counter * (p->count / 64) + at) % p->count * bytes;
}

GPURT_DEV void *bench_get(const struct bench_alloc_args *p, uint32_t who, uint32_t bytes)
{
    if (who == BENCH_GPURT)
        return gpurt_heap_alloc(&p->heap, bytes);
    if (who == BENCH_CUDA)
        return malloc(bytes);
    return bench_bump(p, who == BENCH_BUMP_ONE ? 0 : gpurt_sm(), bytes);
}

GPURT_DEV void bench_put(const struct bench_alloc_args *p, uint32_t who, void *object)
{
    if (who == BENCH_GPURT)
        gpurt_heap_free(&p->heap, object);
    if (who == BENCH_CUDA)
        free(object);
}

/* ---- one object a thread ------------------------------------------------------------- */
#define BENCH_MANY_IN(suffix, who, blocks)                                      \
    BENCH_BOUNDS(bench_get_##suffix, blocks)                                    \
    {                                                                           \
        uint32_t i = gpurt_global_id();                                         \
                                                                                \
        if (i < p->count)                                                       \
            p->cells[i] = (uint64_t)(uintptr_t)bench_get(p, who, p->min_bytes); \
    }                                                                           \
    BENCH_BOUNDS(bench_put_##suffix, blocks)                                    \
    {                                                                           \
        uint32_t i = gpurt_global_id();                                         \
                                                                                \
        if (i < p->count)                                                       \
            bench_put(p, who, (void *)(uintptr_t)p->cells[i]);                  \
    }
#define BENCH_MANY(suffix, who) BENCH_MANY_IN(suffix, who, 1)
BENCH_MANY(gpurt, BENCH_GPURT)
BENCH_MANY(cuda, BENCH_CUDA)
BENCH_MANY(bump_one, BENCH_BUMP_ONE)
BENCH_MANY(bump_sm, BENCH_BUMP_SM)
BENCH_MANY_IN(tight, BENCH_GPURT, 8)

/* The objects of cells are whole and apart: each gets its number in its first and last word
 * ... */
GPURT_KERNEL(bench_mark, struct bench_alloc_args, p)
{
    uint32_t i = gpurt_global_id();
    uint32_t *object = i < p->count ? (uint32_t *)(uintptr_t)p->cells[i] : NULL;

    if (object) {
        object[0] = i;
        object[p->min_bytes / 4 - 1] = i;
    }
}

/* ... and still has it when all have theirs. */
GPURT_KERNEL(bench_check, struct bench_alloc_args, p)
{
    uint32_t i = gpurt_global_id();
    const uint32_t *object = i < p->count ? (const uint32_t *)(uintptr_t)p->cells[i] : NULL;

    if (i >= p->count)
        return;
    if (!object)
        gpurt_red_add_relaxed_dev_u64(&p->sums[BENCH_NULL], 1);
    else if (object[0] != i || object[p->min_bytes / 4 - 1] != i)
        gpurt_red_add_relaxed_dev_u64(&p->sums[BENCH_WRONG], 1);
}

/* ---- cycles of one call of a whole warp ---------------------------------------------- */
#define BENCH_LATENCY(name, who, bytes, blocks)                            \
    BENCH_BOUNDS(name, blocks)                                             \
    {                                                                      \
        bench_took_t took = {0, 0};                                        \
                                                                           \
        for (uint32_t round = 0; round < p->rounds; round++) {             \
            uint64_t begin = gpurt_clock(), got, end;                      \
            void *object = bench_get(p, who, bytes);                       \
            uint32_t kept = gpurt_ballot(GPURT_FULL_MASK, object != NULL); \
                                                                           \
            got = gpurt_clock();                                           \
            bench_touch(p, round, object, kept);                           \
            end = gpurt_clock();                                           \
            bench_put(p, who, object);                                     \
            gpurt_syncwarp(GPURT_FULL_MASK);                               \
            end = gpurt_clock() - end;                                     \
            bench_take_down(p, round, &took, got - begin, end);            \
        }                                                                  \
    }
/* As many registers as the compiler likes, for one warp a multiprocessor; and for as many warps as it
 * holds. `_64`: with a size that the compiler knows, as most have. */
BENCH_LATENCY(bench_latency_gpurt, BENCH_GPURT, p->min_bytes, 1)
BENCH_LATENCY(bench_latency_gpurt_64, BENCH_GPURT, 64, 1)
BENCH_LATENCY(bench_latency_tight, BENCH_GPURT, p->min_bytes, 8)
BENCH_LATENCY(bench_latency_cuda, BENCH_CUDA, p->min_bytes, 8)
BENCH_LATENCY(bench_latency_bump_one, BENCH_BUMP_ONE, p->min_bytes, 8)
BENCH_LATENCY(bench_latency_bump_sm, BENCH_BUMP_SM, p->min_bytes, 8)

/* The same through a magazine; `_half`: at half occupancy. */
#define BENCH_LATENCY_MAGAZINE(name, bytes, blocks)                        \
    BENCH_BOUNDS(name, blocks)                                             \
    {                                                                      \
        GPURT_SHARED(gpurt_magazine_t, magazines, 8);                      \
        gpurt_magazine_t *m = &magazines[gpurt_warp()];                    \
        bench_took_t took = {0, 0};                                        \
                                                                           \
        gpurt_magazine_init(m);                                            \
        for (uint32_t round = 0; round < p->rounds; round++) {             \
            uint64_t begin = gpurt_clock(), got, end;                      \
            void *object = gpurt_magazine_alloc(m, &p->heap, bytes);       \
            uint32_t kept = gpurt_ballot(GPURT_FULL_MASK, object != NULL); \
                                                                           \
            got = gpurt_clock();                                           \
            bench_touch(p, round, object, kept);                           \
            end = gpurt_clock();                                           \
            gpurt_magazine_free(m, &p->heap, object, bytes);               \
            gpurt_syncwarp(GPURT_FULL_MASK);                               \
            end = gpurt_clock() - end;                                     \
            bench_take_down(p, round, &took, got - begin, end);            \
        }                                                                  \
        gpurt_magazine_flush(m, &p->heap);                                 \
    }
BENCH_LATENCY_MAGAZINE(bench_latency_magazine, p->min_bytes, 8)
BENCH_LATENCY_MAGAZINE(bench_latency_magazine_64, 64, 8)
BENCH_LATENCY_MAGAZINE(bench_latency_magazine_64_half, 64, 4)

/* The least that a magazine can cost: read a row, agree, write a row; objects lie as its. */
BENCH_BOUNDS(bench_latency_shared, 8)
{
    GPURT_SHARED(uint64_t, rows, 8);
    uint64_t *row = &rows[gpurt_warp()];
    bench_took_t took = {0, 0};

    *row = 0;
    gpurt_syncwarp(GPURT_FULL_MASK);
    for (uint32_t round = 0; round < p->rounds; round++) {
        uint64_t begin = gpurt_clock(), seen = *row, got, end;
        char *object = p->arena + seen + (gpurt_global_id() * 64u);
        uint32_t kept = gpurt_ballot(GPURT_FULL_MASK, seen == 4ull * round);

        got = gpurt_clock();
        bench_touch(p, round, object, kept);
        end = gpurt_clock();
        kept = gpurt_ballot(GPURT_FULL_MASK, seen == *row);
        if (gpurt_lane() == 0)
            *row = seen + (kept == GPURT_FULL_MASK ? 4 : 0);
        gpurt_syncwarp(GPURT_FULL_MASK);
        end = gpurt_clock() - end;
        bench_take_down(p, round, &took, got - begin, end);
    }
}

/* ---- churn --------------------------------------------------------------------------- */
GPURT_DEV void bench_sum(const struct bench_alloc_args *p, uint32_t index, uint64_t mine)
{
    uint64_t all = gpurt_reduce_add_u64(GPURT_FULL_MASK, mine);

    if (gpurt_lane() == 0 && all)
        gpurt_red_add_relaxed_dev_u64(&p->sums[index], all);
}

/* Each word of each lane's object is written, or looked at, by the whole warp, side by side.
 * Returns: how many were not as written, by this lane. */
GPURT_DEV uint64_t bench_by_warp(uint32_t *words, uint32_t count, uint32_t tag, bool look)
{
    uint64_t wrong = 0;

    gpurt_syncwarp(GPURT_FULL_MASK); /* what an owner acquired, or another lane wrote */
    for (uint32_t lane = 0; lane < GPURT_WARP_SIZE; lane++) {
        uint32_t *one = (uint32_t *)(uintptr_t)gpurt_shfl_u64(
            GPURT_FULL_MASK, (uint64_t)(uintptr_t)words, lane);
        uint32_t n = gpurt_shfl_u32(GPURT_FULL_MASK, words ? count : 0, lane);
        uint32_t first = gpurt_shfl_u32(GPURT_FULL_MASK, tag, lane);

        for (uint32_t i = gpurt_lane(); i < n; i += GPURT_WARP_SIZE)
            if (look)
                wrong += gpurt_load_relaxed_dev_u32(one + i) != first + i;
            else
                one[i] = first + i;
    }
    gpurt_syncwarp(GPURT_FULL_MASK); /* all are done with what an owner frees */
    return wrong;
}

/* Every thread holds one object of random size, and changes it every round. every: 1: each
 * word is written and looked at, by its lane; 0: the first and the last. */
#define BENCH_CHURN(suffix, who)                                                         \
    BENCH_KERNEL(bench_churn_##suffix)                                                   \
    {                                                                                    \
        uint32_t state = bench_seed(p), me = gpurt_global_id();                          \
        uint64_t wrong = 0, none = 0;                                                    \
                                                                                         \
        for (uint32_t round = 0; round < p->rounds; round++) {                           \
            uint32_t bytes =                                                             \
                p->min_bytes + bench_random(&state) % (p->max_bytes - p->min_bytes + 1); \
            uint32_t *words = (uint32_t *)bench_get(p, who, bytes);                      \
            uint32_t step = p->every || bytes < 8 ? 1 : bytes / 4 - 1;                   \
                                                                                         \
            none += !words;                                                              \
            if (!words)                                                                  \
                continue;                                                                \
            for (uint32_t i = 0; i < bytes / 4; i += step)                               \
                words[i] = me * 40503u + i;                                              \
            for (uint32_t i = 0; i < bytes / 4; i += step)                               \
                wrong += gpurt_load_relaxed_dev_u32(words + i) != me * 40503u + i;       \
            bench_put(p, who, words);                                                    \
        }                                                                                \
        bench_sum(p, BENCH_WRONG, wrong);                                                \
        bench_sum(p, BENCH_NULL, none);                                                  \
    }
/* The same with each word, by the warp: as fast as memory goes. */
#define BENCH_CHURN_BY_WARP(suffix, who)                                                 \
    BENCH_KERNEL(bench_churn_by_warp_##suffix)                                           \
    {                                                                                    \
        uint32_t state = bench_seed(p), tag = gpurt_global_id() * 40503u;                \
        uint64_t wrong = 0, none = 0;                                                    \
                                                                                         \
        for (uint32_t round = 0; round < p->rounds; round++) {                           \
            uint32_t bytes =                                                             \
                p->min_bytes + bench_random(&state) % (p->max_bytes - p->min_bytes + 1); \
            uint32_t *words = (uint32_t *)bench_get(p, who, bytes);                      \
                                                                                         \
            none += !words;                                                              \
            bench_by_warp(words, bytes / 4, tag, false);                                 \
            wrong += bench_by_warp(words, bytes / 4, tag, true);                         \
            bench_put(p, who, words);                                                    \
        }                                                                                \
        bench_sum(p, BENCH_WRONG, wrong);                                                \
        bench_sum(p, BENCH_NULL, none);                                                  \
    }
BENCH_CHURN(gpurt, BENCH_GPURT)
BENCH_CHURN(cuda, BENCH_CUDA)
BENCH_CHURN_BY_WARP(gpurt, BENCH_GPURT)
BENCH_CHURN_BY_WARP(cuda, BENCH_CUDA)

/* ---- until nothing is left ----------------------------------------------------------- */
/* Objects are chained through their first word; cells holds the end of a thread's chain. */
#define BENCH_DRAIN(suffix, who)                                                         \
    BENCH_KERNEL(bench_exhaust_##suffix)                                                 \
    {                                                                                    \
        uint32_t state = bench_seed(p);                                                  \
        uint64_t served = 0, total = 0, *cell = &p->cells[gpurt_global_id()];            \
        uint64_t last = *cell;                                                           \
                                                                                         \
        for (uint32_t i = 0; i < p->rounds; i++) {                                       \
            uint32_t bytes =                                                             \
                p->min_bytes + bench_random(&state) % (p->max_bytes - p->min_bytes + 1); \
            uint64_t *object = (uint64_t *)bench_get(p, who, bytes);                     \
                                                                                         \
            if (!object)                                                                 \
                break;                                                                   \
            *object = last;                                                              \
            last = (uint64_t)(uintptr_t)object;                                          \
            served++;                                                                    \
            total += bytes;                                                              \
        }                                                                                \
        *cell = last;                                                                    \
        bench_sum(p, BENCH_SERVED, served);                                              \
        bench_sum(p, BENCH_BYTES, total);                                                \
    }                                                                                    \
    /* Frees a thread's chain, but one of `every` (0: all). */                           \
    BENCH_KERNEL(bench_release_##suffix)                                                 \
    {                                                                                    \
        uint64_t *cell = &p->cells[gpurt_global_id()], at = *cell, kept = 0, i = 0;      \
                                                                                         \
        while (at) {                                                                     \
            uint64_t *object = (uint64_t *)(uintptr_t)at;                                \
                                                                                         \
            at = *object;                                                                \
            if (p->every && i++ % p->every == 0) {                                       \
                *object = kept;                                                          \
                kept = (uint64_t)(uintptr_t)object;                                      \
            } else {                                                                     \
                bench_put(p, who, object);                                               \
            }                                                                            \
        }                                                                                \
        *cell = kept;                                                                    \
    }
BENCH_DRAIN(gpurt, BENCH_GPURT)
BENCH_DRAIN(cuda, BENCH_CUDA)

/* Frees one object a thread, but each 64th, another one each round. */
BENCH_KERNEL(bench_survive)
{
    uint32_t i = gpurt_global_id();

    if (i < p->count && (i + p->seed) % 64)
        gpurt_heap_free(&p->heap, (void *)(uintptr_t)p->cells[i]);
}
