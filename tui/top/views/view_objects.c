/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of all classes: the table of one class at a time, and the page of one object. */
#include "object_text.h"
#include "objectpage.h"
#include "objecttable.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const gpurt_model_object_t *open_object(const picture_t *p, int class_)
{
    const gpurt_model_objects_t *all = &p->view->objects;

    for (uint32_t i = 0; p->object_open && i < all->count && i < GPURT_MODEL_OBJECTS; i++)
        if ((int)all->list[i].class_ == class_ &&
            gpurt_model_told_same(&all->list[i].told, &p->object_told))
            return &all->list[i];
    return NULL;
}

/* ---- drawing ------------------------------------------------------------------------- */

/* What was asked for by name is not there. */
static bool is_missing(const picture_t *p, int class_)
{
    const gpurt_classdef_t *d = &p->view->objects.classes[class_].def;

    return p->object_wanted && strcasecmp(d->name, p->object_wanted) != 0 &&
           strcasecmp(d->plural, p->object_wanted) != 0;
}

/* "arena sources 2  ref tables 1": the one that is shown stands out. */
static void classes_draw(const picture_t *p, canvas_t *c, rect_t area, int row, int class_)
{
    const gpurt_model_objects_t *all = &p->view->objects;
    char name[GPURT_CLASS_NAME];
    int at = 1;

    for (int i = 0; i < (int)all->class_count && i < GPURT_MODEL_CLASSES; i++) {
        if (i == class_)
            canvas_glyph(c, area, row, at - 1, STYLE_KEY, 0x25b8, '>');
        at = canvas_printf(c, area, row, at, i == class_ ? STYLE_SELECT : STYLE_NORMAL,
                           "%s %u", object_name(all->classes[i].def.plural, name),
                           all->classes[i].objects);
        at += 2;
    }
    if (is_missing(p, class_))
        canvas_printf(c, area, row, at, STYLE_WARN, "no class %s was recorded",
                      p->object_wanted);
    else
        canvas_put(c, area, row, at, STYLE_DIM, "(t table, s sort, Enter page)");
}

static void page_draw(const picture_t *p, canvas_t *c, rect_t area, int class_,
                      const gpurt_model_object_t *o)
{
    const gpurt_model_objects_t *all = &p->view->objects;
    char name[GPURT_CLASS_NAME], label[48], title[128];

    objecttable_label(all, o, label);
    snprintf(title, sizeof title, "%s %s%s  (Esc back)",
             object_name(all->classes[class_].def.name, name), label,
             o->told.flags & GPURT_OBJECT_ENDED ? ", ended" : "");
    canvas_rule(c, area, title);
    objectpage_draw(p, c, area, 1, o);
}

static void draw(const picture_t *p, canvas_t *c, rect_t area)
{
    int class_ = objecttable_class(p), count, below = 0;
    const gpurt_model_object_t *o = open_object(p, class_);
    uint16_t order[GPURT_MODEL_OBJECTS];

    if (class_ < 0) {
        canvas_rule(c, area, "Objects");
        canvas_put(c, area, 2, 1, STYLE_DIM,
                   "No object was recorded: no heap, no region, no arena source.");
        canvas_put(c, area, 3, 1, STYLE_DIM,
                   "Objects that the host makes are recorded, unless GPURT_HEAP_VIEW=off.");
        return;
    }
    if (o) {
        page_draw(p, c, area, class_, o);
        return;
    }
    count = objecttable_collect(p, class_, order);
    if (count)
        below = objecttable_draw(p, c, area, 2, class_, order, count);
    else
        canvas_put(c, area, 3, 1, STYLE_DIM, "None fits the filter (Esc clears it).");
    objecttable_title(&p->view->objects, c, area, "Objects", p->view->objects.count, below);
    classes_draw(p, c, area, 1, class_);
}

/* ---- keys ---------------------------------------------------------------------------- */

static void table_step(picture_t *p, int class_, int step)
{
    int count = (int)p->view->objects.class_count;

    p->object_class = (uint32_t)((class_ + step + count) % count);
    p->object_wanted = NULL;
    p->object_open = false;
    p->object_row = p->object_sort = 0;
    p->object_told.id = 0;
}

static bool act(picture_t *p, action_t action, int page)
{
    int class_ = objecttable_class(p), count;
    uint16_t order[GPURT_MODEL_OBJECTS];
    const gpurt_classdef_t *d;

    if (class_ < 0)
        return false;
    d = gpurt_objects_class(&p->view->objects, (uint32_t)class_);
    count = objecttable_collect(p, class_, order);
    switch (action) {
    case ACTION_TABLE:
    case ACTION_TABLE_BEFORE:
        table_step(p, class_, action == ACTION_TABLE ? 1 : -1);
        return true;
    case ACTION_SORT:
        p->object_sort = (p->object_sort + 1) % objecttable_sorts(d);
        return true;
    case ACTION_OPEN:
        if (count) {
            int at = objecttable_selected(p, order, count);

            p->object_told = p->view->objects.list[order[at]].told;
            p->object_open = true;
        }
        return true;
    case ACTION_BACK:
        if (!p->object_open)
            return false;
        p->object_open = false;
        return true;
    default:
        return !p->object_open && objecttable_step(p, action, page, order, count);
    }
}

const view_class_t view_objects = {"Objects", draw, act};
