/* SPDX-License-Identifier: Apache-2.0 */
/* sequence.h - the numbers of a log's frames, in the order of the file: each is one above the
 * one before. What is missing, double or out of place follows from them. */
#ifndef GPURT_LOG_SEQUENCE_H
#define GPURT_LOG_SEQUENCE_H

#include <gpurt/status.h>

typedef enum gplog_place {
    GPLOG_PLACE_NEXT,  /* above all before it */
    GPLOG_PLACE_LATE,  /* one that was missing until now */
    GPLOG_PLACE_DOUBLE /* one that came before */
} gplog_place_t;

/* Numbers from `from` on, but not `to`. */
typedef struct gplog_gap {
    uint64_t from, to;
} gplog_gap_t;

/* Owner: the caller. A zeroed one expects frame 0. */
typedef struct gplog_sequence {
    uint64_t next;    /* one above the highest number */
    uint64_t missing; /* numbers below it that have not come */
    gplog_gap_t *gaps;
    size_t count, room; /* of gaps; in order */
} gplog_sequence_t;

void gplog_sequence_fini(gplog_sequence_t *s);

/* Takes the number of the next frame of the file. Returns: false without memory. */
bool gplog_sequence_take(gplog_sequence_t *s, uint64_t number, gplog_place_t *place);

/* What is below `next` and has not come is missing. Returns: false without memory. */
bool gplog_sequence_expect(gplog_sequence_t *s, uint64_t next);

#endif
