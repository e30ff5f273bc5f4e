/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_simt.h"

#include <gpurt/device.h>

GPURT_KERNEL(bench_empty, struct bench_simt_args, p)
{
    (void)p;
}

GPURT_KERNEL(bench_ballot, struct bench_simt_args, p)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < p->rounds; i++)
        sum += gpurt_popc(gpurt_ballot(GPURT_FULL_MASK, (gpurt_lane() + i) & 1u));
    p->out[gpurt_global_id()] = sum;
}

GPURT_KERNEL(bench_barrier, struct bench_simt_args, p)
{
    GPURT_SHARED_DYN(uint32_t, cell);
    uint32_t me = gpurt_thread_x(), n = gpurt_block_threads(), sum = 0;

    for (uint32_t i = 0; i < p->rounds; i++) {
        cell[me] = me + i;
        gpurt_block_barrier();
        sum += cell[(me + 1) % n];
        gpurt_block_barrier();
    }
    p->out[gpurt_global_id()] = sum;
}

/* Warp-aggregated bump allocation with divergence: what runtime code looks like. */
GPURT_KERNEL(bench_bump, struct bench_simt_args, p)
{
    uint32_t id = gpurt_global_id(), got = 0;

    for (uint32_t i = 0; i < p->rounds; i++) {
        uint32_t mask, leader, rank;
        uint64_t base = 0;

        if ((id + i) % 5 == 0)
            continue;
        mask = gpurt_activemask();
        leader = gpurt_leader(mask);
        rank = gpurt_popc(mask & gpurt_lanes_below());
        if (gpurt_lane() == leader)
            base = gpurt_add_relaxed_dev_u64(p->top, gpurt_popc(mask));
        base = gpurt_shfl_u64(mask, base, leader);
        got += base + rank != UINT64_MAX;
    }
    p->out[id] = got;
}

/* Every lane alive at once: all of them stand at a barrier. */
GPURT_KERNEL(bench_hold, struct bench_simt_args, p)
{
    gpurt_grid_barrier();
    p->out[gpurt_global_id()] = 1;
}

/* The usual small seeded test: 2 x 32 lanes share a counter. */
GPURT_KERNEL(bench_tally, struct bench_simt_args, p)
{
    for (uint32_t i = 0; i < p->rounds; i++)
        gpurt_add_relaxed_dev_u32(p->out, 1);
}
