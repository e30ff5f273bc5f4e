/* SPDX-License-Identifier: Apache-2.0 */
/* export_instant.h - rows that tell of one moment and last none: messages, launches as the host
 * asked for them, memory taken and given back, and what counters showed. */
#ifndef GPURT_TUI_EXPORT_INSTANT_H
#define GPURT_TUI_EXPORT_INSTANT_H

#include "export_sheet.h"

/* A row of an object: its numbers as counters of its device. */
void export_instant_object(const export_sheet_t *s, const gpurt_row_t *row);

/* Whatever is no activity: an instant for each message of the row. */
void export_instant_messages(const export_sheet_t *s, const gpurt_row_t *row);

/* words: its payload (gpurt_activity_load). Kinds that are of no moment are left out. */
void export_instant_activity(const export_sheet_t *s, const gpurt_row_t *row,
                             const void *words);

#endif
