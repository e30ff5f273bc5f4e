/* SPDX-License-Identifier: Apache-2.0 */
/* Sweeps. No section is open and nobody retires: what waits can be freed. A warp looks after
 * a slot at a time. */
#define GPURT_HEAP_CHECKS 2 /* objects are freed as their heap wants it, whoever asked */

#include "sweep_kernels.h"

#include <gpurt/alloc.h>
#include <gpurt/device.h>

GPURT_DEV uint32_t sweep_warp(void)
{
    return gpurt_block_rank() * gpurt_warps() + gpurt_warp();
}
GPURT_DEV uint32_t sweep_warps(void)
{
    return gpurt_grid_blocks() * gpurt_warps();
}

/* Context: one lane. */
GPURT_DEV void sweep_slot(uint64_t *slot, gpurt_reclaim_counts_t *counts)
{
    if (!gpurt_load_relaxed_dev_u64(slot)) /* relaxed, all three: nobody else is here */
        return;
    gpurt_store_relaxed_dev_u64(slot, 0);
    gpurt_red_add_relaxed_dev_u64(&counts->xabandoned, 1);
}

/* here: the call of the host, as what is found names it. */
GPURT_DEV void sweep_free(const gpurt_heap_t *heap, gpurt_reclaim_counts_t *counts,
                          uint64_t object, const char *here)
{
    gpurt_heap_free_at(heap, (void *)(uintptr_t)object, here);
    if (object)
        gpurt_red_add_relaxed_dev_u64(&counts->xfreed, 1); /* relaxed: a statistic */
}

GPURT_KERNEL(gpurt_epochs_sweep_all, gpurt_epochs_t, p)
{
    for (uint32_t slot = sweep_warp(); slot < p->slot_count; slot += sweep_warps()) {
        gpurt_limbo_t *limbo = &p->limbos[slot];
        uint32_t head = limbo->head, tail = limbo->tail;
        const gpurt_limbo_item_t *items = p->items + (size_t)slot * p->limbo_size;

        gpurt_syncwarp(GPURT_FULL_MASK); /* all have read */
        if (gpurt_lane() == 0) {
            sweep_slot(p->slots + slot, p->counts);
            limbo->head = tail;
        }
        for (uint32_t at = head + gpurt_lane(); (int32_t)(tail - at) > 0;
             at += GPURT_WARP_SIZE)
            sweep_free(&p->heap, p->counts, items[at & (p->limbo_size - 1)].object,
                       "gpurt_epochs_sweep:0");
        gpurt_syncwarp(GPURT_FULL_MASK);
    }
}

GPURT_KERNEL(gpurt_hazards_sweep_all, gpurt_hazards_t, p)
{
    for (uint32_t slot = sweep_warp(); slot < p->slot_count; slot += sweep_warps()) {
        uint64_t *pointers = p->pointers + (size_t)slot * p->each * GPURT_WARP_SIZE;
        const uint64_t *retired = p->retired + (size_t)slot * p->retired_size;
        uint32_t count = p->retired_counts[slot];

        gpurt_syncwarp(GPURT_FULL_MASK); /* all have read */
        if (gpurt_lane() == 0) {
            sweep_slot(p->slots + slot, p->counts);
            p->retired_counts[slot] = 0;
        }
        for (uint32_t k = 0; k < p->each; k++) /* relaxed: nobody else is here */
            gpurt_store_relaxed_dev_u64(pointers + k * GPURT_WARP_SIZE + gpurt_lane(), 0);
        for (uint32_t i = gpurt_lane(); i < count; i += GPURT_WARP_SIZE)
            sweep_free(&p->heap, p->counts, retired[i], "gpurt_hazards_sweep:0");
        gpurt_syncwarp(GPURT_FULL_MASK);
    }
}

/* Pieces that arenas left behind. */
GPURT_KERNEL(gpurt_arena_sweep_all, struct gpurt_arena_sweep_args, p)
{
    uint32_t step = gpurt_grid_blocks() * gpurt_block_threads();

    for (uint64_t i = gpurt_global_id(); i < p->count; i += step)
        gpurt_heap_free_at(&p->heap, (void *)(uintptr_t)p->pieces[i],
                           "gpurt_arena_source_sweep:0");
}
