/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of tasks with a quota: how much of an executor's time each may take, and takes. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "executoreyes.h"

#include <stdio.h>
#include <string.h>

enum {
    EXECUTOR,
    NAME,
    QUOTA,
    SHARE,
    WAITING,
    USED,
    HELD,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [EXECUTOR] = GPURT_FIELD("executor", REFERENCE, .words = "executor",
                             .flags = GPURT_FIELD_PARENT),
    [NAME] = GPURT_FIELD("name", TEXT),
    [QUOTA] = GPURT_FIELD("quota", LIMIT, .unit = "%"), /* 0: none */
    [SHARE] = GPURT_FIELD("share", GAUGE, .unit = "%", .of = "quota"),
    [WAITING] = GPURT_FIELD("waiting", GAUGE), /* tasks that could run, but for it */
    [USED] = GPURT_FIELD("used", COUNTER, .unit = "ns"),
    [HELD] = GPURT_FIELD("held", COUNTER),
};
GPURT_STATIC_ASSERT((int)FIELDS == (int)GPURT_EYES_GROUP, "a value each");
GPURT_CLASS_DECLARE(task_group, task_groups, fields, NULL);

/* Of the time of all warps since the look before; all of it where a body ended that began earlier. */
static uint64_t share_of(const gpurt_executor_own_t *e, uint64_t used_ns, uint64_t since_ns)
{
    uint64_t all_ns = since_ns * e->blocks * e->warps;

    used_ns = used_ns < all_ns ? used_ns : all_ns;
    return all_ns ? (used_ns * 100 + all_ns / 2) / all_ns : 0;
}

void gpurt_groupview_look(gpurt_viewer_t *v, const gpurt_executor_own_t *e,
                          const gpurt_executor_seen_t *seen,
                          const gpurt_executor_group_t *groups)
{
    gpurt_executor_eyes_t *eyes = e->eyes;
    uint64_t since_ns = eyes->groups_ns ? seen->now_ns - eyes->groups_ns : 0;

    for (uint32_t i = 0; i < e->map.groups; i++) {
        const gpurt_executor_group_t *g = &groups[i];
        uint64_t *before = eyes->groups[i], values[FIELDS];
        char text[32];

        snprintf(text, sizeof text, "group %u", i + 1);
        values[EXECUTOR] = e->id;
        values[NAME] = gpurt_watch_text(v, text);
        values[QUOTA] = g->percent;
        values[SHARE] = share_of(e, g->used_ns - before[USED], since_ns);
        values[WAITING] = g->waiting;
        values[USED] = g->used_ns;
        values[HELD] = g->held;
        if (!seen->due && memcmp(values, before, sizeof values) == 0)
            continue;
        memcpy(before, values, sizeof values);
        gpurt_watch_part(v, &gpurt_class_task_group, eyes->group_id + i, values, false);
    }
    eyes->groups_ns = seen->now_ns;
}

void gpurt_groupview_end(gpurt_viewer_t *v, const gpurt_executor_own_t *e)
{
    for (uint32_t i = 0; i < e->map.groups; i++)
        if (e->eyes->groups[i][EXECUTOR])
            gpurt_watch_part(v, &gpurt_class_task_group, e->eyes->group_id + i,
                             e->eyes->groups[i], true);
}
