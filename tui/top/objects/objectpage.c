/* SPDX-License-Identifier: Apache-2.0 */
#include "objectpage.h"

#include "heap_page.h"
#include "object_draw.h"
#include "object_text.h"
#include "objectrow.h"
#include "objecttable.h"

#include <stdio.h>
#include <string.h>

enum {
    NAME = 20,    /* columns of a field's name, */
    VALUE = 16,   /* ... of its value, */
    HALF = 60,    /* ... of a field, where there are two beside each other */
    BUCKETS = 24, /* columns of the longest bar of a histogram */
    COLUMN = 12,  /* ... of a column of a matrix */
    CURVE = GPURT_MODEL_CURVE
};

/* What classes have drawn by hand, in place of their lists. */
static const struct {
    const char *class_;
    int (*draw)(const objectpage_t *g, int row); /* returns: the row below */
} by_hand[] = {{"heap", heap_page}};

/* ---- fields -------------------------------------------------------------------------- */

/* What is known beside the value: the most, the rate, how full. */
static const char *more_text(const objectpage_t *g, const gpurt_classdef_field_t *f,
                             char text[64])
{
    const gpurt_model_value_t *v = object_at(g->all, g->o, f);
    double rate = gpurt_objects_rate(g->o, v);
    int full = object_full(g->all, g->o);
    char amount[24];

    text[0] = '\0';
    if (f->of && full >= 0)
        snprintf(text, 64, "%d%% of %s, most %s", full, g->d->fields[f->of - 1].name,
                 object_amount(f, v->peak, amount));
    else if (f->kind == GPURT_FIELD_GAUGE && v->peak)
        snprintf(text, 64, "most %s", object_amount(f, v->peak, amount));
    else if ((f->kind == GPURT_FIELD_COUNTER || f->kind == GPURT_FIELD_FAULT) && rate > 0)
        snprintf(text, 64, "%s/s", object_amount(f, (uint64_t)(rate + 0.5), amount));
    return text;
}

static void field_draw(const objectpage_t *g, int row, int at,
                       const gpurt_classdef_field_t *f)
{
    uint64_t value = object_at(g->all, g->o, f)->now;
    char name[GPURT_CLASS_NAME], text[OBJECT_TEXT], more[64];
    style_t style = object_is_trouble(f, value)
                        ? f->kind == GPURT_FIELD_FAULT ? STYLE_ERROR : STYLE_WARN
                        : STYLE_NORMAL;

    canvas_put(g->c, g->area, row, at, STYLE_DIM, object_name(f->name, name));
    at = canvas_printf(g->c, g->area, row, at + NAME, style, "%-*s ", VALUE,
                       object_value(g->all, f, value, text));
    canvas_put(g->c, g->area, row, at, STYLE_INFO, more_text(g, f, more));
}

/* Returns: the row below. */
static int fields_draw(const objectpage_t *g, int row)
{
    int beside = g->area.columns >= 2 * HALF ? 2 : 1, drawn = 0;

    for (uint32_t i = 0; i < g->d->field_count; i++) {
        const gpurt_classdef_field_t *f = &g->d->fields[i];

        if (f->kind == GPURT_FIELD_NONE || gpurt_field_is_list(f->kind))
            continue;
        field_draw(g, row + drawn / beside, 1 + drawn % beside * HALF, f);
        drawn++;
    }
    return row + (drawn + beside - 1) / beside;
}

/* ---- curve, histogram, map ----------------------------------------------------------- */

/* Of a field that only grows what it grew by. */
static int curve_draw(const objectpage_t *g, int row)
{
    const gpurt_classdef_field_t *f = gpurt_objects_main(g->d);
    uint64_t samples = g->o->curve_end, shown[CURVE];
    uint64_t count = samples < CURVE ? samples : CURVE;
    bool grows = f && (f->kind == GPURT_FIELD_COUNTER || f->kind == GPURT_FIELD_FAULT);
    char name[GPURT_CLASS_NAME];

    if (!f || count < 2)
        return row;
    for (uint64_t i = 0; i < count; i++)
        shown[i] = g->o->curve[(samples - count + i) % CURVE];
    for (uint64_t i = 1; grows && i < count; i++)
        shown[count - i] = shown[count - i] >= shown[count - i - 1]
                               ? shown[count - i] - shown[count - i - 1]
                               : 0;
    canvas_printf(g->c, g->area, row, 1, STYLE_DIM, "%s%s", object_name(f->name, name),
                  grows ? ", a second" : "");
    canvas_spark(g->c, g->area, row, 1 + NAME, CURVE, STYLE_GOOD, grows ? shown + 1 : shown,
                 (int)(grows ? count - 1 : count), 0);
    return row + 1;
}

/* A line for each bucket that has something. */
static int histogram_draw(const objectpage_t *g, const gpurt_classdef_field_t *f, int row)
{
    const gpurt_model_value_t *v = gpurt_objects_values(g->all, g->o, f);
    char name[GPURT_CLASS_NAME], from[24], count[16];
    uint64_t most = 1;

    canvas_put(g->c, g->area, row++, 1, STYLE_TITLE, object_name(f->name, name));
    for (uint32_t i = 0; v && i < f->count; i++)
        most = v[i].now > most ? v[i].now : most;
    for (uint32_t i = 0; v && i < f->count && row < g->area.rows; i++) {
        int wide = (int)((double)v[i].now / (double)most * BUCKETS + 0.5);

        if (!v[i].now)
            continue;
        canvas_right(g->c, g->area, row, 12, STYLE_DIM,
                     object_amount(f, i ? 1ull << i : 0, from));
        canvas_right(g->c, g->area, row, 20, STYLE_NORMAL, canvas_short(v[i].now, count));
        for (int k = 0; k < (wide ? wide : 1); k++)
            canvas_glyph(g->c, g->area, row, 1 + NAME + k, STYLE_GOOD, 0x2588, '#');
        row++;
    }
    return row;
}

static int cells_draw(const objectpage_t *g, const gpurt_classdef_field_t *f, int row)
{
    const gpurt_model_value_t *v = gpurt_objects_values(g->all, g->o, f);
    int wide = g->area.columns > 130 ? 128 : 64;
    char name[GPURT_CLASS_NAME];

    canvas_put(g->c, g->area, row++, 1, STYLE_TITLE, object_name(f->name, name));
    for (uint32_t i = 0; v && i < f->count; i++) {
        uint32_t cell = (uint32_t)(v[i / 8].now >> (i % 8 * 8)) & 0xffu;

        object_map_cell(g->c, g->area, row + (int)i / wide, 1 + (int)i % wide, cell, false);
    }
    return row + (int)(f->count + (uint32_t)wide - 1) / wide;
}

/* A line for each row that is there, a column each word. */
static int matrix_draw(const objectpage_t *g, const gpurt_classdef_field_t *f, int row)
{
    uint32_t columns = gpurt_classdef_columns(f);
    char text[24], word[GPURT_CLASS_WORDS], name[GPURT_CLASS_NAME];

    canvas_put(g->c, g->area, row++, 1, STYLE_TITLE, object_name(f->name, name));
    for (uint32_t c = 0; c < columns; c++)
        canvas_right(g->c, g->area, row, (int)(c + 1) * COLUMN, STYLE_DIM,
                     gpurt_field_word(f, c, word));
    row++;
    for (uint32_t r = 0; (r + 1) * columns <= f->count && row < g->area.rows; r++) {
        const gpurt_model_value_t *v = object_row(g->all, g->o, f, r);

        if (!v)
            continue;
        for (uint32_t c = 0; c < columns; c++)
            canvas_right(g->c, g->area, row, (int)(c + 1) * COLUMN,
                         c ? STYLE_NORMAL : STYLE_BOLD, object_cell(f, v, c, text));
        row++;
    }
    return row;
}

static int lists_draw(const objectpage_t *g, int row)
{
    for (uint32_t i = 0; i < g->d->field_count; i++) {
        const gpurt_classdef_field_t *f = &g->d->fields[i];

        if (f->kind == GPURT_FIELD_HISTOGRAM)
            row = histogram_draw(g, f, row + 1);
        if (f->kind == GPURT_FIELD_CELLS)
            row = cells_draw(g, f, row + 1);
        if (f->kind == GPURT_FIELD_MATRIX)
            row = matrix_draw(g, f, row + 1);
    }
    return row;
}

/* ---- relatives ----------------------------------------------------------------------- */

bool objectpage_is_part(const gpurt_model_objects_t *all, const gpurt_model_object_t *o,
                        const gpurt_model_object_t *parent)
{
    const gpurt_classdef_t *d = gpurt_objects_class(all, o->class_);

    for (uint32_t i = 0; d && i < d->field_count; i++)
        if (d->fields[i].flags & GPURT_FIELD_PARENT &&
            object_referred(all, o, &d->fields[i]) == parent)
            return true;
    return false;
}

static int children_draw(const objectpage_t *g, int row)
{
    char name[GPURT_CLASS_NAME], label[48];
    int at = 1 + NAME, drawn = 0;

    for (uint32_t i = 0; i < g->all->count && i < GPURT_MODEL_OBJECTS; i++) {
        const gpurt_model_object_t *o = &g->all->list[i];

        if (!objectpage_is_part(g->all, o, g->o))
            continue;
        if (!drawn++)
            canvas_put(g->c, g->area, row, 1, STYLE_DIM, "its parts");
        objecttable_label(g->all, o, label);
        at = canvas_printf(g->c, g->area, row, at, STYLE_NORMAL, "%s %s  ",
                           object_name(g->all->classes[o->class_].def.name, name), label);
    }
    return drawn ? row + 1 : row;
}

void objectpage_draw(const picture_t *p, canvas_t *c, rect_t area, int row,
                     const gpurt_model_object_t *o)
{
    objectpage_t g = {.all = &p->view->objects, .o = o, .c = c, .area = area};
    bool drawn = false;

    g.d = gpurt_objects_class(g.all, o->class_);
    if (!g.d)
        return;
    for (size_t i = 0; i < sizeof by_hand / sizeof by_hand[0]; i++)
        if (strcmp(g.d->name, by_hand[i].class_) == 0) {
            row = by_hand[i].draw(&g, row) + 1;
            drawn = true;
        }
    row = fields_draw(&g, row);
    row = curve_draw(&g, row + 1);
    row = children_draw(&g, row);
    if (!drawn)
        lists_draw(&g, row);
}
