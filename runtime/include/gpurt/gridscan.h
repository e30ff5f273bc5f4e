/* SPDX-License-Identifier: Apache-2.0 */
/* gridscan.h - reductions and scans by all blocks of a launch, of arrays of any length in device
 * memory.
 *
 * Context: device code; every thread of every block calls, with the same arguments; a block is
 * a multiple of 32 threads. T and op: as in collective.h.
 *
 *   gpurt_status_t gpurt_grid_reduce_op_T(area, const T *in, n, T *out)   out: one element
 *   gpurt_status_t gpurt_grid_scan_op_T(area, const T *in, T *out, n)
 *   gpurt_status_t gpurt_grid_exscan_op_T(area, const T *in, T *out, n)
 *   gpurt_status_t gpurt_grid_segscan_op_T(area, const T *in, const uint8_t *heads, T *out, n)
 *       heads: nonzero where a segment begins. out may be in.
 *   uint64_t gpurt_grid_area_bytes(n, blocks, threads, sizeof(T))   for each of these, host too
 *   GPURT_GRID_COLLECTIVE(name, T, t, none, pair)   behind GPURT_COLLECTIVE: these of it
 *
 * Returns: to all threads of a block the same. GPURT_OK; GPURT_E_INVALID: the block is no
 * multiple of 32, or the area not aligned to 128 bytes, or n is more than 2^31 tiles;
 * GPURT_E_CANCELLED: another block was cancelled, and what stands behind its part is not written.
 * Only scans say so: a reduction does not wait for blocks, so beside a cancelled one the others
 * return GPURT_OK and *out is not written. Check it by a value put there before.
 * For that the file defines GPURT_DEFER_DEPTH (one row of warp 0; GPURT_E_NOMEM without one
 * free). Without it the other blocks of a scan wait for a cancelled one until it is noticed as
 * a hang. After anything but GPURT_OK the area has to be zeroed.
 *
 * The area is device memory of the caller's, aligned to 128 bytes, zeroed once. It may be used
 * again without a word of the host, for other lengths, types and operators, but not with another
 * number of blocks, and by one operation at a time: the next begins in another launch, or behind
 * a grid barrier. That is also when the results can be read. A reduction's operator has to
 * commute as well: threads take elements that lie a grid apart.
 *
 * A scan reads and writes each element once, in tiles that blocks take by tickets. A tile waits
 * only for tiles with lower tickets, whose blocks run: no block needs to be resident beside
 * others, and an ordinary launch of any size does.
 * With a block for each tile a block does one tile; with fewer it does several.
 * Floats: the same bits for the same shape of block (of a reduction: and grid), on both back
 * ends. The sums before a tile are always combined in one grouping, by 32 tiles and by 32 groups;
 * what is ready first does not matter. Integers: by what is ready first, so an operator of the
 * program has to be associative in every bit.
 * Shared memory: 440 bytes beside those of collective.h. */
#ifndef GPURT_GRIDSCAN_H
#define GPURT_GRIDSCAN_H

#include <gpurt/atomic.h>
#include <gpurt/collective.h>
#include <gpurt/defer.h>
#include <gpurt/impl/gridlook.h>

enum {
    GPURT_TILE_ROWS = 4,                                          /* of 16 bytes a thread */
    GPURT_PACK_BYTES = 16,                                        /* the widest load */
    GPURT_TILE_THREAD_BYTES = GPURT_TILE_ROWS * GPURT_PACK_BYTES, /* half a line */
    GPURT_GRID_POLLS = 64 /* looks before the first sleep */
};

/* What a block keeps of a running operation. Owner: the block. */
typedef struct gpurt_grid_room {
    uint64_t cells[GPURT_WARP_SIZE + 1]; /* a warp's sum; what stands before the tile */
    uint32_t shut[GPURT_WARP_SIZE];      /* a segment begins in the warp's part */
    gpurt_grid_area_t *area;
    uint64_t *look;             /* the area's words */
    uint32_t tiles, tile, next; /* what the block has and will have; UINT32_MAX: none */
    uint32_t round, gone, look_cells;
} gpurt_grid_room_t;

GPURT_DEV gpurt_grid_room_t *gpurt_grid_room(void)
{
    GPURT_SHARED(gpurt_grid_room_t, room, 1);

    return room;
}

GPURT_HD uint64_t gpurt_grid_tiles(uint64_t n, uint32_t threads, uint32_t value_bytes)
{
    uint64_t tile = (uint64_t)threads * (GPURT_TILE_THREAD_BYTES / value_bytes);

    return (n + tile - 1) / tile;
}

GPURT_HD uint64_t gpurt_grid_area_bytes(uint64_t n, uint64_t blocks, uint32_t threads,
                                        uint32_t value_bytes)
{
    uint64_t tiles = gpurt_grid_tiles(n, threads, value_bytes);
    uint64_t rows = (tiles + GPURT_LOOK_ROW - 1) / GPURT_LOOK_ROW;

    return gpurt_look_offset(blocks) + rows * GPURT_LOOK_ROW_WORDS * 16;
}

/* The round's mark; never that of a word that was zeroed. */
GPURT_DEV uint32_t gpurt_grid_round(gpurt_grid_area_t *area)
{
    /* relaxed: it was written in an earlier use, which has ended */
    uint32_t round = gpurt_load_relaxed_dev_u32(&area->xround);

    return (round % (UINT32_MAX / GPURT_LOOK_ROUND) + 1) * GPURT_LOOK_ROUND;
}

/* One thread of each block, at its end. The last one makes the area ready for the next use.
 * Returns: whether the caller is the last. */
GPURT_DEV bool gpurt_grid_arrive(gpurt_grid_area_t *area)
{
    uint32_t before = gpurt_add_acq_rel_dev_u32(&area->xdone, 1); /* GRD1.rel GRD1.acq */

    return before + 1 == gpurt_grid_blocks();
}
GPURT_DEV void gpurt_grid_renew(gpurt_grid_area_t *area)
{
    uint32_t round =
        gpurt_load_relaxed_dev_u32(&area->xround); /* relaxed: the caller's alone */

    gpurt_store_relaxed_dev_u32(&area->xticket,
                                0); /* relaxed: for the next use, as all here */
    gpurt_store_relaxed_dev_u32(&area->xdone, 0);
    gpurt_store_relaxed_dev_u32(&area->xround, round + 1);
}

/* A ticket: the next tile, while it is below room->tiles. */
GPURT_DEV uint32_t gpurt_grid_ticket(const gpurt_grid_room_t *room)
{
    /* relaxed: a ticket */
    return gpurt_add_relaxed_far_u32(&room->area->xticket, 1);
}
GPURT_DEV uint32_t gpurt_grid_tile(const gpurt_grid_room_t *room, uint32_t ticket)
{
    return ticket < room->tiles ? ticket : UINT32_MAX;
}
/* The next tile of a block that has done one. Where each tile has a block nobody asks for more. */
GPURT_DEV uint32_t gpurt_grid_more(const gpurt_grid_room_t *room)
{
    if (room->gone || gpurt_grid_blocks() >= room->tiles)
        return UINT32_MAX;
    return gpurt_grid_tile(room, gpurt_grid_ticket(room));
}

/* The words that others may wait for because the caller's block has the tile. */
GPURT_DEV void gpurt_grid_give_up(gpurt_grid_room_t *room, uint32_t tile)
{
    if (tile == UINT32_MAX)
        return;
    for (uint32_t level = 0; level < GPURT_LOOK_LEVELS; level++) {
        uint32_t mark = room->round | GPURT_LOOK_GONE, last = 1u << 5 * level;

        if (tile % last == last - 1)
            gpurt_look_put(room->look, gpurt_look_word(level, tile), room->look_cells, 0,
                           mark);
    }
}

#if defined(GPURT_DEFER_DEPTH) && GPURT_DEFER_DEPTH > 0
/* Thread 0 leaves because its block was cancelled. */
GPURT_DEVN void gpurt_grid_cancelled(uint64_t arg)
{
    gpurt_grid_room_t *room = (gpurt_grid_room_t *)(uintptr_t)arg;

    gpurt_grid_give_up(room, room->tile);
    gpurt_grid_give_up(room, room->next);
}
/* A tile that cancels its block must not take away the one before, which was told. */
GPURT_DEV void gpurt_grid_written(void)
{
    gpurt_block_barrier();
}
GPURT_DEV gpurt_status_t gpurt_grid_guard(gpurt_grid_room_t *room)
{
    return GPURT_DEFER(gpurt_grid_cancelled, (uint64_t)(uintptr_t)room);
}
GPURT_DEV void gpurt_grid_unguard(void)
{
    gpurt_undefer(1u << gpurt_lane(), false);
}
#else
GPURT_DEV gpurt_status_t gpurt_grid_guard(gpurt_grid_room_t *room)
{
    (void)room;
    return GPURT_OK;
}
GPURT_DEV void gpurt_grid_unguard(void) {}
GPURT_DEV void gpurt_grid_written(void) {}
#endif

/* Begins an operation and takes its first tile. Returns: GPURT_OK, or why not, to all threads. */
GPURT_DEV gpurt_status_t gpurt_grid_begin(void *memory, uint64_t tiles,
                                          uint32_t value_bytes)
{
    gpurt_grid_room_t *room = gpurt_grid_room();
    gpurt_status_t st;

    if (gpurt_block_threads() % GPURT_WARP_SIZE || tiles >= GPURT_LOOK_TILES ||
        (uintptr_t)memory % sizeof(gpurt_grid_area_t))
        return GPURT_E_INVALID;
    if (gpurt_thread_rank() == 0) {
        room->area = (gpurt_grid_area_t *)memory;
        room->look = gpurt_look_first(room->area);
        room->tiles = (uint32_t)tiles;
        room->round = gpurt_grid_round(room->area);
        room->look_cells = gpurt_look_cells(value_bytes);
        room->tile = room->next = UINT32_MAX;
        room->gone = (uint32_t)gpurt_grid_guard(room);
        if (room->gone == GPURT_OK)
            room->tile = gpurt_grid_tile(room, gpurt_grid_ticket(room));
    }
    gpurt_block_barrier();
    st = (gpurt_status_t)(int32_t)room->gone;
    gpurt_block_barrier();
    return st;
}

/* The tile that was taken behind the last one becomes the block's. Others than thread 0 do not
 * look at room->tile any more. */
GPURT_DEV uint32_t gpurt_grid_next(gpurt_grid_room_t *room)
{
    uint32_t next = room->next;

    if (gpurt_thread_rank() == 0)
        room->tile = next;
    return next;
}

/* Ends an operation that this block has done its part of. */
GPURT_DEV void gpurt_grid_end(gpurt_grid_room_t *room)
{
    gpurt_block_barrier(); /* all have read what the next operation overwrites */
    if (gpurt_thread_rank() == 0) {
        gpurt_grid_unguard();
        if (gpurt_grid_arrive(room->area))
            gpurt_grid_renew(room->area);
    }
}

#define GPURT_DEF_PACK(T, t)                                                             \
    typedef struct GPURT_ALIGN(16) gpurt_pack_##t {                                      \
        T v[GPURT_PACK_BYTES / sizeof(T)];                                               \
    } gpurt_pack_##t##_t;                                                                \
    typedef struct gpurt_tile_##t {                                                      \
        gpurt_pack_##t##_t row[GPURT_TILE_ROWS];                                         \
        T before[GPURT_TILE_ROWS];                                                       \
        uint32_t heads; /* a bit an element */                                           \
        uint32_t shut;  /* a bit a row: a segment begins before it in the warp's part */ \
    } gpurt_tile_##t##_t;
GPURT_FOR_VALUES(GPURT_DEF_PACK)

/* ---- a tile ------------------------------------------------------------------------------- */

/* A warp's part is one stretch; a row of it is 16 bytes a lane, side by side. */
#define GPURT_DEF_TILE(op, T, t, none, pair)                                                  \
    GPURT_DEV_OF_SET void gpurt_tile_load_##op##_##t(gpurt_tile_##t##_t *tile,                \
                                                     const T *in, const uint8_t *heads,       \
                                                     uint64_t at, uint64_t n, bool whole)     \
    {                                                                                         \
        const uint32_t width = GPURT_PACK_BYTES / sizeof(T);                                  \
        const uint32_t step = GPURT_WARP_SIZE * width;                                        \
                                                                                              \
        if (whole) /* apart, so that all rows are under way at once */                        \
            for (uint32_t row = 0; row < GPURT_TILE_ROWS; row++)                              \
                tile->row[row] = *(const gpurt_pack_##t##_t *)(in + at + row * step);         \
        else                                                                                  \
            for (uint32_t i = 0; i < GPURT_TILE_ROWS * width; i++) {                          \
                uint64_t e = at + i / width * step + i % width;                               \
                                                                                              \
                tile->row[i / width].v[i % width] = e < n ? in[e] : (none);                   \
            }                                                                                 \
        tile->heads = 0;                                                                      \
        for (uint32_t i = 0; heads && i < GPURT_TILE_ROWS * width; i++) {                     \
            uint64_t e = at + i / width * step + i % width;                                   \
                                                                                              \
            if (e < n && heads[e])                                                            \
                tile->heads |= 1u << i;                                                       \
        }                                                                                     \
    }                                                                                         \
    /* Afterwards an element has the sum of its pack up to it, and a row what stands before \
     * the lane's pack in the warp's part. Returns: the part's sum, to all lanes. */ \
    GPURT_DEV_OF_SET T gpurt_tile_fold_##op##_##t(gpurt_tile_##t##_t *tile, bool segments,    \
                                                  bool *shut)                                 \
    {                                                                                         \
        const uint32_t width = GPURT_PACK_BYTES / sizeof(T);                                  \
        uint32_t below = gpurt_lanes_below();                                                 \
        T carry = (none);                                                                     \
                                                                                              \
        *shut = false;                                                                        \
        tile->shut = 0;                                                                       \
        for (uint32_t row = 0; row < GPURT_TILE_ROWS; row++) {                                \
            uint32_t heads = tile->heads >> (row * width) & ((1u << width) - 1u);             \
            uint32_t warp_heads =                                                             \
                segments ? gpurt_ballot(GPURT_FULL_MASK, heads != 0) : 0;                     \
            T sum = tile->row[row].v[0], left, last;                                          \
                                                                                              \
            for (uint32_t i = 1; i < width; i++) {                                            \
                T v = tile->row[row].v[i];                                                    \
                                                                                              \
                sum = heads >> i & 1u ? v : pair(sum, v);                                     \
                tile->row[row].v[i] = sum;                                                    \
            }                                                                                 \
            sum = gpurt_scan_from_##op##_##t(GPURT_FULL_MASK, sum, warp_heads);               \
            left = gpurt_shfl_up_##t(GPURT_FULL_MASK, sum, 1, GPURT_WARP_SIZE);               \
            last = gpurt_shfl_##t(GPURT_FULL_MASK, sum, GPURT_WARP_SIZE - 1);                 \
            if (warp_heads & below)                                                           \
                tile->before[row] = left;                                                     \
            else                                                                              \
                tile->before[row] = gpurt_lane() ? pair(carry, left) : carry;                 \
            if (*shut || (warp_heads & below))                                                \
                tile->shut |= 1u << row;                                                      \
            carry = warp_heads ? last : pair(carry, last);                                    \
            *shut = *shut || warp_heads;                                                      \
        }                                                                                     \
        return carry;                                                                         \
    }                                                                                         \
    GPURT_DEV_OF_SET void gpurt_tile_store_##op##_##t(gpurt_tile_##t##_t *tile, T *out,       \
                                                      uint64_t at, uint64_t n, bool whole,    \
                                                      T before, bool inclusive)               \
    {                                                                                         \
        const uint32_t width = GPURT_PACK_BYTES / sizeof(T);                                  \
        const uint32_t step = GPURT_WARP_SIZE * width;                                        \
                                                                                              \
        for (uint32_t row = 0; row < GPURT_TILE_ROWS; row++) {                                \
            uint32_t heads = tile->heads >> (row * width) & ((1u << width) - 1u);             \
            T own = tile->before[row];                                                        \
            T left = tile->shut >> row & 1u ? own : pair(before, own);                        \
                                                                                              \
            own = left;                                                                       \
            for (uint32_t i = 0; i < width; i++) {                                            \
                T v = tile->row[row].v[i];                                                    \
                                                                                              \
                v = heads & ((2u << i) - 1u) ? v : pair(left, v);                             \
                tile->row[row].v[i] = inclusive ? v : own;                                    \
                own = v;                                                                      \
            }                                                                                 \
        }                                                                                     \
        if (whole)                                                                            \
            for (uint32_t row = 0; row < GPURT_TILE_ROWS; row++)                              \
                *(gpurt_pack_##t##_t *)(out + at + row * step) = tile->row[row];              \
        else                                                                                  \
            for (uint32_t i = 0; i < GPURT_TILE_ROWS * width; i++) {                          \
                uint64_t e = at + i / width * step + i % width;                               \
                                                                                              \
                if (e <                                                                       \
                    n) /* through a number: nvcc takes the first row above apart, else */     \
                    *(T *)((uintptr_t)out + e * sizeof(T)) =                                  \
                        tile->row[i / width].v[i % width];                                    \
            }                                                                                 \
    }

/* ---- what stands before a tile ------------------------------------------------------------ */

/* word: of the calling lane; it looks at any where nothing stands before the tile. */
GPURT_DEV gpurt_look_t gpurt_grid_look(const gpurt_grid_room_t *room, uint32_t word,
                                       uint32_t cells)
{
    return gpurt_look_get(room->look, word == GPURT_LOOK_NOWHERE ? 0 : word, cells);
}

/* Warp 0: looks until each lane has found what it waits for. Lanes before one that found all in
 * one word need nothing. Returns: what counts; else zeros. */
GPURT_DEV gpurt_look_t gpurt_grid_await(const gpurt_grid_room_t *room, uint32_t word,
                                        uint32_t cells, gpurt_look_t look)
{
    bool here = word != GPURT_LOOK_NOWHERE;
    uint32_t all = 0;

    for (uint32_t polls = 0;; polls++) {
        uint32_t mark = gpurt_look_mark(look);
        bool told = (mark & ~(GPURT_LOOK_ROUND - 1u)) == room->round;
        uint32_t missing = gpurt_ballot(GPURT_FULL_MASK, here && !told);

        all = gpurt_ballot(GPURT_FULL_MASK, here && told && (mark & GPURT_LOOK_ALL));
        if (missing <= all) /* none, or none behind the last such word */
            break;
        if (polls >= GPURT_GRID_POLLS)
            gpurt_relax();
        look = gpurt_grid_look(room, word, cells);
    }
    if (!here || all >> gpurt_lane() > 1)
        look.low = look.high = 0;
    return look;
}

/* Whether sums of the type are the same in any grouping. */
#define GPURT_DEF_EXACT(T, t)                \
    GPURT_HD bool gpurt_grid_exact_##t(void) \
    {                                        \
        return !((T)0.5 > (T)0);             \
    }
GPURT_FOR_VALUES(GPURT_DEF_EXACT)

#define GPURT_DEF_LOOK(op, T, t, none, pair)                                                    \
    GPURT_DEV_OF_SET void gpurt_grid_tell_##op##_##t(                                           \
        const gpurt_grid_room_t *room, uint32_t word, T v, bool closed, uint32_t mark)          \
    {                                                                                           \
        mark |= room->round | (closed ? (uint32_t)GPURT_LOOK_CLOSED : 0u);                      \
        if (gpurt_lane() == 0)                                                                  \
            gpurt_look_put(room->look, word, gpurt_look_cells(sizeof(T)),                       \
                           gpurt_value_bits_##t(v), mark);                                      \
    }                                                                                           \
    /* Warp 0: what the words that its lanes found come to; one: all found the same. */         \
    GPURT_DEV_OF_SET T gpurt_grid_sum_##op##_##t(                                               \
        gpurt_look_t found, bool one, bool segments, bool *closed, uint32_t *gone)              \
    {                                                                                           \
        uint32_t mark = gpurt_look_mark(found), heads = 0;                                      \
        T v = mark ? gpurt_value_of_##t(gpurt_look_bits(found)) : (none);                       \
                                                                                                \
        if (gpurt_any(GPURT_FULL_MASK, (mark & GPURT_LOOK_GONE) != 0))                          \
            *gone = GPURT_LOOK_GONE;                                                            \
        if (segments)                                                                           \
            heads = gpurt_ballot(GPURT_FULL_MASK, (mark & GPURT_LOOK_CLOSED) != 0);             \
        *closed = heads != 0;                                                                   \
        if (one)                                                                                \
            return v;                                                                           \
        v = gpurt_scan_from_##op##_##t(GPURT_FULL_MASK, v, heads);                              \
        return gpurt_shfl_##t(GPURT_FULL_MASK, v, GPURT_WARP_SIZE - 1);                         \
    }                                                                                           \
    /* Warp 0, with the tile's own sum. Tells it, then combines the tiles before it in its   \
     * group, the groups before that in their row, and all rows before that one. The last    \
     * tile of a group tells the group's sum, of a row all that is up to there. The first looks\
     * at all three are under way together. */  \
    GPURT_DEV_OF_SET T gpurt_grid_back_##op##_##t(gpurt_grid_room_t *room, uint32_t tile,       \
                                                  T own, bool segments, bool shut)              \
    {                                                                                           \
        const uint32_t cells = gpurt_look_cells(sizeof(T)), top = GPURT_LOOK_LEVELS - 1;        \
        gpurt_look_t look[GPURT_LOOK_LEVELS];                                                   \
        bool closed = false;                                                                    \
        uint32_t gone = 0;                                                                      \
        T sum = (none);                                                                         \
                                                                                                \
        gpurt_grid_tell_##op##_##t(room, gpurt_look_word(0, tile), own, shut, 0);               \
        for (uint32_t level = 0; level <= top; level++)                                         \
            look[level] = gpurt_grid_look(room, gpurt_look_place(level, tile), cells);          \
        for (uint32_t level = 0; level <= top; level++) {                                       \
            uint32_t told = gpurt_look_told(level, tile);                                       \
            gpurt_look_t found =                                                                \
                gpurt_grid_await(room, gpurt_look_place(level, tile), cells, look[level]);      \
            bool begins;                                                                        \
            T v =                                                                               \
                gpurt_grid_sum_##op##_##t(found, level == top, segments, &begins, &gone);       \
                                                                                                \
            sum = closed ? sum : pair(v, sum);                                                  \
            closed = closed || begins;                                                          \
            if (told != GPURT_LOOK_NOWHERE)                                                     \
                gpurt_grid_tell_##op##_##t(room, told, shut ? own : pair(sum, own),             \
                                           shut || closed, gone);                               \
        }                                                                                       \
        if (gpurt_lane() == 0)                                                                  \
            room->gone = gone;                                                                  \
        return sum;                                                                             \
    }                                                                                           \
    /* Likewise, where any grouping gives the same: by the words of tiles alone, 32 at a time,\
     * up to the nearest that tells all up to it. */ \
    GPURT_DEV_OF_SET T gpurt_grid_flat_##op##_##t(gpurt_grid_room_t *room, uint32_t tile,       \
                                                  T own, bool segments, bool shut)              \
    {                                                                                           \
        const uint32_t cells = gpurt_look_cells(sizeof(T));                                     \
        uint32_t gone = 0, all = 0, mine = gpurt_look_word(0, tile);                            \
        bool closed = false;                                                                    \
        T sum = (none);                                                                         \
                                                                                                \
        gpurt_grid_tell_##op##_##t(room, mine, own, shut, 0);                                   \
        for (uint32_t end = tile; end && !all; end -= end < 32 ? end : 32) {                    \
            uint32_t word = gpurt_look_before(end);                                             \
            gpurt_look_t found =                                                                \
                gpurt_grid_await(room, word, cells, gpurt_grid_look(room, word, cells));        \
            bool begins;                                                                        \
            T v = gpurt_grid_sum_##op##_##t(found, false, segments, &begins, &gone);            \
                                                                                                \
            sum = closed ? sum : pair(v, sum);                                                  \
            closed = closed || begins;                                                          \
            all = gpurt_any(GPURT_FULL_MASK,                                                    \
                            (gpurt_look_mark(found) & GPURT_LOOK_ALL) != 0);                    \
        }                                                                                       \
        gpurt_grid_tell_##op##_##t(room, mine, shut ? own : pair(sum, own),                     \
                                   shut || closed, GPURT_LOOK_ALL | gone);                      \
        if (gpurt_lane() == 0)                                                                  \
            room->gone = gone;                                                                  \
        return sum;                                                                             \
    }

/* ---- the operations ----------------------------------------------------------------------- */

#define GPURT_DEF_GRID_SCAN(op, T, t, none, pair)                                          \
    /* What stands before the caller's part, to each warp; and takes the next tile late. \
     * Warp 0 combines all parts, the others those before their own. */ \
    GPURT_DEV_OF_SET bool gpurt_grid_before_##op##_##t(                                    \
        gpurt_grid_room_t *room, uint32_t tile, T mine, bool segments, bool shut,          \
        T *before)                                                                         \
    {                                                                                      \
        uint32_t warp = gpurt_warp(), earlier = warp ? warp : gpurt_warps();               \
        T *cells = (T *)(void *)room->cells, sum = (none);                                 \
        bool sum_shut = false;                                                             \
                                                                                           \
        if (gpurt_lane() == 0) {                                                           \
            cells[warp] = mine;                                                            \
            room->shut[warp] = shut;                                                       \
        }                                                                                  \
        gpurt_block_barrier();                                                             \
        for (uint32_t w = 0; w < earlier; w++) {                                           \
            bool begins = segments && room->shut[w];                                       \
                                                                                           \
            sum = begins ? cells[w] : pair(sum, cells[w]);                                 \
            sum_shut = sum_shut || begins;                                                 \
        }                                                                                  \
        if (warp == 0) {                                                                   \
            sum = gpurt_grid_exact_##t()                                                   \
                      ? gpurt_grid_flat_##op##_##t(room, tile, sum, segments, sum_shut)    \
                      : gpurt_grid_back_##op##_##t(room, tile, sum, segments, sum_shut);   \
            if (gpurt_lane() == 0) {                                                       \
                cells[GPURT_WARP_SIZE] = sum;                                              \
                room->next = gpurt_grid_more(room);                                        \
            }                                                                              \
            sum = (none);                                                                  \
            sum_shut = false;                                                              \
        }                                                                                  \
        gpurt_block_barrier();                                                             \
        *before = sum_shut ? sum : pair(cells[GPURT_WARP_SIZE], sum);                      \
        return !room->gone;                                                                \
    }                                                                                      \
    GPURT_DEV_OF_SET gpurt_status_t gpurt_grid_run_##op##_##t(                             \
        void *memory, const T *in, const uint8_t *heads, T *out, uint64_t n,               \
        bool inclusive)                                                                    \
    {                                                                                      \
        uint64_t tiles = gpurt_grid_tiles(n, gpurt_block_threads(), sizeof(T));            \
        const uint32_t width = GPURT_TILE_THREAD_BYTES / sizeof(T);                        \
        gpurt_status_t st = gpurt_grid_begin(memory, tiles, sizeof(T));                    \
        bool even = ((uintptr_t)in | (uintptr_t)out) % GPURT_PACK_BYTES == 0;              \
        gpurt_grid_room_t *room = gpurt_grid_room();                                       \
        uint32_t tile = st == GPURT_OK ? room->tile : UINT32_MAX;                          \
        gpurt_tile_##t##_t own;                                                            \
                                                                                           \
        while (tile != UINT32_MAX) {                                                       \
            uint64_t first = (uint64_t)tile * gpurt_block_threads() * width;               \
            bool whole = even && first + gpurt_block_threads() * width <= n, shut;         \
            uint64_t at = first + gpurt_warp() * GPURT_WARP_SIZE * width +                 \
                          gpurt_lane() * (GPURT_PACK_BYTES / sizeof(T));                   \
            T mine, before;                                                                \
                                                                                           \
            gpurt_tile_load_##op##_##t(&own, in, heads, at, n, whole);                     \
            mine = gpurt_tile_fold_##op##_##t(&own, heads != NULL, &shut);                 \
            if (!gpurt_grid_before_##op##_##t(room, tile, mine, heads != NULL, shut,       \
                                              &before)) {                                  \
                st = GPURT_E_CANCELLED;                                                    \
                break;                                                                     \
            }                                                                              \
            gpurt_tile_store_##op##_##t(&own, out, at, n, whole, before, inclusive);       \
            tile = gpurt_grid_next(room);                                                  \
            gpurt_grid_written();                                                          \
        }                                                                                  \
        if (st == GPURT_OK || st == GPURT_E_CANCELLED)                                     \
            gpurt_grid_end(room);                                                          \
        return st;                                                                         \
    }                                                                                      \
    GPURT_DEV_OF_SET gpurt_status_t gpurt_grid_scan_##op##_##t(void *area, const T *in,    \
                                                               T *out, uint64_t n)         \
    {                                                                                      \
        return gpurt_grid_run_##op##_##t(area, in, NULL, out, n, true);                    \
    }                                                                                      \
    GPURT_DEV_OF_SET gpurt_status_t gpurt_grid_exscan_##op##_##t(void *area, const T *in,  \
                                                                 T *out, uint64_t n)       \
    {                                                                                      \
        return gpurt_grid_run_##op##_##t(area, in, NULL, out, n, false);                   \
    }                                                                                      \
    GPURT_DEV_OF_SET gpurt_status_t gpurt_grid_segscan_##op##_##t(                         \
        void *area, const T *in, const uint8_t *heads, T *out, uint64_t n)                 \
    {                                                                                      \
        return gpurt_grid_run_##op##_##t(area, in, heads, out, n, true);                   \
    }

/* A thread's own elements lie a grid apart; blocks leave their sums, and the last one to come
 * combines them. */
#define GPURT_DEF_GRID_REDUCE(op, T, t, none, pair)                               \
    GPURT_DEV_OF_SET T gpurt_grid_own_##op##_##t(const T *in, uint64_t n)         \
    {                                                                             \
        const uint32_t width = GPURT_PACK_BYTES / sizeof(T);                      \
        uint64_t lanes = (uint64_t)gpurt_grid_blocks() * gpurt_block_threads();   \
        uint64_t me = gpurt_global_id64(), done = 0;                              \
        gpurt_pack_##t##_t sums;                                                  \
        T sum = (none);                                                           \
                                                                                  \
        for (uint32_t i = 0; i < width; i++)                                      \
            sums.v[i] = (none);                                                   \
        if ((uintptr_t)in % GPURT_PACK_BYTES == 0) {                              \
            done = n / width * width;                                             \
            GPURT_LOOP(uint64_t, at, me *width, done, lanes *width)               \
            {                                                                     \
                gpurt_pack_##t##_t pack = *(const gpurt_pack_##t##_t *)(in + at); \
                                                                                  \
                for (uint32_t i = 0; i < width; i++)                              \
                    sums.v[i] = pair(sums.v[i], pack.v[i]);                       \
            }                                                                     \
        }                                                                         \
        GPURT_LOOP(uint64_t, at, done + me, n, lanes)                             \
        sum = pair(sum, in[at]);                                                  \
        for (uint32_t i = 0; i < width; i++)                                      \
            sum = pair(sum, sums.v[i]);                                           \
        return sum;                                                               \
    }                                                                             \
    GPURT_DEV_OF_SET gpurt_status_t gpurt_grid_reduce_##op##_##t(                 \
        void *memory, const T *in, uint64_t n, T *out)                            \
    {                                                                             \
        gpurt_grid_area_t *area = (gpurt_grid_area_t *)memory;                    \
        T *sums = (T *)(void *)(area + 1), all;                                   \
        uint32_t last = 0;                                                        \
                                                                                  \
        if (gpurt_block_threads() % GPURT_WARP_SIZE ||                            \
            (uintptr_t)memory % sizeof(gpurt_grid_area_t))                        \
            return GPURT_E_INVALID;                                               \
        all = gpurt_grid_own_##op##_##t(in, n);                                   \
        all = gpurt_block_reduce_##op##_##t(all);                                 \
        if (gpurt_thread_rank() == 0) {                                           \
            sums[gpurt_block_rank()] = all;                                       \
            last = gpurt_grid_arrive(area);                                       \
        }                                                                         \
        if (!gpurt_block_broadcast_u32(last, 0))                                  \
            return GPURT_OK;                                                      \
        all = (none);                                                             \
        for (uint32_t b = gpurt_thread_rank(); b < gpurt_grid_blocks();           \
             b += gpurt_block_threads())                                          \
            all = pair(all, sums[b]);                                             \
        all = gpurt_block_reduce_##op##_##t(all);                                 \
        if (gpurt_thread_rank() == 0) {                                           \
            *out = all;                                                           \
            gpurt_grid_renew(area);                                               \
        }                                                                         \
        return GPURT_OK;                                                          \
    }

#define GPURT_GRID_COLLECTIVE(op, T, t, none, pair) \
    GPURT_DEF_TILE(op, T, t, none, pair)            \
    GPURT_DEF_LOOK(op, T, t, none, pair)            \
    GPURT_DEF_GRID_SCAN(op, T, t, none, pair)       \
    GPURT_DEF_GRID_REDUCE(op, T, t, none, pair)
GPURT_FOR_COLLECTIVES(GPURT_GRID_COLLECTIVE)

#endif
