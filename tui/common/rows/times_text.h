/* SPDX-License-Identifier: Apache-2.0 */
/* times_text.h - a row of durations, for a terminal without a screen and for programs: what the
 * tables of kernels, calls and ranges have in common. */
#ifndef GPURT_TUI_TIMES_TEXT_H
#define GPURT_TUI_TIMES_TEXT_H

#include "json.h"
#include "modelview.h"

#include <stdio.h>

typedef enum times_column {
    TIMES_TOTAL,
    TIMES_MEAN,
    TIMES_MIN,
    TIMES_P50,
    TIMES_P99,
    TIMES_MAX,
    TIMES_COLUMNS
} times_column_t;

extern const char *const times_heads[TIMES_COLUMNS];
/* "3.21 us"; "-" where none of the row's records had times. */
const char *times_cell(const gpurt_model_times_t *t, times_column_t column,
                       char buffer[24]);
/* Of all: as recorded, or about. */
uint64_t times_total(const gpurt_model_times_t *t);
uint64_t times_mean(const gpurt_model_times_t *t);
double times_percent(uint64_t part, uint64_t whole);

/* share, count and those columns; share: percent, below 0: not known; about: it is an estimate. No
 * end of line. */
void times_plain_head(FILE *out);
void times_plain(FILE *out, const gpurt_model_times_t *t, double share, bool about);
/* count to max_ns, of the object that is open. */
void times_json(gpurt_json_t *j, const gpurt_model_times_t *t, uint64_t whole);

/* How many names a table has: "1 name", "61 names", or "more than 256 names", where others share a row. */
const char *times_names(uint64_t names, bool others, char buffer[40]);
/* "and 12 more names", where of a table of `count` rows at most `most` are shown; others: how many
 * of its last ones stand for several names. */
void times_plain_rest(FILE *out, uint32_t count, uint32_t most, uint32_t others);

/* A name as rows have it: at most `room` bytes, of which `width` columns are shown. */
void times_plain_name(FILE *out, const char *name, size_t room, size_t width);

#endif
