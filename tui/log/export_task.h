/* SPDX-License-Identifier: Apache-2.0 */
/* export_task.h - bodies of tasks on a timeline: a slice of the warp that ran it, and an arrow from where
 * and when its task became ready. */
#ifndef GPURT_TUI_EXPORT_TASK_H
#define GPURT_TUI_EXPORT_TASK_H

#include "export_sheet.h"

void export_task(const export_sheet_t *s, const gpurt_row_t *row);

#endif
