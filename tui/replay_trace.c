/* SPDX-License-Identifier: Apache-2.0 */
#include "replay_trace.h"

#include <errno.h>
#include <gpurt/heaprow.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEAPS = 256 /* that are told apart */
};

/* A call as the log has it. */
typedef struct event {
    uint64_t time_ns;
    uint32_t number; /* order in the log */
    uint32_t unit, size, align;
} event_t;

typedef struct events {
    event_t *list;
    uint32_t count, room;
    uint32_t heap; /* 0: all are counted, none is kept */
    uint32_t ids[HEAPS];
    uint64_t calls[HEAPS];
} events_t;

static bool keep(events_t *e, const event_t *event)
{
    if (e->count == e->room) {
        uint32_t room = e->room ? 2 * e->room : 1024;
        event_t *list = (event_t *)realloc(e->list, sizeof *list * (size_t)room);

        if (!list || room < e->room)
            return false;
        e->list = list;
        e->room = room;
    }
    e->list[e->count] = *event;
    e->list[e->count].number = e->count;
    e->count++;
    return true;
}

static void count(events_t *e, uint32_t heap, uint32_t calls)
{
    uint32_t i = 0;

    while (i < HEAPS - 1 && e->ids[i] && e->ids[i] != heap)
        i++;
    e->ids[i] = heap;
    e->calls[i] += calls;
}

/* Lanes of one row may belong to several heaps. */
static bool take_row(events_t *e, const gpurt_row_t *row)
{
    uint32_t lanes = gpurt_row_per_lane(row) ? gpurt_row_messages(row) : 1;
    bool alloc = row->kind == GPURT_KIND_HEAP_ALLOC;
    const uint32_t *words = gpurt_row_words(row);

    if ((!alloc && row->kind != GPURT_KIND_HEAP_FREE) ||
        row->words < lanes * (alloc ? 4u : 2u))
        return true;
    for (uint32_t i = 0; i < lanes; i++) {
        event_t event = {.time_ns = row->time_ns, .size = REPLAY_FREE, .align = 16};

        count(e, words[i], 1);
        if (words[i] != e->heap)
            continue;
        event.unit = words[(alloc ? 2 : 1) * lanes + i];
        if (alloc) {
            event.size = words[lanes + i];
            event.align = words[3 * lanes + i];
        }
        if (!keep(e, &event))
            return false;
    }
    return true;
}

static bool take_log(events_t *e, gpurt_log_t *log)
{
    for (uint64_t i = 0; i < gpurt_log_frames(log); i++) {
        gpurt_log_rows_t frame;
        const gpurt_row_t *row;
        uint32_t at = 0;

        if (gpurt_log_read(log, i, &frame, NULL) != GPURT_OK)
            continue;
        while ((row = gpurt_log_row(&frame, at, &at)) != NULL)
            if (!take_row(e, row))
                return false;
    }
    return true;
}

/* A free is told before it is done, a request after it: so by their times a unit is given back
 * before it is handed out again. Where a clock is too coarse for that, frees come first. */
static int by_time(const void *a, const void *b)
{
    const event_t *x = (const event_t *)a, *y = (const event_t *)b;

    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if ((x->size == REPLAY_FREE) != (y->size == REPLAY_FREE))
        return x->size == REPLAY_FREE ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* ---- objects ------------------------------------------------------------------------- */

/* Which object lives at a unit: open addressing, never more than half full. */
typedef struct live {
    uint32_t *units, *handles; /* handles: + 1, 0 none lives there */
    uint32_t mask;
} live_t;

static uint32_t *live_at(const live_t *l, uint32_t unit)
{
    uint32_t at = unit * 0x9e3779b1u & l->mask;

    while (l->units[at] != unit && l->units[at] != GPURT_HEAP_NO_UNIT)
        at = (at + 1) & l->mask;
    l->units[at] = unit;
    return &l->handles[at];
}

static bool live_make(live_t *l, uint32_t events)
{
    size_t size = 1024;

    while (size < 2 * (size_t)events)
        size *= 2;
    l->mask = (uint32_t)(size - 1);
    l->units = (uint32_t *)malloc(sizeof *l->units * size);
    l->handles = (uint32_t *)calloc(size, sizeof *l->handles);
    if (l->units)
        memset(l->units, 0xff, sizeof *l->units * size);
    return l->units && l->handles;
}

/* Objects by their handle: what they asked for, and the batch that they were born in. */
typedef struct born {
    uint32_t size, batch;
} born_t;

static void batch_begin(replay_trace_t *t)
{
    t->batches[t->batch_count++] = t->call_count;
}

static void call_add(replay_trace_t *t, uint32_t handle, uint32_t size, uint32_t align)
{
    if (t->call_count - t->batches[t->batch_count - 1] == REPLAY_BATCH)
        batch_begin(t);
    t->calls[t->call_count++] = (replay_call_t){handle, size, align};
}

static void add_alloc(replay_trace_t *t, live_t *l, born_t *born, const event_t *e,
                      uint64_t *now)
{
    t->allocs++;
    t->bytes += e->size;
    if (e->unit == GPURT_HEAP_NO_UNIT) {
        t->refused++;
    } else {
        uint32_t *handle = live_at(l, e->unit);

        t->odd += *handle != 0; /* its free is not in the log: it stays */
        *handle = t->handles + 1;
        *now += e->size;
        t->peak_bytes = *now > t->peak_bytes ? *now : t->peak_bytes;
        t->left++;
    }
    call_add(t, t->handles, e->size, e->align);
    born[t->handles].size = e->size;
    born[t->handles++].batch = t->batch_count;
}

static void add_free(replay_trace_t *t, live_t *l, const born_t *born, const event_t *e,
                     uint64_t *now)
{
    uint32_t *handle = e->unit < GPURT_HEAP_ALIEN ? live_at(l, e->unit) : NULL;

    t->frees++;
    if (!handle || !*handle) {
        t->odd++;
        return;
    }
    if (born[*handle - 1].batch == t->batch_count)
        batch_begin(t); /* not at the same time as its request */
    call_add(t, *handle - 1, REPLAY_FREE, 0);
    *now -= born[*handle - 1].size;
    *handle = 0;
    t->left--;
}

static bool trace_make(replay_trace_t *t, const events_t *e)
{
    size_t count = e->count + 1ull;
    born_t *born = (born_t *)calloc(count, sizeof *born);
    live_t live = {NULL, NULL, 0};
    uint64_t now = 0;
    bool ok;

    t->calls = (replay_call_t *)malloc(sizeof *t->calls * count);
    t->batches = (uint32_t *)malloc(sizeof *t->batches * (2 * count + 1));
    ok = live_make(&live, e->count) && born && t->calls && t->batches;
    if (ok)
        batch_begin(t);
    for (uint32_t i = 0; ok && i < e->count; i++) {
        if (e->list[i].size == REPLAY_FREE)
            add_free(t, &live, born, &e->list[i], &now);
        else
            add_alloc(t, &live, born, &e->list[i], &now);
    }
    if (ok)
        t->batches[t->batch_count] = t->call_count;
    if (ok && e->count)
        t->span_ns = e->list[e->count - 1].time_ns - e->list[0].time_ns;
    free(born);
    free(live.units);
    free(live.handles);
    return ok;
}

gpurt_status_t replay_trace_read(gpurt_log_t *log, uint32_t heap, replay_trace_t *out,
                                 gpurt_error_t *err)
{
    events_t e = {.heap = heap};
    gpurt_log_summary_t sum;
    uint32_t most = 0;
    bool ok = true;

    memset(out, 0, sizeof *out);
    if (heap == 0) {
        ok = take_log(&e, log);
        for (uint32_t i = 1; i < HEAPS; i++)
            most = e.calls[i] > e.calls[most] ? i : most;
        e.heap = e.ids[most];
    }
    ok = ok && take_log(&e, log);
    gpurt_log_summary(log, &sum);
    out->heap = e.heap;
    out->lost = sum.lost;
    if (ok && e.count) {
        qsort(e.list, e.count, sizeof *e.list, by_time);
        ok = trace_make(out, &e);
    }
    free(e.list);
    if (!ok) {
        replay_trace_free(out);
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "a trace");
    }
    if (e.count == 0)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "the log holds no calls of a heap: record the program with "
                          "GPURT_HEAP_TRACE=1, its kernels compiled with "
                          "-DGPURT_HEAP_CHECKS=1");
    return GPURT_OK;
}

void replay_trace_free(replay_trace_t *t)
{
    if (!t)
        return;
    free(t->calls);
    free(t->batches);
    t->calls = NULL;
    t->batches = NULL;
}
