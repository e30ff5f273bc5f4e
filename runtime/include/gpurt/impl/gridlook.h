/* SPDX-License-Identifier: Apache-2.0 */
/* gridlook.h - the words by which the tiles of a grid's scan tell each other their sums.
 *
 * Included by gridscan.h only. An area is the caller's memory: a head, then a word a tile, a
 * word a group of 32 tiles, a word a row of 32 groups. A word carries its value and a mark in
 * one store, so that no order is needed: 64 bits for values of 32, 128 for values of 64. The
 * mark holds the round of the area in which it was written; words of earlier rounds are simply
 * not there, and nothing is wiped between two uses. */
#ifndef GPURT_GRIDLOOK_H
#define GPURT_GRIDLOOK_H

#include <gpurt/impl/combine.h>
#include <gpurt/status.h>

enum {
    GPURT_LOOK_WIDTH = 32, /* tiles of a group, groups of a row */
    GPURT_LOOK_LEVELS = 3,
    /* Of a mark. */
    GPURT_LOOK_GONE = 1u, /* the block that had the tile was cancelled */
    GPURT_LOOK_CLOSED =
        2u, /* a segment begins in it: nothing from before goes on behind it */
    GPURT_LOOK_ROUND = 4u /* the rest: round + 1 */
};

/* The head. Owner: the caller, who zeroes the area once. Between two uses of it all words stand:
 * a use ends with the kernel, or at a grid barrier. */
typedef struct GPURT_ALIGN(128) gpurt_grid_area {
    uint32_t xticket; /* next tile; written by: a lane of each block that takes one */
    uint32_t xdone;   /* blocks that have come to the end; written by: a lane of each */
    uint32_t xround;  /* uses that were; written by: the last block that comes to the end */
} gpurt_grid_area_t;

/* Without a loop: nvcc 13.0 did not come to an end with one. */
GPURT_HD uint64_t gpurt_look_word(uint64_t tiles, uint32_t level, uint64_t at)
{
    uint64_t groups = (tiles + GPURT_LOOK_WIDTH - 1) / GPURT_LOOK_WIDTH;
    uint64_t rows = (groups + GPURT_LOOK_WIDTH - 1) / GPURT_LOOK_WIDTH;

    return at + (level > 0 ? tiles : 0) + (level > 1 ? groups : 0) + (level > 2 ? rows : 0);
}

/* A word's store and load. relaxed: the value is in the word. */
#define GPURT_LOOK_NARROW(T, t)                                                       \
    GPURT_DEV void gpurt_look_put_##t(gpurt_grid_area_t *area, uint64_t at, T v,      \
                                      uint32_t mark)                                  \
    {                                                                                 \
        gpurt_store_relaxed_dev_u64((uint64_t *)(area + 1) + at,                      \
                                    gpurt_value_bits_##t(v) | (uint64_t)mark << 32);  \
    }                                                                                 \
    GPURT_DEV uint32_t gpurt_look_get_##t(gpurt_grid_area_t *area, uint64_t at, T *v) \
    {                                                                                 \
        uint64_t word = gpurt_load_relaxed_dev_u64((uint64_t *)(area + 1) + at);      \
                                                                                      \
        *v = gpurt_value_of_##t(word);                                                \
        return (uint32_t)(word >> 32);                                                \
    }
#define GPURT_LOOK_WIDE(T, t)                                                             \
    GPURT_DEV void gpurt_look_put_##t(gpurt_grid_area_t *area, uint64_t at, T v,          \
                                      uint32_t mark)                                      \
    {                                                                                     \
        gpurt_u128_t word;                                                                \
                                                                                          \
        word.lo = gpurt_value_bits_##t(v);                                                \
        word.hi = mark;                                                                   \
        gpurt_store_relaxed_dev_u128((gpurt_u128_t *)(area + 1) + at, word);              \
    }                                                                                     \
    GPURT_DEV uint32_t gpurt_look_get_##t(gpurt_grid_area_t *area, uint64_t at, T *v)     \
    {                                                                                     \
        gpurt_u128_t word = gpurt_load_relaxed_dev_u128((gpurt_u128_t *)(area + 1) + at); \
                                                                                          \
        *v = gpurt_value_of_##t(word.lo);                                                 \
        return (uint32_t)word.hi;                                                         \
    }
GPURT_LOOK_NARROW(uint32_t, u32)
GPURT_LOOK_NARROW(int32_t, i32)
GPURT_LOOK_NARROW(float, f32)
GPURT_LOOK_WIDE(uint64_t, u64)
GPURT_LOOK_WIDE(int64_t, i64)
GPURT_LOOK_WIDE(double, f64)

#endif
