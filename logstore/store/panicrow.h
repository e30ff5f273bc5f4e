/* SPDX-License-Identifier: Apache-2.0 */
/* panicrow.h - the row of a panic or fault taken apart. docs/LOG_FORMAT.md has its words. */
#ifndef GPURT_LOGSTORE_PANICROW_H
#define GPURT_LOGSTORE_PANICROW_H

#include "dictionary.h"
#include "format.h"

typedef struct gpurt_panicrow_window {
    uint64_t base, size, start, mark;
    uint32_t name, bytes;
    const uint8_t *data; /* the row's; NULL where bytes is 0 */
} gpurt_panicrow_window_t;

/* Texts are ids of the dictionary, 0 none. What a row of an older log, or of a damaged one,
 * lacks is 0. */
typedef struct gpurt_panicrow {
    gpurt_dim3_t block, thread;
    uint32_t lane, failed;
    uint64_t clock;
    uint64_t args[GPURT_PANIC_ARGS]; /* as `types` says */
    uint64_t types;
    uint32_t arg_count;
    uint32_t known[GPURT_PANIC_OWN]; /* lanes whose value of that operand is there */
    uint64_t lanes[GPURT_PANIC_OWN][GPURT_WARP_SIZE];

    bool about;                     /* what follows is there */
    uint32_t category, own, number; /* category: GPURT_CATEGORY_*, never 0 of a panic */
    uint64_t launch, log_sequence, task, parent_task;
    gpurt_dim3_t grid, block_dim;
    uint32_t cluster_rank, cluster_size;
    uint32_t condition, function, kernel;
    uint32_t contexts_left_out, frames_left_out, held_left_out;
    uint32_t context_count, frame_count, held_count, window_count;
    gpurt_panic_context_t contexts[GPURT_PANIC_CONTEXTS];
    gpurt_panic_frame_t frames[GPURT_PANIC_FRAMES];
    gpurt_panic_held_t held[GPURT_PANIC_HELD];
    gpurt_panicrow_window_t windows[GPURT_PANIC_WINDOWS];
    const char *report; /* the row's text, without a terminator; NULL: none */
    uint32_t report_bytes, report_left_out;

    uint32_t exception; /* of a fault */
    uint64_t pc, dump;  /* dump: id of its blob, 0 none */
} gpurt_panicrow_t;

/* types: of its site, 0 where that is not known. The windows point into the row. */
void gpurt_panicrow_read(const gpurt_row_t *row, uint64_t types, gpurt_panicrow_t *out);

/* GPURT_KIND_PANIC, _FAULT or _HANG: those of the CPU back end are rows of kind PANIC, whose category
 * says so. */
uint32_t gpurt_panicrow_kind(const gpurt_row_t *row, const gpurt_panicrow_t *p);

#endif
