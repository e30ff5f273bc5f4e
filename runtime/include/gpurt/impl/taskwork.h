/* SPDX-License-Identifier: Apache-2.0 */
/* taskwork.h - what a warp of an executor does: it pulls tasks, runs them, waits, and meets the
 * other warps of its block at gpurt_service_go. GPURT_EXECUTOR (task.h) makes the kernel:
 *
 *     gpurt_worker_t w;
 *
 *     gpurt_worker_begin(&w, p);
 *     while (gpurt_worker_next(&w)) {
 *         the body of task w.run.head.function
 *         gpurt_worker_done(&w);
 *     }
 *
 * Context: device code, whole warps. */
#ifndef GPURT_TASKWORK_H
#define GPURT_TASKWORK_H

#include <gpurt/clock.h>
#include <gpurt/defer.h>

#include <gpurt/impl/taskbatch.h>

/* ---- cleaning up behind a warp --------------------------------------------------------- */

/* One lane: a task of a warp that is gone. running: its body was. */
GPURT_DEVN void gpurt_held_gone(gpurt_task_run_t *run, const gpurt_task_held_t *held,
                                bool running)
{
    /* relaxed: this warp's own */
    uint32_t index = gpurt_load_relaxed_dev_u32(&held->xindex), me = 1u << gpurt_lane(),
             next;
    uint32_t status = gpurt_load_relaxed_dev_u32(&held->xstatus);

    if (index == GPURT_TASK_NONE)
        return;
    if (status == GPURT_TASK_PENDING && !running) { /* relaxed: as above */
        gpurt_task_unbegin(&run->map->tasks[index],
                           gpurt_load_relaxed_dev_u64(&held->xvalue));
        gpurt_tasks_push(run, me, me, index);
        return;
    }
    run->row = &run->map->tasks[index];
    run->head = run->row->head;
    run->task = gpurt_task_named(run->row, index);
    run->status = running ? GPURT_E_PANIC : (gpurt_status_t)status;
    run->value = gpurt_load_relaxed_dev_u64(&held->xvalue);
    /* relaxed: only this warp made it more than 0 */
    run->parent = running && gpurt_load_relaxed_dev_u32(&run->row->xneeds) != 0;
    next = gpurt_task_end(run, me);
    if (next != GPURT_TASK_NONE)
        gpurt_tasks_push(run, me, me, next);
}

/* A lane leaves last of a warp whose block is cancelled: the task whose body ran has failed, what
 * it held besides goes back into the queue. */
GPURT_DEVN void gpurt_worker_gone(uint64_t at)
{
    gpurt_executor_warp_t *warp = (gpurt_executor_warp_t *)(uintptr_t)at;
    /* relaxed: this warp's own */
    uint32_t count = gpurt_load_relaxed_dev_u32(&warp->xcount), me = 1u << gpurt_lane();
    uint32_t begun = gpurt_warp_begun(gpurt_load_relaxed_dev_u64(&warp->xat));
    uint32_t next = gpurt_load_relaxed_dev_u32(&warp->xnext);
    gpurt_task_run_t run;

    __builtin_memset(&run, 0, sizeof run);
    run.map = warp->map;
    run.block = warp->block;
    /* Others of the block may fill it once more, and empty it then. */
    gpurt_hall_empty(&run, warp->hall);
    if (gpurt_load_relaxed_dev_u32(&warp->xlooks)) /* relaxed: this warp's own */
        gpurt_red_add_relaxed_dev_u32(&warp->map->words->xhungry, UINT32_MAX);
    if (next != GPURT_TASK_NONE)
        gpurt_tasks_push(&run, me, me, next);
    next = gpurt_hand_withdraw(&warp->hall->hands, gpurt_warp());
    if (next != GPURT_TASK_NONE)
        gpurt_tasks_push(&run, me, me, next);
    for (uint32_t i = 0; i < count; i++) { /* relaxed: as above */
        bool ran = gpurt_load_relaxed_dev_u32(&warp->held[i].xstatus) == GPURT_TASK_PENDING;

        gpurt_held_gone(&run, &warp->held[i], ran && i + 1 == begun);
    }
    gpurt_warp_batch(warp, 0); /* for who looks: nothing runs there */
}

#if defined(GPURT_DEFER_DEPTH) && GPURT_DEFER_DEPTH > 1
#    define GPURT_WORKER_CLEANS 1
GPURT_DEV void gpurt_worker_note(const gpurt_worker_t *w)
{
    (void)gpurt_defer(GPURT_FULL_MASK, gpurt_worker_gone, (uint64_t)(uintptr_t)w->warp);
}
GPURT_DEV void gpurt_worker_unnote(void)
{
    (void)gpurt_undefer(GPURT_FULL_MASK, false);
}
#else
#    define GPURT_WORKER_CLEANS 0
GPURT_DEV void gpurt_worker_note(const gpurt_worker_t *w)
{
    (void)w;
}
GPURT_DEV void gpurt_worker_unnote(void) {}
#endif

/* ---- life ------------------------------------------------------------------------------ */

/* One lane; a barrier follows. Others are without work until one has looked. */
GPURT_DEV void gpurt_hall_begin(gpurt_executor_hall_t *hall)
{
    gpurt_store_relaxed_near_u32(&hall->xmeet, 1); /* relaxed: so, all of them */
    gpurt_store_relaxed_near_u32(&hall->xnews, 0);
    gpurt_store_relaxed_near_u32(&hall->xlooks, 0);
    gpurt_store_relaxed_near_u32(&hall->xdraws, 0);
    gpurt_store_relaxed_near_u32(&hall->xlevels, 0);
    gpurt_store_relaxed_near_u32(&hall->xhungry, 1);
    gpurt_store_relaxed_near_u32(&hall->xlooked, (uint32_t)gpurt_clock());
    gpurt_store_relaxed_near_u32(&hall->xended, 0);
    gpurt_store_relaxed_near_u32(&hall->xcommand, 0);
    gpurt_store_relaxed_near_u32(&hall->xturns, 0);
    gpurt_store_relaxed_near_u32(&hall->xtakes, GPURT_HALL_AHEAD_CYCLES);
    for (uint32_t i = 0; i < GPURT_TASK_KINDS; i++) { /* relaxed: as above */
        gpurt_store_relaxed_near_u32(&hall->kinds[i].xruns, 0);
        gpurt_store_relaxed_near_u32(&hall->kinds[i].xcycles, 0);
        gpurt_store_relaxed_near_u64(&hall->kinds[i].xlongest, 0);
    }
    for (uint32_t i = 0; i < GPURT_TASK_LEVELS; i++)
        gpurt_pocket_begin(&hall->ready[i]);
    gpurt_pocket_begin(&hall->spare);
    gpurt_hands_begin(&hall->hands);
}

/* All threads of the block. */
GPURT_DEV void gpurt_worker_begin(gpurt_worker_t *w, const struct gpurt_executor_args *p)
{
    GPURT_SHARED(gpurt_executor_hall_t, hall, 1);

    __builtin_memset(w, 0, sizeof *w);
    w->turn = gpurt_service_begin(&p->service);
    w->run.map = &p->map;
    w->run.hall = hall;
    w->run.block = &p->map.blocks[gpurt_block_rank()];
    w->warp = &p->map.warps[gpurt_block_rank() * gpurt_warps() + gpurt_warp()];
    w->next = GPURT_TASK_NONE;
    w->asks = true;
    w->since = gpurt_clock();
    if (gpurt_thread_rank() == 0) {
        gpurt_hall_begin(hall);
        gpurt_store_relaxed_dev_u64(&w->run.block->xsm, gpurt_sm()); /* relaxed: so */
    }
    if (gpurt_lane() == 0) {
        w->warp->map = p->map.self;
        w->warp->block = w->run.block;
        w->warp->hall = hall;
        gpurt_store_relaxed_dev_u32(&w->warp->xlooks, 0); /* relaxed: as in hold */
        gpurt_warp_next(w->warp, GPURT_TASK_NONE);
        gpurt_warp_batch(w->warp, 0);
    }
    gpurt_worker_note(w);
    gpurt_block_barrier();
}

/* ---- words of the host ----------------------------------------------------------------- */

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

/* ---- orders of the host ---------------------------------------------------------------- */

/* One order a lane, whatever it is: kind by kind, so that an order finds the tasks of those before
 * it. The whole warp. */
GPURT_DEVN void gpurt_orders_obey(gpurt_task_run_t *run, const gpurt_task_order_t *o,
                                  bool some)
{
    const gpurt_executor_map_t *m = run->map;
    uint32_t what = some ? o->what : 0, full = GPURT_FULL_MASK;
    gpurt_task_plan_t plan = {
        {0}, some ? o->function : 0, some ? o->how : 0, some ? o->record : 0};
    gpurt_task_t task, other = 0;
    bool waits;

    if (what == GPURT_ORDER_SPAWN)
        __builtin_memcpy(plan.args, o->args, sizeof plan.args);
    gpurt_tasks_make(run, what == GPURT_ORDER_SPAWN, &plan, &task);
    if (what == GPURT_ORDER_SPAWN && plan.record) {
        m->named[plan.record - 1] = task;
        if (!task)
            gpurt_hostword_tell(&m->records[plan.record - 1].xstatus,
                                (uint32_t)GPURT_E_NOMEM);
    }
    gpurt_syncwarp(full); /* names, to all lanes */
    if (what && what != GPURT_ORDER_SPAWN && what != GPURT_ORDER_DRAIN)
        task = m->named[plan.record - 1];
    if (what == GPURT_ORDER_AFTER)
        other = m->named[o->other - 1];
    /* What waits for one that was refused, or finds no edge, cannot tell when to run. */
    waits = what == GPURT_ORDER_AFTER && task != 0;
    if (gpurt_edges_add(run, waits && other, other, task) != GPURT_OK || (waits && !other))
        gpurt_task_taint(&m->tasks[gpurt_task_index(task)]);
    if (what == GPURT_ORDER_CANCEL && task)
        (void)gpurt_task_cancel_one(m, task);
    gpurt_syncwarp(
        full); /* before one of them starts: it may be one that was cancelled first */
    gpurt_tasks_release(run, what == GPURT_ORDER_START && task, gpurt_task_index(task));
    gpurt_syncwarp(full); /* before nothing more of them is asked */
    if (what == GPURT_ORDER_DRAIN)
        gpurt_live_ask(m, o->other);
}

/* The whole warp takes up to 32. Returns: whether there were any. */
GPURT_DEVN bool gpurt_orders_take(gpurt_task_run_t *run)
{
    const gpurt_executor_map_t *m = run->map;
    uint32_t full = GPURT_FULL_MASK, count = 0, taken = 0;

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
    gpurt_orders_obey(run, &m->desk->orders[(taken + gpurt_lane()) % GPURT_TASK_ORDERS],
                      gpurt_lane() < count);
    gpurt_syncwarp(full); /* they are read */
    if (gpurt_lane() == 0) {
        gpurt_store_relaxed_dev_u32(&m->words->xtaken, taken + count); /* relaxed: TI1 */
        gpurt_hostword_tell(&m->desk->xtaken, taken + count);
        gpurt_store_release_dev_u32(&m->words->xinjecting, 0); /* TI1.rel */
    }
    return true;
}

/* One lane: levels of the device's rings that have some. */
GPURT_DEV uint32_t gpurt_levels_there(const gpurt_executor_map_t *m)
{
    uint32_t credits[GPURT_TASK_LEVELS], levels = 0;

    for (uint32_t i = 0; i < GPURT_TASK_LEVELS; i++) /* relaxed: hints, or behind a fence */
        credits[i] = gpurt_load_relaxed_dev_u32(&m->words->xcredits[i]);
    for (uint32_t i = 0; i < GPURT_TASK_LEVELS; i++) /* apart: one trip for all */
        levels |= (gpurt_taskring_count(credits[i]) != 0) << i;
    return levels;
}

/* ---- waiting --------------------------------------------------------------------------- */

/* Thread 0. Its block counts as asleep before it looks a last time. */
GPURT_DEV void gpurt_worker_sleep(gpurt_worker_t *w)
{
    gpurt_executor_words_t *words = w->run.map->words;
    /* relaxed: the fence orders the count before the look; the rest are numbers */
    uint32_t seen = gpurt_load_relaxed_dev_u32(&words->xwake), pauses = 0;

    gpurt_add_relaxed_dev_u32(&words->xsleepers, 1);
    gpurt_fence_seq_cst_dev();
    gpurt_store_relaxed_dev_u64(&w->run.block->xasleep, 1);
    while (!w->asks && !gpurt_levels_there(w->run.map) &&
           gpurt_load_relaxed_dev_u32(&words->xwake) == seen &&
           !gpurt_host_calls(w, gpurt_load_relaxed_dev_u32(&words->xcommand))) {
        w->asks = gpurt_host_look(w);
        if (!w->asks)
            gpurt_host_pause(pauses++, UINT64_MAX, GPURT_HERE);
    }
    gpurt_store_relaxed_dev_u64(&w->run.block->xasleep, 0);
    gpurt_sub_relaxed_dev_u32(&words->xsleepers, 1);
}

/* All warps of the block, between tasks. Returns: false, the executor ends. */
GPURT_DEV bool gpurt_worker_meet(gpurt_worker_t *w)
{
    uint64_t began = gpurt_clock();
    gpurt_executor_hall_t *hall = w->run.hall;

    if (gpurt_lane() == 0)
        gpurt_worker_flush(w);
    if (gpurt_thread_rank() == 0) { /* relaxed: go acquires what is behind it */
        uint32_t command = gpurt_load_relaxed_dev_u32(&w->run.map->words->xcommand);

        if (gpurt_host_calls(w, command))
            gpurt_service_expect(&w->turn);
        w->command = command;
        gpurt_store_relaxed_near_u32(&hall->xcommand, command);
    }
    if (!gpurt_service_go(&w->turn)) {
        if (gpurt_thread_rank() == 0)
            gpurt_hall_empty(&w->run, hall);
        gpurt_worker_unnote();
        return false;
    }
    if (gpurt_thread_rank() == 0) { /* relaxed: barriers around it */
        if (gpurt_hands_are_shut(&hall->hands))
            gpurt_worker_sleep(w);
        gpurt_hands_open(&hall->hands);
        gpurt_store_relaxed_near_u32(&hall->xlooks, 0);
        gpurt_store_relaxed_near_u32(&hall->xhungry, 1); /* others sleep, most probably */
        gpurt_store_relaxed_near_u32(&hall->xmeet, 0);
    }
    gpurt_block_barrier();
    if (gpurt_lane() == 0) {
        w->waiting += gpurt_clock() - began;
    }
    return true;
}

/* Whether the block's warps meet: the host wants it, or all of them are idle. */
GPURT_DEV bool gpurt_hall_meets(const gpurt_executor_hall_t *hall)
{
    return gpurt_load_relaxed_near_u32(&hall->xmeet) || /* relaxed: a barrier follows */
           gpurt_hands_are_shut(&hall->hands);
}

/* The leader of a warp counts its block among those without work, or no more. */
GPURT_DEV void gpurt_worker_hunger(const gpurt_worker_t *w, bool hungry)
{
    /* relaxed: the same warp reads it; and a number */
    gpurt_store_relaxed_dev_u32(&w->warp->xlooks, hungry);
    gpurt_red_add_relaxed_dev_u32(&w->run.map->words->xhungry, hungry ? 1 : UINT32_MAX);
}

/* One lane: whether the block keeps a task that is ready. */
GPURT_DEV bool gpurt_hall_has(const gpurt_executor_hall_t *hall)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < GPURT_TASK_LEVELS; i++)
        count |= gpurt_pocket_count(&hall->ready[i]);
    return count != 0;
}

/* One look of the warp that looks for its block: also into the pockets, since who filled one saw
 * perhaps nobody idle yet. Returns: whether it found work. */
GPURT_DEV bool gpurt_worker_look(gpurt_worker_t *w, uint32_t turn)
{
    /* relaxed: hints; go acquires what is behind the command */
    uint32_t command = gpurt_load_relaxed_dev_u32(&w->run.map->words->xcommand);
    uint32_t levels = gpurt_levels_there(w->run.map);

    gpurt_store_relaxed_near_u32(&w->run.hall->xcommand, command);
    if (levels) { /* relaxed: a hint */
        gpurt_or_relaxed_near_u32(&w->run.hall->xlevels, levels);
        return true;
    }
    if (gpurt_hall_has(w->run.hall))
        return true;
    w->asks = gpurt_host_look(w);
    if (turn >= GPURT_IDLE_LOOKS)
        gpurt_hands_shut(&w->run.hall->hands);
    return w->asks;
}

/* Whether an idle warp has something to do. */
GPURT_DEV bool gpurt_hall_stirs(const gpurt_executor_hall_t *hall, uint32_t seen)
{
    return gpurt_hand_has(&hall->hands, gpurt_warp()) || /* relaxed: hints */
           gpurt_load_relaxed_near_u32(&hall->xnews) != seen || gpurt_hall_meets(hall);
}

/* Whether the caller looks at the queues for its block, from now on. */
GPURT_DEV bool gpurt_hall_watch(gpurt_executor_hall_t *hall)
{
    uint32_t nobody = 0; /* relaxed: a flag within the block */

    return !gpurt_load_relaxed_near_u32(&hall->xlooks) &&
           gpurt_cas_relaxed_near_u32(&hall->xlooks, &nobody, gpurt_warp() + 1);
}

/* The leader of a warp that found nothing: until it is given a task, or there is news, or all meet.
 * One of them looks at the queues, in growing pauses; the others at words of the block. Returns: the
 * task, or GPURT_TASK_NONE. */
GPURT_DEV uint32_t gpurt_worker_idle(gpurt_worker_t *w)
{
    gpurt_executor_hall_t *hall = w->run.hall;
    /* relaxed: hints within the block; who pulls finds out */
    uint32_t seen = gpurt_load_relaxed_near_u32(&hall->xnews), turns = 1, looks = 0, task;

    gpurt_hand_offer(&hall->hands, gpurt_warp());
    while (!gpurt_hall_stirs(hall, seen)) {
        if (!looks && gpurt_hall_watch(hall)) {
            looks = 1;
            gpurt_worker_hunger(w, true);
        }
        if (looks && gpurt_worker_look(w, looks++))
            break;
        if (gpurt_thread_rank() == 0 && /* relaxed: as in worker_meet */
            gpurt_host_calls(w, gpurt_load_relaxed_near_u32(&hall->xcommand)))
            gpurt_store_relaxed_near_u32(&hall->xmeet, 1);
        for (uint32_t i = 1; i < turns && !gpurt_hall_stirs(hall, seen); i++)
            gpurt_pause();
        turns = turns < GPURT_BACKOFF_MOST ? 2 * turns : turns;
        if (!looks || looks < GPURT_IDLE_LOOKS) /* who looks for long takes longer pauses */
            turns = turns < GPURT_WORKER_PAUSES ? turns : (uint32_t)GPURT_WORKER_PAUSES;
        gpurt_relax(); /* its block may be cancelled */
    }
    task = gpurt_hand_withdraw(&hall->hands, gpurt_warp());
    if (looks)
        gpurt_worker_hunger(w, false);
    if (looks && !gpurt_hands_are_shut(&hall->hands))
        gpurt_store_relaxed_near_u32(&hall->xlooks, 0);
    return task;
}

/* The whole warp. Returns: the task of lane 0, if it was given one, else GPURT_TASK_NONE. */
GPURT_DEV uint32_t gpurt_worker_wait(gpurt_worker_t *w)
{
    uint32_t task = GPURT_TASK_NONE;

    if (gpurt_lane() == 0)
        gpurt_worker_flush(w);
    gpurt_syncwarp(GPURT_FULL_MASK); /* its bodies, to who tells of their kind */
    gpurt_kinds_tell(&w->run, w->run.hall, gpurt_lane(), GPURT_WARP_SIZE);
    if (gpurt_lane() == 0) {
        uint64_t began = gpurt_clock();

        gpurt_hall_tell(&w->run);
        gpurt_hall_end(w->run.map, w->run.hall);
        task = gpurt_worker_idle(w);
        w->waiting += gpurt_clock() - began;
    }
    gpurt_syncwarp(GPURT_FULL_MASK); /* what it has acquired holds for all */
    return task;
}

enum {
    GPURT_WORKER_MEETS = 1,
    GPURT_WORKER_ASKS = 2,
    GPURT_WORKER_ENDS = 4,
    GPURT_WORKER_LOOK = 8
};

/* The leader, between tasks: what its warp is to do before it pulls. */
GPURT_DEV uint32_t gpurt_worker_called(gpurt_worker_t *w)
{
    uint32_t what = gpurt_cancelled() ? GPURT_WORKER_ENDS : 0;
    gpurt_executor_hall_t *hall = w->run.hall;

    if (gpurt_thread_rank() == 0 && /* relaxed: hints */
        gpurt_host_calls(w, gpurt_load_relaxed_near_u32(&hall->xcommand)))
        gpurt_store_relaxed_near_u32(&hall->xmeet, 1);
    if (gpurt_hall_meets(hall))
        return what | GPURT_WORKER_MEETS;
    if (gpurt_hall_due(hall)) {
        what |= GPURT_WORKER_LOOK;
        w->asks = w->asks || gpurt_host_look(w);
    }
    if (w->asks && w->next == GPURT_TASK_NONE)
        what |= GPURT_WORKER_ASKS;
    return what;
}

/* The whole warp takes up its next batch. Cancellation is asked once, by the leader: lanes that asked
 * apart could part, and some pull a task that the others never see. Returns: false, the executor
 * ends. */
GPURT_DEVN bool gpurt_worker_find(gpurt_worker_t *w)
{
    for (;;) {
        uint32_t what, index;

        gpurt_batch_end(w);
        what = gpurt_lane() == 0 ? gpurt_worker_called(w) : 0;
        if (!gpurt_task_whole())
            return false;
        what = gpurt_shfl_u32(GPURT_FULL_MASK, what, 0);
        if (what & GPURT_WORKER_ENDS)
            gpurt_cancel_point();
        if (what & GPURT_WORKER_MEETS) {
            if (!gpurt_worker_meet(w))
                return false;
            continue;
        }
        if (what & GPURT_WORKER_ASKS)
            w->asks = gpurt_orders_take(&w->run); /* there may be more */
        if (what & GPURT_WORKER_LOOK)
            gpurt_hall_look(&w->run);
        index = GPURT_TASK_NONE;
        if (w->next == GPURT_TASK_NONE) {
            index = gpurt_worker_pull(&w->run);
        } else if (gpurt_lane() == 0) {
            index = w->next;
            w->at_once++;
        }
        if (!gpurt_any(GPURT_FULL_MASK, index != GPURT_TASK_NONE)) {
            index = gpurt_worker_wait(w);
            if (!gpurt_task_whole())
                return false;
        }
        if (gpurt_any(GPURT_FULL_MASK, index != GPURT_TASK_NONE)) {
            gpurt_batch_take(w, index);
            return true;
        }
    }
}

/* The whole warp. From one body of a batch to the next it calls nothing. Returns: true with a task
 * whose body is to run; false, the executor ends. */
GPURT_DEV bool gpurt_worker_next(gpurt_worker_t *w)
{
    while (!gpurt_batch_next(w))
        if (!gpurt_worker_find(w))
            return false;
    return true;
}

#endif
