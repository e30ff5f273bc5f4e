/* SPDX-License-Identifier: Apache-2.0 */
/* linepage.h - one function: its source with the samples and the main reason of each line beside it,
 * or its instructions. */
#ifndef GPURT_TUI_LINEPAGE_H
#define GPURT_TUI_LINEPAGE_H

#include "linesheet.h"

void linepage_draw(const picture_t *p, const linesheet_t *s, canvas_t *c, rect_t area);
bool linepage_act(picture_t *p, const linesheet_t *s, action_t action, int page);

#endif
