/* SPDX-License-Identifier: Apache-2.0 */
/* linecells.h - samples of warps by function, instruction and reason: what records of kind LINE are
 * added to, in a log that is read whole (linesums.h) and in a model. Who uses a table has its
 * memory. Names are ids of the log's dictionary. */
#ifndef GPURT_LOG_LINECELLS_H
#define GPURT_LOG_LINECELLS_H

#include <gpurt/base.h>

#include "format.h"

enum {
    GPURT_LINECELL_SECONDS = 2 /* whose samples are known apart from all others */
};

/* Shown as it is: no pointers, no padding. */
typedef struct gpurt_linecell {
    uint32_t function, file, line; /* line 0: not known */
    uint32_t offset, reason;
    uint32_t calls;  /* inlined ones (activity.h); 0: an older file tells none */
    uint32_t second; /* since 1970, in which the last record's time ends */
    uint32_t unused;
    uint64_t samples, idle;
    uint32_t recent[GPURT_LINECELL_SECONDS]; /* of that second, and of the one before */
    uint32_t recent_idle[GPURT_LINECELL_SECONDS];
} gpurt_linecell_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_linecell_t) == 64, "an array of them needs no padding");

/* Borrowed from its owner for a call. There are twice as many slots as room, which is a power of
 * two: a hash table, of indices + 1. */
typedef struct gpurt_linetable {
    gpurt_linecell_t *cells;
    uint32_t *slots;
    uint32_t room, *count;
} gpurt_linetable_t;

/* What a row tells; *end_ns: when its time ends. Returns: false for a row of another kind, and for
 * one that is too short. */
bool gpurt_linecell_of(const gpurt_row_t *row, gpurt_linecell_t *out, uint64_t *end_ns);

/* Returns: false, nothing has changed: there is no room. */
bool gpurt_linetable_add(const gpurt_linetable_t *t, const gpurt_linecell_t *cell);

/* Cells as they are, into more room: slots are zero. */
void gpurt_linetable_fill(const gpurt_linetable_t *t);

/* Samples of the last seconds before the end of `second`, and those in cycles without an issue. */
uint32_t gpurt_linecell_recent(const gpurt_linecell_t *c, uint32_t second, uint32_t *idle);

#endif
