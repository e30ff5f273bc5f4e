/* SPDX-License-Identifier: Apache-2.0 */
/* panic_launch.h - what a log knows of how the host came to launch kernels
 * (GPURT_LAUNCH_SITES), beside a failure. */
#ifndef GPURT_TUI_PANIC_LAUNCH_H
#define GPURT_TUI_PANIC_LAUNCH_H

#include "json.h"
#include "panic_line.h"

/* The last ways to a launch before the row. Nothing where none was recorded. */
void panic_launch_print(const panic_entry_t *e, const panic_style_t *style);
/* ,"launches":[...] */
void panic_launch_json(gpurt_json_t *j, const panic_entry_t *e);

#endif
