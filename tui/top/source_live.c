/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes while they are written: drained into models on a thread of its own, or read where
 * another process shows them. Each has its model and its share; one of them is looked at, all
 * are drained. */
#include "live.h"

#include "boxes.h"
#include "hosttime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    ACCEPT_MS = 5,
    IDLE_MS = 50 /* where nobody hands us anything */
};
#define FIND_NS  1000000000ull /* between two looks for what is new of a process */
#define YOUNG_NS 2000000000ull

/* ---- a process that runs ------------------------------------------------------------- */

/* Its drainer may be on the way: gpurt_open hands a box over when it is made. */
static bool is_young(const gpurt_boxmap_t *map)
{
    uint64_t now = gpurt_real_ns(), made = map->box->identity.real_ns;

    return now >= made && now - made < YOUNG_NS;
}

/* The map is given away. Where somebody drains it who shows nothing, or may be about to, we
 * look over his shoulder. */
static gpurt_status_t box_take(live_t *l, gpurt_boxmap_t map, gpurt_error_t *err)
{
    live_box_t *one = &l->box[l->count];
    gpurt_boxmap_t beside;
    gpurt_status_t st = gpurt_boxmap_attach_fd(map.fd, false, &beside, err);

    if (st != GPURT_OK || is_young(&map)) {
        gpurt_boxmap_detach(&map);
        one->map = beside; /* detached on failure */
        return st == GPURT_OK ? live_box_start(l, one, err) : st;
    }
    one->map = map;
    st = live_box_start(l, one, err);
    if (st != GPURT_E_BUSY) {
        gpurt_boxmap_detach(&beside);
        return st;
    }
    one->map = beside;
    return live_box_start(l, one, err);
}

/* What is shown, and boxes of which nothing is, by the time that they were made. */
static void all_take(live_t *l, gpurt_modelshare_t **shown, uint32_t count,
                     gpurt_boxes_t *boxes, gpurt_error_t *err)
{
    uint32_t i = 0, k = 0;

    while ((i < count || k < boxes->count) && l->count < LIVE_BOXES) {
        uint64_t shown_ns = i < count ? gpurt_modelshare_box_ns(shown[i]) : UINT64_MAX;
        uint64_t made_ns =
            k < boxes->count ? boxes->map[k].box->identity.real_ns : UINT64_MAX;

        if (shown_ns <= made_ns) {
            live_box_show(l, shown[i++]);
            k += shown_ns == made_ns;
        } else if (box_take(l, gpurt_boxes_take(boxes, k), err) != GPURT_OK) {
            live_problem(l, err);
        }
    }
    for (; i < count; i++)
        gpurt_modelshare_close(shown[i]);
}

static gpurt_status_t process_find(live_t *l, gpurt_error_t *err)
{
    gpurt_modelshare_t *shown[LIVE_BOXES];
    gpurt_boxes_t *boxes = calloc(1, sizeof *boxes);
    gpurt_status_t st;

    if (!boxes)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "source");
    st = gpurt_boxes_of_pid(l->pid, true, boxes, err);
    if (boxes->refused)
        live_problem(l, err);
    all_take(l, shown, gpurt_modelshare_find(l->pid, shown, LIVE_BOXES), boxes, err);
    gpurt_boxes_detach(boxes);
    free(boxes);
    l->found_ns = gpurt_steady_ns();
    return l->count ? GPURT_OK : st != GPURT_OK ? st : err->status;
}

static bool all_over(const live_t *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->box[i].drain)
            return false;
    for (uint32_t i = 0; i < l->count; i++)
        if (!gpurt_modelshare_over(l->box[i].share))
            return false;
    return true;
}

static bool is_known(const live_t *l, uint64_t made_ns)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (l->box[i].made_ns == made_ns)
            return true;
    return false;
}

/* A box that the process makes later is one that somebody drains: it has none without. The last
 * one that is over may have a successor already. */
static void process_look(live_t *l)
{
    gpurt_modelshare_t *shown[LIVE_BOXES];
    uint64_t now = gpurt_steady_ns();
    uint32_t found, before = l->count;
    bool over;

    if (l->lobby.listener >= 0)
        return;
    over = all_over(l);
    if (!over && now - l->found_ns < FIND_NS)
        return;
    l->found_ns = now;
    found = gpurt_modelshare_find(l->pid, shown, LIVE_BOXES);
    for (uint32_t i = 0; i < found; i++) {
        if (l->count < LIVE_BOXES && !is_known(l, gpurt_modelshare_box_ns(shown[i])))
            live_box_show(l, shown[i]);
        else
            gpurt_modelshare_close(shown[i]);
    }
    pthread_mutex_lock(&l->lock);
    l->over = over && l->count == before;
    pthread_mutex_unlock(&l->lock);
}

/* ---- the drain thread ---------------------------------------------------------------- */

/* Returns: whether there was one. */
static bool box_accept(live_t *l)
{
    gpurt_error_t err = {0};
    gpurt_status_t st;
    int fd;

    if (l->lobby.listener < 0 || l->count == LIVE_BOXES)
        return false;
    st = gpurt_lobby_take(&l->lobby, &fd, &err);
    if (st == GPURT_E_NOT_READY)
        return false;
    if (st == GPURT_OK) {
        live_box_t *one = &l->box[l->count];

        st = gpurt_boxmap_attach_fd(fd, true, &one->map, &err);
        close(fd);
        if (st == GPURT_OK)
            st = live_box_start(l, one, &err);
    }
    if (st != GPURT_OK)
        live_problem(l, &err);
    return true;
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
            live_problem(l, &err);
        live_box_tick(l, one);
        if (hang_watch_look(&one->watch, &one->map, &g))
            live_hang_take(l, one, &g);
        if (rows == 0 && gpurt_drain_over(one->drain))
            live_box_end(l, one);
        *alive += one->drain != NULL;
        sum += rows;
    }
    return sum;
}

static void rest(live_t *l)
{
    gpurt_drain_t *drains[LIVE_BOXES];
    uint32_t count = 0;

    for (uint32_t i = 0; i < l->count; i++)
        if (l->box[i].drain)
            drains[count++] = l->box[i].drain;
    if (count)
        gpurt_drains_rest(drains, count);
    else
        gpurt_lobby_wait(&l->lobby, l->lobby.listener >= 0 ? ACCEPT_MS : IDLE_MS);
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
            live_box_end(l, &l->box[i]);
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
        process_look(l);
        if (boxes_round(l, &alive) == 0)
            rest(l);
        panic_hook_poll(&l->hook);
        stop = told_to_stop(l);
        if (stop)
            boxes_leave(l);
    } while (!stop || accepted || alive > 0 ||
             (l->lobby.guests > 0 && l->count < LIVE_BOXES));
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
    s->ended = l->lobby.listener < 0 ? l->over : l->done;
    if (l->problem.status)
        s->problem = l->problem;
    s->log_failure = l->log_failure;
    pthread_mutex_unlock(&l->lock);
    if (s->processes)
        coming_read(s, l->box[s->shown].reader, view);
}

/* Its parts are read anew, because the view holds another box. */
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

void source_left_drop(source_left_t *left)
{
    gpurt_lobby_close(&left->lobby);
    for (uint32_t i = 0; i < left->count; i++)
        gpurt_boxmap_detach(&left->map[i]);
    left->count = 0;
}

/* A box that its program has closed, or left behind, is read to its end. */
static bool is_left(const live_box_t *one)
{
    /* relaxed: what is written after is the next drainer's */
    return one->map.box && one->map.writable && gpurt_boxmap_alive(&one->map) &&
           gpurt_load_relaxed_sys_u32(&one->map.box->xlife) != GPURT_LIFE_CLOSED;
}

/* What is shown under the names of the boxes goes, so that the next drainer can show it. */
static void live_leave(source_t *s, source_left_t *left)
{
    live_t *l = (live_t *)s;

    *left = (source_left_t){.lobby = l->lobby};
    l->lobby = (gpurt_lobby_t){.listener = -1};
    for (uint32_t i = 0; i < l->count; i++) {
        if (is_left(&l->box[i])) {
            left->map[left->count++] = l->box[i].map;
            memset(&l->box[i].map, 0, sizeof l->box[i].map);
        }
        live_box_fini(&l->box[i]);
    }
    l->count = 0;
}

static void live_close(source_t *s)
{
    live_t *l = (live_t *)s;

    live_finish(s);
    for (uint32_t i = 0; i < LIVE_BOXES; i++)
        live_box_fini(&l->box[i]);
    gpurt_lobby_close(&l->lobby);
    pthread_mutex_destroy(&l->lock);
    if (l->source.news_fd >= 0)
        close(l->source.news_fd);
    free(l);
}

static const source_class_t live_class = {
    .refresh = live_refresh,
    .next = live_next,
    .finish = live_finish,
    .leave = live_leave,
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
    l->source.news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); /* -1: it comes later */
    l->lobby.listener = -1;
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
             ? gpurt_lobby_open(&l->lobby, err)
             : gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "source");
    if (st != GPURT_OK) {
        live_close(&l->source);
        return st;
    }
    *name = l->lobby.name;
    return live_start(l, out, err);
}

gpurt_status_t source_process_open(uint32_t pid, source_t **out, gpurt_error_t *err)
{
    live_t *l = live_make(err);
    gpurt_status_t st;

    *out = NULL;
    if (!l)
        return GPURT_E_NOMEM;
    l->pid = pid;
    st = process_find(l, err);
    if (st != GPURT_OK) {
        live_close(&l->source);
        return st;
    }
    l->source.processes = l->count;
    return live_start(l, out, err);
}
