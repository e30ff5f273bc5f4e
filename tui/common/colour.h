/* SPDX-License-Identifier: Apache-2.0 */
/* colour.h - whether text for people is in colour: as the user says, else on a terminal that
 * can, unless NO_COLOR is set. */
#ifndef GPURT_TUI_COLOUR_H
#define GPURT_TUI_COLOUR_H

#include <stdbool.h>
#include <stdio.h>

typedef enum colour_when {
    COLOUR_AUTO,
    COLOUR_ALWAYS,
    COLOUR_NEVER
} colour_when_t;

/* auto, always or never; NULL: auto. Returns: whether it is one of them. */
bool colour_named(const char *word, colour_when_t *when);

bool colour_wanted(FILE *out, colour_when_t when);

#endif
