/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of arenas: the table of who has which pieces of a heap, and giving them back. */
#include <gpurt/arenas.h>

#include "arenastats.h"
#include "heapmap.h"
#include "idtable.h"
#include "ownwait.h"
#include "reclaimtable.h"
#include "refuse.h"
#include "sweep_kernels.h"
#include "watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    SWEEP_BLOCKS = 64
};

GPURT_CLASS(arena_source);

static const char WHAT[] = "arenas";
static gpurt_id_entry_t entries[GPURT_ARENA_SOURCES];
static gpurt_idtable_t sources = {.lock = GPURT_LOCK_INIT,
                                  .what = "source",
                                  .entries = entries,
                                  .count = GPURT_ARENA_SOURCES};

gpurt_status_t gpurt_arena_source_create(gpurt_t *rt, const gpurt_heap_t *heap,
                                         uint32_t slots, gpurt_arena_source_t *out,
                                         gpurt_error_t *err)
{
    gpurt_status_t st;
    void *memory = NULL;
    uint32_t id = 0;
    size_t bytes;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the source");
    memset(out, 0, sizeof *out);
    slots = slots ? slots : GPURT_ARENA_SLOTS;
    if (slots > 1u << 24)
        return REFUSE(err, GPURT_E_INVALID, "arenas: %u slots: at most 2^24", slots);
    bytes = gpurt_arena_table_words(slots) * sizeof *out->slots;
    st = gpurt_heap_known(rt, heap, err);
    if (st == GPURT_OK)
        st = gpurt_mem_create(rt, bytes, &memory, err);
    if (st == GPURT_OK)
        st = gpurt_fill(rt, GPURT_STREAM_DEFAULT, memory, 0, bytes, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
    if (st == GPURT_OK) {
        id = gpurt_id_add(&sources, rt, memory, memory);
        if (!id)
            st = REFUSE(err, GPURT_E_NOMEM, "arenas: %d sources exist, more cannot be",
                        GPURT_ARENA_SOURCES);
    }
    if (st != GPURT_OK) {
        gpurt_mem_destroy(rt, memory);
        return st;
    }
    out->heap = *heap;
    out->id = id;
    out->slots = (uint64_t *)memory;
    out->slot_count = slots;
    out->epoch = 1;
    gpurt_watch_begin(rt, &gpurt_class_arena_source, id, out, sizeof *out);
    return GPURT_OK;
}

gpurt_status_t gpurt_arena_source_destroy(gpurt_t *rt, gpurt_arena_source_t *source,
                                          gpurt_error_t *err)
{
    gpurt_status_t st;

    if (!source || !source->slots)
        return GPURT_OK;
    st = gpurt_id_retire(&sources, WHAT, rt, source->id, source->slots, err);
    if (st != GPURT_OK)
        return st;
    gpurt_watch_end(rt, &gpurt_class_arena_source, source->id);
    st = gpurt_id_drop(&sources, source->id);
    if (st != GPURT_OK)
        return REFUSE(err, st, "arenas: their table could not be freed");
    memset(source, 0, sizeof *source);
    return GPURT_OK;
}

/* ---- looking ------------------------------------------------------------------------- */

void gpurt_arena_stats_add(gpurt_arena_stats_t *out, uint32_t slots, const uint64_t *words,
                           size_t from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bytes = (words[i] & GPURT_ARENA_UNITS) * 16;

        if (from + i < slots) {
            out->arenas += words[i] != 0;
        } else if (from + i < 2 * (size_t)slots) {
            out->pieces += words[i] / GPURT_ARENA_ONE;
            out->bytes += bytes;
            out->largest = bytes > out->largest ? bytes : out->largest;
        } else if (from + i < 3 * (size_t)slots) {
            out->taken += words[i] * 16;
        } else {
            out->refused = words[i];
        }
    }
}

gpurt_status_t gpurt_arena_source_stats(gpurt_t *rt, const gpurt_arena_source_t *source,
                                        gpurt_arena_stats_t *out, gpurt_error_t *err)
{
    gpurt_status_t st;
    uint64_t *words;
    size_t count;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the statistics");
    memset(out, 0, sizeof *out);
    if (!source || !source->slots)
        return REFUSE(err, GPURT_E_INVALID,
                      "source is NULL or empty: pass what gpurt_arena_source_create gave");
    count = gpurt_arena_table_words(source->slot_count);
    st = gpurt_id_take(&sources, WHAT, source->id, source->slots, err);
    if (st != GPURT_OK)
        return st;
    words = (uint64_t *)malloc(count * sizeof *words);
    if (!words)
        st = gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "arenas: a table");
    if (st == GPURT_OK)
        st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, words, source->slots,
                        count * sizeof *words, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
    if (st == GPURT_OK)
        gpurt_arena_stats_add(out, source->slot_count, words, 0, count);
    gpurt_id_drop(&sources, source->id);
    free(words);
    return st;
}

/* ---- sweeping ------------------------------------------------------------------------ */
/* Pieces are followed in a copy of the heap's tables, where each is freed: what is no object,
 * or is met again, shows there. Then a kernel frees them, as the heap wants it. */

__attribute__((used)) static void (*const cpu_half)(const void *) =
    gpurt_cpu_gpurt_epochs_sweep_all;

/* Owner: the call. */
typedef struct sweep {
    gpurt_t *rt;
    const gpurt_heap_t *heap;
    gpurt_heap_mirror_t mirror;
    gpurt_heap_watch_t watch; /* of a heap that checks, else zeros */
    uint64_t *pieces;         /* owned */
    uint64_t count, room;
    bool good; /* nothing was met that is no piece */
} sweep_t;

static gpurt_status_t sweep_open(sweep_t *s, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_heap_known(s->rt, s->heap, err);

    if (st == GPURT_OK)
        st = gpurt_heap_mirror_load(s->rt, s->heap, &s->mirror, err);
    if (st == GPURT_OK && s->heap->watch)
        st = gpurt_heap_watch_load(s->rt, s->heap, &s->watch, err);
    s->good = true;
    return st;
}

static void sweep_close(sweep_t *s)
{
    gpurt_heap_mirror_free(&s->mirror);
    free(s->pieces);
}

/* gpurt_heap_free, of the object whose slot begins there, in the copy. Returns: false when none
 * does. */
static bool copy_free(const gpurt_heap_t *h, const char *begin)
{
    size_t offset = (size_t)(begin - h->chunks);
    uint32_t chunk = (uint32_t)(offset / GPURT_CHUNK_BYTES), at, state, slot, bit;
    uint32_t *bits;
    uint64_t shape;

    if (offset / GPURT_CHUNK_BYTES >= h->chunk_count)
        return false;
    at = (uint32_t)(offset % GPURT_CHUNK_BYTES);
    state = *gpurt_slab_state(h, chunk);
    if (!gpurt_state_is_slab(state))
        return at == 0 && (state & GPURT_STATE_KIND) == GPURT_STATE_LARGE &&
               gpurt_large_free(h, chunk, state) == GPURT_FREE_OK;
    shape = gpurt_class_shape(gpurt_state_class(state));
    slot = gpurt_shape_slot(shape, gpurt_class_shift(gpurt_state_class(state)), at);
    bits = gpurt_slab_bits(h, chunk) + slot / 32;
    bit = 1u << (slot % 32);
    if (slot * gpurt_class_bytes(gpurt_state_class(state)) != at ||
        slot >= gpurt_shape_slots(shape) || (*bits & bit))
        return false;
    *bits |= bit;
    gpurt_slab_give(h, chunk, 1);
    return true;
}

/* Where the slot begins that a byte of the heap lies in, by the copy. A large object's first
 * chunk holds the begin of a piece: it lies at most 32 KiB behind. */
static uint64_t slot_around(const gpurt_heap_t *h, uint64_t offset)
{
    uint32_t chunk = (uint32_t)(offset / GPURT_CHUNK_BYTES), state, at;

    if (offset / GPURT_CHUNK_BYTES >= h->chunk_count)
        return offset;
    state = *gpurt_slab_state(h, chunk);
    at = (uint32_t)(offset % GPURT_CHUNK_BYTES);
    if (gpurt_state_is_slab(state)) /* slots begin with the chunk */
        at %= gpurt_class_bytes(gpurt_state_class(state));
    return offset - at;
}

/* Frees a piece in the copy. Code that checks leaves room between the begin of the slot and
 * the object, and its record says how much. */
static gpurt_status_t piece_free(sweep_t *s, const char *piece, bool *is_one,
                                 gpurt_error_t *err)
{
    const gpurt_heap_t *copy = &s->mirror.heap;
    uint64_t offset = (uint64_t)(piece - copy->chunks), at = slot_around(copy, offset);
    uint32_t half = at & (GPURT_WATCH_GRANULE / 2) ? GPURT_RECORD_HALF : 0;
    gpurt_alloc_record_t r = {.xstate = GPURT_RECORD_NONE};
    gpurt_status_t st = GPURT_OK;

    if (s->watch.records && at < offset)
        st = gpurt_table_read(s->rt, &r, s->watch.records + at / GPURT_WATCH_GRANULE,
                              sizeof r, err);
    if (r.xstate == (GPURT_RECORD_LIVE | half) && at + r.xfront == offset)
        piece = copy->chunks + at;
    *is_one = st == GPURT_OK && copy_free(copy, piece);
    return st;
}

static gpurt_status_t piece_keep(sweep_t *s, const gpurt_arena_piece_t *piece,
                                 gpurt_error_t *err)
{
    uint64_t room = s->room ? 2 * s->room : 256, *more;

    if (s->count == s->room) {
        more = (uint64_t *)realloc(s->pieces, room * sizeof *more);
        if (!more)
            return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM,
                              "arenas: a list of %llu pieces", (unsigned long long)room);
        s->pieces = more;
        s->room = room;
    }
    s->pieces[s->count++] = (uint64_t)(uintptr_t)piece;
    return GPURT_OK;
}

/* The pieces of one arena, newest first, as far as they are some. */
static gpurt_status_t sweep_arena(sweep_t *s, uint64_t unit, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;

    while (unit && st == GPURT_OK) {
        const gpurt_arena_piece_t *piece = gpurt_arena_piece(s->heap, unit);
        gpurt_arena_piece_t header = {.next = 0};
        bool is_one;

        st = piece_free(s, (const char *)piece, &is_one, err);
        if (st == GPURT_OK && !is_one) {
            s->good = false;
            break;
        }
        if (st == GPURT_OK)
            st = piece_keep(s, piece, err);
        if (st == GPURT_OK)
            st = gpurt_table_read(s->rt, &header, piece, sizeof header, err);
        unit = header.next & GPURT_ARENA_UNITS;
    }
    return st;
}

/* Frees all that was found. */
static gpurt_status_t sweep_free(sweep_t *s, gpurt_error_t *err)
{
    struct gpurt_arena_sweep_args args = {.heap = *s->heap, .count = s->count};
    gpurt_launch_t launch = {.grid = {(uint32_t)((s->count + 255) / 256), 1, 1},
                             .block = {256, 1, 1}};
    size_t bytes = s->count * sizeof *s->pieces;
    void *pieces = NULL;
    gpurt_status_t st = gpurt_mem_create(s->rt, bytes, &pieces, err);

    if (launch.grid.x > SWEEP_BLOCKS)
        launch.grid.x = SWEEP_BLOCKS;
    if (st == GPURT_OK)
        st = gpurt_table_write(s->rt, pieces, s->pieces, bytes, err);
    args.pieces = (const uint64_t *)pieces;
    if (st == GPURT_OK)
        st = gpurt_launch(s->rt, &launch, gpurt_arena_sweep_all, &args, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(s->rt, GPURT_STREAM_DEFAULT, err);
    gpurt_mem_destroy(s->rt, pieces);
    return st;
}

static gpurt_status_t sweep_all(sweep_t *s, const uint64_t *slots, uint32_t slot_count,
                                gpurt_error_t *err)
{
    gpurt_status_t st = sweep_open(s, err);

    for (uint32_t i = 0; i < slot_count && st == GPURT_OK; i++)
        if (slots[i])
            st = sweep_arena(s, slots[i] & GPURT_ARENA_UNITS, err);
    return st == GPURT_OK && s->count ? sweep_free(s, err) : st;
}

/* All of it but what is said since the source was made. */
static gpurt_status_t table_empty(gpurt_t *rt, const gpurt_arena_source_t *source,
                                  gpurt_error_t *err)
{
    gpurt_viewer_t *viewer = gpurt_viewer_enter(rt);
    size_t bytes = 2 * source->slot_count * sizeof *source->slots;
    gpurt_status_t st = gpurt_fill(rt, GPURT_STREAM_DEFAULT, source->slots, 0, bytes, err);

    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
    if (viewer)
        gpurt_viewer_leave();
    return st;
}

/* Context: the heap is taken. */
static gpurt_status_t source_sweep(gpurt_t *rt, const gpurt_arena_source_t *source,
                                   uint64_t *pieces, gpurt_error_t *err)
{
    sweep_t s = {.rt = rt, .heap = &source->heap};
    size_t bytes = source->slot_count * sizeof *source->slots;
    uint64_t *slots = (uint64_t *)malloc(bytes);
    gpurt_status_t st;

    if (!slots)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "arenas: a table");
    st = gpurt_table_read(rt, slots, source->slots, bytes, err);
    if (st == GPURT_OK)
        st = sweep_all(&s, slots, source->slot_count, err);
    if (st == GPURT_OK) {
        *pieces = s.count;
        st = table_empty(rt, source, err);
    }
    if (st == GPURT_OK && !s.good)
        st = REFUSE(
            err, GPURT_E_FAULT,
            "arenas: the begin of a piece was written over: what follows it is lost");
    sweep_close(&s);
    free(slots);
    return st;
}

gpurt_status_t gpurt_arena_source_sweep(gpurt_t *rt, const gpurt_arena_source_t *source,
                                        uint64_t *pieces, gpurt_error_t *err)
{
    uint64_t count = 0;
    gpurt_status_t st;

    if (pieces)
        *pieces = 0;
    if (!source || !source->slots)
        return REFUSE(err, GPURT_E_INVALID,
                      "source is NULL or empty: pass what gpurt_arena_source_create gave");
    st = gpurt_id_take(&sources, WHAT, source->id, source->slots, err);
    if (st != GPURT_OK)
        return st;
    st = gpurt_heap_take(rt, &source->heap, err);
    if (st == GPURT_OK) {
        st = source_sweep(rt, source, &count, err);
        gpurt_heap_drop(&source->heap);
    }
    gpurt_id_drop(&sources, source->id);
    if (pieces)
        *pieces = count;
    return st;
}
