/* SPDX-License-Identifier: Apache-2.0 */
/* export_lines.h - a log as a table for other programs: one record a line, each field under
 * its name, as JSON objects or as CSV. */
#ifndef GPURT_TUI_EXPORT_LINES_H
#define GPURT_TUI_EXPORT_LINES_H

#include "export_event.h"

void export_csv_head(export_out_t *o);
/* Each message of a row. */
void export_csv_row(export_out_t *o, const gpurt_row_t *row);
void export_jsonl_row(export_out_t *o, const gpurt_row_t *row);

#endif
