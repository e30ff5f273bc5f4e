/* SPDX-License-Identifier: Apache-2.0 */
/* filelist.h - the log pane of a replay: lines of the file, any of which can be reached. */
#ifndef GPURT_TUI_FILELIST_H
#define GPURT_TUI_FILELIST_H

#include "picture.h"

/* What the picture wants of the file now. */
void filelist_wish(const picture_t *p, logwindow_wish_t *wish);

/* Fills a pane under its title, newest at the bottom; browse: where it was scrolled to, else up to
 * the moment. Returns: false while nothing of the file is there that fits the picture. */
bool filelist_pane(const picture_t *p, canvas_t *c, rect_t area, bool browse,
                   uint32_t column);

/* What stands behind "Log  ". */
void filelist_title(const picture_t *p, char *to, size_t room);

/* So many lines up, or down below 0; page: rows of the pane. */
void filelist_scroll(picture_t *p, int64_t lines, int page);

/* What a panic's warp slot said before it, oldest first. Returns: NULL while it is read. */
const logwindow_lines_t *filelist_near(const picture_t *p, const gpurt_model_panic_t *e);
void filelist_near_want(const gpurt_model_panic_t *e, logwindow_wish_t *wish);

#endif
