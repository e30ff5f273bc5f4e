/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_last.h"

#include "addr2line.h"
#include "frame_text.h"
#include "nicename.h"
#include "panic_who.h"
#include "span.h"

#include <gpurt/impl/activity.h>
#include <stdlib.h>
#include <string.h>

enum {
    ANSWER = 2048,
    CALLS = 1024,
    FRAME_TEXT = 512
};
static const char between[] = " < ";

/* A launch of either kind: what both have. */
typedef struct launch {
    gpurt_activity_launch_t
        own;        /* name, shape, thread; of the program's own also its line */
    uint32_t calls; /* of a plain one: where from */
    uint32_t python, whose;
    uint32_t correlation, graph;
    bool plain;
} launch_t;

/* ---- finding ------------------------------------------------------------------------- */

static bool launch_read(const gpurt_row_t *row, launch_t *out)
{
    gpurt_activity_any_t room;
    const void *words =
        gpurt_activity_load(row->kind, gpurt_row_words(row), row->words, &room);
    const gpurt_activity_driver_launch_t *d = words;

    memset(out, 0, sizeof *out);
    if (!words)
        return false;
    out->plain = row->kind == GPURT_KIND_DRIVER_LAUNCH;
    if (!out->plain) {
        memcpy(&out->own, words, sizeof out->own);
        return row->kind == GPURT_KIND_LAUNCH;
    }
    out->own.name = d->name;
    memcpy(out->own.grid, d->grid, sizeof d->grid);
    memcpy(out->own.block, d->block, sizeof d->block);
    out->own.shared_bytes = d->shared_bytes;
    out->own.stream = d->stream;
    out->own.thread = d->thread;
    out->calls = d->calls;
    out->python = d->python;
    out->whose = d->whose;
    out->correlation = d->correlation;
    out->graph = d->graph;
    return true;
}

static bool is_launch(const gpurt_row_t *row)
{
    return row->kind == GPURT_KIND_LAUNCH || row->kind == GPURT_KIND_DRIVER_LAUNCH;
}

static void launch_add(panic_last_t *last, const gpurt_row_t *row, uint32_t correlation)
{
    gpurt_row_t *copy = panic_row_copy(row);
    uint32_t at = 0;

    while (at < last->count && last->list[at].row->time_ns > row->time_ns)
        at++;
    if (!copy || at == PANIC_LAST) {
        free(copy);
        return;
    }
    if (last->count == PANIC_LAST)
        free(last->list[--last->count].row);
    memmove(last->list + at + 1, last->list + at,
            (last->count - at) * sizeof last->list[0]);
    last->list[at] = (panic_launched_t){copy, correlation, false};
    last->count++;
}

/* Of its own process: another one's calls have the same numbers. */
static void ended(panic_last_t *last, const gpurt_row_t *row, const gpurt_span_t *span)
{
    for (uint32_t i = 0; i < last->count; i++)
        if (last->list[i].correlation == span->correlation &&
            last->list[i].row->section == row->section)
            last->list[i].ended = true;
}

/* One list a process, of so many from the first on. */
typedef struct search {
    panic_last_t *lists;
    uint32_t first, count;
    uint64_t until_ns;
} search_t;

static panic_last_t *list_of(const search_t *s, const gpurt_row_t *row)
{
    uint32_t at = row->program - s->first;

    return at < s->count ? &s->lists[at] : NULL;
}

/* Rows come as they were written: a launch before what tells of its end. */
static bool take(void *context, const gpurt_row_t *row)
{
    const search_t *s = context;
    gpurt_activity_any_t room;
    panic_last_t *last = list_of(s, row);
    gpurt_span_t span;
    launch_t l;

    if (!last)
        return true;
    if (is_launch(row)) {
        if (row->time_ns <= s->until_ns && launch_read(row, &l))
            launch_add(last, row, l.correlation);
    } else if (last->count && gpurt_span_read(row, &room, &span) &&
               gpurt_span_on_stream(&span) && span.correlation &&
               span.ns != GPURT_ACTIVITY_NO_TIME) /* of what failed CUPTI knows no end */
        ended(last, row, &span);
    return true;
}

/* A bit for each site of launches, as the index of a log has them. */
static uint64_t sites_of(const gpurt_dictionary_t *d)
{
    uint64_t bits = 0;
    gpurt_site_info_t site;

    for (uint32_t id = 1; id < d->at_count; id++)
        if (gpurt_dictionary_get(d, id, &site) && site.kind == GPURT_DEF_SITE &&
            (site.record_kind == GPURT_KIND_LAUNCH ||
             site.record_kind == GPURT_KIND_DRIVER_LAUNCH))
            bits |= 1ull << (id & 63);
    return bits;
}

static void frame_read(gpurt_log_t *log, uint64_t index, search_t *s)
{
    gpurt_log_rows_t rows;
    const gpurt_row_t *row;
    uint32_t at = 0;

    if (gpurt_log_read(log, index, &rows, NULL) != GPURT_OK)
        return;
    while ((row = gpurt_log_row(&rows, at, &at)) != NULL)
        take(s, row);
}

/* A log without launches, as most are, is not read for them. */
static void log_read(gpurt_log_t *log, search_t *s)
{
    uint64_t bits = sites_of(gpurt_log_dictionary(log)), count = gpurt_log_frames(log);
    uint64_t first = 0;

    while (first < count && !(gpurt_log_entry(log, first)->sites & bits))
        first++;
    for (uint64_t i = first; i < count; i++)
        frame_read(log, i, s);
}

static void lists_fill(panic_source_t *source, search_t *s)
{
    memset(s->lists, 0, s->count * sizeof s->lists[0]);
    for (uint32_t i = 0; i < s->count; i++) {
        s->lists[i].source = source;
        s->lists[i].program = s->first + i;
    }
    if (source->dump.core || s->first == GPLOG_PROGRAM_OTHERS)
        return;
    if (source->log)
        log_read(source->log, s);
    else
        panic_box_each(source, take, s, NULL);
}

void panic_last_find(panic_source_t *source, const gpurt_row_t *before, panic_last_t *out)
{
    search_t s = {out, before->program, 1, before->time_ns};

    lists_fill(source, &s);
}

void panic_last_free(panic_last_t *last)
{
    for (uint32_t i = 0; i < last->count; i++)
        free(last->list[i].row);
    last->count = 0;
}

typedef void last_fn(const panic_last_t *last, void *context);

/* The list of each process that has one, by its number, out of one reading of the source. */
static void last_each(panic_source_t *source, last_fn *put, void *context)
{
    uint32_t count = gplog_program_count(panic_source_sites(source));
    search_t s = {.count = count ? count : 1, .until_ns = UINT64_MAX};

    s.lists = malloc(s.count * sizeof *s.lists);
    if (!s.lists)
        return;
    lists_fill(source, &s);
    for (uint32_t i = 0; i < s.count; i++) {
        if (s.lists[i].count)
            put(&s.lists[i], context);
        panic_last_free(&s.lists[i]);
    }
    free(s.lists);
}

/* ---- where from ---------------------------------------------------------------------- */

/* A definition's text, cut to `room`. */
static void string_of(const panic_source_t *source, uint32_t id, char *out, size_t room)
{
    gpurt_site_info_t info;
    size_t bytes = 0;

    if (gpurt_dictionary_get(panic_source_sites(source), id, &info) &&
        info.kind == GPURT_DEF_STRING) {
        bytes = info.format_bytes < room - 1 ? info.format_bytes : room - 1;
        memcpy(out, info.format, bytes);
    }
    out[bytes] = '\0';
}

/* "train.c:31 in step", as the module's debug information has it now. Returns: false, it says
 * nothing. */
static bool line_of(const char *module, uint64_t offset, char out[FRAME_TEXT])
{
    const char *ask = getenv("GPURT_SYMBOLIZE");
    char answer[ANSWER], *rest = answer, *function, *file;
    const char *nice;
    uint32_t bytes;

    if ((ask && strcmp(ask, "0") == 0) || offset == 0 ||
        !gpurt_addr2line(module, (uintptr_t)offset - 1, answer, sizeof answer))
        return false;
    function = strsep(&rest, "\n");
    file = strsep(&rest, "\n");
    if (!function || !file || file[0] == '?')
        return false;
    file[strcspn(file, " ")] = '\0';
    nice = nicename(function);
    snprintf(out, FRAME_TEXT, "%.200s in %.200s",
             panic_base(file, (uint32_t)strlen(file), &bytes), nice ? nice : function);
    return true;
}

/* One "module+0xoffset" as people read it. */
static void frame_text(char *frame, char out[FRAME_TEXT])
{
    char *plus = strrchr(frame, '+');
    uint32_t bytes;

    if (plus && frame[0] == '/') {
        *plus = '\0';
        if (line_of(frame, strtoull(plus + 1, NULL, 16), out))
            return;
        *plus = '+';
    }
    snprintf(out, FRAME_TEXT, "%s", panic_base(frame, (uint32_t)strlen(frame), &bytes));
}

typedef void frame_fn(void *context, const char *text, bool first);

static void frames_each(const panic_source_t *source, const launch_t *l, frame_fn *put,
                        void *context)
{
    char calls[CALLS], text[FRAME_TEXT], *at = calls, *end;
    uint32_t bytes;

    if (!l->plain) {
        string_of(source, l->own.file, calls, sizeof calls);
        snprintf(text, sizeof text, "%.300s:%u",
                 panic_base(calls, (uint32_t)strlen(calls), &bytes), l->own.line);
        put(context, text, true);
        return;
    }
    string_of(source, l->calls, calls, sizeof calls);
    while (at) {
        end = strstr(at, between);
        if (end)
            *end = '\0';
        frame_text(at, text);
        put(context, text, at == calls);
        if (strcmp(text + strlen(text) - (strlen(text) < 8 ? 0 : 8), " in main") == 0)
            return; /* what called that says nothing */
        at = end ? end + sizeof between - 1 : NULL;
    }
}

static void name_of(const panic_source_t *source, const launch_t *l, char *out, size_t room)
{
    char text[CALLS];
    const char *nice;

    string_of(source, l->own.name, text, sizeof text);
    nice = nicename(text);
    snprintf(out, room, "%s", nice ? nice : text);
}

/* ---- for people ---------------------------------------------------------------------- */

static void frame_print(void *context, const char *text, bool first)
{
    gpurt_text_t *out = context;

    gpurt_text_printf(out, "%s", first ? " from " : between);
    gpurt_render_plain(out, text, strlen(text));
}

/* "; Python train.py:9 step < train.py:31 main". */
static void python_print(const panic_source_t *source, const launch_t *l, gpurt_text_t *out)
{
    char python[CALLS], line[CALLS + 64];
    gpurt_text_t text;

    if (l->whose == GPURT_PYTHON_NONE)
        return;
    string_of(source, l->python, python, sizeof python);
    gpurt_text_init(&text, line, sizeof line);
    frame_text_line(python, l->whose, &text);
    gpurt_render_plain(out, line, text.used);
}

static void launch_text(const panic_source_t *source, const panic_launched_t *launched,
                        gpurt_text_t *out)
{
    char name[CALLS];
    launch_t l;

    if (!launch_read(launched->row, &l))
        return;
    name_of(source, &l, name, sizeof name);
    gpurt_render_plain(out, name, strlen(name));
    if (!l.graph)
        gpurt_text_printf(out, ", grid %u,%u,%u block %u,%u,%u", l.own.grid[0],
                          l.own.grid[1], l.own.grid[2], l.own.block[0], l.own.block[1],
                          l.own.block[2]);
    frames_each(source, &l, frame_print, out);
    python_print(source, &l, out);
    if (l.plain)
        gpurt_text_printf(out,
                          launched->ended ? "; it has ended" : "; its end is not recorded");
}

static void list_print(const panic_last_t *last, const char *word,
                       const panic_style_t *style)
{
    for (uint32_t i = 0; i < last->count; i++) {
        panic_line_t line;

        panic_line_begin(&line, style);
        gpurt_text_printf(&line.text, "  %-9s ", i ? "" : word);
        launch_text(last->source, &last->list[i], &line.text);
        panic_line_end(&line, NULL);
    }
}

void panic_last_print(const panic_last_t *last, const panic_style_t *style)
{
    list_print(last, "launched", style);
}

/* " of rank[4711]", where the source has more than one process. */
static void who_add(const panic_last_t *last, gpurt_text_t *out)
{
    if (!panic_who_told(last->source))
        return;
    gpurt_text_printf(out, " of ");
    panic_who_text(&(panic_entry_t){.source = last->source, .row = last->list[0].row}, out);
}

/* What is told of each process in turn. */
typedef struct telling {
    const panic_style_t *style;
    bool any;
} telling_t;

static void tell_all(const panic_last_t *last, void *context)
{
    telling_t *t = context;
    panic_line_t line;

    t->any = true;
    panic_line_begin(&line, t->style);
    gpurt_text_printf(&line.text, "the last launches");
    who_add(last, &line.text);
    gpurt_text_printf(&line.text, " that are recorded, newest first:");
    panic_line_end(&line, NULL);
    list_print(last, "", t->style);
}

bool panic_last_alone(panic_source_t *source, const panic_style_t *style)
{
    telling_t t = {style, false};

    last_each(source, tell_all, &t);
    return t.any;
}

static void tell_line(const panic_last_t *last, void *context)
{
    telling_t *t = context;
    panic_line_t line;
    uint32_t i = 0;

    while (i < last->count && last->list[i].ended)
        i++;
    if (i == last->count)
        return;
    panic_line_begin(&line, t->style);
    gpurt_text_printf(&line.text, "last launch");
    who_add(last, &line.text);
    gpurt_text_printf(&line.text, ": ");
    launch_text(last->source, &last->list[i], &line.text);
    panic_line_end(&line, NULL);
}

void panic_last_line(panic_source_t *source, const panic_style_t *style)
{
    telling_t t = {style, false};

    last_each(source, tell_line, &t);
}

/* ---- for programs -------------------------------------------------------------------- */

static void frame_json(void *context, const char *text, bool first)
{
    (void)first;
    gpurt_json_text(context, NULL, text);
}

static void launch_json(const panic_source_t *source, const panic_launched_t *launched,
                        gpurt_json_t *j)
{
    char name[CALLS], python[CALLS];
    launch_t l;

    launch_read(launched->row, &l);
    name_of(source, &l, name, sizeof name);
    gpurt_json_object(j, NULL);
    gpurt_json_number(j, "ts_ns", launched->row->time_ns);
    who_json_pid(
        j, gplog_program_pid(panic_source_sites(source), &source->about, launched->row));
    gpurt_json_text(j, "kernel", name);
    gpurt_json_triple(j, "grid", l.own.grid[0], l.own.grid[1], l.own.grid[2]);
    gpurt_json_triple(j, "block", l.own.block[0], l.own.block[1], l.own.block[2]);
    gpurt_json_number(j, "shared_bytes", l.own.shared_bytes);
    gpurt_json_number(j, "stream", gpurt_pair_value(l.own.stream));
    gpurt_json_number(j, "device", launched->row->block);
    gpurt_json_number(j, "thread", l.own.thread);
    gpurt_json_known(j, "call", l.plain, l.correlation);
    if (l.plain)
        gpurt_json_bool(j, "ended", launched->ended);
    else
        gpurt_json_null(j, "ended");
    gpurt_json_array(j, "from");
    frames_each(source, &l, frame_json, j);
    gpurt_json_array_end(j);
    string_of(source, l.python, python, sizeof python);
    frame_text_json(j, python, l.whose);
    gpurt_json_object_end(j);
}

static void put_all(const panic_last_t *last, void *context)
{
    for (uint32_t i = 0; i < last->count; i++)
        launch_json(last->source, &last->list[i], context);
}

void panic_last_json(gpurt_json_t *j, const panic_last_t *last)
{
    gpurt_json_array(j, "last_launches");
    put_all(last, j);
    gpurt_json_array_end(j);
}

void panic_last_json_all(gpurt_json_t *j, panic_source_t *source)
{
    gpurt_json_array(j, "last_launches");
    last_each(source, put_all, j);
    gpurt_json_array_end(j);
}
