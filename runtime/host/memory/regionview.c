/* SPDX-License-Identifier: Apache-2.0 */
/* A region's bits are gone through in pieces of bounded length, whatever the region's: what a
 * row of free granules was at the end of one goes on in the next. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "regionview.h"

#include "watch.h"

#include <stdio.h>
#include <string.h>

enum {
    OFTEN = 1 << 20,        /* granules: of more only where a row is due */
    COUNTED_MOST = 1 << 22, /* granules whose blocks are counted: 16 MiB of lengths */
    CELLS = 128,
    NAME_BYTES = 64
};
GPURT_STATIC_ASSERT(GPURT_VIEWER_PIECE % sizeof(uint64_t) == 0, "whole words");

/* What a look is given. */
typedef struct region_look {
    gpurt_region_t region;
    char name[NAME_BYTES];
} region_look_t;

enum {
    NAME,
    FIT,
    GRANULE,
    BYTES,
    USED,
    LARGEST,
    HOLES,
    BLOCKS,
    FULL,
    FRAGMENTED,
    REFUSED,
    WRONG,
    STUCK,
    RACES,
    LOOKING,
    MAP,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [NAME] = GPURT_FIELD("name", TEXT),
    [FIT] = GPURT_FIELD("fit", STATE, .words = "first,best,worst"),
    [GRANULE] = GPURT_FIELD("granule", LIMIT, .unit = "B"),
    [BYTES] = GPURT_FIELD("bytes", LIMIT, .unit = "B"),
    [USED] = GPURT_FIELD("used_bytes", GAUGE, .unit = "B", .of = "bytes"),
    [LARGEST] = GPURT_FIELD("largest_free_bytes", GAUGE, .unit = "B"),
    [HOLES] = GPURT_FIELD("holes", GAUGE),
    [BLOCKS] = GPURT_FIELD("blocks", GAUGE),
    [FULL] = GPURT_FIELD("full", FAULT), /* requests that found too little free, */
    [FRAGMENTED] = GPURT_FIELD("fragmented", FAULT), /* ... or not in a row, */
    [REFUSED] = GPURT_FIELD("refused", FAULT), /* ... or were refused for another reason */
    [WRONG] = GPURT_FIELD("wrong", FAULT),     /* pointers that were no block */
    [STUCK] = GPURT_FIELD("not_in_place", COUNTER), /* resizes that moved, merges refused */
    [RACES] = GPURT_FIELD("races", COUNTER),   /* places that another lane took first */
    [LOOKING] = GPURT_FIELD("looking", GAUGE), /* warps that look for a place */
    [MAP] = GPURT_FIELD("map", CELLS, .count = CELLS),
};

/* ---- a look -------------------------------------------------------------------------- */

/* Of the bits as far as they were gone through. */
typedef struct sums {
    uint32_t granules, cell;               /* of the region, of a cell */
    uint64_t is_free, holes, largest, row; /* row: free granules right before here */
    uint32_t taken[CELLS];
} sums_t;

static void row_end(sums_t *s)
{
    s->holes += s->row != 0;
    s->largest = s->row > s->largest ? s->row : s->largest;
    s->row = 0;
}

static void rows_add(sums_t *s, uint64_t word, uint32_t bits)
{
    while (bits > 0) {
        bool is_free = word & 1;
        uint64_t other = is_free ? ~word : word; /* its first bit is not as this one */
        uint32_t n = other ? gpurt_ctz64(other) : 64;

        n = n < bits ? n : bits;
        if (is_free)
            s->row += n;
        else
            row_end(s);
        word = n < 64 ? word >> n : 0;
        bits -= n;
    }
}

static void cells_add(sums_t *s, uint64_t word, uint32_t first, uint32_t bits)
{
    for (uint32_t at = 0, n; at < bits; at += n) {
        uint32_t cell = (first + at) / s->cell, end = (cell + 1) * s->cell - first;
        uint64_t part = word >> at;

        n = (end < bits ? end : bits) - at;
        if (n < 64)
            part &= (1ull << n) - 1;
        s->taken[cell] += n - (uint32_t)__builtin_popcountll(part);
    }
}

/* Word number i of the bits. */
static void word_add(sums_t *s, uint64_t word, uint32_t i)
{
    uint32_t rest = s->granules - i * 64, bits = rest < 64 ? rest : 64;

    if (bits < 64)
        word &= (1ull << bits) - 1;
    s->is_free += (uint64_t)__builtin_popcountll(word);
    rows_add(s, word, bits);
    cells_add(s, word, i * 64, bits);
}

static bool bits_look(gpurt_viewer_t *v, const gpurt_region_t *r, sums_t *s)
{
    uint32_t piece = GPURT_VIEWER_PIECE / sizeof(uint64_t);
    uint64_t *words = (uint64_t *)(void *)gpurt_viewer_buffer(v, GPURT_VIEWER_PIECE);

    memset(s, 0, sizeof *s);
    s->granules = r->granules;
    s->cell = (r->granules + CELLS - 1) / CELLS;
    for (uint32_t from = 0; from < r->words; from += piece) {
        uint32_t n = r->words - from < piece ? r->words - from : piece;

        if (!words || !gpurt_viewer_fetch(v, words, r->bits + from, n * sizeof *words))
            return false;
        for (uint32_t i = 0; i < n; i++)
            word_add(s, words[i], from + i);
    }
    row_end(s);
    return true;
}

static bool blocks_look(gpurt_viewer_t *v, const gpurt_region_t *r, uint64_t *blocks)
{
    uint32_t piece = GPURT_VIEWER_PIECE / sizeof(uint32_t);
    uint32_t *lengths = (uint32_t *)(void *)gpurt_viewer_buffer(v, GPURT_VIEWER_PIECE);

    *blocks = r->granules > COUNTED_MOST ? GPURT_VALUE_UNKNOWN : 0;
    for (uint32_t from = 0; from < r->granules && *blocks != GPURT_VALUE_UNKNOWN;
         from += piece) {
        uint32_t n = r->granules - from < piece ? r->granules - from : piece;

        if (!lengths ||
            !gpurt_viewer_fetch(v, lengths, r->lengths + from, n * sizeof *lengths))
            return false;
        for (uint32_t i = 0; i < n; i++)
            *blocks += lengths[i] != 0;
    }
    return true;
}

/* ---- values -------------------------------------------------------------------------- */

static uint64_t answers(const gpurt_region_counts_t *c, uint32_t from, uint32_t to)
{
    uint64_t sum = 0;

    for (uint32_t i = from; i <= to; i++)
        sum += c->xanswers[i];
    return sum;
}

static void counts_read(const gpurt_region_counts_t *c, uint64_t *values)
{
    values[FULL] = answers(c, GPURT_REGION_FULL, GPURT_REGION_FULL);
    values[FRAGMENTED] = answers(c, GPURT_REGION_FRAGMENTED, GPURT_REGION_FRAGMENTED);
    values[REFUSED] = answers(c, GPURT_REGION_TOO_LARGE, GPURT_REGION_NONE);
    values[WRONG] = answers(c, GPURT_REGION_FOREIGN, GPURT_REGION_TWICE);
    values[STUCK] = answers(c, GPURT_REGION_TAKEN, GPURT_REGION_APART);
    values[RACES] = c->xlost_races;
    values[LOOKING] = c->xlooking;
}

static void map_read(const sums_t *s, uint64_t *map)
{
    for (uint32_t i = 0; i < CELLS; i++) {
        uint64_t first = (uint64_t)i * s->cell, whole = s->granules - first;
        uint64_t taken = s->taken[i];

        whole = whole < s->cell ? whole : s->cell;
        gpurt_cell_set(map, i,
                       first >= s->granules ? (uint32_t)GPURT_CELL_NONE
                       : taken ? (uint32_t)(1 + taken * (GPURT_CELL_FULL - 1) / whole)
                               : 0);
    }
}

static bool region_read(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values)
{
    const region_look_t *look = object;
    const gpurt_region_t *r = &look->region;
    gpurt_region_counts_t counts;
    uint64_t blocks;
    sums_t sums;

    if ((r->granules > OFTEN && !due) ||
        !gpurt_viewer_fetch(v, &counts, r->counts, sizeof counts) ||
        !bits_look(v, r, &sums) || !blocks_look(v, r, &blocks))
        return false;
    values[NAME] = gpurt_watch_text(v, look->name);
    values[FIT] = r->fit;
    values[GRANULE] = 1ull << r->shift;
    values[BYTES] = (uint64_t)r->granules << r->shift;
    values[USED] = (r->granules - sums.is_free) << r->shift;
    values[LARGEST] = sums.largest << r->shift;
    values[HOLES] = sums.holes;
    values[BLOCKS] = blocks;
    counts_read(&counts, values);
    map_read(&sums, values + MAP);
    return true;
}

GPURT_CLASS_DECLARE(region, regions, fields, region_read);

/* ---- life ---------------------------------------------------------------------------- */

void gpurt_regionview_begin(gpurt_t *rt, const gpurt_region_t *region, const char *name)
{
    region_look_t look = {.region = *region};

    snprintf(look.name, sizeof look.name, "%s", name ? name : "");
    gpurt_watch_begin(rt, &gpurt_class_region, region->id, &look, sizeof look);
}

void gpurt_regionview_end(gpurt_t *rt, const gpurt_region_t *region)
{
    gpurt_watch_end(rt, &gpurt_class_region, region->id);
}
