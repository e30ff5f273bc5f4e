/* SPDX-License-Identifier: Apache-2.0 */
/* executoreyes.h - what looks at an executor remember from one to the next, and what they find: how
 * its multiprocessors fared (executorview.c), its kinds of tasks (kindview.c) and groups (groupview.c),
 * and tasks that do not come on (stuckview.c). Kernels notice nothing of it.
 *
 * Context: host, under the viewer's lock. */
#ifndef GPURT_HOST_EXECUTOREYES_H
#define GPURT_HOST_EXECUTOREYES_H

#include "executorown.h"
#include "watch.h"

enum {
    GPURT_EYES_STUCK = 16,    /* tasks that are told of at a time */
    GPURT_EYES_KIND = 6,      /* values of a kind */
    GPURT_EYES_GROUP = 7,     /* of a group */
    GPURT_EYES_ROWS = 1 << 18 /* of a pool that is searched for who waits: 16 MiB */
};

/* What its device memory held at this look. In the viewer's buffer. */
typedef struct gpurt_executor_seen {
    const gpurt_executor_words_t *words;
    const gpurt_executor_block_t *blocks;
    const gpurt_executor_warp_t *warps;
    const uint32_t *moves;
    uint64_t now_ns;
    bool due; /* also what did not change is told */
    uint32_t ready, live,
        running;    /* tasks, those that sleep too; warps that are in a body */
    uint32_t timed; /* of ready: tasks that sleep */
} gpurt_executor_seen_t;

/* The body of a warp that was seen last. */
typedef struct gpurt_eye_warp {
    uint64_t word; /* gpurt_warp_word */
    uint64_t since_ns;
} gpurt_eye_warp_t;

/* Cycles of a block at the look before. */
typedef struct gpurt_eye_block {
    uint64_t useful, waiting, total;
} gpurt_eye_block_t;

/* Why a task does not come on. Their names: stuckview.c. */
typedef enum gpurt_stuck_why {
    GPURT_STUCK_RUNS,     /* its body runs, and comes to no end */
    GPURT_STUCK_HELD,     /* nobody has started it */
    GPURT_STUCK_CHILDREN, /* it waits for its children */
    GPURT_STUCK_AFTER,    /* it waits for another task */
    GPURT_STUCK_SLEEPS    /* it looks again and again, and another task waits for it */
} gpurt_stuck_why_t;

typedef struct gpurt_stuck {
    uint32_t row; /* + 1; 0: none */
    uint32_t generation;
    uint32_t id; /* of the object that tells of it */
    uint32_t why, function, level;
    uint32_t block, warp, sm; /* of one that runs */
    uint32_t for_row;         /* + 1, that it waits for; 0: not known, or none */
    uint32_t awaited;         /* tasks that wait for it */
    uint64_t since_ns;
} gpurt_stuck_t;

/* Owner: the executor's own, from gpurt_executorview_begin to its end. */
typedef struct gpurt_executor_eyes {
    gpurt_eye_warp_t *warps;
    gpurt_eye_block_t *blocks;
    uint64_t quiet_ns; /* since when tasks live, and none is ready or runs; 0: not so */
    uint32_t kind_id;  /* of the object of the first kind */
    uint32_t kinds_told;
    uint64_t kinds[GPURT_TASK_KINDS][GPURT_EYES_KIND]; /* as they were told last */
    uint32_t group_id;                                 /* of the object of group 1 */
    uint64_t groups[GPURT_TASK_GROUPS][GPURT_EYES_GROUP],
        groups_ns; /* likewise, and when */
    gpurt_stuck_t stuck[GPURT_EYES_STUCK];
    struct gpurt_taskwaits *waits; /* taskwaits.c; NULL: none yet */
} gpurt_executor_eyes_t;

/* Whether a warp is in a body, and the row of its task. */
static inline bool gpurt_eye_runs(const gpurt_executor_warp_t *w, uint32_t *row)
{
    uint32_t begun = gpurt_warp_begun(w->xat);
    const gpurt_task_held_t *held = &w->held[begun ? begun - 1 : 0];

    *row = held->xindex;
    return begun && begun <= w->xcount && begun <= GPURT_TASK_BATCH &&
           held->xstatus >= GPURT_TASK_PENDING && held->xstatus <= GPURT_TASK_GATHERED &&
           held->xindex != GPURT_TASK_NONE;
}

/* Device memory that kernels also write plainly, as warps, rows and edges are: each word of it is as
 * it was at some moment, so a number is checked before it is followed. */
bool gpurt_eyes_fetch(gpurt_viewer_t *v, const gpurt_executor_own_t *e, void *to,
                      const void *from, size_t bytes);
/* The name of a function, as a value of a field. */
uint64_t gpurt_eyes_kind(gpurt_viewer_t *v, const gpurt_executor_own_t *e,
                         uint32_t function);

/* kindview.c: an object a kind that has run. */
void gpurt_kindview_look(gpurt_viewer_t *v, const gpurt_executor_own_t *e,
                         const gpurt_executor_seen_t *seen);
void gpurt_kindview_end(gpurt_viewer_t *v, const gpurt_executor_own_t *e);

/* groupview.c: an object a group. */
void gpurt_groupview_look(gpurt_viewer_t *v, const gpurt_executor_own_t *e,
                          const gpurt_executor_seen_t *seen,
                          const gpurt_executor_group_t *groups);
void gpurt_groupview_end(gpurt_viewer_t *v, const gpurt_executor_own_t *e);

/* stuckview.c: an object a task that does not come on. Returns: how many are told of. */
uint32_t gpurt_stuckview_look(gpurt_viewer_t *v, const gpurt_executor_own_t *e,
                              const gpurt_executor_seen_t *seen);
void gpurt_stuckview_end(gpurt_viewer_t *v, const gpurt_executor_own_t *e);

#endif
