/* SPDX-License-Identifier: Apache-2.0 */
/* panic_line.h - lines of text on their way to a terminal: cut to its width, coloured as a
 * whole. Whoever adds text that is not ours escapes it first (render.h). */
#ifndef GPURT_TUI_PANIC_LINE_H
#define GPURT_TUI_PANIC_LINE_H

#include "panic_book.h"
#include "panic_read.h"

#define PANIC_RED    "1;31"
#define PANIC_YELLOW "33"
#define PANIC_CYAN   "36"
#define PANIC_DIM    "2"

typedef struct panic_line {
    const panic_style_t *style;
    gpurt_text_t text; /* add to it */
    char room[3 * GPURT_MESSAGE_MAX];
} panic_line_t;

void panic_line_begin(panic_line_t *line, const panic_style_t *style);
/* Prints it. colour: one of the above, or NULL. */
void panic_line_end(panic_line_t *line, const char *colour);

/* Words of our own behind `lead`, in as many lines as they need. */
void panic_line_wrap(const char *lead, const char *text, const char *colour,
                     const panic_style_t *style);

/* What a source lacks; nothing where it is whole. */
void panic_line_source(const panic_source_t *source, const panic_style_t *style);

#endif
