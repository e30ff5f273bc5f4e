/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_ways.h"

#include <stdlib.h>
#include <string.h>

static const char begin[] = "launch of ";

static bool is_way(const gpurt_row_t *row)
{
    const uint32_t *w = gpurt_row_words(row);

    return row->kind == GPURT_KIND_TEXT && row->words > 4 && w[0] >= sizeof begin &&
           memcmp(w + 1, begin, sizeof begin - 1) == 0;
}

static void ways_add(panic_ways_t *w, const gpurt_row_t *row)
{
    uint32_t at = 0;

    while (at < w->count && w->row[at]->time_ns > row->time_ns)
        at++;
    if (at == PANIC_WAYS)
        return;
    if (w->count == PANIC_WAYS)
        free(w->row[--w->count]);
    memmove(w->row + at + 1, w->row + at, (w->count - at) * sizeof w->row[0]);
    w->row[at] = panic_row_copy(row);
    if (w->row[at])
        w->count++;
    else
        memmove(w->row + at, w->row + at + 1, (w->count - at) * sizeof w->row[0]);
}

void panic_ways_find(const panic_entry_t *e, panic_ways_t *w)
{
    gpurt_log_t *log = e->source->log;

    w->source = e->source;
    w->count = 0;
    for (uint64_t i = 0; log && i < gpurt_log_frames(log); i++) {
        gpurt_log_rows_t rows;
        const gpurt_row_t *row;
        uint32_t at = 0;

        if (gpurt_log_entry(log, i)->first_ns > e->row->time_ns ||
            gpurt_log_read(log, i, &rows, NULL) != GPURT_OK)
            continue;
        while ((row = gpurt_log_row(&rows, at, &at)) != NULL)
            if (row->time_ns <= e->row->time_ns && row->program == e->row->program &&
                is_way(row))
                ways_add(w, row);
    }
}

void panic_ways_free(panic_ways_t *w)
{
    for (uint32_t i = 0; i < w->count; i++)
        free(w->row[i]);
    w->count = 0;
}

static void way_text(const panic_ways_t *w, uint32_t i, gpurt_text_t *text,
                     char room[GPURT_MESSAGE_MAX])
{
    gpurt_text_init(text, room, GPURT_MESSAGE_MAX);
    gpurt_render_message(panic_source_sites(w->source), w->row[i], 0, text);
}

void panic_ways_print(const panic_ways_t *w, const panic_style_t *style)
{
    char room[GPURT_MESSAGE_MAX];
    gpurt_text_t text;
    panic_line_t line;

    for (uint32_t i = 0; i < w->count; i++) {
        way_text(w, i, &text, room);
        panic_line_begin(&line, style);
        gpurt_text_printf(&line.text, "  %-9s ", i ? "" : "host");
        gpurt_render_plain(&line.text, text.at, text.used);
        panic_line_end(&line, NULL);
    }
}

void panic_ways_json(gpurt_json_t *j, const panic_ways_t *w)
{
    char room[GPURT_MESSAGE_MAX];
    gpurt_text_t text;

    gpurt_json_array(j, "launches");
    for (uint32_t i = 0; i < w->count; i++) {
        way_text(w, i, &text, room);
        gpurt_json_bytes(j, NULL, text.at, text.used);
    }
    gpurt_json_array_end(j);
}
