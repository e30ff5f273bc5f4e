/* SPDX-License-Identifier: Apache-2.0 */
/* waitgraph.h - who waits for whom in device code: the state pages of a box (state.h) as a
 * snapshot that stands by itself, and what follows from it.
 *
 * A wait is lanes of one warp that wait for the same at the same place. It is *stuck* when
 * whoever it waits for is: one of them where all must come (a lock, a barrier), each of
 * them where any would do (a channel's senders, a word). What is stuck at the end of this
 * reasoning can never go on, as far as what the lanes said of themselves is true; waits
 * whose blockers are not known, or run, are not stuck.
 *
 * A thread of the host may wait, too (threadpage.h), and a task of an executor that has no warp
 * (taskpage.h). A task whose body runs counts as a wait for the lanes that run it. */
#ifndef GPURT_LOG_WAITGRAPH_H
#define GPURT_LOG_WAITGRAPH_H

#include "boxmap.h"

enum {
    GPURT_WAITS_MAX = 2048, /* of a snapshot; more are counted */
    GPURT_WAIT_OBJECTS_MAX = 1024,
    GPURT_WAIT_SITES_MAX = 256,
    GPURT_WAIT_THREADS_MAX = GPURT_THREADPAGE_WAITS,
    GPURT_WAIT_TASKS_MAX = GPURT_TASKPAGE_WAITS,
    GPURT_WAIT_THREADS = 1 << 26, /* rings from here on are threads of the host */
    GPURT_WAIT_TASKS = (GPURT_STATE_TASKS - 1u) / GPURT_WARP_SIZE, /* ... are tasks */
    GPURT_WAIT_FILE = 120,
    GPURT_WAIT_TEXT = 60
};
#define GPURT_WAIT_NOBODY UINT32_MAX

/* Fixed-width, because a snapshot is kept in logs. Texts are terminated. */
typedef struct gpurt_wait_site {
    uint32_t section, number, line;
    char file[GPURT_WAIT_FILE], text[GPURT_WAIT_TEXT];
    uint32_t reserved;
} gpurt_wait_site_t;

typedef struct gpurt_wait_owner {
    uint32_t place; /* ring * 32 + lane, plus one; 0: nobody */
    uint32_t block, warp;
    uint32_t site;    /* index, where it was taken; GPURT_WAIT_NOBODY: not known */
    uint32_t at_site; /* likewise, where the holder was seen last */
    uint32_t gone;    /* another block has the holder's place by now */
    uint64_t since_ns, at_ns;
} gpurt_wait_owner_t;

typedef struct gpurt_wait_object {
    uint32_t section, number, kind, index;
    char name[GPURT_WAIT_TEXT + 4];
    gpurt_wait_owner_t owners[GPURT_STATE_OWNERS];
} gpurt_wait_object_t;

/* Of a thread of the host: ring is GPURT_WAIT_THREADS and its index among threads, block is its number,
 * section is that of the lanes that know what it waits at. An owner that is one has that ring's place,
 * without the index. Of a task: ring is GPURT_WAIT_TASKS and its index among tasks. An owner that is one
 * has its row as block, and the low half of its generation as warp (state.h). */
typedef struct gpurt_wait {
    uint32_t section, ring, sm, slot;
    uint32_t block, warp, mask;
    uint32_t reason, launch;
    uint32_t number; /* of the object, as state.h counts; 0: without a name */
    uint32_t object; /* index; GPURT_WAIT_NOBODY: none */
    uint32_t site;   /* index; GPURT_WAIT_NOBODY: not known */
    uint64_t since_ns;
} gpurt_wait_t;

typedef struct gpurt_wait_thread {
    uint32_t number;  /* as the kernel counts */
    uint32_t limited; /* its wait ends by itself: it is never stuck */
    char name[GPURT_THREAD_NAME];
} gpurt_wait_thread_t;

typedef struct gpurt_wait_task {
    uint64_t looked_ns; /* real time: as it was then */
    uint32_t executor, row, generation;
    uint32_t why;                         /* gpurt_taskwait_why_t */
    uint32_t block, warp, sm;             /* of one that runs */
    uint32_t for_row[GPURT_TASKWAIT_FOR]; /* + 1, tasks that it waits for; 0: none */
    uint32_t awaited, others; /* tasks: that wait for it, that it waits for as well */
    char name[GPURT_TASKWAIT_NAME];
    uint32_t reserved;
} gpurt_wait_task_t;

/* Owner: the caller. Zeroed it is empty. */
typedef struct gpurt_waits {
    uint64_t time_ns; /* real time of the look */
    uint32_t count, object_count, site_count, thread_count, task_count;
    uint32_t left_out; /* waits for which there was no room */
    uint32_t young;    /* lanes left out of the look, for they wait too shortly */
    gpurt_wait_t *waits;
    gpurt_wait_object_t *objects;
    gpurt_wait_site_t *sites;
    gpurt_wait_thread_t *threads;
    gpurt_wait_task_t *tasks;
} gpurt_waits_t;

/* Returns: NULL, it is no thread's; no task's. */
static inline const gpurt_wait_thread_t *gpurt_wait_thread(const gpurt_waits_t *w,
                                                           const gpurt_wait_t *wait)
{
    return wait->ring >= GPURT_WAIT_THREADS && wait->ring < GPURT_WAIT_TASKS
               ? &w->threads[wait->ring - GPURT_WAIT_THREADS]
               : NULL;
}
static inline const gpurt_wait_task_t *gpurt_wait_task(const gpurt_waits_t *w,
                                                       const gpurt_wait_t *wait)
{
    return wait->ring >= GPURT_WAIT_TASKS ? &w->tasks[wait->ring - GPURT_WAIT_TASKS] : NULL;
}
static inline bool gpurt_wait_owner_is_task(const gpurt_wait_owner_t *o)
{
    return o->place >= GPURT_STATE_TASKS;
}
static inline bool gpurt_wait_owner_is_thread(const gpurt_wait_owner_t *o)
{
    return o->place && (o->place - 1) / GPURT_WARP_SIZE >= GPURT_WAIT_THREADS &&
           !gpurt_wait_owner_is_task(o);
}

/* waitlook.c: what stands in a box now. min_ns: younger waits are left out, and count as
 * running. Allocates on the first call for an `out`. */
gpurt_status_t gpurt_waits_look(const gpurt_boxmap_t *map, uint64_t now_ns, uint64_t min_ns,
                                gpurt_waits_t *out, gpurt_error_t *err);
void gpurt_waits_fini(gpurt_waits_t *waits);

/* As bytes and back, for logs: *bytes is the caller's, to be freed. A damaged one is
 * refused. */
gpurt_status_t gpurt_waits_pack(const gpurt_waits_t *waits, void **bytes, size_t *size,
                                gpurt_error_t *err);
gpurt_status_t gpurt_waits_unpack(const void *bytes, size_t size, gpurt_waits_t *out,
                                  gpurt_error_t *err);

/* What follows. Owner: the caller. */
typedef struct gpurt_waitgraph {
    const gpurt_waits_t *waits; /* borrowed */
    uint8_t *stuck;             /* of each wait */
    uint32_t *next;             /* of a stuck one: a stuck wait that it waits for */
    uint32_t *circle;           /* number of the circle it is in, from 1; 0: none */
    uint32_t stuck_count, circles;
    uint64_t hash; /* of what is stuck where: the same deadlock, the same number */
} gpurt_waitgraph_t;

gpurt_status_t gpurt_waitgraph_make(const gpurt_waits_t *waits, gpurt_waitgraph_t *out,
                                    gpurt_error_t *err);
void gpurt_waitgraph_fini(gpurt_waitgraph_t *g);

/* Who keeps a wait waiting: waits of others, and holders that do not wait. Calls `each`
 * for every one; j: index of their wait, or GPURT_WAIT_NOBODY; owner: NULL where nobody
 * holds the object (a barrier that misses others, a task that waits for another one). */
typedef void gpurt_blocker_fn(void *context, uint32_t j, const gpurt_wait_owner_t *owner);
void gpurt_waits_blockers(const gpurt_waits_t *waits, uint32_t i, gpurt_blocker_fn *each,
                          void *context);

#endif
