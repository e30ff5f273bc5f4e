/* SPDX-License-Identifier: Apache-2.0 */
/* hunt.h - runs trials over a range of seeds, several at once, and keeps the smallest seed
 * that fails. Prints nothing but a progress line, on a terminal. */
#ifndef GPURT_TUI_HUNT_H
#define GPURT_TUI_HUNT_H

#include "trial.h"

/* Numbers in the order they came. Owner: the hunt. */
typedef struct hunt_list {
    uint64_t *items;
    size_t count, capacity;
} hunt_list_t;

enum {
    HUNT_JOBS_MAX = 128
};

typedef enum hunt_replay {
    HUNT_REPLAY_NONE,  /* nothing failed, or the user stopped before */
    HUNT_REPLAY_SAME,  /* the same end, and the same schedule if the runtime told one */
    HUNT_REPLAY_OTHER, /* see hunt_t.replay */
} hunt_replay_t;

typedef struct hunt {
    /* to be filled before hunt_run */
    trial_plan_t plan;
    uint64_t first, count;
    unsigned jobs; /* 1 to HUNT_JOBS_MAX */
    bool keep_going, show_progress;

    /* what came of it */
    uint64_t ran, passed, skipped;
    uint64_t unreported; /* of those that passed: without a word of the runtime */
    uint64_t told;       /* of those that ran: the runtime told its schedule */
    uint64_t schedules;  /* different ones among them */
    hunt_list_t failing; /* seeds, sorted */
    bool not_replayable; /* the runtime said so of some run */
    bool found;
    trial_t best, replay; /* the smallest seed that failed, if found; its second run */
    hunt_replay_t replayed;
    const char *refused;
    int stop_signal; /* 0, or what ended the hunt early */
    uint64_t wall_ns;

    /* inside */
    char directory[PATH_MAX];
    child_watch_t watch;
    trial_t *slots; /* jobs of them */
    hunt_list_t hashes;
    uint64_t next, shown_ns;
} hunt_t;

/* Returns: 0, or errno when a run could not be started; `refused` is the file it is
 * about. */
int hunt_run(hunt_t *hunt);
void hunt_fini(hunt_t *hunt);

#endif
