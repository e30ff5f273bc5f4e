/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_collective.h"

#include <gpurt/device.h>
#include <gpurt/gridscan.h>

/* The floor: the same bytes, read and written. */
GPURT_KERNEL(bench_collective_copy, struct bench_collective_args, p)
{
    const gpurt_pack_u32_t *in = (const gpurt_pack_u32_t *)p->in;
    gpurt_pack_u32_t *out = (gpurt_pack_u32_t *)p->out;
    uint64_t lanes = (uint64_t)gpurt_grid_blocks() * gpurt_block_threads();

    for (uint64_t i = gpurt_global_id64(); i < p->n / 4; i += lanes)
        out[i] = in[i];
}
GPURT_KERNEL_FIT(bench_collective_scan, struct bench_collective_args, p, 256, 6)
{
    gpurt_grid_scan_add_u32(p->area, p->in, p->out, p->n);
}
GPURT_KERNEL_FIT(bench_collective_scan_float, struct bench_collective_args, p, 256, 6)
{
    gpurt_grid_scan_add_f32(p->area, (const float *)p->in, (float *)p->out, p->n);
}
GPURT_KERNEL(bench_collective_reduce, struct bench_collective_args, p)
{
    gpurt_grid_reduce_add_u32(p->area, p->in, p->n, p->out);
}

/* Rounds of nothing but the barrier; a block's time for all of them. */
GPURT_KERNEL(bench_collective_phaser, struct bench_collective_args, p)
{
    uint64_t begin;
    GPURT_SHARED(gpurt_member_t, member, 1);

    gpurt_member_begin(member, p->phaser);
    gpurt_member_sync(member); /* all are there */
    begin = gpurt_globaltimer();
    for (uint32_t i = 0; i < p->rounds; i++)
        gpurt_member_sync(member);
    if (gpurt_thread_rank() == 0)
        p->clocks[gpurt_block_rank()] = gpurt_globaltimer() - begin;
    gpurt_member_end(member);
}
GPURT_KERNEL(bench_collective_grid, struct bench_collective_args, p)
{
    uint64_t begin;

    gpurt_grid_barrier();
    begin = gpurt_globaltimer();
    for (uint32_t i = 0; i < p->rounds; i++)
        gpurt_grid_barrier();
    if (gpurt_thread_rank() == 0)
        p->clocks[gpurt_block_rank()] = gpurt_globaltimer() - begin;
}
