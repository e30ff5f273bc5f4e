/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_HEAP_CHECKS 2 /* this file checks as much as its heap does */

#include "heap_checks_kernels.h"

#include <gpurt/alloc.h>
#include <gpurt/blockarena.h>
#include <gpurt/device.h>
#include <gpurt/impl/warptally.h>
#include <gpurt/matrix.h>
#include <gpurt/object.h>
#include <gpurt/places.h>
#include <gpurt/ref.h>

/* Does it, and says on which line. */
#define AT(which, ...) \
    (gpurt_store_relaxed_dev_u32(&p->lines[which], __LINE__), __VA_ARGS__)
#define CELL(i)      ((char *)(uintptr_t)p->cells[i])
#define LANES        (gpurt_grid_dim_x() * gpurt_block_dim_x())
#define TAKE(size)   gpurt_heap_alloc(&p->heap, size)
#define GIVE(object) gpurt_heap_free(&p->heap, object)

/* ---- planted, each in one lane ------------------------------------------------------- */

GPURT_KERNEL(checks_alloc, struct checks_args, p)
{
    if (gpurt_global_id() == 0) {
        const gpurt_heap_t *h = &p->heap;
        void *object;

        object = AT(LINE_ALLOC, gpurt_heap_alloc_aligned(h, p->size, p->align));
        p->cells[0] = (uint64_t)(uintptr_t)object;
    }
}

/* Every byte of the object, and one that may not be. */
GPURT_KERNEL(checks_write, struct checks_args, p)
{
    if (gpurt_global_id() == 0) {
        for (uint64_t i = 0; i < p->size && p->mode == 0; i++)
            CELL(0)[i] = (char)i;
        if (p->at < 0 || p->at >= (int64_t)p->size || p->mode == 1)
            CELL(0)[p->at]++;
    }
}

GPURT_KERNEL(checks_free, struct checks_args, p)
{
    if (gpurt_global_id() == p->mode)
        AT(LINE_FREE, GIVE(CELL(0) + p->at));
}

/* The same by another line. */
GPURT_KERNEL(checks_free_again, struct checks_args, p)
{
    if (gpurt_global_id() == p->mode)
        AT(LINE_AGAIN, GIVE(CELL(0) + p->at));
}

/* ---- all lanes ----------------------------------------------------------------------- */

/* All lanes free one object. */
GPURT_KERNEL(checks_free_raced, struct checks_args, p)
{
    AT(LINE_FREE, GIVE(CELL(0)));
}

/* One place keeps what it gets, another one frees. */
GPURT_KERNEL(checks_leak, struct checks_args, p)
{
    void *kept, *freed;

    kept = AT(LINE_LEAK, TAKE(p->size));
    freed = AT(LINE_OTHER, TAKE(p->size));
    GIVE(freed);
    p->cells[gpurt_global_id()] = (uint64_t)(uintptr_t)kept;
}

/* Objects of code that does not check. */
GPURT_KERNEL(checks_unchecked, struct checks_args, p)
{
    uint32_t why;

    if (gpurt_global_id() < p->count)
        p->cells[gpurt_global_id()] =
            (uint64_t)(uintptr_t)gpurt_core_alloc(&p->heap, p->size, 16, &why);
}

/* Takes until nothing is left; count: of cells. */
GPURT_KERNEL(checks_fill, struct checks_args, p)
{
    for (uint32_t i = gpurt_global_id(); i < p->count; i += LANES) {
        if (!p->cells[i])
            p->cells[i] = (uint64_t)(uintptr_t)gpurt_heap_alloc(&p->heap, p->size);
    }
}

GPURT_KERNEL(checks_drain, struct checks_args, p)
{
    for (uint32_t i = gpurt_global_id(); i < p->count; i += LANES) {
        gpurt_heap_free(&p->heap, CELL(i));
        p->cells[i] = 0;
    }
}

/* One lane of a block that is cancelled, in a heap that is full: it looks once more for what is
 * kept back, and it frees an object of code that does not check, in a slot that an object of
 * code that checks had. cells[count]: how far it got. */
GPURT_KERNEL(checks_cancelled, struct checks_args, p)
{
    uint64_t *step = p->cells + p->count;
    uint32_t why, i = 0;
    void *object;

    if (gpurt_global_id() > 0)
        return;
    while (!p->cells[i] && i + 1 < p->count)
        i++;
    gpurt_cancel_block();
    GIVE(CELL(i));
    object = TAKE(2 * GPURT_CHUNK_BYTES);
    *step = object ? 0 : 1;
    object = gpurt_core_alloc(&p->heap, p->size, 16, &why);
    GIVE(object);
    *step += object ? 1 : 0;
}

/* One lane frees what cells[count] points to, others take one object each meanwhile. */
GPURT_KERNEL(checks_stale, struct checks_args, p)
{
    uint32_t me = gpurt_global_id();

    if (me == p->mode)
        AT(LINE_AGAIN, GIVE(CELL(p->count)));
    else if (me < p->count)
        p->cells[me] = (uint64_t)(uintptr_t)gpurt_heap_alloc(&p->heap, p->size);
}

GPURT_DEV uint32_t checks_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Objects of many sizes that are written to their last byte, by all words that allocate. */
GPURT_KERNEL(checks_storm, struct checks_args, p)
{
    uint32_t state = gpurt_global_id() * 7919u + p->seed * 104729u + 1;
    char *hand[3] = {NULL, NULL, NULL};

    for (uint32_t round = 0; round < p->count; round++) {
        uint32_t i = checks_random(&state) % 3, size = 1 + checks_random(&state) % 3000;

        if (checks_random(&state) % 64 == 0)
            size = 30000 + checks_random(&state) % 60000;
        if (hand[i]) {
            gpurt_heap_free(&p->heap, hand[i]);
            hand[i] = NULL;
            continue;
        }
        if (checks_random(&state) % 4)
            hand[i] = (char *)gpurt_heap_alloc(&p->heap, size);
        else
            hand[i] = (char *)gpurt_heap_alloc_aligned(&p->heap, size,
                                                       1u << checks_random(&state) % 13);
        for (uint32_t at = 0; hand[i] && at < size; at++)
            hand[i][at] = (char)at;
    }
    for (uint32_t i = 0; i < 3; i++)
        gpurt_heap_free(&p->heap, hand[i]);
}

/* Magazines and rows for a warp: in a heap that checks, too. */
GPURT_KERNEL(checks_warp, struct checks_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, 2);
    gpurt_magazine_t *m = &magazines[gpurt_warp()];
    void **out =
        (void **)(void *)(p->cells + (gpurt_block_x() * 2 + gpurt_warp()) * p->count);
    uint32_t got;
    char *object;

    gpurt_magazine_init(m);
    object = (char *)gpurt_magazine_alloc(m, &p->heap, p->size);
    for (uint32_t i = 0; object && i < p->size; i++)
        object[i] = (char)i;
    gpurt_magazine_free(m, &p->heap, object, p->size);
    gpurt_magazine_flush(m, &p->heap);
    got = gpurt_heap_alloc_warp(&p->heap, p->count, p->size, out);
    for (uint32_t i = gpurt_lane(); i < got; i += GPURT_WARP_SIZE)
        for (uint32_t at = 0; at < p->size; at++) /* what other lanes have put there */
            ((char *)out[got - 1 - i])[at] = (char)at;
    gpurt_syncwarp(GPURT_FULL_MASK);
    if (p->mode)
        for (uint32_t i = gpurt_lane(); i < got; i += GPURT_WARP_SIZE)
            gpurt_heap_free(&p->heap, out[i]);
    gpurt_syncwarp(GPURT_FULL_MASK);
}

/* A warp's pools. mode 1: lane 3 writes a byte too much; 2: it frees its object twice; 3: it asks
 * for one more, which nobody frees. */
GPURT_KERNEL(checks_places, struct checks_args, p)
{
    GPURT_SHARED(gpurt_magazine_t, magazines, 1);
    GPURT_SHARED(gpurt_rack_t, rack, 1);
    bool me = gpurt_lane() == 3;
    gpurt_places_t mine;
    char *object, *more;

    gpurt_rack_init(rack);
    gpurt_places_init(&mine, magazines, rack, &p->heap);
    object = (char *)AT(LINE_ALLOC, gpurt_places_alloc(&mine, p->size));
    for (uint32_t i = 0; object && i < p->size; i++)
        object[i] = (char)i;
    if (object && me && p->mode == 1)
        object[p->size] = 0; /* no guard holds a 0 */
    if (me)
        p->cells[0] = (uint64_t)(uintptr_t)object;
    AT(LINE_FREE, gpurt_places_free(&mine, object, p->size));
    AT(LINE_AGAIN, gpurt_places_free(&mine, me && p->mode == 2 ? object : NULL, p->size));
    more = (char *)AT(LINE_LEAK, gpurt_places_alloc(&mine, me ? p->size : 0));
    gpurt_places_free(&mine, p->mode == 3 ? NULL : more, p->size);
    gpurt_places_flush(&mine);
    gpurt_rack_flush(rack, &p->heap);
}

/* One lane asks. */
GPURT_DEVN void checks_passed_lane(const struct checks_args *p, gpurt_arena_t *a)
{
    gpurt_section_t in;
    gpurt_matrix_t m;
    uint32_t why;

    if (p->mode == ASKED_REF)
        AT(LINE_LEAK, gpurt_ref_alloc(&p->refs, p->size, 0, &why));
    if (p->mode == ASKED_OBJECT) {
        in = gpurt_gc_enter(&p->gc, 1);
        AT(LINE_LEAK, gpurt_object_alloc(&p->gc, in, 0, p->size, &why));
        gpurt_gc_leave(&p->gc, in, 1);
    }
    if (p->mode == ASKED_MATRIX)
        AT(LINE_LEAK, gpurt_matrix_alloc(&p->heap, 1, p->size, 16, &m));
    if (p->mode == ASKED_ARENA)
        AT(LINE_LEAK, gpurt_arena_alloc(a, p->size));
    if (p->mode == ASKED_ARENA_ALIGNED)
        AT(LINE_LEAK, gpurt_arena_alloc_aligned(a, p->size, 64));
}

/* One warp: what it is given comes of one request of the heap, which nobody frees; of a few where
 * lanes ask that need not be together. */
GPURT_KERNEL(checks_passed_on, struct checks_args, p)
{
    GPURT_SHARED(gpurt_block_arena_t, shared, 1);
    gpurt_arena_source_t source;
    gpurt_arena_t a;

    source.heap = p->heap;
    source.slots = NULL;
    source.slot_count = source.epoch = 0;
    gpurt_arena_init(&a, NULL, 0);
    gpurt_arena_grow_from(&a, &source, 8192);
    if (gpurt_lane() == 0)
        checks_passed_lane(p, &a);
    gpurt_syncwarp(GPURT_FULL_MASK);
    if (p->mode == ASKED_LANES)
        AT(LINE_LEAK, gpurt_alloc_lanes(&p->heap, p->size, 4));
    if (p->mode == ASKED_ARENA_WARP)
        AT(LINE_LEAK, gpurt_arena_warp_alloc(&a, p->size));
    if (p->mode == ASKED_ARENA_WARP_EACH)
        AT(LINE_LEAK, gpurt_arena_warp_alloc_each(&a, p->size));
    gpurt_block_arena_init(shared, NULL, 0, &source, 8192);
    if (p->mode == ASKED_BLOCK_ARENA)
        AT(LINE_LEAK, gpurt_block_arena_alloc(shared, p->size));
    if (p->mode == ASKED_BLOCK_ARENA_LARGE)
        AT(LINE_LEAK, gpurt_block_arena_alloc(shared, 300)); /* 9,600 for all: its own */
}

/* Lanes that do three different things to one counter, which branches bring to one place. */
GPURT_KERNEL(checks_tally, struct checks_args, p)
{
    uint32_t me = gpurt_global_id();
    uint64_t *mine = p->cells + 1 + me;

    for (uint32_t i = 0; i < p->count; i++) {
        if (me % 3 == 0)
            *mine = gpurt_tally_add(p->cells, 1);
        else if (me % 3 == 1)
            gpurt_tally_red(p->cells, 1);
        else
            *mine = gpurt_tally_ticket(p->cells);
    }
}
