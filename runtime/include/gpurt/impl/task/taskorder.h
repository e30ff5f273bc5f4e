/* SPDX-License-Identifier: Apache-2.0 */
/* taskorder.h - what a warp of an executor reads of the host: commands, and orders to make tasks.
 *
 * An order to make a task takes its row with it. Where the pool is empty it stays where it is, with those behind it,
 * until tasks have ended. Where none can end, since all that live wait, it goes without: the host is told.
 *
 * Context: device code, whole warps. */
#ifndef GPURT_TASKORDER_H
#define GPURT_TASKORDER_H

#include <gpurt/impl/task/taskbatch.h>

enum {
    GPURT_ORDER_STANDS_NS =
        50000000 /* so long a pool without a free row and without a task that runs is stuck */
};

/* One lane looks, if it is time: a command that it finds is there for all blocks to see, orders are
 * the caller's to take. Returns: whether there are some. */
GPURT_DEV bool gpurt_host_look(gpurt_worker_t *w)
{
    const gpurt_executor_map_t *m = w->run.map;
    uint32_t command, posted;

    if (!gpurt_host_due(&m->words->xlooked))
        return false;
    /* relaxed: go acquires it; a number, which who takes orders acquires. Both are under way at a time */
    command = gpurt_load_relaxed_sys_u32(&w->turn.words->xcommand);
    posted = gpurt_load_relaxed_sys_u32(&m->desk->xposted);
    if (command & (GPURT_SERVICE_STOP | GPURT_SERVICE_REST))
        gpurt_store_relaxed_dev_u32(&m->words->xcommand, command);
    posted -= gpurt_load_relaxed_dev_u32(&m->words->xtaken); /* relaxed: as above */
    gpurt_host_looked(&m->words->xlooked);
    return posted != 0;
}

/* Thread 0: whether a block has found a command that this one has not obeyed. */
GPURT_DEV bool gpurt_host_calls(const gpurt_worker_t *w, uint32_t command)
{
    return command != w->command;
}

/* Whether a task of the executor is in a queue or a warp has some. Those of pockets are taken up at once where all
 * warps of a block have none. The whole warp. relaxed: hints */
GPURT_DEVN bool gpurt_executor_stirs(const gpurt_executor_map_t *m)
{
    uint32_t lane = gpurt_lane(), warps = gpurt_grid_blocks() * gpurt_warps();
    bool stirs =
        lane < GPURT_RINGS && lane != GPURT_RING_FREE_TASKS &&
        lane != GPURT_RING_FREE_EDGES &&
        gpurt_taskring_count(gpurt_load_relaxed_dev_u32(&m->words->xcredits[lane]));

    stirs = stirs || gpurt_load_relaxed_dev_u32(&m->words->xplaced) ||
            gpurt_load_relaxed_dev_u32(&m->words->xdeques);
    for (uint32_t i = lane; i < warps && !stirs; i += GPURT_WARP_SIZE)
        stirs = gpurt_load_relaxed_dev_u32(&m->warps[i].xcount) != 0 ||
                gpurt_load_relaxed_dev_u32(&m->warps[i].xnext) != GPURT_TASK_NONE;
    return gpurt_any(GPURT_FULL_MASK, stirs);
}

/* Whether an order without a row waits for one. The whole warp, which has the orders. relaxed: under their lock */
GPURT_DEVN bool gpurt_orders_wait(const gpurt_executor_map_t *m)
{
    uint64_t *stands = &m->words->xstands, now = gpurt_globaltimer(), since;
    bool stirs = gpurt_executor_stirs(m), waits = true;

    if (gpurt_lane() == 0) {
        since = gpurt_load_relaxed_dev_u64(stands);
        waits = stirs || !since || now - since < GPURT_ORDER_STANDS_NS;
        if (stirs || !since)
            gpurt_store_relaxed_dev_u64(stands, stirs ? 0 : now);
    }
    return gpurt_any(GPURT_FULL_MASK, gpurt_lane() == 0 && waits);
}

/* Rows for those of `count` orders that make tasks, an order a lane. *index: each lane's. A task that is held takes what
 * there is, since what would free a row may be an order behind it. Returns: how many orders can be obeyed. The whole
 * warp. */
GPURT_DEVN uint32_t gpurt_orders_rows(const gpurt_task_run_t *run,
                                      const gpurt_task_order_t *o, uint32_t count,
                                      uint32_t *index)
{
    uint32_t full = GPURT_FULL_MASK, lane = gpurt_lane(), lacking, back;
    bool spawns = lane < count && o->what == GPURT_ORDER_SPAWN;
    uint32_t who = gpurt_ballot(full, spawns);

    if (!who)
        return count;
    *index = gpurt_spares_get(run, who);
    lacking = gpurt_ballot(full, spawns && *index == GPURT_TASK_NONE &&
                                     !(o->how & GPURT_TASK_HELD));
    if (!lacking && lane == 0) /* relaxed: as in orders_wait */
        gpurt_store_relaxed_dev_u64(&run->map->words->xstands, 0);
    if (!lacking || !gpurt_orders_wait(run->map))
        return count;
    count = gpurt_ctz(lacking);
    back = gpurt_ballot(full, lane >= count && *index != GPURT_TASK_NONE);
    gpurt_spares_put(run, full, back, *index);
    if (back >> lane & 1u)
        *index = GPURT_TASK_NONE;
    return count;
}

/* One order a lane, whatever it is: kind by kind, so that an order finds the tasks of those before
 * it. index: the row of a task that it makes. The whole warp. */
GPURT_DEVN void gpurt_orders_obey(gpurt_task_run_t *run, const gpurt_task_order_t *o,
                                  bool some, uint32_t index)
{
    const gpurt_executor_map_t *m = run->map;
    uint32_t what = some ? o->what : 0u, full = GPURT_FULL_MASK, quotas;
    gpurt_task_plan_t plan = {
        {0}, some ? o->function : 0u, some ? o->how : 0, some ? o->record : 0};
    gpurt_task_t task, other = 0;
    bool waits;

    if (what == GPURT_ORDER_SPAWN)
        __builtin_memcpy(plan.args, o->args, sizeof plan.args);
    gpurt_rows_count(run, gpurt_ballot(full, what == GPURT_ORDER_SPAWN), index);
    task = gpurt_rows_fill(run, index, &plan, 0, 0);
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
    uint32_t full = GPURT_FULL_MASK, count = 0, taken = 0, index = GPURT_TASK_NONE;
    const gpurt_task_order_t *order;
    gpurt_task_t body = run->task; /* that asks whether something is due, or none */

    /* The lock comes first: reads of one word of the host's go one after the other, a microsecond each. */
    if (gpurt_lane() == 0 &&
        !gpurt_load_relaxed_dev_u32(&m->words->xinjecting) && /* relaxed: */
        gpurt_xchg_acquire_dev_u32(&m->words->xinjecting, 1) ==
            0) {                                               /* ... a hint; TI1.acq */
        taken = gpurt_load_relaxed_dev_u32(&m->words->xtaken); /* relaxed: TI1 */
        count = gpurt_load_acquire_sys_u32(&m->desk->xposted) - taken; /* HW2.acq */
        if (!count)
            gpurt_store_release_dev_u32(&m->words->xinjecting, 0); /* TI1.rel */
    }
    count = gpurt_shfl_u32(full, count, 0);
    if (!count)
        return false;
    count = count < 32 ? count : 32;
    taken = gpurt_shfl_u32(full, taken, 0);
    gpurt_syncwarp(full); /* what the host wrote, to all lanes */
    order = &m->desk->orders[(taken + gpurt_lane()) % GPURT_TASK_ORDERS];
    count = gpurt_orders_rows(run, order, count, &index);
    if (count) {
        run->task = 0; /* no task spawns them */
        gpurt_orders_obey(run, order, gpurt_lane() < count, index);
        run->task = body;
    }
    gpurt_syncwarp(full); /* they are read */
    if (gpurt_lane() == 0) {
        gpurt_store_relaxed_dev_u32(&m->words->xtaken, taken + count); /* relaxed: TI1 */
        gpurt_hostword_tell(&m->desk->xtaken, taken + count);
        gpurt_store_release_dev_u32(&m->words->xinjecting, 0); /* TI1.rel */
    }
    return count != 0;
}

#endif
