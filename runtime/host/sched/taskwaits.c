/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "taskwaits.h"

#include "taskpool.h"
#include "tasktell.h"

#include <gpurt/atomic.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CIRCLES_MOST = 24, /* tasks of circles, so that there is room for others */
    BODIES_MOST = 24,  /* that told what they wait for, or run long; likewise */
    HELD_MOST = 8,
    LINES_MOST = 256,    /* functions whose lines are known */
    KEPT_NS = 1000000,   /* a begin that is read anew differs by less than this */
    ASKS_NS = 1000000000 /* a body that looks in vain does so in less, however many do */
};
GPURT_STATIC_ASSERT(GPURT_TASKWAITS < 256, "a slot is a byte");

/* What is told, from one look to the next. Owner: the eyes. */
typedef struct gpurt_taskwaits {
    gpurt_taskwait_t list[GPURT_TASKWAITS];
    uint32_t entries[GPURT_TASKWAITS]; /* of the page; 0: there was no room */
    uint32_t count, left;
    uint32_t asks;   /* xasks at the look before */
    uint64_t *asked; /* of a row each: when its body was last found to have told anew, */
    uint32_t *turns; /* ... and the last word of what it told */
} gpurt_taskwaits_t;

/* A look. */
typedef struct pick {
    const gpurt_executor_own_t *e;
    const gpurt_executor_seen_t *seen;
    const gpurt_taskpool_t *pool;
    gpurt_taskwaits_t *told;
    uint8_t *slots; /* of a row each: its place in `list` + 1; 0: it has none */
    uint8_t *runs;  /* likewise: a warp runs its body */
    uint32_t rows[GPURT_TASKWAITS];
    gpurt_taskwait_t list[GPURT_TASKWAITS];
    uint32_t count, waiting; /* waiting: tasks that do, told or not */
    uint32_t lines[LINES_MOST];
} pick_t;

/* Returns: false, there is no room. */
static bool pick(pick_t *k, uint32_t row, gpurt_taskwait_why_t why)
{
    if (k->slots[row])
        return true;
    if (k->count == GPURT_TASKWAITS)
        return false;
    k->rows[k->count] = row;
    k->list[k->count].why = (uint8_t)why;
    k->slots[row] = (uint8_t)++k->count;
    return true;
}

/* ---- circles ---------------------------------------------------------------------------- */

/* Owner: the search. needs: of those that a row waits for, how many are not struck out. */
typedef struct circles {
    pick_t *k;
    uint32_t *needs, *next, *work;
    uint32_t count; /* of work */
} circles_t;

/* Others were not counted (taskpool.c). */
static bool counts(const circles_t *c, uint32_t row, bool parent)
{
    return !parent || gpurt_taskpool_lives(c->k->pool, row);
}

static bool is_left(const circles_t *c, uint32_t row)
{
    return c->k->pool->rows[row].xneeds && c->needs[row];
}

static void strike(void *context, uint32_t row, uint32_t waiter, bool parent)
{
    circles_t *c = (circles_t *)context;

    if (counts(c, row, parent) && c->needs[waiter] && --c->needs[waiter] == 0 &&
        c->k->pool->rows[waiter].xneeds)
        c->work[c->count++] = waiter;
}

static void lead(void *context, uint32_t row, uint32_t waiter, bool parent)
{
    circles_t *c = (circles_t *)context;

    if (counts(c, row, parent) && is_left(c, waiter))
        c->next[waiter] = row + 1;
}

/* Who waits for none that waits is struck out, then who waited for these alone. Each of the rest waits for another
 * one of the rest: `next`. */
static void rest_find(circles_t *c)
{
    const gpurt_taskpool_t *p = c->k->pool;

    for (uint32_t row = 0; row < p->count; row++)
        c->needs[row] = p->edges_to[row] + p->children[row];
    for (uint32_t row = 0; row < p->count; row++)
        if (!p->rows[row].xneeds || !(p->edges_to[row] + p->children[row]))
            gpurt_taskpool_waiters(p, row, strike, c);
    while (c->count)
        gpurt_taskpool_waiters(p, c->work[--c->count], strike, c);
    for (uint32_t row = 0; row < p->count; row++)
        if (is_left(c, row))
            gpurt_taskpool_waiters(p, row, lead, c);
}

static gpurt_taskwait_why_t why_for(const gpurt_taskpool_t *p, uint32_t row, uint32_t other)
{
    return p->rows[other].head.parent == row + 1 ? GPURT_TASKWAIT_CHILDREN
                                                 : GPURT_TASKWAIT_AFTER;
}

/* Each way along `next` ends in a circle. work: the number of the way that came by. */
static void circles_follow(circles_t *c)
{
    const gpurt_taskpool_t *p = c->k->pool;
    uint32_t way = 0;

    memset(c->work, 0, p->count * sizeof *c->work);
    for (uint32_t row = 0; row < p->count && c->k->count < CIRCLES_MOST; row++) {
        uint32_t at = row;

        if (!is_left(c, row) || c->work[row])
            continue;
        way++;
        while (c->next[at] && !c->work[at]) {
            c->work[at] = way;
            at = c->next[at] - 1;
        }
        for (; c->work[at] == way && c->k->count < CIRCLES_MOST; at = c->next[at] - 1) {
            c->work[at] = UINT32_MAX;
            (void)pick(c->k, at, why_for(p, at, c->next[at] - 1));
        }
    }
}

static void circles_pick(pick_t *k)
{
    circles_t c = {.k = k};

    c.needs = (uint32_t *)calloc(3 * (size_t)k->pool->count, sizeof *c.needs);
    if (!c.needs)
        return;
    c.next = c.needs + k->pool->count;
    c.work = c.next + k->pool->count;
    rest_find(&c);
    circles_follow(&c);
    free(c.needs);
}

/* ---- bodies that told, or run long ------------------------------------------------------- */

/* What others may wait for: an end of the task, or a lock of it. */
static bool is_wanted(const gpurt_taskpool_t *p, uint32_t row)
{
    return p->rows[row].head.parent || p->marks[row] & GPURT_TASK_EDGES ||
           p->rows[row].head.flags & GPURT_TASK_LOCKED;
}

/* Whether its body still looks for what it waits for. With children it comes to no look. */
static bool asks(const pick_t *k, uint32_t row)
{
    const gpurt_taskpool_t *p = k->pool;
    gpurt_state_wait_t w = gpurt_state_wait_unpack(p->waits[row]);

    return w.reason != GPURT_WAIT_NONE && w.launch != 0 && /* more than once */
           w.block == (uint32_t)(p->marks[row] >> 32) &&
           k->seen->now_ns - k->told->asked[row] < ASKS_NS &&
           p->edges_to[row] + p->children[row] == 0;
}

static void turns_take(pick_t *k)
{
    for (uint32_t row = 0; row < k->pool->count; row++) {
        uint32_t turn = k->pool->waits[row].word[2];

        if (turn != k->told->turns[row])
            k->told->asked[row] = k->seen->now_ns;
        k->told->turns[row] = turn;
    }
}

static void askers_pick(pick_t *k)
{
    const gpurt_taskpool_t *p = k->pool;
    uint32_t most = k->count + BODIES_MOST;

    turns_take(k);
    for (uint32_t wanted = 2; wanted-- > 0;)
        for (uint32_t row = 0; row < p->count && k->count < most; row++)
            if (is_wanted(p, row) == wanted && asks(k, row))
                (void)pick(k, row, GPURT_TASKWAIT_OBJECT);
    for (uint32_t row = 0; row < p->count; row++)
        k->waiting += p->rows[row].xneeds || asks(k, row);
}

static void runs_put(pick_t *k, uint32_t row, uint32_t i)
{
    gpurt_taskwait_t *w = &k->list[k->slots[row] - 1];
    uint64_t since_ns = k->e->eyes->warps[i].since_ns;

    w->block = i / k->e->warps;
    w->warp = (uint8_t)(i % k->e->warps);
    w->sm = (uint32_t)k->seen->blocks[w->block].xsm;
    w->since[0] = (uint32_t)since_ns;
    w->since[1] = (uint32_t)(since_ns >> 32);
}

static bool runs_long(const pick_t *k, uint32_t i)
{
    const gpurt_eye_warp_t *eye = &k->e->eyes->warps[i];

    return eye->since_ns && eye->since_ns < k->seen->now_ns;
}

static void bodies_pick(pick_t *k)
{
    uint32_t most = k->count + BODIES_MOST, row;

    for (uint32_t i = 0; i < k->e->blocks * k->e->warps; i++) {
        if (!gpurt_eye_runs(&k->seen->warps[i], &row) || row >= k->pool->count)
            continue;
        k->runs[row] = 1;
        if (k->count < most && !k->slots[row] && runs_long(k, i) &&
            is_wanted(k->pool, row) && pick(k, row, GPURT_TASKWAIT_RUNS))
            runs_put(k, row, i);
    }
}

/* ---- who waits for those, and others ----------------------------------------------------- */

static void waiter_pick(void *context, uint32_t row, uint32_t waiter, bool parent)
{
    pick_t *k = (pick_t *)context;

    (void)row;
    if (k->pool->rows[waiter].xneeds && !k->runs[waiter])
        (void)pick(k, waiter, parent ? GPURT_TASKWAIT_CHILDREN : GPURT_TASKWAIT_AFTER);
}

static void waiters_pick(pick_t *k)
{
    for (uint32_t i = 0; i < k->count; i++)
        gpurt_taskpool_waiters(k->pool, k->rows[i], waiter_pick, k);
}

/* Nothing is ready or runs, and none sleeps: whoever waits for more than is known was not started. */
static void quiet_pick(pick_t *k)
{
    const gpurt_taskpool_t *p = k->pool;
    uint32_t held = 0;

    for (uint32_t row = 0; row < p->count && held < HELD_MOST; row++)
        if (p->rows[row].xneeds > p->edges_to[row] + p->children[row])
            held += pick(k, row, GPURT_TASKWAIT_HELD);
    waiters_pick(k);
    for (uint32_t row = 0; row < p->count && k->count < GPURT_TASKWAITS; row++)
        if (p->rows[row].xneeds && p->edges_to[row] + p->children[row])
            (void)pick(k, row,
                       p->children[row] ? GPURT_TASKWAIT_CHILDREN : GPURT_TASKWAIT_AFTER);
}

/* A wait of one that is told for another one that is. */
static void for_put(void *context, uint32_t row, uint32_t waiter, bool parent)
{
    pick_t *k = (pick_t *)context;
    gpurt_taskwait_t *w = k->slots[waiter] ? &k->list[k->slots[waiter] - 1] : NULL;

    (void)parent;
    if (!w || (w->why != GPURT_TASKWAIT_CHILDREN && w->why != GPURT_TASKWAIT_AFTER))
        return;
    for (uint32_t i = 0; i < GPURT_TASKWAIT_FOR; i++)
        if (!w->for_row[i]) {
            w->for_row[i] = row + 1;
            return;
        }
}

/* ---- telling ----------------------------------------------------------------------------- */

static bool is_same(const gpurt_taskwait_t *a, const gpurt_taskwait_t *b)
{
    return a->row == b->row && a->generation == b->generation && a->why == b->why &&
           a->number == b->number && a->site == b->site;
}

static uint64_t since_of(const gpurt_taskwait_t *w)
{
    return w->since[0] | (uint64_t)w->since[1] << 32;
}

/* By what its body told, and not longer than it was found to ask: it may go on without what it asked for. */
static uint64_t asks_since(const pick_t *k, uint32_t row)
{
    gpurt_state_wait_t told = gpurt_state_wait_unpack(k->pool->waits[row]);
    uint64_t since_ns = gpurt_tasktell_real(k->e->rt, told.time48, k->seen->now_ns);

    since_ns += k->seen->now_ns - k->told->asked[row];
    return since_ns < k->seen->now_ns ? since_ns : k->seen->now_ns;
}

static bool is_near(uint64_t a, uint64_t b)
{
    return (a < b ? b - a : a - b) < KEPT_NS;
}

/* When it began: as was told before, unless it began anew; or as its body says; or now, when it is seen first. */
static void since_put(const pick_t *k, gpurt_taskwait_t *w)
{
    uint64_t since_ns = since_of(w);
    bool object = w->why == GPURT_TASKWAIT_OBJECT;

    if (object)
        since_ns = asks_since(k, w->row);
    else if (!since_ns)
        since_ns = k->seen->now_ns;
    for (uint32_t i = 0; i < k->told->count; i++) {
        uint64_t before = since_of(&k->told->list[i]);

        if (is_same(w, &k->told->list[i]) && (!object || is_near(since_ns, before)))
            since_ns = before;
    }
    w->since[0] = (uint32_t)since_ns;
    w->since[1] = (uint32_t)(since_ns >> 32);
}

static void wait_fill(const pick_t *k, uint32_t i)
{
    uint32_t row = k->rows[i], fors = 0;
    const gpurt_task_row_t *r = &k->pool->rows[row];
    gpurt_taskwait_t *w = &((pick_t *)k)->list[i];
    bool known = r->head.function < k->e->kinds.count;

    w->executor = k->e->id;
    w->row = row;
    w->generation = (uint32_t)(k->pool->marks[row] >> 32);
    w->section = (uint8_t)gpurt_tasktell_section(k->e->rt);
    w->reason = w->why == GPURT_TASKWAIT_HELD ? GPURT_WAIT_WORD : GPURT_WAIT_ALL;
    w->site =
        known && r->head.function < LINES_MOST ? (uint16_t)k->lines[r->head.function] : 0;
    w->awaited = k->pool->awaited[row] +
                 (!gpurt_taskpool_lives(k->pool, row) && r->head.parent); /* it lives */
    while (fors < GPURT_TASKWAIT_FOR && w->for_row[fors])
        fors++;
    w->others = fors && r->xneeds > fors ? r->xneeds - fors : 0;
    snprintf(w->name, sizeof w->name, "%s",
             known ? k->e->kinds.names[r->head.function] : "?");
    if (w->why == GPURT_TASKWAIT_OBJECT) {
        gpurt_state_wait_t told = gpurt_state_wait_unpack(k->pool->waits[row]);

        w->reason = (uint8_t)told.reason;
        w->number = (uint16_t)told.object;
        w->site = (uint16_t)told.site;
    }
    since_put(k, w);
}

static void told_take(gpurt_taskwaits_t *told, gpurt_taskpage_t *page, uint32_t i)
{
    gpurt_taskpage_end(page, told->entries[i]);
    told->count--;
    told->list[i] = told->list[told->count];
    told->entries[i] = told->entries[told->count];
}

static bool is_told(const gpurt_taskwait_t *list, uint32_t count, const gpurt_taskwait_t *w)
{
    for (uint32_t i = 0; i < count; i++)
        if (memcmp(&list[i], w, sizeof *w) == 0)
            return true;
    return false;
}

/* First what has changed goes, then what is new comes (taskpage.h). */
static void all_tell(gpurt_taskwaits_t *told, gpurt_taskpage_t *page,
                     const gpurt_taskwait_t *list, uint32_t count, uint32_t left)
{
    for (uint32_t i = told->count; i-- > 0;)
        if (!is_told(list, count, &told->list[i]))
            told_take(told, page, i);
    for (uint32_t i = 0, had = told->count; i < count; i++) {
        if (is_told(told->list, had, &list[i]))
            continue;
        told->list[told->count] = list[i];
        told->entries[told->count] = gpurt_taskpage_begin(page, &list[i]);
        left += !told->entries[told->count++];
    }
    gpurt_taskpage_left(page, left - told->left);
    told->left = left;
}

/* ---- the look ---------------------------------------------------------------------------- */

static void told_free(gpurt_taskwaits_t *told)
{
    free(told->turns);
    free(told->asked);
    free(told);
}

static gpurt_taskwaits_t *told_of(const gpurt_executor_own_t *e)
{
    gpurt_taskwaits_t *told = e->eyes->waits;

    if (told)
        return told;
    told = (gpurt_taskwaits_t *)calloc(1, sizeof *told);
    if (!told)
        return NULL;
    told->turns = (uint32_t *)calloc(e->map.task_count, sizeof *told->turns);
    told->asked = (uint64_t *)calloc(e->map.task_count, sizeof *told->asked);
    if (told->turns && told->asked) {
        e->eyes->waits = told;
        return told;
    }
    told_free(told);
    return NULL;
}

/* A search costs a copy of the pool, so it is made where a task may wait for long: nothing is ready, a body runs long,
 * or bodies ask for what they wait for. */
static bool is_due(const gpurt_executor_own_t *e, const gpurt_executor_seen_t *seen,
                   gpurt_taskwaits_t *told)
{
    bool due = seen->words->xasks != told->asks || seen->ready == seen->timed;

    told->asks = seen->words->xasks;
    for (uint32_t i = 0; !due && i < e->blocks * e->warps; i++)
        due = e->eyes->warps[i].since_ns && e->eyes->warps[i].since_ns < seen->now_ns;
    return due && seen->live;
}

static void all_pick(pick_t *k)
{
    circles_pick(k);
    askers_pick(k);
    bodies_pick(k);
    waiters_pick(k);
    if (!k->seen->ready && !k->seen->running)
        quiet_pick(k);
    for (uint32_t i = 0; i < k->count; i++)
        gpurt_taskpool_waiters(k->pool, k->rows[i], for_put, k);
    for (uint32_t i = 0; i < k->count; i++)
        wait_fill(k, i);
}

static void search(gpurt_viewer_t *v, const gpurt_executor_own_t *e,
                   const gpurt_executor_seen_t *seen, gpurt_taskwaits_t *told,
                   gpurt_taskpage_t *page)
{
    uint32_t lines = e->kinds.count < LINES_MOST ? e->kinds.count : LINES_MOST;
    gpurt_taskpool_t pool;
    pick_t *k = (pick_t *)calloc(1, sizeof *k);

    if (k && gpurt_taskpool_read(v, e, true, &pool)) {
        k->e = e;
        k->seen = seen;
        k->pool = &pool;
        k->told = told;
        k->slots = (uint8_t *)calloc(2, pool.count);
        k->runs = k->slots + pool.count;
        if (k->slots &&
            gpurt_eyes_fetch(v, e, k->lines, e->map.lines, lines * sizeof *k->lines))
            all_pick(k);
        free(k->slots);
        gpurt_taskpool_free(&pool);
    }
    all_tell(told, page, k ? k->list : NULL, k ? k->count : 0,
             k && k->count && k->waiting > k->count ? k->waiting - k->count : 0);
    free(k);
}

void gpurt_taskwaits_look(gpurt_viewer_t *v, const gpurt_executor_own_t *e,
                          const gpurt_executor_seen_t *seen)
{
    gpurt_taskpage_t *page = e->told ? gpurt_tasktell_page(e->rt) : NULL;
    gpurt_taskwaits_t *told = page ? told_of(e) : NULL;

    if (!told)
        return;
    if (is_due(e, seen, told))
        search(v, e, seen, told, page);
    else
        all_tell(told, page, NULL, 0, 0);
    gpurt_taskpage_looked(page, e->id, seen->now_ns);
}

void gpurt_taskwaits_end(const gpurt_executor_own_t *e)
{
    gpurt_taskpage_t *page = gpurt_tasktell_page(e->rt);
    gpurt_taskwaits_t *told = e->eyes->waits;

    if (!told)
        return;
    if (page)
        all_tell(told, page, NULL, 0, 0);
    told_free(told);
    e->eyes->waits = NULL;
}
