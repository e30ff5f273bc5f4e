/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "viewer.h"

#include "environ.h"
#include "hostthread.h"
#include "hosttime.h"
#include "life.h"
#include "ownwait.h"
#include "part.h"
#include "procfs.h"
#include "tell.h"

#include <errno.h>
#include <gpurt/atomic.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    PERIOD_MS = 500,
    PERIOD_LEAST_MS = 10,
    AGAIN_NS = 2000000000 /* what does not change is told of all the same */
};

/* Of an open device. */
typedef struct view {
    pthread_t thread;
    bool connected, running, stop;
    uint32_t period_ms;
    gpurt_viewer_t viewer;
} view_t;

/* lock guards all; the threads sleep on `wake`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static view_t views[GPURT_MAX_DEVICES];

/* ---- what those who look call -------------------------------------------------------- */

gpurt_viewer_t *gpurt_viewer_enter(const gpurt_t *rt)
{
    view_t *v = &views[gpurt_life_index(rt)];

    pthread_mutex_lock(&lock);
    if (v->running && v->viewer.rt == rt)
        return &v->viewer;
    pthread_mutex_unlock(&lock);
    return NULL;
}

void gpurt_viewer_leave(void)
{
    pthread_mutex_unlock(&lock);
}

char *gpurt_viewer_buffer(gpurt_viewer_t *v, size_t bytes)
{
    void *memory = NULL;

    if (bytes <= v->room)
        return v->buffer;
    gpurt_host_destroy(v->rt, v->buffer);
    v->buffer = NULL;
    v->room = 0;
    if (gpurt_host_create(v->rt, bytes, &memory, NULL) != GPURT_OK)
        return NULL;
    v->buffer = (char *)memory;
    v->room = bytes;
    return v->buffer;
}

bool gpurt_viewer_fetch(gpurt_viewer_t *v, void *to, const void *from, size_t bytes)
{
    if (v->on_cpu) {
        for (size_t i = 0; i < bytes / 4; i++) /* relaxed: a snapshot */
            ((uint32_t *)to)[i] = gpurt_load_relaxed_dev_u32((const uint32_t *)from + i);
        return true;
    }
    return gpurt_copy(v->rt, v->stream, to, from, bytes, NULL) == GPURT_OK &&
           gpurt_own_stream_sync(v->rt, v->stream, NULL) == GPURT_OK;
}

void gpurt_viewer_put(gpurt_viewer_t *v, uint32_t kind, uint64_t time_ns, const void *row)
{
    if (!gpurt_hostring_put(&v->ring, kind, v->device, time_ns, row))
        gpurt_hostring_lose(&v->ring, 1, GPURT_LOSS_FULL, time_ns);
}

bool gpurt_viewer_is_due(uint64_t told_ns, uint64_t now_ns)
{
    return now_ns - told_ns >= AGAIN_NS;
}

gpurt_viewer_news_t gpurt_viewer_news(uint64_t told_ns, uint64_t now_ns, bool last,
                                      bool same)
{
    if (last || gpurt_viewer_is_due(told_ns, now_ns))
        return GPURT_VIEWER_DUE;
    return same ? GPURT_VIEWER_SAME : GPURT_VIEWER_CHANGED;
}

/* ---- the thread ---------------------------------------------------------------------- */

static void *view_main(void *context)
{
    view_t *v = context;

    pthread_mutex_lock(&lock);
    while (!v->stop) {
        v->viewer.looker->tell(&v->viewer, false);
        if (!v->stop)
            gpurt_steady_wait(&wake, &lock, v->period_ms * 1000000ull);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* ---- life ---------------------------------------------------------------------------- */

static uint32_t period_read(void)
{
    const char *value = gpurt_env_get("GPURT_HEAP_VIEW");
    uint64_t period;

    if (!value)
        return PERIOD_MS;
    if (strcasecmp(value, "off") == 0)
        return 0;
    period = gpurt_tell_number("GPURT_HEAP_VIEW", value, PERIOD_MS);
    return period < PERIOD_LEAST_MS ? PERIOD_LEAST_MS
           : period > 3600000       ? 3600000
                                    : (uint32_t)period;
}

/* A box without room for the definitions goes without all this. */
void gpurt_viewer_connect(const gpurt_opened_t *opened, const gpurt_boxmap_t *map,
                          uint32_t section)
{
    view_t *v = &views[opened->index];

    pthread_mutex_lock(&lock);
    v->period_ms = period_read();
    memset(v->viewer.classes, 0, sizeof v->viewer.classes);
    v->viewer.left_out = 0;
    v->viewer.device = map->sections[0].device;
    v->viewer.on_cpu = opened->info.backend == GPURT_BACKEND_CPU;
    v->connected = v->period_ms &&
                   gpurt_hostring_init(&v->viewer.ring, map, section, NULL) == GPURT_OK;
    pthread_mutex_unlock(&lock);
}

void gpurt_viewer_disconnect(const gpurt_opened_t *opened)
{
    view_t *v = &views[opened->index];

    pthread_mutex_lock(&lock);
    v->connected = false;
    names_clear(&v->viewer.names);
    pthread_mutex_unlock(&lock);
}

/* The tables of what is looked at are cleared whole, whoever was in the midst of them. */
static void viewer_forget(uint32_t index)
{
    view_t *v = &views[index];

    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&wake, NULL);
    if (v->running)
        v->viewer.looker->forget(v->viewer.rt);
    memset(v, 0, sizeof *v);
}

/* A thread that held the lock may have been about to free its buffer. opened: may be NULL, then
 * nothing is given back. */
static void viewer_forked(uint32_t index, gpurt_opened_t *opened)
{
    static bool was_held; /* as the first device's turn found it */
    const view_t *v = &views[index];

    if (opened && pthread_mutex_trylock(&lock) == 0)
        pthread_mutex_unlock(&lock);
    else if (opened)
        was_held = true;
    if (opened && v->viewer.on_cpu && !was_held)
        (void)opened->ops->host_destroy(opened->self, v->viewer.buffer);
    viewer_forget(index);
}

void gpurt_viewer_begin(gpurt_t *rt, const gpurt_looker_t *looker)
{
    view_t *v = &views[gpurt_life_index(rt)];

    pthread_mutex_lock(&lock);
    if (v->connected && !v->running) {
        v->viewer.rt = rt;
        v->viewer.looker = looker;
        v->stop = false;
        v->running = gpurt_stream_create(rt, &v->viewer.stream, NULL) == GPURT_OK &&
                     gpurt_thread_start(&v->thread, view_main, v) == 0;
    }
    pthread_mutex_unlock(&lock);
}

/* A last look at all that is left; then the thread is gone. */
static gpurt_status_t viewer_closing(gpurt_t *rt, gpurt_error_t *err)
{
    gpurt_viewer_t *viewer = gpurt_viewer_enter(rt);
    view_t *v = &views[gpurt_life_index(rt)];

    (void)err;
    if (!viewer)
        return GPURT_OK;
    v->stop = true;
    pthread_cond_broadcast(&wake);
    gpurt_viewer_leave();
    pthread_join(v->thread, NULL);
    pthread_mutex_lock(&lock);
    v->viewer.looker->tell(viewer, true);
    v->viewer.looker->forget(rt);
    gpurt_host_destroy(rt, viewer->buffer);
    gpurt_stream_destroy(rt, viewer->stream);
    viewer->buffer = NULL;
    viewer->room = 0;
    v->running = false;
    pthread_mutex_unlock(&lock);
    return GPURT_OK;
}

const gpurt_part_t gpurt_part_viewer = {
    .name = "viewer", .closing = viewer_closing, .forked = viewer_forked};
