/* SPDX-License-Identifier: Apache-2.0 */
/* loglist.h - the lines of a log pane: those of all classes in their order, filtered. */
#ifndef GPURT_TUI_LOGLIST_H
#define GPURT_TUI_LOGLIST_H

#include "picture.h"

/* The `want` lines that came last of those that fit, after leaving out `skip`; newest first.
 * Returns: how many. *more: whether there are older ones that fit; NULL: not asked. */
uint32_t loglist_collect(const picture_t *p, const filter_t *filter, uint32_t skip,
                         uint32_t want, const gpurt_model_line_t **out, bool *more);

/* One line into a row of area; column: how far its text is scrolled. Where the picture's rows
 * are of several processes it says whose it is. */
void loglist_draw(const picture_t *p, canvas_t *c, rect_t area, int row,
                  const gpurt_model_line_t *line, uint32_t column);

/* Fills a pane under its title, newest at the bottom. */
void loglist_pane(const picture_t *p, canvas_t *c, rect_t area, uint32_t skip,
                  uint32_t column);

/* What a site said last, up to the moment that is shown; NULL: no such line is kept. */
const gpurt_model_line_t *loglist_last_of(const picture_t *p,
                                          const gpurt_model_site_t *site);

/* Lines of this level and above that were there and are no longer kept; some of them may be below
 * it. */
uint64_t loglist_gone(const picture_t *p, uint32_t level);

/* How many lines fit the picture's filter, and those that it cannot judge. */
uint32_t loglist_count(const picture_t *p, filter_tally_t *tally);

#endif
