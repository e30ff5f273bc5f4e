/* SPDX-License-Identifier: Apache-2.0 */
/* The peer of the barriers: grid.sync() of cooperative groups, in a file of its own, because what
 * includes cooperative_groups.h unwinds otherwise (unwind.h). On the CPU nobody launches it. */
#include "bench_collective.h"

#include <gpurt/device.h>

#if GPURT_ON_CUDA
#    include <cooperative_groups.h>
#    define PEER_SYNC() cooperative_groups::this_grid().sync()
#else
#    define PEER_SYNC() gpurt_grid_barrier()
#endif

GPURT_KERNEL(bench_collective_peer, struct bench_collective_args, p)
{
    uint64_t begin;

    PEER_SYNC();
    begin = gpurt_globaltimer();
    for (uint32_t i = 0; i < p->rounds; i++)
        PEER_SYNC();
    if (gpurt_thread_rank() == 0)
        p->clocks[gpurt_block_rank()] = gpurt_globaltimer() - begin;
}
