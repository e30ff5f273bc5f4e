/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a collection, each a kernel. */
#define GPURT_HEAP_CHECKS 2 /* objects are freed as their heap wants it, whoever asked */

#include "gcsteps.h"

#define GC_COMPACTS "gpurt_gc_compact:0" /* the call of the host, in what is found */

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

/* What is kept back goes to the heap, or its chunks could not be emptied. */
GPURT_KERNEL(gpurt_gc_let_go, struct gpurt_gc_args, p)
{
    const gpurt_heap_t *h = &p->gc.heap;
    uint32_t site = gpurt_watch_site(h->watch, GC_COMPACTS);

    for (uint32_t i = gpurt_global_id(); i < h->watch->place_count; i += gc_step())
        gpurt_watch_empty(h, i, 0, site);
}

/* An object a warp. Nobody else is here. */
GPURT_KERNEL(gpurt_gc_move, struct gpurt_gc_args, p)
{
    const gpurt_heap_t *h = &p->gc.heap;
    uint32_t warps = gpurt_grid_blocks() * gpurt_warps();

    for (uint32_t i = gpurt_block_rank() * gpurt_warps() + gpurt_warp(); i < p->move_count;
         i += warps) {
        const gpurt_gc_move_t *m = p->moves + i;
        const uint64_t *from = (const uint64_t *)(uintptr_t)m->from;
        char *begin = h->watch ? gpurt_watch_begin(h, (const char *)from) : NULL;
        uint64_t front = begin ? m->from - (uint64_t)(uintptr_t)begin : 0;
        uint64_t *to = (uint64_t *)(uintptr_t)(m->to + front);

        for (uint32_t word = gpurt_lane(); word < (m->bytes + 7) / 8;
             word += GPURT_WARP_SIZE)
            to[word] = from[word];
        gpurt_syncwarp(GPURT_FULL_MASK); /* all have found and copied it */
        if (gpurt_lane() > 0)
            continue;
        if (h->watch)
            gpurt_watch_moved(h, begin, (const char *)from, (char *)to, m->bytes,
                              GC_COMPACTS);
        /* relaxed: the next launch sees it */
        gpurt_store_relaxed_dev_u64(&p->gc.entries[m->entry].xaddress,
                                    (uint64_t)(uintptr_t)to);
    }
}
