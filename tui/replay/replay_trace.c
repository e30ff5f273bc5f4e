/* SPDX-License-Identifier: Apache-2.0 */
#include "replay_trace.h"

#include <errno.h>
#include <gpurt/impl/heaprow.h>
#include <stdlib.h>
#include <string.h>

typedef struct events {
    replay_event_t *list;
    uint32_t count, room;
    replay_heap_t of;
} events_t;

static bool keep(events_t *e, const replay_event_t *event)
{
    if (e->count == e->room) {
        uint32_t room = e->room ? 2 * e->room : 1024;
        replay_event_t *list = NULL;

        if (room > e->room)
            list = (replay_event_t *)realloc(e->list, sizeof *list * (size_t)room);
        if (!list)
            return false;
        e->list = list;
        e->room = room;
    }
    e->list[e->count] = *event;
    e->list[e->count].number = e->count;
    e->count++;
    return true;
}

/* Lanes of one row may belong to several heaps. */
static bool take_row(events_t *e, const gpurt_row_t *row)
{
    bool alloc = row->kind == GPURT_KIND_HEAP_ALLOC;
    uint32_t lanes;
    const uint32_t *words = replay_row_calls(row, &lanes);

    if (!words || row->program != e->of.program)
        return true;
    for (uint32_t i = 0; i < lanes; i++) {
        replay_event_t event = {.time_ns = row->time_ns,
                                .what = alloc ? REPLAY_ALLOC : REPLAY_FREE};

        if (words[i] != e->of.heap)
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
    const replay_event_t *x = (const replay_event_t *)a, *y = (const replay_event_t *)b;

    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->what != y->what)
        return x->what == REPLAY_FREE ? -1 : 1;
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
    uint32_t size, align, batch;
} born_t;

static void batch_begin(replay_trace_t *t)
{
    t->batches[t->batch_count++] = t->call_count;
}

static void call_add(replay_trace_t *t, replay_call_t call)
{
    if (t->call_count - t->batches[t->batch_count - 1] == REPLAY_BATCH)
        batch_begin(t);
    t->calls[t->call_count++] = call;
}

static void add_alloc(replay_trace_t *t, live_t *l, born_t *born, const replay_event_t *e,
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
    call_add(t, (replay_call_t){t->handles, e->size, e->align, REPLAY_ALLOC});
    born[t->handles++] = (born_t){e->size, e->align, t->batch_count};
}

static void add_free(replay_trace_t *t, live_t *l, const born_t *born,
                     const replay_event_t *e, uint64_t *now)
{
    uint32_t *handle = e->unit < GPURT_HEAP_ALIEN ? live_at(l, e->unit) : NULL;
    const born_t *its;

    t->frees++;
    if (!handle || !*handle) {
        t->odd++;
        return;
    }
    its = &born[*handle - 1];
    if (its->batch == t->batch_count)
        batch_begin(t); /* not at the same time as its request */
    call_add(t, (replay_call_t){*handle - 1, its->size, its->align, REPLAY_FREE});
    *now -= its->size;
    *handle = 0;
    t->left--;
}

static void trace_fill(replay_trace_t *t, live_t *live, born_t *born,
                       const replay_event_t *events, uint32_t count)
{
    uint64_t now = 0;

    batch_begin(t);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].what == REPLAY_FREE)
            add_free(t, live, born, &events[i], &now);
        else
            add_alloc(t, live, born, &events[i], &now);
    }
    t->batches[t->batch_count] = t->call_count;
    for (uint32_t i = 0; i < t->batch_count; i++) {
        uint32_t calls = t->batches[i + 1] - t->batches[i];

        t->batch_most = calls > t->batch_most ? calls : t->batch_most;
    }
}

/* ---- passes of arenas ---------------------------------------------------------------- */

/* The levels of marks that have been taken, one in the other. */
typedef struct levels {
    uint32_t *of; /* an object: in which it was born */
    uint32_t depth;
    uint64_t live[REPLAY_MARKS]; /* objects of a level that were not freed */
} levels_t;

/* Marks of which nothing younger lives are gone back to; the batch takes another one. When
 * there is none left its objects count among those of the last. */
static replay_pass_t pass_begin(levels_t *l)
{
    replay_pass_t pass = {REPLAY_NO_MARK, REPLAY_NO_MARK};

    while (l->depth && l->live[l->depth - 1] == 0)
        pass.release = --l->depth;
    if (l->depth < REPLAY_MARKS)
        pass.mark = l->depth++;
    return pass;
}

/* Of the calls of a batch, which come in any order, frees come first. */
static void passes_make(replay_trace_t *t, levels_t *l)
{
    for (uint32_t b = 0; b < t->batch_count; b++) {
        uint32_t from = t->batches[b], to = t->batches[b + 1];

        for (uint32_t i = from; i < to; i++)
            if (t->calls[i].what == REPLAY_FREE)
                l->live[l->of[t->calls[i].handle]]--;
        t->passes[b] = pass_begin(l);
        for (uint32_t i = from; i < to; i++)
            if (t->calls[i].what == REPLAY_ALLOC) {
                l->of[t->calls[i].handle] = l->depth - 1;
                l->live[l->depth - 1]++;
            }
    }
}

/* ---- a trace ------------------------------------------------------------------------- */

bool replay_trace_make(replay_trace_t *t, replay_event_t *events, uint32_t count)
{
    size_t room = count + 1ull;
    born_t *born = (born_t *)calloc(room, sizeof *born);
    levels_t levels = {.of = (uint32_t *)calloc(room, sizeof(uint32_t))};
    live_t live = {NULL, NULL, 0};
    bool ok;

    memset(t, 0, sizeof *t);
    qsort(events, count, sizeof *events, by_time);
    t->calls = (replay_call_t *)malloc(sizeof *t->calls * room);
    t->batches = (uint32_t *)malloc(sizeof *t->batches * (2 * room + 1));
    t->passes = (replay_pass_t *)malloc(sizeof *t->passes * 2 * room);
    ok =
        live_make(&live, count) && born && levels.of && t->calls && t->batches && t->passes;
    if (ok) {
        trace_fill(t, &live, born, events, count);
        passes_make(t, &levels);
    }
    if (ok && count)
        t->span_ns = events[count - 1].time_ns - events[0].time_ns;
    free(born);
    free(levels.of);
    free(live.units);
    free(live.handles);
    return ok;
}

gpurt_status_t replay_trace_read(gpurt_log_t *log, const replay_heap_t *heap,
                                 replay_trace_t *out, gpurt_error_t *err)
{
    events_t e = {.of = *heap};
    gpurt_log_summary_t sum;
    bool ok;

    memset(out, 0, sizeof *out);
    ok = take_log(&e, log);
    if (ok && e.count)
        ok = replay_trace_make(out, e.list, e.count);
    gpurt_log_summary(log, &sum);
    out->heap = e.of;
    out->lost = sum.lost;
    free(e.list);
    if (!ok) {
        replay_trace_free(out);
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "a trace");
    }
    if (out->call_count == 0) {
        replay_trace_free(out);
        return replay_heaps_none(err);
    }
    return GPURT_OK;
}

void replay_trace_free(replay_trace_t *t)
{
    if (!t)
        return;
    free(t->calls);
    free(t->batches);
    free(t->passes);
    t->calls = NULL;
    t->batches = NULL;
    t->passes = NULL;
}
