/* SPDX-License-Identifier: Apache-2.0 */
#include "export.h"

#include "cursor.h"
#include "export_lines.h"
#include "export_timeline.h"

#include <errno.h>
#include <string.h>

/* One of the two is set. */
typedef struct export_format {
    const char *name;
    const export_writer_t *writer; /* of a timeline */
    void (*row)(export_out_t *o, const gpurt_row_t *row);
    void (*head)(export_out_t *o);
} export_format_t;

static const export_format_t formats[] = {
    {"perfetto", &export_perfetto, NULL, NULL},
    {"chrome", &export_chrome, NULL, NULL},
    {"jsonl", NULL, export_jsonl_row, NULL},
    {"csv", NULL, export_csv_row, export_csv_head},
};

static const export_format_t *format_of(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(name, formats[i].name) == 0)
            return &formats[i];
    return NULL;
}

bool export_knows(const char *format)
{
    return format_of(format) != NULL;
}

static gpurt_status_t no_memory(gpurt_error_t *err)
{
    return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "export");
}

static void lines_write(export_out_t *o, const export_format_t *f, gpurt_cursor_t *c)
{
    const gpurt_row_t *row;

    if (f->head)
        f->head(o);
    while (!ferror(o->file) && (row = gpurt_cursor_next(c)) != NULL)
        f->row(o, row);
}

/* Rows that name a GPU and tell of the collector are about all others. */
static bool row_fits(export_out_t *o, const gpurt_row_t *row)
{
    return !o->run || row->kind == GPURT_KIND_DEVICE || row->kind == GPURT_KIND_COLLECTOR ||
           filter_run_row(o->run, o->dictionary, &o->sum.about, row) > 0;
}

static gpurt_status_t timeline_write(export_out_t *o, const export_writer_t *w,
                                     gpurt_cursor_t *c, gpurt_error_t *err)
{
    export_timeline_t *timeline = export_timeline_create(w, o);
    gpurt_status_t st = GPURT_OK;
    const gpurt_row_t *row;

    if (!timeline)
        return no_memory(err);
    if (!w->begin(o)) {
        export_timeline_destroy(timeline);
        return no_memory(err);
    }
    while (!ferror(o->file) && (row = gpurt_cursor_next(c)) != NULL)
        if (row_fits(o, row) && !export_timeline_row(timeline, row)) {
            st = no_memory(err);
            break;
        }
    export_timeline_end(timeline);
    w->end(o);
    export_timeline_destroy(timeline);
    return st;
}

gpurt_status_t export_log(gpurt_log_t *log, const char *format, filter_run_t *run,
                          FILE *out, gpurt_error_t *err)
{
    const export_format_t *f = format_of(format);
    export_out_t o = {.file = out, .run = run, .dictionary = gpurt_log_dictionary(log)};
    gpurt_cursor_t *c;
    gpurt_status_t st;

    if (!f)
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "no format is called '%s'; there are " EXPORT_FORMATS, format);
    gpurt_log_summary(log, &o.sum);
    export_programs_init(&o.programs, o.dictionary, &o.sum.about);
    st = gpurt_cursor_open(log, 0, &c, err);
    if (st != GPURT_OK)
        return st;
    if (f->writer)
        st = timeline_write(&o, f->writer, c, err);
    else
        lines_write(&o, f, c);
    gpurt_cursor_close(c);
    return st;
}
