/* SPDX-License-Identifier: Apache-2.0 */
/* task.h - tasks: what an executor runs (executors.h has the host's side).
 *
 * A header that the program's host and device code share:
 *
 *     struct tile { const float *from; float *to; uint32_t n; };
 *     #define MY_TASKS(TASK) TASK(tile, struct tile) TASK(sum, struct sum)
 *     GPURT_EXECUTOR_DECLARE(my, MY_TASKS);
 *
 * The file of its tasks, with `#define GPURT_DEFER_DEPTH 4` before any include:
 *
 *     GPURT_TASK(tile, t, run)
 *     {
 *         for (uint32_t i = gpurt_lane(); i < t->n; i += 32)
 *             t->to[i] = 2 * t->from[i];
 *     }
 *     GPURT_TASK(sum, s, run) { ... }
 *     GPURT_EXECUTOR(my, MY_TASKS)
 *
 * A body runs in a whole warp; one of GPURT_TASK_LANE in a lane (tasklane.h); one of GPURT_TASK_BLOCK in all warps
 * of a block, which may use its barriers: each warp spawns for itself, and awaits, sleeps, results and
 * failures are the whole block's, with the same values. It does not ask gpurt_task_due. `t` points to the task's arguments, 48 bytes at most, which stay
 * where they are until it has ended: what one run writes there, the next one finds. `run`:
 *
 *   gpurt_task_t gpurt_task_spawn(run, name, &args, wanted, how)
 *       each lane with `wanted` spawns one. how: GPURT_TASK_PRIORITY(-4..3), 0 the default, and any
 *       of GPURT_TASK_HELD (it starts when it is told to), GPURT_TASK_CHILD (this one ends after
 *       it), GPURT_TASK_ANYWAY (it runs also when one that it waits for failed or was cancelled),
 *       GPURT_TASK_RETRIES(1..3) (so often it runs again behind a panic in its block while it ran, unless that
 *       run has spawned children, or it has taken a task lock: its writes are not undone),
 *       GPURT_TASK_GROUP(1..6) (of a group with a quota; one that the executor does not have is none).
 *       Returns: its handle; 0 where not wanted, and where the pool is empty
 *   gpurt_status_t gpurt_task_after(run, wanted, before, after)
 *       `after`, which this warp has spawned HELD and not started, runs when `before` has ended,
 *       too. One that has ended before the call is no obstacle, whatever became of it.
 *       Returns: GPURT_E_NOMEM, there is no room for another edge
 *   void gpurt_task_start(run, wanted, task)      of one that is HELD; once
 *   bool gpurt_task_cancel(run, task)             any lane: whether it had not begun; then its body
 *                                                 is skipped at its turn, and what waits for it. One that
 *                                                 had is asked to stop, and its children do not begin
 *   bool gpurt_task_stopped(run)                  it, or one that it is a child of, was when this run began: it
 *                                                 cleans up and returns
 *   bool gpurt_task_ended(run, task)              any lane
 *   void gpurt_task_await(run)       this run ends, and the body runs again when all children
 *                                    that it has spawned have ended; without any, at its next turn
 *   void gpurt_task_sleep(run, ns)   the same, and not before so many nanoseconds have passed, or it is
 *                                    asked to stop and this run did not know. Meanwhile its warp runs
 *                                    other tasks
 *   GPURT_TASK_UNTIL(run, &t->naps, condition)
 *                                    where the condition holds in no lane, this run ends here, and the
 *                                    body runs again soon: after a microsecond at first, then after
 *                                    pauses that double up to 64. For what no task tells of: a channel
 *                                    (gpurt_channel_try_receive in lane 0), a host call, a word. naps: a
 *                                    uint32_t of the arguments, 0 at first
 *   GPURT_TASK_UNTIL_OF(run, &t->naps, object, reason, condition)
 *                                    the same, and the wait-for graph knows for what: object and reason as
 *                                    in waits.h, of a channel gpurt_channel_waitable and GPURT_WAIT_DATA
 *   gpurt_task_hold(run, object, role)  gpurt_task_release(run, object, role)
 *                                    one lane: gpurt_hold and gpurt_release of waits.h, for a task. Others
 *                                    that wait at the object wait for this task, whichever warp has it
 *   bool gpurt_task_due(run)         of a long body, every microsecond or two: whether it should end
 *                                    its run soon, by gpurt_task_await, because something more
 *                                    urgent is ready, its group has had its share, it is asked to stop, or the host
 *                                    wants the executor to rest or stop. Meanwhile others get what
 *                                    waits behind this body
 *   void gpurt_task_result(run, value)            8 bytes for the host that waits
 *   void gpurt_task_fail(run, status)             it counts as failed, with that status
 *   bool gpurt_task_tainted(run)                  one that it waited for has failed
 *
 * All but cancel and ended: the whole warp together, with the same status and value.
 * A panic fails the tasks that its block runs at the time; other tasks and blocks go on.
 * Context: device code. Between two tasks a warp holds nothing: what a body locks, it unlocks. */
#ifndef GPURT_TASK_H
#define GPURT_TASK_H

#include <gpurt/kernel.h>

#include <gpurt/impl/task/taskdue.h>
#include <gpurt/impl/task/taskgather.h>
#include <gpurt/impl/task/taskwait.h>
#include <gpurt/tasklane.h>

/* ---- declarations ---------------------------------------------------------------------- */
/* The functions of an executor, by number. Owner: static storage of the program. */
typedef struct gpurt_task_list {
    const char *const *names;
    uint32_t count;
    uint32_t layout; /* GPURT_TASK_LAYOUT, as the program was compiled */
} gpurt_task_list_t;

/* Arguments of that task, and of no other. C lets a pointer of another type pass with a warning. */
#ifdef __cplusplus
#    define GPURT_TASK_ARGS_OF(name, args) (1 ? (args) : (const gpurt_task_args_##name *)0)
#else
#    define GPURT_TASK_ARGS_OF(name, args) \
        _Generic((args), gpurt_task_args_##name *      \
                 : (args), const gpurt_task_args_##name * \
                 : (args))
#endif

#define GPURT_MAYBE_UNUSED_            __attribute__((unused))
#define GPURT_TASK_NUMBER_(name, type) gpurt_task_number_##name,
#define GPURT_TASK_TYPE_(name, type)                                                       \
    typedef type gpurt_task_args_##name;                                                   \
    GPURT_STATIC_ASSERT(sizeof(type) <= GPURT_TASK_ARGS_BYTES && GPURT_ALIGNOF(type) <= 8, \
                        "arguments of a task: 48 bytes at most, aligned to 8");
#define GPURT_TASK_NAME_(name, type) #name,
#define GPURT_EXECUTOR_DECLARE(executor, tasks)                                          \
    enum {                                                                               \
        tasks(GPURT_TASK_NUMBER_) gpurt_task_count_of_##executor                         \
    };                                                                                   \
    static const char *const gpurt_task_names_of_##executor[] GPURT_MAYBE_UNUSED_ = {    \
        tasks(GPURT_TASK_NAME_)};                                                        \
    static const gpurt_task_list_t gpurt_task_list_of_##executor GPURT_MAYBE_UNUSED_ = { \
        gpurt_task_names_of_##executor, gpurt_task_count_of_##executor,                  \
        GPURT_TASK_LAYOUT};                                                              \
    tasks(GPURT_TASK_TYPE_) GPURT_KERNEL_DECLARE(executor, struct gpurt_executor_args)

/* ---- bodies ---------------------------------------------------------------------------- */
#define GPURT_TASK_BODY_(name, t, run_type, run)                                          \
    GPURT_DEVN void gpurt_task_body_##name(gpurt_task_args_##name *t GPURT_MAYBE_UNUSED_, \
                                           run_type *run GPURT_MAYBE_UNUSED_)
#define GPURT_TASK_ARGS_(name, run) ((gpurt_task_args_##name *)(void *)(run)->row->args)
#define GPURT_TASK_RUN_(name, w) \
    gpurt_task_body_##name(GPURT_TASK_ARGS_(name, &(w)->run), &(w)->run)

/* gpurt_task_call_NAME: its turn in a warp's batch. gpurt_task_gather_NAME: in all warps of the block. */
#define GPURT_TASK_GATHERS_NOT_(name)                          \
    enum {                                                     \
        gpurt_task_gathers_##name,                             \
        gpurt_task_line_##name = __LINE__                      \
    };                                                         \
    GPURT_DEV void gpurt_task_gather_##name(gpurt_worker_t *w) \
    {                                                          \
        (void)w;                                               \
    }
#define GPURT_TASK(name, t, run)                             \
    GPURT_TASK_BODY_(name, t, gpurt_task_run_t, run);        \
    GPURT_TASK_GATHERS_NOT_(name)                            \
    GPURT_DEV void gpurt_task_call_##name(gpurt_worker_t *w) \
    {                                                        \
        GPURT_TASK_RUN_(name, w);                            \
    }                                                        \
    GPURT_TASK_BODY_(name, t, gpurt_task_run_t, run)
#define GPURT_TASK_LANE(name, t, lane)                                                  \
    GPURT_TASK_BODY_(name, t, gpurt_lane_run_t, lane);                                  \
    GPURT_TASK_GATHERS_NOT_(name)                                                       \
    GPURT_DEV void gpurt_task_call_##name(gpurt_worker_t *w)                            \
    {                                                                                   \
        gpurt_lane_run_t gpurt_lane_;                                                   \
        bool gpurt_mine_ = gpurt_lanes_begin(w, &gpurt_lane_);                          \
                                                                                        \
        if (gpurt_mine_)                                                                \
            gpurt_task_body_##name(GPURT_TASK_ARGS_(name, &gpurt_lane_), &gpurt_lane_); \
        gpurt_lanes_end(w, &gpurt_lane_, gpurt_mine_);                                  \
    }                                                                                   \
    GPURT_TASK_BODY_(name, t, gpurt_lane_run_t, lane)
#define GPURT_TASK_BLOCK(name, t, run)                         \
    GPURT_TASK_BODY_(name, t, gpurt_task_run_t, run);          \
    enum {                                                     \
        gpurt_task_gathers_##name = 1,                         \
        gpurt_task_line_##name = __LINE__                      \
    };                                                         \
    GPURT_DEV void gpurt_task_gather_##name(gpurt_worker_t *w) \
    {                                                          \
        GPURT_TASK_RUN_(name, w);                              \
    }                                                          \
    GPURT_DEV void gpurt_task_call_##name(gpurt_worker_t *w)   \
    {                                                          \
        gpurt_gather_post(w);                                  \
    }                                                          \
    GPURT_TASK_BODY_(name, t, gpurt_task_run_t, run)

#define GPURT_TASK_CASE_(name, type) \
case gpurt_task_number_##name:       \
    gpurt_task_call_##name(&w);      \
    break;
#define GPURT_TASK_GATHER_CASE_(name, type) \
case gpurt_task_number_##name:              \
    gpurt_task_gather_##name(&w);           \
    break;
/* Of a lane at most. With 128 two blocks of eight warps fit on a multiprocessor; bodies that need more put
 * values into memory. */
#ifndef GPURT_EXECUTOR_REGISTERS
#    define GPURT_EXECUTOR_REGISTERS 128
#endif
#define GPURT_TASK_GATHERS_(name, type) | gpurt_task_gathers_##name
/* The lines of bodies, for who asks where a task waits. */
#define GPURT_TASK_LINE_(name, type)     \
    {{0},                                \
     0,                                  \
     "its body",                         \
     __FILE__,                           \
     gpurt_task_line_##name,             \
     (uint16_t)(sizeof("its body") - 1), \
     (uint16_t)(sizeof(__FILE__) - 1),   \
     GPURT_LEVEL_PANIC,                  \
     0,                                  \
     GPURT_KIND_HANG},
#define GPURT_TASK_LINES_(executor, tasks)                                          \
    typedef struct gpurt_task_lines_of_##executor {                                 \
        gpurt_site_t at[gpurt_task_count_of_##executor];                            \
    } gpurt_task_lines_of_##executor;                                               \
    GPURT_DEVN void gpurt_task_lines_tell_##executor(const gpurt_executor_map_t *m) \
    {                                                                               \
        GPURT_KEPT(gpurt_task_lines_of_##executor, gpurt_lines_,                    \
                   {{tasks(GPURT_TASK_LINE_)}});                                    \
                                                                                    \
        gpurt_taskwait_lines(m, gpurt_lines_.at, gpurt_task_count_of_##executor);   \
    }
#define GPURT_EXECUTOR(executor, tasks)                                        \
    GPURT_STATIC_ASSERT(                                                       \
        GPURT_WORKER_CLEANS,                                                   \
        "an executor's file: #define GPURT_DEFER_DEPTH 4 before any include"); \
    GPURT_TASK_LINES_(executor, tasks)                                         \
    GPURT_TABLE const char *const gpurt_task_words_of_##executor[] = {         \
        tasks(GPURT_TASK_NAME_)};                                              \
    GPURT_KERNEL_LEAN(executor, struct gpurt_executor_args, gpurt_p_,          \
                      GPURT_EXECUTOR_REGISTERS)                                \
    {                                                                          \
        gpurt_worker_t w;                                                      \
        uint32_t gpurt_key_;                                                   \
                                                                               \
        gpurt_worker_begin(&w, gpurt_p_, gpurt_task_words_of_##executor);      \
        gpurt_task_lines_tell_##executor(w.run.map);                           \
        do {                                                                   \
            if ((0 tasks(GPURT_TASK_GATHERS_)) && w.gathers &&                 \
                (gpurt_key_ = gpurt_gather_begin(&w)) != 0) {                  \
                switch (gpurt_body_function(gpurt_key_)) {                     \
                    tasks(GPURT_TASK_GATHER_CASE_) default : break;            \
                }                                                              \
                gpurt_gather_end(&w);                                          \
            }                                                                  \
            while ((gpurt_key_ = gpurt_worker_next(&w)) != 0) {                \
                switch (gpurt_body_function(gpurt_key_)) {                     \
                    tasks(GPURT_TASK_CASE_) default : break;                   \
                }                                                              \
                gpurt_worker_done(&w);                                         \
            }                                                                  \
        } while (gpurt_worker_find(&w));                                       \
    }

/* ---- what bodies call ------------------------------------------------------------------ */

GPURT_DEV gpurt_task_t gpurt_task_spawn_as(gpurt_task_run_t *run, uint32_t function,
                                           const void *args, uint32_t bytes, bool wanted,
                                           uint32_t how)
{
    gpurt_task_plan_t plan = {{0}, function, how, 0};

    __builtin_memcpy(plan.args, args, bytes);
    return gpurt_task_whole() ? gpurt_tasks_make(run, wanted, &plan) : 0;
}
#define gpurt_task_spawn(run, name, args, wanted, how)                                 \
    gpurt_task_spawn_as(run, gpurt_task_number_##name, GPURT_TASK_ARGS_OF(name, args), \
                        sizeof(gpurt_task_args_##name), wanted, how)

GPURT_DEV gpurt_status_t gpurt_task_after(gpurt_task_run_t *run, bool wanted,
                                          gpurt_task_t before, gpurt_task_t after)
{
    if (!gpurt_task_whole())
        return GPURT_E_CANCELLED;
    return gpurt_edges_add(run, wanted && before && after, before, after);
}

GPURT_DEV void gpurt_task_start(gpurt_task_run_t *run, bool wanted, gpurt_task_t task)
{
    if (gpurt_task_whole())
        gpurt_tasks_release(run, wanted && task, gpurt_task_index(task));
}

GPURT_DEV bool gpurt_task_cancel(gpurt_task_run_t *run, gpurt_task_t task)
{
    if (!task || gpurt_task_cancel_one(run->map, task))
        return task != 0;
    gpurt_store_relaxed_near_u32(&run->hall->xstops,
                                 1); /* relaxed: a hint; its block knows at once */
    return false;
}

GPURT_DEV bool gpurt_task_ended(const gpurt_task_run_t *run, gpurt_task_t task)
{
    return !gpurt_task_is_of(
        gpurt_load_acquire_dev_u64(&run->map->marks[gpurt_task_index(task)]), /* TD2.acq */
        task);
}

GPURT_DEV void gpurt_task_await(gpurt_task_run_t *run)
{
    run->again = true;
}
GPURT_DEV bool gpurt_task_stopped(const gpurt_task_run_t *run)
{
    const gpurt_worker_t *w = (const gpurt_worker_t *)(const void *)run;

    return w->stopped >> (gpurt_body_begun(run->key) - 1) & 1u;
}
GPURT_DEV void gpurt_task_sleep(gpurt_task_run_t *run, uint64_t ns)
{
    run->until = gpurt_time_in(ns, gpurt_task_stopped(run));
    run->again = true;
}

/* The whole warp, and lane 0 alone looks at `naps`: another nap, longer than the one before. Returns: how many there
 * were. */
GPURT_DEV uint32_t gpurt_task_nap(gpurt_task_run_t *run, uint32_t *naps)
{
    uint32_t past = 0;

    if (gpurt_lane() == 0)
        past = (*naps)++;
    past = gpurt_shfl_u32(GPURT_FULL_MASK, past, 0);
    gpurt_task_sleep(run, 1000ull << (past < 6 ? past : 6));
    run->vain = true;
    return past;
}
/* What they waited for has come, as one lane found. */
GPURT_DEV void gpurt_task_woken(gpurt_task_run_t *run, uint32_t *naps)
{
    gpurt_syncwarp(GPURT_FULL_MASK); /* what that lane has acquired holds for all */
    if (gpurt_lane() == 0) {
        if (*naps > GPURT_NAPS_TOLD)
            gpurt_taskwait_end(run);
        *naps = 0;
    }
}
#define GPURT_TASK_UNTIL_OF(run, naps, object, reason, condition)                      \
    do {                                                                               \
        if (!gpurt_any(GPURT_FULL_MASK, (condition))) {                                \
            GPURT_PLACE(gpurt_until_, "sleeps until");                                 \
                                                                                       \
            if (gpurt_task_nap((run), (naps)) >= GPURT_NAPS_TOLD && gpurt_lane() == 0) \
                gpurt_taskwait_tell((run), gpurt_waitable_number(object), (reason),    \
                                    &gpurt_until_);                                    \
            return;                                                                    \
        }                                                                              \
        gpurt_task_woken((run), (naps));                                               \
    } while (0)
#define GPURT_TASK_UNTIL(run, naps, condition) \
    GPURT_TASK_UNTIL_OF(run, naps, NULL, GPURT_WAIT_WORD, condition)

/* One lane: from here on the task holds it in that role, as others see it (waits.h), whatever lane runs it. */
GPURT_DEV void gpurt_task_hold_at(const gpurt_task_run_t *run, const gpurt_waitable_t *o,
                                  uint32_t role, gpurt_site_t *place)
{
    if (run->map->waits)
        gpurt_taskwait_hold(run->map, gpurt_waitable_number(o), role, run->task,
                            gpurt_place_number(place),
                            gpurt_globaltimer() & GPURT_TIME_MASK);
}
#define gpurt_task_hold(run, object, role)                         \
    do {                                                           \
        GPURT_PLACE(gpurt_hold_, "holds");                         \
                                                                   \
        gpurt_task_hold_at((run), (object), (role), &gpurt_hold_); \
    } while (0)
GPURT_DEV void gpurt_task_release(const gpurt_task_run_t *run, const gpurt_waitable_t *o,
                                  uint32_t role)
{
    if (run->map->waits)
        gpurt_taskwait_hold(run->map, gpurt_waitable_number(o), role, 0, 0, 0);
}

GPURT_DEV bool gpurt_task_due(gpurt_task_run_t *run)
{
    return gpurt_due_ask(run);
}
GPURT_DEV void gpurt_task_result(gpurt_task_run_t *run, uint64_t value)
{
    run->value = value;
}
GPURT_DEV void gpurt_task_fail(gpurt_task_run_t *run, gpurt_status_t status)
{
    run->status = status;
}
GPURT_DEV bool gpurt_task_tainted(const gpurt_task_run_t *run)
{
    const gpurt_worker_t *w = (const gpurt_worker_t *)(const void *)run;

    return w->tainted >> (gpurt_body_begun(run->key) - 1) & 1u;
}

#endif
