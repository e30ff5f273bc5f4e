/* SPDX-License-Identifier: Apache-2.0 */
/* A region's bits are gone through in pieces of bounded length, whatever the region's: what a
 * row of free granules was at the end of one goes on in the next. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "regionview.h"

#include "hosttime.h"

#include <gpurt/impl/heaprow.h>
#include <stdio.h>
#include <string.h>

enum {
    REGIONS = 64, /* that are told of at a time */
    NAME = 64,
    OFTEN = 1 << 20,       /* granules: of more only every two seconds */
    COUNTED_MOST = 1 << 22 /* granules whose blocks are counted: 16 MiB of lengths */
};
GPURT_STATIC_ASSERT(GPURT_VIEWER_PIECE % sizeof(uint64_t) == 0, "whole words");

/* What is looked at, and what was told last of it. */
typedef struct entry {
    gpurt_region_t region; /* base NULL: free */
    char name[NAME];
    gpurt_t *rt;
    uint64_t time_ns;
    gpurt_region_state_row_t state;
} entry_t;

static entry_t book[REGIONS]; /* under the viewer's lock */

/* ---- a look -------------------------------------------------------------------------- */

/* Of the bits as far as they were gone through. */
typedef struct sums {
    uint32_t granules, cell;               /* of the region, of a cell */
    uint64_t is_free, holes, largest, row; /* row: free granules right before here */
    uint32_t taken[GPURT_HEAP_CELLS];
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
    s->cell = (r->granules + GPURT_HEAP_CELLS - 1) / GPURT_HEAP_CELLS;
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

    *blocks = r->granules > COUNTED_MOST ? GPURT_REGION_UNKNOWN : 0;
    for (uint32_t from = 0; from < r->granules && *blocks != GPURT_REGION_UNKNOWN;
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

/* ---- telling ------------------------------------------------------------------------- */

static gpurt_pair_t answers(const gpurt_region_counts_t *c, uint32_t from, uint32_t to)
{
    uint64_t sum = 0;

    for (uint32_t i = from; i <= to; i++)
        sum += c->xanswers[i];
    return gpurt_pair(sum);
}

static void counts_row(const gpurt_region_counts_t *c, gpurt_region_state_row_t *row)
{
    row->full = answers(c, GPURT_REGION_FULL, GPURT_REGION_FULL);
    row->fragmented = answers(c, GPURT_REGION_FRAGMENTED, GPURT_REGION_FRAGMENTED);
    row->refused = answers(c, GPURT_REGION_TOO_LARGE, GPURT_REGION_NONE);
    row->wrong = answers(c, GPURT_REGION_FOREIGN, GPURT_REGION_TWICE);
    row->stuck = answers(c, GPURT_REGION_TAKEN, GPURT_REGION_APART);
    row->races = gpurt_pair(c->xlost_races);
    row->looking = (uint32_t)c->xlooking;
}

static bool region_look(gpurt_viewer_t *v, const entry_t *e, sums_t *sums,
                        gpurt_region_state_row_t *row)
{
    const gpurt_region_t *r = &e->region;
    gpurt_region_counts_t counts;
    uint64_t blocks;

    memset(row, 0, sizeof *row);
    if (!gpurt_viewer_fetch(v, &counts, r->counts, sizeof counts) ||
        !bits_look(v, r, sums) || !blocks_look(v, r, &blocks))
        return false;
    row->region = e->region.id;
    row->flags = r->fit;
    row->granule = 1u << r->shift;
    row->name = e->name[0] ? names_number(&v->names, &v->ring, e->name, false) : 0;
    row->bytes = gpurt_pair((uint64_t)r->granules << r->shift);
    row->used = gpurt_pair((r->granules - sums->is_free) << r->shift);
    row->largest = gpurt_pair(sums->largest << r->shift);
    row->holes = gpurt_pair(sums->holes);
    row->blocks = gpurt_pair(blocks);
    counts_row(&counts, row);
    return true;
}

static void map_put(gpurt_viewer_t *v, const entry_t *e, const sums_t *s, uint64_t now_ns)
{
    gpurt_region_map_row_t row = {.region = e->region.id, .granules = s->cell};
    uint64_t word = 0;

    for (uint32_t i = 0; i < GPURT_HEAP_CELLS; i++) {
        uint64_t first = (uint64_t)i * s->cell, value = GPURT_HEAP_CELL_NONE;
        uint64_t taken = s->taken[i], whole = s->granules - first;

        if (first < s->granules) {
            whole = whole < s->cell ? whole : s->cell;
            value = taken ? 1 + taken * (GPURT_HEAP_CELL_FULL - 1) / whole : 0;
        }
        word |= value << (i % 16 * 4);
        if (i % 16 == 15) {
            row.cells[i / 16] = gpurt_pair(word);
            word = 0;
        }
    }
    gpurt_viewer_put(v, GPURT_KIND_REGION_MAP, now_ns, &row);
}

static void region_tell(gpurt_viewer_t *v, entry_t *e, bool last, bool ended)
{
    uint64_t now_ns = gpurt_real_ns();
    gpurt_region_state_row_t row;
    gpurt_viewer_news_t news;
    sums_t sums;

    if (e->region.granules > OFTEN && !last && !gpurt_viewer_is_due(e->time_ns, now_ns))
        return;
    if (!region_look(v, e, &sums, &row))
        return;
    row.flags |= ended ? GPURT_HEAP_ENDED : 0;
    news = gpurt_viewer_news(e->time_ns, now_ns, last,
                             memcmp(&row, &e->state, sizeof row) == 0);
    if (news == GPURT_VIEWER_SAME)
        return;
    gpurt_viewer_put(v, GPURT_KIND_REGION_STATE, now_ns, &row);
    map_put(v, e, &sums, now_ns);
    e->state = row;
    if (news == GPURT_VIEWER_DUE)
        e->time_ns = now_ns;
}

/* ---- life ---------------------------------------------------------------------------- */

void gpurt_regionview_begin(gpurt_t *rt, const gpurt_region_t *region, const char *name)
{
    gpurt_viewer_t *v;
    entry_t *e = NULL;

    gpurt_viewer_begin(rt);
    v = gpurt_viewer_enter(rt);
    if (!v)
        return;
    for (uint32_t i = 0; i < REGIONS && !e; i++)
        e = book[i].region.base ? NULL : &book[i];
    if (e) {
        memset(e, 0, sizeof *e);
        e->region = *region;
        e->rt = rt;
        snprintf(e->name, sizeof e->name, "%s", name ? name : "");
    }
    gpurt_viewer_leave();
}

void gpurt_regionview_end(gpurt_t *rt, const gpurt_region_t *region)
{
    gpurt_viewer_t *v = gpurt_viewer_enter(rt);

    for (uint32_t i = 0; v && i < REGIONS; i++)
        if (book[i].region.base && book[i].region.id == region->id) {
            region_tell(v, &book[i], true, true);
            book[i].region.base = NULL;
        }
    if (v)
        gpurt_viewer_leave();
}

void gpurt_regionview_tell(gpurt_viewer_t *v, bool last)
{
    for (uint32_t i = 0; i < REGIONS; i++)
        if (book[i].region.base && book[i].rt == v->rt)
            region_tell(v, &book[i], last, false);
}

void gpurt_regionview_forget(const gpurt_t *rt)
{
    for (uint32_t i = 0; i < REGIONS; i++)
        if (book[i].rt == rt)
            memset(&book[i], 0, sizeof book[i]);
}
