/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - one run of a program under one seed: what it is started with, how it ended, and
 * the command that does it again.
 *
 * The runtime inside the program reads the seed from the environment and, when it fails or
 * closes, leaves what it knows in the file that GPURT_CHECK_REPORT names: lines "key
 * value", then "report" and free text. */
#ifndef GPURT_TUI_TRIAL_H
#define GPURT_TUI_TRIAL_H

#include "child.h"
#include "target.h"

#include <stdio.h>

typedef enum trial_schedule {
    TRIAL_SCHEDULE_MIXED, /* every fifth seed PCT, the others random */
    TRIAL_SCHEDULE_RANDOM,
    TRIAL_SCHEDULE_PCT,
} trial_schedule_t;

/* The same for all trials. Owner: the caller; borrowed while trials run. */
typedef struct trial_plan {
    const target_t *target;
    char **argv;           /* of the program, argv[0] included */
    const char *directory; /* for report files: absolute, ours alone */
    uint64_t timeout_ns;
    uint32_t schedule; /* trial_schedule_t */
    bool strict;       /* the runtime reports suspicious synchronisation too */
    bool trust_exit;   /* an exit status of 0 is good whatever the runtime said */
    bool allow_panics; /* a panic is no failure */
} trial_plan_t;

/* What the runtime left behind. */
typedef struct trial_report {
    bool written, has_hash;
    char status[48]; /* GPURT_E_DEADLOCK; "" */
    char replayable[8];
    uint64_t hash, switches;
    uint64_t panics; /* in kernels, so far */
    char *text;      /* heap, or NULL */
} trial_report_t;

typedef enum trial_end {
    TRIAL_PASSED,
    TRIAL_SKIPPED, /* ended with 77 */
    TRIAL_EXIT,    /* ended with another status */
    TRIAL_SIGNAL,
    TRIAL_LATE,
    TRIAL_SWALLOWED, /* ended with 0 though a launch failed or a sanitizer reported */
    TRIAL_PANICKED,  /* ended with 0 though a kernel panicked */
} trial_end_t;

typedef struct trial {
    const trial_plan_t *plan;
    uint64_t seed;
    child_t child;
    char file[PATH_MAX]; /* GPURT_CHECK_REPORT */
    trial_end_t end;
    int code; /* exit status, or signal */
    trial_report_t report;
    const char *sanitizer; /* "ThreadSanitizer", or NULL */
    size_t sanitizer_at;   /* where its report begins in child.err */
} trial_t;

/* How the trial's schedule is called in GPURT_SCHEDULE. */
const char *trial_schedule_name(const trial_plan_t *plan, uint64_t seed);

/* Starts it; `number` keeps report files of trials that run at once apart.
 * Returns: 0 or errno. */
int trial_start(trial_t *trial, const trial_plan_t *plan, uint64_t seed, unsigned number,
                const child_watch_t *watch);

/* The child has ended: reads what there is to read and decides. */
void trial_judge(trial_t *trial);

static inline bool trial_failed(const trial_t *trial)
{
    return trial->end > TRIAL_SKIPPED;
}

/* Whether two runs of one seed went the same way, as far as can be seen. */
bool trial_same(const trial_t *a, const trial_t *b);

/* "exit status 3, GPURT_E_DEADLOCK" */
void trial_describe(const trial_t *trial, char *text, size_t bytes);

/* A line for a shell; with `gdb`, the same in the debugger. */
void trial_put_command(const trial_t *trial, bool gdb, FILE *out);

void trial_fini(trial_t *trial);

#endif
