/* SPDX-License-Identifier: Apache-2.0 */
/* Host calls: their life, their functions and files. What is done to their words goes over a stream
 * of its own: the program's streams may hold kernels that wait for this. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "hostcallown.h"

#include "channelkeep.h"
#include "life.h"
#include "optionsize.h"
#include "outfile.h"
#include "ownwait.h"
#include "refuse.h"
#include "tell.h"
#include "watch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

GPURT_CLASS(hostcalls);

enum {
    STOP_MS = 5000,
    FILE_RIGHTS = 0666
};
#define NS_A_MS UINT64_C(1000000)
#define NS_A_S  UINT64_C(1000000000)

/* ---- words, over a stream of our own --------------------------------------------------- */

static gpurt_status_t words_copy(gpurt_t *rt, void *to, const void *from, size_t bytes,
                                 gpurt_error_t *err)
{
    gpurt_stream_t stream;
    gpurt_status_t st = gpurt_stream_create(rt, &stream, err);

    if (st != GPURT_OK)
        return st;
    st = gpurt_copy(rt, stream, to, from, bytes, err);
    if (st == GPURT_OK)
        st = gpurt_own_stream_sync(rt, stream, err);
    gpurt_stream_destroy(rt, stream);
    return st;
}

static void words_fill(gpurt_hostcall_words_t *w, const gpurt_hostcalls_own_t *own)
{
    memset(w, 0, sizeof *w);
    for (uint32_t i = 0; i < own->calls.port_count; i++)
        w->xfree[i / 32] |= 1u << i % 32;
    for (uint32_t i = 0; i < GPURT_HOSTCALL_PORTS_MOST; i++)
        w->turns[i] = GPURT_HOSTCALL_TURN_FIRST;
    w->id = own->calls.id;
    memcpy(w->name, own->name, sizeof w->name);
}

/* ---- create ---------------------------------------------------------------------------- */

static gpurt_status_t options_take(const gpurt_hostcalls_options_t *given,
                                   gpurt_hostcalls_options_t *o, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_options_copy(o, sizeof *o, given, "host calls", err);

    if (st != GPURT_OK)
        return st;
    if (o->ports > GPURT_HOSTCALL_PORTS_MOST)
        return REFUSE(err, GPURT_E_INVALID, "host calls: %u ports: 1 to %d", o->ports,
                      GPURT_HOSTCALL_PORTS_MOST);
    if (!o->ports)
        o->ports = GPURT_HOSTCALL_PORTS_MOST;
    if (!o->stop_ms)
        o->stop_ms = STOP_MS;
    return GPURT_OK;
}

/* With its number and its name. */
static gpurt_status_t own_make(const gpurt_hostcalls_options_t *o,
                               const gpurt_opened_t *opened, gpurt_hostcalls_own_t **out,
                               gpurt_error_t *err)
{
    gpurt_hostcalls_own_t *own = calloc(1, sizeof *own);

    *out = NULL;
    if (!own)
        return REFUSE(err, GPURT_E_NOMEM, "no memory for host calls");
    pthread_mutex_init(&own->lock, NULL);
    own->opened = opened;
    own->stop_ms = o->stop_ms;
    own->calls.port_count = o->ports;
    own->ending = true; /* nobody takes it yet */
    own->users = 1;
    own->calls.id = gpurt_hostcalls_book_number(own);
    if (!own->calls.id) {
        pthread_mutex_destroy(&own->lock);
        free(own);
        return REFUSE(err, GPURT_E_NOMEM,
                      "%d host calls exist, more cannot be: destroy "
                      "some",
                      GPURT_HOSTCALLS);
    }
    if (o->name && o->name[0])
        gpurt_tell_plain(own->name, sizeof own->name, o->name);
    else
        snprintf(own->name, sizeof own->name, "%u", own->calls.id);
    for (uint32_t i = 0; i < GPURT_HOSTCALL_PORTS_MOST; i++)
        own->turns[i] = GPURT_HOSTCALL_TURN_FIRST;
    *out = own;
    return GPURT_OK;
}

static gpurt_status_t memory_make(gpurt_t *rt, gpurt_hostcalls_own_t *own,
                                  gpurt_error_t *err)
{
    gpurt_hostcalls_t *c = &own->calls;
    size_t ports = (size_t)c->port_count * sizeof *c->ports;
    gpurt_hostcall_words_t words;
    void *memory = NULL;
    gpurt_status_t st = gpurt_host_create(rt, sizeof *c->side + ports, &memory, err);

    if (st != GPURT_OK)
        return st;
    c->side = (gpurt_hostcall_side_t *)memory;
    c->ports = (gpurt_hostcall_port_t *)(void *)(c->side + 1);
    memset(memory, 0, sizeof *c->side + ports);
    for (uint32_t i = 0; i < GPURT_HOSTCALL_PORTS_MOST; i++)
        c->side->xasked[i] = GPURT_HOSTCALL_TURN_FIRST;
    memory = NULL;
    st = gpurt_mem_create(rt, sizeof words, &memory, err);
    c->words = (gpurt_hostcall_words_t *)memory;
    if (st != GPURT_OK)
        return st;
    words_fill(&words, own);
    return words_copy(rt, c->words, &words, sizeof words, err);
}

gpurt_status_t gpurt_hostcalls_free(gpurt_hostcalls_own_t *own, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;

    for (uint32_t i = 0; i < own->file_count; i++)
        if (close(own->files[i]) != 0 && st == GPURT_OK)
            st = gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, errno,
                            "host calls %s: close file %u", own->name, i);
    pthread_mutex_destroy(&own->lock);
    free(own);
    return st;
}

/* One that was never given out. */
static void own_undo(gpurt_t *rt, gpurt_hostcalls_own_t *own)
{
    gpurt_mem_destroy(rt, own->calls.words);
    gpurt_host_destroy(rt, own->calls.side);
    gpurt_hostcalls_book_strike(own);
    (void)gpurt_hostcalls_free(own, NULL);
}

gpurt_status_t gpurt_hostcalls_create(gpurt_t *rt, const gpurt_hostcalls_options_t *options,
                                      gpurt_hostcalls_t *out, gpurt_error_t *err)
{
    gpurt_hostcalls_options_t o;
    const gpurt_opened_t *opened;
    gpurt_hostcalls_own_t *own;
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the host calls");
    memset(out, 0, sizeof *out);
    st = options_take(options, &o, err);
    if (st == GPURT_OK)
        st = gpurt_life_enter(rt, &opened, err);
    if (st != GPURT_OK)
        return st;
    st = own_make(&o, opened, &own, err);
    if (st != GPURT_OK)
        return gpurt_life_leave(opened, st);
    st = memory_make(rt, own, err);
    if (st == GPURT_OK)
        st = gpurt_hostcalls_serve(own, err);
    if (st == GPURT_OK) {
        *out = own->calls;
        gpurt_watch_begin(rt, &gpurt_class_hostcalls, own->calls.id, own, 0);
        gpurt_hostcalls_book_resume(own);
    } else {
        own_undo(rt, own);
    }
    return gpurt_life_leave(opened, st);
}

/* ---- use ------------------------------------------------------------------------------- */

static gpurt_status_t stranger(const gpurt_hostcalls_own_t *own, gpurt_error_t *err)
{
    return REFUSE(err, GPURT_E_HANDLE,
                  "host calls %s are of another device that is open: use them with the "
                  "pointer that created them",
                  own->name);
}

/* Until it is dropped it stays. */
static gpurt_status_t own_take(gpurt_t *rt, const gpurt_hostcalls_t *calls,
                               gpurt_hostcalls_own_t **own, gpurt_error_t *err)
{
    const gpurt_opened_t *opened;
    gpurt_status_t st = gpurt_life_enter(rt, &opened, err);

    if (st != GPURT_OK)
        return st;
    st = gpurt_hostcalls_book_take(calls, own, err);
    if (st == GPURT_OK && (*own)->opened != opened) {
        st = stranger(*own, err);
        gpurt_hostcalls_book_drop(*own);
    }
    return gpurt_life_leave(opened, st);
}

/* ---- destroy --------------------------------------------------------------------------- */

/* Kernels that use it from now on are told. */
static gpurt_status_t words_bury(gpurt_t *rt, const gpurt_hostcalls_t *c,
                                 gpurt_error_t *err)
{
    const uint32_t state = GPURT_HOSTCALLS_DESTROYED;

    return words_copy(rt, &c->words->xstate, &state, sizeof state, err);
}

/* Its device is open: whoever destroys it has entered. */
static gpurt_status_t own_destroy(gpurt_t *rt, gpurt_hostcalls_own_t *own,
                                  gpurt_error_t *err)
{
    gpurt_hostcalls_t c = own->calls;
    gpurt_status_t st = gpurt_hostcalls_unserve(own, own->stop_ms * NS_A_MS, err), freed;

    if (st != GPURT_OK) {
        gpurt_hostcalls_book_resume(own);
        return st;
    }
    gpurt_watch_end(rt, &gpurt_class_hostcalls, own->calls.id);
    gpurt_hostcalls_book_strike(own);
    st = words_bury(rt, &c, err);
    freed = gpurt_hostcalls_free(own, st == GPURT_OK ? err : NULL);
    if (st == GPURT_OK)
        st = freed;
    freed = gpurt_host_destroy(rt, c.side);
    if (st == GPURT_OK)
        st = freed;
    freed = gpurt_channel_keep(rt, c.words);
    return st == GPURT_OK ? freed : st;
}

gpurt_status_t gpurt_hostcalls_destroy(gpurt_t *rt, gpurt_hostcalls_t *calls,
                                       gpurt_error_t *err)
{
    const gpurt_opened_t *opened;
    gpurt_hostcalls_own_t *own;
    gpurt_status_t st;

    if (!calls || !calls->words)
        return GPURT_OK;
    st = gpurt_life_enter(rt, &opened, err);
    if (st != GPURT_OK)
        return st;
    st = gpurt_hostcalls_book_end(calls, &own, err);
    if (st != GPURT_OK)
        return gpurt_life_leave(opened, st);
    if (own->opened != opened) {
        st = stranger(own, err);
        gpurt_hostcalls_book_resume(own);
        return gpurt_life_leave(opened, st);
    }
    st = own_destroy(rt, own, err);
    if (st != GPURT_E_TIMEOUT)
        memset(calls, 0, sizeof *calls);
    return gpurt_life_leave(opened, st);
}

/* ---- functions, files ------------------------------------------------------------------ */

gpurt_status_t gpurt_hostcalls_add_function(gpurt_t *rt, const gpurt_hostcalls_t *calls,
                                            uint32_t number, uint32_t ask_bytes,
                                            uint32_t answer_bytes,
                                            gpurt_host_function_t *function, void *context,
                                            gpurt_error_t *err)
{
    gpurt_hostcalls_own_t *own;
    gpurt_status_t st = own_take(rt, calls, &own, err);

    if (st != GPURT_OK)
        return st;
    if (number >= GPURT_HOSTCALL_BUILT_IN) {
        st = REFUSE(err, GPURT_E_INVALID,
                    "host calls %s: function %u: 0 to %d, the "
                    "others are built in",
                    own->name, number, GPURT_HOSTCALL_BUILT_IN - 1);
    } else if (ask_bytes > GPURT_HOSTCALL_ASK_MOST ||
               answer_bytes > GPURT_HOSTCALL_ANSWER_MOST) {
        st = REFUSE(err, GPURT_E_INVALID,
                    "host calls %s: function %u with a question of %u bytes and an "
                    "answer of %u: %d and %d at most, pass pointers to larger ones",
                    own->name, number, ask_bytes, answer_bytes, GPURT_HOSTCALL_ASK_MOST,
                    GPURT_HOSTCALL_ANSWER_MOST);
    } else {
        pthread_mutex_lock(&own->lock);
        own->rows[number] =
            (gpurt_hostcall_row_t){function, context, ask_bytes, answer_bytes};
        pthread_mutex_unlock(&own->lock);
    }
    gpurt_hostcalls_book_drop(own);
    return st;
}

static gpurt_status_t file_open(gpurt_hostcalls_own_t *own, const char *path,
                                uint32_t *file, gpurt_error_t *err)
{
    int opened = gpurt_outfile_open(path, GPURT_OUTFILE_REPLACE, FILE_RIGHTS, err);
    bool room;

    if (opened < 0)
        return GPURT_E_OS;
    pthread_mutex_lock(&own->lock);
    room = own->file_count < GPURT_HOSTCALLS_FILES;
    if (room) {
        *file = own->file_count;
        own->files[own->file_count++] = opened;
    }
    pthread_mutex_unlock(&own->lock);
    if (room)
        return GPURT_OK;
    close(opened);
    return REFUSE(err, GPURT_E_NOMEM, "host calls %s: %d files are open, more cannot be",
                  own->name, GPURT_HOSTCALLS_FILES);
}

gpurt_status_t gpurt_hostcalls_file(gpurt_t *rt, const gpurt_hostcalls_t *calls,
                                    const char *path, uint32_t *file, gpurt_error_t *err)
{
    gpurt_hostcalls_own_t *own;
    gpurt_status_t st;

    if (!path || !file)
        return REFUSE(err, GPURT_E_INVALID, "%s is NULL: pass %s", path ? "file" : "path",
                      path ? "a place for its number" : "a file's name");
    st = own_take(rt, calls, &own, err);
    if (st != GPURT_OK)
        return st;
    st = file_open(own, path, file, err);
    gpurt_hostcalls_book_drop(own);
    return st;
}

/* ---- status ---------------------------------------------------------------------------- */

/* Context: under the lock, so that the thread is there. */
static uint64_t used_ns(const gpurt_hostcalls_own_t *own)
{
    struct timespec t = {0};
    clockid_t clock;

    if (!own->serves || own->ended || pthread_getcpuclockid(own->thread, &clock) != 0 ||
        clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * NS_A_S + (uint64_t)t.tv_nsec;
}

static void status_fill(gpurt_hostcalls_own_t *own, const gpurt_hostcall_words_t *w,
                        gpurt_hostcalls_status_t *out)
{
    memcpy(out->name, own->name, sizeof out->name);
    out->ports = own->calls.port_count;
    out->in_flight = gpurt_hostcalls_in_flight(own->calls.port_count, w);
    out->calls = w->xcalls;
    out->groups = w->xgroups;
    out->waits = w->xwaits;
    out->late = w->xlate;
    out->cancelled = w->xcancelled;
    out->refused = w->xrefused;
    out->unknown = gpurt_load_relaxed_sys_u64(&own->xunknown); /* relaxed: a statistic */
    pthread_mutex_lock(&own->lock);
    out->used_ns = used_ns(own);
    pthread_mutex_unlock(&own->lock);
}

gpurt_status_t gpurt_hostcalls_status(gpurt_t *rt, const gpurt_hostcalls_t *calls,
                                      gpurt_hostcalls_status_t *out, gpurt_error_t *err)
{
    gpurt_hostcalls_own_t *own;
    gpurt_hostcall_words_t words;
    gpurt_status_t st;

    if (!out)
        return REFUSE(err, GPURT_E_INVALID, "out is NULL: pass a place for the status");
    memset(out, 0, sizeof *out);
    st = own_take(rt, calls, &own, err);
    if (st != GPURT_OK)
        return st;
    st = words_copy(rt, &words, own->calls.words, GPURT_HOSTCALL_WATCHED_BYTES, err);
    if (st == GPURT_OK)
        status_fill(own, &words, out);
    gpurt_hostcalls_book_drop(own);
    return st;
}
