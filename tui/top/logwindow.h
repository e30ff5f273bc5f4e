/* SPDX-License-Identifier: Apache-2.0 */
/* logwindow.h - the lines of a log file that a screen shows of a replay, read on a thread of its
 * own: the last ones up to the moment, those around a place that was scrolled to, and what the
 * warp slot of a panic said before it. The screen says what it wants and draws what it has; what
 * comes makes a descriptor readable. */
#ifndef GPURT_TUI_LOGWINDOW_H
#define GPURT_TUI_LOGWINDOW_H

#include "linefile.h"

typedef enum logwindow_part {
    LOGWINDOW_TAIL,   /* up to the moment */
    LOGWINDOW_BROWSE, /* around `at`, or from the log's start */
    LOGWINDOW_NEAR,   /* before a panic */
    LOGWINDOW_PARTS
} logwindow_part_t;

typedef struct logwindow_wish {
    uint64_t until_ns;    /* nothing later */
    linefile_place_t at;  /* BROWSE: the line at the bottom */
    linefile_want_t want; /* slot_only: NEAR */
    logwindow_part_t part;
    bool from_start; /* BROWSE */
} logwindow_wish_t;

bool logwindow_wish_same(const logwindow_wish_t *a, const logwindow_wish_t *b);

/* What was found for a wish. */
typedef struct logwindow_lines {
    logwindow_wish_t wish;
    bool known;        /* something was */
    bool older, newer; /* there are more that fit, before and behind (up to the moment) */
    uint32_t count;    /* oldest first */
    gpurt_model_line_t lines[LINEFILE_MOST];
} logwindow_lines_t;

/* What the screen draws. Owner: the screen's thread. */
typedef struct logwindow_view {
    logwindow_lines_t parts[LOGWINDOW_PARTS];
    uint64_t total; /* lines of the file that fit `counted`'s filter, so far */
    bool all;       /* ... and all are counted */
    filter_t counted;
    filter_tally_t tally; /* likewise */
    linefile_marks_t marks;
} logwindow_view_t;

typedef struct logwindow logwindow_t;

gpurt_status_t logwindow_open(const char *path, logwindow_t **out, gpurt_error_t *err);
void logwindow_close(logwindow_t *w); /* NULL is allowed */

/* What is wanted now; the same as before costs nothing. */
void logwindow_ask(logwindow_t *w, const logwindow_wish_t *wish);
/* Looks for the first failure behind a moment, or the last before it. */
void logwindow_jump(logwindow_t *w, bool on, uint64_t from_ns);
/* Returns: whether an answer has come; it is given once. *time_ns: 0, there is none. */
bool logwindow_jumped(logwindow_t *w, uint64_t *time_ns);
/* Waits for what was asked last, and for the count of its lines. */
void logwindow_finish(logwindow_t *w);

/* Readable when there may be something new; logwindow_view takes that back. */
int logwindow_fd(const logwindow_t *w);
/* What there is; valid until the next call. */
const logwindow_view_t *logwindow_look(logwindow_t *w);

#endif
