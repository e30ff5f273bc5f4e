/* SPDX-License-Identifier: Apache-2.0 */
/* canvas.h - a screen as an array of characters with styles. Views draw on it, screen.c
 * shows it; tests look at it without a terminal.
 *
 * This is where untrusted text ends: canvas_text takes any bytes and lets only printable
 * characters through; everything else becomes \xNN or a question mark. */
#ifndef GPURT_TUI_CANVAS_H
#define GPURT_TUI_CANVAS_H

#include <gpurt/base.h>

#include "layout.h"

#include <stdio.h>

typedef enum style {
    STYLE_NORMAL,
    STYLE_DIM,
    STYLE_BOLD,
    STYLE_TITLE, /* of a pane */
    STYLE_RULE,
    STYLE_HEAD, /* the first line; with a meaning: */
    STYLE_HEAD_GOOD,
    STYLE_HEAD_WARN,
    STYLE_HEAD_BAD,
    STYLE_KEY,
    STYLE_GOOD,
    STYLE_INFO,
    STYLE_WARN,
    STYLE_ERROR,
    STYLE_PANIC,
    STYLE_LOST,
    STYLE_SELECT,
    STYLE_HEAT_1, /* of the map, from cold to hot */
    STYLE_HEAT_2,
    STYLE_HEAT_3,
    STYLE_HEAT_4,
    STYLE_COUNT
} style_t;

typedef struct canvas_cell {
    uint32_t code; /* 0: right half of a wide character */
    uint32_t style;
} canvas_cell_t;

/* Owner: the caller; zeroed at first. */
typedef struct canvas {
    int rows, columns;
    bool unicode; /* else only ASCII is drawn */
    canvas_cell_t *cells;
} canvas_t;

/* Clears it, too. Returns: false without memory; the size is then 0. */
bool canvas_resize(canvas_t *c, int rows, int columns);
void canvas_clear(canvas_t *c);
void canvas_fini(canvas_t *c);

/* Row and column count from the corner of area, and nothing is drawn outside of it.
 * All return the column behind what was drawn. */
int canvas_text(canvas_t *c, rect_t area, int row, int column, style_t style,
                const char *text, size_t bytes);
int canvas_put(canvas_t *c, rect_t area, int row, int column, style_t style,
               const char *text);
int canvas_printf(canvas_t *c, rect_t area, int row, int column, style_t style,
                  const char *fmt, ...) GPURT_PRINTF(6, 7);
/* Right-aligned: ends before column. */
void canvas_right(canvas_t *c, rect_t area, int row, int column, style_t style,
                  const char *text);
/* One character of our own: `ascii` where unicode is off. */
int canvas_glyph(canvas_t *c, rect_t area, int row, int column, style_t style,
                 uint32_t code, char ascii);

/* Gives all cells of a row another style. */
void canvas_row_style(canvas_t *c, rect_t area, int row, style_t style);

/* "── title ─────────": the top line of a pane. Returns: the column behind the title. */
int canvas_rule(canvas_t *c, rect_t area, const char *title);

/* A curve of `count` values, one column each, the last at the right end; max 0: the
 * largest. */
void canvas_spark(canvas_t *c, rect_t area, int row, int column, int columns, style_t style,
                  const uint64_t *values, int count, uint64_t top);

/* All of it as text, without blanks at the end of a row and blank rows at its own. */
void canvas_print(const canvas_t *c, FILE *out);

/* "8.1k", "41.2M": at most five characters. */
const char *canvas_short(uint64_t value, char buffer[16]);

#endif
