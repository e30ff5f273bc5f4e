/* SPDX-License-Identifier: Apache-2.0 */
/* top_batch.h - gpurt-top without a screen: plain pictures, or JSON objects, one after
 * another. */
#ifndef GPURT_TUI_TOP_BATCH_H
#define GPURT_TUI_TOP_BATCH_H

#include "besidelog.h"
#include "option.h"
#include "top_loop.h"

typedef struct batch_plan {
    const gpurt_option_program_t *program; /* in whose name it speaks */
    besidelog_t output;                    /* of no file: as batch_takes_stdout says */
    bool json, once;
    bool view;         /* the picture's view, not the overview */
    uint64_t pictures; /* 0: to the end */
    uint64_t delay_ns; /* 0: a second */
} batch_plan_t;

/* JSON of a program that we run goes to standard output, where programs read it: what the
 * program prints there goes to standard error then. Plain pictures are for people, and go to
 * standard error themselves. */
bool batch_takes_stdout(const batch_plan_t *plan, bool launched);

/* Prints until the end, and closes the output. Returns: 0, or the status to exit with. */
int batch_run(top_t *t, batch_plan_t *plan);

#endif
