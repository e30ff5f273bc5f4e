/* SPDX-License-Identifier: Apache-2.0 */
/* objectpage.h - the page of one object: what its class has drawn by hand (heap_page.h), its fields,
 * the curve of the main one, histograms, maps, matrices, what it is part of and what is part of it. */
#ifndef GPURT_TUI_OBJECTPAGE_H
#define GPURT_TUI_OBJECTPAGE_H

#include "picture.h"

/* What a page is drawn of. Owner: the stack. */
typedef struct objectpage {
    const gpurt_model_objects_t *all;
    const gpurt_model_object_t *o;
    const gpurt_classdef_t *d;
    canvas_t *c;
    rect_t area;
} objectpage_t;

/* From `row` to the end of the area. */
void objectpage_draw(const picture_t *p, canvas_t *c, rect_t area, int row,
                     const gpurt_model_object_t *o);

/* Whether an object is part of `parent`, as a reference of it says. */
bool objectpage_is_part(const gpurt_model_objects_t *all, const gpurt_model_object_t *o,
                        const gpurt_model_object_t *parent);

#endif
