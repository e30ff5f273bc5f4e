/* SPDX-License-Identifier: Apache-2.0 */
/* Failures as they come. A log grows by frames; a box is read anew each time, through a
 * private copy as always, and what was told before is left out. Told whole, a failure is looked up
 * among all that have come, so that it has its rank and what was recorded before it. */
#include "follow.h"
#include "panic_case.h"
#include "panic_who.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

enum {
    LOG_MS = 20, /* where the kernel does not tell us that the file grew */
    TOLD_MS = 200,
    BOX_MS = 500
};

/* How many failures of a box are told: the first so many of each look. */
typedef struct told {
    uint64_t made_ns; /* which box of its process it is */
    uint64_t count;
} told_t;

typedef struct watch {
    const panic_style_t *style;
    panic_book_t *book;
    panic_source_t *source; /* that is looked at */
    bool json, whole;
    panic_entry_t *late; /* to be told whole when the look is over; heap */
    uint32_t late_count, late_room;
    told_t told[PANIC_SOURCES]; /* by box, as they come; of a log the first */
    uint64_t seen;              /* of the source */
    uint64_t now;               /* of this look at it */
} watch_t;

static void tell_json(const panic_brief_t *b, FILE *out)
{
    gpurt_json_t j;

    gpurt_json_file(&j, out);
    gpurt_json_object(&j, NULL);
    gpurt_json_number(&j, "ts_ns", b->entry->row->time_ns);
    gpurt_json_text(&j, "kind", b->kind);
    who_json(&j, &b->who);
    panic_brief_json(&j, b, false);
    gpurt_json_object_end(&j);
    gpurt_json_newline(&j);
}

static void tell_line(const panic_brief_t *b, const panic_style_t *style)
{
    char time[PANIC_TIME];
    panic_line_t line;

    panic_line_begin(&line, style);
    gpurt_text_printf(&line.text, "%s  ", panic_time(b->entry->row->time_ns, 3, time));
    if (panic_brief_place(b, &line.text))
        gpurt_text_printf(&line.text, "  ");
    if (panic_who_told(b->entry->source)) {
        who_text(&b->who, &line.text);
        gpurt_text_printf(&line.text, "  ");
    }
    panic_brief_message(b, &line.text);
    panic_line_end(&line, PANIC_RED);
}

static void tell(const watch_t *w, const panic_entry_t *e)
{
    panic_brief_t b;

    panic_brief_read(e, &b);
    if (w->json)
        tell_json(&b, w->style->out);
    else
        tell_line(&b, w->style);
}

/* ---- told whole ---------------------------------------------------------------------- */

static bool keep(watch_t *w, const gpurt_row_t *row)
{
    if (w->late_count == w->late_room) {
        uint32_t room = w->late_room ? 2 * w->late_room : 16;
        panic_entry_t *more = realloc(w->late, room * sizeof *more);

        if (!more)
            return false;
        w->late = more;
        w->late_room = room;
    }
    w->late[w->late_count] =
        (panic_entry_t){.source = w->source, .row = panic_row_copy(row)};
    return w->late[w->late_count].row && ++w->late_count;
}

static bool is_same(const panic_entry_t *x, const panic_entry_t *y)
{
    const gpurt_row_t *a = x->row, *b = y->row;

    return x->source == y->source && a->words == b->words &&
           memcmp(a, b, sizeof *a + 4u * a->words) == 0;
}

static gpurt_status_t show_whole(const panic_book_t *book, uint32_t number,
                                 const panic_style_t *style, gpurt_error_t *err)
{
    panic_case_t c;
    gpurt_status_t st = panic_case_open(book, number, style, &c, err);

    if (st != GPURT_OK)
        return st;
    panic_show_print(&c, style);
    panic_case_close(&c);
    return st;
}

static gpurt_status_t late_tell(watch_t *w, gpurt_error_t *err)
{
    panic_book_t book = {.sources = w->book->sources,
                         .source_count = w->book->source_count};
    gpurt_status_t st = w->late_count ? panic_book_fill(&book, err) : GPURT_OK;

    for (uint32_t i = 0; i < w->late_count; i++) {
        uint32_t n = 0;

        while (n < book.count && !is_same(&book.list[n], &w->late[i]))
            n++;
        if (st == GPURT_OK && n < book.count)
            st = show_whole(&book, n, w->style, err);
        else
            tell(w, &w->late[i]); /* not to be found any more, or no memory: a line of it */
        fputc('\n', w->style->out);
        free(w->late[i].row);
    }
    w->late_count = 0;
    book.sources = NULL; /* the watch's own */
    book.source_count = 0;
    panic_book_fini(&book);
    return st;
}

/* ---- looks --------------------------------------------------------------------------- */

static bool take(void *context, const gpurt_row_t *row)
{
    watch_t *w = context;
    panic_entry_t e = {.source = w->source, .row = (gpurt_row_t *)(uintptr_t)row};

    if (!gpurt_row_is_panic(row) || w->now++ < w->seen)
        return true;
    if (!w->whole || !keep(w, row))
        tell(w, &e);
    return true;
}

static void rest(uint32_t ms)
{
    const struct timespec wait = {.tv_nsec = ms * 1000000L};

    fflush(stdout);
    nanosleep(&wait, NULL);
}

/* Until the file has grown. notices: of inotify; -1: none. */
static void rest_until_grown(int notices)
{
    struct pollfd look = {notices, POLLIN, 0};
    char bytes[4096];

    fflush(stdout);
    if (notices < 0)
        rest(LOG_MS);
    else if (poll(&look, 1, TOLD_MS) > 0 && read(notices, bytes, sizeof bytes) < 0)
        rest(LOG_MS);
}

/* Frames are read once; they never change. */
static gpurt_status_t frames_watch(watch_t *w, int notices, gpurt_error_t *err)
{
    follow_t follow = {.program = "gpurt-panic", .path = w->source->name};
    gpurt_log_t *log = w->source->log;
    gpurt_log_summary_t sum;
    uint64_t frame = 0;

    for (;;) {
        gpurt_log_refresh(log);
        gpurt_log_summary(log, &sum); /* before the frames: none comes after the end */
        for (; frame < gpurt_log_frames(log); frame++) {
            const gpurt_row_t *row;
            gpurt_log_rows_t rows;
            uint32_t at = 0;

            if (gpurt_log_entry(log, frame)->panics == 0 ||
                gpurt_log_read(log, frame, &rows, NULL) != GPURT_OK)
                continue;
            while ((row = gpurt_log_row(&rows, at, &at)) != NULL)
                take(w, row);
        }
        if (late_tell(w, err) != GPURT_OK)
            return err->status;
        if (sum.closed || ferror(w->style->out))
            return GPURT_OK;
        if (!follow_goes_on(&follow, log))
            return gpurt_fail(err, GPURT_E_TRUNCATED, GPURT_FROM_GPURT, 0,
                              "%s was not closed", follow.path);
        rest_until_grown(notices);
    }
}

static gpurt_status_t watch_log(watch_t *w, gpurt_error_t *err)
{
    int notices = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    gpurt_status_t st;

    if (notices >= 0 && inotify_add_watch(notices, w->source->name, IN_MODIFY) < 0) {
        close(notices);
        notices = -1;
    }
    st = frames_watch(w, notices, err);
    if (notices >= 0)
        close(notices);
    return st;
}

static bool is_there(const panic_book_t *book, uint64_t made_ns)
{
    for (uint32_t i = 0; i < book->source_count; i++)
        if (book->sources[i].about.identity.real_ns == made_ns)
            return true;
    return false;
}

/* A place of its own, or one of a box that is gone: there are as many places as boxes. */
static told_t *told_of(watch_t *w, const panic_source_t *box)
{
    uint64_t made_ns = box->about.identity.real_ns;
    told_t *place = &w->told[0];

    for (uint32_t i = 0; i < PANIC_SOURCES; i++) {
        if (w->told[i].made_ns == made_ns)
            return &w->told[i];
        if (!is_there(w->book, w->told[i].made_ns))
            place = &w->told[i];
    }
    *place = (told_t){made_ns, 0};
    return place;
}

/* Returns: GPURT_OK; or why one of them could not be read. *alive: their program. */
static gpurt_status_t boxes_look(watch_t *w, bool *alive, gpurt_error_t *err)
{
    gpurt_status_t st = GPURT_OK;

    *alive = false;
    for (uint32_t i = 0; i < w->book->source_count && st == GPURT_OK; i++) {
        told_t *told = told_of(w, &w->book->sources[i]);

        w->source = &w->book->sources[i];
        *alive |= w->source->alive;
        w->now = 0;
        w->seen = told->count;
        st = panic_source_panics(w->source, take, w, err);
        if (w->now > told->count)
            told->count = w->now;
    }
    return st == GPURT_OK ? late_tell(w, err) : st;
}

static gpurt_status_t watch_boxes(watch_t *w, uint32_t pid, gpurt_error_t *err)
{
    panic_book_t *book = w->book;
    const char *name = book->sources[0].name;

    for (;;) {
        gpurt_error_t gone;
        bool alive;
        gpurt_status_t st = boxes_look(w, &alive, err);

        if (st != GPURT_OK || !alive || ferror(w->style->out))
            return st;
        rest(BOX_MS);
        for (uint32_t i = 0; i < book->source_count; i++)
            panic_source_close(&book->sources[i]);
        if (pid)
            panic_source_open_pid(pid, name, book->sources, &book->source_count, &gone);
        else
            panic_source_open(name, book->sources, &book->source_count, &gone);
        if (book->source_count == 0)
            return GPURT_OK; /* it ended, and its boxes with it */
    }
}

gpurt_status_t panic_watch(panic_book_t *book, uint32_t pid, panic_watch_t how,
                           const panic_style_t *style, gpurt_error_t *err)
{
    watch_t w = {.style = style,
                 .book = book,
                 .source = book->sources,
                 .json = how == PANIC_WATCH_JSON,
                 .whole = how == PANIC_WATCH_WHOLE};
    gpurt_status_t st;

    if (w.source->log) {
        st = watch_log(&w, err);
    } else if (w.source->dump.core) {
        st = panic_source_panics(w.source, take, &w, err);
        if (st == GPURT_OK)
            st = late_tell(&w, err);
    } else {
        st = watch_boxes(&w, pid, err);
    }
    free(w.late);
    return st;
}
