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
 * multiple of 32, or the area not aligned to 128 bytes, or n is more than 2^32 tiles;
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
 * Floats: the same bits for the same shape of block (of a reduction: and grid), on both back
 * ends. The sums before a tile are always combined in one grouping, by 32 tiles and by 32 groups;
 * what is ready first does not matter.
 * Shared memory: 424 bytes beside those of collective.h. */
#ifndef GPURT_GRIDSCAN_H
#define GPURT_GRIDSCAN_H

#include <gpurt/atomic.h>
#include <gpurt/collective.h>
#include <gpurt/defer.h>
#include <gpurt/impl/gridlook.h>

enum {
    GPURT_TILE_ROWS = 4,   /* of 16 bytes a thread */
    GPURT_PACK_BYTES = 16, /* the widest load */
    GPURT_TILE_THREAD_BYTES = GPURT_TILE_ROWS * GPURT_PACK_BYTES
};

/* What a block keeps of a running operation. Owner: the block. */
typedef struct gpurt_grid_room {
    uint64_t cells[GPURT_WARP_SIZE + 1]; /* a warp's sum; what stands before the tile */
    uint32_t shut[GPURT_WARP_SIZE];      /* a segment begins in the warp's part */
    gpurt_grid_area_t *area;
    uint64_t tiles;
    uint32_t tile, round, gone; /* tile: UINT32_MAX: none */
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
    uint64_t words = gpurt_look_word(tiles, GPURT_LOOK_LEVELS, 0);

    return gpurt_look_offset(blocks) + words * sizeof(gpurt_u128_t);
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

/* The words that others may wait for because the caller has the tile. */
GPURT_DEV void gpurt_grid_give_up(gpurt_grid_room_t *room)
{
    uint32_t mark = room->round | GPURT_LOOK_GONE;
    uint64_t at = room->tile;

    for (uint32_t level = 0; level < GPURT_LOOK_LEVELS; level++) {
        uint64_t word = gpurt_look_word(room->tiles, level, at);

        gpurt_look_put(room->area, word, 0, mark);
        if (at % GPURT_LOOK_WIDTH != GPURT_LOOK_WIDTH - 1)
            break;
        at /= GPURT_LOOK_WIDTH;
    }
}

#if defined(GPURT_DEFER_DEPTH) && GPURT_DEFER_DEPTH > 0
/* Thread 0 leaves because its block was cancelled. */
GPURT_DEVN void gpurt_grid_cancelled(uint64_t arg)
{
    gpurt_grid_room_t *room = (gpurt_grid_room_t *)(uintptr_t)arg;

    if (room->tile != UINT32_MAX)
        gpurt_grid_give_up(room);
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
#endif

/* Begins an operation. Returns: GPURT_OK, or why not, to all threads. */
GPURT_DEV gpurt_status_t gpurt_grid_begin(void *memory, uint64_t tiles)
{
    gpurt_grid_room_t *room = gpurt_grid_room();
    gpurt_status_t st;

    if (gpurt_block_threads() % GPURT_WARP_SIZE || tiles >= UINT32_MAX ||
        (uintptr_t)memory % sizeof(gpurt_grid_area_t))
        return GPURT_E_INVALID;
    if (gpurt_thread_rank() == 0) {
        room->area = (gpurt_grid_area_t *)memory;
        room->tiles = tiles;
        room->round = gpurt_grid_round(room->area);
        room->tile = UINT32_MAX;
        room->gone = (uint32_t)gpurt_grid_guard(room);
    }
    gpurt_block_barrier();
    st = (gpurt_status_t)(int32_t)room->gone;
    gpurt_block_barrier();
    return st;
}

/* The next tile for the whole block; false: there is none, or the operation has failed. */
GPURT_DEV bool gpurt_grid_next(gpurt_grid_room_t *room)
{
    if (gpurt_thread_rank() == 0) {
        /* relaxed: a ticket */
        uint32_t tile = gpurt_add_relaxed_dev_u32(&room->area->xticket, 1);

        room->tile = tile < room->tiles ? tile : UINT32_MAX;
    }
    gpurt_block_barrier();
    return room->tile != UINT32_MAX;
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
                                                                                              \
        tile->heads = 0;                                                                      \
        for (uint32_t row = 0; row < GPURT_TILE_ROWS; row++) {                                \
            if (whole)                                                                        \
                tile->row[row] = *(const gpurt_pack_##t##_t *)(in + at);                      \
            for (uint32_t i = 0; i < width; i++) {                                            \
                if (!whole)                                                                   \
                    tile->row[row].v[i] = at + i < n ? in[at + i] : (none);                   \
                if (heads && at + i < n && heads[at + i])                                     \
                    tile->heads |= 1u << (row * width + i);                                   \
            }                                                                                 \
            at += GPURT_WARP_SIZE * width;                                                    \
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
                                                                                              \
        for (uint32_t row = 0; row < GPURT_TILE_ROWS; row++) {                                \
            uint32_t heads = tile->heads >> (row * width) & ((1u << width) - 1u);             \
            T own = tile->before[row];                                                        \
            T left = tile->shut >> row & 1u ? own : pair(before, own);                        \
            gpurt_pack_##t##_t pack;                                                          \
                                                                                              \
            own = left;                                                                       \
            for (uint32_t i = 0; i < width; i++) {                                            \
                T v = tile->row[row].v[i];                                                    \
                                                                                              \
                v = heads & ((2u << i) - 1u) ? v : pair(left, v);                             \
                pack.v[i] = inclusive ? v : own;                                              \
                own = v;                                                                      \
            }                                                                                 \
            if (whole)                                                                        \
                *(gpurt_pack_##t##_t *)(out + at) = pack;                                     \
            for (uint32_t i = 0; i < width && !whole; i++)                                    \
                if (at + i < n)                                                               \
                    out[at + i] = pack.v[i];                                                  \
            at += GPURT_WARP_SIZE * width;                                                    \
        }                                                                                     \
    }

/* ---- what stands before a tile ------------------------------------------------------------ */

#define GPURT_DEF_LOOK(op, T, t, none, pair)                                                  \
    GPURT_DEV_OF_SET uint32_t gpurt_look_wait_##op##_##t(                                     \
        gpurt_grid_area_t *area, uint64_t at, uint32_t round, T *v)                           \
    {                                                                                         \
        uint32_t mark = gpurt_look_get_##t(area, at, v);                                      \
                                                                                              \
        while ((mark & ~(GPURT_LOOK_ROUND - 1u)) != round) {                                  \
            gpurt_relax();                                                                    \
            mark = gpurt_look_get_##t(area, at, v);                                           \
        }                                                                                     \
        return mark;                                                                          \
    }                                                                                         \
    /* Warp 0, with the tile's own sum. Tells it, then combines the tiles before it in its  \
     * group, the groups before that in their row, and all rows before that one. The last   \
     * tile of a group tells the group's sum, of a row all that is up to there. */ \
    GPURT_DEV_OF_SET bool gpurt_look_back_##op##_##t(gpurt_grid_room_t *room, T own,          \
                                                     bool shut, T *before)                    \
    {                                                                                         \
        uint32_t lane = gpurt_lane(), round = room->round, gone = 0;                          \
        uint64_t tiles = room->tiles, at = room->tile;                                        \
        bool closed = false, last = true;                                                     \
        T sum = (none), v;                                                                    \
                                                                                              \
        if (lane == 0)                                                                        \
            gpurt_look_put_##t(room->area, at, own,                                           \
                               round | (shut ? (uint32_t)GPURT_LOOK_CLOSED : 0u));            \
        for (uint32_t level = 0; level + 1 < GPURT_LOOK_LEVELS; level++) {                    \
            uint32_t place = (uint32_t)(at % GPURT_LOOK_WIDTH), mark = 0, heads;              \
            uint64_t first = gpurt_look_word(tiles, level, at - place);                       \
                                                                                              \
            v = (none);                                                                       \
            if (lane < place)                                                                 \
                mark = gpurt_look_wait_##op##_##t(room->area, first + lane, round, &v);       \
            heads = gpurt_ballot(GPURT_FULL_MASK, (mark & GPURT_LOOK_CLOSED) != 0);           \
            gone |= gpurt_ballot(GPURT_FULL_MASK, (mark & GPURT_LOOK_GONE) != 0);             \
            v = gpurt_scan_from_##op##_##t(GPURT_FULL_MASK, v, heads);                        \
            v = gpurt_shfl_##t(GPURT_FULL_MASK, v, GPURT_WARP_SIZE - 1);                      \
            sum = closed ? sum : pair(v, sum);                                                \
            closed = closed || heads;                                                         \
            last = last && place == GPURT_LOOK_WIDTH - 1;                                     \
            at /= GPURT_LOOK_WIDTH;                                                           \
            if (last && lane == 0 && level == 0)                                              \
                gpurt_look_put_##t(                                                           \
                    room->area, gpurt_look_word(tiles, 1, at),                                \
                    shut ? own : pair(sum, own),                                              \
                    round | (shut || closed ? (uint32_t)GPURT_LOOK_CLOSED : 0u) |             \
                        (gone ? (uint32_t)GPURT_LOOK_GONE : 0u));                             \
        }                                                                                     \
        if (at) {                                                                             \
            uint64_t word = gpurt_look_word(tiles, GPURT_LOOK_LEVELS - 1, at - 1);            \
                                                                                              \
            gone |=                                                                           \
                gpurt_look_wait_##op##_##t(room->area, word, round, &v) & GPURT_LOOK_GONE;    \
            sum = closed ? sum : pair(v, sum);                                                \
        }                                                                                     \
        if (last && lane == 0)                                                                \
            gpurt_look_put_##t(room->area,                                                    \
                               gpurt_look_word(tiles, GPURT_LOOK_LEVELS - 1, at),             \
                               shut ? own : pair(sum, own),                                   \
                               round | (gone ? (uint32_t)GPURT_LOOK_GONE : 0u));              \
        *before = sum;                                                                        \
        return gone == 0;                                                                     \
    }

/* ---- the operations ----------------------------------------------------------------------- */

#define GPURT_DEF_GRID_SCAN(op, T, t, none, pair)                                         \
    /* What stands before the caller's part, to each warp. */                             \
    GPURT_DEV_OF_SET bool gpurt_grid_before_##op##_##t(gpurt_grid_room_t *room, T mine,   \
                                                       bool shut, T *before)              \
    {                                                                                     \
        uint32_t warp = gpurt_warp(), warps = gpurt_warps();                              \
        T *cells = (T *)(void *)room->cells, part = (none), all = (none);                 \
        bool part_shut = false, all_shut = false, whole = true;                           \
                                                                                          \
        if (gpurt_lane() == 0) {                                                          \
            cells[warp] = mine;                                                           \
            room->shut[warp] = shut;                                                      \
        }                                                                                 \
        gpurt_block_barrier();                                                            \
        for (uint32_t w = 0; w < warps; w++) {                                            \
            if (w == warp) {                                                              \
                part = all;                                                               \
                part_shut = all_shut;                                                     \
            }                                                                             \
            all = room->shut[w] ? cells[w] : pair(all, cells[w]);                         \
            all_shut = all_shut || room->shut[w];                                         \
        }                                                                                 \
        if (warp == 0) {                                                                  \
            whole = gpurt_look_back_##op##_##t(room, all, all_shut, &all);                \
            if (gpurt_lane() == 0) {                                                      \
                cells[GPURT_WARP_SIZE] = all;                                             \
                room->gone = !whole;                                                      \
            }                                                                             \
        }                                                                                 \
        gpurt_block_barrier();                                                            \
        *before = part_shut ? part : pair(cells[GPURT_WARP_SIZE], part);                  \
        return !room->gone;                                                               \
    }                                                                                     \
    GPURT_DEV_OF_SET gpurt_status_t gpurt_grid_run_##op##_##t(                            \
        void *memory, const T *in, const uint8_t *heads, T *out, uint64_t n,              \
        bool inclusive)                                                                   \
    {                                                                                     \
        uint64_t tiles = gpurt_grid_tiles(n, gpurt_block_threads(), sizeof(T));           \
        const uint32_t width = GPURT_TILE_THREAD_BYTES / sizeof(T);                       \
        gpurt_status_t st = gpurt_grid_begin(memory, tiles);                              \
        bool even = ((uintptr_t)in | (uintptr_t)out) % GPURT_PACK_BYTES == 0;             \
        gpurt_grid_room_t *room = gpurt_grid_room();                                      \
        gpurt_tile_##t##_t tile;                                                          \
                                                                                          \
        while (st == GPURT_OK && gpurt_grid_next(room)) {                                 \
            uint64_t first = (uint64_t)room->tile * gpurt_block_threads() * width;        \
            bool whole = even && first + gpurt_block_threads() * width <= n, shut;        \
            uint64_t at = first + gpurt_warp() * GPURT_WARP_SIZE * width +                \
                          gpurt_lane() * (GPURT_PACK_BYTES / sizeof(T));                  \
            T mine, before;                                                               \
                                                                                          \
            gpurt_tile_load_##op##_##t(&tile, in, heads, at, n, whole);                   \
            mine = gpurt_tile_fold_##op##_##t(&tile, heads != NULL, &shut);               \
            if (gpurt_grid_before_##op##_##t(room, mine, shut, &before))                  \
                gpurt_tile_store_##op##_##t(&tile, out, at, n, whole, before, inclusive); \
            else                                                                          \
                st = GPURT_E_CANCELLED;                                                   \
        }                                                                                 \
        if (st == GPURT_OK || st == GPURT_E_CANCELLED)                                    \
            gpurt_grid_end(room);                                                         \
        return st;                                                                        \
    }                                                                                     \
    GPURT_DEV_OF_SET gpurt_status_t gpurt_grid_scan_##op##_##t(void *area, const T *in,   \
                                                               T *out, uint64_t n)        \
    {                                                                                     \
        return gpurt_grid_run_##op##_##t(area, in, NULL, out, n, true);                   \
    }                                                                                     \
    GPURT_DEV_OF_SET gpurt_status_t gpurt_grid_exscan_##op##_##t(void *area, const T *in, \
                                                                 T *out, uint64_t n)      \
    {                                                                                     \
        return gpurt_grid_run_##op##_##t(area, in, NULL, out, n, false);                  \
    }                                                                                     \
    GPURT_DEV_OF_SET gpurt_status_t gpurt_grid_segscan_##op##_##t(                        \
        void *area, const T *in, const uint8_t *heads, T *out, uint64_t n)                \
    {                                                                                     \
        return gpurt_grid_run_##op##_##t(area, in, heads, out, n, true);                  \
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
