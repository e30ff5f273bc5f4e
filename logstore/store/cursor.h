/* SPDX-License-Identifier: Apache-2.0 */
/* cursor.h - the rows of a log in order of time.
 *
 * A frame holds rows ring by ring, and neighbouring frames overlap in time. A cursor
 * sorts each frame and merges up to GPURT_CURSOR_FRAMES of them that lie next to each
 * other in the file; rows that are further out of place than that come late. Damaged
 * frames are left out. */
#ifndef GPURT_LOG_CURSOR_H
#define GPURT_LOG_CURSOR_H

#include "reader.h"

enum {
    GPURT_CURSOR_FRAMES = 16
};

typedef struct gpurt_cursor gpurt_cursor_t;

/* Begins at a frame. log: borrowed until close; others may use it between calls. */
gpurt_status_t gpurt_cursor_open(gpurt_log_t *log, uint64_t frame, gpurt_cursor_t **out,
                                 gpurt_error_t *err);
/* The next row, or NULL at the end of what the log has; after a refresh there may be more.
 * Valid until the next call. */
const gpurt_row_t *gpurt_cursor_next(gpurt_cursor_t *c);
void gpurt_cursor_close(gpurt_cursor_t *c); /* NULL is allowed */

#endif
