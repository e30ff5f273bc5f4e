/* SPDX-License-Identifier: Apache-2.0 */
/* textfold.h - text whose lines are no longer than a terminal is wide. */
#ifndef GPURT_TUI_TEXTFOLD_H
#define GPURT_TUI_TEXTFOLD_H

#include <stddef.h>
#include <stdio.h>

/* Writes text whose lines end with a newline. One that is longer than `columns` is broken at
 * blanks, where it can be at a gap of a table, so that its columns stay below each other; what
 * follows stands a little to the right. Nothing is left out. columns 0: lines stay as they
 * are. Context: the locale says how wide characters are. */
void textfold_put(FILE *out, const char *text, size_t bytes, size_t columns);

#endif
