/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - strings on their way to a terminal or a shell. For JSON: json.h.
 *
 * What other programs printed is not trusted: it reaches a terminal without control
 * characters or such as hide or turn others. */
#ifndef GPURT_TUI_TEXT_H
#define GPURT_TUI_TEXT_H

#include <gpurt/base.h>
#include <stdio.h>

/* One line: a newline inside is written as \x0a, as other control characters and bytes that
 * are no UTF-8 are; tabs stay. */
void text_put_line(FILE *out, const char *text, size_t bytes);

/* Each line behind `indent`, ending with a newline; at most the last max_lines of them,
 * with a line that says so when there are more. Tabs stay; other control characters and
 * bytes that are no UTF-8 are written as \x1b. */
void text_put_lines(FILE *out, const char *indent, const char *text, size_t bytes,
                    size_t max_lines);

/* One word for a shell, in quotes only if it needs them. A word with control characters or such
 * as hide or turn others is written as $'\033[2J': bash, ksh and zsh read it. */
void text_put_shell(FILE *out, const char *word);

#endif
