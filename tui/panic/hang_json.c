/* SPDX-License-Identifier: Apache-2.0 */
/* The object `hang` of docs/PANIC_JSON.md. */
#include "hang_text.h"

#include <string.h>

static const char *const kinds[GPURT_WAITABLE_KINDS] = {"other",   "lock",  "barrier",
                                                        "channel", "futex", "semaphore"};
static const char *const reasons[] = {"none", "owner", "all",  "data",
                                      "room", "word",  "done", "credit"};
GPURT_STATIC_ASSERT(sizeof reasons / sizeof reasons[0] == GPURT_WAIT_CREDIT + 1,
                    "a word for each reason of state.h");

static void put_site(gpurt_json_t *j, const char *key, const gpurt_waits_t *w,
                     uint32_t site)
{
    if (site == GPURT_WAIT_NOBODY) {
        gpurt_json_null(j, key);
        return;
    }
    gpurt_json_object(j, key);
    gpurt_json_text(j, "file", w->sites[site].file);
    gpurt_json_number(j, "line", w->sites[site].line);
    gpurt_json_text(j, "text", w->sites[site].text);
    gpurt_json_object_end(j);
}

static void put_object(gpurt_json_t *j, const gpurt_waits_t *w, const gpurt_wait_t *wait)
{
    const gpurt_wait_object_t *o;

    if (wait->object != GPURT_WAIT_NOBODY) {
        o = &w->objects[wait->object];
        gpurt_json_object(j, "object");
        gpurt_json_text(j, "kind", kinds[o->kind]);
        gpurt_json_text(j, "name", o->name);
        gpurt_json_known(j, "index", o->index != GPURT_WAITABLE_SINGLE, o->index);
        gpurt_json_object_end(j);
    } else if (wait->number >= GPURT_WAITABLE_NAMED) {
        gpurt_json_object(j, "object");
        gpurt_json_text(j, "kind", "barrier");
        gpurt_json_text(j, "name",
                        wait->number == GPURT_WAITABLE_GRID      ? "grid"
                        : wait->number == GPURT_WAITABLE_BLOCK   ? "block"
                        : wait->number == GPURT_WAITABLE_CLUSTER ? "cluster"
                                                                 : "named");
        gpurt_json_known(j, "index", wait->number < GPURT_WAITABLE_CLUSTER,
                         wait->number - GPURT_WAITABLE_NAMED);
        gpurt_json_object_end(j);
    } else {
        gpurt_json_null(j, "object");
    }
}

typedef struct putting {
    gpurt_json_t *json;
    const gpurt_waits_t *w;
} putting_t;

static void put_blocker(void *context, uint32_t i, const gpurt_wait_owner_t *o)
{
    const putting_t *p = context;
    gpurt_json_t *j = p->json;
    const bool thread = o && gpurt_wait_owner_is_thread(o);
    const bool task =
        o ? gpurt_wait_owner_is_task(o) : gpurt_wait_task(p->w, &p->w->waits[i]) != NULL;
    const bool lanes = !thread && !task;

    gpurt_json_object(j, NULL);
    gpurt_json_known(j, "wait", i != GPURT_WAIT_NOBODY, i);
    gpurt_json_known(j, "block", lanes, o ? o->block : p->w->waits[i].block);
    gpurt_json_known(j, "warp", lanes, o ? o->warp : p->w->waits[i].warp);
    gpurt_json_known(j, "thread", thread, o ? o->block : 0);
    if (o && task) {
        gpurt_json_number(j, "row", o->block);
        gpurt_json_number(j, "executor", o->place - GPURT_STATE_TASKS);
    }
    if (o) {
        gpurt_json_known(j, "lane", lanes, (o->place - 1) % GPURT_WARP_SIZE);
        gpurt_json_number(j, "since_ns", o->since_ns);
        gpurt_json_bool(j, "gone", o->gone);
        put_site(j, "held_at", p->w, o->site);
        put_site(j, "last_at", p->w, o->at_site);
    }
    gpurt_json_object_end(j);
}

static void put_task(gpurt_json_t *j, const gpurt_wait_task_t *task)
{
    static const char *const whys[GPURT_TASKWAIT_WHYS] = {"runs", "held", "awaits_children",
                                                          "awaits_task", "waits"};

    if (!task) {
        gpurt_json_null(j, "task");
        return;
    }
    gpurt_json_object(j, "task");
    gpurt_json_text(j, "name", task->name);
    gpurt_json_number(j, "executor", task->executor);
    gpurt_json_number(j, "row", task->row);
    gpurt_json_number(j, "generation", task->generation);
    gpurt_json_text(j, "why", whys[task->why]);
    gpurt_json_number(j, "awaited_by", task->awaited);
    gpurt_json_number(j, "others", task->others);
    gpurt_json_object_end(j);
}

/* Lanes, a thread of the host or a task: the others' fields are null. */
static void put_who(gpurt_json_t *j, const gpurt_waits_t *w, const gpurt_wait_t *wait)
{
    const gpurt_wait_thread_t *thread = gpurt_wait_thread(w, wait);
    const gpurt_wait_task_t *task = gpurt_wait_task(w, wait);
    const bool runs = task && task->why == GPURT_TASKWAIT_RUNS;
    const bool lanes = !thread && !task;

    gpurt_json_known(j, "block", lanes || runs, runs ? task->block : wait->block);
    gpurt_json_known(j, "warp", lanes || runs, runs ? task->warp : wait->warp);
    gpurt_json_known(j, "lanes", lanes, wait->mask);
    gpurt_json_number(j, "section", wait->section);
    gpurt_json_known(j, "sm", lanes || runs, runs ? task->sm : wait->sm);
    gpurt_json_known(j, "warp_slot", lanes, wait->slot);
    gpurt_json_known(j, "thread", thread != NULL, wait->block);
    put_task(j, task);
    if (!thread)
        return;
    gpurt_json_text(j, "thread_name", thread->name);
    gpurt_json_bool(j, "limited", thread->limited);
}

static void put_wait(gpurt_json_t *j, const gpurt_waitgraph_t *g, uint32_t i)
{
    const gpurt_wait_t *wait = &g->waits->waits[i];
    putting_t p = {j, g->waits};

    gpurt_json_object(j, NULL);
    put_who(j, g->waits, wait);
    gpurt_json_number(j, "since_ns", wait->since_ns);
    gpurt_json_text(j, "reason",
                    wait->reason < sizeof reasons / sizeof reasons[0]
                        ? reasons[wait->reason]
                        : "other");
    put_object(j, g->waits, wait);
    put_site(j, "at", g->waits, wait->site);
    gpurt_json_bool(j, "stuck", g->stuck[i]);
    gpurt_json_known(j, "circle", g->circle[i] != 0, g->circle[i]);
    gpurt_json_array(j, "waits_for");
    gpurt_waits_blockers(g->waits, i, put_blocker, &p);
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
}

void hang_json(gpurt_json_t *j, const char *key, const gpurt_waitgraph_t *g)
{
    gpurt_json_object(j, key);
    gpurt_json_number(j, "ts_ns", g->waits->time_ns);
    gpurt_json_number(j, "stuck", g->stuck_count);
    gpurt_json_number(j, "circles", g->circles);
    gpurt_json_number(j, "left_out", g->waits->left_out);
    gpurt_json_array(j, "waits");
    for (uint32_t i = 0; i < g->waits->count; i++)
        put_wait(j, g, i);
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
}
