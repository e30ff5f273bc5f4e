/* SPDX-License-Identifier: Apache-2.0 */
/* log_print.h - messages of a log as lines of text or of JSON. */
#ifndef GPURT_TUI_LOG_PRINT_H
#define GPURT_TUI_LOG_PRINT_H

#include "activity_text.h"
#include "cursor.h"
#include "lives.h"

#include <stdio.h>

typedef struct log_print {
    FILE *out;
    const gpurt_log_t *log;
    bool jsonl;
    uint32_t level; /* lowest shown; events without a level are always shown */
    uint64_t skip;  /* messages to leave out first */
    uint64_t printed;
} log_print_t;

/* Every message of a row. */
/* Whether a row is shown at that level; 0: all are. */
static inline bool log_print_wanted(const gpurt_row_t *row, uint32_t level)
{
    return row->level == GPURT_LEVEL_NONE || row->level >= level;
}

void log_print_row(log_print_t *p, const gpurt_row_t *row);

/* What a log adds up to, as one JSON object or for people. view: what GPUs did, heaps; NULL
 * where the log knows nothing of them. lives: of a program that was started again. */
void log_print_stat(FILE *out, const gpurt_log_summary_t *sum,
                    const gpurt_modelview_t *view, const gpurt_life_t *lives,
                    uint32_t life_count, bool json);

#endif
