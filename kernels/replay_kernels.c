/* SPDX-License-Identifier: Apache-2.0 */
#include <gpurt/alloc.h>

#include "replay_call.h"

#include <gpurt/places.h>
#include <gpurt/region.h>

GPURT_KERNEL(replay_heap, struct replay_args, p)
{
    replay_heap_call(p);
}

GPURT_KERNEL(replay_region, struct replay_args, p)
{
    const replay_call_t *call = replay_own_call(p);

    if (!call)
        return;
    if (call->what == REPLAY_ALLOC)
        replay_answer(p, call,
                      gpurt_region_alloc_aligned(&p->region, call->size, call->align));
    else if (gpurt_region_free(&p->region, replay_given(p, call)) != GPURT_REGION_OK)
        gpurt_red_add_relaxed_dev_u64(&p->sums->xwrong, 1); /* relaxed: a statistic */
}

/* ---- pools --------------------------------------------------------------------------- */

/* Pools have no alignment of their own: what wants one has it of the heap. */
GPURT_DEV bool replay_is_pooled(const replay_call_t *call)
{
    return call->align && call->align <= 16 && !(call->align & (call->align - 1));
}

GPURT_DEV void replay_pool_call(const struct replay_args *p, gpurt_places_t *mine,
                                const replay_call_t *call)
{
    bool frees = call && call->what == REPLAY_FREE, pooled = call && replay_is_pooled(call);
    void *object = frees ? replay_given(p, call) : NULL;
    size_t size = pooled ? call->size + (call->size == 0) : 0;

    gpurt_places_free(mine, pooled ? object : NULL, size);
    if (frees && !pooled)
        gpurt_heap_free(&p->heap, object);
    gpurt_syncwarp(GPURT_FULL_MASK);
    object = gpurt_places_alloc(mine, frees ? 0 : size);
    if (call && !frees && !pooled)
        object = gpurt_heap_alloc_aligned(&p->heap, call->size, call->align);
    if (call && !frees)
        replay_answer(p, call, object);
    gpurt_syncwarp(GPURT_FULL_MASK);
}

/* A warp goes through as many calls as its magazine may be of use for. */
GPURT_KERNEL(replay_pools, struct replay_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, REPLAY_THREADS / GPURT_WARP_SIZE);
    GPURT_SHARED(gpurt_rack_t, rack, 1);
    uint32_t most = REPLAY_THREADS * REPLAY_POOL_CALLS;
    uint32_t first = p->begin + gpurt_block_x() * most + gpurt_thread_rank();
    gpurt_places_t mine;

    gpurt_rack_init(rack);
    gpurt_places_init(&mine, &magazines[gpurt_warp()], rack, &p->heap);
    for (uint32_t k = 0; k < REPLAY_POOL_CALLS; k++) {
        uint32_t i = first + k * REPLAY_THREADS;

        replay_pool_call(p, &mine, i < p->end ? p->calls + i : NULL);
    }
    gpurt_places_flush(&mine);
    gpurt_rack_flush(rack, &p->heap);
}

/* ---- arenas -------------------------------------------------------------------------- */

GPURT_KERNEL(replay_arenas_begin, struct replay_args, p)
{
    uint32_t id = gpurt_global_id();
    gpurt_arena_t a;

    if (id >= p->arena_count)
        return;
    gpurt_arena_init(&a, NULL, 0);
    gpurt_arena_grow_from(&a, &p->source, p->piece_bytes);
    p->arenas[id] = a;
}

/* An arena stays between kernels: only where its source lies is another place each time. */
GPURT_KERNEL(replay_arenas, struct replay_args, p)
{
    uint32_t id = gpurt_global_id();
    const replay_call_t *call = replay_own_call(p);
    gpurt_arena_mark_t *marks = p->marks + (size_t)id * REPLAY_MARKS;
    gpurt_arena_t a;

    if (id >= p->arena_count)
        return;
    a = p->arenas[id];
    a.source = &p->source;
    if (p->pass.release < REPLAY_MARKS && !gpurt_arena_release(&a, marks[p->pass.release]))
        gpurt_red_add_relaxed_dev_u64(&p->sums->xwrong, 1); /* relaxed: a statistic */
    if (p->pass.mark < REPLAY_MARKS)
        marks[p->pass.mark] = gpurt_arena_mark(&a);
    if (call && call->what == REPLAY_FREE)
        replay_given(p, call); /* it ends with a mark that is older */
    else if (call) /* 0 bytes take nothing: then two objects would begin at one place */
        replay_answer(
            p, call,
            gpurt_arena_alloc_aligned(&a, call->size ? call->size : 1, call->align));
    p->arenas[id] = a;
}

/* ---- every byte ---------------------------------------------------------------------- */

/* A word of an object, which no other object has there. */
GPURT_DEV uint32_t replay_word(uint32_t handle, uint32_t i)
{
    return (handle + 1) * 2654435761u ^ i * 40503u;
}

/* Returns: whether the bytes of word i are as they were left; those that there are. */
GPURT_DEV bool replay_word_is(const void *object, uint32_t size, uint32_t i, uint32_t want)
{
    const uint8_t *bytes = (const uint8_t *)object + (size_t)i * 4;

    if (size - i * 4 >= 4)
        return *(const uint32_t *)(const void *)bytes == want;
    for (uint32_t k = 0; k < size - i * 4; k++)
        if (bytes[k] != (uint8_t)(want >> 8 * k))
            return false;
    return true;
}

GPURT_DEV void replay_word_put(void *object, uint32_t size, uint32_t i, uint32_t word)
{
    uint8_t *bytes = (uint8_t *)object + (size_t)i * 4;

    if (size - i * 4 >= 4) {
        *(uint32_t *)(void *)bytes = word;
        return;
    }
    for (uint32_t k = 0; k < size - i * 4; k++)
        bytes[k] = (uint8_t)(word >> 8 * k);
}

/* Warps share the calls out, lanes the words of an object. */
GPURT_KERNEL(replay_write, struct replay_args, p)
{
    uint32_t warps = gpurt_grid_blocks() * gpurt_block_threads() / GPURT_WARP_SIZE;

    for (uint32_t at = p->begin + gpurt_global_id() / GPURT_WARP_SIZE; at < p->end;
         at += warps) {
        const replay_call_t *call = p->calls + at;
        void *object = (void *)(uintptr_t)p->objects[call->handle];

        if (call->what != REPLAY_ALLOC || !object)
            continue;
        for (uint32_t i = gpurt_lane(); i < call->size / 4 + (call->size % 4 != 0);
             i += GPURT_WARP_SIZE)
            replay_word_put(object, call->size, i, replay_word(call->handle, i));
    }
}

/* Calls of kind `what`: frees before they are made, or, once all are, requests whose objects
 * are still there. */
GPURT_KERNEL(replay_look, struct replay_args, p)
{
    uint32_t warps = gpurt_grid_blocks() * gpurt_block_threads() / GPURT_WARP_SIZE;

    for (uint32_t at = p->begin + gpurt_global_id() / GPURT_WARP_SIZE; at < p->end;
         at += warps) {
        const replay_call_t *call = p->calls + at;
        const void *object = (const void *)(uintptr_t)p->objects[call->handle];
        bool wrong = false;

        if (call->what != p->what || !object)
            continue;
        for (uint32_t i = gpurt_lane(); i < call->size / 4 + (call->size % 4 != 0);
             i += GPURT_WARP_SIZE)
            wrong |= !replay_word_is(object, call->size, i, replay_word(call->handle, i));
        wrong = gpurt_any(GPURT_FULL_MASK, wrong);
        if (gpurt_lane() > 0)
            continue; /* relaxed, both: statistics */
        gpurt_red_add_relaxed_dev_u64(&p->sums->xlooked, 1);
        if (wrong)
            gpurt_red_add_relaxed_dev_u64(&p->sums->xdamaged, 1);
    }
}
