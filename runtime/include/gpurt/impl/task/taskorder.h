/* SPDX-License-Identifier: Apache-2.0 */
/* taskorder.h - what a warp of an executor reads of the host: commands, and orders to make tasks.
 *
 * Context: device code, whole warps. */
#ifndef GPURT_TASKORDER_H
#define GPURT_TASKORDER_H

#include <gpurt/impl/task/taskbatch.h>

/* Orders that are not taken. */
GPURT_DEV uint32_t gpurt_orders_left(const gpurt_executor_map_t *m)
{
    /* relaxed: xtaken; who takes orders acquires it with the lock */
    return gpurt_load_acquire_sys_u32(&m->desk->xposted) - /* HW2.acq */
           gpurt_load_relaxed_dev_u32(&m->words->xtaken);
}

/* One lane looks, if it is time: a command that it finds is there for all blocks to see, orders are
 * the caller's to take. Returns: whether there are some. */
GPURT_DEV bool gpurt_host_look(gpurt_worker_t *w)
{
    const gpurt_executor_map_t *m = w->run.map;
    uint32_t command;

    if (!gpurt_host_due(&m->words->xlooked))
        return false;
    /* relaxed: go acquires it; a number */
    command = gpurt_load_relaxed_sys_u32(&w->turn.words->xcommand);
    if (command & (GPURT_SERVICE_STOP | GPURT_SERVICE_REST))
        gpurt_store_relaxed_dev_u32(&m->words->xcommand, command);
    return gpurt_orders_left(m) != 0;
}

/* Thread 0: whether a block has found a command that this one has not obeyed. */
GPURT_DEV bool gpurt_host_calls(const gpurt_worker_t *w, uint32_t command)
{
    return command != w->command;
}

/* One order a lane, whatever it is: kind by kind, so that an order finds the tasks of those before
 * it. The whole warp. */
GPURT_DEVN void gpurt_orders_obey(gpurt_task_run_t *run, const gpurt_task_order_t *o,
                                  bool some)
{
    const gpurt_executor_map_t *m = run->map;
    uint32_t what = some ? o->what : 0u, full = GPURT_FULL_MASK, quotas;
    gpurt_task_plan_t plan = {
        {0}, some ? o->function : 0u, some ? o->how : 0, some ? o->record : 0};
    gpurt_task_t task, other = 0;
    bool waits;

    if (what == GPURT_ORDER_SPAWN)
        __builtin_memcpy(plan.args, o->args, sizeof plan.args);
    task = gpurt_tasks_make(run, what == GPURT_ORDER_SPAWN, &plan);
    if (what == GPURT_ORDER_SPAWN && plan.record) {
        m->named[plan.record - 1] = task;
        if (!task)
            gpurt_hostword_tell(&m->records[plan.record - 1].xstatus,
                                (uint32_t)GPURT_E_NOMEM);
    }
    gpurt_syncwarp(full); /* names, to all lanes */
    if (what >= GPURT_ORDER_AFTER && what <= GPURT_ORDER_CANCEL)
        task = m->named[plan.record - 1];
    if (what == GPURT_ORDER_AFTER)
        other = m->named[o->other - 1];
    /* What waits for one that was refused, or finds no edge, cannot tell when to run. */
    waits = what == GPURT_ORDER_AFTER && task != 0;
    if (gpurt_edges_add(run, waits && other, other, task) != GPURT_OK || (waits && !other))
        gpurt_task_taint(m, gpurt_task_index(task));
    if (what == GPURT_ORDER_CANCEL && task)
        (void)gpurt_task_cancel_one(m, task);
    gpurt_syncwarp(
        full); /* before one of them starts: it may be one that was cancelled first */
    gpurt_tasks_release(run, what == GPURT_ORDER_START && task, gpurt_task_index(task));
    gpurt_syncwarp(full); /* before nothing more of them is asked */
    if (what == GPURT_ORDER_DRAIN)
        gpurt_live_ask(m, o->other);
    for (quotas = gpurt_ballot(full, what == GPURT_ORDER_QUOTA); quotas;
         quotas &= quotas - 1) {
        if (gpurt_lane() == gpurt_ctz(quotas))
            gpurt_group_set(m, o->other, o->args[0], o->args[1]);
        gpurt_syncwarp(full); /* of two for one group the later one holds */
    }
}

/* The whole warp takes up to 32. Returns: whether there were any. */
GPURT_DEVN bool gpurt_orders_take(gpurt_task_run_t *run)
{
    const gpurt_executor_map_t *m = run->map;
    uint32_t full = GPURT_FULL_MASK, count = 0, taken = 0;
    gpurt_task_t body = run->task; /* that asks whether something is due, or none */

    if (gpurt_lane() == 0 && gpurt_orders_left(m) &&
        gpurt_xchg_acquire_dev_u32(&m->words->xinjecting, 1) == 0) { /* TI1.acq */
        count = gpurt_orders_left(m);
        taken = gpurt_load_relaxed_dev_u32(&m->words->xtaken); /* relaxed: TI1 */
        if (!count)
            gpurt_store_release_dev_u32(&m->words->xinjecting, 0); /* TI1.rel */
    }
    count = gpurt_shfl_u32(full, count, 0);
    if (!count)
        return false;
    count = count < 32 ? count : 32;
    taken = gpurt_shfl_u32(full, taken, 0);
    gpurt_syncwarp(full); /* what the host wrote, to all lanes */
    run->task = 0;        /* no task spawns them */
    gpurt_orders_obey(run, &m->desk->orders[(taken + gpurt_lane()) % GPURT_TASK_ORDERS],
                      gpurt_lane() < count);
    run->task = body;
    gpurt_syncwarp(full); /* they are read */
    if (gpurt_lane() == 0) {
        gpurt_store_relaxed_dev_u32(&m->words->xtaken, taken + count); /* relaxed: TI1 */
        gpurt_hostword_tell(&m->desk->xtaken, taken + count);
        gpurt_store_release_dev_u32(&m->words->xinjecting, 0); /* TI1.rel */
    }
    return true;
}

#endif
