/* SPDX-License-Identifier: Apache-2.0 */
/* pylines.h - which line an instruction of Python's is of, by its code object's table: three formats,
 * as CPython documents them (Objects/lnotab_notes.txt, Objects/locations.md). */
#ifndef GPURT_CUPTI_PYLINES_H
#define GPURT_CUPTI_PYLINES_H

#include "peek.h"

typedef enum pylines {
    PYLINES_DELTAS,   /* to 3.9: where the next line begins */
    PYLINES_RANGES,   /* 3.10: how far each line goes */
    PYLINES_LOCATIONS /* since 3.11: lines and columns */
} pylines_t;

enum {
    PYLINES_TABLE = 64 << 10 /* bytes of a table that are read */
};

/* byte: of the instruction; before the first one the function's own line is meant. Returns: 0: the
 * instruction is of no line, or the table is no table. */
uint32_t pylines_find(peek_t *p, pylines_t kind, uint64_t table, uint64_t bytes,
                      uint32_t first_line, int32_t byte);

#endif
