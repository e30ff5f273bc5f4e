/* SPDX-License-Identifier: Apache-2.0 */
#include "export_timeline.h"

#include "export_idle.h"
#include "export_instant.h"
#include "export_ranges.h"
#include "export_share.h"
#include "export_task.h"
#include "occupancy.h"
#include "span.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOMENT = 256 /* slices that begin at once and are still told apart by their length */
};

/* A slice that waits for others that begin in the same moment. */
typedef struct waiting {
    export_event_t event; /* its track is not chosen yet */
    export_key_t key;
    bool nests;
    char text[GPURT_SPAN_GRAPH_NAME];
} waiting_t;

/* What is known of one process. Owner: the timeline. */
typedef struct process {
    export_ranges_t ranges;
    export_idle_t idle;
    export_share_t share;
    gpurt_activity_device_t devices[EXPORT_DEVICES];
} process_t;

struct export_timeline {
    process_t *processes[EXPORT_PROGRAMS]; /* NULL: no row was of it */
    process_t *process;                    /* of the row that is taken now, */
    export_sheet_t sheet;                  /* and what it is put on */
    uint32_t waiting;
    waiting_t moment[MOMENT];
};

export_timeline_t *export_timeline_create(const export_writer_t *writer, export_out_t *out)
{
    export_timeline_t *t = calloc(1, sizeof *t);

    if (!t)
        return NULL;
    t->sheet.writer = writer;
    t->sheet.out = out;
    t->sheet.tracks = export_tracks_create(writer, out);
    if (!t->sheet.tracks) {
        free(t);
        return NULL;
    }
    return t;
}

void export_timeline_destroy(export_timeline_t *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < EXPORT_PROGRAMS; i++)
        free(t->processes[i]);
    export_tracks_destroy(t->sheet.tracks);
    free(t);
}

/* Whose numbers the rows to come mean. Returns: false: no memory. */
static bool process_choose(export_timeline_t *t, uint32_t program)
{
    if (!t->processes[program])
        t->processes[program] = calloc(1, sizeof *t->processes[program]);
    t->process = t->processes[program];
    t->sheet.program = (uint16_t)program;
    return t->process != NULL;
}

/* ---- slices -------------------------------------------------------------------------- */

static int longer_first(const void *x, const void *y)
{
    const waiting_t *a = x, *b = y;

    return (a->event.ns < b->event.ns) - (a->event.ns > b->event.ns);
}

/* What began in one moment, outermost first. */
static void moment_write(export_timeline_t *t)
{
    if (t->waiting > 1)
        qsort(t->moment, t->waiting, sizeof t->moment[0], longer_first);
    for (uint32_t i = 0; i < t->waiting; i++) {
        waiting_t *w = &t->moment[i];
        uint64_t end = w->event.time_ns + w->event.ns;

        if (w->text[0])
            w->event.text = w->text;
        w->event.track =
            export_tracks_lane(t->sheet.tracks, w->key, w->nests, w->event.time_ns,
                               end < w->event.time_ns ? UINT64_MAX : end);
        export_sheet_event(&t->sheet, &w->event);
    }
    t->waiting = 0;
}

static waiting_t *slice(export_timeline_t *t, const gpurt_span_t *s, uint8_t in)
{
    waiting_t *w;

    if (t->waiting == MOMENT || (t->waiting && t->moment[0].event.time_ns != s->time_ns))
        moment_write(t);
    w = &t->moment[t->waiting++];
    memset(w, 0, sizeof *w);
    w->event.type = s->ns == GPURT_ACTIVITY_NO_TIME ? EXPORT_INSTANT : EXPORT_SLICE;
    w->event.in = in;
    w->event.time_ns = s->time_ns;
    w->event.ns = w->event.type == EXPORT_SLICE ? s->ns : 0;
    w->event.name = s->name;
    w->event.flow = (uint64_t)t->sheet.program << 32 | s->correlation;
    w->event.flows = s->correlation != 0;
    return w;
}

/* Of a device that told of its limits before; nothing else is a guess that anybody needs. */
static void occupancy_arg(const export_timeline_t *t, export_event_t *e,
                          const gpurt_span_t *s)
{
    const uint32_t *block = s->kernel->block;
    uint32_t hundredths =
        s->device < EXPORT_DEVICES
            ? gpurt_model_occupancy(&t->process->devices[s->device],
                                    (uint64_t)block[0] * block[1] * block[2],
                                    s->kernel->registers, s->kernel->shared_bytes)
            : 0;

    if (hundredths)
        export_event_arg(e, EXPORT_ARG_OCCUPANCY, EXPORT_AS_NUMBER,
                         (hundredths + 50) / 100);
}

static void kernel_args(export_event_t *e, const gpurt_span_t *s)
{
    export_event_dims(e, EXPORT_ARG_GRID, s->kernel->grid);
    export_event_dims(e, EXPORT_ARG_BLOCK, s->kernel->block);
    export_event_arg(e, EXPORT_ARG_REGISTERS, EXPORT_AS_NUMBER, s->kernel->registers);
    export_event_arg(e, EXPORT_ARG_SHARED, EXPORT_AS_NUMBER, s->kernel->shared_bytes);
    export_event_arg(e, EXPORT_ARG_CALL, EXPORT_AS_NUMBER, s->correlation);
    if (s->node || s->graph) {
        export_event_arg(e, EXPORT_ARG_GRAPH, EXPORT_AS_NUMBER, s->graph);
        export_event_arg(e, EXPORT_ARG_NODE, EXPORT_AS_NUMBER, s->node);
    }
    if (s->by_device)
        export_event_text(e, EXPORT_ARG_LAUNCHED, "device", 6);
}

static void on_stream(export_timeline_t *t, const gpurt_span_t *s)
{
    waiting_t *w = slice(t, s,
                         s->kind == GPURT_KIND_KERNEL ? EXPORT_IN_KERNEL
                         : s->kind == GPURT_KIND_COPY ? EXPORT_IN_COPY
                         : s->kind == GPURT_KIND_FILL ? EXPORT_IN_FILL
                                                      : EXPORT_IN_GRAPH);

    w->key = gpurt_span_on_stream(s) ? export_sheet_key(&t->sheet, EXPORT_STREAM, s->device,
                                                        s->context, s->stream)
                                     : export_sheet_key(&t->sheet, EXPORT_GRAPHS, 0, 0, 0);
    if (s->kernel) {
        kernel_args(&w->event, s);
        occupancy_arg(t, &w->event, s);
        return;
    }
    if (s->kind == GPURT_KIND_GRAPH)
        gpurt_span_graph_name(w->text, s->graph, s->nodes);
    else {
        if (s->kind == GPURT_KIND_FILL)
            memcpy(w->text, "fill", 4);
        export_event_arg(&w->event, EXPORT_ARG_BYTES, EXPORT_AS_NUMBER, s->bytes);
    }
    w->event.text_bytes = strlen(w->text);
    export_event_arg(&w->event, EXPORT_ARG_CALL, EXPORT_AS_NUMBER, s->correlation);
    if (s->by_device)
        export_event_text(&w->event, EXPORT_ARG_LAUNCHED, "device", 6);
}

static void on_managed(export_timeline_t *t, const gpurt_span_t *s)
{
    waiting_t *w = slice(t, s, EXPORT_IN_MEMORY);

    w->key = export_sheet_key(&t->sheet, EXPORT_MANAGED, s->device, 0, 0);
    export_event_arg(&w->event, EXPORT_ARG_BYTES, EXPORT_AS_NUMBER, s->bytes);
}

static void on_host(export_timeline_t *t, const gpurt_span_t *s)
{
    waiting_t *w;

    if (s->kind == GPURT_KIND_CALL) {
        w = slice(t, s, EXPORT_IN_CALL);
        w->key = export_sheet_key(&t->sheet, s->thread ? EXPORT_THREAD : EXPORT_PROCESS, 0,
                                  s->thread, 0);
        w->nests = true;
        export_event_arg(&w->event, EXPORT_ARG_CALL, EXPORT_AS_NUMBER, s->correlation);
        return;
    }
    w = slice(t, s, s->kind == GPURT_KIND_WAIT ? EXPORT_IN_WAIT : EXPORT_IN_OVERHEAD);
    w->key = export_sheet_key(
        &t->sheet, s->kind == GPURT_KIND_WAIT ? EXPORT_WAITS : EXPORT_OVERHEAD, 0, 0, 0);
    w->event.flows = false; /* it causes nothing */
}

/* ---- why nothing ran ----------------------------------------------------------------- */

static void idle_write(export_timeline_t *t, const gpurt_span_t *s)
{
    export_idle_piece_t pieces[EXPORT_IDLE_PIECES];
    uint32_t count = export_idle_span(&t->process->idle, s, pieces);

    for (uint32_t i = 0; i < count; i++) {
        export_event_t e = {.type = EXPORT_SLICE,
                            .in = EXPORT_IN_IDLE,
                            .time_ns = pieces[i].time.start,
                            .ns = pieces[i].time.end - pieces[i].time.start,
                            .text = export_idle_word(pieces[i].why)};

        e.text_bytes = strlen(e.text);
        e.track = export_sheet_track(&t->sheet, EXPORT_IDLE, s->device, 0, 0);
        export_sheet_event(&t->sheet, &e);
    }
}

static void shares_write(export_timeline_t *t, uint32_t device, uint32_t count,
                         const export_share_point_t *points)
{
    for (uint32_t i = 0; i < count; i++)
        export_sheet_counter(&t->sheet, device, EXPORT_COUNT_BUSY, points[i].time_ns,
                             points[i].percent);
}

static void share_write(export_timeline_t *t, const gpurt_span_t *s)
{
    export_share_point_t points[EXPORT_SHARE_POINTS];

    if ((s->kind != GPURT_KIND_KERNEL && s->kind != GPURT_KIND_GRAPH) ||
        s->ns == GPURT_ACTIVITY_NO_TIME)
        return;
    shares_write(t, s->device,
                 export_share_kernel(&t->process->share, s->device, s->time_ns,
                                     s->time_ns + s->ns, points),
                 points);
}

static void shares_end(export_timeline_t *t)
{
    export_share_point_t points[EXPORT_SHARE_POINTS];

    for (uint32_t i = 0; i < EXPORT_SHARE_DEVICES; i++)
        shares_write(t, i, export_share_end(&t->process->share, i, points), points);
}

/* ---- ranges -------------------------------------------------------------------------- */

static void range_event(export_timeline_t *t, export_event_t *e, const export_range_t *r,
                        uint8_t type)
{
    memset(e, 0, sizeof *e);
    e->type = type;
    e->in = EXPORT_IN_RANGE;
    e->track = export_sheet_track(&t->sheet, EXPORT_RANGES, 0, r->row.thread, 0);
    e->time_ns = r->time_ns;
    e->name = r->row.name;
    export_event_arg(e, EXPORT_ARG_DOMAIN, EXPORT_AS_STRING, r->row.domain);
}

static void range_open(export_timeline_t *t, const export_range_t *r)
{
    export_event_t e;

    range_event(t, &e, r, EXPORT_OPEN);
    export_sheet_event(&t->sheet, &e);
}

static void range_close(export_timeline_t *t, const export_range_t *r, bool inner,
                        uint64_t end)
{
    export_key_t lane = export_sheet_key(&t->sheet, EXPORT_RANGES, 0, r->row.thread, 0);
    export_range_t *same;
    export_event_t e;

    range_event(t, &e, r, r->opened ? EXPORT_CLOSE : EXPORT_SLICE);
    if (r->opened) {
        e.time_ns = end;
        export_sheet_event(&t->sheet, &e);
        return;
    }
    e.ns = end > r->time_ns ? end - r->time_ns : 0;
    lane.lane = 1;
    if (!inner)
        e.track = export_tracks_lane(t->sheet.tracks, lane, false, r->time_ns, end);
    else if (!t->sheet.writer->longest_first)
        /* of those that began in one moment the outer ones are written first */
        while ((same = export_ranges_same(&t->process->ranges, r->row.thread,
                                          r->time_ns)) != NULL) {
            range_open(t, same);
            same->opened = true;
        }
    export_sheet_event(&t->sheet, &e);
}

static bool is_word(const export_timeline_t *t, uint32_t id, const char *word)
{
    gpurt_site_info_t info;

    return gpurt_dictionary_get(t->sheet.out->dictionary, id, &info) &&
           info.format_bytes == strlen(word) &&
           memcmp(info.format, word, info.format_bytes) == 0;
}

static void range_row(export_timeline_t *t, const gpurt_row_t *row,
                      const gpurt_activity_range_t *words)
{
    static const char orphan[] = "end of a range whose beginning is not in the log";
    export_range_t r = {.row = *words, .time_ns = row->time_ns};
    export_event_t e;
    bool inner;

    if (is_word(t, words->what, "begin")) {
        if (export_ranges_begin(&t->process->ranges, words, row->time_ns, &r) && !r.opened)
            range_open(t, &r);
        return;
    }
    if (!is_word(t, words->what, "end")) {
        range_event(t, &e, &r, EXPORT_INSTANT);
        export_sheet_event(&t->sheet, &e);
        return;
    }
    if (export_ranges_end(&t->process->ranges, words->id, &r, &inner)) {
        range_close(t, &r, inner, row->time_ns);
        return;
    }
    range_event(t, &e, &r, EXPORT_INSTANT);
    e.text = orphan;
    e.text_bytes = sizeof orphan - 1;
    export_sheet_event(&t->sheet, &e);
}

/* ---- rows ---------------------------------------------------------------------------- */

static void activity_row(export_timeline_t *t, const gpurt_row_t *row)
{
    gpurt_activity_any_t room;
    const void *words =
        gpurt_activity_load(row->kind, gpurt_row_words(row), row->words, &room);

    if (!words)
        return;
    if (row->kind == GPURT_KIND_RANGE)
        range_row(t, row, words);
    else if (row->kind == GPURT_KIND_WINDOW)
        export_idle_off(&t->process->idle, row->time_ns,
                        gpurt_pair_value(((const gpurt_activity_window_t *)words)->off));
    else if (row->kind != GPURT_KIND_DEVICE)
        export_instant_activity(&t->sheet, row, words);
    else if (row->block < EXPORT_DEVICES) {
        memcpy(&t->process->devices[row->block], words, sizeof t->process->devices[0]);
        t->sheet.out->models[t->sheet.program][row->block] =
            t->process->devices[row->block].name;
    }
}

static void row_take(export_timeline_t *t, const gpurt_row_t *row)
{
    gpurt_activity_any_t room;
    gpurt_span_t span;

    if (gpurt_kind_family(row->kind) == GPURT_FAMILY_OBJECT) {
        export_instant_object(&t->sheet, row);
        return;
    }
    if (gpurt_kind_family(row->kind) == GPURT_FAMILY_TASK) {
        export_task(&t->sheet, row);
        return;
    }
    if (!gpurt_kind_is_activity(row->kind)) {
        export_instant_messages(&t->sheet, row);
        return;
    }
    if (!gpurt_span_read(row, &room, &span)) {
        activity_row(t, row);
        return;
    }
    idle_write(t, &span);
    share_write(t, &span);
    if (gpurt_span_on_stream(&span) || span.kind == GPURT_KIND_GRAPH)
        on_stream(t, &span);
    else if (span.kind == GPURT_KIND_MANAGED)
        on_managed(t, &span);
    else
        on_host(t, &span);
}

bool export_timeline_row(export_timeline_t *t, const gpurt_row_t *row)
{
    if (!process_choose(t, export_program_of(&t->sheet.out->programs, row)))
        return false;
    row_take(t, row);
    return true;
}

static void ranges_open(export_timeline_t *t)
{
    export_ranges_t *r = &t->process->ranges;

    for (uint32_t i = 0; i < r->count; i++)
        if (!r->list[i].opened)
            range_open(t, &r->list[i]);
}

void export_timeline_end(export_timeline_t *t)
{
    moment_write(t);
    for (uint32_t i = 0; i < EXPORT_PROGRAMS; i++)
        if (t->processes[i] && process_choose(t, i)) {
            ranges_open(t);
            shares_end(t);
        }
}
