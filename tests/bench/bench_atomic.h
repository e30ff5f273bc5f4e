/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_BENCH_ATOMIC_H
#define GPURT_BENCH_ATOMIC_H

#include <gpurt/atomicfloat.h>
#include <gpurt/clock.h>
#include <gpurt/ids.h>
#include <gpurt/kcas.h>
#include <gpurt/kernel.h>

enum {
    BENCH_ATOMIC_WORDS =
        64, /* that latency looks at: the parts of the L2 are not as near */
    BENCH_ATOMIC_APART = 65, /* lines of 128 bytes between two of them */
    BENCH_ATOMIC_BURST = 8
};

struct bench_atomic_args {
    uint64_t *cycles; /* one a word or a block */
    uint64_t *words;
    uint64_t *sink;
    uint32_t rounds;
    uint32_t count; /* of words; of words of a k-CAS */
    uint32_t apart; /* from one word to the next, in words of 64 bits */
    uint32_t zero;  /* 0, which the compiler does not know */
    gpurt_kcas_t kcas;
};

/* One lane, each access waits for the one before: cycles of `rounds` at each word. */
#define BENCH_LATENCY(name, T, place, access)                                       \
    GPURT_KERNEL(name, struct bench_atomic_args, p)                                 \
    {                                                                               \
        GPURT_SHARED(gpurt_u128_t, own, 1);                                         \
        gpurt_u128_t none = {0, 0};                                                 \
                                                                                    \
        if (gpurt_global_id() != 0)                                                 \
            return;                                                                 \
        *own = none;                                                                \
        for (uint32_t w = 0; w < 2 * p->count; w++) { /* the first time warms up */ \
            T *word = (T *)(void *)(place), v = {0};                                \
            uint64_t begin = gpurt_clock();                                         \
                                                                                    \
            for (uint32_t i = 0; i < p->rounds; i++)                                \
                access;                                                             \
            p->cycles[w % p->count] = gpurt_clock() - begin;                        \
            *(T *)(void *)p->sink = v;                                              \
        }                                                                           \
    }
#define BENCH_OWN own
#define BENCH_FAR (p->words + (size_t)(w % p->count) * p->apart)

/* Whole warps, one word a lane or one for all: cycles of a burst of reds, those of looking at the
 * clock taken off; then of many at a stretch. */
#define BENCH_ISSUE(name, T, red)                                           \
    GPURT_KERNEL(name, struct bench_atomic_args, p)                         \
    {                                                                       \
        T *word = (T *)(void *)p->words + gpurt_lane() * p->apart;          \
        uint64_t sum = 0, begin, empty;                                     \
                                                                            \
        for (uint32_t i = 0; i < p->rounds; i++) {                          \
            (void)gpurt_add_acq_rel_dev_u64(p->sink + gpurt_lane(),         \
                                            0); /* those before are done */ \
            begin = gpurt_clock();                                          \
            empty = gpurt_clock() - begin;                                  \
            begin = gpurt_clock();                                          \
            red;                                                            \
            red;                                                            \
            red;                                                            \
            red;                                                            \
            red;                                                            \
            red;                                                            \
            red;                                                            \
            red;                                                            \
            sum += gpurt_clock() - begin - empty;                           \
        }                                                                   \
        begin = gpurt_clock();                                              \
        for (uint32_t i = 0; i < p->rounds; i++)                            \
            red;                                                            \
        begin = gpurt_clock() - begin;                                      \
        if (gpurt_global_id() == 0) {                                       \
            p->cycles[0] = sum;                                             \
            p->cycles[1] = begin;                                           \
        }                                                                   \
    }

/* All threads of the grid: cycles of the first block for `rounds`. */
#define BENCH_MANY(name, T, access)                                                \
    GPURT_KERNEL(name, struct bench_atomic_args, p)                                \
    {                                                                              \
        T *word = (T *)(void *)(p->words + (size_t)gpurt_block_rank() * p->apart); \
        uint64_t begin, seen = 0;                                                  \
                                                                                   \
        gpurt_block_barrier();                                                     \
        begin = gpurt_clock();                                                     \
        for (uint32_t i = 0; i < p->rounds; i++)                                   \
            access;                                                                \
        gpurt_block_barrier();                                                     \
        if (gpurt_global_id() == 0)                                                \
            p->cycles[0] = gpurt_clock() - begin;                                  \
        if (seen == UINT64_MAX)                                                    \
            p->sink[0] = seen;                                                     \
    }

/* Each thread its own elements of an array, `rounds` times: what goes through memory. */
#define BENCH_ARRAY(name, T, red)                                                 \
    GPURT_KERNEL(name, struct bench_atomic_args, p)                               \
    {                                                                             \
        for (uint32_t i = 0; i < p->rounds; i++) {                                \
            size_t at = (size_t)i * gpurt_grid_blocks() * gpurt_block_threads() + \
                        gpurt_global_id();                                        \
            T *word = (T *)(void *)p->words + at;                                 \
                                                                                  \
            red;                                                                  \
        }                                                                         \
    }

/* Each thread rows of four floats anywhere in 2^20. */
#define BENCH_SCATTER(name, red)                                            \
    GPURT_KERNEL(name, struct bench_atomic_args, p)                         \
    {                                                                       \
        for (uint32_t i = 0; i < p->rounds; i++) {                          \
            uint32_t x = (gpurt_global_id() * p->rounds + i) * 0x9e3779b9u; \
            gpurt_f32x4_t *word;                                            \
                                                                            \
            x = (x ^ x >> 15) * 0x85ebca6bu;                                \
            word = (gpurt_f32x4_t *)(void *)p->words + (x >> 12);           \
            red;                                                            \
        }                                                                   \
    }

/* clang-format off */
#define BENCH_LATENCIES(X)                                                            \
    X(load_shared) X(add32_shared) X(add_shared) X(xchg_shared) X(cas_shared) X(cas128_shared)        \
    X(load_memory) X(add_memory) X(xchg_memory) X(cas_memory) X(cas128_memory)        \
    X(load_host) X(add_host) X(xchg_host) X(cas_host) X(cas128_host)
#define BENCH_OTHERS(X)                                                               \
    X(red_u32) X(lanes_red) X(lanes_add) X(uniform_red) X(uniform_add)
/* clang-format on */
#define BENCH_DECLARE(name) GPURT_KERNEL_DECLARE(bench_##name, struct bench_atomic_args);
#define BENCH_DECLARE_BOTH(name)                                  \
    GPURT_KERNEL_DECLARE(bench_##name, struct bench_atomic_args); \
    GPURT_KERNEL_DECLARE(bench_bare_##name, struct bench_atomic_args);
BENCH_LATENCIES(BENCH_DECLARE_BOTH)
BENCH_OTHERS(BENCH_DECLARE_BOTH)
BENCH_DECLARE(add_generic)
BENCH_DECLARE(red_f32)
BENCH_DECLARE(red_f32x4)
BENCH_DECLARE(red_f16x2)
BENCH_DECLARE(warps_red)
BENCH_DECLARE(warps_ticket)
BENCH_DECLARE(tally_red)
BENCH_DECLARE(tally_ticket)
BENCH_DECLARE(kcas)
BENCH_DECLARE(cas_in_turn)
BENCH_DECLARE(kcas_contended)
BENCH_DECLARE(cas_contended)
BENCH_DECLARE(array_f32)
BENCH_DECLARE(array_f32x4)
BENCH_DECLARE(array_f16)
BENCH_DECLARE(array_f16x2)
BENCH_DECLARE(array_f16_padded)
BENCH_DECLARE(scatter_f32)
BENCH_DECLARE(scatter_f32x4)

#endif
