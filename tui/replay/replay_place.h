/* SPDX-License-Identifier: Apache-2.0 */
/* replay_place.h - what a policy serves requests from: a heap, a region, pools above a heap,
 * arenas that grow from one. Each is made anew for a round and ended after it.
 *
 * All that differs between policies is in here and in the kernel that each one names. */
#ifndef GPURT_TUI_REPLAY_PLACE_H
#define GPURT_TUI_REPLAY_PLACE_H

#include "replay_kernels.h"

#include <gpurt/gpurt.h>

enum {
    REPLAY_POLICIES = 8
};

/* What a place is made of. 0: by itself. */
typedef struct replay_shape {
    uint64_t bytes;                      /* of device memory, tables included */
    uint32_t shards, spread, run_chunks; /* of a heap */
    uint64_t granule;                    /* of a region */
    uint32_t piece_bytes;                /* of an arena */
} replay_shape_t;

/* What it is like at a moment. */
typedef struct replay_measure {
    uint64_t used;                /* bytes that nobody else can have */
    uint64_t free_bytes, longest; /* of free rows: all, the longest */
    uint64_t faults;              /* frees and guards that it found wrong */
    uint64_t got[GPURT_PLACES];   /* objects by the pool that served them */
} replay_measure_t;

typedef struct replay_policy replay_policy_t;

/* Owner: who made it. */
typedef struct replay_place {
    const replay_policy_t *policy;
    gpurt_t *rt;
    struct replay_args *args; /* the caller's: heap, region or arenas are put into it */
} replay_place_t;

struct replay_policy {
    const char *name, *about; /* a line */
    const gpurt_kernel_t *step;
    uint32_t calls;  /* that a lane makes, one after the other */
    uint32_t fit;    /* of a region, gpurt_region_fit_t */
    uint32_t checks; /* of a heap, GPURT_CHECKS_* */
    gpurt_status_t (*make)(replay_place_t *, const replay_shape_t *, gpurt_error_t *);
    gpurt_status_t (*measure)(replay_place_t *, replay_measure_t *, gpurt_error_t *);
    gpurt_status_t (*check)(replay_place_t *, gpurt_error_t *); /* all of its tables */
    gpurt_status_t (*end)(replay_place_t *, gpurt_error_t *);   /* half made, too */
};

extern const replay_policy_t replay_policies[REPLAY_POLICIES]; /* the heap is the first */

/* Returns: NULL when there is none of that name. */
const replay_policy_t *replay_policy_find(const char *name, size_t length);

/* arena_count, arenas and marks are the caller's. */
gpurt_status_t replay_place_make(replay_place_t *place, const replay_policy_t *policy,
                                 gpurt_t *rt, const replay_shape_t *shape,
                                 struct replay_args *args, gpurt_error_t *err);

#endif
