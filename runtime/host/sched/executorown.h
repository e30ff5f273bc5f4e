/* SPDX-License-Identifier: Apache-2.0 */
/* executorown.h - what the host keeps of an executor (executors.h). executor.c has its life,
 * executormake.c its memory, executororder.c what the host asks of it, executormoves.c which tasks went
 * from one multiprocessor to another. */
#ifndef GPURT_HOST_EXECUTOROWN_H
#define GPURT_HOST_EXECUTOROWN_H

#include <gpurt/executors.h>

#include "process.h"

/* Owner: static storage; a slot is used again when its executor was closed and no call is in it.
 * Constant while it is open, but for what says otherwise. */
typedef struct gpurt_executor_own {
    /* under the table's lock */
    uint32_t generation, process, users; /* process: of which fork */
    bool open, busy;                     /* busy: open, being opened or closed */

    uint32_t xclosing; /* 1: waits are to end; written by: the closer */
    gpurt_t *rt;
    uint32_t id; /* counted from 1, in the process */
    bool on_cpu;
    gpurt_service_t service;
    gpurt_stream_t stream; /* of its own, to write and read the device's memory */
    uint32_t blocks, warps, record_count;
    bool slices;             /* the log is told of bodies one by one */
    bool told;               /* bodies say what they wait for (taskwaits.c) */
    uint32_t stuck_ms;       /* a task that does not come on for so long is told of */
    gpurt_task_list_t kinds; /* of the program's */
    struct gpurt_executor_eyes *eyes; /* under the viewer's lock; NULL: nobody looks */
    gpurt_executor_map_t map;
    void *memory, *host; /* the device's, and what both sides reach */
    char name[GPURT_SERVICE_NAME];

    gpurt_lock_t post; /* for the next */
    uint32_t posted, taken, free_count;
    uint32_t xquotas[GPURT_TASK_GROUPS];  /* percent; written by: who has the lock */
    uint32_t *free_records, *record_uses; /* uses: odd, it is in use */
    bool *record_held;                    /* its task is held, and not started */

    gpurt_lock_t drain; /* one at a time */
    uint32_t drains;
} gpurt_executor_own_t;

/* Until it is let go, it stays. Returns: NULL with err filled in. */
gpurt_executor_own_t *gpurt_executor_hold(gpurt_t *rt, gpurt_executor_t x,
                                          gpurt_status_t *st, gpurt_error_t *err);
void gpurt_executor_let(gpurt_executor_own_t *e);

/* executormake.c: memory of a map whose counts are filled in, and what is in it at first. */
gpurt_status_t gpurt_executor_make(gpurt_executor_own_t *e, gpurt_error_t *err);
/* Accepts one that is half made. */
void gpurt_executor_unmake(gpurt_executor_own_t *e);

/* Words and blocks to `to`; kernels may write them meanwhile. */
gpurt_status_t gpurt_executor_fetch(gpurt_executor_own_t *e, void *to, const void *from,
                                    size_t bytes, gpurt_error_t *err);
/* executormoves.c: words for a count of each pair of multiprocessors. */
size_t gpurt_executor_moves_bytes(const gpurt_executor_map_t *m);

/* Of one pair. */
typedef struct gpurt_executor_pair {
    uint32_t tasks, from, to;
} gpurt_executor_pair_t;

/* The pairs of most tasks, the first of all first. Returns: how many, `most` at most. */
uint32_t gpurt_executor_moves_most(const uint32_t *moves, uint32_t sms,
                                   gpurt_executor_pair_t *pairs, uint32_t most);

/* blocks: of all. */
void gpurt_executor_sum(const gpurt_executor_own_t *e, const gpurt_executor_words_t *words,
                        const gpurt_executor_block_t *blocks, gpurt_executor_status_t *out);

#endif
