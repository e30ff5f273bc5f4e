/* SPDX-License-Identifier: Apache-2.0 */
/* collective.h - what the lanes of a warp, the threads of a block and the blocks of a cluster
 * compute together: scans, reductions, broadcasts, exchanges.
 *
 * Context: device code. T: u32 i32 u64 i64 f32 f64; op: add min max, and each operator that
 * GPURT_COLLECTIVE made. Threads and lanes count in the order of their ranks, and every
 * operation keeps that order: an operator needs to be associative, not commutative.
 *
 * A warp (every lane of `mask`, and no other; a mask may have gaps):
 *   T gpurt_scan_op_T(mask, v)                 v of the lanes of the mask up to this one
 *   T gpurt_exscan_op_T(mask, v)               ... before this one; the identity for the first
 *   T gpurt_segscan_op_T(mask, v, bool head)   as scan; begins anew where `head` holds
 *   (gpurt_reduce_op_T is in warp.h)
 *
 * A block (every thread of it; none may have ended; the last warp may be partly filled):
 *   T gpurt_block_reduce_op_T(v)               every thread receives the result
 *   T gpurt_block_scan_op_T(v)
 *   T gpurt_block_exscan_op_T(v, T *total)     total: NULL, or receives the reduction
 *   T gpurt_block_segscan_op_T(v, bool head)
 *   T gpurt_block_broadcast_T(v, rank)         v of that thread
 *   T gpurt_block_scatter_T(cells, v, to)      gives v to thread `to`: each rank exactly once
 *   T gpurt_block_gather_T(cells, v, from)     v of thread `from`
 *   void gpurt_block_striped_T(cells, items, count)   all to all: items[i] was element
 *                                              rank * count + i, becomes i * threads + rank
 *   void gpurt_block_blocked_T(cells, items, count)   the way back
 *       cells: shared memory of the caller's, an element a thread, of the last two `count`
 * A cluster (every thread of all its blocks):
 *   T gpurt_cluster_reduce_op_T(v)
 *   T gpurt_cluster_broadcast_T(v, rank, block)   v of thread `rank` of that block of it
 *
 * GPURT_COLLECTIVE(name, T, t, none, pair), at file scope, makes all of these of an operator of
 * the program: T pair(T left, T right), with pair(none, x) and pair(x, none) being x. A struct of
 * up to 8 bytes goes through u64.
 *
 * Order: each operation on a block or cluster is a block or cluster barrier, in both directions.
 * Floats: the order of combination depends on mask and shape of the block alone, so both back
 * ends give the same bits (lanes pairwise at distance 1, 2, 4, 8, 16 of their places in the
 * mask; then warps from the first on).
 * Shared memory: 272 bytes for all operations of a kernel on blocks and clusters, 128 more
 * with block_segscan. Cost: two block barriers; a cluster's, two cluster barriers more. */
#ifndef GPURT_COLLECTIVE_H
#define GPURT_COLLECTIVE_H

#include <gpurt/block.h>
#include <gpurt/ids.h>
#include <gpurt/impl/combine.h>
#include <gpurt/warp.h>

/* A cell a warp, one of the whole block's, one of the cluster's. */
enum {
    GPURT_CELL_BLOCK = GPURT_WARP_SIZE,
    GPURT_CELL_CLUSTER,
    GPURT_CELLS
};

GPURT_DEV void *gpurt_block_cells(void)
{
    GPURT_SHARED(uint64_t, cells, GPURT_CELLS);

    return cells;
}
GPURT_DEV uint32_t *gpurt_block_flags(void)
{
    GPURT_SHARED(uint32_t, flags, GPURT_WARP_SIZE);

    return flags;
}

/* The lanes of the caller's warp that exist. */
GPURT_DEV uint32_t gpurt_warp_lanes(void)
{
    uint32_t left = gpurt_block_threads() - gpurt_warp() * GPURT_WARP_SIZE;

    return left < GPURT_WARP_SIZE ? (1u << left) - 1u : GPURT_FULL_MASK;
}

GPURT_DEV uint32_t gpurt_last_lane(uint32_t mask)
{
    return gpurt_log2(mask);
}

/* ---- a warp ----------------------------------------------------------------------------- */

/* heads: lanes that take nothing from those before them. Where the lanes of the mask lie side by
 * side from lane 0 on, a lane's partner is found by its distance; else each lane knows the one
 * before it, and learns from that where to go on. Both combine the same pairs. */
#define GPURT_DEF_SCAN_WARP(op, T, t, none, pair)                                        \
    GPURT_DEV_OF_SET T gpurt_scan_from_##op##_##t(uint32_t mask, T v, uint32_t heads)    \
    {                                                                                    \
        uint32_t lane = gpurt_lane(), below = mask & gpurt_lanes_below();                \
        uint32_t own = heads & (gpurt_lanes_below() << 1 | 1u);                          \
                                                                                         \
        if ((mask & (mask + 1)) == 0) {                                                  \
            uint32_t reach = own ? lane - gpurt_log2(own) : lane;                        \
                                                                                         \
            for (uint32_t by = 1; by < GPURT_WARP_SIZE; by *= 2) {                       \
                T before = gpurt_shfl_up_##t(mask, v, by, GPURT_WARP_SIZE);              \
                v = by <= reach ? pair(before, v) : v;                                   \
            }                                                                            \
            return v;                                                                    \
        }                                                                                \
        uint32_t next = below && !(heads >> lane & 1u) ? gpurt_log2(below) : 32u + lane; \
        for (uint32_t by = 1; by < GPURT_WARP_SIZE; by *= 2) {                           \
            T before = gpurt_shfl_##t(mask, v, next & 31u);                              \
            uint32_t farther = gpurt_shfl_u32(mask, next, next & 31u);                   \
            v = next < 32u ? pair(before, v) : v;                                        \
            next = next < 32u ? farther : next;                                          \
        }                                                                                \
        return v;                                                                        \
    }                                                                                    \
    GPURT_DEV_OF_SET T gpurt_scan_##op##_##t(uint32_t mask, T v)                         \
    {                                                                                    \
        return gpurt_scan_from_##op##_##t(mask, v, 0);                                   \
    }                                                                                    \
    GPURT_DEV_OF_SET T gpurt_exscan_##op##_##t(uint32_t mask, T v)                       \
    {                                                                                    \
        uint32_t below = mask & gpurt_lanes_below();                                     \
        T all = gpurt_scan_from_##op##_##t(mask, v, 0);                                  \
        T before = gpurt_shfl_##t(mask, all, below ? gpurt_log2(below) : gpurt_lane());  \
                                                                                         \
        return below ? before : (none);                                                  \
    }                                                                                    \
    GPURT_DEV_OF_SET T gpurt_segscan_##op##_##t(uint32_t mask, T v, bool head)           \
    {                                                                                    \
        uint32_t heads = gpurt_ballot(mask, head);                                       \
                                                                                         \
        return gpurt_scan_from_##op##_##t(mask, v, heads);                               \
    }
/* For an operator that the hardware and the dialect do not have. */
#define GPURT_DEF_REDUCE_WARP(op, T, t, none, pair)                \
    GPURT_DEV_OF_SET T gpurt_reduce_##op##_##t(uint32_t mask, T v) \
    {                                                              \
        T all = gpurt_scan_from_##op##_##t(mask, v, 0);            \
                                                                   \
        return gpurt_shfl_##t(mask, all, gpurt_last_lane(mask));   \
    }

/* ---- a block ---------------------------------------------------------------------------- */

/* Every thread folds the cells itself: they are read as broadcasts, and a second barrier for a
 * warp that does it for all would cost more. */
#define GPURT_DEF_SCAN_BLOCK(op, T, t, none, pair)                                        \
    /* Each warp's `mine` (of its last lane) combined; returns those of earlier warps. */ \
    GPURT_DEV_OF_SET T gpurt_block_fold_##op##_##t(uint32_t mask, T mine, T *all)         \
    {                                                                                     \
        T *cells = (T *)gpurt_block_cells(), before = (none), sum;                        \
        uint32_t warp = gpurt_warp(), warps = gpurt_warps();                              \
                                                                                          \
        if (gpurt_lane() == gpurt_last_lane(mask))                                        \
            cells[warp] = mine;                                                           \
        gpurt_block_barrier();                                                            \
        sum = cells[0];                                                                   \
        for (uint32_t w = 1; w < warps; w++) {                                            \
            before = w == warp ? sum : before;                                            \
            sum = pair(sum, cells[w]);                                                    \
        }                                                                                 \
        gpurt_block_barrier(); /* the cells are the next operation's */                   \
        *all = sum;                                                                       \
        return before;                                                                    \
    }                                                                                     \
    GPURT_DEV_OF_SET T gpurt_block_reduce_##op##_##t(T v)                                 \
    {                                                                                     \
        uint32_t mask = gpurt_warp_lanes();                                               \
        T mine = gpurt_reduce_##op##_##t(mask, v), all;                                   \
                                                                                          \
        (void)gpurt_block_fold_##op##_##t(mask, mine, &all);                              \
        return all;                                                                       \
    }                                                                                     \
    GPURT_DEV_OF_SET T gpurt_block_scan_##op##_##t(T v)                                   \
    {                                                                                     \
        uint32_t mask = gpurt_warp_lanes();                                               \
        T mine = gpurt_scan_from_##op##_##t(mask, v, 0), all;                             \
        T before = gpurt_block_fold_##op##_##t(mask, mine, &all);                         \
                                                                                          \
        return gpurt_warp() ? pair(before, mine) : mine;                                  \
    }                                                                                     \
    GPURT_DEV_OF_SET T gpurt_block_exscan_##op##_##t(T v, T *total)                       \
    {                                                                                     \
        uint32_t mask = gpurt_warp_lanes();                                               \
        T mine = gpurt_scan_from_##op##_##t(mask, v, 0), all;                             \
        T left = gpurt_shfl_up_##t(mask, mine, 1, GPURT_WARP_SIZE);                       \
        T before = gpurt_block_fold_##op##_##t(mask, mine, &all);                         \
                                                                                          \
        if (total)                                                                        \
            *total = all;                                                                 \
        if (!gpurt_warp())                                                                \
            return gpurt_lane() ? left : (none);                                          \
        return gpurt_lane() ? pair(before, left) : before;                                \
    }                                                                                     \
    GPURT_DEV_OF_SET T gpurt_block_segscan_##op##_##t(T v, bool head)                     \
    {                                                                                     \
        uint32_t mask = gpurt_warp_lanes(), heads = gpurt_ballot(mask, head);             \
        uint32_t *flags = gpurt_block_flags(), warp = gpurt_warp();                       \
        T *cells = (T *)gpurt_block_cells(), before = (none);                             \
                                                                                          \
        v = gpurt_scan_from_##op##_##t(mask, v, heads);                                   \
        if (gpurt_lane() == gpurt_last_lane(mask)) {                                      \
            cells[warp] = v;                                                              \
            flags[warp] = heads;                                                          \
        }                                                                                 \
        gpurt_block_barrier();                                                            \
        for (uint32_t w = 0; w < warp; w++)                                               \
            before = flags[w] || !w ? cells[w] : pair(before, cells[w]);                  \
        gpurt_block_barrier();                                                            \
        return !warp || (heads & (gpurt_lanes_below() << 1 | 1u)) ? v : pair(before, v);  \
    }                                                                                     \
    GPURT_DEV_OF_SET T gpurt_cluster_reduce_##op##_##t(T v)                               \
    {                                                                                     \
        T *cells = (T *)gpurt_block_cells(), all = gpurt_block_reduce_##op##_##t(v);      \
                                                                                          \
        if (gpurt_thread_rank() == 0)                                                     \
            cells[GPURT_CELL_CLUSTER] = all;                                              \
        gpurt_cluster_barrier();                                                          \
        all = ((T *)gpurt_cluster_shared(cells, 0))[GPURT_CELL_CLUSTER];                  \
        for (uint32_t b = 1; b < gpurt_cluster_size(); b++) {                             \
            T *theirs = (T *)gpurt_cluster_shared(cells, b);                              \
                                                                                          \
            all = pair(all, theirs[GPURT_CELL_CLUSTER]);                                  \
        }                                                                                 \
        gpurt_cluster_barrier();                                                          \
        return all;                                                                       \
    }

/* ---- values that go from thread to thread ----------------------------------------------- */

#define GPURT_DEF_EXCHANGE(T, t)                                                \
    GPURT_DEV T gpurt_block_broadcast_##t(T v, uint32_t rank)                   \
    {                                                                           \
        T *cells = (T *)gpurt_block_cells();                                    \
                                                                                \
        if (gpurt_thread_rank() == rank)                                        \
            cells[GPURT_CELL_BLOCK] = v;                                        \
        gpurt_block_barrier();                                                  \
        v = cells[GPURT_CELL_BLOCK];                                            \
        gpurt_block_barrier();                                                  \
        return v;                                                               \
    }                                                                           \
    GPURT_DEV T gpurt_cluster_broadcast_##t(T v, uint32_t rank, uint32_t block) \
    {                                                                           \
        T *cells = (T *)gpurt_block_cells();                                    \
                                                                                \
        if (gpurt_cluster_rank() == block && gpurt_thread_rank() == rank)       \
            cells[GPURT_CELL_CLUSTER] = v;                                      \
        gpurt_cluster_barrier();                                                \
        v = ((T *)gpurt_cluster_shared(cells, block))[GPURT_CELL_CLUSTER];      \
        gpurt_cluster_barrier();                                                \
        return v;                                                               \
    }                                                                           \
    GPURT_DEV T gpurt_block_scatter_##t(T *cells, T v, uint32_t to)             \
    {                                                                           \
        cells[to] = v;                                                          \
        gpurt_block_barrier();                                                  \
        v = cells[gpurt_thread_rank()];                                         \
        gpurt_block_barrier();                                                  \
        return v;                                                               \
    }                                                                           \
    GPURT_DEV T gpurt_block_gather_##t(T *cells, T v, uint32_t from)            \
    {                                                                           \
        cells[gpurt_thread_rank()] = v;                                         \
        gpurt_block_barrier();                                                  \
        v = cells[from];                                                        \
        gpurt_block_barrier();                                                  \
        return v;                                                               \
    }                                                                           \
    GPURT_DEV void gpurt_block_striped_##t(T *cells, T *items, uint32_t count)  \
    {                                                                           \
        uint32_t rank = gpurt_thread_rank(), threads = gpurt_block_threads();   \
                                                                                \
        for (uint32_t i = 0; i < count; i++)                                    \
            cells[rank * count + i] = items[i];                                 \
        gpurt_block_barrier();                                                  \
        for (uint32_t i = 0; i < count; i++)                                    \
            items[i] = cells[i * threads + rank];                               \
        gpurt_block_barrier();                                                  \
    }                                                                           \
    GPURT_DEV void gpurt_block_blocked_##t(T *cells, T *items, uint32_t count)  \
    {                                                                           \
        uint32_t rank = gpurt_thread_rank(), threads = gpurt_block_threads();   \
                                                                                \
        for (uint32_t i = 0; i < count; i++)                                    \
            cells[i * threads + rank] = items[i];                               \
        gpurt_block_barrier();                                                  \
        for (uint32_t i = 0; i < count; i++)                                    \
            items[i] = cells[rank * count + i];                                 \
        gpurt_block_barrier();                                                  \
    }

#define GPURT_DEF_COLLECTIVE(op, T, t, none, pair) \
    GPURT_DEF_SCAN_WARP(op, T, t, none, pair)      \
    GPURT_DEF_SCAN_BLOCK(op, T, t, none, pair)
#define GPURT_COLLECTIVE(op, T, t, none, pair)  \
    GPURT_DEF_SCAN_WARP(op, T, t, none, pair)   \
    GPURT_DEF_REDUCE_WARP(op, T, t, none, pair) \
    GPURT_DEF_SCAN_BLOCK(op, T, t, none, pair)

GPURT_FOR_COLLECTIVES(GPURT_DEF_COLLECTIVE)
GPURT_FOR_VALUES(GPURT_DEF_EXCHANGE)

#endif
