/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "executorview.h"

#include "executoreyes.h"
#include "hosttime.h"
#include "serviceown.h"
#include "taskwaits.h"

#include <stdlib.h>

enum {
    SMS = 160,           /* cells of a map of multiprocessors; further ones have none */
    SM_VALUES = SMS / 8, /* a byte each */
    LEVEL_VALUES = 2 * GPURT_TASK_LEVELS,
    PAIRS = 8, /* of multiprocessors, with most tasks that moved */
    PAIR_VALUES = 3 * PAIRS
};

enum {
    NAME,
    STATE,
    BLOCKS,
    ASLEEP,
    WARPS,
    RUNNING,
    TASKS,
    LIVE,
    READY,
    TIMED,
    STUCK,
    ENDED,
    FAILED,
    CANCELLED,
    REFUSED,
    GROUPLESS,
    AT_ONCE,
    MOVED,
    SLICED,
    RETRIED,
    PLACED,
    ASTRAY,
    STOLEN,
    USEFUL,
    SCHEDULING,
    WAITING,
    LEVELS, /* from here on of several values each */
    WAITS,
    MOVES,
    USEFUL_MAP,
    SCHEDULING_MAP,
    WAITING_MAP,
    FIELDS
};
/* Where the values of the longer fields begin. */
enum {
    AT_WAITS = LEVELS + LEVEL_VALUES,
    AT_MOVES = AT_WAITS + GPURT_TASK_WAITS,
    AT_USEFUL = AT_MOVES + PAIR_VALUES,
    AT_SCHEDULING = AT_USEFUL + SM_VALUES,
    AT_WAITING = AT_SCHEDULING + SM_VALUES
};
/* Of STATE: what `words` says, in that order. */
enum {
    IS_IDLE, /* nothing lives */
    IS_BUSY,
    IS_STARVED, /* no task is ready, and less than half of the warps are in a body */
    IS_STUCK,   /* a task does not come on */
    IS_DEAD     /* panics have ended all its blocks */
};
#define MAP(name_)                                                         \
    {                                                                      \
        .name = (name_), .kind = GPURT_FIELD_CELLS, .count = (uint32_t)SMS \
    }
static const gpurt_field_t fields[FIELDS] = {
    [NAME] = GPURT_FIELD("name", TEXT),
    [STATE] = GPURT_FIELD("state", STATE, .words = "idle,busy,starved,stuck,dead"),
    [BLOCKS] = GPURT_FIELD("blocks", LIMIT),
    [ASLEEP] = GPURT_FIELD("asleep", GAUGE),
    [WARPS] = GPURT_FIELD("warps", LIMIT),
    [RUNNING] = GPURT_FIELD("running", GAUGE), /* warps in a body */
    [TASKS] = GPURT_FIELD("tasks", LIMIT),
    [LIVE] = GPURT_FIELD("live", GAUGE, .of = "tasks"),
    [READY] = GPURT_FIELD("ready", GAUGE), /* those that wait for their group's time, too */
    [TIMED] = GPURT_FIELD("timed", GAUGE), /* tasks that sleep */
    [STUCK] =
        GPURT_FIELD("stuck", GAUGE,
                    .flags = GPURT_FIELD_TROUBLE), /* tasks, of those that are told of */
    [ENDED] = GPURT_FIELD("ended", COUNTER),
    [FAILED] = GPURT_FIELD("failed", FAULT),
    [CANCELLED] = GPURT_FIELD("cancelled", COUNTER),
    [REFUSED] = GPURT_FIELD("refused", FAULT),
    [GROUPLESS] = GPURT_FIELD("groupless", FAULT), /* times that one was taken up ... */
    [AT_ONCE] = GPURT_FIELD("at_once", COUNTER),
    [MOVED] = GPURT_FIELD("moved", COUNTER), /* from one multiprocessor to another, about */
    [SLICED] = GPURT_FIELD("sliced", COUNTER),   /* bodies of which there are records */
    [RETRIED] = GPURT_FIELD("retried", COUNTER), /* runs that a panic cut short */
    [PLACED] =
        GPURT_FIELD("placed", COUNTER), /* times that a task with a place was taken up */
    [ASTRAY] = GPURT_FIELD("astray", COUNTER), /* of these, by another block than its */
    [STOLEN] = GPURT_FIELD("stolen",
                           COUNTER), /* tasks that blocks took from the deques of others */
    [USEFUL] = GPURT_FIELD("useful_cycles", COUNTER),
    [SCHEDULING] = GPURT_FIELD("scheduling_cycles", COUNTER),
    [WAITING] = GPURT_FIELD("waiting_cycles", COUNTER),
    [LEVELS] = GPURT_FIELD("ready_by_level", MATRIX, .words = "level,ready",
                           .count = LEVEL_VALUES),
    [WAITS] = {.name = "ready_to_begun", /* one of so many tasks is looked at */
               .kind = GPURT_FIELD_HISTOGRAM,
               .unit = "ns",
               .count = GPURT_TASK_WAITS},
    [MOVES] = GPURT_FIELD("moved_by_pair", MATRIX, .words = "tasks,from_sm,to_sm",
                          .count = PAIR_VALUES),
    /* Of each multiprocessor, between two looks: shares of the time of its warps. */
    [USEFUL_MAP] = MAP("useful_by_sm"),
    [SCHEDULING_MAP] = MAP("scheduling_by_sm"),
    [WAITING_MAP] = MAP("waiting_by_sm"),
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
    values[READY] += s->at_places;                   /* nothing else keeps them */
    for (uint32_t i = 0; i < GPURT_TASK_GROUPS; i++) /* likewise */
        values[READY] += s->groups[i].waiting;
}

/* The pairs of multiprocessors with most. */
static void moves_put(const uint32_t *moves, uint32_t sms, uint64_t *values)
{
    gpurt_executor_pair_t pairs[PAIRS];
    uint32_t count = gpurt_executor_moves_most(moves, sms, pairs, PAIRS);

    for (uint32_t i = 0; i < count; i++) {
        values[AT_MOVES + 3 * i] = pairs[i].tasks;
        values[AT_MOVES + 3 * i + 1] = pairs[i].from;
        values[AT_MOVES + 3 * i + 2] = pairs[i].to;
    }
}

/* ---- multiprocessors ------------------------------------------------------------------- */

/* Parts of 254 of the time of a block's warps. */
typedef struct shares {
    uint32_t useful, waiting;
} shares_t;

static bool block_runs(const gpurt_executor_own_t *e, const gpurt_executor_seen_t *seen,
                       uint32_t block)
{
    uint32_t row;

    for (uint32_t i = 0; i < e->warps; i++)
        if (gpurt_eye_runs(&seen->warps[block * e->warps + i], &row))
            return true;
    return false;
}

/* Since the look before. A warp tells what it did between tasks: one that told nothing is in a long
 * body, or without work. */
static shares_t block_shares(const gpurt_executor_own_t *e,
                             const gpurt_executor_seen_t *seen, uint32_t block)
{
    const gpurt_executor_block_t *b = &seen->blocks[block];
    gpurt_eye_block_t *before = &e->eyes->blocks[block];
    uint64_t total = b->xtotal - before->total, useful = b->xuseful - before->useful;
    uint64_t waiting = b->xwaiting - before->waiting;
    shares_t s = {0, GPURT_CELL_FULL};

    before->total = b->xtotal;
    before->useful = b->xuseful;
    before->waiting = b->xwaiting;
    if (total) {
        useful = useful < total ? useful : total;
        waiting = waiting < total - useful ? waiting : total - useful;
        s.useful = (uint32_t)(useful * 1.0 / (double)total * GPURT_CELL_FULL);
        s.waiting = (uint32_t)(waiting * 1.0 / (double)total * GPURT_CELL_FULL);
    } else if (!b->xasleep && block_runs(e, seen, block)) {
        s.useful = GPURT_CELL_FULL;
        s.waiting = 0;
    }
    return s;
}

static void maps_put(const gpurt_executor_own_t *e, const gpurt_executor_seen_t *seen,
                     uint64_t *values)
{
    uint32_t useful[SMS] = {0}, waiting[SMS] = {0}, count[SMS] = {0};

    for (uint32_t i = 0; i < e->blocks; i++) {
        shares_t s = block_shares(e, seen, i);
        uint64_t sm = seen->blocks[i].xsm;

        if (sm >= SMS)
            continue;
        useful[sm] += s.useful;
        waiting[sm] += s.waiting;
        count[sm]++;
    }
    for (uint32_t sm = 0; sm < SMS; sm++) {
        uint32_t n = count[sm], u = n ? useful[sm] / n : 0, w = n ? waiting[sm] / n : 0;

        gpurt_cell_set(&values[AT_USEFUL], sm, n ? u : GPURT_CELL_NONE);
        gpurt_cell_set(&values[AT_WAITING], sm, n ? w : GPURT_CELL_NONE);
        gpurt_cell_set(&values[AT_SCHEDULING], sm,
                       n ? GPURT_CELL_FULL - u - w : GPURT_CELL_NONE);
    }
}

/* ---- the look -------------------------------------------------------------------------- */

static bool seen_fetch(gpurt_viewer_t *v, const gpurt_executor_own_t *e,
                       gpurt_executor_seen_t *seen)
{
    size_t blocks = e->blocks * sizeof *seen->blocks;
    size_t warps = (size_t)e->blocks * e->warps * sizeof *seen->warps;
    size_t moves = gpurt_executor_moves_bytes(&e->map);
    char *copy = gpurt_viewer_buffer(v, sizeof *seen->words + blocks + warps + moves);

    if (!copy || !gpurt_viewer_fetch(v, copy, e->map.words, sizeof *seen->words))
        return false;
    seen->words = (const gpurt_executor_words_t *)(const void *)copy;
    copy += sizeof *seen->words;
    seen->blocks = (const gpurt_executor_block_t *)(const void *)copy;
    if (!gpurt_viewer_fetch(v, copy, e->map.blocks, blocks))
        return false;
    copy += blocks;
    seen->warps = (const gpurt_executor_warp_t *)(const void *)copy;
    if (!gpurt_eyes_fetch(v, e, copy, e->map.warps, warps))
        return false;
    copy += warps;
    seen->moves = (const uint32_t *)(const void *)copy;
    return gpurt_viewer_fetch(v, copy, e->map.moves, moves);
}

static uint32_t running_count(const gpurt_executor_own_t *e,
                              const gpurt_executor_seen_t *seen)
{
    uint32_t count = 0, row;

    for (uint32_t i = 0; i < e->blocks * e->warps; i++)
        count += gpurt_eye_runs(&seen->warps[i], &row);
    return count;
}

static void sums_put(const gpurt_executor_status_t *s, uint64_t *values)
{
    values[ASLEEP] = s->asleep;
    values[LIVE] = s->live;
    levels_put(s, values);
    values[TIMED] = s->timed;
    values[ENDED] = s->ended;
    values[FAILED] = s->failed;
    values[CANCELLED] = s->cancelled;
    values[REFUSED] = s->refused;
    values[GROUPLESS] = s->groupless; /* ... whose group there is not */
    values[AT_ONCE] = s->at_once;
    values[MOVED] = s->moved;
    values[SLICED] = s->sliced;
    values[RETRIED] = s->retried;
    values[PLACED] = s->placed;
    values[ASTRAY] = s->astray;
    values[STOLEN] = s->stolen;
    for (uint32_t i = 0; i < GPURT_TASK_WAITS; i++)
        values[AT_WAITS + i] = s->waits[i];
    values[USEFUL] = s->useful;
    values[SCHEDULING] = s->total - s->useful - s->waiting;
    values[WAITING] = s->waiting;
}

/* Its blocks leave when it is closed, too: whoever sees that sees xclosing, which was stored before. */
static bool is_dead(const gpurt_executor_own_t *e)
{
    return gpurt_service_has_left(e->rt, e->service) &&
           !gpurt_load_relaxed_sys_u32(&e->xclosing); /* relaxed: ordered by the answers */
}

/* held: tasks that are ready, but for the time of their group. */
static uint64_t state_of(const gpurt_executor_own_t *e, const uint64_t *values,
                         uint64_t held)
{
    if (is_dead(e))
        return IS_DEAD;
    if (values[STUCK])
        return IS_STUCK;
    if (!values[LIVE] && !values[READY] && !values[RUNNING])
        return IS_IDLE;
    return values[READY] <= held && 2 * values[RUNNING] < values[WARPS] ? IS_STARVED
                                                                        : IS_BUSY;
}

static bool executor_look(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values)
{
    const gpurt_executor_own_t *e = object;
    gpurt_executor_seen_t seen = {.now_ns = gpurt_real_ns(), .due = due};
    gpurt_executor_status_t s = {.live = 0};
    uint64_t held = 0;

    if (!e->eyes || !seen_fetch(v, e, &seen))
        return false;
    gpurt_executor_sum(e, seen.words, seen.blocks, &s);
    values[NAME] = gpurt_watch_text(v, e->name);
    values[BLOCKS] = e->blocks;
    values[WARPS] = (uint64_t)e->blocks * e->warps;
    values[RUNNING] = running_count(e, &seen);
    values[TASKS] = e->map.task_count;
    sums_put(&s, values);
    moves_put(seen.moves, e->map.sms, values);
    maps_put(e, &seen, values);
    seen.live = (uint32_t)s.live;
    seen.ready = (uint32_t)(values[READY] + values[TIMED]);
    seen.running = (uint32_t)values[RUNNING];
    seen.timed = (uint32_t)values[TIMED];
    gpurt_kindview_look(v, e, &seen);
    gpurt_groupview_look(v, e, &seen, s.groups);
    values[STUCK] = gpurt_stuckview_look(v, e, &seen);
    gpurt_taskwaits_look(v, e, &seen);
    for (uint32_t i = 0; i < GPURT_TASK_GROUPS; i++)
        held += s.groups[i].waiting;
    values[STATE] = state_of(e, values, held);
    return true;
}

GPURT_CLASS_DECLARE(executor, executors, fields, executor_look);

/* ---- life ------------------------------------------------------------------------------ */

static void eyes_free(gpurt_executor_eyes_t *eyes)
{
    if (!eyes)
        return;
    free(eyes->warps);
    free(eyes->blocks);
    free(eyes);
}

/* Returns: NULL, without memory: then the log is told nothing of the executor. */
static gpurt_executor_eyes_t *eyes_make(const gpurt_executor_own_t *e)
{
    gpurt_executor_eyes_t *eyes = (gpurt_executor_eyes_t *)calloc(1, sizeof *eyes);

    if (!eyes)
        return NULL;
    eyes->warps =
        (gpurt_eye_warp_t *)calloc((size_t)e->blocks * e->warps, sizeof *eyes->warps);
    eyes->blocks = (gpurt_eye_block_t *)calloc(e->blocks, sizeof *eyes->blocks);
    eyes->kind_id = (e->id - 1) * GPURT_TASK_KINDS + 1;
    eyes->group_id = (e->id - 1) * GPURT_TASK_GROUPS + 1;
    if (eyes->warps && eyes->blocks)
        return eyes;
    eyes_free(eyes);
    return NULL;
}

void gpurt_executorview_begin(gpurt_executor_own_t *e)
{
    e->eyes = eyes_make(e);
    gpurt_watch_begin(e->rt, &gpurt_class_executor, e->id, e, 0);
}

void gpurt_executorview_end(gpurt_executor_own_t *e)
{
    gpurt_viewer_t *v;

    gpurt_watch_end(e->rt, &gpurt_class_executor, e->id);
    if (!e->eyes)
        return;
    v = gpurt_viewer_enter(e->rt);
    if (v) {
        gpurt_kindview_end(v, e);
        gpurt_groupview_end(v, e);
        gpurt_stuckview_end(v, e);
        gpurt_taskwaits_end(e);
        gpurt_viewer_leave();
    }
    eyes_free(e->eyes);
    e->eyes = NULL;
}
