/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include "hostact.h"
#include "hosttime.h"
#include "hostwait.h"
#include "sanitizer.h"

#include <gpurt/atomic.h>
#include <stdlib.h>
#include <string.h>

static void op_free(simt_op_t *op)
{
    simt_launch_destroy(op->launch);
    simt_event_release(op->event);
    free(op);
}

/* The head op is done. */
static void stream_pop(simt_stream_t *s)
{
    simt_op_t *op = s->head;

    s->head = op->next;
    if (!s->head)
        s->tail = NULL;
    s->busy = false;
    if (--s->device->pending == 0 && s->device->config.seeded)
        s->device->held = true; /* the next launches wait for the host again */
    op_free(op);
    pthread_cond_broadcast(&s->device->done);
}

/* ---- what an op does when it reaches the head -------------------------------------------------- */
static void launch_activate(simt_device_t *d, simt_launch_t *l)
{
    l->next = NULL;
    if (d->active_tail)
        d->active_tail->next = l;
    else
        d->active = l;
    d->active_tail = l;
    simt_device_changed(d);
}

/* Word by word, because kernels may run that change them by atomics: then no word is torn. What
 * they write plainly is a race here, as it is on a GPU. */
static void words_copy(unsigned char *to, const unsigned char *from, size_t bytes)
{
    size_t at = 0;

    if ((uintptr_t)from % sizeof(uint64_t) == 0)
        for (; bytes - at >= sizeof(uint64_t); at += sizeof(uint64_t)) {
            /* relaxed: a copy orders nothing */
            uint64_t word = gpurt_load_relaxed_sys_u64((const uint64_t *)(from + at));

            memcpy(to + at, &word, sizeof word);
        }
    if (at < bytes)
        memcpy(to + at, from + at, bytes - at);
}

static bool overlap(const unsigned char *a, const unsigned char *b, size_t bytes)
{
    return a < b + bytes && b < a + bytes;
}

static void bytes_move(simt_device_t *d, const simt_op_t *op)
{
    pthread_mutex_unlock(&d->mutex);
    if (op->kind == SIMT_OP_COPY && overlap(op->to, op->from, op->bytes))
        memmove(op->to, op->from, op->bytes);
    else if (op->kind == SIMT_OP_COPY)
        words_copy(op->to, op->from, op->bytes);
    else
        memset(op->to, op->byte, op->bytes);
    pthread_mutex_lock(&d->mutex);
}

/* Returns: whether the head op ended, so that the next one may be looked at. */
static bool head_begin(simt_stream_t *s)
{
    simt_device_t *d = s->device;
    simt_op_t *op = s->head;

    switch (op->kind) {
    case SIMT_OP_LAUNCH:
        s->busy = true;
        launch_activate(d, op->launch);
        return false;
    case SIMT_OP_RECORD:
        op->event->reached = op->record;
        op->event->time_ns = gpurt_steady_ns();
        break;
    case SIMT_OP_WAIT:
        if (op->event->reached < op->record)
            return false;
        break;
    default:
        s->busy = true;
        bytes_move(d, op);
        break;
    }
    stream_pop(s);
    return true;
}

/* A record can free a waiter on a stream that was looked at already: go round until nothing
 * moves. */
void simt_streams_advance(simt_device_t *d)
{
    bool moved = true;

    while (moved && !d->held) {
        moved = false;
        for (simt_stream_t *s = d->streams; s; s = s->next)
            while (s->head && !s->busy && head_begin(s))
                moved = true;
    }
}

void simt_stream_launch_ended(simt_device_t *d, simt_launch_t *l)
{
    simt_stream_t *s = l->stream;

    if (l->status != GPURT_OK && s->status == GPURT_OK) {
        s->status = l->status;
        free(s->report);
        s->report = l->report ? strdup(l->report) : NULL;
    }
    stream_pop(s);
    simt_streams_advance(d);
}

/* ---- streams ------------------------------------------------------------------------------------- */
simt_stream_t *simt_stream_create(simt_device_t *d)
{
    simt_stream_t *s = (simt_stream_t *)calloc(1, sizeof *s), **end = &d->streams;

    if (!s)
        return NULL;
    s->device = d;
    pthread_mutex_lock(&d->mutex);
    while (*end) /* in order of creation: part of what replays */
        end = &(*end)->next;
    *end = s;
    pthread_mutex_unlock(&d->mutex);
    return s;
}

/* A failure that nobody asked about is not lost with its stream: the default stream tells it. */
static void failure_bequeath(simt_stream_t *s)
{
    simt_stream_t *heir = s->device->default_stream;

    if (s->status == GPURT_OK || s == heir || heir->status != GPURT_OK)
        return;
    heir->status = s->status;
    heir->report = s->report;
    s->report = NULL;
}

void simt_stream_destroy(simt_stream_t *s)
{
    simt_device_t *d = s->device;

    pthread_mutex_lock(&d->mutex);
    simt_device_release(d);
    while (s->head)
        pthread_cond_wait(&d->done, &d->mutex);
    for (simt_stream_t **at = &d->streams; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    failure_bequeath(s);
    pthread_mutex_unlock(&d->mutex);
    free(s->report);
    free(s);
}

void simt_stream_serves(simt_stream_t *s)
{
    pthread_mutex_lock(&s->device->mutex);
    s->serves = true;
    pthread_mutex_unlock(&s->device->mutex);
}

void simt_stream_abandon(simt_stream_t *s)
{
    while (s->head) {
        simt_op_t *op = s->head;

        s->head = op->next;
        op_free(op);
    }
    free(s->report);
    free(s);
}

void simt_stream_push(simt_stream_t *s, simt_op_t *op)
{
    simt_device_t *d = s->device;
    simt_act_t act = {.word = NULL};

    simt_act_begin(d, &act);
    pthread_mutex_lock(&d->mutex);
    if (d->config.seeded && !d->held && d->active && !simt_acts_replay(d))
        d->replayable = false; /* where it falls into the running kernels is chance */
    if (op->launch) {
        op->launch->stream = s;
        op->launch->number = ++d->launches;
    }
    if (op->event) {
        op->event->references++;
        op->record = op->kind == SIMT_OP_RECORD ? ++op->event->records : op->event->records;
    }
    op->next = NULL;
    if (s->tail)
        s->tail->next = op;
    else
        s->head = op;
    s->tail = op;
    d->pending++;
    simt_streams_advance(d);
    if (d->held) /* workers give the host a while, then begin all the same */
        simt_device_changed(d);
    pthread_mutex_unlock(&d->mutex);
    simt_act_end(d);
}

/* Under the mutex. Returns: the stream's failure, which is then forgotten. */
static gpurt_status_t failure_take(simt_stream_t *s, gpurt_error_t *err)
{
    gpurt_status_t st = s->status;

    if (st != GPURT_OK)
        gpurt_fail(err, st, GPURT_FROM_GPURT, 0, "%.*s",
                   s->report ? (int)strcspn(s->report, "\n") : 64,
                   s->report ? s->report : gpurt_status_text(st));
    s->status = GPURT_OK;
    free(s->report);
    s->report = NULL;
    return st;
}

gpurt_status_t simt_stream_sync(simt_stream_t *s, gpurt_error_t *err)
{
    simt_device_t *d = s->device;
    gpurt_status_t st;

    pthread_mutex_lock(&d->mutex);
    simt_device_release(d);
    while (s->head)
        pthread_cond_wait(&d->done, &d->mutex);
    st = failure_take(s, err);
    pthread_mutex_unlock(&d->mutex);
    return st;
}

gpurt_status_t simt_stream_query(simt_stream_t *s, gpurt_error_t *err)
{
    simt_device_t *d = s->device;
    gpurt_status_t st = GPURT_E_NOT_READY;

    pthread_mutex_lock(&d->mutex);
    simt_device_release(d);
    if (!s->head)
        st = failure_take(s, err);
    pthread_mutex_unlock(&d->mutex);
    return st;
}

/* Under the mutex. */
static bool is_busy(const simt_device_t *d)
{
    const simt_stream_t *s = d->streams;

    while (s && (s->serves || !s->head))
        s = s->next;
    return s != NULL;
}

gpurt_status_t simt_device_sync(simt_device_t *d, gpurt_error_t *err)
{
    gpurt_status_t first = GPURT_OK;

    pthread_mutex_lock(&d->mutex);
    simt_device_release(d);
    while (is_busy(d))
        pthread_cond_wait(&d->done, &d->mutex);
    for (simt_stream_t *s = d->streams; s; s = s->next) {
        gpurt_status_t st =
            s->serves ? GPURT_OK : failure_take(s, first == GPURT_OK ? err : NULL);

        first = first == GPURT_OK ? st : first;
    }
    pthread_mutex_unlock(&d->mutex);
    return first;
}

/* ---- words between the host and kernels: hostword.h ---------------------------------------------- */
void simt_word_store(simt_device_t *d, uint32_t *word, uint32_t value)
{
    simt_act_t act = {.word = word, .value = value};

    simt_act_begin(d, &act);
    simt_order_release(word);
    gpurt_store_release_sys_u32(word, value); /* HW2.rel SV1.rel */
    if (d->config.seeded) {
        pthread_mutex_lock(&d->mutex);
        if (!d->held && d->active && !simt_acts_replay(d))
            d->replayable = false; /* when kernels see it is chance */
        pthread_mutex_unlock(&d->mutex);
    }
    simt_act_end(d);
    simt_host_news(d);
}

void simt_words_awaited(simt_device_t *d)
{
    if (!d->config.seeded)
        return;
    pthread_mutex_lock(&d->mutex);
    simt_device_release(d);
    pthread_mutex_unlock(&d->mutex);
}

/* ---- events ---------------------------------------------------------------------------------------- */
simt_event_t *simt_event_create(void)
{
    simt_event_t *e = (simt_event_t *)calloc(1, sizeof *e);

    if (e)
        e->references = 1;
    return e;
}

void simt_event_release(simt_event_t *e)
{
    if (e && --e->references == 0)
        free(e);
}

gpurt_status_t simt_event_sync(simt_device_t *d, simt_event_t *e)
{
    uint64_t record;

    pthread_mutex_lock(&d->mutex);
    simt_device_release(d);
    record = e->records;
    while (e->reached < record)
        pthread_cond_wait(&d->done, &d->mutex);
    pthread_mutex_unlock(&d->mutex);
    return GPURT_OK;
}

gpurt_status_t simt_event_query(simt_device_t *d, simt_event_t *e)
{
    gpurt_status_t st;

    pthread_mutex_lock(&d->mutex);
    simt_device_release(d);
    st = e->reached < e->records ? GPURT_E_NOT_READY : GPURT_OK;
    pthread_mutex_unlock(&d->mutex);
    return st;
}
