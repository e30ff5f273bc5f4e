/* SPDX-License-Identifier: Apache-2.0 */
/* Heaps of kernels: how full, where, of what sizes, and who holds most. */
#include "activity_text.h"
#include "heap_text.h"
#include "picture.h"

#include <stdio.h>
#include <string.h>

enum {
    BAR = 12,
    WIDE = 104,       /* columns where sites stand beside the classes */
    CLASSES = 52,     /* columns of the classes then */
    CLASSES_ALONE = 8 /* rows of them where the sites stand below */
};

static const gpurt_model_heap_t *selected(const picture_t *p, int *index)
{
    const gpurt_model_heaps_t *all = &p->view->heaps;
    int count = all->count < GPURT_MODEL_HEAPS ? (int)all->count : (int)GPURT_MODEL_HEAPS;

    *index = (int)p->heap < count ? (int)p->heap : count - 1;
    return count ? &all->list[*index] : NULL;
}

static void bar(canvas_t *c, rect_t area, int row, int column, int percent, style_t style)
{
    for (int i = 0; i < BAR; i++) {
        bool on = i < (percent * BAR + 50) / 100;

        canvas_glyph(c, area, row, column + i, on ? style : STYLE_RULE, on ? 0x2588 : 0xb7,
                     on ? '#' : '.');
    }
}

/* ---- heaps --------------------------------------------------------------------------- */

static void heap_line(const gpurt_model_heap_t *h, canvas_t *c, rect_t area, int row,
                      bool chosen)
{
    char live[24], all[24], objects[16];
    int full = heap_percent(h->live_bytes, h->bytes);
    style_t style = h->flags & GPURT_HEAP_ENDED ? STYLE_DIM
                    : full >= 95                ? STYLE_ERROR
                    : full >= 80                ? STYLE_WARN
                                                : STYLE_GOOD;
    int at = canvas_printf(c, area, row, 1, STYLE_BOLD, "heap %-6u", h->id);

    bar(c, area, row, at, full, style);
    at = canvas_printf(c, area, row, at + BAR + 1, STYLE_NORMAL, "%3d%% ", full);
    at = canvas_printf(c, area, row, at, STYLE_NORMAL, "%s of %s, %s objects  ",
                       activity_bytes(h->live_bytes, live), activity_bytes(h->bytes, all),
                       canvas_short(h->live, objects));
    if (h->wrong)
        at = canvas_printf(c, area, row, at, STYLE_ERROR, "%llu wrong  ",
                           (unsigned long long)h->wrong);
    if (h->refused)
        at = canvas_printf(c, area, row, at, STYLE_WARN, "%llu refused  ",
                           (unsigned long long)h->refused);
    if (h->flags & GPURT_HEAP_ENDED)
        canvas_put(c, area, row, at, STYLE_DIM, "ended");
    if (chosen)
        canvas_row_style(c, area, row, STYLE_SELECT);
}

static int about(const gpurt_model_heap_t *h, canvas_t *c, rect_t area, int row)
{
    char peak[24], slack[24], kept[24];
    int at;

    at = canvas_printf(c, area, row, 1, STYLE_INFO,
                       "most %s  free chunks %u, %u in a row, fragmented %d%%  ",
                       activity_bytes(h->peak_bytes, peak), h->free_chunks, h->largest_row,
                       heap_fragmented(h));
    canvas_printf(c, area, row++, at, STYLE_INFO, "large %u", h->large_chunks);
    at = canvas_printf(c, area, row, 1, STYLE_INFO, "in classes %s free",
                       activity_bytes(h->slack, slack));
    if (h->flags & GPURT_HEAP_LEVEL)
        at = canvas_printf(c, area, row, at, STYLE_INFO, "  checks %s, %s kept back",
                           heap_checks(h), activity_bytes(h->kept, kept));
    if (h->flags & GPURT_HEAP_TRACE)
        canvas_put(c, area, row, at, STYLE_INFO, "  traced");
    return row + 1;
}

/* ---- map ----------------------------------------------------------------------------- */

static void cell_draw(canvas_t *c, rect_t area, int row, int column, uint32_t cell)
{
    static const struct {
        style_t style;
        uint32_t code;
        char ascii;
    } looks[] = {{STYLE_RULE, 0xb7, '.'},     {STYLE_HEAT_1, 0x2591, '-'},
                 {STYLE_HEAT_2, 0x2592, '+'}, {STYLE_HEAT_3, 0x2593, 'x'},
                 {STYLE_HEAT_4, 0x2588, '#'}, {STYLE_INFO, 0x25a0, 'L'}};
    uint32_t look = cell == 0                       ? 0
                    : cell == GPURT_HEAP_CELL_LARGE ? 5
                    : cell >= 12                    ? 4
                    : cell >= 8                     ? 3
                    : cell >= 4                     ? 2
                                                    : 1;

    if (cell < GPURT_HEAP_CELL_NONE)
        canvas_glyph(c, area, row, column, looks[look].style, looks[look].code,
                     looks[look].ascii);
}

static int map_draw(const gpurt_model_heap_t *h, canvas_t *c, rect_t area, int row)
{
    int wide =
        area.columns >= GPURT_HEAP_CELLS + 2 ? GPURT_HEAP_CELLS : GPURT_HEAP_CELLS / 2;

    if (!h->map_chunks || area.columns < wide + 2)
        return row;
    for (int i = 0; i < GPURT_HEAP_CELLS; i++)
        cell_draw(c, area, row + i / wide, 1 + i % wide, h->cells[i]);
    row += GPURT_HEAP_CELLS / wide;
    canvas_printf(c, area, row, 1, STYLE_DIM,
                  "a cell: %u chunk%s of 64 KiB, by what is live; %s free, %s large",
                  h->map_chunks, h->map_chunks == 1 ? "" : "s",
                  c->unicode ? "\xc2\xb7" : ".", c->unicode ? "\xe2\x96\xa0" : "L");
    return row + 1;
}

/* ---- tables -------------------------------------------------------------------------- */

static void class_draw(const gpurt_model_heap_class_t *k, canvas_t *c, rect_t area, int row)
{
    uint64_t slots = k->live + k->reusable + k->fresh;
    char text[24];

    canvas_right(c, area, row, 8, STYLE_BOLD, activity_bytes(k->bytes, text));
    canvas_right(c, area, row, 16, STYLE_NORMAL, canvas_short(k->chunks, text));
    canvas_right(c, area, row, 24, STYLE_NORMAL, canvas_short(k->live, text));
    canvas_right(c, area, row, 32, STYLE_NORMAL, canvas_short(k->reusable, text));
    canvas_right(c, area, row, 40, STYLE_NORMAL, canvas_short(k->fresh, text));
    snprintf(text, sizeof text, "%d%%", heap_percent(k->live, slots));
    canvas_right(c, area, row, 47, STYLE_GOOD, text);
}

static int classes_draw(const gpurt_model_heap_t *h, canvas_t *c, rect_t area, int row,
                        int end)
{
    static const char *const names[] = {"class", "chunks", "live",
                                        "again", "fresh",  "full"};
    static const int ends[] = {8, 16, 24, 32, 40, 47};

    if (row >= end)
        return row;
    for (int i = 0; i < 6; i++)
        canvas_right(c, area, row, ends[i], STYLE_DIM, names[i]);
    row++;
    for (uint32_t i = 0; i < h->class_count && i < GPURT_MODEL_HEAP_CLASSES && row < end;
         i++)
        if (h->classes[i].chunks)
            class_draw(&h->classes[i], c, area, row++);
    return row;
}

static void sites_draw(const gpurt_model_heap_t *h, canvas_t *c, rect_t area, int row)
{
    char text[24];

    canvas_right(c, area, row, 11, STYLE_DIM, "held");
    canvas_right(c, area, row, 20, STYLE_DIM, "objects");
    canvas_put(c, area, row++, 22, STYLE_DIM,
               h->sampled > 1 ? "by (some of the chunks were counted)" : "by");
    if (!h->site_count) {
        canvas_put(c, area, row, 1, STYLE_DIM,
                   (h->flags & GPURT_HEAP_LEVEL) > 1
                       ? "nobody"
                       : "not known: this heap does not check (F1)");
        return;
    }
    for (uint32_t i = 0; i < h->site_count && i < GPURT_MODEL_HEAP_SITES && row < area.rows;
         i++, row++) {
        const gpurt_model_heap_site_t *s = &h->sites[i];
        int length = (int)strnlen(s->site, sizeof s->site);
        int room = area.columns - 22, skip = length > room && room > 0 ? length - room : 0;

        canvas_right(c, area, row, 11, STYLE_BOLD, activity_bytes(s->bytes, text));
        canvas_right(c, area, row, 20, STYLE_NORMAL, canvas_short(s->objects, text));
        canvas_text(c, area, row, 22, STYLE_NORMAL, s->site + skip,
                    (size_t)(length - skip));
    }
}

/* ---- all ----------------------------------------------------------------------------- */

static void draw_empty(canvas_t *c, rect_t area)
{
    canvas_rule(c, area, "Heaps");
    canvas_put(c, area, 2, 1, STYLE_DIM, "No heap of kernels was told of.");
    canvas_put(c, area, 3, 1, STYLE_DIM,
               "Those that gpurt_heap_create makes are, unless GPURT_HEAP_VIEW=off.");
}

static void draw(const picture_t *p, canvas_t *c, rect_t area)
{
    const gpurt_model_heaps_t *all = &p->view->heaps;
    int index, row = 1, sites;
    const gpurt_model_heap_t *h = selected(p, &index);
    char title[96];

    if (!h) {
        draw_empty(c, area);
        return;
    }
    snprintf(title, sizeof title, "Heaps  %llu%s", (unsigned long long)all->count,
             all->others ? ", and more that have no row" : "");
    canvas_rule(c, area, title);
    for (int i = 0; i < (int)all->count && i < GPURT_MODEL_HEAPS && row < area.rows; i++)
        heap_line(&all->list[i], c, area, row++, i == index && all->count > 1);
    row = about(h, c, area, row);
    row = map_draw(h, c, area, row) + 1;
    if (area.columns >= WIDE) {
        rect_t right = {area.row, area.column + CLASSES, area.rows, area.columns - CLASSES};

        classes_draw(h, c, area, row, area.rows);
        if (row < area.rows)
            sites_draw(h, c, right, row);
        return;
    }
    sites = row + CLASSES_ALONE < area.rows - 3 ? row + CLASSES_ALONE : area.rows - 3;
    row = classes_draw(h, c, area, row, sites);
    if (row + 1 < area.rows)
        sites_draw(h, c, area, row + 1);
}

static bool act(picture_t *p, action_t action, int page)
{
    int count = p->view->heaps.count < GPURT_MODEL_HEAPS ? (int)p->view->heaps.count
                                                         : (int)GPURT_MODEL_HEAPS;
    int at = (int)p->heap, step = action == ACTION_UP      ? -1
                                  : action == ACTION_DOWN  ? 1
                                  : action == ACTION_FIRST ? -count
                                  : action == ACTION_LAST  ? count
                                                           : 0;

    (void)page;
    at = at >= count ? count - 1 : at;
    at += step;
    at = at > count - 1 ? count - 1 : at;
    p->heap = at < 0 ? 0 : (uint32_t)at;
    return step != 0;
}

const view_class_t view_heaps = {"Heaps", draw, act};
