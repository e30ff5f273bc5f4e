/* SPDX-License-Identifier: Apache-2.0 */
/* times_text.h - a row of durations, for a terminal without a screen and for programs: what the
 * tables of kernels, calls and ranges have in common. */
#ifndef GPURT_TUI_TIMES_TEXT_H
#define GPURT_TUI_TIMES_TEXT_H

#include "modelview.h"

#include <stdio.h>

/* A time of a row's; "-" where none of its records had times. */
const char *times_known(const gpurt_model_times_t *t, uint64_t ns, char buffer[24]);
uint64_t times_mean(const gpurt_model_times_t *t);
double times_percent(uint64_t part, uint64_t whole);

/* share, count, total, mean, min, p50, p99, max; whole: what a share is of. */
#define TIMES_HEAD \
    "  share     count      total       mean        min        p50        p99        max"
void times_plain(FILE *out, const gpurt_model_times_t *t, uint64_t whole);
/* "count":..."max_ns":..., no braces. */
void times_json(FILE *out, const gpurt_model_times_t *t, uint64_t whole);

/* A name as rows have it: at most `room` bytes, of which `width` columns are shown. */
void times_plain_name(FILE *out, const char *name, size_t room, size_t width);
/* What stands between a string's quotes. */
void times_json_name(FILE *out, const char *name, size_t room);

/* Most time first; equal ones by name. */
int times_compare(const gpurt_model_times_t *a, const char *a_name,
                  const gpurt_model_times_t *b, const char *b_name);

#endif
