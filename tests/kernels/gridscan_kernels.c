/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 1 /* a block that is cancelled gives its tile up */
#include "gridscan_kernels.h"

#include <gpurt/device.h>
#include <gpurt/gridscan.h>

/* What every type has; the rest is tested with one of 32 bits and one of 64, because nvcc takes
 * its time for each. */
#define GRIDSCAN_KERNEL(T, t)                                       \
    GPURT_KERNEL(gridscan_##t, struct gridscan_args, p)             \
    {                                                               \
        const T *in = (const T *)p->in;                             \
        T *out = (T *)p->out;                                       \
        gpurt_status_t st;                                          \
                                                                    \
        if (p->kind == GRIDSCAN_REDUCE)                             \
            st = gpurt_grid_reduce_add_##t(p->area, in, p->n, out); \
        else                                                        \
            st = gpurt_grid_scan_add_##t(p->area, in, out, p->n);   \
        if (gpurt_thread_rank() == 0)                               \
            p->status[gpurt_block_rank()] = st;                     \
    }
GRIDSCAN_KERNEL(uint32_t, u32)
GRIDSCAN_KERNEL(int32_t, i32)
GRIDSCAN_KERNEL(uint64_t, u64)
GRIDSCAN_KERNEL(int64_t, i64)
GRIDSCAN_KERNEL(float, f32)
GRIDSCAN_KERNEL(double, f64)

/* Fit: test_gridscan asks how many blocks are resident. */
GPURT_KERNEL_FIT(gridscan_kinds, struct gridscan_args, p, GRIDSCAN_FIT_THREADS,
                 GRIDSCAN_FIT_BLOCKS)
{
    const uint32_t *in = (const uint32_t *)p->in;
    uint32_t *out = (uint32_t *)p->out;
    gpurt_status_t st;

    if (p->kind == GRIDSCAN_EXSCAN)
        st = gpurt_grid_exscan_add_u32(p->area, in, out, p->n);
    else if (p->kind == GRIDSCAN_SEGSCAN)
        st = gpurt_grid_segscan_add_u32(p->area, in, p->heads, out, p->n);
    else
        st = gpurt_grid_scan_min_u32(p->area, in, out, p->n);
    if (gpurt_thread_rank() == 0)
        p->status[gpurt_block_rank()] = st;
}

GPURT_KERNEL(gridscan_segments, struct gridscan_args, p)
{
    gpurt_status_t st = gpurt_grid_segscan_add_u64(p->area, (const uint64_t *)p->in,
                                                   p->heads, (uint64_t *)p->out, p->n);

    if (gpurt_thread_rank() == 0)
        p->status[gpurt_block_rank()] = st;
}

GPURT_COLLECTIVE(compose, uint64_t, u64, 1ull, collective_compose)
GPURT_GRID_COLLECTIVE(compose, uint64_t, u64, 1ull, collective_compose)

GPURT_KERNEL(gridscan_maps, struct gridscan_args, p)
{
    gpurt_status_t st = gpurt_grid_scan_compose_u64(p->area, (const uint64_t *)p->in,
                                                    (uint64_t *)p->out, p->n);

    if (gpurt_thread_rank() == 0)
        p->status[gpurt_block_rank()] = st;
}

/* A scan, a reduction, a shorter scan, and so on, in one area. */
GPURT_KERNEL(gridscan_rounds, struct gridscan_args, p)
{
    const uint32_t *in = (const uint32_t *)p->in;
    gpurt_status_t st = GPURT_OK;

    for (uint32_t round = 0; round < p->rounds; round++) {
        uint32_t *out = (uint32_t *)p->out + round * p->n;
        gpurt_status_t now;

        if (round % 3 == 1)
            now = gpurt_grid_reduce_add_u32(p->area, in, p->n, out);
        else
            now = gpurt_grid_scan_add_u32(p->area, in, out, p->n >> round % 3);
        st = now == GPURT_OK ? st : now;
        gpurt_grid_barrier();
    }
    if (gpurt_thread_rank() == 0)
        p->status[gpurt_block_rank()] = st;
}

GPURT_DEV uint32_t gridscan_poisoned(uint32_t a, uint32_t b)
{
    if (a == GRIDSCAN_POISON || b == GRIDSCAN_POISON)
        gpurt_cancel_block();
    return a + b;
}
GPURT_COLLECTIVE(poisoned, uint32_t, u32, 0u, gridscan_poisoned)
GPURT_GRID_COLLECTIVE(poisoned, uint32_t, u32, 0u, gridscan_poisoned)

GPURT_KERNEL(gridscan_poison, struct gridscan_args, p)
{
    gpurt_status_t st = gpurt_grid_scan_poisoned_u32(p->area, (const uint32_t *)p->in,
                                                     (uint32_t *)p->out, p->n);

    if (gpurt_thread_rank() == 0)
        p->status[gpurt_block_rank()] = st;
}
