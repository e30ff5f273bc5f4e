/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "hostturn.h"

#include <gpurt/hostchannels.h>

#include "life.h"
#include "ownword.h"
#include "refuse.h"
#include "threadwait.h"

#include <string.h>

enum {
    WAITERS = 16 /* threads whose ages are kept; more wait without */
};

static gpurt_id_entry_t entries[GPURT_HOSTCHANNELS];
gpurt_idtable_t gpurt_hostend_table = {.lock = GPURT_LOCK_INIT,
                                       .what = "host channel",
                                       .entries = entries,
                                       .count = GPURT_HOSTCHANNELS};

/* The host's end of the channel in that entry of the table. Under the lock, and so is the tally. */
typedef struct hostend {
    gpurt_lock_t lock;
    uint32_t users;
    bool ending;                            /* somebody destroys it */
    char name[GPURT_CHANNEL_NAME_BYTES];    /* for errors */
    uint32_t threads[GPURT_THREADUSE_EACH]; /* that were told of as users; 0: nobody */
    uint64_t
        waiting_ns[WAITERS]; /* since when threads wait, by the steady clock; 0: nobody */
} hostend_t;
static hostend_t ends[GPURT_HOSTCHANNELS];

static hostend_t *end_of(const gpurt_hostchannel_t *c)
{
    return &ends[c->id % GPURT_HOSTCHANNELS];
}

/* ---- the end ---------------------------------------------------------------------------- */

void gpurt_hostend_lock(const gpurt_hostchannel_t *c)
{
    gpurt_lock_take(&end_of(c)->lock);
}
void gpurt_hostend_unlock(const gpurt_hostchannel_t *c)
{
    gpurt_lock_give(&end_of(c)->lock);
}

void gpurt_hostend_begin(const gpurt_hostchannel_t *c)
{
    *end_of(c) = (hostend_t){.lock = GPURT_LOCK_INIT};
}

void gpurt_hostend_rename(const gpurt_hostchannel_t *c, const char *name)
{
    memcpy(end_of(c)->name, name, sizeof end_of(c)->name);
}

const char *gpurt_hostend_name(const gpurt_hostchannel_t *c)
{
    return end_of(c)->name;
}

void gpurt_hostend_resume(const gpurt_hostchannel_t *c)
{
    gpurt_hostend_lock(c);
    end_of(c)->ending = false;
    gpurt_hostend_unlock(c);
}

static gpurt_status_t destroyed(gpurt_error_t *err)
{
    return REFUSE(err, GPURT_E_HANDLE,
                  "host channel: it was destroyed, or never made: create another");
}

static gpurt_threadwait_at_t watched(const gpurt_hostchannel_t *c)
{
    return (gpurt_threadwait_at_t){&c->words->desk.waitable, GPURT_WAITABLE_CHANNEL,
                                   end_of(c)->name};
}

static uint32_t user_place(const gpurt_hostchannel_t *c, uint32_t at)
{
    return c->id % GPURT_HOSTCHANNELS * GPURT_THREADUSE_EACH + at;
}
GPURT_STATIC_ASSERT(GPURT_HOSTCHANNELS *GPURT_THREADUSE_EACH <= GPURT_THREADUSE_CALLS,
                    "places of channels lie before those of host calls");

void gpurt_hostturn_uses(const gpurt_hostturn_t *t)
{
    uint32_t self = gpurt_threadwait_self(), at = self % GPURT_THREADUSE_EACH;
    gpurt_threadwait_at_t object;

    if (GPURT_LIKELY(end_of(t->c)->threads[at] == self))
        return;
    end_of(t->c)->threads[at] = self;
    object = watched(t->c);
    gpurt_threadwait_use(
        t->o, user_place(t->c, at), &object,
        t->c->way == GPURT_TO_DEVICE ? GPURT_HOLD_SENDER : GPURT_HOLD_RECEIVER, self);
}

static void users_forget(const gpurt_opened_t *o, const gpurt_hostchannel_t *c)
{
    for (uint32_t i = 0; i < GPURT_THREADUSE_EACH; i++) {
        if (end_of(c)->threads[i])
            gpurt_threadwait_unuse(o, user_place(c, i));
        end_of(c)->threads[i] = 0;
    }
}

gpurt_status_t gpurt_hostturn_enter(gpurt_hostturn_t *t, gpurt_t *rt,
                                    const gpurt_hostchannel_t *c, uint32_t reason,
                                    uint64_t ns, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_life_enter(rt, &t->o, err);
    bool ending;

    if (st != GPURT_OK)
        return st;
    st = c ? gpurt_id_take_of(&gpurt_hostend_table, gpurt_hostend_table.what, t->o, c->id,
                              c->words, err)
           : destroyed(err);
    if (st != GPURT_OK)
        return gpurt_life_leave(t->o, st);
    gpurt_hostend_lock(c);
    ending = end_of(c)->ending;
    end_of(c)->users += !ending;
    gpurt_hostend_unlock(c);
    t->c = c;
    t->err = err;
    t->ns = ns;
    t->reason = reason;
    t->told = 0;
    t->waiter = WAITERS;
    t->waits = false;
    t->poll = gpurt_hostpoll_begin(ns);
    if (!ending)
        return GPURT_OK;
    (void)gpurt_id_drop(&gpurt_hostend_table, c->id);
    return gpurt_life_leave(t->o, destroyed(err));
}

gpurt_status_t gpurt_hostturn_leave(const gpurt_hostturn_t *t, gpurt_status_t st)
{
    gpurt_threadwait_end(t->o, t->told);
    gpurt_hostend_lock(t->c);
    end_of(t->c)->users--;
    t->c->side->tally.xwaiting -= t->waits;
    if (t->waiter < WAITERS)
        end_of(t->c)->waiting_ns[t->waiter] = 0;
    t->c->side->tally.xlate += st == GPURT_E_TIMEOUT;
    gpurt_hostend_unlock(t->c);
    (void)gpurt_id_drop(&gpurt_hostend_table, t->c->id);
    return gpurt_life_leave(t->o, st);
}

/* It is counted from now on. Context: under the lock. */
static void turn_count(gpurt_hostturn_t *t)
{
    uint64_t *since = end_of(t->c)->waiting_ns;

    t->waits = true;
    t->c->side->tally.xwaiting++;
    for (t->waiter = 0; t->waiter < WAITERS && since[t->waiter]; t->waiter++)
        ;
    if (t->waiter < WAITERS)
        since[t->waiter] = t->poll.began_ns;
}

/* Who looks on is told of waits that are long enough to sleep. */
static void turn_tell(gpurt_hostturn_t *t)
{
    gpurt_threadwait_at_t object;

    if (GPURT_LIKELY(t->told || !gpurt_hostpoll_naps(&t->poll)))
        return;
    object = watched(t->c);
    t->told = gpurt_threadwait_begin(t->o, &object, t->reason, t->ns != UINT64_MAX,
                                     t->poll.began_ns);
}

gpurt_status_t gpurt_hostturn_wait(gpurt_hostturn_t *t, const char *what)
{
    bool ending;

    gpurt_hostend_lock(t->c);
    ending = end_of(t->c)->ending;
    if (!t->waits)
        turn_count(t);
    gpurt_hostend_unlock(t->c);
    if (ending)
        return destroyed(t->err);
    turn_tell(t);
    gpurt_ownword_awaited(t->o);
    return gpurt_hostpoll_next(&t->poll)
               ? GPURT_OK
               : (gpurt_status_t)REFUSE(t->err, GPURT_E_TIMEOUT,
                                        "host channel %s: no kernel %s within %.3f s",
                                        end_of(t->c)->name, what, (double)t->ns * 1e-9);
}

gpurt_hostchannel_tally_t gpurt_hostend_tally(const gpurt_hostchannel_t *c,
                                              uint64_t *waited_ns)
{
    gpurt_hostchannel_tally_t tally;
    uint64_t now, oldest = UINT64_MAX;

    gpurt_hostend_lock(c);
    tally = c->side->tally;
    for (uint32_t i = 0; i < WAITERS; i++)
        if (end_of(c)->waiting_ns[i] && end_of(c)->waiting_ns[i] < oldest)
            oldest = end_of(c)->waiting_ns[i];
    gpurt_hostend_unlock(c);
    now = gpurt_steady_ns();
    *waited_ns = oldest < now ? now - oldest : 0;
    return tally;
}

gpurt_status_t gpurt_hostend_finish(const gpurt_opened_t *o, const gpurt_hostchannel_t *c,
                                    gpurt_error_t *err)
{
    gpurt_hostpoll_t poll = gpurt_hostpoll_begin(UINT64_MAX);
    gpurt_status_t st = gpurt_id_take_of(&gpurt_hostend_table, gpurt_hostend_table.what, o,
                                         c->id, c->words, err);
    bool ending, used;

    if (st != GPURT_OK)
        return st;
    gpurt_hostend_lock(c);
    ending = end_of(c)->ending;
    end_of(c)->ending = true;
    gpurt_hostend_unlock(c);
    do {
        gpurt_hostend_lock(c);
        used = end_of(c)->users > 0;
        gpurt_hostend_unlock(c);
    } while (!ending && used && gpurt_hostpoll_next(&poll));
    if (!ending)
        users_forget(o, c);
    (void)gpurt_id_drop(&gpurt_hostend_table, c->id);
    return ending ? destroyed(err) : GPURT_OK;
}
