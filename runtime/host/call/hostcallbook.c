/* SPDX-License-Identifier: Apache-2.0 */
/* The host calls that a process has, by their numbers. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "hostcallown.h"

#include "hostpoll.h"
#include "process.h"
#include "refuse.h"

#include <string.h>

static gpurt_lock_t book_lock = GPURT_LOCK_INIT;
/* All under the lock. */
static struct {
    gpurt_hostcalls_own_t *rows[GPURT_HOSTCALLS]; /* number % GPURT_HOSTCALLS */
    uint32_t last;                                /* number */
    uint32_t parent;  /* the last one from before a fork; 0: none is */
    uint32_t process; /* generation of who has them */
} book;

/* What a child finds there is its parent's: the thread that served is not in it. */
static void lock(void)
{
    uint32_t process = gpurt_process_generation();

    gpurt_lock_take(&book_lock);
    if (book.process == process)
        return;
    memset(book.rows, 0, sizeof book.rows);
    book.parent = book.process ? book.last : 0;
    book.process = process;
}

uint32_t gpurt_hostcalls_book_number(gpurt_hostcalls_own_t *own)
{
    uint32_t number = 0;

    lock();
    for (uint32_t tries = 0; !number && tries <= GPURT_HOSTCALLS; tries++) {
        book.last++;
        if (book.last && !book.rows[book.last % GPURT_HOSTCALLS])
            number = book.last;
    }
    if (number)
        book.rows[number % GPURT_HOSTCALLS] = own;
    gpurt_lock_give(&book_lock);
    return number;
}

static gpurt_status_t gone(const gpurt_hostcalls_t *calls, gpurt_error_t *err)
{
    if (calls && calls->id && book.parent && (int32_t)(calls->id - book.parent) <= 0)
        return REFUSE(err, GPURT_E_FORKED,
                      "host calls: they were made before this process was forked and are "
                      "its parent's: create others");
    return REFUSE(err, GPURT_E_HANDLE,
                  "host calls: they were destroyed, or never made: create others");
}

static gpurt_status_t take(const gpurt_hostcalls_t *calls, bool ends,
                           gpurt_hostcalls_own_t **out, gpurt_error_t *err)
{
    gpurt_hostcalls_own_t *own;
    bool is;

    lock();
    own = calls ? book.rows[calls->id % GPURT_HOSTCALLS] : NULL;
    is = own && calls->id && own->calls.id == calls->id &&
         own->calls.words == calls->words && !own->ending;
    if (is) {
        own->users++;
        own->ending = ends;
    }
    gpurt_lock_give(&book_lock);
    *out = is ? own : NULL;
    return is ? GPURT_OK : gone(calls, err);
}

gpurt_status_t gpurt_hostcalls_book_take(const gpurt_hostcalls_t *calls,
                                         gpurt_hostcalls_own_t **own, gpurt_error_t *err)
{
    return take(calls, false, own, err);
}

gpurt_status_t gpurt_hostcalls_book_end(const gpurt_hostcalls_t *calls,
                                        gpurt_hostcalls_own_t **own, gpurt_error_t *err)
{
    return take(calls, true, own, err);
}

void gpurt_hostcalls_book_drop(gpurt_hostcalls_own_t *own)
{
    lock();
    own->users--;
    gpurt_lock_give(&book_lock);
}

void gpurt_hostcalls_book_resume(gpurt_hostcalls_own_t *own)
{
    lock();
    own->users--;
    own->ending = false;
    gpurt_lock_give(&book_lock);
}

static bool is_alone(const gpurt_hostcalls_own_t *own)
{
    bool alone;

    lock();
    alone = own->users == 1;
    gpurt_lock_give(&book_lock);
    return alone;
}

void gpurt_hostcalls_book_strike(gpurt_hostcalls_own_t *own)
{
    gpurt_hostpoll_t poll = gpurt_hostpoll_begin(UINT64_MAX);

    while (!is_alone(own)) /* a call that reads its counters */
        (void)gpurt_hostpoll_next(&poll);
    lock();
    book.rows[own->calls.id % GPURT_HOSTCALLS] = NULL;
    gpurt_lock_give(&book_lock);
}

gpurt_hostcalls_own_t *gpurt_hostcalls_book_at(uint32_t place, uint32_t device)
{
    gpurt_hostcalls_own_t *own;

    lock();
    own = book.rows[place];
    gpurt_lock_give(&book_lock);
    return own && own->opened->index == device ? own : NULL;
}
