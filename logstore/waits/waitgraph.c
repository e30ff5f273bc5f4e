/* SPDX-License-Identifier: Apache-2.0 */
#include "waitgraph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- who keeps whom waiting ---------------------------------------------------------- */
static uint32_t wait_of_thread(const gpurt_waits_t *w, uint32_t number)
{
    for (uint32_t i = 0; i < w->count; i++) {
        const gpurt_wait_thread_t *thread = gpurt_wait_thread(w, &w->waits[i]);

        if (thread && thread->number == number)
            return i;
    }
    return GPURT_WAIT_NOBODY;
}

/* generation: its low half; UINT32_MAX: whichever has the row. */
static uint32_t wait_of_task(const gpurt_waits_t *w, uint32_t executor, uint32_t row,
                             uint32_t generation)
{
    for (uint32_t i = 0; i < w->count; i++) {
        const gpurt_wait_task_t *task = gpurt_wait_task(w, &w->waits[i]);

        if (task && task->executor == executor && task->row == row &&
            (generation == UINT32_MAX ||
             (task->generation & GPURT_STATE_TURNS) == generation))
            return i;
    }
    return GPURT_WAIT_NOBODY;
}

/* The wait of the lane, thread or task that an owner is, or nobody's. Waits lie by section and ring. */
static uint32_t wait_of(const gpurt_waits_t *w, const gpurt_wait_t *asks,
                        const gpurt_wait_owner_t *o)
{
    uint32_t ring = (o->place - 1) / GPURT_WARP_SIZE,
             lane = (o->place - 1) % GPURT_WARP_SIZE;
    uint32_t low = 0, high = w->count;

    if (gpurt_wait_owner_is_thread(o))
        return wait_of_thread(w, o->block);
    if (gpurt_wait_owner_is_task(o))
        return wait_of_task(w, o->place - GPURT_STATE_TASKS, o->block, o->warp);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const gpurt_wait_t *m = &w->waits[middle];

        if (m->section < asks->section || (m->section == asks->section && m->ring < ring))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < w->count; low++) {
        const gpurt_wait_t *other = &w->waits[low];

        if (other->section != asks->section || other->ring != ring)
            break;
        if (other->block == o->block && other->warp == o->warp && (other->mask >> lane & 1))
            return low;
    }
    return GPURT_WAIT_NOBODY;
}

/* Owners that a wait for this reason is about: who holds it alone, and senders or
 * receivers; whoever holds it together. */
static bool owner_counts(uint32_t reason, uint32_t at)
{
    switch (reason) {
    case GPURT_WAIT_DATA:
        return at >= 1 && at <= 3;
    case GPURT_WAIT_ROOM:
    case GPURT_WAIT_DONE:
    case GPURT_WAIT_CREDIT:
        return at >= 4;
    default:
        return true;
    }
}

/* Waits that a barrier of every launch misses: whoever of its block, or grid, waits for
 * something else. A thread of the host arrives at none. */
static bool is_missed(const gpurt_wait_t *at, const gpurt_wait_t *other)
{
    if (other->ring >= GPURT_WAIT_THREADS || other->section != at->section ||
        other->launch != at->launch ||
        (other->number == at->number &&
         (at->number == GPURT_WAITABLE_GRID || other->block == at->block)))
        return false;
    if (at->number == GPURT_WAITABLE_GRID)
        return true;
    return at->number >= GPURT_WAITABLE_NAMED && at->number != GPURT_WAITABLE_CLUSTER &&
           other->block == at->block && other->ring != at->ring;
}

enum {
    OWNER_NS =
        1000000 /* more than an owner's time, and clocks of two sides, are wrong by */
};

/* A task is as it was at a look, lanes and threads are as they are now. Both waits stood at one time, if none began
 * behind the other's look. */
static bool stood_by(const gpurt_waits_t *w, const gpurt_wait_t *a, const gpurt_wait_t *b)
{
    const gpurt_wait_task_t *task = gpurt_wait_task(w, a);

    return !task || b->since_ns <= task->looked_ns;
}
static bool stood_together(const gpurt_waits_t *w, uint32_t i, uint32_t j)
{
    return stood_by(w, &w->waits[i], &w->waits[j]) &&
           stood_by(w, &w->waits[j], &w->waits[i]);
}

/* Likewise: whether it was the owner when a task was looked at, which waits for it or is it. */
static bool owned_then(const gpurt_wait_task_t *task, const gpurt_wait_owner_t *o)
{
    return !task || gpurt_wait_owner_is_thread(o) ||
           o->since_ns + OWNER_NS <= task->looked_ns;
}

/* The wait of an owner, if it stood with that for it. */
static uint32_t wait_of_owner(const gpurt_waits_t *w, uint32_t i,
                              const gpurt_wait_owner_t *o)
{
    uint32_t j = wait_of(w, &w->waits[i], o);

    return j != GPURT_WAIT_NOBODY && stood_together(w, i, j) &&
                   owned_then(gpurt_wait_task(w, &w->waits[i]), o) &&
                   owned_then(gpurt_wait_task(w, &w->waits[j]), o)
               ? j
               : GPURT_WAIT_NOBODY;
}

/* Lanes that run its body, and wait. */
static bool is_run_by(const gpurt_wait_task_t *t, uint32_t section,
                      const gpurt_wait_t *lanes)
{
    return lanes->ring < GPURT_WAIT_THREADS && lanes->section == section &&
           lanes->block == t->block && lanes->warp == t->warp && lanes->sm == t->sm;
}

static void task_blockers(const gpurt_waits_t *w, uint32_t i, gpurt_blocker_fn *each,
                          void *context)
{
    const gpurt_wait_task_t *t = gpurt_wait_task(w, &w->waits[i]);

    if (t->why == GPURT_TASKWAIT_RUNS) {
        for (uint32_t j = 0; j < w->count; j++)
            if (is_run_by(t, w->waits[i].section, &w->waits[j]) && stood_together(w, i, j))
                each(context, j, NULL);
        return;
    }
    for (uint32_t k = 0; k < GPURT_TASKWAIT_FOR; k++) {
        uint32_t j = t->for_row[k]
                         ? wait_of_task(w, t->executor, t->for_row[k] - 1, UINT32_MAX)
                         : GPURT_WAIT_NOBODY;

        if (j != GPURT_WAIT_NOBODY && stood_together(w, i, j))
            each(context, j, NULL);
    }
}

void gpurt_waits_blockers(const gpurt_waits_t *w, uint32_t i, gpurt_blocker_fn *each,
                          void *context)
{
    const gpurt_wait_t *wait = &w->waits[i];
    const gpurt_wait_task_t *task = gpurt_wait_task(w, wait);

    if (task && task->why != GPURT_TASKWAIT_OBJECT) {
        task_blockers(w, i, each, context);
        return;
    }
    if (wait->number >= GPURT_WAITABLE_NAMED) {
        for (uint32_t j = 0; j < w->count; j++)
            if (j != i && is_missed(wait, &w->waits[j]))
                each(context, j, NULL);
        return;
    }
    for (uint32_t k = 0; wait->object != GPURT_WAIT_NOBODY && k < GPURT_STATE_OWNERS; k++) {
        const gpurt_wait_owner_t *o = &w->objects[wait->object].owners[k];
        uint32_t j = o->place && owner_counts(wait->reason, k) ? wait_of_owner(w, i, o)
                                                               : GPURT_WAIT_NOBODY;

        if (!o->place || !owner_counts(wait->reason, k))
            continue;
        if (wait->reason == GPURT_WAIT_ALL && j != GPURT_WAIT_NOBODY &&
            w->waits[j].object == wait->object)
            continue; /* a member that has arrived */
        each(context, j, o);
    }
}

/* ---- what is stuck ------------------------------------------------------------------- */
typedef struct tally {
    const gpurt_waitgraph_t *g;
    uint32_t blockers, stuck, next;
} tally_t;

static void tally_add(void *context, uint32_t j, const gpurt_wait_owner_t *owner)
{
    tally_t *t = context;

    (void)owner;
    t->blockers++;
    if (j == GPURT_WAIT_NOBODY || !t->g->stuck[j])
        return;
    t->stuck++;
    t->next = t->next == GPURT_WAIT_NOBODY ? j : t->next;
}

/* Where any of them would do, all must be stuck. */
static bool holds_fast(const gpurt_wait_t *wait, const tally_t *t)
{
    const gpurt_wait_thread_t *thread = gpurt_wait_thread(t->g->waits, wait);

    if (thread && thread->limited)
        return false;
    if (wait->reason == GPURT_WAIT_OWNER || wait->reason == GPURT_WAIT_ALL)
        return t->stuck > 0;
    return t->stuck > 0 && t->stuck == t->blockers;
}

/* Everybody is stuck until somebody is found who is not, and frees who waits for him. Ends:
 * each round but the last frees one. */
static void free_all_that_can_go(gpurt_waitgraph_t *g)
{
    bool changed = true;

    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < g->waits->count; i++) {
            tally_t t = {g, 0, 0, GPURT_WAIT_NOBODY};

            if (!g->stuck[i])
                continue;
            gpurt_waits_blockers(g->waits, i, tally_add, &t);
            g->next[i] = t.next;
            if (!holds_fast(&g->waits->waits[i], &t)) {
                g->stuck[i] = 0;
                changed = true;
            }
        }
    }
}

/* Each stuck wait leads to another: every such path ends in a circle. */
static void circles_find(gpurt_waitgraph_t *g)
{
    uint32_t *mark = g->circle; /* of the path that came by, above the circles' numbers */
    uint32_t path = g->waits->count + 1;

    for (uint32_t i = 0; i < g->waits->count; i++) {
        uint32_t at = i;

        if (!g->stuck[i] || mark[i])
            continue;
        path++;
        for (; !mark[at]; at = g->next[at])
            mark[at] = path;
        if (mark[at] != path)
            continue;
        g->circles++;
        for (; mark[at] == path; at = g->next[at])
            mark[at] = g->circles;
    }
    for (uint32_t i = 0; i < g->waits->count; i++)
        if (g->circle[i] > g->waits->count)
            g->circle[i] = 0;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    return (h ^ v) * 0x9e3779b97f4a7c15ull ^ h >> 29;
}

/* Ages are left out, and what is not in a circle: a deadlock gathers others with time. */
static uint64_t hash_of(const gpurt_waitgraph_t *g)
{
    uint64_t h = 0;

    for (uint32_t i = 0; i < g->waits->count; i++) {
        const gpurt_wait_t *w = &g->waits->waits[i];

        const gpurt_wait_task_t *task = gpurt_wait_task(g->waits, w);
        /* The index of a thread is another when others come and go. */
        uint32_t ring = w->ring < GPURT_WAIT_THREADS ? w->ring : GPURT_WAIT_THREADS;

        if (g->circle[i] && task)
            h = mix(mix(h, (uint64_t)task->executor << 32 | task->row),
                    (uint64_t)w->number << 32 | task->generation);
        else if (g->circle[i])
            h = mix(mix(mix(h, w->section), (uint64_t)ring << 32 | w->block),
                    (uint64_t)w->number << 32 | w->mask);
    }
    return h;
}

gpurt_status_t gpurt_waitgraph_make(const gpurt_waits_t *waits, gpurt_waitgraph_t *out,
                                    gpurt_error_t *err)
{
    size_t room = waits->count ? waits->count : 1;

    memset(out, 0, sizeof *out);
    out->waits = waits;
    out->stuck = malloc(room);
    out->next = calloc(room, sizeof *out->next);
    out->circle = calloc(room, sizeof *out->circle);
    if (!out->stuck || !out->next || !out->circle) {
        gpurt_waitgraph_fini(out);
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "waits");
    }
    memset(out->stuck, 1, room);
    free_all_that_can_go(out);
    for (uint32_t i = 0; i < waits->count; i++)
        out->stuck_count += out->stuck[i];
    circles_find(out);
    out->hash = hash_of(out);
    return GPURT_OK;
}

void gpurt_waitgraph_fini(gpurt_waitgraph_t *g)
{
    free(g->stuck);
    free(g->next);
    free(g->circle);
    memset(g, 0, sizeof *g);
}

/* ---- as bytes ------------------------------------------------------------------------ */
#define WAITS_MAGIC         0x3153544957525047ull /* "GPRWITS1", little endian */
#define WAITS_MAGIC_THREADS 0x3253544957525047ull /* "GPRWITS2": threads come last */
#define WAITS_MAGIC_TASKS   0x3353544957525047ull /* "GPRWITS3": tasks behind them */

typedef struct waits_head {
    uint64_t magic, time_ns;
    uint32_t count, object_count, site_count, left_out;
} waits_head_t;

/* Behind a head of the second or third kind. tasks: of the third, else 0. */
typedef struct waits_more {
    uint32_t thread_count, task_count;
} waits_more_t;

GPURT_STATIC_ASSERT(sizeof(gpurt_wait_thread_t) == 24, "kept in logs");
GPURT_STATIC_ASSERT(sizeof(gpurt_wait_task_t) == 88, "kept in logs");
GPURT_STATIC_ASSERT(sizeof(gpurt_wait_site_t) == 196, "kept in logs");
GPURT_STATIC_ASSERT(sizeof(gpurt_wait_owner_t) == 40, "kept in logs");
GPURT_STATIC_ASSERT(sizeof(gpurt_wait_object_t) == 80 + 7 * 40, "kept in logs");
GPURT_STATIC_ASSERT(sizeof(gpurt_wait_t) == 56, "kept in logs");

static size_t packed_size(const waits_head_t *h, const waits_more_t *more)
{
    return sizeof *h + (h->magic == WAITS_MAGIC ? 0 : sizeof *more) +
           h->count * sizeof(gpurt_wait_t) + h->object_count * sizeof(gpurt_wait_object_t) +
           h->site_count * sizeof(gpurt_wait_site_t) +
           more->thread_count * sizeof(gpurt_wait_thread_t) +
           more->task_count * sizeof(gpurt_wait_task_t);
}

static char *put(char *to, const void *from, size_t bytes)
{
    if (bytes)
        memcpy(to, from, bytes);
    return to + bytes;
}

/* Without tasks, or threads, as before there were any: older programs read it. */
gpurt_status_t gpurt_waits_pack(const gpurt_waits_t *w, void **bytes, size_t *size,
                                gpurt_error_t *err)
{
    waits_head_t h = {w->task_count     ? WAITS_MAGIC_TASKS
                      : w->thread_count ? WAITS_MAGIC_THREADS
                                        : WAITS_MAGIC,
                      w->time_ns,
                      w->count,
                      w->object_count,
                      w->site_count,
                      w->left_out};
    waits_more_t more = {w->thread_count, w->task_count};
    char *to;

    *size = packed_size(&h, &more);
    *bytes = to = malloc(*size);
    if (!to)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "waits");
    to = put(to, &h, sizeof h);
    if (h.magic != WAITS_MAGIC)
        to = put(to, &more, sizeof more);
    to = put(to, w->waits, h.count * sizeof *w->waits);
    to = put(to, w->objects, h.object_count * sizeof *w->objects);
    to = put(to, w->sites, h.site_count * sizeof *w->sites);
    to = put(to, w->threads, more.thread_count * sizeof *w->threads);
    (void)put(to, w->tasks, more.task_count * sizeof *w->tasks);
    return GPURT_OK;
}

/* An index that leads nowhere becomes nobody. */
static void bound(uint32_t *index, uint32_t count)
{
    if (*index >= count)
        *index = GPURT_WAIT_NOBODY;
}

/* ... a thread or task that is none becomes a lane. */
static void ring_bound(const gpurt_waits_t *w, uint32_t *ring)
{
    uint32_t first = *ring >= GPURT_WAIT_TASKS ? GPURT_WAIT_TASKS : GPURT_WAIT_THREADS;
    uint32_t count = first == GPURT_WAIT_TASKS ? w->task_count : w->thread_count;

    if (*ring >= first + count)
        *ring = 0;
}

static void waits_bound(gpurt_waits_t *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        bound(&w->waits[i].object, w->object_count);
        bound(&w->waits[i].site, w->site_count);
        ring_bound(w, &w->waits[i].ring);
    }
    for (uint32_t i = 0; i < w->thread_count; i++)
        w->threads[i].name[GPURT_THREAD_NAME - 1] = '\0';
    for (uint32_t i = 0; i < w->task_count; i++) {
        w->tasks[i].name[GPURT_TASKWAIT_NAME - 1] = '\0';
        if (w->tasks[i].why >= GPURT_TASKWAIT_WHYS)
            w->tasks[i].why = GPURT_TASKWAIT_RUNS;
    }
    for (uint32_t i = 0; i < w->object_count; i++) {
        gpurt_wait_object_t *o = &w->objects[i];

        o->name[sizeof o->name - 1] = '\0';
        o->kind = o->kind < GPURT_WAITABLE_KINDS ? o->kind : GPURT_WAITABLE_OTHER;
        for (uint32_t k = 0; k < GPURT_STATE_OWNERS; k++) {
            bound(&o->owners[k].site, w->site_count);
            bound(&o->owners[k].at_site, w->site_count);
        }
    }
    for (uint32_t i = 0; i < w->site_count; i++) {
        w->sites[i].file[GPURT_WAIT_FILE - 1] = '\0';
        w->sites[i].text[GPURT_WAIT_TEXT - 1] = '\0';
    }
}

static const char *take(void *to, const char *from, size_t bytes)
{
    if (bytes)
        memcpy(to, from, bytes);
    return from + bytes;
}

static bool room_make(gpurt_waits_t *w)
{
    w->waits = calloc(w->count + 1u, sizeof *w->waits);
    w->objects = calloc(w->object_count + 1u, sizeof *w->objects);
    w->sites = calloc(w->site_count + 1u, sizeof *w->sites);
    w->threads = calloc(w->thread_count + 1u, sizeof *w->threads);
    w->tasks = calloc(w->task_count + 1u, sizeof *w->tasks);
    return w->waits && w->objects && w->sites && w->threads && w->tasks;
}

/* *from: behind the heads. Returns: false, it is none, or damaged. */
static bool heads_take(const char **from, size_t size, waits_head_t *h, waits_more_t *more)
{
    memset(more, 0, sizeof *more);
    if (size < sizeof *h)
        return false;
    *from = take(h, *from, sizeof *h);
    if ((h->magic == WAITS_MAGIC_THREADS || h->magic == WAITS_MAGIC_TASKS) &&
        size >= sizeof *h + sizeof *more)
        *from = take(more, *from, sizeof *more);
    else if (h->magic != WAITS_MAGIC)
        return false;
    return h->count <= GPURT_WAITS_MAX && h->object_count <= GPURT_WAIT_OBJECTS_MAX &&
           h->site_count <= GPURT_WAIT_SITES_MAX &&
           more->thread_count <= GPURT_WAIT_THREADS_MAX &&
           more->task_count <= GPURT_WAIT_TASKS_MAX && size == packed_size(h, more);
}

gpurt_status_t gpurt_waits_unpack(const void *bytes, size_t size, gpurt_waits_t *out,
                                  gpurt_error_t *err)
{
    const char *from = bytes;
    waits_head_t h;
    waits_more_t more;

    memset(out, 0, sizeof *out);
    if (!heads_take(&from, size, &h, &more))
        return gpurt_fail(err, GPURT_E_INVALID, GPURT_FROM_GPURT, 0,
                          "the wait graph in this log is damaged");
    out->time_ns = h.time_ns;
    out->count = h.count;
    out->object_count = h.object_count;
    out->site_count = h.site_count;
    out->thread_count = more.thread_count;
    out->task_count = more.task_count;
    out->left_out = h.left_out;
    if (!room_make(out)) {
        gpurt_waits_fini(out);
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "waits");
    }
    from = take(out->waits, from, h.count * sizeof *out->waits);
    from = take(out->objects, from, h.object_count * sizeof *out->objects);
    from = take(out->sites, from, h.site_count * sizeof *out->sites);
    from = take(out->threads, from, more.thread_count * sizeof *out->threads);
    (void)take(out->tasks, from, more.task_count * sizeof *out->tasks);
    waits_bound(out);
    return GPURT_OK;
}
