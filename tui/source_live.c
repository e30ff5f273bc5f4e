/* SPDX-License-Identifier: Apache-2.0 */
/* Draining boxes into models, on a thread of its own. Each process of the program that
 * opens gpurt has its box, its model and its share; one of them is looked at, all are
 * drained. */
#include "source.h"

#include "fault_row.h"
#include "handover.h"
#include "hang_watch.h"
#include "panic_hook.h"
#include "procfs.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BOXES = 16,
    ACCEPT_MS = 5
};

struct live;

/* Written by the drain thread alone, save `reader`. */
typedef struct live_box {
    struct live *live;
    gpurt_boxmap_t map;
    gplog_numbers_t numbers; /* in the log */
    gpurt_drain_t *drain;    /* NULL: it has ended, or was never there */
    gpurt_dictionary_t dictionary;
    panic_tap_t tap;
    gpurt_model_t *model;
    gpurt_modelshare_t *share;
    gpurt_modelshare_t *reader; /* the screen's end; written under the lock */
    hang_watch_t watch;
} live_box_t;

/* Owner: whoever opened it. Shared with: the drain thread. */
typedef struct live {
    source_t source;
    pthread_t thread;
    bool started;
    int listener; /* -1: a box that was there already */
    char name[GPURT_HANDOVER_NAME];
    gpurt_writer_t *log; /* NULL: nothing is recorded */
    bool log_failed;
    source_failures_t failures;
    panic_hook_t hook; /* of the drain thread */
    live_box_t box[BOXES];
    pthread_mutex_t lock; /* guards the fields below, and `reader` of each box */
    uint32_t count;       /* boxes that have a share; grows */
    bool stop, done;
    gpurt_error_t problem, log_failure;
} live_t;

/* ---- the drain thread ---------------------------------------------------------------- */

static void problem_tell(live_t *l, const gpurt_error_t *err)
{
    pthread_mutex_lock(&l->lock);
    l->problem = *err;
    pthread_mutex_unlock(&l->lock);
}

static void box_fini(live_box_t *one)
{
    gpurt_drain_close(one->drain);
    hang_watch_fini(&one->watch);
    gpurt_boxmap_detach(&one->map);
    gpurt_modelshare_close(one->reader);
    gpurt_modelshare_close(one->share);
    gpurt_model_destroy(one->model);
    gpurt_dictionary_fini(&one->dictionary);
    memset(one, 0, sizeof *one);
}

/* A name in the runtime folder is for others; without one the screen still works. */
static gpurt_status_t share_make(live_box_t *one, gpurt_error_t *err)
{
    gpurt_status_t st =
        gpurt_modelshare_create(one->map.box->identity.pid, &one->share, err);

    if (st != GPURT_OK)
        st = gpurt_modelshare_create(0, &one->share, err);
    if (st != GPURT_OK)
        return st;
    gpurt_modelshare_put(one->share, one->model, gpurt_real_ns(), GPURT_MODEL_LIVE);
    return gpurt_modelshare_join(one->share, &one->reader, err);
}

/* ---- the log ------------------------------------------------------------------------- */

/* A full disk ends the recording, and the screen goes on. Returns: GPURT_OK always. */
static gpurt_status_t log_check(live_t *l, gpurt_status_t st, const gpurt_error_t *err)
{
    if (st == GPURT_OK)
        return GPURT_OK;
    l->log_failed = true;
    pthread_mutex_lock(&l->lock);
    l->problem = l->log_failure = *err;
    pthread_mutex_unlock(&l->lock);
    return GPURT_OK;
}

static gpurt_status_t log_put(void *context, const gpurt_row_t *row, gpurt_error_t *err)
{
    live_box_t *one = context;
    live_t *l = one->live;

    return l->log_failed
               ? GPURT_OK
               : log_check(l, gpurt_writer_put_of(l->log, &one->numbers, row, err), err);
}

static gpurt_status_t log_flush(void *context, gpurt_error_t *err)
{
    live_t *l = ((live_box_t *)context)->live;

    return l->log_failed ? GPURT_OK : log_check(l, gpurt_writer_flush(l->log, err), err);
}

/* ---- boxes --------------------------------------------------------------------------- */

static void alarm_show(void *context, uint32_t section, uint32_t coming)
{
    live_box_t *one = context;

    gpurt_modelshare_alarm(one->share, section, coming); /* there when rounds begin */
}

/* one->map is attached; it is released on failure, as all else. */
static gpurt_status_t box_start(live_t *l, live_box_t *one, gpurt_error_t *err)
{
    gpurt_drain_options_t o = {.struct_size = sizeof o};
    gplog_file_t about;
    gpurt_status_t st = GPURT_OK;

    gpurt_drain_about(&one->map, &about);
    o.dictionary = l->log ? gpurt_writer_dictionary(l->log) : &one->dictionary;
    if (l->log) {
        st = gpurt_writer_about(l->log, &about, err);
        gpurt_writer_numbers(l->log, &about, &one->numbers);
        one->live = l;
        o.sinks[o.sink_count++] =
            (gpurt_drain_sink_t){.context = one, .put = log_put, .flush = log_flush};
    }
    if (st == GPURT_OK)
        st = gpurt_model_create(o.dictionary, &about, &one->model, err);
    if (st != GPURT_OK)
        goto fail;
    o.sinks[o.sink_count++] = gpurt_model_sink(one->model);
    one->tap = (panic_tap_t){&l->hook, o.dictionary};
    if (l->failures.command)
        o.sinks[o.sink_count++] = panic_tap_sink(&one->tap);
    o.sinks[o.sink_count++] = (gpurt_drain_sink_t){.context = one, .alarm = alarm_show};
    st = gpurt_drain_open(&one->map, &o, &one->drain, err);
    if (st == GPURT_OK)
        st = share_make(one, err);
    if (st != GPURT_OK)
        goto fail;
    pthread_mutex_lock(&l->lock);
    l->count++;
    pthread_mutex_unlock(&l->lock);
    return GPURT_OK;

fail:
    box_fini(one);
    return st;
}

/* Returns: whether there was one. */
static bool box_accept(live_t *l)
{
    gpurt_error_t err = {0};
    gpurt_status_t st;
    int fd;

    if (l->listener < 0 || l->count == BOXES)
        return false;
    st = gpurt_handover_take(l->listener, &fd, &err);
    if (st == GPURT_E_NOT_READY)
        return false;
    if (st == GPURT_OK) {
        live_box_t *one = &l->box[l->count];

        st = gpurt_boxmap_attach_fd(fd, true, &one->map, &err);
        close(fd);
        if (st == GPURT_OK)
            st = box_start(l, one, &err);
    }
    if (st != GPURT_OK)
        problem_tell(l, &err);
    return true;
}

static gpurt_status_t fault_put(void *context, const gpurt_row_t *row, gpurt_error_t *err)
{
    live_box_t *one = context;

    (void)err;
    gpurt_model_put(one->model, row);
    panic_hook_row(one->tap.hook, &one->dictionary, row);
    return GPURT_OK;
}

/* A GPU that failed under the box's process: its faults become panics of the model. */
static void faults_take(live_t *l, live_box_t *one)
{
    fault_book_t book = {0};
    gplog_file_t about;
    char path[PATH_MAX];
    gpurt_error_t err;
    gpucore_t *core;
    gpurt_status_t st;

    if (!l->failures.capture ||
        !gpu_capture_of(l->failures.capture, (pid_t)one->map.box->identity.pid, path))
        return;
    st = gpucore_open(path, &core, &err);
    if (st == GPURT_OK)
        st = fault_book_fill(&book, core, &err);
    gpurt_drain_about(&one->map, &about);
    if (st == GPURT_OK)
        st = fault_rows(&one->dictionary, &book, &about, fault_time(path, core, 0), 0,
                        fault_put, one, &err);
    if (st != GPURT_OK)
        problem_tell(l, &err);
    fault_book_fini(&book);
    gpucore_close(core);
}

/* A deadlock becomes a panic of the model, and of the log if there is one. */
static void hang_take(live_t *l, live_box_t *one, gpurt_waitgraph_t *g)
{
    gpurt_dictionary_t *d = l->log ? gpurt_writer_dictionary(l->log) : &one->dictionary;
    uint64_t blob = 0;
    gpurt_error_t err;
    gpurt_row_t *row;
    void *bytes;
    size_t size;

    if (l->log && !l->log_failed &&
        gpurt_waits_pack(g->waits, &bytes, &size, NULL) == GPURT_OK) {
        log_check(l, gpurt_writer_blob(l->log, GPLOG_BLOB_WAITS, bytes, size, &blob, &err),
                  &err);
        free(bytes);
    }
    row = hang_row_make(d, g, blob);
    if (row) {
        gpurt_model_put(one->model, row);
        panic_hook_row(&l->hook, d, row);
        if (l->log)
            log_put(one, row, &err);
    }
    free(row);
    gpurt_waitgraph_fini(g);
}

static void box_end(live_t *l, live_box_t *one)
{
    gpurt_waitgraph_t g;
    gpurt_error_t err;

    if (gpurt_drain_finish(one->drain, &err) != GPURT_OK)
        problem_tell(l, &err);
    /* relaxed: the application is gone, or has closed the box for good */
    if (gpurt_load_relaxed_sys_u32(&one->map.box->xlife) != GPURT_LIFE_CLOSED &&
        !gpurt_boxmap_alive(&one->map) && hang_watch_last(&one->watch, &one->map, &g))
        hang_take(l, one, &g);
    faults_take(l, one);
    gpurt_modelshare_put(one->share, one->model, gpurt_real_ns(), GPURT_MODEL_ENDED);
    gpurt_drain_close(one->drain);
    one->drain = NULL;
}

/* Returns: rows taken. */
static uint32_t boxes_round(live_t *l, uint32_t *alive)
{
    uint32_t sum = 0;

    *alive = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        live_box_t *one = &l->box[i];
        gpurt_waitgraph_t g;
        gpurt_error_t err;
        uint32_t rows = 0;

        if (!one->drain)
            continue;
        if (gpurt_drain_round(one->drain, &rows, &err) != GPURT_OK)
            problem_tell(l, &err);
        gpurt_modelshare_tick(one->share, one->model, gpurt_real_ns(), GPURT_MODEL_LIVE);
        if (hang_watch_look(&one->watch, &one->map, &g))
            hang_take(l, one, &g);
        if (rows == 0 && gpurt_drain_over(one->drain))
            box_end(l, one);
        *alive += one->drain != NULL;
        sum += rows;
    }
    return sum;
}

static void rest(live_t *l)
{
    struct pollfd wait = {l->listener, POLLIN, 0};
    bool any = false;

    for (uint32_t i = 0; i < l->count; i++)
        if (l->box[i].drain) {
            gpurt_drain_rest(l->box[i].drain);
            any = true;
        }
    if (!any)
        poll(&wait, 1, ACCEPT_MS);
}

static bool told_to_stop(live_t *l)
{
    bool stop;

    pthread_mutex_lock(&l->lock);
    stop = l->stop;
    pthread_mutex_unlock(&l->lock);
    return stop;
}

/* A box whose program lives on (a daemon, an attached process) is given back. */
static void boxes_leave(live_t *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->box[i].drain && gpurt_boxmap_alive(&l->box[i].map))
            box_end(l, &l->box[i]);
}

/* Told to stop, it still takes what a program that is gone has left, and a box that was
 * handed over with its last breath. */
static void *drain_run(void *context)
{
    live_t *l = context;
    uint32_t alive = 0;
    bool stop, accepted;

    do {
        accepted = box_accept(l);
        if (boxes_round(l, &alive) == 0)
            rest(l);
        panic_hook_poll(&l->hook);
        stop = told_to_stop(l);
        if (stop)
            boxes_leave(l);
    } while (!stop || accepted || alive > 0);
    panic_hook_fini(&l->hook);
    pthread_mutex_lock(&l->lock);
    l->done = true;
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* ---- the caller's side --------------------------------------------------------------- */

/* The count first: a panic that is told meanwhile is shown twice, not never. */
static void coming_read(source_t *s, gpurt_modelshare_t *reader, gpurt_modelview_t *view)
{
    s->coming = gpurt_modelshare_coming(reader);
    gpurt_modelshare_read(reader, view);
}

static void live_refresh(source_t *s, gpurt_modelview_t *view)
{
    live_t *l = (live_t *)s;

    pthread_mutex_lock(&l->lock);
    s->processes = l->count;
    s->ended = l->done;
    if (l->problem.status)
        s->problem = l->problem;
    s->log_failure = l->log_failure;
    pthread_mutex_unlock(&l->lock);
    if (s->processes)
        coming_read(s, l->box[s->shown].reader, view);
    if (l->listener < 0 && view->numbers.state == GPURT_MODEL_ENDED)
        s->ended = true;
}

/* Its parts are read anew, because the view holds another process. */
static void live_next(source_t *s)
{
    live_t *l = (live_t *)s;
    gpurt_modelshare_t *reader;

    if (s->processes < 2)
        return;
    s->shown = (s->shown + 1) % s->processes;
    if (gpurt_modelshare_join(l->box[s->shown].share, &reader, NULL) != GPURT_OK)
        return;
    gpurt_modelshare_close(l->box[s->shown].reader);
    l->box[s->shown].reader = reader;
}

static void live_finish(source_t *s)
{
    live_t *l = (live_t *)s;

    if (!l->started)
        return;
    pthread_mutex_lock(&l->lock);
    l->stop = true;
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
    l->started = false;
}

static void live_close(source_t *s)
{
    live_t *l = (live_t *)s;

    live_finish(s);
    for (uint32_t i = 0; i < BOXES; i++)
        box_fini(&l->box[i]);
    if (l->listener >= 0)
        close(l->listener);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

static const source_class_t live_class = {
    .refresh = live_refresh,
    .next = live_next,
    .finish = live_finish,
    .close = live_close,
};

static live_t *live_make(gpurt_error_t *err)
{
    live_t *l = calloc(1, sizeof *l);

    if (!l) {
        gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "source");
        return NULL;
    }
    l->source.class = &live_class;
    l->listener = -1;
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

static gpurt_status_t live_start(live_t *l, source_t **out, gpurt_error_t *err)
{
    int code = pthread_create(&l->thread, NULL, drain_run, l);

    if (code) {
        live_close(&l->source);
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, code, "starting a thread");
    }
    l->started = true;
    *out = &l->source;
    return GPURT_OK;
}

gpurt_status_t source_live_open(const source_failures_t *failures, gpurt_writer_t *log,
                                source_t **out, const char **name, gpurt_error_t *err)
{
    live_t *l = live_make(err);
    gpurt_status_t st;

    *out = NULL;
    if (!l)
        return GPURT_E_NOMEM;
    l->log = log;
    l->failures = *failures;
    st = panic_hook_init(&l->hook, failures->command, "")
             ? gpurt_handover_listen(l->name, &l->listener, err)
             : gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "source");
    if (st != GPURT_OK) {
        live_close(&l->source);
        return st;
    }
    *name = l->name;
    return live_start(l, out, err);
}

/* ---- what another drainer publishes -------------------------------------------------- */

typedef struct shared {
    source_t source;
    gpurt_modelshare_t *reader;
} shared_t;

static void shared_refresh(source_t *s, gpurt_modelview_t *view)
{
    shared_t *own = (shared_t *)s;

    coming_read(s, own->reader, view);
    if (view->numbers.state == GPURT_MODEL_ENDED || !gpurt_modelshare_alive(own->reader))
        s->ended = true;
}

static void shared_finish(source_t *s)
{
    (void)s;
}

static void shared_close(source_t *s)
{
    gpurt_modelshare_close(((shared_t *)s)->reader);
    free(s);
}

static const source_class_t shared_class = {
    .refresh = shared_refresh,
    .finish = shared_finish,
    .close = shared_close,
};

static gpurt_status_t shared_open(gpurt_modelshare_t *reader, source_t **out,
                                  gpurt_error_t *err)
{
    shared_t *s = calloc(1, sizeof *s);

    if (!s) {
        gpurt_modelshare_close(reader);
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "source");
    }
    s->source.class = &shared_class;
    s->source.processes = 1;
    s->reader = reader;
    *out = &s->source;
    return GPURT_OK;
}

/* ---- a process that runs ------------------------------------------------------------- */

gpurt_status_t source_process_open(uint32_t pid, source_t **out, gpurt_error_t *err)
{
    gpurt_modelshare_t *reader;
    gpurt_status_t st;
    live_t *l;

    *out = NULL;
    if (gpurt_modelshare_open(pid, &reader, NULL) == GPURT_OK) {
        if (gpurt_modelshare_alive(reader))
            return shared_open(reader, out, err);
        gpurt_modelshare_close(reader);
    }
    l = live_make(err);
    if (!l)
        return GPURT_E_NOMEM;
    st = gpurt_boxmap_attach_pid(pid, true, &l->box[0].map, err);
    if (st == GPURT_OK)
        st = box_start(l, &l->box[0], err);
    if (st == GPURT_E_BUSY) { /* its drainer publishes nothing: look over its shoulder */
        st = gpurt_boxmap_attach_pid(pid, false, &l->box[0].map, err);
        if (st == GPURT_OK)
            st = box_start(l, &l->box[0], err);
    }
    if (st != GPURT_OK) {
        live_close(&l->source);
        return st;
    }
    l->source.processes = 1;
    return live_start(l, out, err);
}
