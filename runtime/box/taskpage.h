/* SPDX-License-Identifier: Apache-2.0 */
/* taskpage.h - tasks of executors in the state pages of the host's section, behind its threads: tasks
 * that wait, and for what. A task that waits has no lane which could tell it, so the thread that looks
 * at executors derives it from their tables (runtime/host/sched/taskwaits.c).
 *
 * A wait is an entry (waitentry.h). Who looks takes back all that changed before it tells what is new: so a
 * reader sees a part of one look at an executor, and never a mixture of two. What it sees is as old as that
 * look, while lanes and owners are as they are now: so the time of the look stands beside (waitgraph.c). */
#ifndef GPURT_TASKPAGE_H
#define GPURT_TASKPAGE_H

#include "waitentry.h"

enum {
    GPURT_TASKPAGE_WAITS = 128, /* tasks that are told of at once, of a process */
    GPURT_TASKPAGE_LOOKS = 64, /* executors by their numbers, some of which share a place */
    GPURT_TASKWAIT_FOR = 4,    /* tasks that one waits for, of those that are told */
    GPURT_TASKWAIT_NAME = 24
};

/* Why a task does not go on. Numbers are frozen. */
typedef enum gpurt_taskwait_why {
    GPURT_TASKWAIT_RUNS = 0,     /* its body runs: its lanes may wait */
    GPURT_TASKWAIT_HELD = 1,     /* nobody has started it */
    GPURT_TASKWAIT_CHILDREN = 2, /* for its children */
    GPURT_TASKWAIT_AFTER = 3,    /* for tasks that come before it */
    GPURT_TASKWAIT_OBJECT = 4,   /* its body has told: for a task lock, a channel, a word */
    GPURT_TASKWAIT_WHYS = 5
} gpurt_taskwait_why_t;

/* A wait. The name is cut, and terminated. */
typedef struct gpurt_taskwait {
    uint32_t since[2]; /* real time, low half first */
    uint32_t executor; /* as the process counts */
    uint32_t row, generation;
    uint16_t site,
        number;      /* in the device's section: its line; the object, 0 without a name */
    uint8_t section; /* of the device */
    uint8_t why;
    uint8_t reason;                       /* GPURT_WAIT_* */
    uint8_t warp;                         /* of one that runs, as the next two */
    uint32_t block, sm;                   /* its multiprocessor */
    uint32_t for_row[GPURT_TASKWAIT_FOR]; /* + 1; 0: none */
    uint32_t awaited;                     /* tasks that wait for it */
    uint32_t others;                      /* tasks it waits for beside those */
    char name[GPURT_TASKWAIT_NAME];
} gpurt_taskwait_t;
GPURT_STATIC_ASSERT(sizeof(gpurt_taskwait_t) == GPURT_WAITENTRY_BYTES,
                    "what an entry holds");

typedef struct gpurt_taskpage {
    uint32_t
        xleft_out; /* tasks that wait and have no entry; written by: the viewer's thread */
    uint32_t reserved[31];
    uint64_t
        xlooked[GPURT_TASKPAGE_LOOKS]; /* real time, by executor; written by: likewise */
    gpurt_waitentry_t waits[GPURT_TASKPAGE_WAITS];
} gpurt_taskpage_t;

/* ---- the application's -------------------------------------------------------------------- */
/* Returns: the entry, from 1; 0: there is no room. */
uint32_t gpurt_taskpage_begin(gpurt_taskpage_t *page, const gpurt_taskwait_t *wait);
void gpurt_taskpage_end(gpurt_taskpage_t *page, uint32_t entry); /* 0: nothing */
void gpurt_taskpage_left(gpurt_taskpage_t *page, uint32_t more); /* modulo 2^32: or less */
/* Behind the entries of a look that began then. */
void gpurt_taskpage_looked(gpurt_taskpage_t *page, uint32_t executor, uint64_t real_ns);

/* ---- a reader's; index must be below its count -------------------------------------------- */
/* Returns: false, no task is told of there. */
bool gpurt_taskpage_wait(const gpurt_taskpage_t *page, uint32_t index,
                         gpurt_taskwait_t *out);
uint32_t gpurt_taskpage_left_out(const gpurt_taskpage_t *page);
/* Context: before the entries are read. */
uint64_t gpurt_taskpage_look_of(const gpurt_taskpage_t *page, uint32_t executor);

#endif
