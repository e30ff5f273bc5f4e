/* SPDX-License-Identifier: Apache-2.0 */
/* log_filter.h - the filter of gpurt-log's commands. */
#ifndef GPURT_TUI_LOG_FILTER_H
#define GPURT_TUI_LOG_FILTER_H

#include "filter_run.h"
#include "option.h"
#include "reader.h"

/* Returns: false where the text is no filter, or the command has none; it has been said. */
bool log_filter_begin(const gpurt_option_program_t *program, const char *command,
                      const char *text, filter_run_t *run);

/* Whether some message of a row fits; run: NULL, all do. */
bool log_filter_fits(const gpurt_log_t *log, const filter_run_t *run,
                     const gpurt_row_t *row);

/* Reads all rows: what *sum says of messages becomes that of those that fit. */
void log_filter_sum(gpurt_log_t *log, filter_run_t *run, gpurt_log_summary_t *sum);

#endif
