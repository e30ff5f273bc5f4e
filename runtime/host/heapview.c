/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "heapview.h"

#include "heapmap.h"
#include "hostring.h"
#include "names.h"
#include "procfs.h"

#include <errno.h>
#include <gpurt/heaprow.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum {
    PERIOD_MS = 500,
    PERIOD_LEAST_MS = 10,
    AGAIN_NS = 2000000000, /* a heap that does not change is told of all the same */
    TOP_SITES = 12,
    SITE_CHUNKS = 256, /* whose records are looked at; of more chunks a part */
    RECORDS = GPURT_CHUNK_BYTES / GPURT_WATCH_GRANULE
};

/* What was told last of a heap. */
typedef struct told {
    uint32_t id;
    uint64_t time_ns;
    gpurt_heap_state_row_t state;
    uint64_t
        classes[GPURT_CLASS_COUNT]; /* a sum of what was told; a class that is new: 0 */
} told_t;

/* One runtime a process, so one of these. lock guards all; the thread sleeps on `wake`. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool connected, running, stop;
    uint32_t period_ms, device;
    gpurt_t *rt; /* of the thread */
    gpurt_stream_t stream;
    bool on_cpu;
    gpurt_hostring_t ring;
    names_t names;
    told_t told[GPURT_HEAPS];
    char *buffer; /* of gpurt_host_create */
    size_t room;
} view = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* ---- looking ------------------------------------------------------------------------- */

/* On the CPU kernels write these words meanwhile: each is read whole. */
static gpurt_status_t fetch(void *to, const void *from, size_t bytes)
{
    gpurt_status_t st;

    if (view.on_cpu) {
        for (size_t i = 0; i < bytes / 4; i++) /* relaxed: a snapshot */
            ((uint32_t *)to)[i] = gpurt_load_relaxed_dev_u32((const uint32_t *)from + i);
        return GPURT_OK;
    }
    st = gpurt_copy(view.rt, view.stream, to, from, bytes, NULL);
    return st == GPURT_OK ? gpurt_stream_sync(view.rt, view.stream, NULL) : st;
}

static bool buffer_grow(size_t bytes)
{
    void *memory = NULL;

    if (bytes <= view.room)
        return true;
    gpurt_host_destroy(view.rt, view.buffer);
    view.buffer = NULL;
    view.room = 0;
    if (gpurt_host_create(view.rt, bytes, &memory, NULL) != GPURT_OK)
        return false;
    view.buffer = (char *)memory;
    view.room = bytes;
    return true;
}

/* One heap as it is now. Owner: the call. */
typedef struct look {
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

    if (!buffer_grow(tables + live + records + sites) ||
        fetch(view.buffer, l->heap.counts, tables) != GPURT_OK)
        return false;
    memset(&l->watch, 0, sizeof l->watch);
    if (l->heap.watch && fetch(&l->watch, l->heap.watch, sizeof l->watch) != GPURT_OK)
        return false;
    l->mirror = l->heap;
    gpurt_heap_place(&l->mirror, view.buffer);
    l->live = (uint32_t *)(void *)(view.buffer + tables);
    l->rest = view.buffer + tables + live;
    memset(l->live, 0, live);
    return gpurt_heap_figures(&l->mirror, &l->stats, l->live, NULL) == GPURT_OK;
}

/* ---- telling ------------------------------------------------------------------------- */

static void put(const look_t *l, uint32_t kind, const void *row)
{
    if (!gpurt_hostring_put(&view.ring, kind, view.device, l->time_ns, row))
        gpurt_hostring_lose(&view.ring, 1, GPURT_LOSS_FULL, l->time_ns);
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
        if (fetch(records, l->watch.records + (size_t)i * RECORDS,
                  sizeof *records * RECORDS) != GPURT_OK)
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

static uint32_t site_number(const gpurt_alloc_site_t *site)
{
    char text[GPURT_WATCH_SITE_TEXT + 1];
    uint32_t bytes =
        site->xbytes < GPURT_WATCH_SITE_TEXT ? site->xbytes : GPURT_WATCH_SITE_TEXT;

    memcpy(text, site->text, bytes);
    text[bytes] = '\0';
    return names_number(&view.names, &view.ring, bytes ? text : "a place not known", false);
}

static void holders_put(const look_t *l, const gpurt_alloc_site_t *sites,
                        const holder_t *holders, uint32_t step)
{
    uint32_t count = 0;

    while (count < GPURT_WATCH_SITES && holders[count].objects)
        count++;
    for (uint32_t i = 0; i < count && (i < TOP_SITES || l->ended); i++) {
        const holder_t *h = &holders[i];
        uint32_t site = site_number(&sites[h->row]);
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
        fetch(sites, l->watch.sites, sizeof *sites * GPURT_WATCH_SITES) == GPURT_OK) {
        qsort(holders, GPURT_WATCH_SITES, sizeof *holders, by_bytes);
        holders_put(l, sites, holders, step ? step : 1);
    }
    free(holders);
}

/* ---- a look -------------------------------------------------------------------------- */

/* Context: view.lock and the heaps' lock are held. */
static void heap_tell(const gpurt_heap_t *heap, bool last, bool ended)
{
    told_t *told = &view.told[heap->id % GPURT_HEAPS];
    look_t l = {.heap = *heap, .time_ns = gpurt_real_ns(), .ended = ended};
    gpurt_heap_state_row_t row;
    bool changed, due;

    if (!look_make(&l))
        return;
    if (told->id != heap->id)
        memset(told, 0, sizeof *told);
    row = state_of(&l);
    changed = memcmp(&row, &told->state, sizeof row) != 0;
    due = l.time_ns - told->time_ns >= AGAIN_NS || last;
    if (!changed && !due)
        return;
    put(&l, GPURT_KIND_HEAP_STATE, &row);
    classes_put(&l, told, due);
    map_put(&l);
    if (l.watch.records && due)
        sites_put(&l);
    told->id = heap->id;
    told->state = row;
    if (due)
        told->time_ns = l.time_ns;
}

static void heaps_tell(bool last)
{
    gpurt_heap_t heap;

    for (uint32_t i = 0; i < GPURT_HEAPS; i++) {
        gpurt_heaps_lock();
        if (gpurt_heap_nth(i, view.rt, &heap))
            heap_tell(&heap, last, false);
        gpurt_heaps_unlock();
    }
}

static void *view_main(void *nothing)
{
    struct timespec until;

    (void)nothing;
    pthread_mutex_lock(&view.lock);
    while (!view.stop) {
        heaps_tell(false);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += (long)(view.period_ms % 1000) * 1000000;
        until.tv_sec += view.period_ms / 1000 + until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (!view.stop)
            pthread_cond_timedwait(&view.wake, &view.lock, &until);
    }
    pthread_mutex_unlock(&view.lock);
    return NULL;
}

/* ---- life ---------------------------------------------------------------------------- */

static uint32_t period_read(void)
{
    const char *value = secure_getenv("GPURT_HEAP_VIEW");
    unsigned long period;

    if (!value || !*value)
        return PERIOD_MS;
    if (strcasecmp(value, "off") == 0)
        return 0;
    period = strtoul(value, NULL, 10);
    return period < PERIOD_LEAST_MS ? PERIOD_LEAST_MS
           : period > 3600000       ? 3600000
                                    : (uint32_t)period;
}

/* A box without room for the definitions goes without heaps. */
void gpurt_heapview_connect(const gpurt_boxmap_t *map, uint32_t section)
{
    pthread_mutex_lock(&view.lock);
    view.period_ms = period_read();
    view.device = map->sections[0].device;
    view.connected =
        view.period_ms && gpurt_hostring_init(&view.ring, map, section, NULL) == GPURT_OK;
    pthread_mutex_unlock(&view.lock);
}

void gpurt_heapview_disconnect(void)
{
    pthread_mutex_lock(&view.lock);
    view.connected = false;
    names_clear(&view.names);
    pthread_mutex_unlock(&view.lock);
}

void gpurt_heapview_begin(gpurt_t *rt)
{
    gpurt_info_t info;

    pthread_mutex_lock(&view.lock);
    if (view.connected && !view.running && gpurt_info(rt, &info) == GPURT_OK) {
        memset(view.told, 0, sizeof view.told);
        view.rt = rt;
        view.stop = false;
        view.on_cpu = info.backend == GPURT_BACKEND_CPU;
        view.running = gpurt_stream_create(rt, &view.stream, NULL) == GPURT_OK &&
                       pthread_create(&view.thread, NULL, view_main, NULL) == 0;
    }
    pthread_mutex_unlock(&view.lock);
}

void gpurt_heapview_end(gpurt_t *rt, const gpurt_heap_t *heap)
{
    pthread_mutex_lock(&view.lock);
    if (view.running && view.rt == rt)
        heap_tell(heap, true, true);
    pthread_mutex_unlock(&view.lock);
}

void gpurt_heapview_stop(gpurt_t *rt)
{
    pthread_mutex_lock(&view.lock);
    if (!view.running || view.rt != rt) {
        pthread_mutex_unlock(&view.lock);
        return;
    }
    view.stop = true;
    pthread_cond_signal(&view.wake);
    pthread_mutex_unlock(&view.lock);
    pthread_join(view.thread, NULL);
    pthread_mutex_lock(&view.lock);
    heaps_tell(true);
    gpurt_host_destroy(rt, view.buffer);
    gpurt_stream_destroy(rt, view.stream);
    view.buffer = NULL;
    view.room = 0;
    view.running = false;
    pthread_mutex_unlock(&view.lock);
}
