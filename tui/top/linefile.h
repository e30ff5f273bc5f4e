/* SPDX-License-Identifier: Apache-2.0 */
/* linefile.h - the lines of a log file: those before or behind a place that fit, wherever in the
 * file that is. Frames are read as they are needed, by the index; nothing of them is kept but
 * counts, so memory does not grow with the lines.
 *
 * Lines are ordered by time, and those of one time as they stand in the file. The place of a line
 * is its time and its number: its frame and where it begins there. One thread uses it. */
#ifndef GPURT_TUI_LINEFILE_H
#define GPURT_TUI_LINEFILE_H

#include "filter_run.h"
#include "reader.h"

enum {
    LINEFILE_MOST = 1024,
    LINEFILE_MARKS = 4096
};

typedef struct linefile linefile_t;

typedef struct linefile_place {
    uint64_t time_ns, number;
} linefile_place_t;

/* Which lines fit. */
typedef struct linefile_want {
    filter_t filter;
    bool panics;                     /* only failures of device code */
    bool slot_only;                  /* only those of one warp slot, and no failures: */
    uint32_t section, sm, slot, pid; /* pid 0: of whatever process */
} linefile_want_t;

/* Whether two say the same. */
bool linefile_want_same(const linefile_want_t *a, const linefile_want_t *b);

/* Asked between frames. Returns: whether to give up. */
typedef bool linefile_stop_fn(void *context);

/* The lines found, oldest first, and whether there are more that fit beyond the oldest, or the
 * newest. Owner: the caller. */
typedef struct linefile_list {
    uint32_t count;
    bool more;
    gpurt_model_line_t lines[LINEFILE_MOST];
} linefile_list_t;

gpurt_status_t linefile_open(const char *path, linefile_t **out, gpurt_error_t *err);
void linefile_close(linefile_t *f); /* NULL is allowed */

/* Looks for frames that were appended. Returns: whether there are more. */
bool linefile_refresh(linefile_t *f);

/* The last `most` lines that fit and do not come behind *end, or the first that do not come
 * before *begin. Returns: false when it was stopped, or without memory. */
bool linefile_before(linefile_t *f, const linefile_want_t *want,
                     const linefile_place_t *end, uint32_t most, linefile_stop_fn *stop,
                     void *context, linefile_list_t *out);
bool linefile_after(linefile_t *f, const linefile_want_t *want,
                    const linefile_place_t *begin, uint32_t most, linefile_stop_fn *stop,
                    void *context, linefile_list_t *out);

/* Looks through one frame more, for the count of lines that fit the filter and for panics; a new
 * filter begins anew. Returns: false when all are counted. */
bool linefile_survey(linefile_t *f, const filter_t *filter);
/* Lines that fit the filter of the survey, so far. */
uint64_t linefile_total(const linefile_t *f);
/* Lines that the filter could not judge, of those that the survey saw. */
const filter_tally_t *linefile_tally(const linefile_t *f);

/* Where panics lie, as far as the survey came: bit i stands for `width_ns` from first_ns +
 * i * width_ns on. */
typedef struct linefile_marks {
    uint64_t first_ns, width_ns; /* width 0: there are none */
    uint64_t bits[LINEFILE_MARKS / 64];
} linefile_marks_t;
const linefile_marks_t *linefile_marks(const linefile_t *f);

#endif
