/* SPDX-License-Identifier: Apache-2.0 */
/* objectpage.h - the page of one object: its fields, the curve of its main one, histograms, maps,
 * what it is part of and what is part of it. */
#ifndef GPURT_TUI_OBJECTPAGE_H
#define GPURT_TUI_OBJECTPAGE_H

#include "picture.h"

void objectpage_draw(const picture_t *p, canvas_t *c, rect_t area, int row,
                     const gpurt_model_object_t *o);

#endif
