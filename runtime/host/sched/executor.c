/* SPDX-License-Identifier: Apache-2.0 */
/* The life of executors: a table of them, open, close. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "executorown.h"
#include "executorview.h"

#include "hostpoll.h"
#include "optionsize.h"
#include "plural.h"
#include "refuse.h"
#include "tasktell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    POCKET_LEAST = 8,
    SCARCE = 4,          /* rows are, when fewer than one of so many is free */
    PLACE_TASKS = 1024,  /* that wait at a place at a time */
    TASKS_MOST = 1 << 26 /* so that 31 bits hold tickets of a lap, and 28 an edge */
};

/* ---- the table ------------------------------------------------------------------------- */

static gpurt_lock_t table = GPURT_LOCK_INIT;
static gpurt_executor_own_t owns[GPURT_EXECUTORS];
static uint32_t xlast; /* executor's id; written by: who opens */

static uint64_t handle_of(const gpurt_executor_own_t *e)
{
    return (uint64_t)e->generation << 32 | (uint32_t)(e - owns + 1);
}

/* A slot of a forked child's parent is free. */
static gpurt_executor_own_t *slot_take(void)
{
    uint32_t process = gpurt_process_generation();
    gpurt_executor_own_t *e = NULL;

    gpurt_lock_take(&table);
    for (uint32_t i = 0; !e && i < GPURT_EXECUTORS; i++)
        if ((!owns[i].busy && !owns[i].users) || owns[i].process != process)
            e = &owns[i];
    if (e) {
        uint32_t generation = e->generation + 1;

        memset(e, 0, sizeof *e);
        e->generation = generation ? generation : 1;
        e->process = process;
        e->busy = true;
        e->post = e->drain = (gpurt_lock_t)GPURT_LOCK_INIT;
    }
    gpurt_lock_give(&table);
    return e;
}

static void slot_set(gpurt_executor_own_t *e, bool open, bool busy)
{
    gpurt_lock_take(&table);
    e->open = open;
    e->busy = busy;
    gpurt_lock_give(&table);
}

gpurt_executor_own_t *gpurt_executor_hold(gpurt_t *rt, gpurt_executor_t x,
                                          gpurt_status_t *st, gpurt_error_t *err)
{
    uint32_t i = (uint32_t)x - 1, process = gpurt_process_generation();
    gpurt_executor_own_t *e = i < GPURT_EXECUTORS ? &owns[i] : NULL;
    bool forked = false, is = false;

    gpurt_lock_take(&table);
    if (e && e->open && handle_of(e) == x) {
        forked = e->process != process;
        is = !forked && e->rt == rt;
        e->users += is;
    }
    gpurt_lock_give(&table);
    if (is)
        return e;
    *st = forked
              ? REFUSE(err, GPURT_E_FORKED,
                       "executor 0x%llx was opened before this process was forked: open "
                       "another",
                       (unsigned long long)x)
              : REFUSE(err, GPURT_E_HANDLE,
                       "executor 0x%llx is not open with this runtime: it was closed, or "
                       "never opened",
                       (unsigned long long)x);
    return NULL;
}

void gpurt_executor_let(gpurt_executor_own_t *e)
{
    gpurt_lock_take(&table);
    e->users--;
    gpurt_lock_give(&table);
}

static uint32_t users_of(const gpurt_executor_own_t *e)
{
    uint32_t users;

    gpurt_lock_take(&table);
    users = e->users;
    gpurt_lock_give(&table);
    return users;
}

/* ---- open ------------------------------------------------------------------------------ */

static gpurt_status_t options_read(const gpurt_executor_options_t *given,
                                   gpurt_executor_options_t *o, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_options_copy(o, sizeof *o, given, "options", err);

    if (st != GPURT_OK)
        return st;
    o->warps = o->warps ? o->warps : GPURT_EXECUTOR_WARPS;
    o->tasks = o->tasks ? o->tasks : GPURT_EXECUTOR_TASKS;
    o->edges = o->edges ? o->edges : 2 * o->tasks;
    o->records = o->records ? o->records : GPURT_EXECUTOR_RECORDS;
    o->stuck_ms = o->stuck_ms ? o->stuck_ms : GPURT_EXECUTOR_STUCK_MS;
    o->slices = o->slices ? o->slices : GPURT_EXECUTOR_SLICES;
    if (o->slices > GPURT_EXECUTOR_SLICES_MOST && o->slices != GPURT_EXECUTOR_NO_SLICES)
        return REFUSE(err, GPURT_E_INVALID, "options: %u slices a second, at most %d",
                      o->slices, GPURT_EXECUTOR_SLICES_MOST);
    if (o->groups > GPURT_TASK_GROUPS)
        return REFUSE(err, GPURT_E_INVALID, "options: %u groups, at most %d", o->groups,
                      GPURT_TASK_GROUPS);
    if (o->places > GPURT_EXECUTOR_PLACES)
        return REFUSE(err, GPURT_E_INVALID, "options: %u places, at most %d", o->places,
                      GPURT_EXECUTOR_PLACES);
    if (o->warps > GPURT_HANDS)
        return REFUSE(err, GPURT_E_INVALID, "options: %u warps a block, 1 to %d", o->warps,
                      GPURT_HANDS);
    if (o->tasks > TASKS_MOST || o->edges > 2 * TASKS_MOST || o->records > TASKS_MOST)
        return REFUSE(err, GPURT_E_INVALID,
                      "executor options: tasks is %u, edges is %u, records is %u: at most "
                      "%d, %d, %d",
                      o->tasks, o->edges, o->records, TASKS_MOST, 2 * TASKS_MOST,
                      TASKS_MOST);
    if (o->share_percent > 87 || (o->share_percent && o->blocks))
        return REFUSE(err, GPURT_E_INVALID,
                      "executor options: share_percent is %u, blocks is %u: set one of "
                      "them; a share is "
                      "87 at most",
                      o->share_percent, o->blocks);
    return GPURT_OK;
}

/* As many blocks as are asked for. */
static gpurt_status_t blocks_find(gpurt_t *rt, const gpurt_kernel_t *kernel,
                                  gpurt_executor_options_t *o, gpurt_launch_t *launch,
                                  gpurt_error_t *err)
{
    gpurt_status_t st;
    gpurt_info_t info;
    uint32_t fit;

    *launch = (gpurt_launch_t){.grid = {1, 1, 1},
                               .block = {o->warps * GPURT_WARP_SIZE, 1, 1},
                               .shared_bytes = o->shared_bytes};
    st = gpurt_occupancy(rt, launch, kernel, &fit, err);
    if (st == GPURT_OK)
        st = gpurt_info(rt, &info);
    if (st != GPURT_OK)
        return st;
    if (o->share_percent)
        o->blocks = (uint32_t)((uint64_t)fit * o->share_percent / 100);
    else if (!o->blocks)
        o->blocks = info.sm_count < fit / 8 * 7 ? info.sm_count : fit / 8 * 7;
    o->blocks = o->blocks ? o->blocks : 1;
    launch->grid.x = o->blocks;
    return GPURT_OK;
}

static uint32_t shift_of(uint32_t count)
{
    uint32_t shift = 1;

    while (1u << shift < count)
        shift++;
    return shift;
}

/* What blocks keep is beside what was asked for, so that as many tasks live as that. It is a quarter
 * of it at most. */
static uint32_t spare_of(const gpurt_executor_options_t *o)
{
    uint32_t fair = o->tasks / (4 * o->blocks);

    if (fair < GPURT_WARP_SIZE)
        return 0;
    return fair < GPURT_POCKET_NUMBERS ? fair : GPURT_POCKET_NUMBERS;
}

/* Of a small pool a block keeps its part, so that others find some. */
static uint32_t pocket_of(const gpurt_executor_options_t *o)
{
    const uint32_t part = o->tasks / (4 * o->blocks);

    if (part < POCKET_LEAST)
        return POCKET_LEAST;
    return part < GPURT_POCKET_NUMBERS ? part : GPURT_POCKET_NUMBERS;
}

/* Of a warp, between two bodies that it tells the log of. A GPU's clock runs at 2 GHz at most, so
 * that they are no more than was asked for; that of the CPU back end counts nanoseconds. */
static uint64_t slice_cycles_of(const gpurt_executor_own_t *e, uint32_t slices)
{
    return (uint64_t)e->blocks * e->warps * (e->on_cpu ? 1000000000u : 2000000000u) /
           slices;
}

static void own_fill(gpurt_executor_own_t *e, gpurt_t *rt, const gpurt_kernel_t *kernel,
                     const gpurt_executor_options_t *o)
{
    gpurt_info_t info = {.backend = GPURT_BACKEND_CPU};

    (void)gpurt_info(rt, &info);
    e->rt = rt;
    e->id = gpurt_add_relaxed_sys_u32(&xlast, 1) + 1; /* relaxed: only to differ */
    e->on_cpu = info.backend == GPURT_BACKEND_CPU;
    e->blocks = o->blocks;
    e->warps = o->warps;
    e->record_count = o->records;
    e->stuck_ms = o->stuck_ms;
    e->map.spare = spare_of(o);
    e->map.pocket = pocket_of(o);
    e->map.sms = info.sm_count;
    e->map.fair_pulls = o->fair_pulls;
    e->map.groups = o->groups;
    e->map.places = o->places;
    e->slices = o->slices != GPURT_EXECUTOR_NO_SLICES;
    e->told = gpurt_tasktell_page(rt) != NULL;
    e->map.id = e->id;
    e->map.queued_shift = e->slices ? 0 : GPURT_TASK_SAMPLED_BITS;
    e->map.slice_cycles = slice_cycles_of(e, o->slices);
    e->map.slice_longest =
        (uint64_t)o->stuck_ms * 1000000; /* no clock is slower than 1 GHz */
    e->map.task_count = o->tasks + o->blocks * e->map.spare;
    e->map.scarce = o->deep ? UINT32_MAX : e->map.task_count / SCARCE;
    e->map.edge_count = o->edges;
    e->map.task_shift = shift_of(e->map.task_count);
    e->map.edge_shift = shift_of(o->edges);
    e->map.home_shift = shift_of(o->tasks < PLACE_TASKS ? o->tasks : (uint32_t)PLACE_TASKS);
    snprintf(e->name, sizeof e->name, "%s",
             o->service.name ? o->service.name : kernel->name);
}

static gpurt_status_t own_launch(gpurt_executor_own_t *e, const gpurt_kernel_t *kernel,
                                 const gpurt_executor_options_t *o,
                                 const gpurt_launch_t *launch, gpurt_error_t *err)
{
    struct gpurt_executor_args args;
    gpurt_status_t st = gpurt_executor_make(e, err);

    memset(&args, 0, sizeof args);
    args.map = e->map;
    if (st == GPURT_OK)
        st = gpurt_service_launch_kernel(e->rt, launch, kernel, &args, sizeof args,
                                         offsetof(struct gpurt_executor_args, service),
                                         &o->service, &e->service, err);
    if (st != GPURT_OK)
        gpurt_executor_unmake(e);
    return st;
}

gpurt_status_t gpurt_executor_open_kernel(gpurt_t *rt, const gpurt_kernel_t *kernel,
                                          const gpurt_task_list_t *tasks,
                                          const gpurt_executor_options_t *options,
                                          gpurt_executor_t *out, gpurt_error_t *err)
{
    gpurt_executor_options_t o;
    gpurt_executor_own_t *e;
    gpurt_launch_t launch;
    gpurt_status_t st;

    if (!out || !kernel || !tasks)
        return REFUSE(err, GPURT_E_INVALID, "%s is NULL: pass the address of a %s",
                      !out     ? "out"
                      : kernel ? "tasks"
                               : "kernel",
                      !out     ? "gpurt_executor_t"
                      : kernel ? "gpurt_task_list_t"
                               : "kernel");
    *out = 0;
    if (tasks->layout != GPURT_TASK_LAYOUT)
        return REFUSE(
            err, GPURT_E_VERSION,
            "executor %s: it was compiled with headers of another gpurt than this "
            "library: compile it anew",
            kernel->name);
    st = options_read(options, &o, err);
    if (st == GPURT_OK)
        st = blocks_find(rt, kernel, &o, &launch, err);
    if (st != GPURT_OK)
        return st;
    e = slot_take();
    if (!e)
        return REFUSE(err, GPURT_E_NOMEM,
                      "%d executors are open, more cannot be: close one", GPURT_EXECUTORS);
    own_fill(e, rt, kernel, &o);
    e->kinds = *tasks;
    st = own_launch(e, kernel, &o, &launch, err);
    slot_set(e, st == GPURT_OK, st == GPURT_OK);
    if (st != GPURT_OK)
        return st;
    *out = handle_of(e);
    gpurt_executorview_begin(e);
    return GPURT_OK;
}

/* ---- close ----------------------------------------------------------------------------- */

/* Nobody new comes in, and whoever waits is told. Returns: false, another thread closes it. */
static bool closing_begin(gpurt_executor_own_t *e)
{
    bool mine;

    gpurt_lock_take(&table);
    mine = e->open;
    e->open = false;
    gpurt_lock_give(&table);
    if (mine) /* relaxed: waits end by it, nothing else */
        gpurt_store_relaxed_sys_u32(&e->xclosing, 1);
    return mine;
}

static void users_await(const gpurt_executor_own_t *e)
{
    gpurt_hostpoll_t poll = gpurt_hostpoll_begin(UINT64_MAX);

    while (users_of(e) > 1) /* the caller is one */
        (void)gpurt_hostpoll_next(&poll);
}

static uint64_t dropped_count(gpurt_executor_own_t *e)
{
    uint64_t live = 0, posted = e->posted;
    uint32_t taken = 0;

    (void)gpurt_executor_fetch(e, &live, &e->map.words->xlive, sizeof live, NULL);
    /* Orders that no warp has taken. */
    taken = gpurt_load_acquire_sys_u32(&e->map.desk->xtaken); /* HW3.acq */
    for (uint32_t i = taken; i != (uint32_t)posted; i++)
        live += e->map.desk->orders[i % GPURT_TASK_ORDERS].what == GPURT_ORDER_SPAWN;
    return (uint32_t)live;
}

/* Context: the caller holds it, alone. */
static gpurt_status_t own_close(gpurt_executor_own_t *e, uint64_t *dropped,
                                gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_service_stop(e->rt, e->service, err);

    if (st == GPURT_E_TIMEOUT) {
        gpurt_lock_take(&table);
        e->open = true;
        gpurt_lock_give(&table);
        return st;
    }
    if (dropped)
        *dropped = dropped_count(e);
    gpurt_executorview_end(e);
    gpurt_executor_unmake(e);
    gpurt_lock_take(&table);
    e->busy = false; /* from the caller's let on, another may have it */
    gpurt_lock_give(&table);
    return st;
}

gpurt_status_t gpurt_executor_close(gpurt_t *rt, gpurt_executor_t x, uint64_t *dropped,
                                    gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;
    gpurt_executor_own_t *e = gpurt_executor_hold(rt, x, &st, err);

    if (dropped)
        *dropped = 0;
    if (!e)
        return st;
    if (!closing_begin(e)) {
        gpurt_executor_let(e);
        return REFUSE(err, GPURT_E_HANDLE, "executor 0x%llx is being closed",
                      (unsigned long long)x);
    }
    users_await(e);
    st = own_close(e, dropped, err);
    gpurt_executor_let(e);
    return st;
}
