/* SPDX-License-Identifier: Apache-2.0 */
#include "recordline.h"

#include "activity_text.h"
#include "fileabout.h"
#include "json.h"
#include "program.h"

#include <gpurt/impl/task/taskrow.h>
#include <string.h>

enum {
    ROOM = 6 * UINT16_MAX + 1 /* of the longest text of a log, each byte an escape */
};

static const char *const names[RECORDLINE_FIELDS] = {
    "ts_ns",  "dur_ns", "level", "pid",      "device", "back_end", "context",
    "stream", "thread", "sm",    "slot",     "block",  "warp",     "lanes",
    "call",   "graph",  "node",  "launched", "bytes",  "name",     "file",
    "line",   "kind",   "msg",   "class",    "id",     "ended",    "fields"};

static void set(recordline_t *l, uint32_t field, uint64_t value)
{
    l->fields[field] = (recordline_field_t){.there = true, .value = value};
}

static void set_bytes(recordline_t *l, uint32_t field, const char *text, size_t bytes)
{
    l->fields[field] = (recordline_field_t){.there = true, .text = text, .bytes = bytes};
}

static void set_text(recordline_t *l, uint32_t field, const char *text)
{
    set_bytes(l, field, text, strlen(text));
}

static void set_nonzero(recordline_t *l, uint32_t field, uint64_t value)
{
    if (value)
        set(l, field, value);
}

static void set_string(recordline_t *l, uint32_t field, uint32_t id)
{
    gpurt_site_info_t info;

    if (id && gpurt_dictionary_get(l->dictionary, id, &info) &&
        info.kind == GPURT_DEF_STRING)
        set_bytes(l, field, info.format, info.format_bytes);
}

/* ---- what a device did --------------------------------------------------------------- */

static void set_device(recordline_t *l, uint32_t device)
{
    if (device != GPURT_ACTIVITY_NO_DEVICE)
        set(l, RECORDLINE_DEVICE, device);
}

static void set_span(recordline_t *l, const gpurt_span_t *s)
{
    if (s->ns != GPURT_ACTIVITY_NO_TIME)
        set(l, RECORDLINE_DURATION, s->ns);
    if (s->kind == GPURT_KIND_MANAGED)
        set_device(l, s->device);
    if (gpurt_span_on_stream(s)) {
        set_device(l, s->device);
        set(l, RECORDLINE_CONTEXT, s->context);
        set(l, RECORDLINE_STREAM, s->stream);
    }
    set_nonzero(l, RECORDLINE_THREAD, s->thread);
    set_nonzero(l, RECORDLINE_CALL, s->correlation);
    if (s->graph || s->node)
        set(l, RECORDLINE_GRAPH, s->graph);
    set_nonzero(l, RECORDLINE_NODE, s->node);
    if (s->by_device)
        set_text(l, RECORDLINE_LAUNCHED, "device");
    if (s->kind == GPURT_KIND_COPY || s->kind == GPURT_KIND_FILL ||
        s->kind == GPURT_KIND_MANAGED)
        set(l, RECORDLINE_BYTES, s->bytes);
    set_string(l, RECORDLINE_NAME, s->name);
    if (s->kind == GPURT_KIND_GRAPH) {
        gpurt_span_graph_name(l->graph, s->graph, s->nodes);
        set_text(l, RECORDLINE_NAME, l->graph);
    }
}

static void set_range(recordline_t *l)
{
    gpurt_activity_any_t room;
    const gpurt_activity_range_t *r =
        gpurt_activity_load(l->row->kind, gpurt_row_words(l->row), l->row->words, &room);

    if (!r)
        return;
    set_string(l, RECORDLINE_NAME, r->name);
    set_nonzero(l, RECORDLINE_THREAD, r->thread);
}

static void set_activity(recordline_t *l)
{
    gpurt_activity_any_t room;
    gpurt_span_t span;

    set_text(l, RECORDLINE_KIND, gpurt_kind_word(l->row->kind));
    if (gpurt_span_read(l->row, &room, &span))
        set_span(l, &span);
    else if (l->row->kind == GPURT_KIND_RANGE)
        set_range(l);
    else if (l->row->kind != GPURT_KIND_COLLECTOR)
        set_device(l, l->row->block);
}

/* ---- where a row is of --------------------------------------------------------------- */

/* Of its ring; a loss that is of none has no place. */
static void set_loss(recordline_t *l)
{
    const gpurt_row_t *row = l->row;

    if (row->words < 4 || gpurt_row_words(row)[3] == UINT32_MAX)
        return;
    set(l, RECORDLINE_SM, row->sm);
    set(l, RECORDLINE_SLOT, row->slot);
}

/* A body that ran: its row is frozen, and may grow. */
static void set_task(recordline_t *l)
{
    gpurt_task_slice_t slice;

    if (l->row->words < GPURT_TASK_SLICE_WORDS)
        return;
    memcpy(&slice, gpurt_row_words(l->row), sizeof slice);
    set_string(l, RECORDLINE_NAME, slice.name);
    set(l, RECORDLINE_DURATION, gpurt_pair_value(slice.ns));
}

static void set_place(recordline_t *l, const gplog_section_t *section)
{
    const gpurt_row_t *row = l->row;
    bool host =
        section ? section->kind == GPURT_SECTION_HOST : row->form == GPURT_FORM_THREAD;

    set_text(l, RECORDLINE_KIND, gpurt_kind_word(row->kind));
    if (section &&
        (section->kind == GPURT_SECTION_CUDA || section->kind == GPURT_SECTION_CPU))
        set(l, RECORDLINE_DEVICE, section->device);
    if (host && row->kind != GPURT_KIND_LOSS) {
        set_nonzero(l, RECORDLINE_THREAD, row->block);
    } else if (row->kind == GPURT_KIND_LOSS) {
        if (!host)
            set_loss(l);
    } else {
        set(l, RECORDLINE_SM, row->sm);
        set(l, RECORDLINE_SLOT, row->slot);
        set(l, RECORDLINE_BLOCK, row->block);
        set(l, RECORDLINE_WARP, row->warp);
        set(l, RECORDLINE_LANES, row->mask);
    }
}

/* An object stands on its device, and has a class, a number and fields. */
static void set_object(recordline_t *l)
{
    gpurt_objectrow_t o;
    gpurt_json_t j;

    set_text(l, RECORDLINE_KIND, gpurt_kind_word(l->row->kind));
    set_device(l, l->row->block);
    if (!gpurt_objectrow_read(&o, l->dictionary, l->row))
        return;
    memcpy(l->class_, o.def.name, sizeof l->class_);
    set_text(l, RECORDLINE_CLASS, l->class_);
    set(l, RECORDLINE_ID, o.id);
    set_text(l, RECORDLINE_ENDED, o.ended ? "true" : "false");
    gpurt_json_memory(&j, l->object, sizeof l->object);
    gpurt_objectrow_json(&o, &j, NULL);
    set_bytes(l, RECORDLINE_OBJECT, l->object, j.used);
    l->fields[RECORDLINE_ENDED].json = l->fields[RECORDLINE_OBJECT].json = true;
}

void recordline_begin(recordline_t *l, const gpurt_dictionary_t *d,
                      const gplog_file_t *about, const gpurt_row_t *row)
{
    const uint32_t kind = gplog_about_kind(about, row);
    gpurt_site_info_t site;

    memset(l->fields, 0, sizeof l->fields);
    l->dictionary = d;
    l->row = row;
    set(l, RECORDLINE_TIME, row->time_ns);
    set_text(l, RECORDLINE_LEVEL, gpurt_level_name(row->level));
    set_nonzero(l, RECORDLINE_PID, gplog_program_pid(d, about, row));
    switch (gpurt_kind_family(row->kind)) {
    case GPURT_FAMILY_ACTIVITY:
        set_activity(l);
        break;
    case GPURT_FAMILY_OBJECT:
        set_object(l);
        break;
    case GPURT_FAMILY_TASK:
        set_task(l);
        /* fall through */
    default:
        set_place(l, row->section < about->section_count ? &about->sections[row->section]
                                                         : NULL);
    }
    if (kind == GPURT_SECTION_CUDA || kind == GPURT_SECTION_CPU ||
        kind == GPURT_SECTION_HOST)
        set_text(l, RECORDLINE_BACK_END, gplog_back_end(kind));
    if (gpurt_dictionary_get(d, row->site, &site) && site.file_bytes) {
        set_bytes(l, RECORDLINE_FILE, site.file, site.file_bytes);
        set(l, RECORDLINE_LINE, site.line);
    }
}

void recordline_message(recordline_t *l, uint32_t lane)
{
    gpurt_text_t text;

    gpurt_text_init(&text, l->message, sizeof l->message);
    gpurt_render_message(l->dictionary, l->row, lane, &text);
    set_bytes(l, RECORDLINE_MESSAGE, l->message, text.used);
    if (l->fields[RECORDLINE_LANES].there)
        set(l, RECORDLINE_LANES, gpurt_render_lanes(l->row, lane));
}

/* ---- as JSON, as CSV ----------------------------------------------------------------- */

static void number_put(FILE *out, uint64_t value)
{
    char room[24];
    gpurt_text_t text;

    gpurt_text_init(&text, room, sizeof room);
    gpurt_text_u64(&text, value);
    fwrite(room, 1, text.used, out);
}

void recordline_json(FILE *out, const recordline_t *l)
{
    gpurt_json_t j;

    gpurt_json_file(&j, out);
    gpurt_json_object(&j, NULL);
    for (uint32_t i = 0; i < RECORDLINE_FIELDS; i++) {
        const recordline_field_t *f = &l->fields[i];

        if (f->there && f->json)
            gpurt_json_raw(&j, names[i], f->text, f->bytes);
        else if (f->there && f->text)
            gpurt_json_bytes(&j, names[i], f->text, f->bytes);
        else if (f->there)
            gpurt_json_number(&j, names[i], f->value);
    }
    gpurt_json_object_end(&j);
    gpurt_json_newline(&j);
}

/* Every text stands in quotes; a quote is written twice (RFC 4180). */
static void quoted_put(FILE *out, const recordline_field_t *f)
{
    char room[ROOM];
    gpurt_text_t text;

    gpurt_text_init(&text, room, sizeof room);
    gpurt_render_plain(&text, f->text, f->bytes);
    putc('"', out);
    for (size_t i = 0; i < text.used; i++) {
        if (room[i] == '"')
            putc('"', out);
        putc(room[i], out);
    }
    putc('"', out);
}

void recordline_csv(FILE *out, const recordline_t *l)
{
    for (uint32_t i = 0; i < RECORDLINE_FIELDS; i++) {
        const recordline_field_t *f = &l->fields[i];

        if (i)
            putc(',', out);
        if (f->there && f->text)
            quoted_put(out, f);
        else if (f->there)
            number_put(out, f->value);
    }
    putc('\n', out);
}

void recordline_csv_head(FILE *out)
{
    for (uint32_t i = 0; i < RECORDLINE_FIELDS; i++)
        fprintf(out, "%s%s", i ? "," : "", names[i]);
    putc('\n', out);
}
