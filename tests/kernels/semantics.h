/* SPDX-License-Identifier: Apache-2.0 */
/* semantics.h - kernels that write down what they saw, for test_semantics.
 *
 * A probe stores words into the row of its lane; the host computes the same row from the
 * launch shape alone and compares. Inputs are a hash of the lane's number, so that neither
 * side has to send them. The reference never calls the dialect: it says in plain C what
 * warp.h, block.h and atomic.h promise. */
#ifndef GPURT_TESTS_SEMANTICS_H
#define GPURT_TESTS_SEMANTICS_H

#include <gpurt/base.h>
#include <gpurt/kernel.h>

/* Owner: the test. Shared with: every lane. */
struct probe_args {
    uint64_t *out; /* row of `words` words a lane, by gpurt_global_id64; 0xee before */
    uint64_t *mem; /* scratch of the grid; the case says what is in it before */
    uint32_t words;
    uint32_t mode; /* what this kernel varies, see each one */
};

/* As large as an argument struct may be. */
struct probe_big_args {
    uint64_t *out;
    uint32_t *go; /* host memory: the kernel reads `fill` only once this is not 0 */
    uint8_t fill[GPURT_MAX_ARGS_BYTES - 2 * sizeof(uint64_t)];
};

/* splitmix64: every input of every probe. */
GPURT_HD uint64_t probe_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
GPURT_HD uint64_t probe_input(uint64_t id, uint32_t round)
{
    return probe_mix(id * 1024 + round);
}

/* ---- types and kinds, as numbers in `mode` ------------------------------------------- */
enum {
    PROBE_U32,
    PROBE_I32,
    PROBE_U64,
    PROBE_I64,
    PROBE_F32,
    PROBE_F64,
    PROBE_U128
};
enum {
    PROBE_IDX,
    PROBE_UP,
    PROBE_DOWN,
    PROBE_XOR,
    PROBE_WARP
};
enum {
    PROBE_ADD,
    PROBE_MIN,
    PROBE_MAX,
    PROBE_AND,
    PROBE_OR,
    PROBE_EXOR,
    PROBE_SUB,
    PROBE_XCHG,
    PROBE_CAS
};
enum {
    PROBE_BLK,
    PROBE_CLU,
    PROBE_DEV,
    PROBE_SYS
};
#define PROBE_MODE(kind, type, extra) ((uint32_t)((kind) | (type) << 4 | (extra) << 8))
#define PROBE_KIND(mode)              ((mode)&15u)
#define PROBE_TYPE(mode)              ((mode) >> 4 & 15u)
#define PROBE_EXTRA(mode)             ((mode) >> 8)

/* Bits of a value and back; floats travel as bits, so that NaNs keep theirs. */
#define PROBE_PUN(T, t, bits_type)            \
    GPURT_HD T probe_value_##t(uint64_t bits) \
    {                                         \
        union {                               \
            bits_type bits;                   \
            T value;                          \
        } pun;                                \
                                              \
        pun.bits = (bits_type)bits;           \
        return pun.value;                     \
    }                                         \
    GPURT_HD uint64_t probe_bits_##t(T value) \
    {                                         \
        union {                               \
            bits_type bits;                   \
            T value;                          \
        } pun;                                \
                                              \
        pun.value = value;                    \
        return pun.bits;                      \
    }
PROBE_PUN(uint32_t, u32, uint32_t)
PROBE_PUN(int32_t, i32, uint32_t)
PROBE_PUN(uint64_t, u64, uint64_t)
PROBE_PUN(int64_t, i64, uint64_t)
PROBE_PUN(float, f32, uint32_t)
PROBE_PUN(double, f64, uint64_t)

/* ---- masks --------------------------------------------------------------------------- */
/* Lanes of warp `warp` that a block of `threads` has. */
GPURT_HD uint32_t probe_live(uint32_t threads, uint32_t warp)
{
    uint32_t left = threads - warp * GPURT_WARP_SIZE;

    return left >= GPURT_WARP_SIZE ? GPURT_FULL_MASK : (1u << left) - 1u;
}

/* Two groups share a warp, each operating under its own mask: the lanes of a pattern, and
 * the others. The group of one lane: */
enum {
    PROBE_ALL,
    PROBE_EVEN,
    PROBE_HALVES,
    PROBE_RANDOM
};
GPURT_HD uint32_t probe_group(uint32_t pattern, uint32_t live, uint64_t warp_first,
                              uint32_t lane)
{
    uint32_t mask = live;

    if (pattern == PROBE_EVEN)
        mask &= 0x55555555u;
    else if (pattern == PROBE_HALVES)
        mask &= 0x0000ffffu;
    else if (pattern == PROBE_RANDOM)
        mask &= (uint32_t)probe_mix(~warp_first);
    return mask >> lane & 1u ? mask : live & ~mask;
}

/* ---- words of the rows --------------------------------------------------------------- */
/* clang-format off */
#define PROBE_IDS(X)                                                                      \
    X(thread_x) X(thread_y) X(thread_z) X(block_x) X(block_y) X(block_z) X(block_dim_x)   \
    X(block_dim_y) X(block_dim_z) X(grid_dim_x) X(grid_dim_y) X(grid_dim_z) X(lane)       \
    X(warp) X(warps) X(thread_rank) X(block_rank) X(block_threads) X(grid_blocks)         \
    X(global_id) X(global_id64) X(lanes_below) X(cluster_rank) X(cluster_size)
/* clang-format on */
#define PROBE_ID_WORD(name) PROBE_ID_##name,
enum {
    PROBE_IDS(PROBE_ID_WORD) PROBE_ID_WORDS
};

enum {
    PROBE_VOTE_BALLOT,
    PROBE_VOTE_ANY,
    PROBE_VOTE_ALL,
    PROBE_VOTE_WORDS
};
enum {
    PROBE_VOTE_ROUNDS = 6
};
/* Predicates from "nobody" to "everybody": round 0 is never true, the last always. */
GPURT_HD bool probe_predicate(uint64_t id, uint32_t round, uint32_t rounds)
{
    return probe_input(id, round) % (rounds - 1) < round;
}

enum {
    PROBE_MATCH_ANY_U32,
    PROBE_MATCH_ANY_U64,
    PROBE_MATCH_ALL_U32,
    PROBE_SAME_U32,
    PROBE_MATCH_ALL_U64,
    PROBE_SAME_U64,
    PROBE_MATCH_WORDS
};
enum {
    PROBE_MATCH_ROUNDS = 4
};
/* Round 0: all alike. Later rounds: few values, which for 64 bits differ in one half
 * only. */
GPURT_HD uint64_t probe_key(uint64_t id, uint32_t round)
{
    uint64_t key = round ? probe_input(id, round) % (2 * round) : 7;

    return round & 1 ? key << 32 | 5 : key;
}

enum {
    PROBE_WIDTHS = 6,
    PROBE_DELTAS = 7,
    PROBE_SHFL_WORDS = PROBE_WIDTHS * PROBE_DELTAS
};
/* From zero over both edges of a group of `width` to the far end of the warp. */
GPURT_HD uint32_t probe_delta(uint32_t kind, uint32_t nth, uint32_t width, uint32_t lane)
{
    switch (nth) {
    case 0:
        return 0;
    case 1:
        return 1;
    case 2:
        return width / 2;
    case 3:
        return width - 1;
    case 4:
        return width & 31u;
    case 5:
        return 31;
    default:
        return kind == PROBE_IDX || kind == PROBE_WARP ? (lane * 7 + 3) & 31u : 5;
    }
}

enum {
    PROBE_ORDINARY_ROUNDS = 3,
    PROBE_ZEROS_ROUND = 6,
    PROBE_REDUCE_ROUNDS = 7
};
/* Inputs of reductions. Floats: rounds of ordinary numbers whose sum depends on the order,
 * then rounds of infinities, NaNs, subnormals and the largest number, then zeros of both
 * signs. */
GPURT_HD uint32_t probe_float(uint64_t bits, uint32_t round)
{
    uint32_t word = (uint32_t)bits;

    if (round < PROBE_ORDINARY_ROUNDS)
        return (word & 0x81ffffffu) | 0x3e000000u; /* exponents of 2^-3 .. 2^0 */
    if (round == PROBE_ZEROS_ROUND)
        return word & 0x80000000u;
    switch (bits >> 40 & 31u) {
    case 0:
        return word & 0x80000000u;
    case 1:
        return word & 0x807fffffu;
    case 2:
        return 0x7f7fffffu;
    case 3:
        return 0x7fc00000u;
    case 4:
        return 0x7f800000u | (word & 0x80000000u);
    default:
        return word & 0xbfffffffu;
    }
}
GPURT_HD uint64_t probe_double(uint64_t bits, uint32_t round)
{
    if (round < PROBE_ORDINARY_ROUNDS)
        return (bits & 0x803fffffffffffffu) | 0x3fc0000000000000u;
    if (round == PROBE_ZEROS_ROUND)
        return bits & 0x8000000000000000u;
    switch (bits >> 40 & 31u) {
    case 0:
        return bits & 0x8000000000000000u;
    case 1:
        return bits & 0x800fffffffffffffu;
    case 2:
        return 0x7fefffffffffffffu;
    case 3:
        return 0x7ff8000000000000u;
    case 4:
        return 0x7ff0000000000000u | (bits & 0x8000000000000000u);
    default:
        return bits & 0xbfffffffffffffffu;
    }
}
GPURT_HD uint64_t probe_number(uint32_t type, uint64_t id, uint32_t round)
{
    uint64_t bits = probe_input(id, round);

    switch (type) {
    case PROBE_F32:
        return probe_float(bits, round);
    case PROBE_F64:
        return probe_double(bits, round);
    case PROBE_U32:
        return (uint32_t)bits;
    case PROBE_I32:
        return (uint32_t)bits;
    default:
        return bits;
    }
}

/* An invalid operation makes a NaN whose bits differ from machine to machine (x86 sets the
 * sign, NVIDIA all bits of the fraction): rows hold one NaN for all. */
GPURT_HD uint64_t probe_one_nan(uint32_t type, uint64_t bits)
{
    if (type == PROBE_F32 && (bits & 0x7fffffffu) > 0x7f800000u)
        return 0x7fc00000u;
    if (type == PROBE_F64 && (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u)
        return 0x7ff8000000000000u;
    return bits;
}

enum {
    PROBE_BARRIER_ROUNDS = 5
};
enum {
    PROBE_ITEMS = 9
}; /* through the named barriers */
enum {
    PROBE_GRID_ROUNDS = 4
};
enum {
    PROBE_ATOMIC_ROUNDS = 4
};
enum {
    PROBE_UNTOUCHED = 0x11
}; /* a lane writes it before an exit that must be its last act */

/* Operand of an atomic: small, so that sums of floats stay exact and u32 sums tell lanes
 * apart. */
GPURT_HD uint64_t probe_operand(uint32_t kind, uint32_t type, uint64_t id, uint32_t round)
{
    uint64_t bits = probe_input(id, round);

    if (type == PROBE_F32)
        return probe_bits_f32((float)(1 + bits % 15));
    if (type == PROBE_F64)
        return probe_bits_f64((double)(1 + bits % 1000));
    if (kind == PROBE_ADD || kind == PROBE_SUB || kind == PROBE_CAS)
        bits = 1 + bits % 1000;
    return type == PROBE_U32 || type == PROBE_I32 ? (uint32_t)bits : bits;
}

/* clang-format off */
#define PROBES(X)                                                                         \
    X(ids) X(votes) X(match) X(shfl) X(reduce) X(syncwarp) X(divergent) X(groups)         \
    X(activemask) X(bits) X(barrier) X(barrier_exit) X(exchange) X(named) X(shared)       \
    X(poison) X(cluster) X(grid) X(chain) X(exits) X(clock) X(slots) X(large) X(atomic)   \
    X(atomic_shared) X(cas_fails) X(cells) X(red) X(wide) X(wide_tear) X(wide_parts) \
    X(message) X(meanwhile)
/* clang-format on */
#define PROBE_DECLARE(name) GPURT_KERNEL_DECLARE(probe_##name, struct probe_args);
PROBES(PROBE_DECLARE)
GPURT_KERNEL_DECLARE(probe_args_copy, struct probe_big_args);

#endif
