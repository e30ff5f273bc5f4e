/* SPDX-License-Identifier: Apache-2.0 */
/* windows_text.h - kernels that have records in windows of time alone: how long those are, what they
 * cost, and how far what is estimated by them may be off. */
#ifndef GPURT_TUI_WINDOWS_TEXT_H
#define GPURT_TUI_WINDOWS_TEXT_H

#include "json.h"
#include "modelview.h"

#include <stdio.h>

enum {
    WINDOWS_LINE = 192
};
/* One line, without its end. Returns: false: there are no windows. */
bool windows_line(const gpurt_model_activity_t *a, char line[WINDOWS_LINE]);

/* The same as a line of the sums. */
void windows_plain(FILE *out, const gpurt_model_activity_t *a);
/* Below the table of kernels, of which `timed` launches have times, and all together take `whole`;
 * nothing where nothing is estimated. */
void windows_plain_error(FILE *out, const gpurt_model_activity_t *a, uint64_t timed,
                         uint64_t whole);
/* "windows": an object, or null. */
void windows_json(gpurt_json_t *j, const gpurt_model_activity_t *a);

#endif
