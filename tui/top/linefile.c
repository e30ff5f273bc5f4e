/* SPDX-License-Identifier: Apache-2.0 */
#include "linefile.h"

#include "filter_run.h"
#include "framesum.h"
#include "model.h"
#include "program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN UINT32_MAX

/* What is known of a frame. */
typedef struct frame {
    uint64_t reach_ns; /* the latest moment of it and of all before it */
    uint64_t since_ns; /* the earliest of it and of all behind it */
    uint32_t fits;     /* lines that fit the survey's filter, or UNKNOWN */
    bool marked;       /* its panics are among the marks */
} frame_t;

/* Owner: whoever opened it. */
struct linefile {
    gpurt_log_t *log;
    gplog_file_t about;
    frame_t *frames;
    uint64_t count, room;
    uint64_t first_ns; /* of the log */
    filter_t filter;   /* of the survey */
    uint64_t surveyed; /* frames before it are counted */
    uint64_t total;
    filter_tally_t tally; /* of the survey */
    linefile_marks_t marks;
};

/* ---- open ---------------------------------------------------------------------------- */

/* Frames overlap in time: how far all before and all behind reach says where to begin. Returns:
 * false without memory for the new ones, which are then left out. */
static bool frames_take(linefile_t *f)
{
    uint64_t count = gpurt_log_frames(f->log), before = f->count, since = UINT64_MAX;

    if (count > f->room) {
        uint64_t room = count + count / 2;
        frame_t *more = realloc(f->frames, (size_t)room * sizeof *more);

        if (!more)
            return false;
        f->frames = more;
        f->room = room;
    }
    for (uint64_t i = before; i < count; i++) {
        uint64_t last = gpurt_log_entry(f->log, i)->last_ns;
        uint64_t reach = i ? f->frames[i - 1].reach_ns : 0;

        f->frames[i] = (frame_t){.reach_ns = last > reach ? last : reach, .fits = UNKNOWN};
    }
    for (uint64_t i = count; i-- > 0;) {
        uint64_t first = gpurt_log_entry(f->log, i)->first_ns;

        since = first < since ? first : since;
        f->frames[i].since_ns = since;
    }
    f->count = count;
    return true;
}

gpurt_status_t linefile_open(const char *path, linefile_t **out, gpurt_error_t *err)
{
    linefile_t *f = calloc(1, sizeof *f);
    gpurt_log_summary_t sum;
    gpurt_status_t st;

    *out = NULL;
    if (!f)
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "log: %s", path);
    st = gpurt_log_open_walked(path, &f->log, err);
    if (st == GPURT_OK && !frames_take(f))
        st = gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "log: %s", path);
    if (st != GPURT_OK) {
        linefile_close(f);
        return st;
    }
    gpurt_log_summary(f->log, &sum);
    f->about = sum.about;
    f->first_ns = sum.first_ns;
    *out = f;
    return GPURT_OK;
}

void linefile_close(linefile_t *f)
{
    if (!f)
        return;
    gpurt_log_close(f->log);
    free(f->frames);
    free(f);
}

bool linefile_refresh(linefile_t *f)
{
    gpurt_log_summary_t sum;

    if (!gpurt_log_refresh(f->log))
        return false;
    gpurt_log_summary(f->log, &sum);
    f->about = sum.about;
    f->first_ns = sum.first_ns;
    return frames_take(f);
}

/* ---- what is wanted ------------------------------------------------------------------ */

bool linefile_want_same(const linefile_want_t *a, const linefile_want_t *b)
{
    return a->panics == b->panics && a->slot_only == b->slot_only &&
           a->section == b->section && a->sm == b->sm && a->slot == b->slot &&
           a->pid == b->pid && filter_same(&a->filter, &b->filter);
}

/* ---- what fits ----------------------------------------------------------------------- */

static bool is_line(const gpurt_row_t *row)
{
    return gpurt_kind_is_line(row->kind);
}

static void line_of(const linefile_t *f, const gpurt_row_t *row, uint64_t number,
                    gpurt_model_line_t *line)
{
    const gpurt_dictionary_t *d = gpurt_log_dictionary(f->log);

    gpurt_model_line_of(d, row, gplog_program_pid(d, &f->about, row), number, line);
}

/* tally: NULL is allowed. */
static bool fits_filter(const linefile_t *f, const filter_t *filter, const gpurt_row_t *row,
                        filter_tally_t *tally)
{
    filter_answer_t answer;
    uint32_t unsure;

    if (!is_line(row))
        return false;
    answer = filter_of_row(filter, gpurt_log_dictionary(f->log), &f->about, row,
                           FILTER_ANY_LANE, &unsure);
    if (tally)
        filter_tally_add(tally, answer, unsure);
    return answer == FILTER_YES;
}

static bool fits(const linefile_t *f, const linefile_want_t *want, const gpurt_row_t *row)
{
    if (want->panics && !gpurt_row_is_panic(row))
        return false;
    if (want->slot_only &&
        (gpurt_row_is_panic(row) || row->section != want->section || row->sm != want->sm ||
         row->slot != want->slot ||
         (want->pid &&
          want->pid != gplog_program_pid(gpurt_log_dictionary(f->log), &f->about, row))))
        return false;
    return fits_filter(f, &want->filter, row, NULL);
}

/* By the index alone: whether a frame may hold a line that fits. */
static bool may_fit(const linefile_t *f, const linefile_want_t *want, uint64_t frame)
{
    const gplog_index_entry_t *e = gpurt_log_entry(f->log, frame);

    if ((want->panics && e->panics == 0) ||
        (!filter_is_empty(&want->filter) &&
         (e->levels & filter_levels(&want->filter)) == 0))
        return false;
    if (want->slot_only && !gplog_entry_has(e, want->section))
        return false;
    return f->frames[frame].fits != 0 || !filter_same(&f->filter, &want->filter);
}

/* ---- searching ----------------------------------------------------------------------- */

/* The best places so far, oldest first; one more than asked tells whether there are more. */
typedef struct search {
    linefile_t *f;
    const linefile_want_t *want;
    linefile_place_t bound; /* nothing beyond it */
    bool newest;            /* the last ones are kept, else the first ones */
    uint32_t count, most;
    linefile_place_t places[LINEFILE_MOST + 1];
} search_t;

static bool is_before(const linefile_place_t *a, const linefile_place_t *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->number < b->number;
}

static void offer(search_t *s, const linefile_place_t *place)
{
    uint32_t low = 0, high = s->count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (is_before(&s->places[middle], place))
            low = middle + 1;
        else
            high = middle;
    }
    if (s->count == s->most) {
        if (low == (s->newest ? 0 : s->count))
            return;
        if (s->newest) {
            low--;
            memmove(s->places, s->places + 1, low * sizeof *s->places);
        } else {
            memmove(s->places + low + 1, s->places + low,
                    (s->count - low - 1) * sizeof *s->places);
        }
    } else {
        memmove(s->places + low + 1, s->places + low, (s->count - low) * sizeof *s->places);
        s->count++;
    }
    s->places[low] = *place;
}

static void frame_search(search_t *s, uint64_t frame)
{
    const gpurt_row_t *row;
    gpurt_log_rows_t rows;
    uint32_t at = 0, start = 0;

    if (gpurt_log_read(s->f->log, frame, &rows, NULL) != GPURT_OK)
        return; /* a damaged one: the programs for logs tell of it */
    for (; (row = gpurt_log_row(&rows, at, &at)) != NULL; start = at) {
        linefile_place_t place = {row->time_ns, frame << 32 | start};

        if (s->newest ? is_before(&s->bound, &place) : is_before(&place, &s->bound))
            continue;
        if (s->count == s->most &&
            (s->newest ? is_before(&place, &s->places[0])
                       : is_before(&s->places[s->count - 1], &place)))
            continue;
        if (fits(s->f, s->want, row))
            offer(s, &place);
    }
}

/* The first frame that may hold a line at a moment or behind it. */
static uint64_t frame_reaching(const linefile_t *f, uint64_t time_ns)
{
    uint64_t low = 0, high = f->count;

    while (low < high) {
        uint64_t middle = (low + high) / 2;

        if (f->frames[middle].reach_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* One behind the last frame that may hold a line at a moment or before it. */
static uint64_t frame_beginning(const linefile_t *f, uint64_t time_ns)
{
    uint64_t low = 0, high = f->count;

    while (low < high) {
        uint64_t middle = (low + high) / 2;

        if (f->frames[middle].since_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Frames away from the bound, until the list is full and none that is left reaches into it.
 * Returns: false when it was stopped. */
static bool frames_search(search_t *s, linefile_stop_fn *stop, void *context)
{
    const linefile_t *f = s->f;
    uint64_t at = s->newest ? frame_beginning(f, s->bound.time_ns)
                            : frame_reaching(f, s->bound.time_ns);

    while (s->newest ? at > 0 : at < f->count) {
        uint64_t frame = s->newest ? --at : at++;
        const gplog_index_entry_t *e = gpurt_log_entry(f->log, frame);
        bool full = s->count == s->most;

        if (full &&
            (s->newest ? f->frames[frame].reach_ns < s->places[0].time_ns
                       : f->frames[frame].since_ns > s->places[s->count - 1].time_ns))
            break;
        if (full && (s->newest ? e->last_ns < s->places[0].time_ns
                               : e->first_ns > s->places[s->count - 1].time_ns))
            continue;
        if (!may_fit(f, s->want, frame))
            continue;
        if (stop && stop(context))
            return false;
        frame_search(s, frame);
    }
    return true;
}

/* Where in a frame the row of a line begins. */
typedef struct wanted {
    uint32_t offset, line;
} wanted_t;

static int by_offset(const void *a, const void *b)
{
    const wanted_t *x = a, *y = b;

    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Offsets are those of another reading: a file that was changed meanwhile has no rows there. */
static void frame_make(const search_t *s, uint64_t frame, wanted_t *wanted, uint32_t count,
                       linefile_list_t *out)
{
    const gpurt_row_t *row;
    gpurt_log_rows_t rows;
    uint32_t at = 0, start = 0, next = 0;

    if (gpurt_log_read(s->f->log, frame, &rows, NULL) != GPURT_OK)
        return;
    qsort(wanted, count, sizeof *wanted, by_offset);
    for (; next < count && (row = gpurt_log_row(&rows, at, &at)) != NULL; start = at)
        if (start == wanted[next].offset) {
            uint32_t line = wanted[next++].line;

            line_of(s->f, row, s->places[line].number, &out->lines[line]);
        }
}

/* Lines of one frame are made while it is at hand. */
static void lines_make(const search_t *s, linefile_list_t *out)
{
    bool made[LINEFILE_MOST] = {false};
    wanted_t wanted[LINEFILE_MOST];

    for (uint32_t i = 0; i < out->count; i++) {
        uint64_t frame = s->places[i].number >> 32;
        uint32_t count = 0;

        if (made[i])
            continue;
        for (uint32_t k = i; k < out->count; k++)
            if (s->places[k].number >> 32 == frame) {
                wanted[count++] = (wanted_t){(uint32_t)s->places[k].number, k};
                made[k] = true;
            }
        frame_make(s, frame, wanted, count, out);
    }
}

static bool search(search_t *s, uint32_t most, linefile_stop_fn *stop, void *context,
                   linefile_list_t *out)
{
    most = most < LINEFILE_MOST ? most : LINEFILE_MOST;
    s->most = most + 1;
    out->count = 0;
    if (!frames_search(s, stop, context))
        return false;
    out->more = s->count > most;
    out->count = out->more ? most : s->count;
    if (out->more && s->newest)
        memmove(s->places, s->places + 1, most * sizeof *s->places);
    for (uint32_t i = 0; i < out->count; i++)
        out->lines[i] = (gpurt_model_line_t){.time_ns = s->places[i].time_ns,
                                             .number = s->places[i].number};
    lines_make(s, out);
    return true;
}

bool linefile_before(linefile_t *f, const linefile_want_t *want,
                     const linefile_place_t *end, uint32_t most, linefile_stop_fn *stop,
                     void *context, linefile_list_t *out)
{
    search_t s = {.f = f, .want = want, .bound = *end, .newest = true};

    return search(&s, most, stop, context, out);
}

bool linefile_after(linefile_t *f, const linefile_want_t *want,
                    const linefile_place_t *begin, uint32_t most, linefile_stop_fn *stop,
                    void *context, linefile_list_t *out)
{
    search_t s = {.f = f, .want = want, .bound = *begin};

    return search(&s, most, stop, context, out);
}

/* ---- survey -------------------------------------------------------------------------- */

/* Where the room ends, each bit comes to stand for twice the time. */
static void mark(linefile_t *f, uint64_t time_ns)
{
    linefile_marks_t *m = &f->marks;
    uint64_t bit;

    if (m->width_ns == 0) {
        m->width_ns = 1;
        m->first_ns = f->first_ns;
    }
    if (time_ns < m->first_ns)
        return; /* a row outside of what its index says */
    while ((bit = (time_ns - m->first_ns) / m->width_ns) >= LINEFILE_MARKS) {
        for (uint32_t i = 0; i < LINEFILE_MARKS; i++) {
            uint64_t set = m->bits[i / 64] >> i % 64 & 1;

            m->bits[i / 64] &= ~(1ull << i % 64);
            m->bits[i / 128] |= set << i / 2 % 64;
        }
        m->width_ns *= 2;
    }
    m->bits[bit / 64] |= 1ull << bit % 64;
}

static void frame_survey(linefile_t *f, uint64_t frame)
{
    frame_t *one = &f->frames[frame];
    const gpurt_row_t *row;
    gpurt_log_rows_t rows;
    uint32_t at = 0;

    one->fits = 0;
    if (gpurt_log_read(f->log, frame, &rows, NULL) == GPURT_OK)
        while ((row = gpurt_log_row(&rows, at, &at)) != NULL) {
            one->fits += fits_filter(f, &f->filter, row, &f->tally);
            if (!one->marked && gpurt_row_is_panic(row))
                mark(f, row->time_ns);
        }
    one->marked = true;
}

bool linefile_survey(linefile_t *f, const filter_t *filter)
{
    if (!filter_same(&f->filter, filter)) {
        memcpy(&f->filter, filter, sizeof f->filter);
        f->surveyed = f->total = 0;
        memset(&f->tally, 0, sizeof f->tally);
        for (uint64_t i = 0; i < f->count; i++)
            f->frames[i].fits = UNKNOWN;
    }
    if (f->surveyed == f->count)
        return false;
    frame_survey(f, f->surveyed);
    f->total += f->frames[f->surveyed++].fits;
    return true;
}

uint64_t linefile_total(const linefile_t *f)
{
    return f->total;
}

const filter_tally_t *linefile_tally(const linefile_t *f)
{
    return &f->tally;
}

const linefile_marks_t *linefile_marks(const linefile_t *f)
{
    return &f->marks;
}
