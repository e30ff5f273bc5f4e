/* SPDX-License-Identifier: Apache-2.0 */
/* top_leave.h - the screen goes and the program goes on: a process of ours stays with it, which
 * writes on what --record began and what the program prints. */
#ifndef GPURT_TUI_TOP_LEAVE_H
#define GPURT_TUI_TOP_LEAVE_H

#include "option.h"
#include "top_loop.h"

typedef struct leave_plan {
    const gpurt_option_program_t *program; /* in whose name it speaks */
    const char *name;                      /* of the watched program */
    const char *log;                       /* NULL: nothing is recorded */
    const char *on_panic;                  /* --exec-on-panic; NULL: none */
} leave_plan_t;

/* The screen is closed, the program runs. Says in one line who goes on and where its output and
 * its log go, and ends the process that was called, with 0. Comes back in the process that
 * stays, when the program has ended and all is written. Returns: the status to exit with. */
int top_leave(top_t *t, const leave_plan_t *plan);

#endif
