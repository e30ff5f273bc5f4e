/* SPDX-License-Identifier: Apache-2.0 */
/* export.h - a whole log in a format of others, in order of time and in memory that does not
 * grow with it. */
#ifndef GPURT_TUI_EXPORT_H
#define GPURT_TUI_EXPORT_H

#include "filter_run.h"
#include "reader.h"

#include <stdio.h>

/* "perfetto, chrome, jsonl or csv". */
#define EXPORT_FORMATS "perfetto, chrome, jsonl or csv"

bool export_knows(const char *format);

/* run: which messages; NULL: all. GPURT_E_INVALID: no such format. What could not be written shows in ferror(out). */
gpurt_status_t export_log(gpurt_log_t *log, const char *format, filter_run_t *run,
                          FILE *out, gpurt_error_t *err);

#endif
