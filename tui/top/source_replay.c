/* SPDX-License-Identifier: Apache-2.0 */
/* A log file fed into a model, up to a position in time, on a thread of its own.
 *
 * Going back starts from the nearest mark before: a copy of the model, taken on the way.
 * What the model holds at a position is the rows whose time is not later, so a mark is
 * resumed by opening the log at the first frame that holds a later row and leaving the
 * others out. */
#include "source.h"

#include "cursor.h"
#include "hosttime.h"
#include "reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MARKS = 24,         /* about 3.3 MB each */
    ROWS_A_STEP = 65536 /* between two looks at what the caller wants */
};
#define STEP_NS   50000000ull  /* of real time, while it plays */
#define FOLLOW_NS 500000000ull /* a log that is still written is looked at so often */

typedef struct replay_mark {
    uint64_t time_ns;
    gpurt_model_t *model; /* NULL: not there yet */
} replay_mark_t;

/* Owner: whoever opened it. Shared with: the feeding thread. */
typedef struct replay {
    source_t source;
    pthread_t thread;
    bool started;
    gpurt_modelshare_t *share, *reader; /* reader: the caller's */
    /* the feeding thread's */
    const char *path; /* borrowed */
    gpurt_log_t *log;
    gpurt_cursor_t *cursor;
    const gpurt_row_t *pending; /* read, but later than the position */
    gpurt_model_t *model;
    replay_mark_t marks[MARKS];
    uint64_t first_ns, last_ns;
    uint64_t at_ns, fed_ns; /* position; rows up to fed_ns are in the model */
    bool closed;            /* nobody writes the log any more */
    /* under the lock */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    uint64_t wanted_ns; /* 0: none */
    bool playing, busy, stop;
    double speed;
    char
        damage[GPURT_DAMAGE_TEXT]; /* what is wrong with what was read of the file; or "" */
    bool cut;                      /* its writer is gone, and did not close it */
} replay_t;

/* ---- position ------------------------------------------------------------------------ */

/* The first frame with a row later than time_ns. */
static uint64_t frame_after(const replay_t *r, uint64_t time_ns)
{
    uint64_t count = gpurt_log_frames(r->log), frame = 0;

    while (frame < count && gpurt_log_entry(r->log, frame)->last_ns <= time_ns)
        frame++;
    return frame;
}

/* Puts the cursor in front of the first row later than time_ns. */
static void cursor_place(replay_t *r, uint64_t time_ns)
{
    gpurt_cursor_close(r->cursor);
    r->cursor = NULL;
    r->pending = NULL;
    if (gpurt_cursor_open(r->log, frame_after(r, time_ns), &r->cursor, NULL) != GPURT_OK)
        return;
    do
        r->pending = gpurt_cursor_next(r->cursor);
    while (r->pending && r->pending->time_ns <= time_ns);
}

static void pending_next(replay_t *r)
{
    r->pending = r->cursor ? gpurt_cursor_next(r->cursor) : NULL;
}

static replay_mark_t *mark_before(replay_t *r, uint64_t time_ns)
{
    replay_mark_t *best = NULL;

    for (int i = 0; i < MARKS; i++)
        if (r->marks[i].model && r->marks[i].time_ns <= time_ns)
            best = &r->marks[i];
    return best;
}

/* Back to the nearest mark, or to nothing at all. */
static void step_back(replay_t *r, uint64_t time_ns)
{
    replay_mark_t *mark = mark_before(r, time_ns);

    /* marks[0] is the empty model, so there always is one */
    gpurt_model_assign(r->model, mark->model);
    r->fed_ns = mark->time_ns;
    cursor_place(r, r->fed_ns);
}

/* A mark that is not there and lies between the rows fed and the next one, at time_ns. */
static replay_mark_t *mark_due(replay_t *r, uint64_t time_ns)
{
    for (int i = 0; i < MARKS; i++)
        if (!r->marks[i].model && r->marks[i].time_ns < time_ns &&
            r->marks[i].time_ns >= gpurt_model_last_ns(r->model))
            return &r->marks[i];
    return NULL;
}

/* Feeds some rows towards time_ns. Returns: whether it is there. */
static bool feed(replay_t *r, uint64_t time_ns)
{
    for (int i = 0; i < ROWS_A_STEP; i++) {
        replay_mark_t *due;

        if (!r->pending || r->pending->time_ns > time_ns) {
            r->fed_ns = time_ns;
            return true;
        }
        due = mark_due(r, r->pending->time_ns);
        if (due) /* without memory there is a mark less */
            gpurt_model_copy(r->model, &due->model, NULL);
        gpurt_model_put(r->model, r->pending);
        pending_next(r);
    }
    r->fed_ns = gpurt_model_last_ns(r->model);
    return false;
}

/* A log that grows: more rows, a later end. */
static void follow(replay_t *r)
{
    gpurt_log_summary_t sum;

    if (r->closed || !gpurt_log_refresh(r->log))
        return;
    gpurt_log_summary(r->log, &sum);
    r->last_ns = sum.last_ns;
    r->closed = sum.closed;
    if (!r->cursor)
        cursor_place(r, r->fed_ns);
    else if (!r->pending)
        pending_next(r);
}

/* ---- the feeding thread -------------------------------------------------------------- */

typedef struct order {
    uint64_t wanted_ns;
    bool playing, stop;
    double speed;
} order_t;

/* Waits for an order, or until something is due. */
static order_t order_take(replay_t *r, uint64_t wait_ns)
{
    order_t order;

    pthread_mutex_lock(&r->lock);
    if (wait_ns && !r->stop && !r->wanted_ns)
        gpurt_steady_wait(&r->wake, &r->lock, wait_ns);
    order = (order_t){r->wanted_ns, r->playing, r->stop, r->speed};
    r->wanted_ns = 0;
    pthread_mutex_unlock(&r->lock);
    return order;
}

static void busy_tell(replay_t *r, bool busy)
{
    pthread_mutex_lock(&r->lock);
    r->busy = busy || r->wanted_ns != 0;
    pthread_mutex_unlock(&r->lock);
}

static uint64_t clamp(const replay_t *r, uint64_t time_ns)
{
    return time_ns < r->first_ns  ? r->first_ns
           : time_ns > r->last_ns ? r->last_ns
                                  : time_ns;
}

/* Going back opens the log anew, so what was found once stays said. */
static void damage_tell(replay_t *r)
{
    char text[GPURT_DAMAGE_TEXT];
    gpurt_log_summary_t sum;
    bool damaged, cut;
    uint32_t pid;

    gpurt_log_summary(r->log, &sum);
    damaged = gpurt_log_damage_text(&sum, text);
    cut = !sum.closed && gpurt_log_pulse(r->log, &pid) == GPLOG_PULSE_DEAD;
    pthread_mutex_lock(&r->lock);
    if (damaged)
        memcpy(r->damage, text, sizeof text);
    r->cut = cut;
    pthread_mutex_unlock(&r->lock);
}

static void publish(replay_t *r)
{
    damage_tell(r);
    gpurt_modelshare_range(r->share, r->first_ns, r->last_ns);
    gpurt_modelshare_put(r->share, r->model, r->at_ns, GPURT_MODEL_REPLAY);
}

static void *replay_run(void *context)
{
    replay_t *r = context;
    uint64_t before = gpurt_steady_ns(), shown_ns = 0;
    bool there = true, shown = false; /* a log without a record is at 0 from its start */
    order_t order;

    for (;;) {
        bool at_end = there && r->at_ns >= r->last_ns;
        uint64_t now, wait = !there ? 0 : at_end && r->closed ? FOLLOW_NS : STEP_NS;

        order = order_take(r, wait);
        now = gpurt_steady_ns();
        if (order.stop)
            return NULL;
        if (at_end && !r->closed) {
            follow(r);
            r->at_ns = order.playing ? r->last_ns : r->at_ns;
        } else if (order.playing && there) {
            r->at_ns =
                clamp(r, r->at_ns + (uint64_t)((double)(now - before) * order.speed));
        }
        before = now;
        if (order.wanted_ns)
            r->at_ns = clamp(r, order.wanted_ns);
        if (r->at_ns < r->fed_ns)
            step_back(r, r->at_ns);
        there = r->at_ns == r->fed_ns || feed(r, r->at_ns);
        if (there && (!shown || shown_ns != r->at_ns)) {
            publish(r);
            shown = true;
            shown_ns = r->at_ns;
        }
        busy_tell(r, !there);
    }
}

/* ---- the caller's side --------------------------------------------------------------- */

static void replay_refresh(source_t *s, gpurt_modelview_t *view)
{
    replay_t *r = (replay_t *)s;

    pthread_mutex_lock(&r->lock);
    s->busy = r->busy;
    if (r->damage[0])
        gpurt_fail(&s->problem, GPURT_E_DAMAGED, GPURT_FROM_GPURT, 0, "%.120s: %.240s",
                   r->path, r->damage);
    else if (r->cut)
        gpurt_fail(&s->problem, GPURT_E_TRUNCATED, GPURT_FROM_GPURT, 0,
                   "%.240s: its writer is gone, and did not close it: what came last may "
                   "be missing",
                   r->path);
    pthread_mutex_unlock(&r->lock);
    gpurt_modelshare_read(r->reader, view);
}

static void replay_seek(source_t *s, uint64_t time_ns)
{
    replay_t *r = (replay_t *)s;

    pthread_mutex_lock(&r->lock);
    r->wanted_ns = time_ns ? time_ns : 1;
    r->busy = true;
    pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->lock);
    s->busy = true;
}

static void replay_play(source_t *s, bool on, double speed)
{
    replay_t *r = (replay_t *)s;

    pthread_mutex_lock(&r->lock);
    r->playing = on;
    r->speed = speed;
    pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->lock);
}

/* Waits until the position that was asked for is reached. */
static void replay_finish(source_t *s)
{
    replay_t *r = (replay_t *)s;
    bool busy = true;

    while (busy) {
        struct timespec pause = {0, 1000000};

        pthread_mutex_lock(&r->lock);
        busy = r->busy;
        pthread_mutex_unlock(&r->lock);
        if (busy)
            nanosleep(&pause, NULL);
    }
}

static void replay_close(source_t *s)
{
    replay_t *r = (replay_t *)s;

    if (r->started) {
        pthread_mutex_lock(&r->lock);
        r->stop = true;
        pthread_cond_signal(&r->wake);
        pthread_mutex_unlock(&r->lock);
        pthread_join(r->thread, NULL);
    }
    for (int i = 0; i < MARKS; i++)
        gpurt_model_destroy(r->marks[i].model);
    gpurt_model_destroy(r->model);
    gpurt_cursor_close(r->cursor);
    gpurt_log_close(r->log);
    gpurt_modelshare_close(r->reader);
    gpurt_modelshare_close(r->share);
    pthread_cond_destroy(&r->wake);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

static const source_class_t replay_class = {
    .refresh = replay_refresh,
    .seek = replay_seek,
    .play = replay_play,
    .finish = replay_finish,
    .close = replay_close,
};

/* Marks lie at even distances; the first is the model before any row. */
static gpurt_status_t replay_load(replay_t *r, const char *path, gpurt_error_t *err)
{
    gpurt_log_summary_t sum;
    gpurt_status_t st = gpurt_log_open_walked(path, &r->log, err);

    if (st != GPURT_OK)
        return st;
    gpurt_log_summary(r->log, &sum);
    r->first_ns = sum.first_ns;
    r->last_ns = sum.last_ns;
    r->closed = sum.closed;
    for (uint64_t i = 0; i < MARKS; i++)
        r->marks[i].time_ns =
            i == 0 ? 0
                   : sum.first_ns + (uint64_t)((double)(sum.last_ns - sum.first_ns) *
                                               (double)i / MARKS);
    st = gpurt_model_create(gpurt_log_dictionary(r->log), &sum.about, &r->model, err);
    if (st == GPURT_OK)
        st = gpurt_model_copy(r->model, &r->marks[0].model, err);
    if (st == GPURT_OK)
        st = gpurt_modelshare_create(NULL, &r->share, err);
    if (st == GPURT_OK)
        st = gpurt_modelshare_join(r->share, &r->reader, err);
    if (st == GPURT_OK)
        cursor_place(r, 0);
    return st;
}

gpurt_status_t source_replay_open(const char *path, bool at_start, source_t **out,
                                  gpurt_error_t *err)
{
    replay_t *r = calloc(1, sizeof *r);
    gpurt_status_t st;
    int code;

    *out = NULL;
    if (!r)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "replay");
    r->source.class = &replay_class;
    r->source.processes = 1;
    r->source.news_fd = -1;
    r->path = path;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->wake, NULL);
    r->speed = 1;
    st = replay_load(r, path, err);
    if (st != GPURT_OK)
        goto fail;
    replay_seek(&r->source, at_start ? r->first_ns : r->last_ns);
    code = pthread_create(&r->thread, NULL, replay_run, r);
    if (code) {
        st = gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, code, "starting a thread");
        goto fail;
    }
    r->started = true;
    *out = &r->source;
    return GPURT_OK;

fail:
    replay_close(&r->source);
    return st;
}
