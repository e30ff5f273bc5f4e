/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that serves host calls: it looks for questions, runs their functions, stores the
 * answers. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "hostcallown.h"

#include "hostpoll.h"
#include "hostthread.h"
#include "ownword.h"
#include "refuse.h"
#include "tell.h"
#include "threadwait.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    NS_A_MS = 1000000,
    ROUNDS = 8 /* without a question, then it looks at the time: that takes as long */
};

/* ---- built in ------------------------------------------------------------------------- */

static gpurt_status_t print_line(const char *text, size_t bytes)
{
    bool written;

    flockfile(stdout); /* a line of other threads comes before it or behind it */
    written = fwrite(text, 1, bytes, stdout) == bytes && putc_unlocked('\n', stdout) != EOF;
    written = fflush(stdout) == 0 && written;
    funlockfile(stdout);
    return written ? GPURT_OK : GPURT_E_OS;
}

static gpurt_status_t write_all(int file, const char *from, size_t bytes)
{
    while (bytes) {
        ssize_t n = write(file, from, bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return GPURT_E_OS;
        from += n;
        bytes -= (size_t)n;
    }
    return GPURT_OK;
}

static gpurt_status_t file_write(gpurt_hostcalls_own_t *own,
                                 const gpurt_hostcall_question_t *q)
{
    int file = -1;

    pthread_mutex_lock(&own->lock);
    if (q->argument < own->file_count)
        file = own->files[q->argument];
    pthread_mutex_unlock(&own->lock);
    return file < 0 ? (gpurt_status_t)GPURT_E_HANDLE
                    : write_all(file, own->ask, q->ask_bytes);
}

static gpurt_status_t time_tell(gpurt_hostcalls_own_t *own,
                                const gpurt_hostcall_question_t *q)
{
    uint64_t now = gpurt_real_ns();

    if (q->answer_bytes != sizeof now)
        return GPURT_E_INVALID;
    memcpy(own->answer, &now, sizeof now);
    return GPURT_OK;
}

static gpurt_status_t built_in(gpurt_hostcalls_own_t *own,
                               const gpurt_hostcall_question_t *q)
{
    switch (q->function) {
    case GPURT_HOSTCALL_PRINT:
        return print_line(own->ask, q->ask_bytes);
    case GPURT_HOSTCALL_WRITE:
        return file_write(own, q);
    case GPURT_HOSTCALL_TIME:
        return time_tell(own, q);
    default:
        return GPURT_E_NO_FUNCTION;
    }
}

/* ---- questions ------------------------------------------------------------------------ */

static gpurt_status_t row_check(const gpurt_hostcall_row_t *row,
                                const gpurt_hostcall_question_t *q)
{
    if (!row->function)
        return GPURT_E_NO_FUNCTION;
    return row->ask_bytes == q->ask_bytes && row->answer_bytes == q->answer_bytes
               ? GPURT_OK
               : GPURT_E_INVALID;
}

/* The question lies in own->ask. */
static gpurt_status_t question_do(gpurt_hostcalls_own_t *own,
                                  const gpurt_hostcall_row_t *row,
                                  const gpurt_hostcall_question_t *q)
{
    gpurt_status_t st;

    memset(own->answer, 0, q->answer_bytes);
    if (q->function >= GPURT_HOSTCALL_BUILT_IN)
        return built_in(own, q);
    st = row_check(row, q);
    return st == GPURT_OK ? row->function(row->context, own->ask, own->answer) : st;
}

static void ask_gather(gpurt_hostcalls_own_t *own, const gpurt_hostcall_port_t *port,
                       const gpurt_hostcall_question_t *q, uint32_t rank)
{
    for (uint32_t i = 0; i < gpurt_hostcall_units(q->ask_bytes); i++)
        memcpy(own->ask + (size_t)i * GPURT_HOSTCALL_UNIT,
               port->area + gpurt_hostcall_unit_at(i, rank, q->lanes), GPURT_HOSTCALL_UNIT);
}

/* Over the lane's own question. */
static void answer_scatter(const gpurt_hostcalls_own_t *own, gpurt_hostcall_port_t *port,
                           const gpurt_hostcall_question_t *q, uint32_t rank,
                           gpurt_status_t st)
{
    uint32_t first = GPURT_HOSTCALL_UNIT - GPURT_HOSTCALL_HEAD, bytes = q->answer_bytes;
    char *to = port->area + gpurt_hostcall_unit_at(0, rank, q->lanes);
    const char *from = own->answer;

    memset(to, 0, GPURT_HOSTCALL_HEAD);
    memcpy(to, &st, sizeof st);
    to += GPURT_HOSTCALL_HEAD;
    for (uint32_t unit = 1; bytes; unit++) {
        uint32_t n = bytes < first ? bytes : first;

        memcpy(to, from, n);
        from += n;
        bytes -= n;
        first = GPURT_HOSTCALL_UNIT;
        if (bytes)
            to = port->area + gpurt_hostcall_unit_at(unit, rank, q->lanes);
    }
}

/* A kernel that writes where it should not may have left anything there. */
static bool question_fits(const gpurt_hostcall_question_t *q)
{
    if (q->lanes == 1)
        return q->ask_bytes <= GPURT_HOSTCALL_ASK_MOST &&
               q->answer_bytes <= GPURT_HOSTCALL_ANSWER_MOST;
    return q->lanes - 1 < GPURT_WARP_SIZE &&
           gpurt_hostcall_shares(q->ask_bytes, q->answer_bytes);
}

static void running_set(gpurt_hostcalls_own_t *own, uint32_t running)
{
    gpurt_store_relaxed_sys_u32(&own->xrunning, running); /* relaxed: for who waits */
}

static void unknown_add(gpurt_hostcalls_own_t *own)
{
    gpurt_add_relaxed_sys_u64(&own->xunknown, 1); /* relaxed: a statistic */
}

/* Into own->question. */
static gpurt_hostcall_row_t question_read(gpurt_hostcalls_own_t *own,
                                          const gpurt_hostcall_port_t *port)
{
    gpurt_hostcall_question_t *q = &own->question;
    gpurt_hostcall_row_t row = {0};

    *q = (gpurt_hostcall_question_t){port->function, port->lanes, port->ask_bytes,
                                     port->answer_bytes, port->argument};
    if (!question_fits(q)) {
        *q =
            (gpurt_hostcall_question_t){GPURT_HOSTCALL_FUNCTIONS, GPURT_WARP_SIZE, 0, 0, 0};
    } else if (q->function < GPURT_HOSTCALL_BUILT_IN) {
        pthread_mutex_lock(&own->lock);
        row = own->rows[q->function];
        pthread_mutex_unlock(&own->lock);
    }
    return row;
}

static void port_serve(gpurt_hostcalls_own_t *own, gpurt_hostcall_port_t *port)
{
    const gpurt_hostcall_question_t *q = &own->question;
    gpurt_hostcall_row_t row = question_read(own, port);

    running_set(own, q->function + 1);
    for (own->rank = 0; own->rank < q->lanes; own->rank++) {
        gpurt_status_t st;

        ask_gather(own, port, q, own->rank);
        st = question_do(own, &row, q);
        if (q->function >= GPURT_HOSTCALL_BUILT_IN ? st == GPURT_E_NO_FUNCTION
                                                   : row_check(&row, q) != GPURT_OK)
            unknown_add(own);
        answer_scatter(own, port, q, own->rank, st);
    }
}

/* From here on it is the kernel's. */
static void port_give(gpurt_hostcalls_own_t *own, uint32_t port)
{
    uint32_t at = port / 32;

    running_set(own, 0);
    gpurt_add_relaxed_sys_u64(&own->xserved, 1); /* relaxed: for who waits */
    own->turns[port] = own->turn;
    own->answered[at] ^= 1u << port % 32;
    gpurt_ownword_store(own->opened, &own->calls.side->xanswered[at], own->answered[at]);
}

/* Returns: whether there was a question. */
static bool round_serve(gpurt_hostcalls_own_t *own)
{
    gpurt_hostcall_side_t *side = own->calls.side;
    bool some = false;

    for (uint32_t port = 0; port < own->calls.port_count; port++) {
        own->turn = gpurt_ownword_load(own->opened, &side->xasked[port]);
        if (own->turn == own->turns[port])
            continue;
        own->port = port;
        port_serve(own, &own->calls.ports[port]);
        port_give(own, port);
        some = true;
    }
    return some;
}

/* ---- the thread ----------------------------------------------------------------------- */

static bool is_stopped(gpurt_hostcalls_own_t *own)
{
    bool stopped;

    pthread_mutex_lock(&own->lock);
    stopped = own->stopped;
    pthread_mutex_unlock(&own->lock);
    return stopped;
}

/* Unless it was told to go on meanwhile. */
static bool ends(gpurt_hostcalls_own_t *own)
{
    bool ended;

    pthread_mutex_lock(&own->lock);
    ended = own->ended = own->stopped;
    pthread_mutex_unlock(&own->lock);
    return ended;
}

static uint32_t user_place(const gpurt_hostcalls_own_t *own)
{
    return GPURT_THREADUSE_CALLS + own->calls.id % GPURT_HOSTCALLS;
}

/* Lanes that wait for an answer wait for this thread. */
static void self_tell(const gpurt_hostcalls_own_t *own)
{
    const gpurt_threadwait_at_t at = {&own->calls.words->waitable, GPURT_WAITABLE_OTHER,
                                      own->name};

    gpurt_threadwait_use(own->opened, user_place(own), &at, GPURT_HOLD_ALONE,
                         gpurt_threadwait_self());
}
GPURT_STATIC_ASSERT(GPURT_THREADUSE_CALLS + GPURT_HOSTCALLS <= GPURT_THREADPAGE_USERS,
                    "each has a place");

static void serve(gpurt_hostcalls_own_t *own)
{
    gpurt_hostpoll_t idle = gpurt_hostpoll_begin(UINT64_MAX);
    uint32_t quiet = 0;

    self_tell(own);
    for (;;) {
        bool stops = is_stopped(own);

        if (round_serve(own)) {
            idle = gpurt_hostpoll_begin(UINT64_MAX);
            quiet = 0;
        } else if (stops && ends(own)) { /* a whole round behind the word to stop */
            gpurt_threadwait_unuse(own->opened, user_place(own));
            return;
        } else if (gpurt_hostpoll_naps(&idle) || ++quiet % ROUNDS == 0) {
            (void)gpurt_hostpoll_next(&idle);
        }
    }
}

/* ---- a function that ends the thread ---------------------------------------------------- */

static void *serve_run(void *context);

/* Its lanes are answered, and it is asked no more. */
static void function_drop(gpurt_hostcalls_own_t *own)
{
    const gpurt_hostcall_question_t *q = &own->question;

    gpurt_tell_always("host calls %s: function %u ended the thread that serves them and is "
                      "taken away: let functions return, without pthread_exit",
                      own->name, q->function);
    pthread_mutex_lock(&own->lock);
    if (q->function < GPURT_HOSTCALL_BUILT_IN)
        own->rows[q->function].function = NULL;
    pthread_mutex_unlock(&own->lock);
    memset(own->answer, 0, q->answer_bytes);
    for (; own->rank < q->lanes; own->rank++) {
        unknown_add(own);
        answer_scatter(own, &own->calls.ports[own->port], q, own->rank,
                       GPURT_E_NO_FUNCTION);
    }
    port_give(own, own->port);
}

/* Context: the thread that ends, by pthread_exit in a function; another one serves on. */
static void serve_left(void *context)
{
    gpurt_hostcalls_own_t *own = (gpurt_hostcalls_own_t *)context;
    pthread_t next;
    int failed;

    function_drop(own);
    pthread_mutex_lock(&own->lock);
    failed = gpurt_thread_start_lanes(&next, serve_run, own);
    if (!failed) {
        pthread_detach(own->thread);
        own->thread = next;
    }
    own->ended = failed != 0;
    pthread_mutex_unlock(&own->lock);
    if (failed)
        gpurt_tell_always("host calls %s: no thread to serve them any more (%s): their "
                          "callers wait for ever",
                          own->name, strerror(failed));
}

/* A cancellation would end the thread in the middle of what it does. */
static void *serve_run(void *context)
{
    int state;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_cleanup_push(serve_left, context);
    serve((gpurt_hostcalls_own_t *)context);
    pthread_cleanup_pop(0);
    return NULL;
}

gpurt_status_t gpurt_hostcalls_serve(gpurt_hostcalls_own_t *own, gpurt_error_t *err)
{
    int failed = gpurt_thread_start_lanes(&own->thread, serve_run, own);

    own->serves = failed == 0;
    if (failed)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, failed,
                          "host calls: no thread to serve them");
    return GPURT_OK;
}

static gpurt_status_t runs_on(const gpurt_hostcalls_own_t *own, uint32_t running,
                              gpurt_error_t *err)
{
    return REFUSE(err, GPURT_E_TIMEOUT,
                  "host calls %s: function %u has not returned for %u ms; let it "
                  "return, then try again",
                  own->name, running ? running - 1 : 0, own->stop_ms);
}

/* Returns: whether it has ended. */
static bool stop_tell(gpurt_hostcalls_own_t *own, bool stopped)
{
    bool ended;

    pthread_mutex_lock(&own->lock);
    ended = own->ended;
    own->stopped = stopped || ended;
    pthread_mutex_unlock(&own->lock);
    return ended;
}

gpurt_status_t gpurt_hostcalls_unserve(gpurt_hostcalls_own_t *own, uint64_t timeout_ns,
                                       gpurt_error_t *err)
{
    gpurt_hostpoll_t poll = gpurt_hostpoll_begin(timeout_ns);

    if (!own->serves)
        return GPURT_OK;
    while (!stop_tell(own, true))
        if (!gpurt_hostpoll_next(&poll) && !stop_tell(own, false))
            /* relaxed: for the message */
            return runs_on(own, gpurt_load_relaxed_sys_u32(&own->xrunning), err);
    pthread_join(own->thread, NULL);
    own->serves = false;
    return GPURT_OK;
}

/* relaxed, both: whether it is at work, and still at the same */
gpurt_status_t gpurt_hostcalls_rest(const gpurt_hostcalls_own_t *own, gpurt_error_t *err)
{
    gpurt_hostpoll_t poll = gpurt_hostpoll_begin((uint64_t)own->stop_ms * NS_A_MS);
    uint64_t served = gpurt_load_relaxed_sys_u64(&own->xserved);
    uint32_t running;

    while ((running = gpurt_load_relaxed_sys_u32(&own->xrunning)) != 0 &&
           gpurt_load_relaxed_sys_u64(&own->xserved) == served)
        if (!gpurt_hostpoll_next(&poll))
            return runs_on(own, running, err);
    return GPURT_OK;
}
