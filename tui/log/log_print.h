/* SPDX-License-Identifier: Apache-2.0 */
/* log_print.h - messages of a log as lines of text or of JSON. */
#ifndef GPURT_TUI_LOG_PRINT_H
#define GPURT_TUI_LOG_PRINT_H

#include "activity_text.h"
#include "cursor.h"
#include "filter_run.h"
#include "lives.h"
#include "rowprint.h"
#include "who.h"

#include <stdio.h>

typedef struct log_print {
    rowprint_t text; /* where to, and how lines of text look */
    const gpurt_log_t *log;
    bool jsonl;
    uint32_t level;    /* lowest shown; events without a level are always shown */
    uint32_t pid;      /* whose are shown; 0: all */
    filter_run_t *run; /* NULL: all */
    uint64_t skip;     /* messages to leave out first */
    uint64_t printed;
} log_print_t;

/* How many messages of a row are shown, whatever is skipped; of a LOSS 0. Tells no tally. */
uint32_t log_print_count(const log_print_t *p, const gpurt_row_t *row);

/* Every message of a row. */
void log_print_row(log_print_t *p, const gpurt_row_t *row);

/* What a log adds up to. Owner: the caller, of all that it points to. */
typedef struct log_stat {
    const gpurt_dictionary_t *dictionary;
    gpurt_log_summary_t sum;
    gpurt_modelview_t *view; /* what GPUs did, heaps; NULL: the log knows nothing of them */
    const who_count_t *counts; /* by program; NULL: the rows were not read for anything */
    gpurt_life_t *lives;       /* of a program that was started again */
    uint32_t life_count;
} log_stat_t;

/* As one JSON object or for people. */
void log_print_stat(FILE *out, const log_stat_t *stat, bool json);

#endif
