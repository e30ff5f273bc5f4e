/* SPDX-License-Identifier: Apache-2.0 */
#include "logwindow.h"

#include "hosttime.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    NEAR_LINES = 16,
    HALF = LINEFILE_MOST / 2
};
#define FOLLOW_NS 500000000ull /* a log that is still written is looked at so often */
#define TELL_NS   100000000ull /* between two counts */

/* Owner: whoever opened it. Shared with: the reading thread. */
struct logwindow {
    pthread_t thread;
    bool started;
    linefile_t *file; /* the reading thread's, as list and found are */
    linefile_list_t list;
    logwindow_lines_t found;
    filter_t survey;        /* the lines that are counted: of the last wish for the log */
    logwindow_view_t shown; /* the screen's */
    int event;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t wake, answered;
    logwindow_wish_t wish;
    uint64_t asked, done; /* wishes */
    bool stop;
    int jump; /* 1: on, -1: back; 0: nowhere */
    uint64_t jump_from_ns, jump_to_ns;
    bool jumped;
    logwindow_view_t view;
    uint32_t fresh; /* bit per part that the screen has not taken, and one for the rest */
};

bool logwindow_wish_same(const logwindow_wish_t *a, const logwindow_wish_t *b)
{
    return a->until_ns == b->until_ns && a->at.time_ns == b->at.time_ns &&
           a->at.number == b->at.number && a->part == b->part &&
           a->from_start == b->from_start && linefile_want_same(&a->want, &b->want);
}

/* ---- reading ------------------------------------------------------------------------- */

/* Of a search: what it is for. */
typedef struct task {
    logwindow_t *window;
    uint64_t wish; /* given up when another one is asked, but not for another moment alone:
                      while a replay plays there is one all the time */
} task_t;

static bool is_stale(void *context)
{
    const task_t *task = context;
    logwindow_t *w = task->window;
    bool stale;

    pthread_mutex_lock(&w->lock);
    stale = w->stop || (w->asked != task->wish &&
                        (w->wish.part != w->found.wish.part ||
                         !linefile_want_same(&w->wish.want, &w->found.wish.want)));
    pthread_mutex_unlock(&w->lock);
    return stale;
}

static bool before(logwindow_t *w, task_t *task, const linefile_place_t *end, uint32_t most)
{
    return linefile_before(w->file, &w->found.wish.want, end, most, is_stale, task,
                           &w->list);
}

static void take(logwindow_t *w)
{
    logwindow_lines_t *found = &w->found;
    uint32_t count = w->list.count;

    if (count > LINEFILE_MOST - found->count)
        count = LINEFILE_MOST - found->count;
    memcpy(found->lines + found->count, w->list.lines, count * sizeof *found->lines);
    found->count += count;
}

/* Those behind the place, up to the moment. */
static bool take_newer(logwindow_t *w, task_t *task, linefile_place_t begin)
{
    logwindow_lines_t *found = &w->found;
    uint32_t most = LINEFILE_MOST - found->count;

    if (!linefile_after(w->file, &found->wish.want, &begin, most, is_stale, task, &w->list))
        return false;
    found->newer = w->list.more;
    while (w->list.count &&
           w->list.lines[w->list.count - 1].time_ns > found->wish.until_ns) {
        w->list.count--;
        found->newer = false;
    }
    take(w);
    return true;
}

/* Returns: false when it was given up. */
static bool wish_grant(logwindow_t *w, task_t *task)
{
    logwindow_lines_t *found = &w->found;
    const logwindow_wish_t *wish = &found->wish;
    linefile_place_t end = {wish->until_ns, UINT64_MAX};
    bool browse = wish->part == LOGWINDOW_BROWSE;

    found->known = true;
    found->older = found->newer = false;
    found->count = 0;
    if (browse && wish->from_start)
        return take_newer(w, task, (linefile_place_t){0});
    if (browse)
        end = wish->at;
    if (!before(w, task, &end,
                browse                         ? HALF
                : wish->part == LOGWINDOW_NEAR ? NEAR_LINES
                                               : LINEFILE_MOST))
        return false;
    found->older = w->list.more;
    take(w);
    end.number++;
    return !browse || take_newer(w, task, end);
}

/* ---- the thread ---------------------------------------------------------------------- */

enum {
    FRESH_COUNT = LOGWINDOW_PARTS
};

static void tell(logwindow_t *w, uint32_t what)
{
    uint64_t one = 1;

    w->fresh |= 1u << what;
    if (write(w->event, &one, sizeof one) < 0)
        return; /* it is readable already */
}

static void lines_tell(logwindow_t *w, const task_t *task)
{
    pthread_mutex_lock(&w->lock);
    memcpy(&w->view.parts[w->found.wish.part], &w->found, sizeof w->found);
    w->done = task->wish;
    tell(w, w->found.wish.part);
    pthread_cond_broadcast(&w->answered);
    pthread_mutex_unlock(&w->lock);
}

static void count_tell(logwindow_t *w, bool all)
{
    pthread_mutex_lock(&w->lock);
    w->view.total = linefile_total(w->file);
    w->view.tally = *linefile_tally(w->file);
    w->view.all = all;
    memcpy(&w->view.counted, &w->survey, sizeof w->view.counted);
    w->view.marks = *linefile_marks(w->file);
    tell(w, FRESH_COUNT);
    pthread_cond_broadcast(&w->answered);
    pthread_mutex_unlock(&w->lock);
}

static void jump_take(logwindow_t *w, int direction, uint64_t from_ns)
{
    const linefile_want_t want = {.panics = true};
    linefile_place_t from = {from_ns, 0};
    task_t task = {w, w->asked};
    bool found;

    if (direction > 0)
        from.time_ns++;
    else if (from.time_ns > 0)
        from = (linefile_place_t){from_ns - 1, UINT64_MAX};
    found = direction > 0
                ? linefile_after(w->file, &want, &from, 1, NULL, &task, &w->list)
                : linefile_before(w->file, &want, &from, 1, NULL, &task, &w->list);
    pthread_mutex_lock(&w->lock);
    w->jump_to_ns = found && w->list.count ? w->list.lines[0].time_ns : 0;
    w->jumped = true;
    tell(w, FRESH_COUNT);
    pthread_mutex_unlock(&w->lock);
}

typedef struct order {
    uint64_t wish; /* 0: none that is not done */
    int jump;
    uint64_t from_ns;
    bool stop;
} order_t;

/* Waits so long at most. */
static order_t order_take(logwindow_t *w, uint64_t wait_ns)
{
    order_t order = {0};

    pthread_mutex_lock(&w->lock);
    if (wait_ns && !w->stop && w->asked == w->done && !w->jump)
        gpurt_steady_wait(&w->wake, &w->lock, wait_ns);
    if (w->asked != w->done) {
        order.wish = w->asked;
        memcpy(&w->found.wish, &w->wish, sizeof w->wish);
    }
    order.jump = w->jump;
    order.from_ns = w->jump_from_ns;
    order.stop = w->stop;
    w->jump = 0;
    pthread_mutex_unlock(&w->lock);
    return order;
}

/* In a log that has grown what was found may not be all any more. */
static void file_follow(logwindow_t *w)
{
    if (!linefile_refresh(w->file))
        return;
    pthread_mutex_lock(&w->lock);
    w->asked += w->asked > 0;
    pthread_mutex_unlock(&w->lock);
}

/* What is asked goes before what is counted. */
static void *window_run(void *context)
{
    logwindow_t *w = context;
    uint64_t told_ns = 0, looked_ns = 0;
    bool more = true, told_all = false;

    for (;;) {
        order_t order = order_take(w, more ? 0 : FOLLOW_NS);
        task_t task = {w, order.wish};
        uint64_t now = gpurt_steady_ns();

        if (order.stop)
            return NULL;
        if (order.wish && w->found.wish.part != LOGWINDOW_NEAR)
            memcpy(&w->survey, &w->found.wish.want.filter, sizeof w->survey);
        if (order.jump)
            jump_take(w, order.jump, order.from_ns);
        if (order.wish && wish_grant(w, &task))
            lines_tell(w, &task);
        if (now - looked_ns >= FOLLOW_NS) {
            file_follow(w);
            looked_ns = now;
        }
        more = linefile_survey(w->file, &w->survey);
        told_all = told_all && !more && !order.wish;
        if (more ? now - told_ns > TELL_NS : !told_all) {
            count_tell(w, !more);
            told_ns = now;
            told_all = !more;
        }
    }
}

/* ---- the screen's side --------------------------------------------------------------- */

gpurt_status_t logwindow_open(const char *path, logwindow_t **out, gpurt_error_t *err)
{
    logwindow_t *w = calloc(1, sizeof *w);
    gpurt_status_t st;
    int code;

    *out = NULL;
    if (!w)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "log: %s", path);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    pthread_cond_init(&w->answered, NULL);
    w->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    st = linefile_open(path, &w->file, err);
    if (st != GPURT_OK)
        goto fail;
    code = pthread_create(&w->thread, NULL, window_run, w);
    if (code) {
        st = gpurt_fail(err, GPURT_E_OS, GPURT_FROM_ERRNO, code, "starting a thread");
        goto fail;
    }
    w->started = true;
    *out = w;
    return GPURT_OK;

fail:
    logwindow_close(w);
    return st;
}

void logwindow_close(logwindow_t *w)
{
    if (!w)
        return;
    if (w->started) {
        pthread_mutex_lock(&w->lock);
        w->stop = true;
        pthread_cond_signal(&w->wake);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
    }
    linefile_close(w->file);
    if (w->event >= 0)
        close(w->event);
    pthread_cond_destroy(&w->answered);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

void logwindow_ask(logwindow_t *w, const logwindow_wish_t *wish)
{
    pthread_mutex_lock(&w->lock);
    if (w->asked == 0 || !logwindow_wish_same(&w->wish, wish)) {
        memcpy(&w->wish, wish, sizeof *wish);
        w->asked++;
        pthread_cond_signal(&w->wake);
    }
    pthread_mutex_unlock(&w->lock);
}

void logwindow_jump(logwindow_t *w, bool on, uint64_t from_ns)
{
    pthread_mutex_lock(&w->lock);
    w->jump = on ? 1 : -1;
    w->jump_from_ns = from_ns;
    w->jumped = false;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
}

bool logwindow_jumped(logwindow_t *w, uint64_t *time_ns)
{
    bool jumped;

    pthread_mutex_lock(&w->lock);
    jumped = w->jumped;
    w->jumped = false;
    *time_ns = w->jump_to_ns;
    pthread_mutex_unlock(&w->lock);
    return jumped;
}

static bool is_counted(const logwindow_t *w)
{
    return w->wish.part == LOGWINDOW_NEAR ||
           (w->view.all && filter_same(&w->view.counted, &w->wish.want.filter));
}

void logwindow_finish(logwindow_t *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->done != w->asked || !is_counted(w))
        pthread_cond_wait(&w->answered, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

int logwindow_fd(const logwindow_t *w)
{
    return w ? w->event : -1;
}

const logwindow_view_t *logwindow_look(logwindow_t *w)
{
    logwindow_view_t *to = &w->shown;
    uint64_t events;

    pthread_mutex_lock(&w->lock);
    if (read(w->event, &events, sizeof events) > 0 || w->fresh) {
        for (uint32_t i = 0; i < LOGWINDOW_PARTS; i++)
            if (w->fresh >> i & 1) {
                const logwindow_lines_t *from = &w->view.parts[i];

                memcpy(&to->parts[i], from,
                       offsetof(logwindow_lines_t, lines) +
                           from->count * sizeof *from->lines);
            }
        if (w->fresh >> FRESH_COUNT & 1) {
            to->total = w->view.total;
            to->tally = w->view.tally;
            to->all = w->view.all;
            memcpy(&to->counted, &w->view.counted, sizeof to->counted);
            to->marks = w->view.marks;
        }
        w->fresh = 0;
    }
    pthread_mutex_unlock(&w->lock);
    return to;
}
