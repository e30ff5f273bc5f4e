/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "heapview.h"

#include "heapmap.h"
#include "hosttime.h"
#include "watch.h"

#include <gpurt/impl/heaprow.h>
#include <stdlib.h>
#include <string.h>

enum {
    TOP_SITES = 12,
    SITE_CHUNKS = 256, /* whose records are looked at; of more chunks a part */
    RECORDS = GPURT_CHUNK_BYTES / GPURT_WATCH_GRANULE,
    CELLS = 128,
    SIZE_COLUMNS = 5,
    SIZES = GPURT_CLASS_COUNT * SIZE_COLUMNS
};

/* ---- the classes --------------------------------------------------------------------- */

enum {
    BYTES,
    LIVE_BYTES,
    LIVE,
    CHECKS,
    TRACED,
    SLACK,
    KEPT,
    CHUNKS,
    FREE_CHUNKS,
    LARGEST_ROW,
    LARGE_CHUNKS,
    REFUSED,
    WRONG,
    GOT,
    PUT = GOT + GPURT_PLACES,
    MAP_CHUNKS = PUT + GPURT_PLACES,
    MAP,
    SIZE_CLASSES,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [BYTES] = GPURT_FIELD("bytes", LIMIT, .unit = "B"),
    [LIVE_BYTES] = GPURT_FIELD("live_bytes", GAUGE, .unit = "B", .of = "bytes"),
    [LIVE] = GPURT_FIELD("live", GAUGE), /* objects */
    /* by GPURT_CHECKS_*, none: it cannot */
    [CHECKS] = GPURT_FIELD("checks", STATE, .words = "none,off,cheap,full"),
    [TRACED] = GPURT_FIELD("traced", STATE, .words = "no,yes"),
    /* of free slots in chunks that belong to a class */
    [SLACK] = GPURT_FIELD("slack_bytes", GAUGE, .unit = "B"),
    [KEPT] = GPURT_FIELD("kept_bytes", GAUGE, .unit = "B"), /* kept back after their free */
    /* that have memory: a heap that grows gets more */
    [CHUNKS] = GPURT_FIELD("chunks", GAUGE),
    [FREE_CHUNKS] = GPURT_FIELD("free_chunks", GAUGE), /* of 64 KiB: in the pool, */
    [LARGEST_ROW] = GPURT_FIELD("largest_row", GAUGE), /* ... of them in a row */
    [LARGE_CHUNKS] = GPURT_FIELD("large_chunks", GAUGE),
    [REFUSED] = GPURT_FIELD("refused", FAULT), /* requests that got NULL */
    [WRONG] = GPURT_FIELD("wrong", FAULT),     /* bad frees, and all that was found */
    /* Objects by the level of the pool (GPURT_PLACE_*) that served them or took them back, as
     * flushes have told. */
    [GOT] = GPURT_FIELD("served_by_thread", COUNTER),
    [GOT + 1] = GPURT_FIELD("served_by_warp", COUNTER),
    [GOT + 2] = GPURT_FIELD("served_by_block", COUNTER),
    [GOT + 3] = GPURT_FIELD("served_by_heap", COUNTER),
    [PUT] = GPURT_FIELD("returned_to_thread", COUNTER),
    [PUT + 1] = GPURT_FIELD("returned_to_warp", COUNTER),
    [PUT + 2] = GPURT_FIELD("returned_to_block", COUNTER),
    [PUT + 3] = GPURT_FIELD("returned_to_heap", COUNTER),
    [MAP_CHUNKS] = GPURT_FIELD("map_chunks", LIMIT), /* of a cell */
    [MAP] = GPURT_FIELD("map", CELLS, .count = CELLS),
    [SIZE_CLASSES] =
        GPURT_FIELD("size_classes", MATRIX, .unit = "B",
                    .words = "bytes,chunks,live,reusable,fresh", .count = SIZES),
};
GPURT_STATIC_ASSERT(GPURT_PLACES == 4, "a field each");

static bool heap_read(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values);

GPURT_CLASS_DECLARE(heap, heaps, fields, heap_read);

/* A place in the program that holds memory of a heap: the few that hold most. */
enum {
    SITE_HEAP,
    SITE_TEXT,
    SITE_BYTES,
    SITE_OBJECTS,
    SITE_SAMPLED, /* one of so many chunks was looked at */
    SITE_FIELDS
};
static const gpurt_field_t site_fields[SITE_FIELDS] = {
    [SITE_HEAP] =
        GPURT_FIELD("heap", REFERENCE, .words = "heap", .flags = GPURT_FIELD_PARENT),
    [SITE_TEXT] = GPURT_FIELD("site", TEXT),
    [SITE_BYTES] = GPURT_FIELD("bytes", GAUGE, .unit = "B"),
    [SITE_OBJECTS] = GPURT_FIELD("objects", GAUGE),
    [SITE_SAMPLED] = GPURT_FIELD("sampled", LIMIT),
};
GPURT_CLASS_DECLARE(holder, holders, site_fields, NULL);

/* ---- looking ------------------------------------------------------------------------- */

/* One heap as it is now. Owner: the call. */
typedef struct look {
    gpurt_viewer_t *viewer;
    gpurt_heap_t heap, mirror; /* mirror: its tables lie in the buffer, but for the bits */
    gpurt_heap_watch_t watch;
    gpurt_heap_stats_t stats;
    uint32_t *live; /* bytes a chunk */
    char *rest;     /* of the buffer, for records and sites */
} look_t;

static bool look_make(look_t *l)
{
    size_t tables = (size_t)((char *)l->heap.bits - (char *)l->heap.counts);
    size_t live =
        (sizeof *l->live * l->heap.chunk_count + 7) / 8 * 8; /* a record lies behind */
    size_t records = sizeof(gpurt_alloc_record_t) * RECORDS;
    size_t sites = sizeof(gpurt_alloc_site_t) * GPURT_WATCH_SITES;
    char *buffer;

    buffer = gpurt_viewer_buffer(l->viewer, tables + live + records + sites);
    if (!buffer || !gpurt_viewer_fetch(l->viewer, buffer, l->heap.counts, tables))
        return false;
    memset(&l->watch, 0, sizeof l->watch);
    if (l->heap.watch &&
        !gpurt_viewer_fetch(l->viewer, &l->watch, l->heap.watch, sizeof l->watch))
        return false;
    l->mirror = l->heap;
    gpurt_heap_place(&l->mirror, buffer);
    l->live = (uint32_t *)(void *)(buffer + tables);
    l->rest = buffer + tables + live;
    memset(l->live, 0, live);
    return gpurt_heap_figures(&l->mirror, &l->stats, l->live, NULL) == GPURT_OK;
}

/* ---- values -------------------------------------------------------------------------- */

static uint64_t less(uint64_t all, uint64_t part)
{
    return part < all ? all - part : 0;
}

static void sums_read(const look_t *l, uint64_t *values)
{
    const gpurt_heap_stats_t *s = &l->stats;

    values[BYTES] = s->bytes;
    values[LIVE_BYTES] = less(s->live_bytes, l->watch.xkept_bytes);
    values[LIVE] = less(s->live, l->watch.xkept);
    values[CHECKS] = l->watch.level;
    values[TRACED] = l->watch.trace != 0;
    values[KEPT] = l->watch.xkept_bytes;
    values[CHUNKS] = s->chunks;
    values[FREE_CHUNKS] = s->free_chunks;
    values[LARGEST_ROW] = s->largest_row;
    values[LARGE_CHUNKS] = s->large_chunks;
    for (uint32_t i = 1; i < GPURT_ALLOC_REASONS; i++)
        values[REFUSED] += s->counts.xrefused[i];
    for (uint32_t i = 1; i < GPURT_FREE_FAULTS; i++)
        values[WRONG] += s->counts.xbad_frees[i];
    for (uint32_t i = GPURT_WRONG_OVERRUN; i < GPURT_WRONGS; i++)
        values[WRONG] += l->watch.xfound[i];
    for (uint32_t i = 0; i < GPURT_PLACES; i++) {
        values[GOT + i] = s->counts.xgot[i];
        values[PUT + i] = s->counts.xput[i];
    }
}

/* Those that have chunks, in order of size. slack: bytes of their free slots. */
static void sizes_read(const look_t *l, uint64_t *rows, uint64_t *slack)
{
    for (uint32_t c = 0; c < GPURT_CLASS_COUNT; c++) {
        const gpurt_heap_class_t *k = &l->stats.classes[c];
        const uint64_t row[SIZE_COLUMNS] = {gpurt_class_bytes(c), k->chunks, k->live,
                                            k->reusable, k->fresh};

        *slack += (k->reusable + k->fresh) * k->bytes;
        if (!k->chunks)
            continue;
        memcpy(rows, row, sizeof row);
        rows += SIZE_COLUMNS;
    }
}

/* Of the chunks [from, to): full is what holds large objects alone. */
static uint32_t cell_of(const look_t *l, const uint8_t *large, uint32_t from, uint32_t to)
{
    const uint64_t *pool = gpurt_tree_leaves(&l->mirror, GPURT_TREE_POOL);
    uint64_t live = 0, whole = (uint64_t)(to - from) * GPURT_CHUNK_BYTES;
    uint32_t taken = 0, big = 0;

    for (uint32_t i = from; i < to; i++) {
        taken += !(pool[i / 64] >> (i % 64) & 1);
        big += large[i];
        live += large[i] ? GPURT_CHUNK_BYTES : l->live[i];
    }
    if (big == to - from)
        return GPURT_CELL_FULL;
    return taken ? 1 + (uint32_t)(live * (GPURT_CELL_FULL - 2) / whole) : 0;
}

static bool map_read(const look_t *l, uint64_t *cells, uint64_t *step_out)
{
    uint32_t count = l->heap.chunk_count, step = (count + CELLS - 1) / CELLS;
    uint8_t *large = (uint8_t *)calloc(1, count);

    for (uint32_t i = 0; large && i < count; i++)
        if (l->mirror.states[i] & GPURT_STATE_LARGE)
            for (uint32_t n = gpurt_state_chunks(l->mirror.states[i]), j = i;
                 n > 0 && j < count; n--, j++)
                large[j] = 1;
    for (uint32_t cell = 0; large && cell < CELLS; cell++) {
        uint32_t from = cell * step, to = from + step < count ? from + step : count;

        gpurt_cell_set(cells, cell,
                       from < count ? cell_of(l, large, from, to) : GPURT_CELL_NONE);
    }
    *step_out = step;
    free(large);
    return large != NULL;
}

/* ---- who holds it -------------------------------------------------------------------- */

typedef struct holder {
    uint64_t objects, bytes;
    uint32_t row;
} holder_t;

/* Of a heap: which of its sites the log has as which objects. A heap that is new in its place has none yet. */
typedef struct told {
    uint32_t heap, count;
    struct {
        uint32_t row, id;
        uint64_t values[SITE_FIELDS];
    } sites[TOP_SITES];
} told_t;

static told_t told_heaps[GPURT_HEAPS]; /* under the viewer's lock */
static uint32_t last_site;             /* number of an object; likewise */

static int by_bytes(const void *a, const void *b)
{
    const holder_t *x = (const holder_t *)a, *y = (const holder_t *)b;

    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1)
                                : (int)x->row - (int)y->row;
}

/* Live objects of every step-th chunk that has any, by row of the sites. */
static bool holders_count(look_t *l, holder_t *holders, uint32_t *step)
{
    gpurt_alloc_record_t *records = (gpurt_alloc_record_t *)(void *)l->rest;
    uint32_t used = l->stats.chunks - l->stats.free_chunks, at = 0;

    /* The counts may be of a moment before the states: none was in use then, and some are. */
    *step = used ? (used + SITE_CHUNKS - 1) / SITE_CHUNKS : 1;
    for (uint32_t i = 0; i < l->heap.chunk_count; i++) {
        uint32_t state = l->mirror.states[i];

        if ((!gpurt_state_is_slab(state) && !(state & GPURT_STATE_LARGE)) ||
            at++ % *step != 0)
            continue;
        if (!gpurt_viewer_fetch(l->viewer, records, l->watch.records + (size_t)i * RECORDS,
                                sizeof *records * RECORDS))
            return false;
        for (uint32_t r = 0; r < RECORDS; r++)
            if ((records[r].xstate & GPURT_RECORD_STATE) == GPURT_RECORD_LIVE) {
                holder_t *h = &holders[(records[r].xsites & 0xffffu) % GPURT_WATCH_SITES];

                h->objects++;
                h->bytes += records[r].xsize;
            }
    }
    return true;
}

static uint32_t site_number(gpurt_viewer_t *v, const gpurt_alloc_site_t *site)
{
    char text[GPURT_WATCH_SITE_TEXT + 1];
    uint32_t bytes =
        site->xbytes < GPURT_WATCH_SITE_TEXT ? site->xbytes : GPURT_WATCH_SITE_TEXT;

    memcpy(text, site->text, bytes);
    text[bytes] = '\0';
    return names_number(&v->names, &v->ring, bytes ? text : "a place not known", false);
}

/* All that hold something, those of most first, and the texts of all sites. Returns: how many; 0
 * also where nothing is known. Memory to free. */
static uint32_t holders_find(look_t *l, holder_t **out, gpurt_alloc_site_t **sites,
                             uint32_t *step)
{
    holder_t *holders = (holder_t *)calloc(GPURT_WATCH_SITES, sizeof *holders);
    uint32_t count = 0;

    *out = holders;
    *sites =
        (gpurt_alloc_site_t *)(void *)(l->rest + sizeof(gpurt_alloc_record_t) * RECORDS);
    for (uint32_t i = 0; holders && i < GPURT_WATCH_SITES; i++)
        holders[i].row = i;
    if (!holders || !l->watch.records || !holders_count(l, holders, step) ||
        !gpurt_viewer_fetch(l->viewer, *sites, l->watch.sites,
                            sizeof **sites * GPURT_WATCH_SITES))
        return 0;
    qsort(holders, GPURT_WATCH_SITES, sizeof *holders, by_bytes);
    while (count < GPURT_WATCH_SITES && holders[count].objects)
        count++;
    return count;
}

/* The number of the object that a site of a heap is. */
static uint32_t site_id(const told_t *told, uint32_t row)
{
    for (uint32_t i = 0; i < told->count; i++)
        if (told->sites[i].row == row)
            return told->sites[i].id;
    return ++last_site;
}

/* Those that the log had and that hold no longer most have ended. */
static void sites_end(gpurt_viewer_t *v, const told_t *had, const told_t *has)
{
    for (uint32_t i = 0; i < had->count; i++) {
        bool is = false;

        for (uint32_t k = 0; k < has->count; k++)
            is |= has->sites[k].id == had->sites[i].id;
        if (!is)
            gpurt_watch_part(v, &gpurt_class_holder, had->sites[i].id, had->sites[i].values,
                             true);
    }
}

static void sites_tell(look_t *l)
{
    told_t *had = &told_heaps[l->heap.id % GPURT_HEAPS], has = {.heap = l->heap.id};
    gpurt_alloc_site_t *sites;
    holder_t *holders;
    uint32_t step = 1, count = holders_find(l, &holders, &sites, &step);

    if (had->heap != l->heap.id)
        memset(had, 0, sizeof *had);
    for (uint32_t i = 0; i < count && i < TOP_SITES; i++) {
        const holder_t *h = &holders[i];
        uint64_t *values = has.sites[i].values;

        has.sites[i].row = h->row;
        has.sites[i].id = site_id(had, h->row);
        values[SITE_HEAP] = l->heap.id;
        values[SITE_TEXT] = site_number(l->viewer, &sites[h->row]);
        values[SITE_BYTES] = h->bytes * step;
        values[SITE_OBJECTS] = h->objects * step;
        values[SITE_SAMPLED] = step;
        gpurt_watch_part(l->viewer, &gpurt_class_holder, has.sites[i].id, values, false);
        has.count++;
    }
    sites_end(l->viewer, had, &has);
    *had = has;
    free(holders);
}

/* ---- a look -------------------------------------------------------------------------- */

static bool heap_read(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values)
{
    look_t l = {.viewer = v, .heap = *(const gpurt_heap_t *)object};

    if (!look_make(&l) || !map_read(&l, values + MAP, values + MAP_CHUNKS))
        return false;
    sums_read(&l, values);
    sizes_read(&l, values + MAP + CELLS / 8, values + SLACK);
    if (due)
        sites_tell(&l);
    return true;
}

/* ---- life ---------------------------------------------------------------------------- */

void gpurt_heapview_begin(gpurt_t *rt, const gpurt_heap_t *heap)
{
    gpurt_watch_begin(rt, &gpurt_class_heap, heap->id, heap, sizeof *heap);
}
GPURT_STATIC_ASSERT(sizeof(gpurt_heap_t) <= GPURT_WATCH_OBJECT_BYTES, "it is copied whole");

void gpurt_heapview_end(gpurt_t *rt, const gpurt_heap_t *heap)
{
    told_t *told = &told_heaps[heap->id % GPURT_HEAPS];
    const told_t none = {.heap = 0};
    gpurt_viewer_t *v;

    gpurt_watch_end(rt, &gpurt_class_heap, heap->id);
    v = gpurt_viewer_enter(rt);
    if (!v)
        return;
    if (told->heap == heap->id)
        sites_end(v, told, &none);
    memset(told, 0, sizeof *told);
    gpurt_viewer_leave();
}
