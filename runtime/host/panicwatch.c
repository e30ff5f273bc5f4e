/* SPDX-License-Identifier: Apache-2.0 */
#include "panicwatch.h"

#include "boxlink.h"
#include "guards.h"
#include "life.h"
#include "refuse.h"

#include <gpurt/atomic.h>

#include <pthread.h>
#include <signal.h>
#include <time.h>

enum {
    LOOK_EVERY_NS = 1000000
};

/* One runtime a process. lock: one start or stop at a time. fn, context: fixed while it runs. */
static struct {
    pthread_mutex_t lock;
    pthread_t thread;
    gpurt_on_panic_t fn;
    void *context;
    uint32_t xstop; /* written by: stop */
    bool running;
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static GPURT_TLS bool is_watcher;

static void nap(void)
{
    struct timespec t = {0, LOOK_EVERY_NS};

    nanosleep(&t, NULL);
}

/* Returns: panics in the box, now. */
static uint32_t look(uint32_t known)
{
    gpurt_panic_news_t news = {.recorded = gpurt_boxlink_panics()};
    uint32_t recorded = news.recorded;
    bool told = false;

    while (gpurt_guards_news(&news)) {
        watch.fn(watch.context, &news);
        told = true;
    }
    if (!told && recorded != known) {
        news = (gpurt_panic_news_t){.recorded = recorded};
        watch.fn(watch.context, &news);
    }
    return recorded;
}

static void *watch_main(void *nothing)
{
    uint32_t known = gpurt_boxlink_panics();

    (void)nothing;
    is_watcher = true;
    while (
        !gpurt_load_relaxed_sys_u32(&watch.xstop)) { /* relaxed: the join orders the rest */
        known = look(known);
        nap();
    }
    (void)look(known); /* what came before the stop */
    return NULL;
}

/* No signal of the application is for this thread. */
static int thread_start(void)
{
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&watch.thread, NULL, watch_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

/* Under the lock. */
static void stop(void)
{
    if (!watch.running)
        return;
    gpurt_store_relaxed_sys_u32(&watch.xstop, 1);
    pthread_join(watch.thread, NULL);
    watch.running = false;
}

void gpurt_panicwatch_stop(void)
{
    pthread_mutex_lock(&watch.lock);
    stop();
    pthread_mutex_unlock(&watch.lock);
}

/* Under the lock. */
static gpurt_status_t start(gpurt_on_panic_t fn, void *context, gpurt_error_t *err)
{
    int failed;

    watch.fn = fn;
    watch.context = context;
    watch.xstop = 0;
    failed = thread_start();
    if (failed)
        return gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, failed,
                          "gpurt_on_panic: no thread could be started");
    watch.running = true;
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
    pthread_mutex_lock(&watch.lock);
    stop();
    if (fn)
        st = start(fn, context, err);
    pthread_mutex_unlock(&watch.lock);
    return gpurt_life_leave(st);
}
