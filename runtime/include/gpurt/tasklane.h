/* SPDX-License-Identifier: Apache-2.0 */
/* tasklane.h - tasks of a lane, beside those of a warp in the same list (task.h).
 *
 *     GPURT_TASK_LANE(pixel, t, lane)
 *     {
 *         gpurt_lane_result(lane, shade(t->x, t->y));
 *     }
 *
 * One lane runs the body, as a thread of any kernel does. A warp runs up to 24 of them at a time, those of one
 * function and group that it has taken up together. Where they branch apart, they take turns. What the body
 * calls must be for single lanes. `t` is as in task.h. `lane`:
 *
 *   bool gpurt_lane_spawn(lane, name, &args, how)   a task of any kind, when the body has returned. There is no
 *                                       handle, so GPURT_TASK_HELD is left out of `how`. Where the pool is
 *                                       empty, this task fails with GPURT_E_NOMEM. Returns: false, this run
 *                                       has spawned four, and no more are taken
 *   void gpurt_lane_await(lane)         the body runs again when all children that it has spawned have ended;
 *                                       without any, at its next turn
 *   void gpurt_lane_sleep(lane, ns)     the same, and not before so many nanoseconds have passed, or it is
 *                                       asked to stop and this run did not know
 *   void gpurt_lane_result(lane, value)            8 bytes for the host that waits
 *   void gpurt_lane_fail(lane, status)             it counts as failed, with that status
 *   bool gpurt_lane_tainted(lane)                  one that it waited for has failed
 *   bool gpurt_lane_stopped(lane)                  as gpurt_task_stopped
 *
 * A panic fails all tasks that its warp runs with it, and what its block runs besides.
 * Context: device code, any lane. */
#ifndef GPURT_TASKLANE_H
#define GPURT_TASKLANE_H

#include <gpurt/impl/task/tasklanes.h>

GPURT_DEV bool gpurt_lane_spawn_as(gpurt_lane_run_t *lane, uint32_t function,
                                   const void *args, uint32_t bytes, uint32_t how)
{
    gpurt_task_plan_t *plan = &lane->plans[lane->spawns % GPURT_LANE_SPAWNS];

    if (lane->spawns == GPURT_LANE_SPAWNS)
        return false;
    lane->spawns++;
    __builtin_memset(plan, 0, sizeof *plan);
    __builtin_memcpy(plan->args, args, bytes);
    plan->function = function;
    plan->how = how & ~(uint32_t)GPURT_TASK_HELD;
    return true;
}
#define gpurt_lane_spawn(lane, name, args, how)                                         \
    gpurt_lane_spawn_as(lane, gpurt_task_number_##name, GPURT_TASK_ARGS_OF(name, args), \
                        sizeof(gpurt_task_args_##name), how)

GPURT_DEV void gpurt_lane_await(gpurt_lane_run_t *lane)
{
    lane->again = true;
}
GPURT_DEV void gpurt_lane_sleep(gpurt_lane_run_t *lane, uint64_t ns)
{
    lane->until = gpurt_time_in(ns, lane->stopped);
    lane->again = true;
}
GPURT_DEV void gpurt_lane_result(gpurt_lane_run_t *lane, uint64_t value)
{
    lane->value = value;
}
GPURT_DEV void gpurt_lane_fail(gpurt_lane_run_t *lane, gpurt_status_t status)
{
    lane->status = status;
}
GPURT_DEV bool gpurt_lane_tainted(const gpurt_lane_run_t *lane)
{
    return lane->tainted;
}
GPURT_DEV bool gpurt_lane_stopped(const gpurt_lane_run_t *lane)
{
    return lane->stopped;
}

#endif
