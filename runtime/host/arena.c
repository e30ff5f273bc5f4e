/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of arenas: the table of who has which pieces of a heap, and giving them back. The
 * heap's tables are worked on in a copy, with the device's own functions. */
#include <gpurt/arenas.h>

#include "arenaview.h"
#include "heapmap.h"
#include "idtable.h"
#include "refuse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char WHAT[] = "arenas";
static gpurt_id_entry_t entries[GPURT_ARENA_SOURCES];
static gpurt_idtable_t sources = {.lock = PTHREAD_MUTEX_INITIALIZER,
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
        st = gpurt_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
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
    gpurt_arenaview_begin(rt, out);
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
    gpurt_arenaview_end(rt, source);
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
        st = gpurt_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
    if (st == GPURT_OK)
        gpurt_arena_stats_add(out, source->slot_count, words, 0, count);
    gpurt_id_drop(&sources, source->id);
    free(words);
    return st;
}

/* ---- sweeping ------------------------------------------------------------------------ */

/* gpurt_heap_free, of one object, in the copy. Returns: false when it is none. */
static bool copy_free(const gpurt_heap_t *h, const char *object)
{
    size_t offset = (size_t)(object - h->chunks);
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

/* Frees the pieces of one arena, newest first. Returns: false at one that is none. */
static gpurt_status_t sweep_arena(gpurt_t *rt, const gpurt_heap_t *copy, uint64_t unit,
                                  uint64_t *pieces, bool *good, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;

    while (unit && st == GPURT_OK) {
        const gpurt_arena_piece_t *piece = gpurt_arena_piece(copy, unit);
        gpurt_arena_piece_t header;

        if (!copy_free(copy, (const char *)piece)) {
            *good = false;
            break;
        }
        ++*pieces;
        st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, &header, piece, sizeof header, err);
        if (st == GPURT_OK)
            st = gpurt_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
        unit = header.next & GPURT_ARENA_UNITS;
    }
    return st;
}

static gpurt_status_t sweep_all(gpurt_t *rt, const gpurt_arena_source_t *source,
                                const uint64_t *slots, const gpurt_heap_t *copy,
                                uint64_t *pieces, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;
    bool good = true;

    for (uint32_t i = 0; i < source->slot_count && st == GPURT_OK; i++)
        if (slots[i])
            st = sweep_arena(rt, copy, slots[i] & GPURT_ARENA_UNITS, pieces, &good, err);
    if (st == GPURT_OK && !good)
        st = REFUSE(
            err, GPURT_E_FAULT,
            "arenas: the begin of a piece was written over: what follows it is lost");
    return st;
}

/* All of it but what is said since the source was made. */
static gpurt_status_t table_empty(gpurt_t *rt, const gpurt_arena_source_t *source,
                                  gpurt_error_t *err)
{
    gpurt_viewer_t *viewer = gpurt_viewer_enter(rt);
    size_t bytes = 2 * source->slot_count * sizeof *source->slots;
    gpurt_status_t st = gpurt_fill(rt, GPURT_STREAM_DEFAULT, source->slots, 0, bytes, err);

    if (st == GPURT_OK)
        st = gpurt_stream_sync(rt, GPURT_STREAM_DEFAULT, err);
    if (viewer)
        gpurt_viewer_leave();
    return st;
}

/* Context: the heap is taken. */
static gpurt_status_t source_sweep(gpurt_t *rt, const gpurt_arena_source_t *source,
                                   uint64_t *pieces, gpurt_error_t *err)
{
    size_t bytes = source->slot_count * sizeof *source->slots;
    uint64_t *slots = (uint64_t *)malloc(bytes);
    gpurt_heap_mirror_t m = {.memory = NULL};
    gpurt_status_t st, kept;

    if (!slots)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "arenas: a table");
    st = gpurt_copy(rt, GPURT_STREAM_DEFAULT, slots, source->slots, bytes, err);
    if (st == GPURT_OK)
        st = gpurt_heap_mirror_load(rt, &source->heap, &m, err);
    if (st == GPURT_OK) {
        kept = sweep_all(rt, source, slots, &m.heap, pieces, err);
        if (*pieces)
            st = gpurt_heap_mirror_store(rt, &source->heap, &m, err);
        if (st == GPURT_OK)
            st = table_empty(rt, source, err);
        st = st == GPURT_OK ? kept : st;
    }
    gpurt_heap_mirror_free(&m);
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
