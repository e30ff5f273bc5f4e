/* SPDX-License-Identifier: Apache-2.0 */
#include "idtable.h"

#include "hostpoll.h"
#include "life.h"
#include "refuse.h"

static gpurt_id_entry_t *entry_of(const gpurt_idtable_t *t, uint32_t id)
{
    return &t->entries[id % t->count];
}

static void lock(gpurt_idtable_t *t)
{
    uint32_t process = gpurt_process_generation();

    gpurt_lock_take(&t->lock);
    if (t->process == process)
        return;
    for (uint32_t i = 0; t->process && i < t->count; i++)
        t->entries[i].begin = NULL; /* the parent's */
    t->parent = t->process ? t->last : 0;
    t->process = process;
}

/* Ids rise, so one comes round only after 2^32 others. */
uint32_t gpurt_id_add(gpurt_idtable_t *t, gpurt_t *rt, const void *begin, void *memory)
{
    uint32_t tries = 0, id = 0;

    lock(t);
    for (; !id && tries <= t->count; tries++) {
        t->last++;
        if (t->last && !entry_of(t, t->last)->begin)
            id = t->last;
    }
    if (id)
        *entry_of(t, id) = (gpurt_id_entry_t){
            .begin = begin, .memory = memory, .rt = rt, .id = id, .live = true};
    gpurt_lock_give(&t->lock);
    return id;
}

/* Context: under the lock. */
static bool entry_is(const gpurt_id_entry_t *e, uint32_t id, const void *begin)
{
    return id && e->live && e->id == id && e->begin == begin;
}

static gpurt_status_t gone(const gpurt_idtable_t *t, const char *name, uint32_t id,
                           gpurt_error_t *err)
{
    if (id && t->parent && (int32_t)(id - t->parent) <= 0)
        return REFUSE(err, GPURT_E_FORKED,
                      "%s: the %s was made before this process was forked and is its "
                      "parent's: create another",
                      name, t->what);
    return REFUSE(err, GPURT_E_HANDLE,
                  "%s: the %s was destroyed, or never made: create another", name, t->what);
}

gpurt_status_t gpurt_id_take(gpurt_idtable_t *t, const char *name, uint32_t id,
                             const void *begin, gpurt_error_t *err)
{
    gpurt_id_entry_t *e = entry_of(t, id);
    bool is;

    lock(t);
    is = entry_is(e, id, begin);
    e->users += is;
    gpurt_lock_give(&t->lock);
    return is ? GPURT_OK : gone(t, name, id, err);
}

/* of: whose device it is. */
static gpurt_status_t stranger(const gpurt_idtable_t *t, const char *name,
                               const gpurt_t *of, gpurt_error_t *err)
{
    if (gpurt_life_check(of, NULL) != GPURT_OK)
        return REFUSE(err, GPURT_E_CLOSED,
                      "%s: the %s is of a device that was closed: gpurt_open it again, use "
                      "the new pointer",
                      name, t->what);
    return REFUSE(err, GPURT_E_HANDLE,
                  "%s: the %s is of another device that is open: use it with the pointer "
                  "that created it",
                  name, t->what);
}

gpurt_status_t gpurt_id_take_of(gpurt_idtable_t *t, const char *name,
                                const gpurt_opened_t *opened, uint32_t id,
                                const void *begin, gpurt_error_t *err)
{
    gpurt_id_entry_t *e = entry_of(t, id);
    const gpurt_t *of = NULL;
    bool is, own;

    lock(t);
    is = entry_is(e, id, begin);
    if (is)
        of = e->rt;
    own = is && gpurt_life_index(of) == opened->index;
    e->users += own;
    gpurt_lock_give(&t->lock);
    if (!is)
        return gone(t, name, id, err);
    return own ? GPURT_OK : stranger(t, name, of, err);
}

/* Where the memory cannot be freed the thing is there again. Context: it is retired, and
 * nobody uses it. */
static gpurt_status_t entry_end(gpurt_idtable_t *t, gpurt_id_entry_t *e)
{
    gpurt_status_t st = e->memory ? gpurt_mem_destroy(e->rt, e->memory) : GPURT_OK;

    lock(t);
    if (st == GPURT_OK)
        e->begin = NULL;
    else
        e->live = true;
    gpurt_lock_give(&t->lock);
    return st;
}

gpurt_status_t gpurt_id_drop(gpurt_idtable_t *t, uint32_t id)
{
    gpurt_id_entry_t *e = entry_of(t, id);
    bool last;

    lock(t);
    last = --e->users == 0 && !e->live;
    gpurt_lock_give(&t->lock);
    return last ? entry_end(t, e) : GPURT_OK;
}

gpurt_status_t gpurt_id_retire(gpurt_idtable_t *t, const char *name, gpurt_t *rt,
                               uint32_t id, const void *begin, gpurt_error_t *err)
{
    const gpurt_opened_t *opened;
    gpurt_status_t st = gpurt_life_enter(rt, &opened, err);
    gpurt_id_entry_t *e = entry_of(t, id);
    const gpurt_t *of = NULL;
    bool is, own = false;

    if (st != GPURT_OK)
        return st;
    lock(t);
    is = entry_is(e, id, begin);
    if (is)
        of = e->rt;
    own = is && gpurt_life_index(of) == gpurt_life_index(rt);
    if (own) {
        e->users++;
        e->live = false;
        e->rt = rt;
    }
    gpurt_lock_give(&t->lock);
    gpurt_life_leave(opened, GPURT_OK);
    if (!is)
        return gone(t, name, id, err);
    return own ? GPURT_OK : stranger(t, name, of, err);
}

static bool is_alone(gpurt_idtable_t *t, uint32_t id)
{
    bool alone;

    lock(t);
    alone = entry_of(t, id)->users == 1;
    gpurt_lock_give(&t->lock);
    return alone;
}

void gpurt_id_outlast(gpurt_idtable_t *t, uint32_t id)
{
    gpurt_hostpoll_t poll = gpurt_hostpoll_begin(UINT64_MAX);

    while (!is_alone(t, id))
        (void)gpurt_hostpoll_next(&poll);
}

void gpurt_id_close(gpurt_idtable_t *t, uint32_t device)
{
    lock(t);
    for (uint32_t i = 0; i < t->count; i++) {
        gpurt_id_entry_t *e = &t->entries[i];

        if (!e->begin || gpurt_life_index(e->rt) != device)
            continue;
        e->live = false;
        if (e->users == 0)
            e->begin = NULL; /* else its last user does that */
    }
    gpurt_lock_give(&t->lock);
}
