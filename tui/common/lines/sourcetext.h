/* SPDX-License-Identifier: Apache-2.0 */
/* sourcetext.h - a source file as lines, for a page beside which samples stand. Its name comes from
 * a log, so only plain files of some size are read, and nothing waits for one. Its bytes are as they
 * are: whoever shows them escapes them. */
#ifndef GPURT_TUI_SOURCETEXT_H
#define GPURT_TUI_SOURCETEXT_H

#include <gpurt/base.h>
#include <stddef.h>

enum {
    SOURCETEXT_PATH = 1024,
    SOURCETEXT_WHY = 128,
    SOURCETEXT_COLUMNS = 1024 /* of a line; the rest is left out */
};

/* Owner: the caller; zeroed at first. */
typedef struct sourcetext {
    char path[SOURCETEXT_PATH]; /* "": nothing was read yet */
    char why[SOURCETEXT_WHY];   /* "": it is there; else what is wrong */
    char *bytes;
    uint32_t *starts; /* of line i + 1; one more than there are lines */
    uint32_t count;
    uint64_t changed_ns; /* real time of its last change */
} sourcetext_t;

/* Reads a file, if it is another than the one that is there. */
void sourcetext_read(sourcetext_t *s, const char *path);
void sourcetext_fini(sourcetext_t *s);

/* Line `number`, counted from 1, without its end, tabs as blanks. Returns: bytes; 0: empty, or there
 * is no such line. */
size_t sourcetext_line(const sourcetext_t *s, uint32_t number,
                       char room[SOURCETEXT_COLUMNS]);

#endif
