/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that do not come on, and why. A body that runs past the limit is found by the word of its
 * warp, which stays the same; with it come some of those that wait for it. Where tasks live and
 * none is ready or runs, the pool is searched: each that waits, for whom, and those that nobody has
 * started. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "taskpool.h"

#include <string.h>

enum {
    HELD_MOST = 12,  /* of the list, so that there is room for those that wait */
    WAITERS_MOST = 3 /* of one that runs */
};

enum {
    EXECUTOR,
    NAME,
    WHY,
    LEVEL,
    ROW,
    SM,
    BLOCK,
    WARP,
    SINCE,
    WAITS_FOR,
    AWAITED,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [EXECUTOR] = GPURT_FIELD("executor", REFERENCE, .words = "executor",
                             .flags = GPURT_FIELD_PARENT),
    [NAME] = GPURT_FIELD("name", TEXT),
    [WHY] = GPURT_FIELD(
        "why", STATE,
        .words = "runs,held,awaits_children,awaits_task,sleeps"), /* gpurt_stuck_why_t */
    [LEVEL] = GPURT_FIELD("level", GAUGE),
    [ROW] = GPURT_FIELD("row", GAUGE),     /* of the pool */
    [SM] = GPURT_FIELD("sm", GAUGE),       /* this and the next two: of one */
    [BLOCK] = GPURT_FIELD("block", GAUGE), /* ... that runs */
    [WARP] = GPURT_FIELD("warp", GAUGE),
    [SINCE] = GPURT_FIELD("since", TIME), /* or longer */
    [WAITS_FOR] = GPURT_FIELD("waits_for", REFERENCE, .words = "stuck_task"),
    [AWAITED] = GPURT_FIELD("awaited_by", GAUGE), /* tasks */
};
GPURT_CLASS_DECLARE(stuck_task, stuck_tasks, fields, NULL);

static uint32_t last_id; /* of an object; under the viewer's lock */

/* Owner: the look. */
typedef struct finds {
    gpurt_stuck_t list[GPURT_EYES_STUCK];
    uint32_t count;
} finds_t;

static gpurt_stuck_t *find_add(finds_t *f, uint32_t row, gpurt_stuck_why_t why)
{
    gpurt_stuck_t *s;

    if (f->count == GPURT_EYES_STUCK)
        return NULL;
    s = &f->list[f->count++];
    memset(s, 0, sizeof *s);
    s->row = row + 1;
    s->why = why;
    return s;
}

/* ---- tasks that wait ------------------------------------------------------------------ */

static void waiter_add(finds_t *f, const gpurt_taskpool_t *p, uint32_t row,
                       gpurt_stuck_why_t why, uint64_t since_ns)
{
    gpurt_stuck_t *s = find_add(f, row, why);

    if (!s)
        return;
    s->generation = (uint32_t)(p->marks[row] >> 32);
    s->function = p->rows[row].head.function;
    s->level = p->rows[row].head.level;
    s->awaited = p->awaited[row];
    s->since_ns = since_ns;
    if (why == GPURT_STUCK_CHILDREN)
        s->for_row = p->child[row];
    if (why == GPURT_STUCK_AFTER)
        s->for_row = p->before[row];
}

/* Nothing runs, so what has begun and waits for no task sleeps. */
static gpurt_stuck_why_t why_of(const gpurt_taskpool_t *p, uint32_t row)
{
    if (!p->rows[row].xneeds)
        return GPURT_STUCK_SLEEPS;
    if (p->rows[row].xneeds > p->edges_to[row] + p->children[row])
        return GPURT_STUCK_HELD;
    return p->children[row] ? GPURT_STUCK_CHILDREN : GPURT_STUCK_AFTER;
}

/* Nothing runs, nothing is ready, and tasks live: those that nobody has started come first. */
static void waiters_find(gpurt_viewer_t *v, const gpurt_executor_own_t *e, finds_t *f)
{
    gpurt_taskpool_t p;

    if (!gpurt_taskpool_read(v, e, false, &p))
        return;
    for (uint32_t row = 0; row < e->map.task_count && f->count < HELD_MOST; row++)
        if (p.rows[row].xneeds && why_of(&p, row) == GPURT_STUCK_HELD)
            waiter_add(f, &p, row, GPURT_STUCK_HELD, e->eyes->quiet_ns);
    for (uint32_t row = 0; row < e->map.task_count; row++)
        if (gpurt_taskpool_lives(&p, row) && p.awaited[row] + p.rows[row].xneeds &&
            why_of(&p, row) != GPURT_STUCK_HELD)
            waiter_add(f, &p, row, why_of(&p, row), e->eyes->quiet_ns);
    gpurt_taskpool_free(&p);
}

/* ---- bodies that run on ---------------------------------------------------------------- */

static bool row_fetch(gpurt_viewer_t *v, const gpurt_executor_own_t *e, uint32_t row,
                      gpurt_task_row_t *r, uint64_t *mark)
{
    return gpurt_eyes_fetch(v, e, r, &e->map.tasks[row], sizeof *r) &&
           gpurt_eyes_fetch(v, e, mark, &e->map.marks[row], sizeof *mark);
}

/* Some of those that wait for it, and how many do. */
static void awaited_find(gpurt_viewer_t *v, const gpurt_executor_own_t *e, finds_t *f,
                         uint32_t row, gpurt_stuck_t *s)
{
    gpurt_task_row_t r;
    uint64_t mark;
    gpurt_task_edge_t edge;
    uint32_t at, added = 0;
    uint64_t since_ns = s->since_ns;

    if (!row_fetch(v, e, row, &r, &mark))
        return;
    s->generation = (uint32_t)(mark >> 32);
    s->awaited = r.head.parent != 0;
    at = (uint32_t)(mark & GPURT_TASK_EDGES);
    for (uint32_t i = 0; i < GPURT_POOL_WALK && at && at <= e->map.edge_count; i++) {
        if (!gpurt_eyes_fetch(v, e, &edge, &e->map.edges[at - 1], sizeof edge))
            return;
        at = edge.next;
        s->awaited++;
        if (added == WAITERS_MOST || edge.to >= e->map.task_count)
            continue;
        if (row_fetch(v, e, edge.to, &r, &mark)) {
            gpurt_stuck_t *w = find_add(f, edge.to, GPURT_STUCK_AFTER);

            if (!w)
                continue;
            w->generation = (uint32_t)(mark >> 32);
            w->function = r.head.function;
            w->level = r.head.level;
            w->for_row = row + 1;
            w->since_ns = since_ns;
            added++;
        }
    }
}

static void bodies_find(gpurt_viewer_t *v, const gpurt_executor_own_t *e,
                        const gpurt_executor_seen_t *seen, finds_t *f)
{
    for (uint32_t i = 0; i < e->blocks * e->warps; i++) {
        const gpurt_executor_warp_t *w = &seen->warps[i];
        gpurt_eye_warp_t *eye = &e->eyes->warps[i];
        gpurt_stuck_t *s;
        uint32_t row;

        if (!gpurt_eye_runs(w, &row) || row >= e->map.task_count) {
            eye->since_ns = 0;
            continue;
        }
        if (!eye->since_ns || eye->word != w->xat) {
            eye->word = w->xat;
            eye->since_ns = seen->now_ns;
        }
        if (seen->now_ns - eye->since_ns < e->stuck_ms * 1000000ull)
            continue;
        s = find_add(f, row, GPURT_STUCK_RUNS);
        if (!s)
            continue;
        s->function = gpurt_warp_function(w->xat);
        s->level = (uint8_t)(w->xat >> 8);
        s->block = i / e->warps;
        s->warp = i % e->warps;
        s->sm = (uint32_t)seen->blocks[s->block].xsm;
        s->since_ns = eye->since_ns;
        awaited_find(v, e, f, row, s);
    }
}

/* ---- telling --------------------------------------------------------------------------- */

static const gpurt_stuck_t *stuck_find(const gpurt_stuck_t *list, uint32_t row)
{
    for (uint32_t i = 0; row && i < GPURT_EYES_STUCK; i++)
        if (list[i].row == row)
            return &list[i];
    return NULL;
}

static bool stuck_same(const gpurt_stuck_t *a, const gpurt_stuck_t *b)
{
    return a && b && a->generation == b->generation && a->why == b->why;
}

static void stuck_tell(gpurt_viewer_t *v, const gpurt_executor_own_t *e,
                       const gpurt_stuck_t *list, const gpurt_stuck_t *s, bool ended)
{
    const gpurt_stuck_t *other = stuck_find(list, s->for_row);
    bool runs = s->why == GPURT_STUCK_RUNS;
    uint64_t values[FIELDS] = {0};

    values[EXECUTOR] = e->id;
    values[NAME] = gpurt_eyes_kind(v, e, s->function);
    values[WHY] = s->why;
    values[LEVEL] = s->level;
    values[ROW] = s->row - 1;
    values[SM] = runs ? s->sm : GPURT_VALUE_UNKNOWN;
    values[BLOCK] = runs ? s->block : GPURT_VALUE_UNKNOWN;
    values[WARP] = runs ? s->warp : GPURT_VALUE_UNKNOWN;
    values[SINCE] = s->since_ns;
    values[WAITS_FOR] = other ? other->id : 0;
    values[AWAITED] = s->awaited;
    gpurt_watch_part(v, &gpurt_class_stuck_task, s->id, values, ended);
}

static bool is_quiet(const gpurt_executor_own_t *e, const gpurt_executor_seen_t *seen)
{
    gpurt_executor_eyes_t *eyes = e->eyes;

    if (!seen->live || seen->ready || seen->running)
        eyes->quiet_ns = 0;
    else if (!eyes->quiet_ns)
        eyes->quiet_ns = seen->now_ns;
    return eyes->quiet_ns && seen->now_ns - eyes->quiet_ns >= e->stuck_ms * 1000000ull;
}

uint32_t gpurt_stuckview_look(gpurt_viewer_t *v, const gpurt_executor_own_t *e,
                              const gpurt_executor_seen_t *seen)
{
    gpurt_stuck_t *had = e->eyes->stuck;
    finds_t f;

    memset(&f, 0, sizeof f);
    bodies_find(v, e, seen, &f);
    if (is_quiet(e, seen))
        waiters_find(v, e, &f);
    for (uint32_t i = 0; i < f.count; i++) {
        const gpurt_stuck_t *before = stuck_find(had, f.list[i].row);

        f.list[i].id = stuck_same(before, &f.list[i]) ? before->id : ++last_id;
    }
    for (uint32_t i = 0; i < GPURT_EYES_STUCK; i++)
        if (had[i].row && !stuck_same(stuck_find(f.list, had[i].row), &had[i]))
            stuck_tell(v, e, had, &had[i], true);
    for (uint32_t i = 0; i < f.count; i++)
        stuck_tell(v, e, f.list, &f.list[i], false);
    memcpy(had, f.list, sizeof f.list);
    return f.count;
}

void gpurt_stuckview_end(gpurt_viewer_t *v, const gpurt_executor_own_t *e)
{
    for (uint32_t i = 0; i < GPURT_EYES_STUCK; i++)
        if (e->eyes->stuck[i].row)
            stuck_tell(v, e, e->eyes->stuck, &e->eyes->stuck[i], true);
}
