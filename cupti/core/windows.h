/* SPDX-License-Identifier: Apache-2.0 */
/* windows.h - records of kernels, copies and fills in windows of time alone, so that they cost
 * a program no more than it was given (GPURT_CUPTI=windows, GPURT_CUPTI_BUDGET in percent). Launches
 * are counted all the time, so what a window costs is seen: launches a second in it and beside it.
 *
 *   on         |window|                         |window|
 *   off |slice|        | behind |   ...   |slice|        | behind |
 *
 * A window, and the time behind it, in which CUPTI still works for it, are compared with the slices on both
 * sides, and the pause between two windows is as long as the sums of the last ones ask for.
 *
 * Graphs have no records: turned on in windows they end the program, turned on for good they slow each
 * launch of a kernel down, too. Their nodes' records are of no use: in windows CUPTI gives them
 * times of many milliseconds. A thread of its own calls CUPTI, which may not come back. */
#ifndef GPURT_CUPTI_WINDOWS_H
#define GPURT_CUPTI_WINDOWS_H

#include "cupti_api.h"

#include <stdbool.h>

/* Whether windows turn such records on and off. */
bool windows_turn(CUpti_ActivityKind kind);

/* What was asked for, too. */
typedef struct windows_beside {
    bool lines;  /* CUPTI does not take records in windows beside them */
    bool whole;  /* records that windows would turn off */
    bool graphs; /* all the time */
} windows_beside_t;

/* The first window opens once launches have been counted for as long, if there is room: what the first
 * one costs, stays. Context: once, behind `counted`; CUDA starts. */
void windows_want(const cupti_api_t *api, windows_beside_t beside);

/* Whether such a record is of a node of a graph, and not to be believed. Context: the reader. */
bool windows_spoil(const CUpti_Activity *record);

/* A call of CUPTI's has not come back for seconds. Context: any thread. */
bool windows_stuck(void);

void windows_stop(void);

/* ---- the plan, which knows no CUPTI -------------------------------------------------------- */

enum {
    WINDOWS_MS = 200,
    WINDOWS_BEHIND_MS = 400,    /* in which what a window costs shows still */
    WINDOWS_PAUSE_LEAST = 600,  /* ms */
    WINDOWS_PAUSE_MOST = 60000, /* likewise */
    WINDOWS_PAST = 8            /* windows whose sums count */
};

/* Launches in a stretch of time, and what it took to count and to watch some of them. by_cupti: CUPTI
 * tells of each, and none is timed. */
typedef struct windows_slice {
    uint64_t ns, launches;
    uint64_t counting_ns, counted, watching_ns, watched;
    bool by_cupti;
} windows_slice_t;

/* In millionths of the program's time. Owner: who plans, and says `opened`; zeroed at first, but for
 * `budget`. */
typedef struct windows_plan {
    uint32_t budget;
    bool opened; /* records were on once: `stays` is paid from then on */
    uint32_t stays;
    uint32_t
        counting; /* what counting costs, all the time, and watching, unless it is too much */
    uint32_t watch_ns; /* of a launch, as it was last seen */
    bool unwatched;    /* to watch what runs alone would break the budget */
    uint32_t known; /* what records cost at most, in a window, by the number of launches */
    uint32_t slowdown; /* what they do cost there */
    uint32_t count;    /* windows so far */
    struct {
        double launches, expected;
    } past[WINDOWS_PAST];
} windows_plan_t;

/* How often the program launches. */
void windows_plan_see(windows_plan_t *p, const windows_slice_t *slice);
/* One window, the time behind it, and what lay on both sides of these. */
void windows_plan_learn(windows_plan_t *p, const windows_slice_t *window,
                        const windows_slice_t *behind, const windows_slice_t *beside);
/* Returns: ms between two windows; 0: the budget has no room for any. */
uint32_t windows_plan_pause(const windows_plan_t *p);
/* What counting and windows with such pauses cost; pause 0: without windows. */
uint32_t windows_plan_cost(const windows_plan_t *p, uint32_t pause_ms);

#endif
