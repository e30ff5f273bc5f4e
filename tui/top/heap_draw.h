/* SPDX-License-Identifier: Apache-2.0 */
/* heap_draw.h - what the view of heaps draws of each thing that is told of: its line of the
 * list, and below the list what is known of the one that is selected. */
#ifndef GPURT_TUI_HEAP_DRAW_H
#define GPURT_TUI_HEAP_DRAW_H

#include "picture.h"

enum {
    HEAP_BAR = 12 /* columns */
};

void heap_bar(canvas_t *c, rect_t area, int row, int column, int percent, style_t style);
/* How a part of something bounded looks: full is bad. */
style_t heap_style(int percent, bool ended);
/* "heap 64", of several processes "heap 64 of 10801". Returns: the column behind, the same of
 * all. */
int heap_label(const gpurt_model_heaps_t *heaps, const gpurt_model_told_t *told,
               const char *what, canvas_t *c, rect_t area, int row);
/* What must not be cut off where columns are few: before all else. Returns: the column
 * behind. */
int heap_marks(const gpurt_model_told_t *told, canvas_t *c, rect_t area, int row, int at,
               uint64_t wrong, uint64_t refused);
/* A cell of a map: 0 free, 1..GPURT_HEAP_CELL_FULL its share, or GPURT_HEAP_CELL_*. */
void heap_cell(canvas_t *c, rect_t area, int row, int column, uint32_t cell);
/* The map of a heap or region; what: of a cell. Returns: the row below. */
int heap_map(canvas_t *c, rect_t area, int row, const uint8_t *cells, bool large,
             const char *what);

#endif
