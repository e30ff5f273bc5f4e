/* SPDX-License-Identifier: Apache-2.0 */
/* panic_read.h - a panic's row taken apart, and its parts as words. */
#ifndef GPURT_TUI_PANIC_READ_H
#define GPURT_TUI_PANIC_READ_H

#include "panicrow.h"
#include "render.h"

/* Texts belong to the dictionary: valid until it grows. */
typedef struct panic_facts {
    const gpurt_row_t *row; /* borrowed */
    gpurt_site_info_t site; /* zeroed where it is not known */
    gpurt_panicrow_t p;
} panic_facts_t;

/* A row of a damaged file may end anywhere: what is missing reads as 0. */
void panic_read(const gpurt_dictionary_t *d, const gpurt_row_t *row, panic_facts_t *out);

/* "panic", "fault" or "hang"; of the CPU back end too, whose faults and hangs are rows of kind
 * PANIC with a category that says so. */
const char *panic_kind_name(const panic_facts_t *f);

/* "i32"; "none" for a number that is no type. */
const char *panic_type_name(uint32_t type);

/* Real time as "2026-11-21 04:38:30.123456789", here. digits: of the second's fraction. */
enum {
    PANIC_TIME = 40
};
const char *panic_time(uint64_t time_ns, int digits, char out[PANIC_TIME]);

/* Of a row with own values of each lane: the rank of a lane among its lanes, so that
 * the lane that panicked speaks; 0 for other rows and where the lane is not among them. */
uint32_t panic_lane_rank(const gpurt_row_t *row, uint32_t lane);

/* The part of a path behind its last slash. */
const char *panic_base(const char *path, uint32_t bytes, uint32_t *base_bytes);

/* The function's name as its author wrote it: a kernel's body is a function of its own. */
const char *panic_function(const gpurt_site_info_t *text, uint32_t *bytes, bool *kernel);

#endif
