/* SPDX-License-Identifier: Apache-2.0 */
/* gpulist.h - GPUs as lines of a canvas: the overview and the view GPU show the same. */
#ifndef GPURT_TUI_GPULIST_H
#define GPURT_TUI_GPULIST_H

#include "picture.h"

/* Lines of GPUs: those of which anything is known, and one for what has no room. */
uint32_t gpulist_count(const gpurt_model_activity_t *a);

/* A line for each, from `row` on. Returns: the row behind them. */
int gpulist_gpus(const picture_t *p, canvas_t *c, rect_t area, int row);

/* What runs, a line a stream, at most so many. Returns: the row behind it. */
int gpulist_running(const picture_t *p, canvas_t *c, rect_t area, int row, uint32_t most);
/* What has run longest, where that is an alert. NULL: nothing. */
const gpurt_model_running_t *gpulist_longest(const picture_t *p);

#endif
