/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "heapview.h"

#include "heapmap.h"
#include "hosttime.h"

#include <gpurt/impl/heaprow.h>
#include <stdlib.h>
#include <string.h>

enum {
    TOP_SITES = 12,
    SITE_CHUNKS = 256, /* whose records are looked at; of more chunks a part */
    RECORDS = GPURT_CHUNK_BYTES / GPURT_WATCH_GRANULE
};

/* What was told last of a heap. */
typedef struct told {
    uint32_t id;
    uint64_t time_ns;
    gpurt_heap_state_row_t state;
    gpurt_heap_pools_row_t pools;
    uint64_t
        classes[GPURT_CLASS_COUNT]; /* a sum of what was told; a class that is new: 0 */
} told_t;

static told_t told_heaps[GPURT_HEAPS]; /* under the viewer's lock */

/* ---- looking ------------------------------------------------------------------------- */

/* One heap as it is now. Owner: the call. */
typedef struct look {
    gpurt_viewer_t *viewer;
    gpurt_heap_t heap, mirror; /* mirror: its tables lie in the buffer, but for the bits */
    gpurt_heap_watch_t watch;
    gpurt_heap_stats_t stats;
    uint32_t *live; /* bytes a chunk */
    char *rest;     /* of the buffer, for records and sites */
    uint64_t time_ns;
    bool ended;
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

/* ---- telling ------------------------------------------------------------------------- */

static void put(const look_t *l, uint32_t kind, const void *row)
{
    gpurt_viewer_put(l->viewer, kind, l->time_ns, row);
}

static gpurt_heap_state_row_t state_of(const look_t *l)
{
    const gpurt_heap_stats_t *s = &l->stats;
    uint64_t slack = 0, refused = 0, wrong = 0;
    gpurt_heap_state_row_t row;

    for (uint32_t c = 0; c < GPURT_CLASS_COUNT; c++)
        slack += (s->classes[c].reusable + s->classes[c].fresh) * s->classes[c].bytes;
    for (uint32_t i = 1; i < GPURT_ALLOC_REASONS; i++)
        refused += s->counts.xrefused[i];
    for (uint32_t i = 1; i < GPURT_FREE_FAULTS; i++)
        wrong += s->counts.xbad_frees[i];
    for (uint32_t i = GPURT_WRONG_OVERRUN; i < GPURT_WRONGS; i++)
        wrong += l->watch.xfound[i];
    memset(&row, 0, sizeof row);
    row.heap = l->heap.id;
    row.flags = l->watch.level | (l->watch.trace ? GPURT_HEAP_TRACE : 0) |
                (l->ended ? GPURT_HEAP_ENDED : 0);
    row.bytes = gpurt_pair(s->bytes);
    row.live = gpurt_pair(s->live - (l->watch.xkept < s->live ? l->watch.xkept : s->live));
    row.live_bytes = gpurt_pair(s->live_bytes - (l->watch.xkept_bytes < s->live_bytes
                                                     ? l->watch.xkept_bytes
                                                     : s->live_bytes));
    row.slack = gpurt_pair(slack);
    row.kept = gpurt_pair(l->watch.xkept_bytes);
    row.free_chunks = s->free_chunks;
    row.largest_row = s->largest_row;
    row.large_chunks = s->large_chunks;
    row.refused = gpurt_pair(refused);
    row.wrong = gpurt_pair(wrong);
    return row;
}

/* Classes that have chunks, or had some when they were told of last. */
static void classes_put(const look_t *l, told_t *told, bool all)
{
    for (uint32_t c = 0; c < GPURT_CLASS_COUNT; c++) {
        const gpurt_heap_class_t *k = &l->stats.classes[c];
        uint64_t sum = k->chunks ? 1 + k->chunks + k->live * 4099 + k->reusable * 65537 : 0;
        gpurt_heap_class_row_t row = {.heap = l->heap.id,
                                      .bytes = gpurt_class_bytes(c),
                                      .chunks = k->chunks,
                                      .live = gpurt_pair(k->live),
                                      .reusable = gpurt_pair(k->reusable),
                                      .fresh = gpurt_pair(k->fresh)};

        if (sum != told->classes[c] || (all && sum))
            put(l, GPURT_KIND_HEAP_CLASS, &row);
        told->classes[c] = sum;
    }
}

/* What pools above the heap served and took back. */
static gpurt_heap_pools_row_t pools_of(const look_t *l)
{
    gpurt_heap_pools_row_t row = {.heap = l->heap.id};

    for (uint32_t i = 0; i < GPURT_PLACES; i++) {
        row.got[i] = gpurt_pair(l->stats.counts.xgot[i]);
        row.put[i] = gpurt_pair(l->stats.counts.xput[i]);
    }
    return row;
}

/* Of the chunks [from, to). */
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
        return GPURT_HEAP_CELL_LARGE;
    return taken ? 1 + (uint32_t)(live * (GPURT_HEAP_CELL_FULL - 1) / whole) : 0;
}

static void map_put(const look_t *l)
{
    uint32_t count = l->heap.chunk_count;
    uint32_t step = (count + GPURT_HEAP_CELLS - 1) / GPURT_HEAP_CELLS;
    gpurt_heap_map_row_t row = {.heap = l->heap.id, .chunks = step};
    uint8_t *large = (uint8_t *)calloc(1, count);
    uint64_t word = 0;

    for (uint32_t i = 0; large && i < count; i++)
        if (l->mirror.states[i] & GPURT_STATE_LARGE)
            for (uint32_t n = gpurt_state_chunks(l->mirror.states[i]), j = i;
                 n > 0 && j < count; n--, j++)
                large[j] = 1;
    for (uint32_t cell = 0; large && cell < GPURT_HEAP_CELLS; cell++) {
        uint32_t from = cell * step, to = from + step < count ? from + step : count;
        uint64_t value = from < count ? cell_of(l, large, from, to) : GPURT_HEAP_CELL_NONE;

        word |= value << (cell % 16 * 4);
        if (cell % 16 == 15) {
            row.cells[cell / 16] = gpurt_pair(word);
            word = 0;
        }
    }
    if (large)
        put(l, GPURT_KIND_HEAP_MAP, &row);
    free(large);
}

/* ---- who holds it -------------------------------------------------------------------- */

typedef struct holder {
    uint64_t objects, bytes;
    uint32_t row;
} holder_t;

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

    *step = (used + SITE_CHUNKS - 1) / SITE_CHUNKS;
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

static void holders_put(const look_t *l, const gpurt_alloc_site_t *sites,
                        const holder_t *holders, uint32_t step)
{
    uint32_t count = 0;

    while (count < GPURT_WATCH_SITES && holders[count].objects)
        count++;
    for (uint32_t i = 0; i < count && (i < TOP_SITES || l->ended); i++) {
        const holder_t *h = &holders[i];
        uint32_t site = site_number(l->viewer, &sites[h->row]);
        gpurt_heap_site_row_t row = {.heap = l->heap.id,
                                     .site = site,
                                     .rank = i,
                                     .count = count < TOP_SITES ? count : TOP_SITES,
                                     .objects = gpurt_pair(h->objects * step),
                                     .bytes = gpurt_pair(h->bytes * step),
                                     .sampled = step};
        gpurt_heap_leak_row_t leak = {
            .heap = l->heap.id, .bytes = row.bytes, .objects = row.objects, .site = site};

        if (i < TOP_SITES)
            put(l, GPURT_KIND_HEAP_SITE, &row);
        if (l->ended)
            put(l, GPURT_KIND_HEAP_LEAK, &leak);
    }
    if (count == 0) {
        gpurt_heap_site_row_t none = {.heap = l->heap.id, .sampled = 1};

        put(l, GPURT_KIND_HEAP_SITE, &none);
    }
}

static void sites_put(look_t *l)
{
    gpurt_alloc_site_t *sites =
        (gpurt_alloc_site_t *)(void *)(l->rest + sizeof(gpurt_alloc_record_t) * RECORDS);
    holder_t *holders = (holder_t *)calloc(GPURT_WATCH_SITES, sizeof *holders);
    uint32_t step;

    for (uint32_t i = 0; holders && i < GPURT_WATCH_SITES; i++)
        holders[i].row = i;
    if (holders && holders_count(l, holders, &step) &&
        gpurt_viewer_fetch(l->viewer, sites, l->watch.sites,
                           sizeof *sites * GPURT_WATCH_SITES)) {
        qsort(holders, GPURT_WATCH_SITES, sizeof *holders, by_bytes);
        holders_put(l, sites, holders, step ? step : 1);
    }
    free(holders);
}

/* ---- a look -------------------------------------------------------------------------- */

/* Context: the viewer's lock is held, and the heap is taken. */
static void heap_tell(gpurt_viewer_t *v, const gpurt_heap_t *heap, bool last, bool ended)
{
    told_t *told = &told_heaps[heap->id % GPURT_HEAPS];
    look_t l = {.viewer = v, .heap = *heap, .time_ns = gpurt_real_ns(), .ended = ended};
    gpurt_viewer_news_t news;
    gpurt_heap_state_row_t row;
    gpurt_heap_pools_row_t pools;
    bool same;

    if (!look_make(&l))
        return;
    if (told->id != heap->id)
        memset(told, 0, sizeof *told);
    row = state_of(&l);
    pools = pools_of(&l);
    same = memcmp(&row, &told->state, sizeof row) == 0 &&
           memcmp(&pools, &told->pools, sizeof pools) == 0;
    news = gpurt_viewer_news(told->time_ns, l.time_ns, last, same);
    if (news == GPURT_VIEWER_SAME)
        return;
    put(&l, GPURT_KIND_HEAP_STATE, &row);
    if (memcmp(&pools, &(gpurt_heap_pools_row_t){.heap = row.heap}, sizeof pools) != 0)
        put(&l, GPURT_KIND_HEAP_POOLS, &pools);
    classes_put(&l, told, news == GPURT_VIEWER_DUE);
    map_put(&l);
    if (l.watch.records && news == GPURT_VIEWER_DUE)
        sites_put(&l);
    told->id = heap->id;
    told->state = row;
    told->pools = pools;
    if (news == GPURT_VIEWER_DUE)
        told->time_ns = l.time_ns;
}

void gpurt_heapview_tell(gpurt_viewer_t *v, bool last)
{
    gpurt_heap_t heap;

    for (uint32_t i = 0; i < GPURT_HEAPS; i++) {
        if (!gpurt_heap_take_nth(i, v->rt, &heap))
            continue;
        heap_tell(v, &heap, last, false);
        gpurt_heap_drop(&heap);
    }
}

void gpurt_heapview_end(gpurt_t *rt, const gpurt_heap_t *heap)
{
    gpurt_viewer_t *v = gpurt_viewer_enter(rt);

    if (!v)
        return;
    heap_tell(v, heap, true, true);
    gpurt_viewer_leave();
}

void gpurt_heapview_forget(const gpurt_t *rt)
{
    gpurt_heap_t heap;

    for (uint32_t i = 0; i < GPURT_HEAPS; i++)
        if (gpurt_heap_take_nth(i, rt, &heap)) {
            memset(&told_heaps[i], 0, sizeof told_heaps[i]);
            gpurt_heap_drop(&heap);
        }
}
