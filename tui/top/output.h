/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - what the program wrote to the terminal while a screen was there: the last
 * megabyte, shown in a pane and printed when the screen is gone. */
#ifndef GPURT_TUI_OUTPUT_H
#define GPURT_TUI_OUTPUT_H

#include <gpurt/base.h>

enum {
    OUTPUT_KEEP = 1 << 20
};

/* Owner: the caller. Zeroed it is empty. */
typedef struct output {
    char *bytes;      /* OUTPUT_KEEP, a ring */
    uint64_t written; /* bytes ever */
    uint64_t lines;   /* ends of line ever */
} output_t;

/* Reads what a descriptor that does not block has. Returns: false when it has ended. */
bool output_read(output_t *o, int fd);
/* Prints all that is kept. */
void output_print(const output_t *o, int fd);
/* The line that is `back` lines before the last, without its end. Returns: its bytes, or
 * -1 when there is none. At most `room` bytes, from the line's start. */
int output_line(const output_t *o, uint64_t back, char *to, size_t room);
void output_fini(output_t *o);

#endif
