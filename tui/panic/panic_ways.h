/* SPDX-License-Identifier: Apache-2.0 */
/* panic_ways.h - what a log knows of how the host came to launch kernels
 * (GPURT_LAUNCH_SITES), beside a failure. */
#ifndef GPURT_TUI_PANIC_WAYS_H
#define GPURT_TUI_PANIC_WAYS_H

#include "json.h"
#include "panic_line.h"

enum {
    PANIC_WAYS = 4
};

/* The last ways to a launch before a failure, the newest first; none where none was recorded.
 * Owner: the caller; free it. */
typedef struct panic_ways {
    const panic_source_t *source;
    gpurt_row_t *row[PANIC_WAYS]; /* heap */
    uint32_t count;
} panic_ways_t;

void panic_ways_find(const panic_entry_t *e, panic_ways_t *out);
void panic_ways_free(panic_ways_t *w);

void panic_ways_print(const panic_ways_t *w, const panic_style_t *style);
/* "launches" */
void panic_ways_json(gpurt_json_t *j, const panic_ways_t *w);

#endif
