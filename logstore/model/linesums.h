/* SPDX-License-Identifier: Apache-2.0 */
/* linesums.h - what records of kind LINE add up to: functions by their share of samples, the lines
 * of each, its instructions, and why warps stood there.
 *
 * Rows come in any order, of any time and GPU; or the cells of a model are summed up as they are.
 * Names are ids of the log's dictionary. */
#ifndef GPURT_LOG_LINESUMS_H
#define GPURT_LOG_LINESUMS_H

#include <gpurt/base.h>
#include <gpurt/status.h>

#include "linecells.h"

typedef struct gpurt_linesum_reason {
    uint32_t reason; /* name, as CUPTI has it */
    uint64_t samples, idle;
} gpurt_linesum_reason_t;

/* Samples of a line that stands in these inlined calls. */
typedef struct gpurt_linesum_calls {
    uint32_t calls; /* name, as the log has it; 0: it tells none */
    uint64_t samples, idle;
    uint32_t first_reason, reason_count; /* as a line's */
} gpurt_linesum_calls_t;

/* A source line of a function; where none is known, an instruction. */
typedef struct gpurt_linesum_line {
    uint32_t function, file;
    uint32_t line;   /* 0: not known */
    uint32_t offset; /* of the instruction, or the first one of the line that was met */
    uint64_t samples, idle;
    uint32_t first_reason, reason_count; /* among the sums' reasons; most samples first */
    uint32_t first_calls, calls_count;   /* among the sums' calls; likewise */
} gpurt_linesum_line_t;

/* All samples of one instruction. */
typedef struct gpurt_linesum_code {
    uint32_t function, offset, file, line, calls;
    uint32_t reason; /* that most of them have, */
    uint64_t reason_samples;
    uint64_t samples, idle;
} gpurt_linesum_code_t;

typedef struct gpurt_linesum_function {
    uint32_t function;
    uint64_t samples, idle;
    uint32_t first_line, line_count; /* among the sums' lines; most samples first */
    uint32_t first_code, code_count; /* among the sums' code; by offset */
    bool without_lines;              /* some of its instructions have no line */
} gpurt_linesum_function_t;

/* Owner: the caller; zeroed at first. The tables are there once it is finished. */
typedef struct gpurt_linesums {
    uint64_t samples, idle;
    uint64_t first_ns,
        last_ns;   /* begin of the first record's time, end of the last one's */
    uint32_t rows; /* that were added; stays at its most */
    gpurt_linesum_function_t *functions; /* most samples first */
    uint32_t function_count;
    gpurt_linesum_line_t *lines;
    uint32_t line_count;
    gpurt_linesum_reason_t *reasons;
    uint32_t reason_count;
    gpurt_linesum_calls_t *calls;
    uint32_t calls_count;
    gpurt_linesum_code_t *code;
    uint32_t code_count;
    gpurt_linecell_t *cells; /* owned, as all tables are */
    uint32_t cell_count, cell_room;
    uint32_t *slots;
    bool no_memory;
} gpurt_linesums_t;

/* A row of another kind, or one that is too short, counts as nothing. */
void gpurt_linesums_add(gpurt_linesums_t *s, const gpurt_row_t *row);

/* When the time of a row ends whose samples count; 0: of another kind, or too short. */
uint64_t gpurt_linesums_end(const gpurt_row_t *row);

/* Once, behind the last row. */
gpurt_status_t gpurt_linesums_finish(gpurt_linesums_t *s);

/* Of cells alone, and finished; *s is zeroed. second: not 0: samples of the last seconds before its
 * end alone. */
gpurt_status_t gpurt_linesums_of(gpurt_linesums_t *s, const gpurt_linecell_t *cells,
                                 uint32_t count, uint32_t second);

void gpurt_linesums_fini(gpurt_linesums_t *s);

#endif
