/* SPDX-License-Identifier: Apache-2.0 */
/* blocksort.h - a block sorts keys, with a value each, and counts them.
 *
 * Context: device code; every thread of the block calls, with the same arguments. The block is a
 * multiple of 32 threads. T: u32 i32 u64 i64 f32 f64.
 *
 *   gpurt_status_t gpurt_block_sort_T(room, T *keys, uint32_t *values, n)
 *       Sorts n keys upwards, in place; stable: equal keys keep their order. values: NULL, or
 *       what moves with the keys. Floats: as their bits say, -0 before 0, NaNs at the ends.
 *       room: gpurt_block_sort_bytes(n, threads, sizeof(T)) bytes of the block's own, aligned
 *       to 8. Keys, values and room lie in shared or in device memory.
 *   void gpurt_block_histogram_u8(counts, bins, keys, n, uint32_t *outside)
 *   void gpurt_block_histogram_u32(...)
 *       Of any shape of block. Adds to counts[key] for each key below `bins`; the others are
 *       added to *outside. counts: shared memory, zeroed; outside: likewise one word.
 *   void gpurt_histogram_merge(uint32_t *total, const uint32_t *counts, bins)
 *       Adds a block's counts to those of all blocks, in device memory.
 *
 * Returns: GPURT_OK; GPURT_E_INVALID: the block is no multiple of 32.
 * How: five bits at a time from the lowest on; a pass in which all keys agree moves nothing. A
 * warp has one stretch of the keys, and lanes with equal digits find each other by a match.
 * Order: as collective.h: block barriers on both sides. */
#ifndef GPURT_BLOCKSORT_H
#define GPURT_BLOCKSORT_H

#include <gpurt/atomic.h>
#include <gpurt/collective.h>
#include <gpurt/status.h>

enum {
    GPURT_SORT_BITS = 5, /* a digit a lane */
    GPURT_SORT_DIGITS = 1 << GPURT_SORT_BITS
};

/* Two arrays to move into, and a counter a digit and warp. */
GPURT_HD uint64_t gpurt_block_sort_bytes(uint32_t n, uint32_t threads, uint32_t key_bytes)
{
    uint64_t values = ((uint64_t)n * 4 + 7) / 8 * 8;

    return (uint64_t)n * key_bytes + 7 + values + (uint64_t)threads * 4 + 4;
}

/* Bits that compare as the keys do: of floats and signed numbers the sign is turned, of negative
 * floats all others, too. */
#define GPURT_SORT_PLAIN(T, t, U, top)     \
    GPURT_DEV U gpurt_sort_bits_##t(T key) \
    {                                      \
        return (U)key ^ (top);             \
    }
#define GPURT_SORT_FLOAT(T, t, U, top)                      \
    GPURT_DEV U gpurt_sort_bits_##t(T key)                  \
    {                                                       \
        U bits = (U)gpurt_value_bits_##t(key);              \
                                                            \
        return bits & (top) ? (U)~bits : (U)(bits | (top)); \
    }
GPURT_SORT_PLAIN(uint32_t, u32, uint32_t, 0u)
GPURT_SORT_PLAIN(int32_t, i32, uint32_t, 0x80000000u)
GPURT_SORT_PLAIN(uint64_t, u64, uint64_t, 0ull)
GPURT_SORT_PLAIN(int64_t, i64, uint64_t, 0x8000000000000000ull)
GPURT_SORT_FLOAT(float, f32, uint32_t, 0x80000000u)
GPURT_SORT_FLOAT(double, f64, uint64_t, 0x8000000000000000ull)

/* counts: [warp][digit], what each warp has. Becomes where its first such key goes. Returns, to
 * all threads: whether one digit has all keys. */
GPURT_DEV bool gpurt_sort_places(uint32_t *counts, uint32_t n)
{
    uint32_t warps = gpurt_warps(), lane = gpurt_lane(), all = 0, first, alone = 0;

    gpurt_block_barrier();
    if (gpurt_warp() == 0) {
        for (uint32_t w = 0; w < warps; w++)
            all += counts[w * GPURT_SORT_DIGITS + lane];
        alone = gpurt_any(GPURT_FULL_MASK, all == n);
        first = gpurt_exscan_add_u32(GPURT_FULL_MASK, all);
        for (uint32_t w = 0; w < warps; w++) {
            uint32_t here = counts[w * GPURT_SORT_DIGITS + lane];

            counts[w * GPURT_SORT_DIGITS + lane] = first;
            first += here;
        }
    }
    return gpurt_block_broadcast_u32(alone, 0) != 0;
}

/* The digits of 32 keys: which lanes have the caller's, and what the warp counted of it before.
 * here: which lanes have a key. Every lane of the warp calls. */
GPURT_DEV uint32_t gpurt_sort_rank(uint32_t *counts, uint32_t digit, bool has)
{
    uint32_t same =
        gpurt_match_any_u32(GPURT_FULL_MASK, has ? digit : (uint32_t)GPURT_SORT_DIGITS);
    uint32_t before = has ? counts[digit] : 0;

    gpurt_syncwarp(GPURT_FULL_MASK);
    if (has && gpurt_is_leader(same))
        counts[digit] = before + gpurt_popc(same);
    gpurt_syncwarp(GPURT_FULL_MASK);
    return before + gpurt_popc(same & gpurt_lanes_below());
}

#define GPURT_DEF_SORT(T, t)                                                               \
    /* One pass over the warp's stretch: counts, or moves by what was counted. */          \
    GPURT_DEV void gpurt_sort_pass_##t(uint32_t *counts, const T *keys,                    \
                                       const uint32_t *values, T *to, uint32_t *to_values, \
                                       uint32_t n, uint32_t shift)                         \
    {                                                                                      \
        uint32_t rows = (n + gpurt_block_threads() - 1) / gpurt_block_threads();           \
        uint32_t at = gpurt_warp() * rows * GPURT_WARP_SIZE + gpurt_lane();                \
                                                                                           \
        for (uint32_t row = 0; row < rows; row++, at += GPURT_WARP_SIZE) {                 \
            bool has = at < n;                                                             \
            T key = keys[has ? at : 0];                                                    \
            uint32_t digit =                                                               \
                (uint32_t)(gpurt_sort_bits_##t(key) >> shift) & (GPURT_SORT_DIGITS - 1u);  \
            uint32_t place = gpurt_sort_rank(counts, digit, has);                          \
                                                                                           \
            if (has && to)                                                                 \
                to[place] = key;                                                           \
            if (has && to && values)                                                       \
                to_values[place] = values[at];                                             \
        }                                                                                  \
    }                                                                                      \
    GPURT_DEVN gpurt_status_t gpurt_block_sort_##t(void *room, T *keys, uint32_t *values,  \
                                                   uint32_t n)                             \
    {                                                                                      \
        uint32_t threads = gpurt_block_threads(), rank = gpurt_thread_rank();              \
        T *from = keys, *to = (T *)room;                                                   \
        uint32_t *from_values = values;                                                    \
        uint32_t *to_values =                                                              \
            (uint32_t *)((char *)room + ((size_t)n * sizeof(T) + 7) / 8 * 8);              \
        uint32_t *all = to_values + ((size_t)n + 1) / 2 * 2;                               \
        uint32_t *counts = all + gpurt_warp() * GPURT_SORT_DIGITS;                         \
                                                                                           \
        if (threads % GPURT_WARP_SIZE)                                                     \
            return GPURT_E_INVALID;                                                        \
        gpurt_block_barrier();                                                             \
        for (uint32_t shift = 0; n && shift < sizeof(T) * 8; shift += GPURT_SORT_BITS) {   \
            counts[gpurt_lane()] = 0;                                                      \
            gpurt_syncwarp(GPURT_FULL_MASK);                                               \
            gpurt_sort_pass_##t(counts, from, NULL, NULL, NULL, n, shift);                 \
            if (gpurt_sort_places(all, n))                                                 \
                continue;                                                                  \
            gpurt_sort_pass_##t(counts, from, from_values, to, to_values, n, shift);       \
            gpurt_block_barrier();                                                         \
            T *keys_then = from;                                                           \
            uint32_t *values_then = from_values;                                           \
                                                                                           \
            from = to;                                                                     \
            to = keys_then;                                                                \
            if (values) {                                                                  \
                from_values = to_values;                                                   \
                to_values = values_then;                                                   \
            }                                                                              \
        }                                                                                  \
        for (uint32_t i = rank; from != keys && i < n; i += threads) {                     \
            keys[i] = from[i];                                                             \
            if (values)                                                                    \
                values[i] = from_values[i];                                                \
        }                                                                                  \
        gpurt_block_barrier();                                                             \
        return GPURT_OK;                                                                   \
    }
GPURT_FOR_VALUES(GPURT_DEF_SORT)

/* ---- counting ----------------------------------------------------------------------------- */

#define GPURT_DEF_HISTOGRAM(T, t)                                                          \
    GPURT_DEV void gpurt_block_histogram_##t(uint32_t *counts, uint32_t bins,              \
                                             const T *keys, uint64_t n, uint32_t *outside) \
    {                                                                                      \
        gpurt_block_barrier();                                                             \
        GPURT_LOOP(uint64_t, i, gpurt_thread_rank(), n, gpurt_block_threads())             \
        {                                                                                  \
            uint32_t *count = keys[i] < bins ? counts + keys[i] : outside;                 \
                                                                                           \
            gpurt_add_relaxed_blk_u32(count, 1); /* relaxed: read behind the barrier */    \
        }                                                                                  \
        gpurt_block_barrier();                                                             \
    }
GPURT_DEF_HISTOGRAM(uint8_t, u8)
GPURT_DEF_HISTOGRAM(uint32_t, u32)

GPURT_DEV void gpurt_histogram_merge(uint32_t *total, const uint32_t *counts, uint32_t bins)
{
    gpurt_block_barrier();
    for (uint32_t i = gpurt_thread_rank(); i < bins; i += gpurt_block_threads())
        if (counts[i])
            gpurt_red_add_relaxed_dev_u32(total + i, counts[i]); /* relaxed: a sum */
}

#endif
