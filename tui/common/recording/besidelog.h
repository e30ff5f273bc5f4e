/* SPDX-License-Identifier: Apache-2.0 */
/* besidelog.h - a file for what is made of a log, or printed while one is recorded: an export, a
 * picture. It is never that log itself, which would be cut before it is read. */
#ifndef GPURT_TUI_BESIDELOG_H
#define GPURT_TUI_BESIDELOG_H

#include <gpurt/status.h>
#include <stdio.h>

/* Owner: the program. Zeroed it is none. */
typedef struct besidelog {
    const char *path;
    FILE *file; /* NULL: none */
    bool made;  /* it was not there before */
} besidelog_t;

/* read: a log that is read; its readers may read this, too. written: one that is recorded. Both may
 * be NULL. What the file held is cut off. */
gpurt_status_t besidelog_open(besidelog_t *b, const char *path, const char *read,
                              const char *written, gpurt_error_t *err);

/* Returns: whether all that was printed is there; errno says why not, 0: nobody knows. */
bool besidelog_close(besidelog_t *b);

/* Nothing was to be printed: a file that we made is removed. */
void besidelog_drop(besidelog_t *b);

#endif
