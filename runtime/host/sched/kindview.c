/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of tasks: what each function of an executor's list has run so far. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "executoreyes.h"

#include <stdio.h>
#include <string.h>

enum {
    EXECUTOR,
    NAME,
    RUNNING,
    RUNS,
    USEFUL,
    LONGEST,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [EXECUTOR] = GPURT_FIELD("executor", REFERENCE, .words = "executor",
                             .flags = GPURT_FIELD_PARENT),
    [NAME] = GPURT_FIELD("name", TEXT),
    [RUNNING] = GPURT_FIELD("running", GAUGE), /* warps in a body of it */
    [RUNS] = GPURT_FIELD("runs", COUNTER),
    [USEFUL] = GPURT_FIELD("useful_cycles", COUNTER),
    [LONGEST] = GPURT_FIELD("longest_cycles", PEAK), /* of one body */
};
GPURT_STATIC_ASSERT((int)FIELDS == (int)GPURT_EYES_KIND, "a value each");
GPURT_CLASS_DECLARE(task_kind, task_kinds, fields, NULL);

uint64_t gpurt_eyes_kind(gpurt_viewer_t *v, const gpurt_executor_own_t *e,
                         uint32_t function)
{
    char text[32];

    if (function < e->kinds.count)
        return gpurt_watch_text(v, e->kinds.names[function]);
    snprintf(text, sizeof text, "function %u", function);
    return gpurt_watch_text(v, text);
}

/* The last one that is counted stands for all behind it, too. */
static uint64_t name_of(gpurt_viewer_t *v, const gpurt_executor_own_t *e, uint32_t kind)
{
    return kind + 1 == GPURT_TASK_KINDS && e->kinds.count > GPURT_TASK_KINDS
               ? gpurt_watch_text(v, "others")
               : gpurt_eyes_kind(v, e, kind);
}

static uint32_t running_count(const gpurt_executor_own_t *e,
                              const gpurt_executor_seen_t *seen, uint32_t kind)
{
    uint32_t count = 0, row;

    for (uint32_t i = 0; i < e->blocks * e->warps; i++) {
        uint32_t function = gpurt_warp_function(seen->warps[i].xat);

        function = function < GPURT_TASK_KINDS ? function : GPURT_TASK_KINDS - 1u;
        count += gpurt_eye_runs(&seen->warps[i], &row) && function == kind;
    }
    return count;
}

static void kind_fill(gpurt_viewer_t *v, const gpurt_executor_own_t *e,
                      const gpurt_executor_seen_t *seen, uint32_t kind, uint64_t *values)
{
    values[EXECUTOR] = e->id;
    values[NAME] = name_of(v, e, kind);
    values[RUNNING] = running_count(e, seen, kind);
    for (uint32_t i = 0; i < e->blocks; i++) {
        values[RUNS] += seen->blocks[i].kinds[kind].xruns;
        values[USEFUL] += seen->blocks[i].kinds[kind].xcycles;
    }
    values[LONGEST] = seen->words->xlongest[kind];
}

void gpurt_kindview_look(gpurt_viewer_t *v, const gpurt_executor_own_t *e,
                         const gpurt_executor_seen_t *seen)
{
    gpurt_executor_eyes_t *eyes = e->eyes;
    uint32_t most = GPURT_TASK_KINDS, count = e->kinds.count < most ? e->kinds.count : most;

    for (uint32_t kind = 0; kind < count; kind++) {
        uint64_t values[FIELDS] = {0};
        bool told = eyes->kinds_told >> kind & 1u;

        kind_fill(v, e, seen, kind, values);
        if (!told && !values[RUNS] && !values[RUNNING])
            continue;
        if (told && !seen->due && memcmp(values, eyes->kinds[kind], sizeof values) == 0)
            continue;
        eyes->kinds_told |= 1u << kind;
        memcpy(eyes->kinds[kind], values, sizeof values);
        gpurt_watch_part(v, &gpurt_class_task_kind, eyes->kind_id + kind, values, false);
    }
}

void gpurt_kindview_end(gpurt_viewer_t *v, const gpurt_executor_own_t *e)
{
    for (uint32_t kind = 0; kind < GPURT_TASK_KINDS; kind++) {
        e->eyes->kinds[kind][RUNNING] = 0;
        if (e->eyes->kinds_told >> kind & 1u)
            gpurt_watch_part(v, &gpurt_class_task_kind, e->eyes->kind_id + kind,
                             e->eyes->kinds[kind], true);
    }
}
