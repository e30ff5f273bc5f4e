/* SPDX-License-Identifier: Apache-2.0 */
/* panic_read.h - a panic's row taken apart, and its parts as words. */
#ifndef GPURT_TUI_PANIC_READ_H
#define GPURT_TUI_PANIC_READ_H

#include "render.h"

/* Texts belong to the dictionary: valid until it grows. */
typedef struct panic_facts {
    const gpurt_row_t *row; /* borrowed */
    gpurt_site_info_t site; /* zeroed where it is not known */
    gpurt_dim3_t block, thread;
    uint32_t lane, failed, arg_count;
    uint64_t clock;
    uint64_t args[GPURT_PANIC_ARGS];
    uint64_t lanes[GPURT_WARP_SIZE]; /* first operand of each lane in `failed` */
    /* of a fault; of a hang only the last */
    uint32_t exception;
    uint64_t pc, dump; /* dump: id of its blob, 0 none */
} panic_facts_t;

/* A row of a damaged file may end anywhere: what is missing reads as 0. */
void panic_read(const gpurt_dictionary_t *d, const gpurt_row_t *row, panic_facts_t *out);

/* "panic", "fault" or "hang". */
static inline const char *panic_kind_name(const gpurt_row_t *row)
{
    return row->kind == GPURT_KIND_FAULT  ? "fault"
           : row->kind == GPURT_KIND_HANG ? "hang"
                                          : "panic";
}

/* "i32"; "none" for a number that is no type. */
const char *panic_type_name(uint32_t type);

/* An argument as its type says; a string as its text, unescaped. */
void panic_value(const gpurt_dictionary_t *d, uint32_t type, uint64_t value,
                 gpurt_text_t *out);

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

#endif
