/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_launch.h"

#include <stdlib.h>
#include <string.h>

enum {
    WAYS = 4
};
static const char begin[] = "launch of ";

/* The newest first. Owner: the caller. */
typedef struct ways {
    gpurt_row_t *row[WAYS]; /* heap */
    uint32_t count;
} ways_t;

static bool is_way(const gpurt_row_t *row)
{
    const uint32_t *w = gpurt_row_words(row);

    return row->kind == GPURT_KIND_TEXT && row->words > 4 && w[0] >= sizeof begin &&
           memcmp(w + 1, begin, sizeof begin - 1) == 0;
}

static void ways_add(ways_t *w, const gpurt_row_t *row)
{
    uint32_t at = 0;

    while (at < w->count && w->row[at]->time_ns > row->time_ns)
        at++;
    if (at == WAYS)
        return;
    if (w->count == WAYS)
        free(w->row[--w->count]);
    memmove(w->row + at + 1, w->row + at, (w->count - at) * sizeof w->row[0]);
    w->row[at] = panic_row_copy(row);
    if (w->row[at])
        w->count++;
    else
        memmove(w->row + at, w->row + at + 1, (w->count - at) * sizeof w->row[0]);
}

static void ways_find(const panic_entry_t *e, ways_t *w)
{
    gpurt_log_t *log = e->source->log;

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

static void ways_free(ways_t *w)
{
    for (uint32_t i = 0; i < w->count; i++)
        free(w->row[i]);
}

void panic_launch_print(const panic_entry_t *e, const panic_style_t *style)
{
    ways_t w;

    ways_find(e, &w);
    for (uint32_t i = 0; i < w.count; i++) {
        char room[GPURT_MESSAGE_MAX];
        gpurt_text_t text;
        panic_line_t line;

        gpurt_text_init(&text, room, sizeof room);
        gpurt_render_message(panic_source_sites(e->source), w.row[i], 0, &text);
        panic_line_begin(&line, style);
        gpurt_text_printf(&line.text, "  %-9s ", i ? "" : "host");
        gpurt_render_plain(&line.text, text.at, text.used);
        panic_line_end(&line, NULL);
    }
    ways_free(&w);
}

void panic_launch_json(gpurt_json_t *j, const panic_entry_t *e)
{
    ways_t w;

    ways_find(e, &w);
    gpurt_json_array(j, "launches");
    for (uint32_t i = 0; i < w.count; i++) {
        char room[GPURT_MESSAGE_MAX];
        gpurt_text_t text;

        gpurt_text_init(&text, room, sizeof room);
        gpurt_render_message(panic_source_sites(e->source), w.row[i], 0, &text);
        gpurt_json_bytes(j, NULL, text.at, text.used);
    }
    gpurt_json_array_end(j);
    ways_free(&w);
}
