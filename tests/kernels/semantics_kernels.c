/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of ids and of what a warp does together. semantics.h says what each word means. */
#include "semantics.h"

#include <gpurt/device.h>

GPURT_DEV uint64_t *probe_row(const struct probe_args *p)
{
    return p->out + gpurt_global_id64() * p->words;
}
GPURT_DEV uint32_t probe_live_here(void)
{
    return probe_live(gpurt_block_threads(), gpurt_warp());
}
/* The mask of this lane's group; mode carries the pattern in its extra bits. */
GPURT_DEV uint32_t probe_mask(const struct probe_args *p)
{
    uint64_t warp_first = gpurt_global_id64() - gpurt_lane();

    return probe_group(PROBE_EXTRA(p->mode), probe_live_here(), warp_first, gpurt_lane());
}

#define PROBE_STORE_ID(name) row[PROBE_ID_##name] = gpurt_##name();
GPURT_KERNEL(probe_ids, struct probe_args, p)
{
    uint64_t *row = probe_row(p);

    PROBE_IDS(PROBE_STORE_ID)
}

GPURT_KERNEL(probe_bits, struct probe_args, p)
{
    uint64_t *row = probe_row(p), id = gpurt_global_id64();
    /* Runs of zeros of every length at both ends; lane 0 of all has no bit at all. */
    uint64_t v = id ? probe_mix(id) >> (id & 63) << (id >> 3 & 63) : 0;

    row[0] = gpurt_popc((uint32_t)v);
    row[1] = gpurt_popc64(v);
    row[2] = gpurt_ctz((uint32_t)v);
    row[3] = gpurt_ctz64(v);
    row[4] = gpurt_clz((uint32_t)v);
    row[5] = gpurt_clz64(v);
    row[6] = gpurt_log2((uint32_t)v);
}

/* ---- votes and matches --------------------------------------------------------------- */
GPURT_KERNEL(probe_votes, struct probe_args, p)
{
    uint64_t *row = probe_row(p), id = gpurt_global_id64();
    uint32_t mask = probe_mask(p);

    for (uint32_t round = 0; round < PROBE_VOTE_ROUNDS; round++) {
        bool yes = probe_predicate(id, round, PROBE_VOTE_ROUNDS);

        row[PROBE_VOTE_BALLOT] = gpurt_ballot(mask, yes);
        row[PROBE_VOTE_ANY] = gpurt_any(mask, yes);
        row[PROBE_VOTE_ALL] = gpurt_all(mask, yes);
        row += PROBE_VOTE_WORDS;
    }
}

GPURT_KERNEL(probe_match, struct probe_args, p)
{
    uint64_t *row = probe_row(p), id = gpurt_global_id64();
    uint32_t mask = probe_mask(p);

    for (uint32_t round = 0; round < PROBE_MATCH_ROUNDS; round++) {
        uint64_t key = probe_key(id, round);
        bool same_u32 = false, same_u64 = false;

        row[PROBE_MATCH_ANY_U32] = gpurt_match_any_u32(mask, (uint32_t)key);
        row[PROBE_MATCH_ANY_U64] = gpurt_match_any_u64(mask, key);
        row[PROBE_MATCH_ALL_U32] = gpurt_match_all_u32(mask, (uint32_t)key, &same_u32);
        row[PROBE_MATCH_ALL_U64] = gpurt_match_all_u64(mask, key, &same_u64);
        row[PROBE_SAME_U32] = same_u32;
        row[PROBE_SAME_U64] = same_u64;
        row += PROBE_MATCH_WORDS;
    }
}

/* ---- shuffles ------------------------------------------------------------------------ */
#define PROBE_DEFINE_SHFL(T, t)                                                    \
    GPURT_DEV uint64_t probe_shfl_##t(uint32_t kind, uint32_t mask, uint64_t bits, \
                                      uint32_t by, uint32_t width)                 \
    {                                                                              \
        T v = probe_value_##t(bits);                                               \
                                                                                   \
        switch (kind) {                                                            \
        case PROBE_IDX:                                                            \
            return probe_bits_##t(gpurt_shfl_idx_##t(mask, v, by, width));         \
        case PROBE_UP:                                                             \
            return probe_bits_##t(gpurt_shfl_up_##t(mask, v, by, width));          \
        case PROBE_DOWN:                                                           \
            return probe_bits_##t(gpurt_shfl_down_##t(mask, v, by, width));        \
        case PROBE_XOR:                                                            \
            return probe_bits_##t(gpurt_shfl_xor_##t(mask, v, by, width));         \
        default:                                                                   \
            return probe_bits_##t(gpurt_shfl_##t(mask, v, by));                    \
        }                                                                          \
    }
PROBE_DEFINE_SHFL(uint32_t, u32)
PROBE_DEFINE_SHFL(int32_t, i32)
PROBE_DEFINE_SHFL(uint64_t, u64)
PROBE_DEFINE_SHFL(int64_t, i64)
PROBE_DEFINE_SHFL(float, f32)
PROBE_DEFINE_SHFL(double, f64)

GPURT_DEV uint64_t probe_shfl_any(uint32_t mode, uint32_t mask, uint64_t bits, uint32_t by,
                                  uint32_t width)
{
    switch (PROBE_TYPE(mode)) {
    case PROBE_U32:
        return probe_shfl_u32(PROBE_KIND(mode), mask, bits, by, width);
    case PROBE_I32:
        return probe_shfl_i32(PROBE_KIND(mode), mask, bits, by, width);
    case PROBE_U64:
        return probe_shfl_u64(PROBE_KIND(mode), mask, bits, by, width);
    case PROBE_I64:
        return probe_shfl_i64(PROBE_KIND(mode), mask, bits, by, width);
    case PROBE_F32:
        return probe_shfl_f32(PROBE_KIND(mode), mask, bits, by, width);
    default:
        return probe_shfl_f64(PROBE_KIND(mode), mask, bits, by, width);
    }
}

/* The whole warp, or each half under its own mask and widths that fit in it. */
GPURT_KERNEL(probe_shfl, struct probe_args, p)
{
    uint64_t *row = probe_row(p), id = gpurt_global_id64();
    uint32_t mask = probe_mask(p), kind = PROBE_KIND(p->mode);
    uint32_t widest = PROBE_EXTRA(p->mode) == PROBE_HALVES ? 16 : 32;

    for (uint32_t nth = 0; nth < PROBE_SHFL_WORDS; nth++) {
        uint32_t width = 1u << nth / PROBE_DELTAS;
        uint32_t by = probe_delta(kind, nth % PROBE_DELTAS, width, gpurt_lane());

        row[nth] = 0;
        if (width <= widest)
            row[nth] = probe_shfl_any(p->mode, mask, probe_input(id, nth), by, width);
    }
}

/* ---- reductions ---------------------------------------------------------------------- */
/* A kind ends in an underscore because three of the bare words are operators in C++. */
#define PROBE_FOLD_CASE(KIND, kind, t) \
    case KIND:                         \
        return probe_bits_##t(gpurt_reduce_##kind##t(mask, v));
#define PROBE_FOLD_BITS(t)              \
    PROBE_FOLD_CASE(PROBE_AND, and_, t) \
    PROBE_FOLD_CASE(PROBE_OR, or_, t)   \
    PROBE_FOLD_CASE(PROBE_EXOR, xor_, t)
#define PROBE_FOLD_NONE(t)
#define PROBE_DEFINE_REDUCE(T, t, bit_cases)                                             \
    GPURT_DEV uint64_t probe_reduce_##t(uint32_t kind, uint32_t mask, uint64_t bits)     \
    {                                                                                    \
        T v = probe_value_##t(bits);                                                     \
                                                                                         \
        switch (kind) {                                                                  \
            PROBE_FOLD_CASE(PROBE_MIN, min_, t)                                          \
            PROBE_FOLD_CASE(PROBE_MAX, max_, t)                                          \
            bit_cases(t) default : return probe_bits_##t(gpurt_reduce_add_##t(mask, v)); \
        }                                                                                \
    }
PROBE_DEFINE_REDUCE(uint32_t, u32, PROBE_FOLD_BITS)
PROBE_DEFINE_REDUCE(int32_t, i32, PROBE_FOLD_NONE)
PROBE_DEFINE_REDUCE(uint64_t, u64, PROBE_FOLD_BITS)
PROBE_DEFINE_REDUCE(int64_t, i64, PROBE_FOLD_NONE)
PROBE_DEFINE_REDUCE(float, f32, PROBE_FOLD_NONE)
PROBE_DEFINE_REDUCE(double, f64, PROBE_FOLD_NONE)

GPURT_KERNEL(probe_reduce, struct probe_args, p)
{
    uint64_t *row = probe_row(p), id = gpurt_global_id64(), bits = 0;
    uint32_t mask = probe_mask(p), kind = PROBE_KIND(p->mode), type = PROBE_TYPE(p->mode);

    for (uint32_t round = 0; round < PROBE_REDUCE_ROUNDS; round++) {
        uint64_t v = probe_number(type, id, round);

        switch (type) {
        case PROBE_U32:
            bits = probe_reduce_u32(kind, mask, v);
            break;
        case PROBE_I32:
            bits = probe_reduce_i32(kind, mask, v);
            break;
        case PROBE_U64:
            bits = probe_reduce_u64(kind, mask, v);
            break;
        case PROBE_I64:
            bits = probe_reduce_i64(kind, mask, v);
            break;
        case PROBE_F32:
            bits = probe_reduce_f32(kind, mask, v);
            break;
        default:
            bits = probe_reduce_f64(kind, mask, v);
            break;
        }
        row[round] = probe_one_nan(type, bits);
    }
}

/* ---- divergence ---------------------------------------------------------------------- */
/* In each three lanes the first takes the third's value while the second waits for it already,
 * and then hands it on: lanes may wait for one that waits for others first. */
GPURT_KERNEL(probe_meanwhile, struct probe_args, p)
{
    uint32_t live = probe_live_here(), first = gpurt_lane() / 3 * 3;
    uint32_t sooner = live & 5u << first, later = live & 3u << first;
    uint32_t value = (uint32_t)gpurt_global_id64();

    if (gpurt_lane() != first + 1)
        value = gpurt_shfl_u32(sooner, value, 31 - gpurt_clz(sooner));
    if (gpurt_lane() != first + 2)
        value = gpurt_shfl_u32(later, value, first);
    probe_row(p)[0] = value;
}

/* Lanes hand values to each other through shared memory, in groups that only gpurt_syncwarp
 * holds together. */
GPURT_KERNEL(probe_syncwarp, struct probe_args, p)
{
    GPURT_SHARED(uint64_t, cell, GPURT_MAX_BLOCK_THREADS);
    uint64_t *row = probe_row(p), id = gpurt_global_id64();
    uint32_t mask = probe_mask(p), rank = gpurt_thread_rank(), lane = gpurt_lane();
    uint32_t later = mask & ~((2u << lane) - 1u);
    uint32_t next = later ? gpurt_ctz(later) : gpurt_ctz(mask);

    for (uint32_t round = 0; round < p->words; round++) {
        cell[rank] = probe_input(id, round);
        gpurt_syncwarp(mask);
        row[round] = cell[rank - lane + next];
        gpurt_syncwarp(mask);
    }
}

/* Two halves on different paths, then loops of different length, then all together. */
GPURT_KERNEL(probe_divergent, struct probe_args, p)
{
    GPURT_SHARED(uint64_t, cell, GPURT_MAX_BLOCK_THREADS);
    uint64_t *row = probe_row(p), id = gpurt_global_id64();
    uint32_t rank = gpurt_thread_rank(), lane = gpurt_lane(), live = probe_live_here();
    uint32_t low = live & 0xffffu, high = live & 0xffff0000u;

    cell[rank] = id;
    if (lane < 16) {
        gpurt_syncwarp(low);
        row[0] = cell[rank - lane + gpurt_ctz(low)];
        row[1] = gpurt_reduce_add_u32(low, lane);
    } else {
        row[0] = gpurt_ballot(high, lane & 1);
        gpurt_syncwarp(high);
        row[1] = cell[rank - lane + gpurt_ctz(high)];
    }
    row[2] = 0;
    for (uint32_t i = 0; i <= lane; i++)
        row[2] += probe_input(id, i);
    gpurt_syncwarp(live);
    row[3] = cell[rank - lane] + gpurt_shfl_u64(live, row[2], 0);
}

/* Groups that the data forms: the mask comes from a match, and drives everything else. */
GPURT_KERNEL(probe_groups, struct probe_args, p)
{
    uint64_t *row = probe_row(p), id = gpurt_global_id64();
    uint32_t value = (uint32_t)probe_input(id, 1);
    uint32_t group =
        gpurt_match_any_u32(probe_live_here(), (uint32_t)(probe_input(id, 0) % 3));

    row[0] = group;
    row[1] = gpurt_reduce_add_u32(group, value);
    row[2] = gpurt_ballot(group, value & 1);
    row[3] = gpurt_shfl_u32(group, value, gpurt_leader(group));
    row[4] = gpurt_is_leader(group);
}

GPURT_KERNEL(probe_activemask, struct probe_args, p)
{
    uint64_t *row = probe_row(p), id = gpurt_global_id64();
    uint32_t mask;

    switch (probe_input(id, 0) % 3) {
    case 0:
        mask = gpurt_activemask();
        row[1] = gpurt_ballot(mask, true);
        break;
    case 1:
        mask = gpurt_activemask();
        row[1] = gpurt_reduce_or_u32(mask, 1u << gpurt_lane());
        break;
    default:
        mask = gpurt_activemask();
        row[1] = gpurt_match_any_u32(mask, 1);
    }
    row[0] = mask;
}
