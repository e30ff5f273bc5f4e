/* SPDX-License-Identifier: Apache-2.0 */
#include "publish.h"

#include "hosttime.h"
#include "modelshare.h"
#include "timesort.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    BUFFER_BYTES = 2 << 20, /* a round brings at most half of it */
    BUFFER_ROWS = BUFFER_BYTES / sizeof(gpurt_row_t)
};
#define SHOW_NS 100000000ull

typedef struct buffer {
    uint8_t *bytes;
    uint32_t used, count;
} buffer_t;

/* Owner: the drain's program. */
struct publish {
    /* The drain's. */
    const gpurt_dictionary_t *source;
    buffer_t filling;
    uint64_t shown_ns; /* when it last gave something to the thread */
    bool alone;        /* there is no thread, and no buffer */

    /* The thread's while busy, the drain's otherwise. */
    gpurt_dictionary_t dictionary; /* a copy: the source moves when it grows */
    size_t copied;                 /* bytes of the source */
    buffer_t showing;
    gpurt_timed_t *entries, *spare; /* BUFFER_ROWS each */
    gpurt_model_t *model;
    gpurt_modelshare_t *share;

    pthread_t thread;
    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t turn;
    bool busy, stop;
};

/* ---- the thread ---------------------------------------------------------------------- */

/* Rows come ring by ring; the model keeps the last ones, so it wants them by time. */
static void rows_put(publish_t *p, const uint8_t *rows, uint32_t count, bool ordered)
{
    uint32_t at = 0;

    if (ordered) { /* as in one ring that one thread writes */
        gpurt_model_put_all(p->model, rows, NULL, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const gpurt_row_t *row = (const gpurt_row_t *)(rows + at);

        p->entries[i] = (gpurt_timed_t){row->time_ns, at};
        at += gpurt_row_bytes(row->words);
    }
    gpurt_timesort(p->entries, p->spare, count);
    gpurt_model_put_all(p->model, rows, p->entries, count);
}

static void show(publish_t *p)
{
    rows_put(p, p->showing.bytes, p->showing.count, false);
    p->showing.used = p->showing.count = 0;
    gpurt_modelshare_tick(p->share, p->model, gpurt_real_ns(), GPURT_MODEL_LIVE);
}

static void *publish_run(void *context)
{
    publish_t *p = context;

    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->busy && !p->stop)
            pthread_cond_wait(&p->turn, &p->lock);
        if (!p->busy)
            break;
        pthread_mutex_unlock(&p->lock);
        show(p);
        pthread_mutex_lock(&p->lock);
        p->busy = false;
        pthread_cond_broadcast(&p->turn);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* ---- the drain's side ---------------------------------------------------------------- */

static bool thread_idle(publish_t *p, bool wait)
{
    bool idle;

    pthread_mutex_lock(&p->lock);
    while (wait && p->busy)
        pthread_cond_wait(&p->turn, &p->lock);
    idle = !p->busy;
    pthread_mutex_unlock(&p->lock);
    return idle;
}

static void dictionary_follow(publish_t *p)
{
    if (p->copied == p->source->used)
        return;
    gpurt_dictionary_load(&p->dictionary, p->source->bytes + p->copied,
                          p->source->used - p->copied);
    p->copied = p->source->used;
}

/* Gives what was gathered to the thread, which must be idle. */
static void turn_give(publish_t *p)
{
    buffer_t full = p->filling;

    dictionary_follow(p);
    p->filling = p->showing;
    p->showing = full;
    p->shown_ns = gpurt_steady_ns();
    pthread_mutex_lock(&p->lock);
    p->busy = true;
    pthread_cond_broadcast(&p->turn);
    pthread_mutex_unlock(&p->lock);
}

/* A round's rows fit into half a buffer, so that the drain need not wait for the thread. */
static bool rows_ready(void *context)
{
    publish_t *p = context;

    return p->alone || p->filling.used < BUFFER_BYTES / 2 || thread_idle(p, false);
}

static void rows_watch(void *context, const gpurt_row_t *rows, uint32_t bytes,
                       uint32_t count, bool ordered)
{
    publish_t *p = context;
    buffer_t *to = &p->filling;

    if (p->alone) {
        dictionary_follow(p);
        rows_put(p, (const uint8_t *)rows, count, ordered);
        return;
    }
    if (to->used + bytes > BUFFER_BYTES) {
        thread_idle(p, true);
        turn_give(p);
    }
    memcpy(to->bytes + to->used, rows, bytes);
    to->used += bytes;
    to->count += count;
}

/* Not by the thread, which may be adding up rows: who watches learns of a panic now. */
static void alarm_show(void *context, uint32_t section, uint32_t coming)
{
    publish_t *p = context;

    gpurt_modelshare_alarm(p->share, section, coming);
}

void publish_row(publish_t *p, const gpurt_row_t *row)
{
    if (p && row)
        rows_watch(p, row, gpurt_row_bytes(row->words), 1, true);
}

void publish_tick(publish_t *p)
{
    if (!p || gpurt_steady_ns() - p->shown_ns < SHOW_NS)
        return;
    if (p->alone) {
        p->shown_ns = gpurt_steady_ns();
        gpurt_modelshare_tick(p->share, p->model, gpurt_real_ns(), GPURT_MODEL_LIVE);
    } else if (thread_idle(p, false))
        turn_give(p);
}

/* ---- begin and end ------------------------------------------------------------------- */

static void publish_free(publish_t *p)
{
    gpurt_modelshare_close(p->share);
    gpurt_model_destroy(p->model);
    gpurt_dictionary_fini(&p->dictionary);
    pthread_cond_destroy(&p->turn);
    pthread_mutex_destroy(&p->lock);
    free(p->filling.bytes);
    free(p->showing.bytes);
    free(p->entries);
    free(p->spare);
    free(p);
}

static bool thread_make(publish_t *p)
{
    p->filling.bytes = malloc(BUFFER_BYTES);
    p->showing.bytes = malloc(BUFFER_BYTES);
    return p->filling.bytes && p->showing.bytes &&
           pthread_create(&p->thread, NULL, publish_run, p) == 0;
}

/* The thread last: it is not there when anything fails. */
static bool publish_make(publish_t *p, const gpurt_boxmap_t *map)
{
    gplog_file_t about;

    gpurt_drain_about(map, &about);
    p->entries = malloc(BUFFER_ROWS * sizeof *p->entries);
    p->spare = malloc(BUFFER_ROWS * sizeof *p->spare);
    if (!p->entries || !p->spare ||
        gpurt_modelshare_create(&map->box->identity, &p->share, NULL) != GPURT_OK ||
        gpurt_model_create(&p->dictionary, &about, &p->model, NULL) != GPURT_OK)
        return false;
    gpurt_model_of_box(p->model);
    gpurt_modelshare_put(p->share, p->model, gpurt_real_ns(), GPURT_MODEL_LIVE);
    return p->alone || thread_make(p);
}

publish_t *publish_open(const gpurt_boxmap_t *map, gpurt_drain_options_t *options)
{
    publish_t *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->turn, NULL);
    p->source = options->dictionary;
    p->alone = gpurt_drain_is_patient(map);
    if (options->sink_count == GPURT_DRAIN_SINKS || !publish_make(p, map)) {
        publish_free(p);
        return NULL;
    }
    options->sinks[options->sink_count++] = (gpurt_drain_sink_t){
        .context = p, .watch = rows_watch, .ready = rows_ready, .alarm = alarm_show};
    return p;
}

static void thread_end(publish_t *p)
{
    thread_idle(p, true);
    turn_give(p);
    thread_idle(p, true);
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->turn);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
}

void publish_close(publish_t *p)
{
    if (!p)
        return;
    if (!p->alone)
        thread_end(p);
    gpurt_modelshare_put(p->share, p->model, gpurt_real_ns(), GPURT_MODEL_ENDED);
    publish_free(p);
}
