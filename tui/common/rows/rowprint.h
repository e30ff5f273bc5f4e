/* SPDX-License-Identifier: Apache-2.0 */
/* rowprint.h - messages as lines of text: those of a log, and those of a program that runs.
 * What device code wrote reaches no terminal as it is: escapes are spelled out. */
#ifndef GPURT_TUI_ROWPRINT_H
#define GPURT_TUI_ROWPRINT_H

#include "program.h"
#include "render.h"

#include <stdio.h>

enum {
    ROWPRINT_LINE = 3 * GPURT_MESSAGE_MAX + 1024 /* the longest line */
};

/* Owner: the caller. Pointers are borrowed. */
typedef struct rowprint {
    FILE *out;
    const gpurt_dictionary_t *dictionary;
    bool colour;
    uint32_t pid;    /* whose all rows are; 0: as each of them says */
    uint32_t who_of; /* programs that there were when `who` was found */
    int who;         /* columns of their pids; 0: they are not told */
} rowprint_t;

/* A row's messages from `first` on, a line each. about: of the row's source. */
void rowprint_text(rowprint_t *p, const gplog_file_t *about, const gpurt_row_t *row,
                   uint32_t first, uint32_t count);

/* How many lines a row takes. */
uint32_t rowprint_lines(const gpurt_row_t *row);

#endif
