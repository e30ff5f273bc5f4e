/* SPDX-License-Identifier: Apache-2.0 */
/* taskwork.h - what a warp of an executor does: it pulls tasks, runs them, waits, and meets the
 * other warps of its block at gpurt_service_go. GPURT_EXECUTOR (task.h) makes the kernel:
 *
 *     gpurt_worker_t w;
 *
 *     gpurt_worker_begin(&w, p);
 *     while (gpurt_worker_next(&w)) {
 *         the body of task w.run.row->function
 *         gpurt_worker_done(&w);
 *     }
 *
 * Context: device code, whole warps. */
#ifndef GPURT_TASKWORK_H
#define GPURT_TASKWORK_H

#include <gpurt/clock.h>
#include <gpurt/defer.h>

#include <gpurt/impl/taskcore.h>

enum {
    GPURT_WORKER_FLUSH = 64 /* bodies, after which a warp adds up what it did */
};

/* Owner: each lane. Fields are the same in all lanes of the warp, but for the leader's. */
typedef struct gpurt_worker {
    gpurt_task_run_t run;
    gpurt_service_turn_t turn;
    gpurt_executor_warp_t *warp;
    uint32_t next; /* a task to run at once, or GPURT_TASK_NONE */
    /* the leader's */
    uint32_t bodies;
    bool asks;      /* it looks for orders of the host's before it pulls */
    uint64_t asked; /* clock of the last look for them; of thread 0 */
    uint64_t began, since, useful, waiting, at_once; /* began: of the body */
} gpurt_worker_t;

/* ---- cleaning up behind a warp --------------------------------------------------------- */

/* A lane leaves last of a warp whose block is cancelled: the task that it ran has failed, what it
 * held goes back into the queue. */
GPURT_DEVN void gpurt_worker_gone(uint64_t at)
{
    gpurt_executor_warp_t *warp = (gpurt_executor_warp_t *)(uintptr_t)at;
    /* relaxed: this warp's own */
    uint32_t index = gpurt_load_relaxed_dev_u32(&warp->xrunning), me = 1u << gpurt_lane();
    uint32_t next = gpurt_load_relaxed_dev_u32(&warp->xnext);
    gpurt_task_run_t run = {warp->map, NULL, warp->block, NULL,  0,
                            0,         0,    false,       false, false};

    if (next != GPURT_TASK_NONE)
        gpurt_tasks_push(&run, me, me, next);
    if (index == GPURT_TASK_NONE)
        return;
    run.row = &run.map->tasks[index];
    run.task = index + 1;
    run.status = GPURT_E_PANIC;
    /* relaxed: only this warp made it more than 0 */
    run.parent = gpurt_load_relaxed_dev_u32(&run.row->xneeds) != 0;
    next = gpurt_task_end(&run, me);
    if (next != GPURT_TASK_NONE)
        gpurt_tasks_push(&run, me, me, next);
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

/* The leader: what cleaning up would find. relaxed: the same warp reads it. */
GPURT_DEV void gpurt_worker_hold(const gpurt_worker_t *w, uint32_t running, uint32_t next)
{
    gpurt_store_relaxed_dev_u32(&w->warp->xrunning, running);
    gpurt_store_relaxed_dev_u32(&w->warp->xnext, next);
}

/* ---- life ------------------------------------------------------------------------------ */

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
    if (gpurt_thread_rank() == 0) { /* relaxed: a barrier follows */
        gpurt_store_relaxed_blk_u32(&hall->xmeet, 1);
        gpurt_store_relaxed_blk_u32(&hall->xidle, 0);
        gpurt_store_relaxed_blk_u32(&hall->xnews, 0);
        gpurt_store_relaxed_blk_u32(&hall->xlooks, 0);
    }
    if (gpurt_lane() == 0) {
        w->warp->map = p->map.self;
        w->warp->block = w->run.block;
        gpurt_worker_hold(w, GPURT_TASK_NONE, GPURT_TASK_NONE);
    }
    gpurt_worker_note(w);
    gpurt_block_barrier();
}

/* The leader adds up what its warp did. */
GPURT_DEV void gpurt_worker_flush(gpurt_worker_t *w)
{
    gpurt_executor_block_t *b = w->run.block;
    uint64_t now = gpurt_clock();

    gpurt_executor_count(&b->xuseful, w->useful);
    gpurt_executor_count(&b->xwaiting, w->waiting);
    gpurt_executor_count(&b->xtotal, now - w->since);
    gpurt_executor_count(&b->xat_once, w->at_once);
    w->since = now;
    w->useful = w->waiting = w->at_once = 0;
    w->bodies = 0;
}

/* ---- orders of the host ---------------------------------------------------------------- */

/* Orders that are not taken. */
GPURT_DEV uint32_t gpurt_orders_left(const gpurt_executor_map_t *m)
{
    /* relaxed: xtaken; who takes orders acquires it with the lock */
    return gpurt_load_acquire_sys_u32(&m->desk->xposted) - /* HW2.acq */
           gpurt_load_relaxed_dev_u32(&m->words->xtaken);
}

/* One order a lane, whatever it is: kind by kind, so that an order finds the tasks of those before
 * it. The whole warp. */
GPURT_DEVN void gpurt_orders_obey(gpurt_task_run_t *run, const gpurt_task_order_t *o,
                                  bool some)
{
    const gpurt_executor_map_t *m = run->map;
    uint32_t what = some ? o->what : 0, full = GPURT_FULL_MASK;
    gpurt_task_plan_t plan = {some ? o->args : NULL, GPURT_TASK_ARGS_BYTES,
                              some ? o->function : 0, some ? o->how : 0,
                              some ? o->record : 0};
    gpurt_task_t task, other = 0;
    bool waits;

    gpurt_tasks_make(run, full, what == GPURT_ORDER_SPAWN, &plan, &task);
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
    if (gpurt_edges_add(run, full, waits && other, other, task) != GPURT_OK ||
        (waits && !other))
        gpurt_task_taint(&m->tasks[gpurt_task_index(task)]);
    if (what == GPURT_ORDER_CANCEL && task)
        (void)gpurt_task_cancel_one(m, task);
    gpurt_syncwarp(
        full); /* before one of them starts: it may be one that was cancelled first */
    gpurt_tasks_release(run, full, what == GPURT_ORDER_START && task,
                        gpurt_task_index(task));
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

/* ---- pulling --------------------------------------------------------------------------- */

/* Levels with tasks, a bit each, as each lane saw its own. The whole warp. */
GPURT_DEV uint32_t gpurt_levels_ready(const gpurt_executor_map_t *m)
{
    uint32_t lane = gpurt_lane();
    bool some = lane < GPURT_TASK_LEVELS && /* relaxed: a hint; a pop finds out */
                gpurt_load_relaxed_dev_u32(&m->words->xcredits[lane]) != 0;

    return gpurt_ballot(GPURT_FULL_MASK, some);
}

/* The whole warp. Returns: one of the most urgent, or GPURT_TASK_NONE. */
GPURT_DEV uint32_t gpurt_worker_pull(const gpurt_executor_map_t *m)
{
    uint32_t index = GPURT_TASK_NONE;

    for (uint32_t levels = gpurt_levels_ready(m); levels; levels &= levels - 1) {
        gpurt_taskring_t ring = gpurt_executor_ring(m, gpurt_ctz(levels));

        if (gpurt_taskring_pop(&ring, GPURT_FULL_MASK, 1, &index))
            return gpurt_shfl_u32(GPURT_FULL_MASK, index, 0);
    }
    return GPURT_TASK_NONE;
}

/* One lane: whether a queue has something, or the host. */
GPURT_DEV bool gpurt_work_anywhere(const gpurt_executor_map_t *m)
{
    for (uint32_t i = 0; i < GPURT_TASK_LEVELS;
         i++) /* relaxed: a hint, or behind a fence */
        if (gpurt_load_relaxed_dev_u32(&m->words->xcredits[i]))
            return true;
    return gpurt_orders_left(m) != 0;
}

/* ---- running --------------------------------------------------------------------------- */

/* The leader: what befell the task before this run. Returns: whether its body is to run. */
GPURT_DEV bool gpurt_task_begin(gpurt_task_run_t *run)
{
    gpurt_task_row_t *row = run->row;
    uint64_t word;

    if (row->flags & GPURT_TASK_OVER) {
        run->status = (gpurt_status_t)(int64_t)row->args[0];
        run->value = row->args[1];
        return false;
    }
    word = gpurt_or_relaxed_dev_u64(&row->xword, /* relaxed: the queue brought it along */
                                    GPURT_TASK_BEGUN);
    run->task = (word & ~(uint64_t)UINT32_MAX) | run->task;
    run->tainted = (word & GPURT_TASK_TAINTED) != 0;
    if (word & GPURT_TASK_BEGUN || (!(word & GPURT_TASK_CANCELLED) &&
                                    (!run->tainted || row->flags & GPURT_TASK_ANYWAY)))
        return true;
    run->status = GPURT_E_CANCELLED;
    return false;
}

/* The whole warp takes a task up. Returns: false, it is over without its body: w->next may be
 * another. */
GPURT_DEV bool gpurt_worker_take(gpurt_worker_t *w, uint32_t index)
{
    gpurt_task_run_t *run = &w->run;
    uint32_t runs = 0;

    run->row = &run->map->tasks[index];
    run->task = index + 1;
    run->value = 0;
    run->status = GPURT_OK;
    run->parent = run->again = run->tainted = false;
    w->next = GPURT_TASK_NONE;
    if (gpurt_lane() == 0) {
        gpurt_worker_hold(w, index, GPURT_TASK_NONE);
        runs = gpurt_task_begin(run);
        runs |= (uint32_t)run->tainted << 1;
        w->began = gpurt_clock();
    }
    runs = gpurt_shfl_u32(GPURT_FULL_MASK, runs, 0);
    run->task = gpurt_shfl_u64(GPURT_FULL_MASK, run->task, 0);
    run->tainted = (runs & 2) != 0;
    if (runs & 1)
        return true;
    run->status = gpurt_shfl_i32(GPURT_FULL_MASK, run->status, 0);
    w->next = gpurt_task_close(run, GPURT_FULL_MASK);
    if (gpurt_lane() == 0)
        gpurt_worker_hold(w, GPURT_TASK_NONE, w->next);
    return false;
}

/* The whole warp: the body has returned. A lane that is missing has panicked: the others leave,
 * and the last cleans up. */
GPURT_DEV void gpurt_worker_done(gpurt_worker_t *w)
{
    if (!gpurt_task_whole())
        return;
    if (gpurt_lane() == 0) {
        w->useful += gpurt_clock() - w->began;
        w->bodies++;
    }
    w->next = gpurt_task_end(&w->run, GPURT_FULL_MASK);
    if (gpurt_lane() == 0) {
        gpurt_worker_hold(w, GPURT_TASK_NONE, w->next);
        w->at_once += w->next != GPURT_TASK_NONE;
        if (w->bodies >= GPURT_WORKER_FLUSH)
            gpurt_worker_flush(w);
    }
}

/* ---- waiting --------------------------------------------------------------------------- */

/* Thread 0. Its block counts as asleep before it looks a last time. */
GPURT_DEV void gpurt_worker_sleep(gpurt_worker_t *w)
{
    gpurt_executor_words_t *words = w->run.map->words;
    /* relaxed: the fence orders the count before the look; the rest are numbers */
    uint32_t seen = gpurt_load_relaxed_dev_u32(&words->xwake);

    gpurt_add_relaxed_dev_u32(&words->xsleepers, 1);
    gpurt_fence_seq_cst_dev();
    gpurt_store_relaxed_dev_u64(&w->run.block->xasleep, 1);
    if (!gpurt_work_anywhere(w->run.map))
        gpurt_service_await(&w->turn, &words->xwake, seen);
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
    if (!gpurt_service_go(&w->turn)) {
        gpurt_worker_unnote();
        return false;
    }
    if (gpurt_thread_rank() == 0) { /* relaxed: barriers around it */
        bool idle = gpurt_load_relaxed_blk_u32(&hall->xidle) == gpurt_warps();

        if (idle)
            gpurt_worker_sleep(w);
        gpurt_store_relaxed_blk_u32(&hall->xidle, 0);
        gpurt_store_relaxed_blk_u32(&hall->xlooks, 0);
        gpurt_store_relaxed_blk_u32(&hall->xmeet, 0);
    }
    gpurt_block_barrier();
    if (gpurt_lane() == 0) {
        w->waiting += gpurt_clock() - began;
        w->asks = true;
    }
    return true;
}

/* Whether the block's warps meet: the host wants it, or all of them are idle. */
GPURT_DEV bool gpurt_hall_meets(const gpurt_executor_hall_t *hall)
{
    return gpurt_load_relaxed_blk_u32(&hall->xmeet) || /* relaxed: a barrier follows */
           gpurt_load_relaxed_blk_u32(&hall->xidle) == gpurt_warps();
}

/* An idle warp goes back to work. Returns: false, all are idle by now, so they meet: none may begin
 * a task while the others wait for it at a barrier. */
GPURT_DEV bool gpurt_hall_leave(gpurt_executor_hall_t *hall)
{
    uint32_t idle = gpurt_load_relaxed_blk_u32(&hall->xidle); /* relaxed: exchanged */

    do
        if (idle == gpurt_warps())
            return false;
    while (!gpurt_cas_relaxed_blk_u32(&hall->xidle, &idle, idle - 1));
    return true;
}

/* The leader of a warp that found nothing, with others of its block at work: until there is news,
 * or all meet. One of them looks at the queues, in growing pauses; the others at the block's
 * word. */
GPURT_DEV void gpurt_worker_idle(gpurt_worker_t *w)
{
    gpurt_executor_hall_t *hall = w->run.hall;
    /* relaxed: hints within the block; who pulls finds out */
    uint32_t seen = gpurt_load_relaxed_blk_u32(&hall->xnews), turns = 1;
    bool looks = false;

    gpurt_add_relaxed_blk_u32(&hall->xidle, 1);
    while (!gpurt_hall_meets(hall) && gpurt_load_relaxed_blk_u32(&hall->xnews) == seen) {
        looks = looks || gpurt_xchg_relaxed_blk_u32(&hall->xlooks, 1) == 0;
        if (looks && gpurt_work_anywhere(w->run.map))
            gpurt_add_relaxed_blk_u32(&hall->xnews, 1);
        if (gpurt_thread_rank() == 0 && gpurt_service_called(&w->turn))
            gpurt_store_relaxed_blk_u32(&hall->xmeet, 1);
        gpurt_backoff(&turns);
        gpurt_relax(); /* its block may be cancelled */
    }
    if (gpurt_hall_leave(hall) && looks)
        gpurt_store_relaxed_blk_u32(&hall->xlooks, 0);
}

GPURT_DEV void gpurt_worker_wait(gpurt_worker_t *w)
{
    if (gpurt_lane() == 0) {
        uint64_t began = gpurt_clock();

        gpurt_worker_flush(w);
        gpurt_worker_idle(w);
        w->asks = true;
        w->waiting += gpurt_clock() - began;
    }
    gpurt_syncwarp(GPURT_FULL_MASK);
}

enum {
    GPURT_WORKER_MEETS = 1,
    GPURT_WORKER_ASKS = 2,
    GPURT_WORKER_ENDS = 4
};

/* The leader, between tasks: what its warp is to do before it pulls. The host's words are far away:
 * with work at hand, thread 0 alone reads them, now and then. */
GPURT_DEV uint32_t gpurt_worker_called(gpurt_worker_t *w)
{
    uint32_t what = gpurt_cancelled() ? GPURT_WORKER_ENDS : 0;
    uint64_t now = gpurt_clock();

    if (gpurt_thread_rank() == 0) { /* relaxed: hints */
        if (gpurt_service_called(&w->turn))
            gpurt_store_relaxed_blk_u32(&w->run.hall->xmeet, 1);
        w->asks = w->asks || now - w->asked > GPURT_SERVICE_LOOK_CYCLES;
    }
    if (gpurt_hall_meets(w->run.hall))
        return what | GPURT_WORKER_MEETS;
    if (w->asks && w->next == GPURT_TASK_NONE) {
        what |= GPURT_WORKER_ASKS;
        w->asks = false;
        w->asked = now;
    }
    return what;
}

/* The whole warp. Cancellation is asked once, by the leader: lanes that asked apart could part, and
 * some pull a task that the others never see. Returns: true with a task whose body is to run;
 * false, the executor ends. */
GPURT_DEVN bool gpurt_worker_next(gpurt_worker_t *w)
{
    for (;;) {
        uint32_t what = gpurt_lane() == 0 ? gpurt_worker_called(w) : 0, index;

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
            (void)gpurt_orders_take(&w->run);
        index = w->next == GPURT_TASK_NONE ? gpurt_worker_pull(w->run.map) : w->next;
        if (index == GPURT_TASK_NONE)
            gpurt_worker_wait(w);
        else if (gpurt_worker_take(w, index))
            return true;
    }
}

#endif
