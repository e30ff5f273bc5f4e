/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "executorview.h"

#include "watch.h"

enum {
    NAME,
    BLOCKS,
    ASLEEP,
    TASKS,
    LIVE,
    READY,
    LEVELS,
    ENDED,
    FAILED,
    CANCELLED,
    REFUSED,
    AT_ONCE,
    USEFUL,
    SCHEDULING,
    WAITING,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [NAME] = {.name = "name", .kind = GPURT_FIELD_TEXT},
    [BLOCKS] = {.name = "blocks", .kind = GPURT_FIELD_LIMIT},
    [ASLEEP] = {.name = "asleep", .kind = GPURT_FIELD_GAUGE},
    [TASKS] = {.name = "tasks", .kind = GPURT_FIELD_LIMIT},
    [LIVE] = {.name = "live", .kind = GPURT_FIELD_GAUGE, .of = "tasks"},
    [READY] = {.name = "ready", .kind = GPURT_FIELD_GAUGE},
    [LEVELS] = {.name = "ready_by_level",
                .kind = GPURT_FIELD_MATRIX,
                .words = "level,ready",
                .count = 2 * GPURT_TASK_LEVELS},
    [ENDED] = {.name = "ended", .kind = GPURT_FIELD_COUNTER},
    [FAILED] = {.name = "failed", .kind = GPURT_FIELD_FAULT},
    [CANCELLED] = {.name = "cancelled", .kind = GPURT_FIELD_COUNTER},
    [REFUSED] = {.name = "refused", .kind = GPURT_FIELD_FAULT},
    [AT_ONCE] = {.name = "at_once", .kind = GPURT_FIELD_COUNTER},
    [USEFUL] = {.name = "useful_cycles", .kind = GPURT_FIELD_COUNTER},
    [SCHEDULING] = {.name = "scheduling_cycles", .kind = GPURT_FIELD_COUNTER},
    [WAITING] = {.name = "waiting_cycles", .kind = GPURT_FIELD_COUNTER},
};

/* Levels that have some, counted from 1: a row that begins with 0 is none. */
static void levels_put(const gpurt_executor_status_t *s, uint64_t *values)
{
    uint64_t *row = &values[LEVELS];

    for (uint32_t i = 0; i < GPURT_TASK_LEVELS; i++) {
        values[READY] += s->ready[i];
        if (!s->ready[i])
            continue;
        row[0] = i + 1;
        row[1] = s->ready[i];
        row += 2;
    }
}

static bool executor_look(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values)
{
    const gpurt_executor_own_t *const *at = object;
    const gpurt_executor_own_t *e = *at;
    size_t bytes = e->blocks * sizeof(gpurt_executor_block_t);
    uint64_t *behind = values + 2 * GPURT_TASK_LEVELS - 1; /* fields after the matrix */
    gpurt_executor_status_t s = {.live = 0};
    gpurt_executor_words_t words;
    char *copy = gpurt_viewer_buffer(v, sizeof words + bytes);

    (void)due;
    if (!copy || !gpurt_viewer_fetch(v, copy, e->map.words, sizeof words) ||
        !gpurt_viewer_fetch(v, copy + sizeof words, e->map.blocks, bytes))
        return false;
    gpurt_executor_sum((const gpurt_executor_words_t *)(const void *)copy,
                       (const gpurt_executor_block_t *)(const void *)(copy + sizeof words),
                       e->blocks, &s);
    values[NAME] = gpurt_watch_text(v, e->name);
    values[BLOCKS] = e->blocks;
    values[ASLEEP] = s.asleep;
    values[TASKS] = e->map.task_count;
    values[LIVE] = s.live;
    levels_put(&s, values);
    behind[ENDED] = s.ended;
    behind[FAILED] = s.failed;
    behind[CANCELLED] = s.cancelled;
    behind[REFUSED] = s.refused;
    behind[AT_ONCE] = s.at_once;
    behind[USEFUL] = s.useful;
    behind[SCHEDULING] = s.total - s.useful - s.waiting;
    behind[WAITING] = s.waiting;
    return true;
}

static const gpurt_class_t executor_class = {
    .name = "executor",
    .plural = "executors",
    .fields = fields,
    .field_count = FIELDS,
    .look = executor_look,
};

void gpurt_executorview_begin(const gpurt_executor_own_t *e)
{
    gpurt_watch_begin(e->rt, &executor_class, e->id, &e, sizeof(const void *));
}

void gpurt_executorview_end(const gpurt_executor_own_t *e)
{
    gpurt_watch_end(e->rt, &executor_class, e->id);
}
