/* SPDX-License-Identifier: Apache-2.0 */
/* gridlook.h - the words by which the tiles of a grid's scan tell each other their sums.
 *
 * Included by gridscan.h only. An area is the caller's memory: a head, then rows of words. A row
 * has a word for each of 1,024 tiles, for each of their 32 groups, and one for them all. A word
 * is one cell of 64 bits a half of the value. Each cell carries 32 bits of the value and a mark,
 * in one store. So no order is needed, and a reader knows a half that is missing by its mark. One
 * store of 128 bits would not do: ptxas loads only the parts of it that are used, one after the
 * other.
 * The mark holds the round of the area in which it was written; cells of earlier rounds are
 * simply not there, nothing is wiped between two uses, and one area serves all types. */
#ifndef GPURT_GRIDLOOK_H
#define GPURT_GRIDLOOK_H

#include <gpurt/atomic.h>
#include <gpurt/ids.h>
#include <gpurt/impl/combine.h>
#include <gpurt/status.h>

enum {
    GPURT_LOOK_LEVELS = 3, /* tiles, groups, rows */
    GPURT_LOOK_WIDTH = 32, /* tiles of a group, groups of a row */
    GPURT_LOOK_ROW = GPURT_LOOK_WIDTH * GPURT_LOOK_WIDTH,
    /* Words of a row: its tiles', its groups', its own; up to a whole line. */
    GPURT_LOOK_ROW_WORDS = GPURT_LOOK_ROW + 2 * GPURT_LOOK_WIDTH,
    /* Of a mark. */
    GPURT_LOOK_GONE = 1u, /* the block that had the tile was cancelled */
    GPURT_LOOK_CLOSED =
        2u,              /* a segment begins in it: nothing from before goes on behind it */
    GPURT_LOOK_ALL = 4u, /* the sum of all tiles up to here, not of one alone */
    GPURT_LOOK_ROUND = 8u /* the rest: round + 1 */
};

/* No tile: the words of fewer are counted in 32 bits. */
#define GPURT_LOOK_TILES   (1u << 31)
#define GPURT_LOOK_NOWHERE UINT32_MAX

/* The head. Owner: the caller, who zeroes the area once. Between two uses of it all words stand:
 * a use ends with the kernel, or at a grid barrier. */
typedef struct GPURT_ALIGN(128) gpurt_grid_area {
    uint32_t xticket; /* next tile; written by: a lane of each block that takes one */
    uint32_t xdone;   /* blocks that have come to the end; written by: a lane of each */
    uint32_t xround;  /* uses that were; written by: the last block that comes to the end */
} gpurt_grid_area_t;

/* The word of a tile, of its group, of its row. */
GPURT_DEV uint32_t gpurt_look_word(uint32_t level, uint32_t tile)
{
    uint32_t row = tile / GPURT_LOOK_ROW * GPURT_LOOK_ROW_WORDS;

    if (level == 0)
        return row + tile % GPURT_LOOK_ROW;
    row += GPURT_LOOK_ROW;
    return level == 1 ? row + tile % GPURT_LOOK_ROW / GPURT_LOOK_WIDTH
                      : row + GPURT_LOOK_WIDTH;
}

/* The word that the calling lane looks at on a level, because it stands before the tile. */
GPURT_DEV uint32_t gpurt_look_place(uint32_t level, uint32_t tile)
{
    uint32_t lane = gpurt_lane(), group = tile / GPURT_LOOK_WIDTH % GPURT_LOOK_WIDTH;

    if (level == 0 && lane < tile % GPURT_LOOK_WIDTH)
        return gpurt_look_word(0, tile - tile % GPURT_LOOK_WIDTH + lane);
    if (level == 1 && lane < group)
        return gpurt_look_word(1, tile - (group - lane) * GPURT_LOOK_WIDTH);
    if (level == 2 && tile >= GPURT_LOOK_ROW)
        return gpurt_look_word(2, tile - GPURT_LOOK_ROW);
    return GPURT_LOOK_NOWHERE;
}

/* The word that the calling lane looks at: of the 32 tiles that end before one. */
GPURT_DEV uint32_t gpurt_look_before(uint32_t end)
{
    uint32_t at = end + gpurt_lane();

    return at < GPURT_LOOK_WIDTH ? GPURT_LOOK_NOWHERE
                                 : gpurt_look_word(0, at - GPURT_LOOK_WIDTH);
}

/* The word that is told behind the look at a level: by the last tile of a group, of a row. */
GPURT_DEV uint32_t gpurt_look_told(uint32_t level, uint32_t tile)
{
    if (level == 0 && tile % GPURT_LOOK_WIDTH == GPURT_LOOK_WIDTH - 1)
        return gpurt_look_word(1, tile);
    if (level == 2 && tile % GPURT_LOOK_ROW == GPURT_LOOK_ROW - 1)
        return gpurt_look_word(2, tile);
    return GPURT_LOOK_NOWHERE;
}

/* Behind the head 8 bytes a block, for the sums of a reduction; then the words. The two never
 * lie in one place: an old sum could look like a mark. */
GPURT_HD uint64_t gpurt_look_offset(uint64_t blocks)
{
    return sizeof(gpurt_grid_area_t) + (blocks + 1) / 2 * 16;
}
GPURT_HD uint32_t gpurt_look_cells(uint32_t value_bytes)
{
    return value_bytes > 4 ? 2 : 1;
}
GPURT_DEV uint64_t *gpurt_look_first(gpurt_grid_area_t *area)
{
    return (uint64_t *)((char *)area + gpurt_look_offset(gpurt_grid_blocks()));
}

/* A word as it was found. */
typedef struct gpurt_look {
    uint64_t low, high; /* with one cell: the same */
} gpurt_look_t;

/* first: of the area's words */
GPURT_DEV void gpurt_look_put(uint64_t *first, uint32_t word, uint32_t cells, uint64_t bits,
                              uint32_t mark)
{
    uint64_t *cell = first + (uint64_t)word * cells;

    for (uint32_t i = 0; i < cells; i++)
        /* relaxed: the value is in the word, as for the loads below */
        gpurt_store_relaxed_dev_u64(cell + i,
                                    (uint64_t)mark << 32 | (uint32_t)(bits >> 32 * i));
}
GPURT_DEV gpurt_look_t gpurt_look_get(const uint64_t *first, uint32_t word, uint32_t cells)
{
    const uint64_t *cell = first + (uint64_t)word * cells;
    gpurt_look_t look;

    look.low = gpurt_load_relaxed_dev_u64(cell);
    look.high = cells > 1 ? gpurt_load_relaxed_dev_u64(cell + 1) : look.low;
    return look;
}

/* 0 while only one half is there. */
GPURT_DEV uint32_t gpurt_look_mark(gpurt_look_t look)
{
    return look.low >> 32 == look.high >> 32 ? (uint32_t)(look.low >> 32) : 0;
}
GPURT_DEV uint64_t gpurt_look_bits(gpurt_look_t look)
{
    return look.high << 32 | (uint32_t)look.low;
}

#endif
