/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_app.h"

#include <gpurt/device.h>
#include <gpurt/places.h>
#include <gpurt/ref.h>
#include <gpurt/region.h>

/* All counts of it are relaxed: the host reads them behind xready. */
#define COUNT(field, n) gpurt_red_add_relaxed_sys_u32(&p->figures->field, (n))

/* Blocks of one to three granules, of which each fourth is given back; a request that is
 * refused, and a pointer that is none. */
GPURT_DEVN void region_part(const struct memory_app_args *p)
{
    uint32_t lane = gpurt_thread_rank(), n = 1 + lane % 3;
    char *block = (char *)gpurt_region_alloc(&p->region, n * MEMORY_GRANULE);

    gpurt_block_barrier();
    if (block && lane % 4) {
        COUNT(xused, n * MEMORY_GRANULE);
        COUNT(xblocks, 1);
    } else {
        gpurt_region_free(&p->region, block);
    }
    gpurt_block_barrier();
    if (lane == 1 && gpurt_region_alloc(&p->region, (size_t)p->region.granules
                                                        << p->region.shift) == NULL) {
        gpurt_region_free(&p->region, block + 16);
        gpurt_region_resize(&p->region, block,
                            (size_t)p->region.granules << p->region.shift);
    }
}

/* Blocks side by side, of which each second one is given back. */
GPURT_DEVN void large_part(const struct memory_app_args *p)
{
    char *block = (char *)gpurt_region_alloc(&p->large, MEMORY_LARGE);

    gpurt_block_barrier();
    if (block && (size_t)(block - p->large.base) / MEMORY_LARGE % 2)
        gpurt_region_free(&p->large, block);
    else
        COUNT(xlarge, block != NULL);
}

/* An arena that grows, or finds no slot. */
GPURT_DEVN void arena_part(const struct memory_app_args *p, gpurt_arena_t *a)
{
    uint64_t pieces = 0;

    gpurt_arena_init(a, NULL, 0);
    gpurt_arena_grow_from(a, &p->source, MEMORY_PIECE);
    for (uint32_t i = 0; i < MEMORY_OBJECTS; i++) {
        if (!gpurt_arena_alloc(a, 100)) {
            COUNT(xno_slot, gpurt_arena_why(a) == GPURT_ARENA_TABLE);
            return;
        }
        COUNT(xpieces, a->pieces != pieces);
        pieces = a->pieces;
    }
    COUNT(xarenas, 1);
}

GPURT_DEVN void pools_part(const struct memory_app_args *p, gpurt_magazine_t *magazine,
                           gpurt_rack_t *rack)
{
    gpurt_places_t mine;
    void *kept[3];

    gpurt_rack_init(rack);
    gpurt_places_init(&mine, magazine, rack, &p->heap);
    for (uint32_t round = 0; round < MEMORY_ROUNDS; round++) {
        for (uint32_t i = 0; i < 3; i++)
            kept[i] = gpurt_places_alloc(&mine, 64);
        for (uint32_t i = 0; i < 3; i++)
            gpurt_places_free(&mine, kept[i], 64);
    }
    for (uint32_t i = 0; i < GPURT_PLACES; i++) {
        COUNT(xgot[i], mine.got[i]);
        COUNT(xput[i], mine.put[i]);
    }
    gpurt_places_flush(&mine);
    gpurt_rack_flush(rack, &p->heap);
}

/* An object a lane; each second one is released. */
GPURT_DEVN void refs_part(const struct memory_app_args *p)
{
    uint32_t answer;
    gpurt_ref_t ref = gpurt_ref_alloc(&p->refs, 32, 0, &answer);

    if (gpurt_lane() % 2)
        gpurt_ref_release(&p->refs, ref);
    else
        COUNT(xrefs, ref != 0);
}

/* A mutex that lane 0 holds; of a phaser's 3 members one has arrived in the third phase. */
GPURT_DEVN void desk_part(const struct memory_app_args *p)
{
    for (uint32_t i = 0; i < 7; i++)
        (void)gpurt_phaser_arrive(&p->desk->phaser);
    (void)gpurt_mutex_lock(&p->desk->mutex);
}

/* One block. */
GPURT_KERNEL(memory_hold, struct memory_app_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, MEMORY_LANES / GPURT_WARP_SIZE);
    GPURT_SHARED(gpurt_rack_t, rack, 1);
    gpurt_arena_t arena, other;

    region_part(p);
    large_part(p);
    pools_part(p, &magazines[gpurt_warp()], rack);
    refs_part(p);
    arena_part(p, &arena);
    gpurt_arena_init(&other, NULL, 0);
    gpurt_arena_grow_from(&other, &p->wide, MEMORY_PIECE);
    gpurt_arena_alloc(&other, 100);
    gpurt_block_barrier();
    if (gpurt_thread_rank() == 0) {
        desk_part(p);
        gpurt_store_release_sys_u32(&p->figures->xready, 1);
        while (gpurt_load_acquire_sys_u32(&p->figures->xstop) == 0) {
            COUNT(xbeat, 1);
            gpurt_relax();
        }
        (void)gpurt_mutex_unlock(&p->desk->mutex);
    }
    gpurt_block_barrier();
    gpurt_arena_end(&arena);
    gpurt_arena_end(&other);
}
