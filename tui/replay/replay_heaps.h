/* SPDX-License-Identifier: Apache-2.0 */
/* replay_heaps.h - the heaps whose calls a log holds, and which of them is meant. Processes of
 * one log number their heaps each for itself, so a heap is a number of a process. */
#ifndef GPURT_TUI_REPLAY_HEAPS_H
#define GPURT_TUI_REPLAY_HEAPS_H

#include "reader.h"

enum {
    REPLAY_HEAPS = 1024 /* that are told apart */
};

/* What the user asked for. 0: any. */
typedef struct replay_wish {
    uint32_t heap, pid;
} replay_wish_t;

typedef struct replay_heap {
    uint32_t heap, program; /* program: as in rows */
    uint32_t pid;           /* 0: not known */
    uint64_t calls;
} replay_heap_t;

typedef struct replay_heaps {
    replay_heap_t list[REPLAY_HEAPS]; /* in the order of their first calls */
    uint32_t count;
    bool several; /* the log is of several processes */
} replay_heaps_t;

/* The heap of each lane's call in a row, by `lanes` words. Returns: NULL, it tells of no call, or
 * of one of many processes that have no number. */
const uint32_t *replay_row_calls(const gpurt_row_t *row, uint32_t *lanes);

/* Heaps with calls; where a number is wished for those of that number alone. */
void replay_heaps_read(gpurt_log_t *log, const replay_wish_t *wish, replay_heaps_t *out);

/* The failure that there is none. */
gpurt_status_t replay_heaps_none(gpurt_error_t *err);

/* The one that is meant; of several the one with most calls, but a number that several processes
 * have is refused, and they are named. Returns: GPURT_E_INVALID: there is none, or no choice. */
gpurt_status_t replay_heaps_choose(const replay_heaps_t *heaps, const replay_wish_t *wish,
                                   replay_heap_t *out, gpurt_error_t *err);

#endif
