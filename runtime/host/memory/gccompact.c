/* SPDX-License-Identifier: Apache-2.0 */
/* Compaction: planned on a copy of the heap's tables, done by a kernel that copies objects
 * and tells their entries. A chunk is emptied only if all that lives in it can move, and
 * all of it fits into fuller chunks of its class. */
#include "gccollect.h"
#include "heapmap.h"
#include "ownwait.h"
#include "reclaimtable.h"
#include "servicerest.h"

#include <errno.h>
#include <gpurt/gc.h>
#include <gpurt/heap.h>
#include <stdlib.h>
#include <string.h>

/* An object of the collector's that can move. */
typedef struct piece {
    uint64_t address;
    uint32_t entry, bytes;
} piece_t;

/* A chunk of the class at hand. */
typedef struct place {
    uint32_t chunk, live;
    uint32_t first, count; /* pieces in it */
} place_t;

/* Owner: the call. */
typedef struct plan {
    gpurt_heap_mirror_t mirror;
    piece_t *pieces; /* by address */
    place_t *places;
    gpurt_gc_move_t *moves;
    uint32_t piece_count, place_count, move_count;
} plan_t;

static int by_address(const void *a, const void *b)
{
    uint64_t x = ((const piece_t *)a)->address, y = ((const piece_t *)b)->address;

    return (x > y) - (x < y);
}

static int by_live(const void *a, const void *b)
{
    const place_t *x = (const place_t *)a, *y = (const place_t *)b;

    if (x->live != y->live)
        return x->live < y->live ? -1 : 1;
    return x->chunk < y->chunk ? -1 : x->chunk > y->chunk;
}

static uint32_t chunk_of(const gpurt_heap_t *h, uint64_t address)
{
    return (uint32_t)((address - (uint64_t)(uintptr_t)h->chunks) >> GPURT_CHUNK_SHIFT);
}

static gpurt_status_t plan_init(plan_t *p, const gpurt_gc_t *gc,
                                const gpurt_gc_entry_t *entries, gpurt_error_t *err)
{
    size_t n = gc->entry_count;

    p->pieces = (piece_t *)calloc(n, sizeof *p->pieces);
    p->moves = (gpurt_gc_move_t *)calloc(n, sizeof *p->moves);
    p->places = (place_t *)calloc(gc->heap.chunk_count, sizeof *p->places);
    if (!p->pieces || !p->moves || !p->places)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "compaction");
    for (uint32_t i = 0; i < gc->entry_count; i++)
        if (entries[i].xaddress && !(entries[i].xmeta & GPURT_GC_DYING))
            p->pieces[p->piece_count++] = (piece_t){
                .address = entries[i].xaddress, .entry = i, .bytes = entries[i].xsize};
    qsort(p->pieces, p->piece_count, sizeof *p->pieces, by_address);
    return GPURT_OK;
}

static void plan_free(plan_t *p)
{
    free(p->pieces);
    free(p->places);
    free(p->moves);
    gpurt_heap_mirror_free(&p->mirror);
}

/* The chunks of a class, the emptiest first. */
static void places_list(plan_t *p, uint32_t c)
{
    const gpurt_heap_t *h = &p->mirror.heap;
    uint32_t slots = gpurt_shape_slots(gpurt_class_shape(c)), piece = 0;

    p->place_count = 0;
    for (uint32_t i = 0; i < h->chunk_count; i++) {
        place_t at = {.chunk = i, .live = slots - gpurt_state_free(h->states[i])};

        while (piece < p->piece_count && chunk_of(h, p->pieces[piece].address) < i)
            piece++;
        at.first = piece;
        while (piece < p->piece_count && chunk_of(h, p->pieces[piece].address) == i)
            piece++;
        at.count = piece - at.first;
        if (gpurt_state_is_slab(h->states[i]) && gpurt_state_class(h->states[i]) == c)
            p->places[p->place_count++] = at;
    }
    qsort(p->places, p->place_count, sizeof *p->places, by_live);
}

/* Takes a free slot of a chunk. Context: there is one. */
static uint32_t slot_take(const gpurt_heap_t *h, uint32_t chunk)
{
    uint32_t *bits = gpurt_slab_bits(h, chunk), row = 0, slot;

    while (!bits[row])
        row++;
    slot = row * 32 + gpurt_ctz(bits[row]);
    bits[row] &= bits[row] - 1;
    h->states[chunk]--;
    return slot;
}

static void slot_free(const gpurt_heap_t *h, uint32_t c, uint32_t chunk, uint64_t address)
{
    uint32_t at = (uint32_t)(address - (uint64_t)(uintptr_t)h->chunks) % GPURT_CHUNK_BYTES;
    uint32_t slot = at / gpurt_class_bytes(c);

    gpurt_slab_bits(h, chunk)[slot / 32] |= 1u << (slot % 32);
    gpurt_slab_give(h, chunk, 1);
}

/* Empties places[from] into the fullest ones, which begin at the end. */
static void place_empty(plan_t *p, uint32_t c, uint32_t from, uint32_t *to)
{
    const gpurt_heap_t *h = &p->mirror.heap;
    place_t *source = &p->places[from];

    for (uint32_t i = 0; i < source->count; i++) {
        const piece_t *piece = &p->pieces[source->first + i];
        uint32_t chunk, slot;

        while (gpurt_state_free(h->states[p->places[*to].chunk]) == 0)
            --*to;
        chunk = p->places[*to].chunk;
        slot = slot_take(h, chunk);
        p->moves[p->move_count++] =
            (gpurt_gc_move_t){.from = piece->address,
                              .to = (uint64_t)(uintptr_t)gpurt_slab_slot(
                                  h, gpurt_class_bytes(c), chunk, slot),
                              .entry = piece->entry,
                              .bytes = piece->bytes};
        slot_free(h, c, source->chunk, piece->address);
    }
}

static void plan_class(plan_t *p, uint32_t c)
{
    const gpurt_heap_t *h = &p->mirror.heap;
    uint64_t room = 0;
    uint32_t to;

    places_list(p, c);
    if (p->place_count < 2)
        return;
    for (uint32_t i = 0; i < p->place_count; i++)
        room += gpurt_state_free(h->states[p->places[i].chunk]);
    to = p->place_count - 1;
    for (uint32_t i = 0; i < to; i++) {
        const place_t *at = &p->places[i];

        room -= gpurt_state_free(h->states[at->chunk]); /* of the fuller ones */
        if (room < at->live)
            break;
        if (at->count != at->live)
            continue; /* somebody else's object lies there */
        place_empty(p, c, i, &to);
        room -= at->live;
    }
}

static gpurt_status_t plan_do(plan_t *p, gpurt_t *rt, const gpurt_gc_t *gc,
                              gpurt_error_t *err)
{
    struct gpurt_gc_args args = {.gc = *gc, .move_count = p->move_count};
    size_t bytes = p->move_count * sizeof *p->moves;
    gpurt_launch_t launch = {.grid = {(p->move_count + 7) / 8, 1, 1}, .block = {256, 1, 1}};
    void *moves = NULL;
    gpurt_status_t st = gpurt_mem_create(rt, bytes, &moves, err);

    if (launch.grid.x > 1024)
        launch.grid.x = 1024;
    if (st == GPURT_OK)
        st = gpurt_table_write(rt, moves, p->moves, bytes, err);
    args.moves = (const gpurt_gc_move_t *)moves;
    if (st == GPURT_OK)
        st = gpurt_launch(rt, &launch, gpurt_gc_move, &args, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
    gpurt_mem_destroy(rt, moves);
    return st == GPURT_OK ? gpurt_heap_mirror_store(rt, &gc->heap, &p->mirror, err) : st;
}

/* What a heap that checks keeps back goes, and no run promises a slot: what is free is marked
 * so. */
static gpurt_status_t heap_settle(gpurt_t *rt, const gpurt_gc_t *gc, gpurt_error_t *err)
{
    struct gpurt_gc_args args = {.gc = *gc};
    gpurt_launch_t launch = {.grid = {8, 1, 1}, .block = {256, 1, 1}};
    gpurt_status_t st = GPURT_OK;

    if (gc->heap.watch)
        st = gpurt_launch(rt, &launch, gpurt_gc_let_go, &args, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
    return st == GPURT_OK ? gpurt_heap_trim(rt, &gc->heap, err) : st;
}

/* Context: both are taken. */
static gpurt_status_t compact(gpurt_t *rt, const gpurt_gc_t *gc, uint32_t *moved,
                              gpurt_error_t *err)
{
    gpurt_gc_entry_t *entries = NULL;
    plan_t p = {0};
    gpurt_status_t st = heap_settle(rt, gc, err);

    if (st == GPURT_OK)
        st = gpurt_heap_mirror_load(rt, &gc->heap, &p.mirror, err);
    if (st == GPURT_OK)
        st = gpurt_gc_entries_read(rt, gc, &entries, err);
    if (st == GPURT_OK)
        st = plan_init(&p, gc, entries, err);
    for (uint32_t c = 0; c < GPURT_CLASS_COUNT && st == GPURT_OK; c++)
        plan_class(&p, c);
    if (st == GPURT_OK && p.move_count)
        st = plan_do(&p, rt, gc, err);
    if (st == GPURT_OK)
        *moved = p.move_count;
    free(entries);
    plan_free(&p);
    return st;
}

/* Kernels end before services rest: one may wait for what a service does. */
static gpurt_status_t compact_at_rest(gpurt_t *rt, const gpurt_gc_t *gc, uint32_t *moved,
                                      gpurt_error_t *err)
{
    gpurt_service_rest_t rest;
    gpurt_status_t st = gpurt_own_sync(rt, err);

    if (st == GPURT_OK)
        st = gpurt_services_rest(rt, &gc->heap.id, 1, &rest, err);
    if (st != GPURT_OK)
        return st;
    st = compact(rt, gc, moved, err);
    gpurt_services_resume(&rest);
    return st;
}

gpurt_status_t gpurt_gc_compact(gpurt_t *rt, const gpurt_gc_t *gc, uint32_t *moved,
                                gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_gc_take(rt, gc, err);
    uint32_t count = 0;

    if (st == GPURT_OK) {
        st = compact_at_rest(rt, gc, &count, err);
        gpurt_gc_drop(gc);
    }
    if (moved)
        *moved = count;
    return st;
}
