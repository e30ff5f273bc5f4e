/* SPDX-License-Identifier: Apache-2.0 */
/* follow.h - when to stop waiting for more of a log that is not closed. Those who follow one
 * call it each time that they find nothing new; it says in a line on standard error what has
 * become of the writer. */
#ifndef GPURT_TUI_FOLLOW_H
#define GPURT_TUI_FOLLOW_H

#include "reader.h"

enum {
    FOLLOW_CUT = 3 /* the exit status of one that ended so */
};

/* Owner: the caller. The rest is zero at first. */
typedef struct follow {
    const char *program, *path; /* borrowed; for the line */
    uint64_t asked_ns;          /* monotonic */
    uint64_t dead_ns;           /* since when nobody is left; 0: somebody is */
    bool told;                  /* that no writer is there now */
} follow_t;

/* Context: after a look at the file that found nothing more. Returns: whether more may come;
 * false: it has been told that nothing does. */
bool follow_goes_on(follow_t *f, const gpurt_log_t *log);

/* For who has read it once: a line, where its writer did not come to its end. */
void follow_cut_tell(const char *program, const char *path, const gpurt_log_t *log);

#endif
