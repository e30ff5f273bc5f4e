/* SPDX-License-Identifier: Apache-2.0 */
#include "export_lines.h"

#include "activity_text.h"
#include "fileabout.h"
#include "render.h"
#include "span.h"

#include <inttypes.h>
#include <string.h>

enum {
    LINE_BYTES = 8 * GPURT_MESSAGE_MAX
};

/* Fields, in the order of columns. */
enum {
    TIME,
    DURATION,
    KIND,
    LEVEL,
    DEVICE,
    CONTEXT,
    STREAM,
    THREAD,
    SM,
    SLOT,
    BLOCK,
    WARP,
    LANES,
    CALL,
    GRAPH,
    NODE,
    LAUNCHED,
    BYTES,
    NAME,
    FILE_OF,
    LINE,
    MESSAGE,
    BACK_END,
    PID,
    FIELDS
};
static const char *const names[FIELDS] = {
    "ts_ns",    "dur_ns", "kind",  "level", "device", "context", "stream",   "thread",
    "sm",       "slot",   "block", "warp",  "lanes",  "call",    "graph",    "node",
    "launched", "bytes",  "name",  "file",  "line",   "msg",     "back_end", "pid"};

typedef struct field {
    bool there;
    uint64_t value;
    const char *text; /* NULL: value */
    size_t bytes;
} field_t;

/* One line. Texts live as long as the row. */
typedef struct line {
    field_t fields[FIELDS];
    char graph[GPURT_SPAN_GRAPH_NAME];
    char message[GPURT_MESSAGE_MAX];
} line_t;

static void set(line_t *l, uint32_t field, uint64_t value)
{
    l->fields[field] = (field_t){.there = true, .value = value};
}

static void set_text(line_t *l, uint32_t field, const char *text, size_t bytes)
{
    l->fields[field] = (field_t){.there = true, .text = text, .bytes = bytes};
}

static void set_string(const export_out_t *o, line_t *l, uint32_t field, uint32_t id)
{
    gpurt_site_info_t info;

    if (id && gpurt_dictionary_get(o->dictionary, id, &info) &&
        info.kind == GPURT_DEF_STRING)
        set_text(l, field, info.format, info.format_bytes);
}

static void set_span(const export_out_t *o, line_t *l, const gpurt_span_t *s)
{
    if (s->ns != GPURT_ACTIVITY_NO_TIME)
        set(l, DURATION, s->ns);
    if (s->kind == GPURT_KIND_MANAGED)
        set(l, DEVICE, s->device);
    if (gpurt_span_on_stream(s)) {
        set(l, DEVICE, s->device);
        set(l, CONTEXT, s->context);
        set(l, STREAM, s->stream);
    }
    if (s->thread)
        set(l, THREAD, s->thread);
    if (s->correlation)
        set(l, CALL, s->correlation);
    if (s->graph || s->node)
        set(l, GRAPH, s->graph);
    if (s->node)
        set(l, NODE, s->node);
    if (s->by_device)
        set_text(l, LAUNCHED, "device", 6);
    if (s->kind == GPURT_KIND_COPY || s->kind == GPURT_KIND_FILL ||
        s->kind == GPURT_KIND_MANAGED)
        set(l, BYTES, s->bytes);
    set_string(o, l, NAME, s->name);
    if (s->kind == GPURT_KIND_GRAPH) {
        gpurt_span_graph_name(l->graph, s->graph, s->nodes);
        set_text(l, NAME, l->graph, strlen(l->graph));
    }
}

static void set_range(const export_out_t *o, line_t *l, const gpurt_row_t *row)
{
    gpurt_activity_any_t room;
    const gpurt_activity_range_t *r =
        gpurt_activity_load(row->kind, gpurt_row_words(row), row->words, &room);

    if (!r)
        return;
    set_string(o, l, NAME, r->name);
    if (r->thread)
        set(l, THREAD, r->thread);
}

static void set_activity(const export_out_t *o, line_t *l, const gpurt_row_t *row)
{
    const char *word = activity_word(row->kind);
    gpurt_activity_any_t room;
    gpurt_span_t span;

    set_text(l, KIND, word, strlen(word));
    if (gpurt_span_read(row, &room, &span))
        set_span(o, l, &span);
    else if (row->kind == GPURT_KIND_RANGE)
        set_range(o, l, row);
    else if (row->kind != GPURT_KIND_COLLECTOR)
        set(l, DEVICE, row->block);
}

static void set_place(const export_out_t *o, line_t *l, const gpurt_row_t *row)
{
    const gplog_file_t *about = &o->sum.about;
    const char *word = gpurt_row_is_panic(row)        ? "panic"
                       : row->kind == GPURT_KIND_LOSS ? "loss"
                                                      : "log";

    set_text(l, KIND, word, strlen(word));
    if (row->section < about->section_count &&
        about->sections[row->section].kind == GPURT_SECTION_HOST) {
        if (row->kind == GPURT_KIND_LOG)
            set(l, THREAD, row->block);
        return;
    }
    set(l, DEVICE,
        row->section < about->section_count ? about->sections[row->section].device : 0);
    set(l, SM, row->sm);
    set(l, SLOT, row->slot);
    set(l, BLOCK, row->block);
    set(l, WARP, row->warp);
}

static void set_back_end(const export_out_t *o, line_t *l, const gpurt_row_t *row)
{
    const char *word = gplog_back_end(gplog_about_kind(&o->sum.about, row));

    set_text(l, BACK_END, word, strlen(word));
}

static void fill(const export_out_t *o, line_t *l, const gpurt_row_t *row)
{
    const uint32_t pid = o->programs.pids[export_program_of(&o->programs, row)];
    const char *level = gpurt_level_name(row->level);
    gpurt_site_info_t site;

    memset(l->fields, 0, sizeof l->fields);
    set(l, TIME, row->time_ns);
    set_text(l, LEVEL, level, strlen(level));
    if (gpurt_kind_is_activity(row->kind))
        set_activity(o, l, row);
    else
        set_place(o, l, row);
    if (l->fields[DEVICE].there)
        set_back_end(o, l, row);
    if (pid)
        set(l, PID, pid);
    if (gpurt_dictionary_get(o->dictionary, row->site, &site) && site.file_bytes) {
        set_text(l, FILE_OF, site.file, site.file_bytes);
        set(l, LINE, site.line);
    }
}

static void set_message(const export_out_t *o, line_t *l, const gpurt_row_t *row,
                        uint32_t lane)
{
    gpurt_text_t text;

    gpurt_text_init(&text, l->message, sizeof l->message);
    gpurt_render_message(o->dictionary, row, lane, &text);
    set_text(l, MESSAGE, l->message, text.used);
    if (l->fields[SM].there)
        set(l, LANES, gpurt_render_lanes(row, lane));
}

/* ---- as JSON, as CSV ----------------------------------------------------------------- */

static void json_put(FILE *out, const line_t *l)
{
    char room[LINE_BYTES];
    gpurt_text_t text;

    for (uint32_t i = 0; i < FIELDS; i++) {
        const field_t *f = &l->fields[i];

        if (!f->there)
            continue;
        fprintf(out, "%s\"%s\":", i ? "," : "{", names[i]);
        if (!f->text) {
            fprintf(out, "%" PRIu64, f->value);
            continue;
        }
        gpurt_text_init(&text, room, sizeof room);
        gpurt_render_json(&text, f->text, f->bytes);
        fprintf(out, "\"%s\"", room);
    }
    fputs("}\n", out);
}

/* Every text stands in quotes; a quote is written twice (RFC 4180). */
static void quoted_put(FILE *out, const field_t *f)
{
    char room[LINE_BYTES];
    size_t bytes = export_safe(f->text, f->bytes, room, sizeof room);

    putc('"', out);
    for (size_t i = 0; i < bytes; i++) {
        if (room[i] == '"')
            putc('"', out);
        putc(room[i], out);
    }
    putc('"', out);
}

static void csv_put(FILE *out, const line_t *l)
{
    for (uint32_t i = 0; i < FIELDS; i++) {
        const field_t *f = &l->fields[i];

        if (i)
            putc(',', out);
        if (f->there && f->text)
            quoted_put(out, f);
        else if (f->there)
            fprintf(out, "%" PRIu64, f->value);
    }
    putc('\n', out);
}

void export_csv_head(export_out_t *o)
{
    for (uint32_t i = 0; i < FIELDS; i++)
        fprintf(o->file, "%s%s", i ? "," : "", names[i]);
    putc('\n', o->file);
}

static void row_put(export_out_t *o, const gpurt_row_t *row,
                    void (*put)(FILE *out, const line_t *l))
{
    uint32_t messages = row->kind == GPURT_KIND_LOSS ? 1 : gpurt_row_messages(row);
    line_t l;

    fill(o, &l, row);
    for (uint32_t lane = 0; lane < messages; lane++) {
        set_message(o, &l, row, lane);
        put(o->file, &l);
    }
}

void export_csv_row(export_out_t *o, const gpurt_row_t *row)
{
    row_put(o, row, csv_put);
}

void export_jsonl_row(export_out_t *o, const gpurt_row_t *row)
{
    row_put(o, row, json_put);
}
