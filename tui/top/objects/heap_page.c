/* SPDX-License-Identifier: Apache-2.0 */
#include "heap_page.h"

#include "activity_text.h"
#include "object_draw.h"
#include "object_text.h"
#include "objectrow.h"
#include "plural.h"

#include <stdio.h>
#include <string.h>

enum {
    WIDE = 104,        /* columns where holders stand beside the classes */
    CLASSES = 52,      /* columns of the classes then */
    CLASSES_ALONE = 8, /* rows of them where the holders stand below */
    HOLDERS = 12,
    POOLS = 4
};

/* ---- values, by the names of heapview.c ---------------------------------------------- */

/* NULL: a class of another version may lack it. */
static const gpurt_model_value_t *values(const objectpage_t *g,
                                         const gpurt_model_object_t *o, const char *name)
{
    const gpurt_classdef_t *d = gpurt_objects_class(g->all, o->class_);
    const gpurt_classdef_field_t *f = d ? gpurt_classdef_find(d, name) : NULL;

    return f ? gpurt_objects_values(g->all, o, f) : NULL;
}

static uint64_t value_of(const objectpage_t *g, const gpurt_model_object_t *o,
                         const char *name)
{
    const gpurt_model_value_t *v = values(g, o, name);

    return v ? v->now : 0;
}

static uint64_t value(const objectpage_t *g, const char *name)
{
    return value_of(g, g->o, name);
}

static const char *bytes(const objectpage_t *g, const char *name, char text[24])
{
    return activity_bytes(value(g, name), text);
}

/* ---- lines --------------------------------------------------------------------------- */

/* Which level of the pools served how much, in percent. */
static int pool_line(const objectpage_t *g, int row, const char *what, const char *prefix)
{
    static const char *const levels[POOLS] = {"thread", "warp", "block", "heap"};
    uint64_t counts[POOLS], all = 0;
    char name[GPURT_CLASS_NAME], sum[16];
    int at;

    for (int i = 0; i < POOLS; i++) {
        snprintf(name, sizeof name, "%s_%s", prefix, levels[i]);
        counts[i] = value(g, name);
        all += counts[i];
    }
    if (!all)
        return row;
    at = canvas_printf(g->c, g->area, row, 1, STYLE_INFO, "%s %-6s", what,
                       canvas_short(all, sum));
    for (int i = 0; i < POOLS; i++)
        at = canvas_printf(g->c, g->area, row, at, STYLE_INFO, "  %s %d%%", levels[i],
                           object_percent(counts[i], all));
    return row + 1;
}

/* How much of the free chunks is not in the longest row of them: 0 when all is in one. */
static int fragmented(const objectpage_t *g)
{
    uint64_t free_chunks = value(g, "free_chunks");

    return free_chunks ? 100 - object_percent(value(g, "largest_row"), free_chunks) : 0;
}

static int about(const objectpage_t *g, int row)
{
    const gpurt_model_value_t *live = values(g, g->o, "live_bytes");
    const gpurt_classdef_field_t *checks = gpurt_classdef_find(g->d, "checks");
    char peak[24], text[24], word[GPURT_CLASS_WORDS];
    int at = canvas_printf(g->c, g->area, row, 1, STYLE_INFO,
                           "most %s  free chunks %u, %u in a row, fragmented %d%%  ",
                           activity_bytes(live ? live->peak : 0, peak),
                           (unsigned)value(g, "free_chunks"),
                           (unsigned)value(g, "largest_row"), fragmented(g));

    canvas_printf(g->c, g->area, row++, at, STYLE_INFO, "large %u",
                  (unsigned)value(g, "large_chunks"));
    at = canvas_printf(g->c, g->area, row, 1, STYLE_INFO, "in classes %s free",
                       bytes(g, "slack_bytes", text));
    if (checks && value(g, "checks"))
        at = canvas_printf(g->c, g->area, row, at, STYLE_INFO, "  checks %s, %s kept back",
                           gpurt_field_word(checks, value(g, "checks"), word),
                           bytes(g, "kept_bytes", text));
    if (value(g, "traced"))
        canvas_put(g->c, g->area, row, at, STYLE_INFO, "  traced");
    return row + 1;
}

/* ---- map ----------------------------------------------------------------------------- */

static int map_draw(const objectpage_t *g, int row)
{
    const gpurt_classdef_field_t *f = gpurt_classdef_find(g->d, "map");
    const gpurt_model_value_t *v = values(g, g->o, "map");
    uint64_t chunks = value(g, "map_chunks");
    int count = f && v ? f->count : 0;
    int wide = g->area.columns >= count + 2 ? count : count / 2;

    if (!chunks || wide == 0 || g->area.columns < wide + 2)
        return row;
    for (int i = 0; i < count; i++)
        object_map_cell(g->c, g->area, row + i / wide, 1 + i % wide,
                        (uint32_t)(v[i / 8].now >> (i % 8 * 8)) & 0xffu, true);
    row += (count + wide - 1) / wide;
    canvas_printf(g->c, g->area, row, 1, STYLE_DIM,
                  "a cell: %u chunk%s of 64 KiB, by what is live; %s free, %s large",
                  (unsigned)chunks, gpurt_plural(chunks, "s"),
                  g->c->unicode ? "\xc2\xb7" : ".", g->c->unicode ? "\xe2\x96\xa0" : "L");
    return row + 1;
}

/* ---- tables -------------------------------------------------------------------------- */

/* A row of "size_classes": bytes, chunks, live, reusable, fresh. */
static void class_draw(const objectpage_t *g, const gpurt_model_value_t *k, int row)
{
    static const int ends[] = {8, 16, 24, 32, 40};
    char text[24];

    canvas_right(g->c, g->area, row, ends[0], STYLE_BOLD, activity_bytes(k[0].now, text));
    for (int i = 1; i < 5; i++)
        canvas_right(g->c, g->area, row, ends[i], STYLE_NORMAL,
                     canvas_short(k[i].now, text));
    snprintf(text, sizeof text, "%d%%",
             object_percent(k[2].now, k[2].now + k[3].now + k[4].now));
    canvas_right(g->c, g->area, row, 47, STYLE_GOOD, text);
}

static int classes_draw(const objectpage_t *g, int row, int end)
{
    static const char *const names[] = {"class", "chunks", "live",
                                        "again", "fresh",  "full"};
    static const int ends[] = {8, 16, 24, 32, 40, 47};
    const gpurt_classdef_field_t *f = gpurt_classdef_find(g->d, "size_classes");

    if (row >= end || !f || f->kind != GPURT_FIELD_MATRIX || gpurt_classdef_columns(f) < 5)
        return row;
    for (int i = 0; i < 6; i++)
        canvas_right(g->c, g->area, row, ends[i], STYLE_DIM, names[i]);
    row++;
    for (uint32_t i = 0; i < f->count && row < end; i++) {
        const gpurt_model_value_t *k = object_row(g->all, g->o, f, i);

        if (!k)
            break;
        class_draw(g, k, row++);
    }
    return row;
}

/* Those who held memory when the heap was told of last: of one that ended all have. */
static bool is_holder(const objectpage_t *g, const gpurt_model_object_t *o)
{
    const gpurt_classdef_t *d = gpurt_objects_class(g->all, o->class_);
    bool now =
        !(o->told.flags & GPURT_OBJECT_ENDED) ||
        (g->o->told.flags & GPURT_OBJECT_ENDED && o->told.time_ns >= g->o->told.time_ns);

    return d && strcmp(d->name, "holder") == 0 && now &&
           objectpage_is_part(g->all, o, g->o);
}

/* Those who hold most first. */
static int holders_find(const objectpage_t *g, const gpurt_model_object_t *list[HOLDERS])
{
    int count = 0;

    for (uint32_t i = 0; i < g->all->count && i < GPURT_MODEL_OBJECTS; i++) {
        const gpurt_model_object_t *o = &g->all->list[i];
        int at = count;

        if (!is_holder(g, o))
            continue;
        while (at > 0 && value_of(g, list[at - 1], "bytes") < value_of(g, o, "bytes"))
            at--;
        if (at == HOLDERS)
            continue;
        count += count < HOLDERS;
        memmove(&list[at + 1], &list[at], sizeof list[0] * (size_t)(count - at - 1));
        list[at] = o;
    }
    return count;
}

static void holder_draw(const objectpage_t *g, rect_t area, int row,
                        const gpurt_model_object_t *o)
{
    uint64_t text_at = value_of(g, o, "site");
    char text[24];

    canvas_right(g->c, area, row, 11, STYLE_BOLD,
                 activity_bytes(value_of(g, o, "bytes"), text));
    canvas_right(g->c, area, row, 20, STYLE_NORMAL,
                 canvas_short(value_of(g, o, "objects"), text));
    if (text_at && text_at <= GPURT_MODEL_TEXTS) {
        const char *site = g->all->texts[text_at - 1];
        int length = (int)strnlen(site, GPURT_MODEL_TEXT), room = area.columns - 22;
        int skip = length > room && room > 0 ? length - room : 0;

        canvas_text(g->c, area, row, 22, STYLE_NORMAL, site + skip,
                    (size_t)(length - skip));
    }
}

static int holders_draw(const objectpage_t *g, rect_t area, int row)
{
    const gpurt_model_object_t *list[HOLDERS];
    int count = holders_find(g, list);
    bool sampled = count && value_of(g, list[0], "sampled") > 1;

    canvas_right(g->c, area, row, 11, STYLE_DIM, "held");
    canvas_right(g->c, area, row, 20, STYLE_DIM, "objects");
    canvas_put(g->c, area, row++, 22, STYLE_DIM,
               sampled ? "by (some of the chunks were counted)" : "by");
    if (!count)
        canvas_put(g->c, area, row++, 1, STYLE_DIM,
                   value(g, "checks") > 1 ? "nobody"
                                          : "not known: this heap does not check (F1)");
    for (int i = 0; i < count && row < area.rows; i++)
        holder_draw(g, area, row++, list[i]);
    return row;
}

int heap_page(const objectpage_t *g, int row)
{
    rect_t area = g->area, right = area;
    int end, below;

    row = about(g, row);
    row = pool_line(g, row, "pools served   ", "served_by");
    row = pool_line(g, row, "      took back", "returned_to");
    row = map_draw(g, row) + 1;
    if (area.columns < WIDE) {
        end = row + CLASSES_ALONE < area.rows - 3 ? row + CLASSES_ALONE : area.rows - 3;
        row = classes_draw(g, row, end);
        return row + 1 < area.rows ? holders_draw(g, area, row + 1) : row;
    }
    right.column += CLASSES;
    right.columns -= CLASSES;
    end = classes_draw(g, row, area.rows);
    below = row < area.rows ? holders_draw(g, right, row) : row;
    return end > below ? end : below;
}
