/* SPDX-License-Identifier: Apache-2.0 */
/* panic_last.h - the last launches that a log or a box tells of: of gpurt_launch at level
 * TRACE, and of plain programs where they were asked for (GPURT_CUPTI=launches). Of a program
 * that the hardware stopped, or somebody killed, they may be all that is known. */
#ifndef GPURT_TUI_PANIC_LAST_H
#define GPURT_TUI_PANIC_LAST_H

#include "json.h"
#include "panic_line.h"

enum {
    PANIC_LAST = 8
};

typedef struct panic_launched {
    gpurt_row_t *row;     /* heap */
    uint32_t correlation; /* 0: of gpurt_launch */
    bool ended;           /* a record tells that it has; of those with a correlation */
} panic_launched_t;

/* Of one process, the newest first: calls, streams and contexts are numbered by each. Owner: the
 * caller; free it. */
typedef struct panic_last {
    panic_source_t *source;
    uint32_t program;
    panic_launched_t list[PANIC_LAST];
    uint32_t count;
} panic_last_t;

/* Those up to a row, of its process; none where that is not known. What cannot be read is left
 * out. */
void panic_last_find(panic_source_t *source, const gpurt_row_t *before, panic_last_t *out);
void panic_last_free(panic_last_t *last);

/* Before a failure, among what show tells of it. */
void panic_last_print(const panic_last_t *last, const panic_style_t *style);
/* Of a source without any failure, all of them; or, for a list, the newest that has not ended,
 * in a line: of each of its processes. Nothing where there is none. Returns: whether there
 * was. */
bool panic_last_alone(panic_source_t *source, const panic_style_t *style);
void panic_last_line(panic_source_t *source, const panic_style_t *style);

/* "last_launches": those before a failure; or those of each process of a source, one after
 * another. */
void panic_last_json(gpurt_json_t *j, const panic_last_t *last);
void panic_last_json_all(gpurt_json_t *j, panic_source_t *source);

#endif
