/* SPDX-License-Identifier: Apache-2.0 */
/* host_text.h - what host code did, by name: calls of the CUDA API and ranges (NVTX); a part of
 * activity_text.h. */
#ifndef GPURT_TUI_HOST_TEXT_H
#define GPURT_TUI_HOST_TEXT_H

#include "gpurows.h"
#include "json.h"

#include <stdio.h>

enum {
    HOST_SUMS = 192
};

/* "103 of 3 names, 7.01 ms, 1 without times, 4 with errors"; "": there are none. */
const char *host_sums(const gpurt_model_activity_t *a, gpurows_t table,
                      char buffer[HOST_SUMS]);

/* Of calls and ranges, each where there are any: a line of sums; a table of at most `most`. */
void host_plain_sums(FILE *out, const gpurt_model_activity_t *a);
void host_plain(FILE *out, const gpurt_model_activity_t *a, uint32_t most);
/* call_list, range_list, ranges_open and range_ends_alone. */
void host_json(gpurt_json_t *j, const gpurt_model_activity_t *a);

#endif
