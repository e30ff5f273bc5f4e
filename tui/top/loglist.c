/* SPDX-License-Identifier: Apache-2.0 */
#include "loglist.h"

#include "render.h"

#include <stdio.h>
#include <string.h>

enum {
    ROWS_MAX = 1000,
    WHO = 11 /* columns of "pid4194304 " */
};

/* The place in one class. Counts come from shared memory and are bounded here. */
typedef struct place {
    const gpurt_model_lines_t *lines;
    uint64_t left;
} place_t;

static const gpurt_model_line_t *newest(const place_t *p)
{
    return p->left ? &p->lines->list[(p->lines->first + p->left - 1) % GPURT_MODEL_LINES]
                   : NULL;
}

static void places_begin(const picture_t *p, place_t places[GPURT_CLASSES])
{
    for (int i = 0; i < GPURT_CLASSES; i++) {
        const gpurt_model_lines_t *l = &p->view->lines[i];

        places[i].lines = l;
        places[i].left = l->end > l->first ? l->end - l->first : 0;
        if (places[i].left > GPURT_MODEL_LINES)
            places[i].left = GPURT_MODEL_LINES;
    }
}

/* The newest line of all classes, taken off its class; NULL: none left. */
static const gpurt_model_line_t *next_line(place_t places[GPURT_CLASSES])
{
    const gpurt_model_line_t *best = NULL;
    place_t *from = NULL;

    for (int i = 0; i < GPURT_CLASSES; i++) {
        const gpurt_model_line_t *line = newest(&places[i]);

        if (line && (!best || line->number > best->number)) {
            best = line;
            from = &places[i];
        }
    }
    if (from)
        from->left--;
    return best;
}

/* Rings are drained by turns, so a line may come before one that is older. They are nearly in
 * order: each is moved a few places. */
static void newest_first(const gpurt_model_line_t **lines, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const gpurt_model_line_t *line = lines[i];
        uint32_t at = i;

        for (; at > 0 && lines[at - 1]->time_ns < line->time_ns; at--)
            lines[at] = lines[at - 1];
        lines[at] = line;
    }
}

uint32_t loglist_collect(const picture_t *p, const filter_t *filter, uint32_t skip,
                         uint32_t want, const gpurt_model_line_t **out, bool *more)
{
    place_t places[GPURT_CLASSES];
    const gpurt_model_line_t *line;
    uint32_t count = 0;

    places_begin(p, places);
    if (more)
        *more = false;
    while ((line = next_line(places)) != NULL) {
        if ((p->until_ns && line->time_ns > p->until_ns) || !filter_line(filter, line))
            continue;
        if (skip > 0) {
            skip--;
        } else if (count < want) {
            out[count++] = line;
        } else {
            if (more)
                *more = true;
            break;
        }
    }
    newest_first(out, count);
    return count;
}

const gpurt_model_line_t *loglist_last_of(const picture_t *p,
                                          const gpurt_model_site_t *site)
{
    const gpurt_model_line_t *line, *last = NULL;
    const char *slash = strrchr(site->file, '/'), *file = slash ? slash + 1 : site->file;
    size_t bytes = strlen(file), most = sizeof line->file - 1;
    place_t places[GPURT_CLASSES];

    if (bytes == 0)
        return NULL; /* one of activity, which lines do not tell apart */
    file += bytes > most ? bytes - most : 0; /* a line has the end of a long name */
    places_begin(p, places);
    while ((line = next_line(places)) != NULL)
        if (line->line == site->line && line->level == site->level &&
            (!p->until_ns || line->time_ns <= p->until_ns) &&
            (!last || line->time_ns > last->time_ns) &&
            strncmp(line->file, file, most) == 0)
            last = line;
    return last;
}

uint32_t loglist_count(const picture_t *p)
{
    place_t places[GPURT_CLASSES];
    const gpurt_model_line_t *line;
    uint32_t count = 0;

    places_begin(p, places);
    while ((line = next_line(places)) != NULL)
        count +=
            !(p->until_ns && line->time_ns > p->until_ns) && filter_line(&p->filter, line);
    return count;
}

/* "sm72 b9411 w3" on a device, "host 4711" in host code. */
static void where(const gpurt_model_line_t *l, bool wide, char *to, size_t room)
{
    if (l->form == GPURT_FORM_THREAD)
        snprintf(to, room, "host %u", l->block);
    else if (l->kind == GPURT_KIND_LOSS)
        snprintf(to, room, "sm%u.%u", l->sm, l->slot);
    else if (wide)
        snprintf(to, room, "sm%u b%u w%u", l->sm, l->block, l->warp);
    else
        snprintf(to, room, "sm%u", l->sm);
}

void loglist_draw(const picture_t *p, canvas_t *c, rect_t area, int row,
                  const gpurt_model_line_t *l, uint32_t column)
{
    bool wide = area.columns >= 110, middle = area.columns >= 72;
    style_t style = picture_level_style(l->level);
    style_t text = l->level >= GPURT_LEVEL_ERROR ? style : STYLE_NORMAL;
    size_t bytes = l->text_bytes < sizeof l->text ? l->text_bytes : sizeof l->text;
    int at = 1, place = area.columns >= 140 ? 30 : area.columns >= 96 ? 22 : 15;
    char buffer[80];

    if (area.columns >= 40) {
        picture_time(l->time_ns, wide ? 6 : 3, buffer);
        at = canvas_put(c, area, row, at, STYLE_DIM, middle ? buffer : buffer + 6) + 1;
    }
    canvas_put(c, area, row, at, style, gpurt_level_name(l->level));
    at += 6;
    if (middle && p->view->names.programs > 1) {
        canvas_put(c, area, row, at, STYLE_DIM, picture_who(l->pid, buffer));
        at += WHO;
    }
    if (middle) {
        where(l, wide, buffer, sizeof buffer);
        canvas_put(c, area, row, at, STYLE_DIM, buffer);
        at += wide ? 16 : 6;
        if (l->file[0])
            picture_place(c, area, row, at, place, l->file, sizeof l->file, l->line);
        at += place + 1;
    }
    while (column < bytes && ((uint8_t)l->text[column] & 0xc0) == 0x80)
        column++;
    if (column < bytes)
        at = canvas_text(c, area, row, at, text, l->text + column, bytes - column);
    if (l->more)
        canvas_printf(c, area, row, at + 1, STYLE_DIM, "(+%u lanes)", l->more);
}

/* Why there is no line. */
static void nothing_say(const picture_t *p, canvas_t *c, rect_t area)
{
    if (p->view->numbers.rows > 0 && p->filter.text[0] == '\0')
        canvas_printf(c, area, 1, 2, STYLE_DIM, "no line of level %s or above",
                      gpurt_level_name(p->filter.level));
    else
        canvas_put(c, area, 1, 2, STYLE_DIM,
                   p->view->numbers.rows > 0 ? "no line fits the filter (Esc clears it)"
                   : !p->waiting             ? "no records yet"
                   : p->ended ? "the program never opened gpurt, nor started CUDA"
                              : "the program has not opened gpurt yet, nor started CUDA");
}

void loglist_pane(const picture_t *p, canvas_t *c, rect_t area, uint32_t skip,
                  uint32_t column)
{
    const gpurt_model_line_t *lines[ROWS_MAX];
    int rows = area.rows - 1 < ROWS_MAX ? area.rows - 1 : ROWS_MAX;
    uint32_t count;

    if (rows <= 0)
        return;
    count = loglist_collect(p, &p->filter, skip, (uint32_t)rows, lines, NULL);
    for (uint32_t i = 0; i < count; i++) /* the oldest right under the title */
        loglist_draw(p, c, area, 1 + (int)i, lines[count - 1 - i], column);
    if (count == 0)
        nothing_say(p, c, area);
}
