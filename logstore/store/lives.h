/* SPDX-License-Identifier: Apache-2.0 */
/* lives.h - the lives of a program that a recorder starts again when it fails, as rows of
 * its log (docs/LOG_FORMAT.md, LIFE): one where each begins, one where it ends. */
#ifndef GPURT_LOG_LIVES_H
#define GPURT_LOG_LIVES_H

#include "reader.h"

enum {
    GPURT_LIVES_MAX = 1024 /* that a reader keeps; those after it are counted */
};

typedef struct gpurt_life {
    uint32_t number; /* from 1, of this recording */
    uint32_t pid;
    uint64_t begin_ns, end_ns; /* real time; end 0: not told */
    int wait_status;           /* as waitpid has it; once it has ended */
    uint64_t panics;           /* rows of failures in that time */
} gpurt_life_t;

/* Rows for a writer: *row is valid until the next call. */
typedef struct gpurt_life_row {
    gpurt_row_t row;
    uint32_t words[8];
} gpurt_life_row_t;
const gpurt_row_t *gpurt_life_begins(gpurt_dictionary_t *d, const gpurt_life_t *life,
                                     gpurt_life_row_t *row);
const gpurt_row_t *gpurt_life_ends(gpurt_dictionary_t *d, const gpurt_life_t *life,
                                   gpurt_life_row_t *row);

/* The lives in a log, by time. Owner: the caller; free(*out). *count 0 and *out NULL where
 * nothing was ever started again: then no frame is read. */
gpurt_status_t gpurt_lives_read(gpurt_log_t *log, gpurt_life_t **out, uint32_t *count,
                                gpurt_error_t *err);

#endif
