/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of kernels: a list of heaps; and of the one selected how full it is, where, of what sizes,
 * and who holds most. */
#include "activity_text.h"
#include "heap_draw.h"
#include "heap_text.h"
#include "plural.h"

#include <stdio.h>
#include <string.h>

enum {
    WIDE = 104,        /* columns where sites stand beside the classes */
    CLASSES = 52,      /* columns of the classes then */
    CLASSES_ALONE = 8, /* rows of them where the sites stand below */
    LIST_LEAST = 5     /* rows of the list, where there is more than a third is for */
};

static int list_count(const gpurt_model_heaps_t *all)
{
    return all->count < GPURT_MODEL_HEAPS ? (int)all->count : GPURT_MODEL_HEAPS;
}

/* The line of what was selected, or where that is gone the line that it stood in. */
static int list_selected(const picture_t *p)
{
    const gpurt_model_heaps_t *all = &p->view->heaps;
    int count = list_count(all);

    for (int i = 0; i < count && p->heap_told.id; i++)
        if (gpurt_model_told_same(&all->list[i].told, &p->heap_told))
            return i;
    return (int)p->heap < count ? (int)p->heap : count - 1;
}

/* ---- heaps --------------------------------------------------------------------------- */

/* Where a process stands in the line too, the objects go behind what must not be cut off. */
static void heap_line(const gpurt_model_heap_t *h, const gpurt_model_heaps_t *heaps,
                      canvas_t *c, rect_t area, int row)
{
    bool several = heaps->programs > 1;
    char live[24], all[24], objects[16];
    int full = heap_percent(h->live_bytes, h->bytes);
    int at = heap_label(heaps, &h->told, "heap", c, area, row);

    heap_bar(c, area, row, at, full, heap_style(full, h->told.flags & GPURT_HEAP_ENDED));
    at = canvas_printf(c, area, row, at + HEAP_BAR + 1, STYLE_NORMAL, "%3d%% ", full);
    at = canvas_printf(c, area, row, at, STYLE_NORMAL, "%s of %s",
                       activity_bytes(h->live_bytes, live), activity_bytes(h->bytes, all));
    canvas_short(h->live, objects);
    if (!several)
        at = canvas_printf(c, area, row, at, STYLE_NORMAL, ", %s objects", objects);
    at = heap_marks(&h->told, c, area, row, at, h->wrong, h->refused);
    if (several)
        canvas_printf(c, area, row, at, STYLE_NORMAL, "%s objects", objects);
}

/* Which level of the pools served how much, in percent. */
static int pool_line(canvas_t *c, rect_t area, int row, const char *what,
                     const uint64_t counts[GPURT_HEAP_POOLS])
{
    char sum[16];
    int at = canvas_printf(c, area, row, 1, STYLE_INFO, "%s %-6s", what,
                           canvas_short(heap_pools_sum(counts), sum));

    for (uint32_t i = 0; i < GPURT_HEAP_POOLS; i++)
        at = canvas_printf(c, area, row, at, STYLE_INFO, "  %s %d%%", heap_pool_name(i),
                           heap_percent(counts[i], heap_pools_sum(counts)));
    return row + 1;
}

static int pools_draw(const gpurt_model_heap_t *h, canvas_t *c, rect_t area, int row)
{
    if (!heap_pools_sum(h->got) && !heap_pools_sum(h->put))
        return row;
    row = pool_line(c, area, row, "pools served   ", h->got);
    return pool_line(c, area, row, "      took back", h->put);
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
    if (h->told.flags & GPURT_HEAP_LEVEL)
        at = canvas_printf(c, area, row, at, STYLE_INFO, "  checks %s, %s kept back",
                           heap_checks(h), activity_bytes(h->kept, kept));
    if (h->told.flags & GPURT_HEAP_TRACE)
        canvas_put(c, area, row, at, STYLE_INFO, "  traced");
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
                   (h->told.flags & GPURT_HEAP_LEVEL) > 1
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

static void heap_about(const gpurt_model_heap_t *h, canvas_t *c, rect_t area, int row)
{
    char what[64];
    int sites;

    row = pools_draw(h, c, area, about(h, c, area, row));
    snprintf(what, sizeof what, "%u chunk%s of 64 KiB, by what is live", h->map_chunks,
             gpurt_plural(h->map_chunks, "s"));
    if (h->map_chunks)
        row = heap_map(c, area, row, h->cells, true, what);
    row++;
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

static void title_draw(const gpurt_model_heaps_t *all, canvas_t *c, rect_t area, int below)
{
    char title[128];
    size_t used = (size_t)snprintf(title, sizeof title, "Heaps  %d", list_count(all));

    if (all->programs > 1)
        used += (size_t)snprintf(title + used, sizeof title - used, "  of %d processes",
                                 (int)all->programs);
    if (below > 0)
        used += (size_t)snprintf(title + used, sizeof title - used, "  (%d below)", below);
    if (all->others)
        snprintf(title + used, sizeof title - used, ", and more that have no row");
    canvas_rule(c, area, title);
}

static void draw_empty(canvas_t *c, rect_t area)
{
    canvas_rule(c, area, "Heaps");
    canvas_put(c, area, 2, 1, STYLE_DIM, "No heap of kernels was recorded.");
    canvas_put(c, area, 3, 1, STYLE_DIM,
               "Heaps that the host makes are recorded, unless GPURT_HEAP_VIEW=off.");
}

static void draw(const picture_t *p, canvas_t *c, rect_t area)
{
    const gpurt_model_heaps_t *all = &p->view->heaps;
    int count = list_count(all), index = list_selected(p), row = 1, rows, first;

    if (!count) {
        draw_empty(c, area);
        return;
    }
    rows = area.rows / 3 > LIST_LEAST ? area.rows / 3 : LIST_LEAST;
    rows = rows < count ? rows : count;
    first = index < rows ? 0 : index - rows + 1;
    title_draw(all, c, area, count - first - rows);
    for (int i = first; i < first + rows && row < area.rows; i++, row++) {
        heap_line(&all->list[i], all, c, area, row);
        if (i == index && count > 1)
            canvas_row_style(c, area, row, STYLE_SELECT);
    }
    heap_about(&all->list[index], c, area, row);
}

static bool act(picture_t *p, action_t action, int page)
{
    const gpurt_model_heaps_t *all = &p->view->heaps;
    int count = list_count(all);
    int at = list_selected(p), step = action == ACTION_UP      ? -1
                                      : action == ACTION_DOWN  ? 1
                                      : action == ACTION_FIRST ? -count
                                      : action == ACTION_LAST  ? count
                                                               : 0;

    (void)page;
    if (!step)
        return false;
    at += step;
    at = at > count - 1 ? count - 1 : at;
    at = at < 0 ? 0 : at;
    p->heap = (uint32_t)at;
    if (count)
        p->heap_told = all->list[at].told;
    return true;
}

const view_class_t view_heaps = {"Heaps", draw, act};
