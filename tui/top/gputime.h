/* SPDX-License-Identifier: Apache-2.0 */
/* gputime.h - the streams of all GPUs over a stretch of time, a lane each: what ran, and
 * above them for each GPU why nothing did. A part of the GPU view. */
#ifndef GPURT_TUI_GPUTIME_H
#define GPURT_TUI_GPUTIME_H

#include "picture.h"

/* Returns: the row behind it; as it was where no stream is known or there is no room. */
int gputime_draw(const picture_t *p, canvas_t *c, rect_t area, int row);

/* Zoom, scroll, open and close. Returns: whether the action was one of these. */
bool gputime_act(picture_t *p, action_t action);

#endif
