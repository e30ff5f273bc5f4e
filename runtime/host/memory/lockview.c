/* SPDX-License-Identifier: Apache-2.0 */
/* Locks that the log is told of: mutexes, rwlocks, semaphores and latches are one class, whose words
 * the look takes apart. Phasers and locks of tasks have their own. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include <gpurt/latch.h>
#include <gpurt/locks.h>
#include <gpurt/phaser.h>
#include <gpurt/rwlock.h>
#include <gpurt/semaphore.h>
#include <gpurt/tasklock.h>

#include "idtable.h"
#include "refuse.h"
#include "watch.h"

#include <stdio.h>
#include <string.h>

enum {
    NAME_BYTES = 48
};

enum {
    FREE,
    HELD,
    READ,
    WRITTEN,
    OPEN,
    SHUT,
    BROKEN,
    ENDED
};

enum {
    NAME,
    KIND,
    STATE,
    BOUND,
    HOLDERS,
    LEFT,
    WAITERS,
    BLOCK,
    THREAD,
    CONTENDED,
    LATE,
    STOPPED,
    DIED,
    FIELDS
};
static const gpurt_field_t fields[FIELDS] = {
    [NAME] = GPURT_FIELD("name", TEXT),
    [KIND] = GPURT_FIELD("kind", STATE, .words = "mutex,rwlock,semaphore,latch"),
    [STATE] = GPURT_FIELD("state", STATE,
                          .words = "free,held,read,written,open,shut,broken,ended"),
    [BOUND] = GPURT_FIELD("bound", LIMIT),
    [HOLDERS] = GPURT_FIELD("holders", GAUGE, .of = "bound"),
    [LEFT] = GPURT_FIELD("left", GAUGE),
    [WAITERS] = GPURT_FIELD("waiters", GAUGE),
    [BLOCK] = GPURT_FIELD("holder_block", GAUGE),
    [THREAD] = GPURT_FIELD("holder_thread", GAUGE),
    [CONTENDED] = GPURT_FIELD("contended", COUNTER),
    [LATE] = GPURT_FIELD("timed_out", COUNTER),
    [STOPPED] = GPURT_FIELD("cancelled", COUNTER),
    [DIED] = GPURT_FIELD("owner_died", FAULT),
};

/* What a look is given. */
typedef struct watched {
    const void *object;
    uint32_t kind;
    char name[NAME_BYTES];
} watched_t;

static void look_at_turns(const gpurt_turns_t *t, uint32_t kind, uint64_t *values)
{
    uint32_t count = gpurt_turn_count(t->xword);
    bool written = kind == GPURT_LOCK_RWLOCK && count == GPURT_RWLOCK_WRITER;

    values[STATE] = t->xword & GPURT_TURN_ENDED ? ENDED
                    : count == 0                ? FREE
                    : written                   ? WRITTEN
                    : kind == GPURT_LOCK_RWLOCK ? READ
                                                : HELD;
    values[BOUND] = 1;
    values[HOLDERS] = written ? 1 : count;
    values[WAITERS] = gpurt_turn_waiting(t->xword) - gpurt_turn_holes(t->xword);
    if (t->xholder) {
        values[BLOCK] = gpurt_place_block(t->xholder);
        values[THREAD] = gpurt_place_thread(t->xholder);
    }
    values[CONTENDED] = t->xcontended;
    values[LATE] = t->xlate;
    values[STOPPED] = t->xstopped;
    values[DIED] = t->xdied;
}

static void look_at_latch(const gpurt_latch_t *l, uint64_t *values)
{
    int32_t left = (int32_t)l->xleft;

    values[STATE] = left > 0 ? SHUT : left < GPURT_LATCH_BROKEN / 2 ? BROKEN : OPEN;
    values[LEFT] = left > 0 ? (uint64_t)left : 0;
    values[BOUND] = values[HOLDERS] = values[WAITERS] = GPURT_VALUE_UNKNOWN;
}

static bool lock_look(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values)
{
    const watched_t *w = (const watched_t *)object;
    gpurt_semaphore_t s; /* the largest; its turns come first, as in the others */
    gpurt_latch_t l;

    (void)due;
    values[KIND] = w->kind;
    values[LEFT] = values[BLOCK] = values[THREAD] = GPURT_VALUE_UNKNOWN;
    if (w->kind == GPURT_LOCK_LATCH) {
        if (!gpurt_viewer_fetch(v, &l, w->object, sizeof l))
            return false;
        look_at_latch(&l, values);
    } else {
        bool units = w->kind == GPURT_LOCK_SEMAPHORE;

        if (!gpurt_viewer_fetch(v, &s, w->object, units ? sizeof s : sizeof s.turns))
            return false;
        look_at_turns(&s.turns, w->kind, values);
        if (units)
            values[BOUND] = s.bound;
        if (w->kind == GPURT_LOCK_RWLOCK)
            values[BOUND] = GPURT_VALUE_UNKNOWN;
    }
    values[NAME] = gpurt_watch_text(v, w->name);
    return true;
}

GPURT_CLASS_DECLARE(lock, locks, fields, lock_look);

/* ---- phasers ----------------------------------------------------------------------------- */
enum {
    PHASER_NAME,
    PHASER_STATE,
    PHASER_MEMBERS,
    PHASER_ARRIVED,
    PHASER_PHASES,
    PHASER_FIELDS
};
static const gpurt_field_t phaser_fields[PHASER_FIELDS] = {
    [PHASER_NAME] = GPURT_FIELD("name", TEXT),
    [PHASER_STATE] = GPURT_FIELD("state", STATE, .words = "whole,member_lost,broken"),
    [PHASER_MEMBERS] = GPURT_FIELD("members", LIMIT),
    [PHASER_ARRIVED] = GPURT_FIELD("arrived", GAUGE, .of = "members"),
    [PHASER_PHASES] = GPURT_FIELD("phases", COUNTER), /* begins anew after 2^20 */
};

/* Of the phase that runs. Until its count is set up, the word has the arrivals alone. */
static uint64_t phaser_arrived(uint64_t w)
{
    uint64_t count = gpurt_phaser_arrived(w), members = gpurt_phaser_members(w);

    return count + members >= GPURT_PHASER_LIMIT ? count + members - GPURT_PHASER_LIMIT
                                                 : count;
}

static bool phaser_look(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values)
{
    const watched_t *w = (const watched_t *)object;
    gpurt_phaser_t p;

    (void)due;
    if (!gpurt_viewer_fetch(v, &p, w->object, sizeof p))
        return false;
    values[PHASER_NAME] = gpurt_watch_text(v, w->name);
    values[PHASER_STATE] =
        p.xword & GPURT_PHASER_BROKEN
            ? 2
            : (p.xword & (gpurt_phaser_lost(0) | gpurt_phaser_lost(1))) != 0;
    values[PHASER_MEMBERS] = gpurt_phaser_members(p.xword);
    values[PHASER_ARRIVED] = phaser_arrived(p.xword);
    values[PHASER_PHASES] = gpurt_phaser_phase(p.xword);
    return true;
}

GPURT_CLASS_DECLARE(phaser, phasers, phaser_fields, phaser_look);

/* ---- locks of tasks ---------------------------------------------------------------------- */
enum {
    TASKLOCK_NAME,
    TASKLOCK_STATE,
    TASKLOCK_PRIORITY,
    TASKLOCK_ROW,
    TASKLOCK_FOUND_HELD,
    TASKLOCK_DIED,
    TASKLOCK_FIELDS
};
static const gpurt_field_t tasklock_fields[TASKLOCK_FIELDS] = {
    [TASKLOCK_NAME] = GPURT_FIELD("name", TEXT),
    [TASKLOCK_STATE] = GPURT_FIELD("state", STATE, .words = "free,held"),
    [TASKLOCK_PRIORITY] = GPURT_FIELD("level", GAUGE), /* of its holder, meanwhile */
    [TASKLOCK_ROW] = GPURT_FIELD("holder_row", GAUGE), /* as `row` of a stuck task */
    [TASKLOCK_FOUND_HELD] =
        GPURT_FIELD("found_held", COUNTER), /* looks of tasks that wait */
    [TASKLOCK_DIED] = GPURT_FIELD("owner_died", FAULT),
};

static bool tasklock_look(gpurt_viewer_t *v, const void *object, bool due, uint64_t *values)
{
    const watched_t *w = (const watched_t *)object;
    gpurt_tasklock_t l;

    (void)due;
    if (!gpurt_viewer_fetch(v, &l, w->object, sizeof l))
        return false;
    values[TASKLOCK_NAME] = gpurt_watch_text(v, w->name);
    values[TASKLOCK_STATE] = l.xholder != 0;
    values[TASKLOCK_PRIORITY] = gpurt_task_level(l.how);
    values[TASKLOCK_ROW] = l.xholder ? gpurt_task_index(l.xholder) : GPURT_VALUE_UNKNOWN;
    values[TASKLOCK_FOUND_HELD] = l.xwaits;
    values[TASKLOCK_DIED] = l.xdied;
    return true;
}

GPURT_CLASS_DECLARE(tasklock, tasklocks, tasklock_fields, tasklock_look);

/* ---- the calls --------------------------------------------------------------------------- */
static const char WHAT[] = "locks";
static gpurt_id_entry_t entries[GPURT_LOCK_WATCHES];
static gpurt_idtable_t watches = {.lock = GPURT_LOCK_INIT,
                                  .what = "watch",
                                  .entries = entries,
                                  .count = GPURT_LOCK_WATCHES};

static const gpurt_class_t *class_of(uint32_t kind)
{
    switch (kind) {
    case GPURT_LOCK_PHASER:
        return &gpurt_class_phaser;
    case GPURT_LOCK_TASK:
        return &gpurt_class_tasklock;
    default:
        return &gpurt_class_lock;
    }
}

gpurt_status_t gpurt_lock_watch(gpurt_t *rt, uint32_t kind, const void *object,
                                const char *name, gpurt_lock_watch_t *out,
                                gpurt_error_t *err)
{
    watched_t w = {.object = object, .kind = kind};
    gpurt_info_t info;
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the watch");
    memset(out, 0, sizeof *out);
    if (!object || kind > GPURT_LOCK_TASK)
        return REFUSE(err, GPURT_E_INVALID,
                      "locks: object is NULL, or kind %u is none of gpurt_lock_kind_t",
                      kind);
    st = gpurt_info(rt, &info);
    if (st != GPURT_OK)
        return REFUSE(err, st, "locks: the runtime is not open");
    out->id = gpurt_id_add(&watches, rt, object, NULL);
    if (!out->id)
        return REFUSE(err, GPURT_E_NOMEM, "locks: %d are watched, more cannot be",
                      GPURT_LOCK_WATCHES);
    out->object = object;
    if (name)
        snprintf(w.name, sizeof w.name, "%s", name);
    else
        snprintf(w.name, sizeof w.name, "%u", out->id);
    gpurt_watch_begin(rt, class_of(kind), out->id, &w, sizeof w);
    return GPURT_OK;
}

gpurt_status_t gpurt_lock_unwatch(gpurt_t *rt, gpurt_lock_watch_t *watch,
                                  gpurt_error_t *err)
{
    gpurt_status_t st;

    if (!watch || !watch->object)
        return GPURT_OK;
    st = gpurt_id_retire(&watches, WHAT, rt, watch->id, watch->object, err);
    if (st != GPURT_OK)
        return st;
    gpurt_watch_end(rt, &gpurt_class_lock, watch->id); /* it is one of them */
    gpurt_watch_end(rt, &gpurt_class_phaser, watch->id);
    gpurt_watch_end(rt, &gpurt_class_tasklock, watch->id);
    st = gpurt_id_drop(&watches, watch->id);
    memset(watch, 0, sizeof *watch);
    return st;
}
