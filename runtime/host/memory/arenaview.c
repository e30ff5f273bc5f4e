/* SPDX-License-Identifier: Apache-2.0 */
/* The class of objects "arena_source": arenas that are alive, and the pieces that they took. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "arenastats.h"
#include "watch.h"

enum {
    OFTEN = 1 << 18 /* slots: a larger table is read only where a row is due */
};

enum {
    HEAP,
    SLOTS,
    ARENAS,
    PIECES,
    BYTES,
    LARGEST,
    TAKEN,
    REFUSED,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [HEAP] = GPURT_FIELD("heap", REFERENCE, .words = "heap", .flags = GPURT_FIELD_PARENT),
    [SLOTS] = GPURT_FIELD("slots", LIMIT),
    [ARENAS] = GPURT_FIELD("arenas", GAUGE, .of = "slots"),
    [PIECES] = GPURT_FIELD("pieces", GAUGE),
    [BYTES] = GPURT_FIELD("bytes", GAUGE, .unit = "B"),
    [LARGEST] = GPURT_FIELD("largest_bytes", GAUGE, .unit = "B"),
    [TAKEN] = GPURT_FIELD("taken_bytes", COUNTER, .unit = "B"),
    [REFUSED] = GPURT_FIELD("refused", FAULT),
};

/* Arenas of cancelled blocks count until gpurt_arena_source_sweep. */
static bool source_look(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values)
{
    const gpurt_arena_source_t *s = object;
    size_t piece = GPURT_VIEWER_PIECE / sizeof(uint64_t);
    size_t words = gpurt_arena_table_words(s->slot_count);
    uint64_t *copy = (uint64_t *)(void *)gpurt_viewer_buffer(v, GPURT_VIEWER_PIECE);
    gpurt_arena_stats_t sum = {0};

    if (!copy || (s->slot_count > OFTEN && !due))
        return false;
    for (size_t from = 0; from < words; from += piece) {
        size_t n = words - from < piece ? words - from : piece;

        if (!gpurt_viewer_fetch(v, copy, s->slots + from, n * sizeof *copy))
            return false;
        gpurt_arena_stats_add(&sum, s->slot_count, copy, from, n);
    }
    values[HEAP] = s->heap.id;
    values[SLOTS] = s->slot_count;
    values[ARENAS] = sum.arenas;
    values[PIECES] = sum.pieces;
    values[BYTES] = sum.bytes;
    values[LARGEST] = sum.largest;
    values[TAKEN] = sum.taken;
    values[REFUSED] = sum.refused;
    return true;
}

GPURT_CLASS_DECLARE(arena_source, arena_sources, fields, source_look);
