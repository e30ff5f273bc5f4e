/* SPDX-License-Identifier: Apache-2.0 */
/* sitelist.h - the table of sites, as the overview and the view of sites show it. */
#ifndef GPURT_TUI_SITELIST_H
#define GPURT_TUI_SITELIST_H

#include "picture.h"

/* Indices into numbers.sites of those that fit the filter, in the picture's order; the
 * row of all other sites, where there is one, is last. Returns: how many. */
uint32_t sitelist_collect(const picture_t *p, uint16_t order[GPURT_MODEL_SITES + 1]);

/* Fills a pane, title and heading included. selected: -1 none, else it is kept in sight. */
void sitelist_pane(const picture_t *p, canvas_t *c, rect_t area, int selected);

#endif
