/* SPDX-License-Identifier: Apache-2.0 */
#include "objecttable.h"

#include "object_draw.h"
#include "object_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    LABEL = 8,        /* columns of a number, */
    LABEL_WHOSE = 20, /* ... and of the process */
    LEAST = 8,        /* columns of a field, at least */
    MOST = 20
};

int objecttable_wanted(const gpurt_model_objects_t *all, const char *name)
{
    for (int i = 0; i < (int)all->class_count && i < GPURT_MODEL_CLASSES; i++)
        if (strcasecmp(all->classes[i].def.name, name) == 0 ||
            strcasecmp(all->classes[i].def.plural, name) == 0)
            return i;
    return -1;
}

int objecttable_class(const picture_t *p)
{
    const gpurt_model_objects_t *all = &p->view->objects;
    uint32_t count =
        all->class_count < GPURT_MODEL_CLASSES ? all->class_count : GPURT_MODEL_CLASSES;
    int wanted = p->object_wanted ? objecttable_wanted(all, p->object_wanted) : -1;

    if (count == 0 || wanted >= 0)
        return wanted;
    return p->object_class < count ? (int)p->object_class : 0;
}

int objecttable_named(const gpurt_model_objects_t *all, const char *name)
{
    for (int i = 0; i < (int)all->class_count && i < GPURT_MODEL_CLASSES; i++)
        if (strcmp(all->classes[i].def.name, name) == 0)
            return i;
    return -1;
}

/* ---- order --------------------------------------------------------------------------- */

static bool is_column(const gpurt_classdef_field_t *f)
{
    return f->kind != GPURT_FIELD_NONE && !gpurt_field_is_list(f->kind);
}

/* The field that column `sort` - 1 shows; NULL: the table goes by number. */
static const gpurt_classdef_field_t *sort_field(const gpurt_classdef_t *d, uint32_t sort)
{
    for (uint32_t i = 0; i < d->field_count && sort > 0; i++)
        if (is_column(&d->fields[i]) && --sort == 0)
            return &d->fields[i];
    return NULL;
}

const char *objecttable_sort(const gpurt_classdef_t *d, uint32_t sort,
                             char buffer[GPURT_CLASS_NAME])
{
    const gpurt_classdef_field_t *f = sort_field(d, sort);

    return f ? object_name(f->name, buffer) : "number";
}

uint32_t objecttable_sorts(const gpurt_classdef_t *d)
{
    uint32_t sorts = 1;

    for (uint32_t i = 0; i < d->field_count; i++)
        sorts += is_column(&d->fields[i]);
    return sorts;
}

typedef struct place {
    uint64_t key;
    uint32_t pid, id;
    uint16_t index;
} place_t;

/* The largest first; equal ones, and without a key all, by process and number. */
static int compare(const void *a, const void *b)
{
    const place_t *x = a, *y = b;

    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (int)x->index - (int)y->index;
}

int objecttable_collect(const picture_t *p, int class_, uint16_t order[GPURT_MODEL_OBJECTS])
{
    const gpurt_model_objects_t *all = &p->view->objects;
    const gpurt_classdef_t *d = gpurt_objects_class(all, (uint32_t)class_);
    const gpurt_classdef_field_t *f = d ? sort_field(d, p->object_sort) : NULL;
    place_t places[GPURT_MODEL_OBJECTS];
    char label[48], name[GPURT_CLASS_NAME + 49], text[GPURT_CLASS_NAME];
    int count = 0;

    for (uint32_t i = 0; d && i < all->count && i < GPURT_MODEL_OBJECTS; i++) {
        const gpurt_model_object_t *o = &all->list[i];

        if ((int)o->class_ != class_)
            continue;
        objecttable_label(all, o, label);
        snprintf(name, sizeof name, "%s %s", object_name(d->name, text), label);
        if (filter_name(&p->filter, name, &o->told.device, o->told.pid))
            places[count++] = (place_t){.key = f ? object_at(all, o, f)->now : 0,
                                        .pid = o->told.pid,
                                        .id = o->told.id,
                                        .index = (uint16_t)i};
    }
    qsort(places, (size_t)count, sizeof places[0], compare);
    for (int i = 0; i < count; i++)
        order[i] = places[i].index;
    return count;
}

/* ---- the selected one ---------------------------------------------------------------- */

int objecttable_selected(const picture_t *p, const uint16_t *order, int count)
{
    for (int i = 0; i < count && p->object_told.id; i++)
        if (gpurt_model_told_same(&p->view->objects.list[order[i]].told, &p->object_told))
            return i;
    return (int)p->object_row < count ? (int)p->object_row : count - 1;
}

bool objecttable_step(picture_t *p, action_t action, int page, const uint16_t *order,
                      int count)
{
    int at = objecttable_selected(p, order, count);
    int step = action == ACTION_UP          ? -1
               : action == ACTION_DOWN      ? 1
               : action == ACTION_PAGE_UP   ? -page
               : action == ACTION_PAGE_DOWN ? page
               : action == ACTION_FIRST     ? -count
               : action == ACTION_LAST      ? count
                                            : 0;

    if (!step)
        return false;
    at += step;
    at = at > count - 1 ? count - 1 : at;
    p->object_row = at < 0 ? 0 : (uint32_t)at;
    if (count)
        p->object_told = p->view->objects.list[order[p->object_row]].told;
    return true;
}

/* ---- lines --------------------------------------------------------------------------- */

void objecttable_label(const gpurt_model_objects_t *all, const gpurt_model_object_t *o,
                       char text[48])
{
    if (all->programs > 1 && o->told.pid)
        snprintf(text, 48, "%u of %u", o->told.id, o->told.pid);
    else if (all->programs > 1)
        snprintf(text, 48, "%u of others", o->told.id);
    else
        snprintf(text, 48, "%u", o->told.id);
}

static int label_columns(const gpurt_model_objects_t *all)
{
    return all->programs > 1 ? LABEL_WHOSE : LABEL;
}

/* What a field's column is wide enough for: its name, and what stands in it. */
static int columns_of(const gpurt_model_objects_t *all, const gpurt_classdef_field_t *f,
                      const uint16_t *order, int count)
{
    int wide = (int)strlen(f->name);
    char text[OBJECT_TEXT];

    wide = wide < LEAST ? LEAST : wide;
    for (int i = 0; i < count; i++) {
        const gpurt_model_object_t *o = &all->list[order[i]];
        int its = (int)strlen(object_value(all, f, object_at(all, o, f)->now, text));

        wide = its > wide ? its : wide;
    }
    return 2 + (wide > MOST ? MOST : wide);
}

static style_t value_style(const gpurt_model_object_t *o, const gpurt_classdef_field_t *f,
                           uint64_t value)
{
    if (object_is_trouble(f, value))
        return f->kind == GPURT_FIELD_FAULT ? STYLE_ERROR : STYLE_WARN;
    return o->told.flags & GPURT_OBJECT_ENDED ? STYLE_DIM : STYLE_NORMAL;
}

/* Returns: the column behind the bar, where there is one. */
static int bar_draw(const gpurt_model_objects_t *all, const gpurt_model_object_t *o,
                    canvas_t *c, rect_t area, int row, int at)
{
    int full = object_full(all, o);

    if (full < 0)
        return at;
    object_bar(c, area, row, at, full,
               object_full_style(full, o->told.flags & GPURT_OBJECT_ENDED));
    return canvas_printf(c, area, row, at + OBJECT_BAR + 1, STYLE_NORMAL, "%3d%%", full);
}

/* The end of a text that is too long for a column. */
static const char *cut(const char *text)
{
    size_t length = strlen(text);

    for (text += length > MOST ? length - MOST : 0; ((unsigned char)*text & 0xc0) == 0x80;)
        text++; /* not in the midst of a character */
    return text;
}

static void object_draw(const gpurt_model_objects_t *all, const gpurt_model_object_t *o,
                        canvas_t *c, rect_t area, int row, const int *ends)
{
    const gpurt_classdef_t *d = gpurt_objects_class(all, o->class_);
    char label[48], text[OBJECT_TEXT];

    objecttable_label(all, o, label);
    canvas_put(c, area, row, 1, STYLE_BOLD, label);
    bar_draw(all, o, c, area, row, 1 + label_columns(all));
    for (uint32_t i = 0; i < d->field_count; i++)
        if (ends[i]) {
            uint64_t value = object_at(all, o, &d->fields[i])->now;

            canvas_right(c, area, row, ends[i], value_style(o, &d->fields[i], value),
                         cut(object_value(all, &d->fields[i], value, text)));
        }
    if (o->told.flags & GPURT_OBJECT_ENDED)
        canvas_right(c, area, row, area.columns - 1, STYLE_DIM, "ended");
}

static bool any_trouble(const gpurt_model_objects_t *all, const gpurt_classdef_field_t *f,
                        const uint16_t *order, int count)
{
    bool any = false;

    for (int i = 0; i < count && !any; i++)
        any = object_is_trouble(f, object_at(all, &all->list[order[i]], f)->now);
    return any;
}

/* Where columns end; 0: the field has none, or there is no room. What is wrong comes first: it must
 * not be what finds no room. */
static void columns_lay(const gpurt_model_objects_t *all, const gpurt_classdef_t *d,
                        const uint16_t *order, int count, int at, int last,
                        int ends[GPURT_CLASS_FIELDS])
{
    bool room = true;

    memset(ends, 0, GPURT_CLASS_FIELDS * sizeof *ends);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < d->field_count && room; i++) {
            const gpurt_classdef_field_t *f = &d->fields[i];

            if (!is_column(f) || any_trouble(all, f, order, count) != (pass == 0))
                continue;
            room = at + columns_of(all, f, order, count) <= last;
            if (room)
                ends[i] = at += columns_of(all, f, order, count);
        }
}

static void heading_draw(const gpurt_classdef_t *d, canvas_t *c, rect_t area, int row,
                         int at, const int *ends, const char *sort)
{
    char name[GPURT_CLASS_NAME];

    canvas_put(c, area, row, 1, STYLE_DIM, "number");
    if (gpurt_classdef_full(d))
        canvas_put(c, area, row, at, STYLE_DIM,
                   object_name(gpurt_classdef_full(d)->name, name));
    for (uint32_t i = 0; i < d->field_count; i++)
        if (ends[i]) {
            object_name(d->fields[i].name, name);
            canvas_right(c, area, row, ends[i],
                         strcmp(name, sort) == 0 ? STYLE_KEY : STYLE_DIM, name);
        }
}

int objecttable_draw(const picture_t *p, canvas_t *c, rect_t area, int row, int class_,
                     const uint16_t *order, int count)
{
    const gpurt_model_objects_t *all = &p->view->objects;
    const gpurt_classdef_t *d = gpurt_objects_class(all, (uint32_t)class_);
    int bar = 1 + label_columns(all), ends[GPURT_CLASS_FIELDS], shown, first;
    int at = bar + (gpurt_classdef_full(d) ? OBJECT_BAR + 5 : 0);
    int selected = objecttable_selected(p, order, count);
    char sort[GPURT_CLASS_NAME];

    columns_lay(all, d, order, count, at, area.columns - 7, ends);
    heading_draw(d, c, area, row++, bar, ends, objecttable_sort(d, p->object_sort, sort));
    shown = area.rows > row ? area.rows - row : 0;
    first = selected >= shown ? selected - shown + 1 : 0;
    for (int i = first; i < count && i - first < shown; i++, row++) {
        object_draw(all, &all->list[order[i]], c, area, row, ends);
        if (i == selected)
            canvas_row_style(c, area, row, STYLE_SELECT);
    }
    return count - first - shown;
}

void objecttable_title(const gpurt_model_objects_t *all, canvas_t *c, rect_t area,
                       const char *what, uint32_t count, int below)
{
    char title[128];
    size_t used = (size_t)snprintf(title, sizeof title, "%s  %u", what, count);

    if (all->programs > 1)
        used += (size_t)snprintf(title + used, sizeof title - used, "  of %d processes",
                                 (int)all->programs);
    if (below > 0)
        used += (size_t)snprintf(title + used, sizeof title - used, "  (%d below)", below);
    if (all->others)
        snprintf(title + used, sizeof title - used, ", and more that have no row");
    canvas_rule(c, area, title);
}
