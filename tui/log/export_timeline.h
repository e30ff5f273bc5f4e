/* SPDX-License-Identifier: Apache-2.0 */
/* export_timeline.h - rows of a log as events on tracks: what devices did, what host
 * threads asked of them, and what was logged meanwhile, on one clock.
 *
 * Bounded: it holds the tracks, the slices that begin at one moment and, of each process, the
 * ranges that are open and what its devices did last. */
#ifndef GPURT_TUI_EXPORT_TIMELINE_H
#define GPURT_TUI_EXPORT_TIMELINE_H

#include "export_event.h"

typedef struct export_timeline export_timeline_t;

/* Returns: NULL without memory. Both are borrowed. */
export_timeline_t *export_timeline_create(const export_writer_t *writer, export_out_t *out);
/* Rows in order of time, as a cursor gives them; late ones are taken as well.
 * Returns: false without memory, for the first row of a process alone. */
bool export_timeline_row(export_timeline_t *t, const gpurt_row_t *row);
/* What is still open has no end in the log. */
void export_timeline_end(export_timeline_t *t);
void export_timeline_destroy(export_timeline_t *t); /* NULL is allowed */

#endif
