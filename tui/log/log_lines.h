/* SPDX-License-Identifier: Apache-2.0 */
/* log_lines.h - gpurt-log lines: where kernels were, by samples of their warps. */
#ifndef GPURT_TUI_LOG_LINES_H
#define GPURT_TUI_LOG_LINES_H

#include "linesums.h"
#include "reader.h"

#include <stdio.h>

typedef struct log_lines {
    const gpurt_dictionary_t *dictionary;
    const gpurt_linesums_t *sums; /* finished */
    const char *kernel;           /* functions whose name has this; NULL: all */
} log_lines_t;

/* Functions by share of all samples, their lines by share of the function's; then what the words
 * mean. */
void log_lines_plain(FILE *out, const log_lines_t *l);
/* {"samples":...,"functions":[...]}, and an end of line. */
void log_lines_json(FILE *out, const log_lines_t *l);
/* "function;file:line;reason samples": a line each, as programs for flame graphs read it. */
void log_lines_folded(FILE *out, const log_lines_t *l);

#endif
