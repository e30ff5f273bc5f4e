/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of kernels: the table of heaps, and below it the page of the one that is selected. */
#include "objectpage.h"
#include "objecttable.h"

enum {
    LIST_LEAST = 5 /* rows of the list, where there is more than a third is for */
};

static void draw_empty(canvas_t *c, rect_t area)
{
    canvas_rule(c, area, "Heaps");
    canvas_put(c, area, 2, 1, STYLE_DIM, "No heap of kernels was recorded.");
    canvas_put(c, area, 3, 1, STYLE_DIM,
               "Heaps that the host makes are recorded, unless GPURT_HEAP_VIEW=off.");
}

static void draw(const picture_t *p, canvas_t *c, rect_t area)
{
    const gpurt_model_objects_t *all = &p->view->objects;
    int class_ = objecttable_named(all, "heap"), count, rows, below;
    uint16_t order[GPURT_MODEL_OBJECTS];
    rect_t list = area;

    count = objecttable_collect(p, class_, order);
    if (!count) {
        draw_empty(c, area);
        return;
    }
    rows = area.rows / 3 > LIST_LEAST ? area.rows / 3 : LIST_LEAST;
    rows = 2 + (rows < count ? rows : count);
    list.rows = rows < area.rows ? rows : area.rows;
    below = objecttable_draw(p, c, list, 1, class_, order, count);
    objecttable_title(all, c, area, "Heaps", (uint32_t)count, below);
    objectpage_draw(p, c, area, list.rows,
                    &all->list[order[objecttable_selected(p, order, count)]]);
}

static bool act(picture_t *p, action_t action, int page)
{
    uint16_t order[GPURT_MODEL_OBJECTS];
    int count = objecttable_collect(p, objecttable_named(&p->view->objects, "heap"), order);

    return objecttable_step(p, action, page, order, count);
}

const view_class_t view_heaps = {"Heaps", draw, act};
