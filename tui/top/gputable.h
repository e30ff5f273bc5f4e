/* SPDX-License-Identifier: Apache-2.0 */
/* gputable.h - the tables of the GPU view, one at a time: kernels, calls, ranges, memory, pools. A
 * line says which there are and how many rows each has. */
#ifndef GPURT_TUI_GPUTABLE_H
#define GPURT_TUI_GPUTABLE_H

#include "picture.h"

/* By the word that the line has. Returns: whether there is one of that name. */
bool gputable_named(const char *name, gpurows_t *table);

/* Rows that are kept for it in a view of so many; and of those beside the streams, for long tables
 * up to a half: the same whichever is shown, so that nothing jumps. */
int gputable_least(int rows);
int gputable_wish(const picture_t *p, int rows);

/* From `row` to the end of the area; the selected row is in sight. */
void gputable_draw(const picture_t *p, canvas_t *c, rect_t area, int row);

/* Another table, another order, up and down. Returns: whether the action was one of these. */
bool gputable_act(picture_t *p, action_t action, int page);

#endif
