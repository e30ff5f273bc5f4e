/* SPDX-License-Identifier: Apache-2.0 */
/* panic_excerpt.h - the lines of source around a panic, and where in them it is.
 *
 * The name comes from a device or a file and is not trusted: only regular files that
 * are called like a C or CUDA source are opened, and what they hold is bounded. */
#ifndef GPURT_TUI_PANIC_EXCERPT_H
#define GPURT_TUI_PANIC_EXCERPT_H

#include <gpurt/base.h>
#include <limits.h>

enum {
    EXCERPT_BEFORE = 3,
    EXCERPT_AFTER = 2,
    EXCERPT_LINES = EXCERPT_BEFORE + 1 + EXCERPT_AFTER,
    EXCERPT_LINE = 240
};

typedef struct excerpt {
    char path[PATH_MAX];
    uint32_t first, count;                   /* number of lines[0]; how many there are */
    uint32_t line;                           /* of the panic */
    uint32_t column, width;                  /* what the caret marks, from 1; 0: nothing */
    char lines[EXCERPT_LINES][EXCERPT_LINE]; /* without tabs; not escaped */
} excerpt_t;

/* Looks for the file as it is named, then below folder (NULL: none), where leading parts of
 * its name may be missing. Returns: false where it is not found or has no such line. */
bool excerpt_read(const char *file, uint32_t file_bytes, uint32_t line, const char *folder,
                  excerpt_t *out);

#endif
