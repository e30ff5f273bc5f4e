/* SPDX-License-Identifier: Apache-2.0 */
/* executors.h - executors: services that run tasks (task.h has the device's side and the
 * declarations of tasks).
 *
 *     gpurt_executor_open(rt, my, NULL, &x, &err);
 *     gpurt_executor_submit(rt, x, tile, tiles, 100, 0, tasks, &err);
 *     gpurt_executor_wait(rt, x, tasks[7], UINT64_MAX, &value, &err);
 *     gpurt_executor_drain(rt, x, UINT64_MAX, &err);
 *     gpurt_executor_close(rt, x, NULL, &err);
 *
 * The host's tasks travel through a ring of GPURT_TASK_ORDERS orders, in the order of the calls;
 * a call waits while it is full. An order waits for a free row of the pool, as long as tasks run that can free one.
 * Where none can, and for a task that is held, GPURT_E_NOMEM is how the task ends, which its wait returns.
 * Close executors before gpurt_close, which stops their kernels and frees nothing of theirs.
 * Context: host, any thread. */
#ifndef GPURT_EXECUTORS_H
#define GPURT_EXECUTORS_H

#include <gpurt/services.h>
#include <gpurt/task.h>

typedef uint64_t gpurt_executor_t;
/* A task that the host has submitted. */
typedef uint64_t gpurt_submitted_t;

enum {
    GPURT_EXECUTORS = 32,           /* of a process at a time */
    GPURT_EXECUTOR_TASKS = 1 << 16, /* defaults */
    GPURT_EXECUTOR_WARPS = 4,
    GPURT_EXECUTOR_RECORDS = 1 << 12,
    GPURT_EXECUTOR_STUCK_MS = 1000,
    GPURT_EXECUTOR_PLACES = 255,
    GPURT_EXECUTOR_SLICES = 10000,
    GPURT_EXECUTOR_SLICES_MOST = 2000000,
    GPURT_EXECUTOR_BURST_NS = 2000000
};

#define GPURT_EXECUTOR_NO_SLICES UINT32_MAX

/* Zero means the default everywhere. */
typedef struct gpurt_executor_options {
    uint32_t struct_size; /* sizeof(gpurt_executor_options_t), or 0 */
    uint32_t blocks; /* default: one a multiprocessor, in seven eighths of the device */
    uint32_t share_percent; /* in place of blocks: of those that fit on the device */
    uint32_t warps;         /* a block; 31 at most */
    uint32_t tasks;         /* that live at a time; at most 2^26. 176 bytes each */
    uint32_t edges;         /* default: twice the tasks. 16 bytes each */
    uint32_t records; /* tasks with a handle of the host's, until they are waited for */
    uint32_t shared_bytes;           /* dynamic shared memory of a block */
    gpurt_service_options_t service; /* name, stop_ms, heaps */
    uint32_t stuck_ms; /* default 1,000: a task that runs for longer is told of in the log,
                        * and those that live while none runs or is ready */
    uint32_t
        fair_pulls; /* each so many-th time that a warp of a block takes tasks up, it takes
                          * the least urgent first. 0, the default: never, so urgent tasks can
                          * keep others waiting for ever */
    uint32_t
        groups; /* of tasks with a quota: GPURT_TASK_GROUPS at most. 8 bytes more a task each */
    uint32_t
        places; /* for GPURT_TASK_AT, each at home in one block: GPURT_EXECUTOR_PLACES at most. 8 KiB each,
                 * and a byte a task. Place i is that of i % places */
    uint32_t
        deep; /* 1: blocks run the newest tasks first, so that trees of tasks need few rows. 0: only while fewer
                    * than a quarter of the rows are free, since it takes time */
    uint32_t
        slices; /* bodies a second of which the log is told one by one, about; those that fail or
                      * take longest besides. GPURT_EXECUTOR_NO_SLICES: none, and 16 bytes less a task */
} gpurt_executor_options_t;

/* A group of tasks. */
typedef struct gpurt_executor_group {
    uint32_t percent; /* its quota; 0: none */
    uint32_t waiting; /* tasks that could run, but for it */
    uint64_t used_ns; /* in bodies; but for those that run */
    uint64_t held;    /* times that a task had to wait for it */
} gpurt_executor_group_t;

/* A snapshot whose parts may differ by what happened meanwhile. */
typedef struct gpurt_executor_status {
    uint32_t ready[GPURT_TASK_LEVELS];
    uint64_t live;                     /* spawned and not ended */
    uint64_t ended, failed, cancelled; /* well, with a status of their own, without a run */
    uint64_t refused;                  /* spawns and edges that found no room */
    uint64_t
        groupless; /* times that a task was taken up whose group there is not: it has none */
    uint64_t at_once; /* run by the warp that made them ready */
    uint64_t moved;   /* about: taken up on another multiprocessor than where they became
                     * ready. One row of GPURT_TASK_SAMPLED is looked at, and counts for all */
    uint64_t useful, waiting, total; /* cycles of warps: in bodies, idle, all */
    uint32_t blocks, left, asleep;   /* left: of a panic, or at the end */
    /* From ready to taken up, of tasks in one row of GPURT_TASK_SAMPLED: waits[i] took 2^i ns to
     * twice that, and the last one more, too. */
    uint64_t waits[GPURT_TASK_WAITS];
    gpurt_executor_group_t groups[GPURT_TASK_GROUPS]; /* the first is group 1 */
    uint64_t timed;     /* tasks that sleep: gpurt_task_sleep */
    uint64_t sliced;    /* bodies of which the log was told one by one */
    uint64_t retried;   /* runs that a panic cut short, and that were queued again */
    uint64_t at_places; /* tasks that are ready, and wait for the block of their place */
    uint64_t placed;    /* times that a task with a place was taken up, */
    uint64_t astray;    /* by another block than its, which had no other work */
    uint64_t stolen; /* tasks that blocks without work took from what others had put back */
} gpurt_executor_status_t;

GPURT_BEGIN_DECLS

/* gpurt_executor_open below makes the call. */
gpurt_status_t gpurt_executor_open_kernel(gpurt_t *rt, const gpurt_kernel_t *kernel,
                                          const gpurt_task_list_t *tasks,
                                          const gpurt_executor_options_t *options,
                                          gpurt_executor_t *out, gpurt_error_t *err);

/* Owner: the caller. */
typedef struct gpurt_submission {
    uint32_t function, bytes, count;
    uint32_t how;     /* as gpurt_task_spawn's; no GPURT_TASK_CHILD */
    const void *args; /* `count` of `bytes` each */
    const char
        *name; /* of the function, so that it is not another executor's; NULL: not known */
} gpurt_submission_t;

/* tasks: NULL, nobody will wait for any; or `count` handles, each of which is to be waited for.
 * Returns: GPURT_E_NOMEM with none submitted, when so many records are not free; GPURT_E_PANIC, no
 * block is left to run them. */
gpurt_status_t gpurt_executor_submit_all(gpurt_t *rt, gpurt_executor_t x,
                                         const gpurt_submission_t *s,
                                         gpurt_submitted_t *tasks, gpurt_error_t *err);

/* `after`, which is held, runs when `before` has ended, too. One that was waited for already is no
 * obstacle. Without room for the edge, `after` ends with GPURT_E_CANCELLED. GPURT_E_INVALID: `after` is not held, or was
 * started. */
gpurt_status_t gpurt_executor_after(gpurt_t *rt, gpurt_executor_t x,
                                    gpurt_submitted_t before, gpurt_submitted_t after,
                                    gpurt_error_t *err);
/* Of one that is held, once; else GPURT_E_INVALID. */
gpurt_status_t gpurt_executor_start(gpurt_t *rt, gpurt_executor_t x, gpurt_submitted_t task,
                                    gpurt_error_t *err);
/* If it has not begun, it ends with GPURT_E_CANCELLED at its turn, as does what waits for it. Else it is
 * asked to stop (gpurt_task_stopped), and its children do not begin. Its wait says which it was. One that is
 * held has its turn when it is started. */
gpurt_status_t gpurt_executor_cancel(gpurt_t *rt, gpurt_executor_t x,
                                     gpurt_submitted_t task, gpurt_error_t *err);

/* How much of the time of all its warps bodies of a group take at most: 1 to 100 percent; 0: no quota,
 * as at first. burst_ns: the share of so long a time may be taken at once; 0 for
 * GPURT_EXECUTOR_BURST_NS. A body is not interrupted: what it took too long is paid for later. */
gpurt_status_t gpurt_executor_quota(gpurt_t *rt, gpurt_executor_t x, uint32_t group,
                                    uint32_t percent, uint64_t burst_ns,
                                    gpurt_error_t *err);

/* Waits until it has ended, and releases the handle. value: its result; may be NULL.
 * Returns: its status, of which err says whose it is; GPURT_E_TIMEOUT, and the handle stays; GPURT_E_HANDLE,
 * GPURT_E_CLOSED, GPURT_E_PANIC: why it cannot be known. */
gpurt_status_t gpurt_executor_wait(gpurt_t *rt, gpurt_executor_t x, gpurt_submitted_t task,
                                   uint64_t timeout_ns, uint64_t *value,
                                   gpurt_error_t *err);

/* Waits until nothing lives: all that was submitted, and what that has spawned. A task that is
 * held lives. One call at a time waits; others wait for it. */
gpurt_status_t gpurt_executor_drain(gpurt_t *rt, gpurt_executor_t x, uint64_t timeout_ns,
                                    gpurt_error_t *err);

gpurt_status_t gpurt_executor_status(gpurt_t *rt, gpurt_executor_t x,
                                     gpurt_executor_status_t *out, gpurt_error_t *err);

/* cells[from * side + to]: tasks of gpurt_executor_status_t.moved, by pair of multiprocessors. side:
 * gpurt_info_t.sm_count. */
gpurt_status_t gpurt_executor_moves(gpurt_t *rt, gpurt_executor_t x, uint32_t *cells,
                                    uint32_t side, gpurt_error_t *err);

/* Stops it between tasks. dropped: how many lived, and never end; may be NULL. Waits for them end
 * with GPURT_E_CLOSED. Drain it before, if all are to run. Returns: as gpurt_service_stop; after
 * GPURT_E_TIMEOUT it stays open, and takes nothing new. */
gpurt_status_t gpurt_executor_close(gpurt_t *rt, gpurt_executor_t x, uint64_t *dropped,
                                    gpurt_error_t *err);

GPURT_END_DECLS

#define gpurt_executor_open(rt, executor, options, out, err)                               \
    gpurt_executor_open_kernel(rt,                                                         \
                               (1 ? &gpurt_kernel_##executor : (const gpurt_kernel_t *)0), \
                               &gpurt_task_list_of_##executor, options, out, err)

/* For the macro below, which C++ has to compile, too. Its names are none that a program has for
 * variables of its own. */
static inline gpurt_status_t
gpurt_executor_submit_as(gpurt_t *runtime, gpurt_executor_t executor, const void *from,
                         uint32_t function, const char *name, uint32_t bytes,
                         uint32_t count, uint32_t how, gpurt_submitted_t *submitted,
                         gpurt_error_t *why)
{
    gpurt_submission_t s = {function, bytes, count, how, from, name};

    return gpurt_executor_submit_all(runtime, executor, &s, submitted, why);
}

/* count tasks `name`, with args[0] to args[count - 1]. */
#define gpurt_executor_submit(rt, x, name, args, count, how, tasks, err)        \
    gpurt_executor_submit_as(                                                   \
        rt, x, GPURT_TASK_ARGS_OF(name, args), gpurt_task_number_##name, #name, \
        (uint32_t)sizeof(gpurt_task_args_##name), count, how, tasks, err)

#endif
