/* SPDX-License-Identifier: Apache-2.0 */
#include "collective_kernels.h"

#include <gpurt/collective.h>
#include <gpurt/device.h>

GPURT_COLLECTIVE(compose, uint64_t, u64, 1ull, collective_compose)

/* The rows of one operator. */
#define COLLECTIVE_ROWS_OF(op, T, t)                                                      \
    GPURT_DEVN void collective_rows_##op##_##t(const struct collective_args *p, T *rows)  \
    {                                                                                     \
        uint32_t n = gpurt_grid_blocks() * gpurt_block_threads();                         \
        uint32_t at = (uint32_t)gpurt_global_id64(), mask = p->mask & gpurt_warp_lanes(); \
        T v = ((const T *)p->in)[at], total;                                              \
        bool head = p->head[at] != 0;                                                     \
                                                                                          \
        if (mask >> gpurt_lane() & 1u) {                                                  \
            rows[COLLECTIVE_WARP_SCAN * n + at] = gpurt_scan_##op##_##t(mask, v);         \
            rows[COLLECTIVE_WARP_EXSCAN * n + at] = gpurt_exscan_##op##_##t(mask, v);     \
            rows[COLLECTIVE_WARP_SEGSCAN * n + at] =                                      \
                gpurt_segscan_##op##_##t(mask, v, head);                                  \
        }                                                                                 \
        rows[COLLECTIVE_REDUCE * n + at] = gpurt_block_reduce_##op##_##t(v);              \
        rows[COLLECTIVE_SCAN * n + at] = gpurt_block_scan_##op##_##t(v);                  \
        rows[COLLECTIVE_EXSCAN * n + at] = gpurt_block_exscan_##op##_##t(v, &total);      \
        rows[COLLECTIVE_TOTAL * n + at] = total;                                          \
        rows[COLLECTIVE_SEGSCAN * n + at] = gpurt_block_segscan_##op##_##t(v, head);      \
        rows[COLLECTIVE_CLUSTER * n + at] = gpurt_cluster_reduce_##op##_##t(v);           \
    }

#define COLLECTIVE_MOVES_OF(T, t)                                                     \
    GPURT_DEVN void collective_moves_##t(const struct collective_args *p, T *rows)    \
    {                                                                                 \
        uint32_t n = gpurt_grid_blocks() * gpurt_block_threads();                     \
        uint32_t at = (uint32_t)gpurt_global_id64(), threads = gpurt_block_threads(); \
        uint32_t other = (gpurt_thread_rank() + p->from) % threads;                   \
        T v = ((const T *)p->in)[at], items[COLLECTIVE_ITEMS];                        \
        GPURT_SHARED_DYN(T, cells);                                                   \
                                                                                      \
        rows[COLLECTIVE_BROADCAST * n + at] = gpurt_block_broadcast_##t(v, p->from);  \
        rows[COLLECTIVE_SCATTER * n + at] = gpurt_block_scatter_##t(cells, v, other); \
        rows[COLLECTIVE_GATHER * n + at] = gpurt_block_gather_##t(cells, v, other);   \
        for (uint32_t i = 0; i < COLLECTIVE_ITEMS; i++)                               \
            items[i] = (T)(gpurt_thread_rank() * COLLECTIVE_ITEMS + i);               \
        gpurt_block_striped_##t(cells, items, COLLECTIVE_ITEMS);                      \
        for (uint32_t i = 0; i < COLLECTIVE_ITEMS; i++)                               \
            rows[(COLLECTIVE_STRIPED + i) * n + at] = items[i];                       \
        gpurt_block_blocked_##t(cells, items, COLLECTIVE_ITEMS);                      \
        for (uint32_t i = 0; i < COLLECTIVE_ITEMS; i++)                               \
            rows[(COLLECTIVE_BLOCKED + i) * n + at] = items[i];                       \
        rows[COLLECTIVE_CLUSTER_BROADCAST * n + at] =                                 \
            gpurt_cluster_broadcast_##t(v, p->from, gpurt_cluster_size() - 1);        \
    }

#define COLLECTIVE_KERNEL(T, t)                                                 \
    COLLECTIVE_ROWS_OF(add, T, t)                                               \
    COLLECTIVE_ROWS_OF(min, T, t)                                               \
    COLLECTIVE_ROWS_OF(max, T, t)                                               \
    COLLECTIVE_MOVES_OF(T, t)                                                   \
    GPURT_KERNEL(collective_##t, struct collective_args, p)                     \
    {                                                                           \
        size_t n = (size_t)gpurt_grid_blocks() * gpurt_block_threads();         \
        T *out = (T *)p->out;                                                   \
                                                                                \
        collective_rows_add_##t(p, out);                                        \
        collective_rows_min_##t(p, out + COLLECTIVE_MIN * COLLECTIVE_ROWS * n); \
        collective_rows_max_##t(p, out + COLLECTIVE_MAX * COLLECTIVE_ROWS * n); \
        collective_moves_##t(p, out + COLLECTIVE_OPS * COLLECTIVE_ROWS * n);    \
    }
COLLECTIVE_KERNEL(uint32_t, u32)
COLLECTIVE_KERNEL(int32_t, i32)
COLLECTIVE_KERNEL(uint64_t, u64)
COLLECTIVE_KERNEL(int64_t, i64)
COLLECTIVE_KERNEL(float, f32)
COLLECTIVE_KERNEL(double, f64)

COLLECTIVE_ROWS_OF(compose, uint64_t, u64)

GPURT_KERNEL(collective_maps, struct collective_args, p)
{
    collective_rows_compose_u64(p, (uint64_t *)p->out);
}
