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
/* The map of a heap or region; what: of a cell. Returns: the row below. */
int heap_map(canvas_t *c, rect_t area, int row, const uint8_t *cells, bool large,
             const char *what);

/* view_region.c: what stands on heaps. */
void region_line(const gpurt_model_region_t *r, canvas_t *c, rect_t area, int row);
void region_about(const gpurt_model_region_t *r, canvas_t *c, rect_t area, int row);
/* heaps: one of them is what pieces come from. */
void arena_line(const gpurt_model_arena_t *a, const gpurt_model_heaps_t *heaps, canvas_t *c,
                rect_t area, int row);
void arena_about(const gpurt_model_arena_t *a, canvas_t *c, rect_t area, int row);
void reclaim_line(const gpurt_model_reclaim_t *t, canvas_t *c, rect_t area, int row);
void reclaim_about(const gpurt_model_reclaim_t *t, canvas_t *c, rect_t area, int row);

#endif
