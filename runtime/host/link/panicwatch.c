/* SPDX-License-Identifier: Apache-2.0 */
/* The thread behind gpurt_on_panic (recover.h), a part of each device. A GPU cannot wake a thread,
 * so it looks: at the count of panics in the black box, and at each guard's. There is no such
 * thread until somebody asks to be told. */
#include "boxlink.h"
#include "guards.h"
#include "hostthread.h"
#include "life.h"
#include "part.h"
#include "process.h"
#include "refuse.h"

#include <gpurt/atomic.h>

#include <pthread.h>
#include <time.h>

enum {
    LOOK_EVERY_NS = 1000000
};

/* Of an open device. fn, context: fixed while it runs. */
typedef struct watch {
    const gpurt_opened_t *opened;
    pthread_t thread;
    gpurt_on_panic_t fn;
    void *context;
    uint32_t xstop; /* written by: stop */
    bool running;   /* under lock */
} watch_t;

static watch_t watches[GPURT_MAX_DEVICES];
static gpurt_lock_t lock = GPURT_LOCK_INIT; /* one start or stop at a time */

static GPURT_TLS bool is_watcher;

static void nap(void)
{
    struct timespec t = {0, LOOK_EVERY_NS};

    nanosleep(&t, NULL);
}

/* Returns: panics in the box, now. */
static uint32_t look(const watch_t *w, uint32_t known)
{
    gpurt_panic_news_t news = {.recorded = gpurt_boxlink_panics(w->opened)};
    uint32_t recorded = news.recorded;
    bool told = false;

    while (gpurt_guards_news(w->opened, &news)) {
        w->fn(w->context, &news);
        told = true;
    }
    if (!told && recorded != known) {
        news = (gpurt_panic_news_t){.recorded = recorded};
        w->fn(w->context, &news);
    }
    return recorded;
}

static void *watch_main(void *context)
{
    const watch_t *w = context;
    uint32_t known = gpurt_boxlink_panics(w->opened);

    is_watcher = true;
    while (!gpurt_load_relaxed_sys_u32(&w->xstop)) { /* relaxed: the join orders the rest */
        known = look(w, known);
        nap();
    }
    (void)look(w, known); /* what came before the stop */
    return NULL;
}

/* Under the lock. */
static void stop(watch_t *w)
{
    if (!w->running)
        return;
    gpurt_store_relaxed_sys_u32(&w->xstop, 1);
    pthread_join(w->thread, NULL);
    w->running = false;
}

/* Under the lock. */
static gpurt_status_t start(watch_t *w, const gpurt_opened_t *opened, gpurt_on_panic_t fn,
                            void *context, gpurt_error_t *err)
{
    int failed;

    w->opened = opened;
    w->fn = fn;
    w->context = context;
    w->xstop = 0;
    failed = gpurt_thread_start(&w->thread, watch_main, w);
    if (failed)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, failed,
                          "gpurt_on_panic: no thread could be started");
    w->running = true;
    return GPURT_OK;
}

gpurt_status_t gpurt_on_panic(gpurt_t *rt, gpurt_on_panic_t fn, void *context,
                              gpurt_error_t *err)
{
    const gpurt_opened_t *o;
    gpurt_status_t st;

    if (is_watcher)
        return REFUSE(err, GPURT_E_INVALID,
                      "gpurt_on_panic in a function that it called: call it from another "
                      "thread");
    st = gpurt_life_enter(rt, &o, err);
    if (st != GPURT_OK)
        return st;
    gpurt_lock_take(&lock);
    stop(&watches[o->index]);
    if (fn)
        st = start(&watches[o->index], o, fn, context, err);
    gpurt_lock_give(&lock);
    return gpurt_life_leave(o, st);
}

static gpurt_status_t panicwatch_close(gpurt_opened_t *opened, gpurt_status_t status,
                                       gpurt_error_t *err)
{
    (void)status;
    (void)err;
    gpurt_lock_take(&lock);
    stop(&watches[opened->index]);
    gpurt_lock_give(&lock);
    return GPURT_OK;
}

/* The thread is the parent's. */
static void panicwatch_forked(uint32_t index, gpurt_opened_t *opened)
{
    (void)opened;
    watches[index].running = false;
}

const gpurt_part_t gpurt_part_panicwatch = {
    .name = "panicwatch", .close = panicwatch_close, .forked = panicwatch_forked};
