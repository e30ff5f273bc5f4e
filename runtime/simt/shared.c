/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory of a block: the launch's dynamic bytes first, then the static objects, each
 * placed when a lane first comes by. The place is the launch's, so an object has one offset in
 * every block, and a cluster neighbour's copy is found by arithmetic. */
#include "simt.h"

#include <gpurt/atomic.h>

enum {
    SHARED_ALIGN = 128
};

static size_t shared_round(size_t bytes)
{
    return (bytes + SHARED_ALIGN - 1) & ~(size_t)(SHARED_ALIGN - 1);
}

static simt_shared_object_t *object_find(simt_launch_t *l, const void *key)
{
    uint32_t count = gpurt_load_acquire_dev_u32(&l->xshared_count); /* S1.acq */

    for (uint32_t i = 0; i < count; i++)
        if (l->shared_objects[i].key == key)
            return &l->shared_objects[i];
    return NULL;
}

/* Under xshared_lock. */
static simt_shared_object_t *object_place(simt_launch_t *l, const void *key, size_t bytes)
{
    simt_shared_object_t *o = object_find(l, key);
    uint32_t used;

    if (o)
        return o;
    if (l->xshared_count == SIMT_SHARED_OBJECTS ||
        bytes > SIMT_STATIC_SHARED - l->xshared_used)
        return NULL;
    o = &l->shared_objects[l->xshared_count];
    o->key = key;
    o->offset = l->xshared_used;
    used = l->xshared_used + (uint32_t)shared_round(bytes);
    gpurt_store_relaxed_dev_u32(&l->xshared_used, /* S1 publishes it */
                                used < SIMT_STATIC_SHARED ? used : SIMT_STATIC_SHARED);
    gpurt_store_release_dev_u32(&l->xshared_count, l->xshared_count + 1); /* S1.rel */
    return o;
}

char gpurt_simt_turns;

void *gpurt_simt_shared(const void *key, size_t bytes, const char *site)
{
    simt_lane_t *me = simt_worker_self->current;
    simt_block_t *b = me->warp->block;
    simt_launch_t *l = b->launch;
    simt_shared_object_t *o = object_find(l, key);

    if (!o) {
        /* held for a few instructions, by lanes that never switch inside */
        while (gpurt_xchg_acquire_dev_u32(&l->xshared_lock, 1)) /* S2.acq */
            ;
        o = object_place(l, key, bytes);
        gpurt_store_release_dev_u32(&l->xshared_lock, 0); /* S2.rel */
    }
    if (!o) {
        me->site = site;
        simt_lane_misuse(me, GPURT_E_SHARED,
                         "static shared memory exceeds 48 KiB or 64 objects", NULL);
    }
    return b->shared + shared_round(l->shared_bytes) + o->offset;
}

void *gpurt_simt_shared_dyn(void)
{
    return simt_worker_self->current->warp->block->shared;
}

void *gpurt_simt_cluster_shared(void *object, uint32_t rank, const char *site)
{
    simt_lane_t *me = simt_worker_self->current;
    simt_block_t *b = me->warp->block;

    me->site = site;
    if (!b->cluster)
        return object;
    if (rank >= b->cluster->size || !b->cluster->blocks[rank])
        simt_lane_misuse(me, GPURT_E_SYNC,
                         "shared memory of a cluster block that ended or never was", NULL);
    return b->cluster->blocks[rank]->shared + ((char *)object - b->shared);
}
