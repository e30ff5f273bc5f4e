/* SPDX-License-Identifier: Apache-2.0 */
#include <gpurt/atomicfloat.h>
#include <gpurt/device.h>
#include <gpurt/impl/warptally.h>

#include "bench_atomic.h"

/* ---- latency --------------------------------------------------------------------------- */
/* All relaxed: one lane alone. What was found is the next operand. A load finds the next address. */
#define CAS(name, word, v)           \
    do {                             \
        uint64_t seen_ = v;          \
                                     \
        (void)name(word, &seen_, v); \
        v = seen_;                   \
    } while (0)
#define CAS_128(name, word, v)       \
    do {                             \
        gpurt_u128_t seen_ = v;      \
                                     \
        (void)name(word, &seen_, v); \
        v = seen_;                   \
    } while (0)
BENCH_LATENCY(bench_load_shared, uint64_t, BENCH_OWN,
              v = gpurt_load_relaxed_near_u64(word + v))
BENCH_LATENCY(bench_add32_shared, uint32_t, BENCH_OWN,
              v = gpurt_add_relaxed_near_u32(word, v))
BENCH_LATENCY(bench_add_shared, uint64_t, BENCH_OWN,
              v = gpurt_add_relaxed_near_u64(word, v))
BENCH_LATENCY(bench_xchg_shared, uint64_t, BENCH_OWN,
              v = gpurt_xchg_relaxed_near_u64(word, v))
BENCH_LATENCY(bench_cas_shared, uint64_t, BENCH_OWN,
              CAS(gpurt_cas_relaxed_near_u64, word, v))
BENCH_LATENCY(bench_cas128_shared, gpurt_u128_t, BENCH_OWN,
              CAS_128(gpurt_cas_relaxed_blk_u128, word, v))
BENCH_LATENCY(bench_load_memory, uint64_t, BENCH_FAR,
              v = gpurt_load_relaxed_dev_u64(word + v))
BENCH_LATENCY(bench_add_memory, uint64_t, BENCH_FAR, v = gpurt_add_relaxed_far_u64(word, v))
BENCH_LATENCY(bench_add_generic, uint64_t, BENCH_FAR,
              v = gpurt_add_relaxed_dev_u64(word, v))
BENCH_LATENCY(bench_xchg_memory, uint64_t, BENCH_FAR,
              v = gpurt_xchg_relaxed_far_u64(word, v))
BENCH_LATENCY(bench_cas_memory, uint64_t, BENCH_FAR,
              CAS(gpurt_cas_relaxed_far_u64, word, v))
BENCH_LATENCY(bench_cas128_memory, gpurt_u128_t, BENCH_FAR,
              CAS_128(gpurt_cas_relaxed_dev_u128, word, v))
BENCH_LATENCY(bench_load_host, uint64_t, BENCH_FAR,
              v = gpurt_load_relaxed_sys_u64(word + v))
BENCH_LATENCY(bench_add_host, uint64_t, BENCH_FAR, v = gpurt_add_relaxed_sys_u64(word, v))
BENCH_LATENCY(bench_xchg_host, uint64_t, BENCH_FAR, v = gpurt_xchg_relaxed_sys_u64(word, v))
BENCH_LATENCY(bench_cas_host, uint64_t, BENCH_FAR, CAS(gpurt_cas_relaxed_sys_u64, word, v))
BENCH_LATENCY(bench_cas128_host, gpurt_u128_t, BENCH_FAR,
              CAS_128(gpurt_cas_relaxed_sys_u128, word, v))

/* ---- without an answer ----------------------------------------------------------------- */
/* Relaxed: counters that the host looks at. */
BENCH_ISSUE(bench_red_u32, uint32_t, gpurt_red_add_relaxed_dev_u32(word, 1))
BENCH_ISSUE(bench_red_f32, float, gpurt_red_add_relaxed_dev_f32(word, 1))
GPURT_DEV void bench_four(gpurt_f32x4_t *word)
{
    gpurt_f32x4_t one = {1, 1, 1, 1};

    gpurt_red_add_relaxed_dev_f32x4(word, one);
}
BENCH_ISSUE(bench_red_f32x4, gpurt_f32x4_t, bench_four(word))
GPURT_DEV void bench_two(gpurt_f16x2_t *word, uint32_t bits)
{
    gpurt_f16x2_t two;

    two.bits = bits;
    gpurt_red_add_relaxed_dev_f16x2(word, two);
}
BENCH_ISSUE(bench_red_f16x2, gpurt_f16x2_t, bench_two(word, 0x3c003c00u))

/* ---- many lanes, one word -------------------------------------------------------------- */
/* ptxas adds up for a warp by itself where it sees that all lanes add the same to one word. */
BENCH_MANY(bench_uniform_red, uint32_t, gpurt_red_add_relaxed_dev_u32(word, 1))
BENCH_MANY(bench_uniform_add, uint32_t, seen += gpurt_add_relaxed_far_u32(word, 1))
/* Here it does not see it. */
BENCH_MANY(bench_lanes_red, uint32_t,
           gpurt_red_add_relaxed_dev_u32(word + p->zero * gpurt_lane(), 1))
BENCH_MANY(bench_lanes_add, uint32_t,
           seen += gpurt_add_relaxed_far_u32(word + p->zero * gpurt_lane(), 1))

/* The lanes of a warp know that they add to one word. */
GPURT_DEV void bench_warp_red(uint32_t *word, uint32_t n)
{
    uint32_t sum = gpurt_reduce_add_u32(GPURT_FULL_MASK, n);

    if (gpurt_lane() == 0)
        gpurt_red_add_relaxed_dev_u32(word, sum);
}
GPURT_DEV uint32_t bench_warp_ticket(uint32_t *word)
{
    uint32_t first = 0;

    if (gpurt_lane() == 0)
        first = gpurt_add_relaxed_far_u32(word, GPURT_WARP_SIZE);
    return gpurt_shfl_u32(GPURT_FULL_MASK, first, 0) + gpurt_lane();
}
BENCH_MANY(bench_warps_red, uint32_t, bench_warp_red(word, 1 + p->zero * i))
BENCH_MANY(bench_warps_ticket, uint32_t, seen += bench_warp_ticket(word))
BENCH_MANY(bench_tally_red, uint64_t, gpurt_tally_red(word, 1 + p->zero * i))
BENCH_MANY(bench_tally_ticket, uint64_t, seen += gpurt_tally_ticket(word))

/* ---- several words as one -------------------------------------------------------------- */
/* Returns: whether word i of each was as expected. */
GPURT_DEV bool bench_kcas_once(const struct bench_atomic_args *p, uint32_t own)
{
    gpurt_kcas_word_t words[GPURT_KCAS_WORDS];

    for (uint32_t i = 0; i < p->count; i++) {
        words[i].at = p->words + (size_t)i * p->apart;
        words[i].expected = gpurt_kcas_load(&p->kcas, words[i].at);
        words[i].desired = words[i].expected + 1;
    }
    return gpurt_kcas(&p->kcas, own, words, p->count) == GPURT_KCAS_DONE;
}
/* As much by single ones, of which each waits for the one before. */
GPURT_DEV bool bench_cas_once(const struct bench_atomic_args *p)
{
    bool done = true;

    for (uint32_t i = 0; i < p->count && done; i++) {
        uint64_t *word = p->words + (size_t)i * p->apart;
        uint64_t seen = gpurt_load_relaxed_dev_u64(word);

        done = gpurt_cas_relaxed_far_u64(word, &seen, seen + 1);
    }
    return done;
}
#define BENCH_TURNS(name, lanes, once)                         \
    GPURT_KERNEL(name, struct bench_atomic_args, p)            \
    {                                                          \
        uint64_t begin = gpurt_clock();                        \
                                                               \
        if (lanes)                                             \
            return;                                            \
        for (uint32_t i = 0; i < p->rounds;) {                 \
            i += once ? 1u : 0u;                               \
            gpurt_relax();                                     \
        }                                                      \
        p->cycles[gpurt_block_rank()] = gpurt_clock() - begin; \
    }
#define BENCH_ALONE(name, once)                     \
    GPURT_KERNEL(name, struct bench_atomic_args, p) \
    {                                               \
        uint64_t begin = gpurt_clock();             \
                                                    \
        if (gpurt_global_id() != 0)                 \
            return;                                 \
        for (uint32_t i = 0; i < p->rounds;)        \
            i += once ? 1u : 0u;                    \
        p->cycles[0] = gpurt_clock() - begin;       \
    }
BENCH_ALONE(bench_kcas, bench_kcas_once(p, 0))
BENCH_ALONE(bench_cas_in_turn, bench_cas_once(p))
BENCH_TURNS(bench_kcas_contended, gpurt_lane() != 0, bench_kcas_once(p, gpurt_block_rank()))
BENCH_TURNS(bench_cas_contended, gpurt_lane() != 0, bench_cas_once(p))

/* ---- through memory -------------------------------------------------------------------- */
GPURT_DEV void bench_half(gpurt_f16_t *word)
{
    gpurt_f16_t one = {0x3c00};

    gpurt_red_add_relaxed_dev_f16(word, one);
}
BENCH_ARRAY(bench_array_f32, float, gpurt_red_add_relaxed_dev_f32(word, 1))
BENCH_ARRAY(bench_array_f32x4, gpurt_f32x4_t, bench_four(word))
BENCH_ARRAY(bench_array_f16, gpurt_f16_t, bench_half(word))
BENCH_ARRAY(bench_array_f16x2, gpurt_f16x2_t, bench_two(word, 0x3c003c00u))
BENCH_ARRAY(bench_array_f16_padded, gpurt_f16x2_t, bench_two(word, 0x80003c00u))
GPURT_DEV void bench_four_alone(gpurt_f32x4_t *word)
{
    gpurt_red_add_relaxed_dev_f32(&word->x, 1);
    gpurt_red_add_relaxed_dev_f32(&word->y, 1);
    gpurt_red_add_relaxed_dev_f32(&word->z, 1);
    gpurt_red_add_relaxed_dev_f32(&word->w, 1);
}
BENCH_SCATTER(bench_scatter_f32, bench_four_alone(word))
BENCH_SCATTER(bench_scatter_f32x4, bench_four(word))
