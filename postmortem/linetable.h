/* SPDX-License-Identifier: Apache-2.0 */
/* linetable.h - from an address of machine code to source lines, through a .debug_line
 * section of DWARF 2 to 4 with NVIDIA's extension for inlined calls.
 *
 * The extension is an extended opcode 0x90 with two LEB128 numbers: the row of the call
 * (counted from 1 in its sequence, 0: not inlined), and the inlined function's name in
 * .debug_str. So a row knows its caller's row, and a chain of them is a backtrace of calls
 * that no longer exist. A row that only repeats the one before it is not counted: ptxas writes
 * such rows and does not number them. */
#ifndef GPURT_POSTMORTEM_LINETABLE_H
#define GPURT_POSTMORTEM_LINETABLE_H

#include "bytes.h"

enum {
    LINETABLE_FRAMES = 16
};

/* Texts are borrowed from the section. */
typedef struct line_frame {
    const char *folder, *file; /* folder "": the file's name says all */
    const char *function;      /* inlined there, mangled; "": the function itself */
    uint32_t line;
} line_frame_t;

/* line: .debug_line; strings: .debug_str. Returns: how many frames, the innermost first; 0
 * where no line is known. */
uint32_t linetable_find(bytes_t line, bytes_t strings, uint64_t pc,
                        line_frame_t out[LINETABLE_FRAMES]);

/* A row: what a reader keeps who asks often, as a look reads the table up to what it finds. */
typedef struct line_span {
    uint64_t from, to; /* its instructions; to: the first address behind them, from: none */
    uint64_t unit;     /* of the table, for linetable_frame */
    uint64_t function; /* in .debug_str, where it has a caller */
    uint32_t file, line;
    uint32_t number; /* of its row in its sequence, from 1 on */
    uint32_t caller; /* number of a row before it in its sequence; 0: it is not inlined */
} line_span_t;

typedef void (*line_visit_t)(void *context, const line_span_t *span);

/* Visits all, in the table's order, which is not that of addresses: a caller comes before what it
 * calls. Of rows at one address the last one has the instructions. */
void linetable_visit(bytes_t line, line_visit_t visit, void *context);

/* A span's own frame. line, strings: what it is of. */
void linetable_frame(bytes_t line, bytes_t strings, const line_span_t *span,
                     line_frame_t *out);

#endif
