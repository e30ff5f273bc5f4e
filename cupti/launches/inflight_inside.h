/* SPDX-License-Identifier: Apache-2.0 */
/* inflight_inside.h - the rows of inflight.h, for those who tell of them (runninglook.h). */
#ifndef GPURT_CUPTI_INFLIGHT_INSIDE_H
#define GPURT_CUPTI_INFLIGHT_INSIDE_H

#include "inflight.h"

enum {
    INFLIGHT_SLOTS = 16384,
    INFLIGHT_OLD = 4096 /* of them that are looked at */
};

/* Two lines of the cache. */
typedef struct inflight_row {
    uint32_t number GPURT_ALIGN(128); /* 0: free */
    uint32_t order; /* from 1 on, as they came back; 0: it is being made */
    uint32_t thread, device, graph;
    uint32_t index;   /* of its stream, 0: not counted */
    uint32_t callers; /* number of its stack, 0: not known */
    uint64_t self;    /* pthread_self */
    uint32_t grid[3], block[3];
    uint64_t ns;              /* real time */
    const launchname_t *name; /* NULL: a graph */
    inflight_key_t key;
} inflight_row_t;

bool inflight_same(const inflight_key_t *a, const inflight_key_t *b);

/* Launches that are older than `ms` and have not ended, by stream, the oldest first. Returns: how
 * many. Context: any thread, each with a list of its own. */
uint32_t inflight_old(inflight_row_t old[INFLIGHT_OLD], uint64_t now_ns, uint32_t ms);

/* All launches of a stream, young ones too. */
uint32_t inflight_count(const inflight_key_t *stream);

/* How many found no room. */
uint64_t inflight_missed(void);

#endif
