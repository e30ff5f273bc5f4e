/* SPDX-License-Identifier: Apache-2.0 */
/* object_draw.h - how full an object is and what its map has, for tables and pages of objects. */
#ifndef GPURT_TUI_OBJECT_DRAW_H
#define GPURT_TUI_OBJECT_DRAW_H

#include "picture.h"

enum {
    OBJECT_BAR = 12 /* columns */
};

void object_bar(canvas_t *c, rect_t area, int row, int column, int percent, style_t style);
/* How a part of something bounded looks: full is bad. */
style_t object_full_style(int percent, bool ended);
/* A cell of a map: GPURT_FIELD_CELLS says what it is. full: a mark of its own for full ones. */
void object_map_cell(canvas_t *c, rect_t area, int row, int column, uint32_t cell,
                     bool full);

#endif
