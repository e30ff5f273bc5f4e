/* SPDX-License-Identifier: Apache-2.0 */
/* canvas_seen.h - what stands on a canvas, as text that a test can search. */
#ifndef GPURT_TESTS_CANVAS_SEEN_H
#define GPURT_TESTS_CANVAS_SEEN_H

#include "canvas.h"

#include <string.h>

/* A row as ASCII; other characters as '?'. Valid until the next call. */
static inline const char *canvas_seen(const canvas_t *c, int row)
{
    static char text[600];
    int i;

    for (i = 0; i < c->columns && i < (int)sizeof text - 1; i++) {
        uint32_t code = c->cells[row * c->columns + i].code;

        text[i] = code < 0x80 ? (char)(code ? code : ' ') : '?';
    }
    text[i] = '\0';
    return text;
}

/* The first row that has a text. Returns: -1: none has. */
static inline int canvas_seen_row(const canvas_t *c, const char *text)
{
    for (int row = 0; row < c->rows; row++)
        if (strstr(canvas_seen(c, row), text))
            return row;
    return -1;
}

#endif
