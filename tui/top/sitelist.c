/* SPDX-License-Identifier: Apache-2.0 */
#include "sitelist.h"

#include "loglist.h"
#include "render.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const sort_names[SORT_KEYS] = {"rate", "count", "level", "last",
                                                  "place"};

typedef struct entry {
    uint64_t key[2]; /* larger comes first */
    const char *place;
    uint32_t line;
    uint16_t index;
} entry_t;

static int compare(const void *a, const void *b)
{
    const entry_t *x = a, *y = b;
    int order;

    for (int i = 0; i < 2; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] > y->key[i] ? -1 : 1;
    order = strncmp(x->place, y->place, GPURT_MODEL_WHERE);
    if (order == 0)
        order = x->line < y->line ? -1 : x->line > y->line;
    return order ? order : (int)x->index - (int)y->index; /* never jumps between frames */
}

static void entry_fill(const picture_t *p, uint32_t index, entry_t *e)
{
    const gpurt_model_site_count_t *count = &p->view->numbers.sites[index];
    const gpurt_model_site_t *site = &p->view->names.sites[index];

    memset(e, 0, sizeof *e);
    e->index = (uint16_t)index;
    e->place = site->file;
    e->line = site->line;
    e->key[1] = count->messages;
    e->key[0] = p->site_sort == SORT_RATE     ? count->per_second
                : p->site_sort == SORT_COUNT  ? count->messages
                : p->site_sort == SORT_LEVEL  ? site->level
                : p->site_sort == SORT_RECENT ? count->last_ns
                                              : 0;
    if (p->site_sort == SORT_PLACE)
        e->key[1] = 0;
}

uint32_t sitelist_collect(const picture_t *p, uint16_t order[GPURT_MODEL_SITES + 1])
{
    const gpurt_model_numbers_t *n = &p->view->numbers;
    uint32_t sites = n->site_count < GPURT_MODEL_SITES ? n->site_count : GPURT_MODEL_SITES;
    static entry_t entries[GPURT_MODEL_SITES]; /* one thread draws */
    uint32_t count = 0;

    for (uint32_t i = 0; i < sites; i++)
        if (n->sites[i].messages && filter_site(&p->filter, &p->view->names.sites[i]))
            entry_fill(p, i, &entries[count++]);
    qsort(entries, count, sizeof entries[0], compare);
    for (uint32_t i = 0; i < count; i++)
        order[i] = entries[i].index;
    if (n->sites[GPURT_MODEL_SITES].messages)
        order[count++] = GPURT_MODEL_SITES;
    return count;
}

/* Columns of the table, by width. */
typedef struct columns {
    int level, place, place_width, count, rate, share, last; /* 0: not shown */
} columns_t;

/* As wide as the longest place, within reason. */
static int place_width(const picture_t *p, const uint16_t *order, uint32_t count, int width)
{
    int most = width / 4 + 2, longest = 12;
    char text[16];

    for (uint32_t i = 0; i < count; i++) {
        const gpurt_model_site_t *site = &p->view->names.sites[order[i]];
        int length = order[i] == GPURT_MODEL_SITES
                         ? 17
                         : (int)strnlen(site->file, sizeof site->file) +
                               snprintf(text, sizeof text, ":%u", site->line);

        longest = length > longest ? length : longest;
    }
    return longest < most ? longest : most;
}

static columns_t columns_of(int width, int place)
{
    columns_t c = {.level = 1, .place = 7, .place_width = place};

    if (width < 50) {
        c.place_width = width - 7 - 8;
        c.count = width - 1;
        return c;
    }
    c.count = c.place + c.place_width + 7; /* right ends */
    c.rate = c.count + 8;
    c.share = width >= 90 ? c.rate + 7 : 0;
    c.last = (c.share ? c.share : c.rate) + 2;
    return c;
}

static void heading(canvas_t *c, rect_t area, const columns_t *at)
{
    canvas_put(c, area, 1, at->level, STYLE_DIM, "level");
    canvas_put(c, area, 1, at->place, STYLE_DIM, "site");
    canvas_right(c, area, 1, at->count, STYLE_DIM, "count");
    if (at->rate)
        canvas_right(c, area, 1, at->rate, STYLE_DIM, "per s");
    if (at->share)
        canvas_right(c, area, 1, at->share, STYLE_DIM, "share");
    if (at->last)
        canvas_put(c, area, 1, at->last, STYLE_DIM, "last message");
}

static void place_draw(canvas_t *c, rect_t area, int row, const columns_t *at,
                       const gpurt_model_site_t *site)
{
    size_t width = at->place_width > 0 ? (size_t)at->place_width : 0;

    if (site->file[0] == '\0')
        canvas_text(c, area, row, at->place, STYLE_DIM, site->format,
                    strnlen(site->format, width));
    else
        picture_place(c, area, row, at->place, at->place_width, site->file,
                      sizeof site->file, site->line);
}

/* Of a moment in the past the names are those of now: their last messages are too late. */
static void last_draw(const picture_t *p, canvas_t *c, rect_t area, int row, int at,
                      const gpurt_model_site_t *site)
{
    const gpurt_model_line_t *line = p->until_ns ? loglist_last_of(p, site) : NULL;

    if (line)
        canvas_text(c, area, row, at, STYLE_NORMAL, line->text,
                    line->text_bytes < sizeof line->text ? line->text_bytes
                                                         : sizeof line->text);
    else if (!p->until_ns)
        canvas_text(c, area, row, at, STYLE_NORMAL, site->last,
                    strnlen(site->last, sizeof site->last));
}

static void row_draw(const picture_t *p, canvas_t *c, rect_t area, int row, uint32_t index,
                     const columns_t *at)
{
    const gpurt_model_site_count_t *count = &p->view->numbers.sites[index];
    const gpurt_model_site_t *site = &p->view->names.sites[index];
    uint64_t all = p->view->numbers.messages;
    char buffer[32];

    if (index == GPURT_MODEL_SITES) {
        canvas_put(c, area, row, at->place, STYLE_DIM, "(all other sites)");
    } else {
        canvas_put(c, area, row, at->level, picture_level_style(site->level),
                   gpurt_level_name(site->level));
        place_draw(c, area, row, at, site);
    }
    canvas_right(c, area, row, at->count, STYLE_NORMAL,
                 canvas_short(count->messages, buffer));
    if (at->rate)
        canvas_right(c, area, row, at->rate, count->per_second ? STYLE_BOLD : STYLE_DIM,
                     canvas_short(count->per_second, buffer));
    if (at->share && all) {
        snprintf(buffer, sizeof buffer, "%.1f%%",
                 (double)count->messages / (double)all * 100.0);
        canvas_right(c, area, row, at->share, STYLE_NORMAL, buffer);
    }
    if (at->last && index < GPURT_MODEL_SITES)
        last_draw(p, c, area, row, at->last, site);
}

void sitelist_pane(const picture_t *p, canvas_t *c, rect_t area, int selected)
{
    uint16_t order[GPURT_MODEL_SITES + 1];
    uint32_t count = sitelist_collect(p, order), first = 0;
    uint32_t rows = area.rows > 2 ? (uint32_t)area.rows - 2 : 0;
    columns_t at = columns_of(area.columns, place_width(p, order, count, area.columns));
    char title[64];

    snprintf(title, sizeof title, "Sites  %u, by %s", count,
             sort_names[p->site_sort % SORT_KEYS]);
    canvas_rule(c, area, title);
    heading(c, area, &at);
    if (selected >= 0 && (uint32_t)selected >= rows && rows > 0)
        first = (uint32_t)selected - rows + 1;
    for (uint32_t i = 0; i < rows && first + i < count; i++) {
        row_draw(p, c, area, 2 + (int)i, order[first + i], &at);
        if ((int)(first + i) == selected)
            canvas_row_style(c, area, 2 + (int)i, STYLE_SELECT);
    }
}
