/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a collection, each a kernel. */
#include "gcsteps.h"

GPURT_DEV uint32_t gc_step(void)
{
    return gpurt_grid_blocks() * gpurt_block_threads();
}

GPURT_KERNEL(gpurt_gc_reset, struct gpurt_gc_args, p)
{
    gpurt_gc_reset_all(p, gpurt_global_id(), gc_step());
}
GPURT_KERNEL(gpurt_gc_wait, struct gpurt_gc_args, p)
{
    gpurt_gc_wait_warp(p);
}
GPURT_KERNEL(gpurt_gc_begin, struct gpurt_gc_args, p)
{
    gpurt_gc_begin_all(p, gpurt_global_id(), gc_step());
}
GPURT_KERNEL(gpurt_gc_mark, struct gpurt_gc_args, p)
{
    gpurt_gc_mark_all(p);
}
GPURT_KERNEL(gpurt_gc_seek, struct gpurt_gc_args, p)
{
    gpurt_gc_seek_all(p, gpurt_global_id(), gc_step());
}
GPURT_KERNEL(gpurt_gc_condemn, struct gpurt_gc_args, p)
{
    gpurt_gc_condemn_all(p, gpurt_global_id(), gc_step());
}
GPURT_KERNEL(gpurt_gc_free, struct gpurt_gc_args, p)
{
    gpurt_gc_free_all(p, gpurt_global_id(), gc_step());
}

/* ---- compaction ---------------------------------------------------------------------- */

/* An object a warp. Nobody else is here. */
GPURT_KERNEL(gpurt_gc_move, struct gpurt_gc_args, p)
{
    uint32_t warps = gpurt_grid_blocks() * gpurt_warps();

    for (uint32_t i = gpurt_block_rank() * gpurt_warps() + gpurt_warp(); i < p->move_count;
         i += warps) {
        const gpurt_gc_move_t *m = p->moves + i;
        const uint64_t *from = (const uint64_t *)(uintptr_t)m->from;
        uint64_t *to = (uint64_t *)(uintptr_t)m->to;

        for (uint32_t word = gpurt_lane(); word < (m->bytes + 7) / 8;
             word += GPURT_WARP_SIZE)
            to[word] = from[word];
        if (gpurt_lane() == 0) /* relaxed: the next launch sees it */
            gpurt_store_relaxed_dev_u64(&p->gc.entries[m->entry].xaddress, m->to);
    }
}
