/* SPDX-License-Identifier: Apache-2.0 */
#include "chunk_state_kernels.h"

#include <gpurt/alloc.h>
#include <gpurt/device.h>

GPURT_DEV uint32_t chunk_state_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state >> 3;
}

/* Has an object for itself for a while, and gives it back. */
GPURT_DEVN void chunk_state_use(const struct chunk_state_args *p, void *object,
                                uint32_t owner, uint32_t turns)
{
    uint32_t *word = (uint32_t *)object;

    gpurt_store_relaxed_dev_u32(word, owner); /* relaxed, both: nobody else's */
    while (turns--)
        gpurt_pause();
    if (gpurt_load_relaxed_dev_u32(word) != owner)
        gpurt_red_add_relaxed_dev_u32(&p->verdict->xshared, 1);
    gpurt_heap_free(&p->heap, object);
}

/* Waits so long. Returns: whether the chunk's state was seen to be another one. */
GPURT_DEVN bool chunk_state_changes(const gpurt_heap_t *h, uint32_t state, uint32_t turns)
{
    bool changed = false;

    while (turns--) {
        /* relaxed: a look */
        changed |= gpurt_load_relaxed_dev_u32(gpurt_slab_state(h, 0)) != state;
        gpurt_pause();
    }
    return changed;
}

/* Reserves by a state of some time ago, as who was held up between its look and its exchange. */
GPURT_DEVN void chunk_state_reserve(const struct chunk_state_args *p, uint32_t turns)
{
    const gpurt_heap_t *h = &p->heap;
    uint32_t state =
        gpurt_load_relaxed_dev_u32(gpurt_slab_state(h, 0)); /* relaxed: a look */
    bool changed = chunk_state_changes(h, state, turns);
    uint32_t c = gpurt_state_class(state), n = gpurt_slab_reserve(h, c, 0, state);
    uint32_t slots = gpurt_shape_slots(gpurt_class_shape(c));

    p->verdict->promised += n > 0;
    p->verdict->round += changed && n > 0 && n == gpurt_state_free(state);
    for (uint32_t t = 0; t < n; t++) {
        uint32_t slot = gpurt_slab_claim(h, 0, slots, t, n);

        if (slot < slots)
            chunk_state_use(p, gpurt_slab_slot(h, gpurt_class_bytes(c), 0, slot), 1, 2);
        else
            p->verdict->unkept++;
    }
}

/* Objects of two classes, of which few fit into a chunk, so that it is soon another's. */
GPURT_KERNEL(chunk_state_storm, struct chunk_state_args, p)
{
    uint32_t id = gpurt_global_id();
    uint32_t state = (id * 747796405u + p->seed * 2891336453u) | 1u;

    if (gpurt_lane() >= CHUNK_STATE_LANES || (gpurt_warp() == 0 && gpurt_lane() > 0))
        return;
    state = (state >> 15 ^ state) * 2246822519u | 1u;
    for (uint32_t i = 0; i < p->rounds; i++) {
        uint32_t turns = chunk_state_random(&state) % 8;
        uint32_t bytes = chunk_state_random(&state) % 4 ? 32 << 10 : 20 << 10;
        void *object;

        if (gpurt_warp() == 0) {
            chunk_state_reserve(p, 4 * turns);
            continue;
        }
        object = gpurt_heap_alloc(&p->heap, bytes);
        if (object)
            chunk_state_use(p, object, id + 2, turns);
    }
}

/* All slots are handed out, and the chunk is in its set: put there late, by a free whose slot
 * another has taken up since. */
GPURT_KERNEL(chunk_state_fill, struct chunk_state_args, p)
{
    if (gpurt_thread_rank() != 0)
        return;
    for (uint32_t i = 0; i < CHUNK_STATE_SLOTS; i++)
        p->verdict->objects[i] = gpurt_heap_alloc(&p->heap, CHUNK_STATE_BYTES);
    gpurt_tree_put(&p->heap, gpurt_tree_sparse(gpurt_class_of(CHUNK_STATE_BYTES)), 0, 1);
}

/* One looks for a run of that class, and gives back what it gets; another frees an object. */
GPURT_KERNEL(chunk_state_meet, struct chunk_state_args, p)
{
    uint32_t c = gpurt_class_of(CHUNK_STATE_BYTES);
    uint64_t run;

    if (gpurt_lane() != 0)
        return;
    if (gpurt_warp() > 0) {
        gpurt_heap_free(&p->heap, p->verdict->objects[0]);
        return;
    }
    for (uint32_t turns = p->seed % 8; turns; turns--) /* a free takes longer */
        gpurt_pause();
    run = gpurt_slab_adopt(&p->heap, c, gpurt_tree_sparse(c), 0, 0);
    p->verdict->adopted += run != 0;
    if (run)
        gpurt_slab_dispose(&p->heap, c, run);
}

/* The free comes between a look and the taking out, which the seeds seldom show: it finds the chunk
 * in its set, and relies on that. */
GPURT_KERNEL(chunk_state_late, struct chunk_state_args, p)
{
    const gpurt_heap_t *h = &p->heap;
    uint32_t c = gpurt_class_of(CHUNK_STATE_BYTES), tree = gpurt_tree_sparse(c), n;
    uint32_t state =
        gpurt_load_relaxed_dev_u32(gpurt_slab_state(h, 0)); /* relaxed: a look */
    bool emptied = false;

    if (gpurt_thread_rank() != 0)
        return;
    gpurt_heap_free(h, p->verdict->objects[0]);
    if (!gpurt_tree_pull(h, tree, 0, 1, &emptied))
        return;
    if (emptied)
        gpurt_tree_lower(h, tree, 0);
    n = gpurt_slab_reserve(h, c, 0, state);
    p->verdict->promised = n;
    if (n)
        gpurt_slab_give(h, 0, n);
}

GPURT_KERNEL(chunk_state_empty, struct chunk_state_args, p)
{
    if (gpurt_thread_rank() == 0)
        for (uint32_t i = 1; i < CHUNK_STATE_SLOTS; i++)
            gpurt_heap_free(&p->heap, p->verdict->objects[i]);
}
