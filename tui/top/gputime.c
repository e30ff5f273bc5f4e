/* SPDX-License-Identifier: Apache-2.0 */
#include "gputime.h"

#include "activity_text.h"
#include "gputable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LABEL = 20,      /* columns before a lane, */
    LABEL_WIDE = 28, /* that says which process it is of */
    COLUMNS_MOST = 512,
    COLUMNS_LEAST = 20,
    LEAST = 3,        /* rows: a heading, a GPU, a lane */
    CLOSED_LANES = 6, /* beside the tables */
    NAME_LEAST = 5,   /* columns of a bar that are worth a name */
    DEVICES = GPURT_MODEL_DEVICES,
    PROGRAMS = 256
};

/* Stretches of time, by step. */
static const uint64_t stretches[] = {
    100000ull,      200000ull,      500000ull,      1000000ull,     2000000ull,
    5000000ull,     10000000ull,    20000000ull,    50000000ull,    100000000ull,
    200000000ull,   500000000ull,   1000000000ull,  2000000000ull,  5000000000ull,
    10000000000ull, 20000000000ull, 60000000000ull, 120000000000ull};
enum {
    STRETCHES = sizeof stretches / sizeof stretches[0],
    STRETCH_FIRST = 12 /* a second */
};

/* What is drawn: a stretch of time, so many columns. */
typedef struct frame {
    const gpurt_timeline_t *t;
    uint64_t from_ns, until_ns;
    int columns;
    int label;     /* columns before them */
    bool several;  /* lanes are of several processes */
    bool spans;    /* the spans reach back to its beginning */
    uint32_t zoom; /* else these bins do */
} frame_t;

/* Nanoseconds of each column. */
typedef struct column {
    uint64_t kernels, copies;
} column_t;

static uint64_t newest_ns(const picture_t *p)
{
    return p->until_ns ? p->until_ns : p->view->numbers.time_ns;
}

static uint64_t known_ns(const picture_t *p)
{
    uint64_t first = p->view->numbers.first_ns, newest = newest_ns(p);

    return newest > first ? newest - first : 0;
}

/* Nobody chose: a second, or less where less is known. */
static uint32_t step_of(const picture_t *p)
{
    uint32_t step = 0;

    if (p->streams_zoom)
        return (p->streams_zoom - 1) % STRETCHES;
    while (step < STRETCH_FIRST && stretches[step] < known_ns(p))
        step++;
    return step;
}

static uint32_t lane_count(const gpurt_timeline_t *t)
{
    return t->lane_count < GPURT_TIMELINE_LANES ? (uint32_t)t->lane_count
                                                : GPURT_TIMELINE_LANES;
}

static bool is_of_several(const gpurt_timeline_t *t)
{
    for (uint32_t i = 1; i < lane_count(t); i++)
        if (t->lanes[i].program != t->lanes[0].program)
            return true;
    return false;
}

static bool gpus_renamed(const gpurt_model_activity_t *a)
{
    uint32_t names = 0;

    for (int i = 0; i < DEVICES; i++)
        names |= a->gpus[i].other_names;
    return names != 0;
}

static bool frame_make(const picture_t *p, rect_t area, frame_t *f)
{
    uint64_t stretch = stretches[step_of(p)], newest = newest_ns(p);

    f->t = &p->view->timeline;
    f->several = is_of_several(f->t);
    f->label = f->several || gpus_renamed(&p->view->activity) ? LABEL_WIDE : LABEL;
    f->columns = area.columns - f->label - 1;
    f->columns = f->columns > COLUMNS_MOST ? COLUMNS_MOST : f->columns;
    if (f->columns < COLUMNS_LEAST || newest < stretch + p->streams_back_ns)
        return false;
    f->until_ns = newest - p->streams_back_ns;
    f->from_ns = f->until_ns - stretch;
    f->spans = gpurt_timeline_holds(f->t, f->from_ns);
    f->zoom = 0;
    while (f->zoom < GPURT_TIMELINE_ZOOMS - 1 &&
           f->t->bins[f->zoom].newest * gpurt_timeline_width(f->zoom) >
               f->from_ns + (GPURT_TIMELINE_BINS - 1) * gpurt_timeline_width(f->zoom))
        f->zoom++;
    return true;
}

static uint64_t column_start(const frame_t *f, int column)
{
    return f->from_ns +
           (f->until_ns - f->from_ns) * (uint64_t)column / (uint64_t)f->columns;
}

static int column_at(const frame_t *f, uint64_t time_ns)
{
    if (time_ns <= f->from_ns)
        return 0;
    if (time_ns >= f->until_ns)
        return f->columns;
    return (int)((time_ns - f->from_ns) * (uint64_t)f->columns /
                 (f->until_ns - f->from_ns));
}

/* ---- what ran ------------------------------------------------------------------------ */

/* A piece of time, over the columns that it touches. */
static void spread(const frame_t *f, column_t *columns, uint64_t from, uint64_t until,
                   bool copy)
{
    int column = column_at(f, from);

    if (until <= f->from_ns || from >= f->until_ns)
        return;
    for (; column < f->columns && column_start(f, column) < until; column++) {
        uint64_t start = column_start(f, column), end = column_start(f, column + 1);
        uint64_t first = from > start ? from : start, last = until < end ? until : end;

        if (first < last)
            *(copy ? &columns[column].copies : &columns[column].kernels) += last - first;
    }
}

/* Whether spans of a lane belong to what is drawn: a lane, or all of a GPU. */
typedef struct which {
    int lane; /* -1: any */
    int gpu;  /* -1: any */
} which_t;

static bool is_in(const gpurt_timeline_t *t, which_t w, uint32_t lane)
{
    const gpurt_timeline_lane_t *l = &t->lanes[lane];

    if (w.lane >= 0)
        return (int)lane == w.lane;
    return l->kind == GPURT_TIMELINE_STREAM && (int)l->gpu == w.gpu &&
           lane != GPURT_TIMELINE_OTHER;
}

/* Lanes come from shared memory, where a part may be torn. */
static uint32_t lane_of(const gpurt_timeline_span_t *s)
{
    return s->lane < GPURT_TIMELINE_LANES ? s->lane : GPURT_TIMELINE_OTHER;
}

static uint32_t span_count(const gpurt_timeline_t *t)
{
    return t->count < GPURT_TIMELINE_SPANS ? (uint32_t)t->count : GPURT_TIMELINE_SPANS;
}

static void columns_fill(const frame_t *f, which_t w, column_t *columns)
{
    const gpurt_timeline_bins_t *b = &f->t->bins[f->zoom];
    uint64_t width = gpurt_timeline_width(f->zoom), bin = f->from_ns / width;

    memset(columns, 0, sizeof *columns * (size_t)f->columns);
    for (uint32_t i = 0; f->spans && i < span_count(f->t); i++) {
        const gpurt_timeline_span_t *s = &f->t->spans[i];

        if (is_in(f->t, w, lane_of(s)))
            spread(f, columns, s->start_ns, s->start_ns + s->ns,
                   s->what == GPURT_TIMELINE_COPY);
    }
    if (!f->spans && bin + GPURT_TIMELINE_BINS <= b->newest)
        bin = b->newest - GPURT_TIMELINE_BINS + 1;
    for (; !f->spans && bin <= b->newest && bin * width < f->until_ns; bin++)
        for (uint32_t lane = 0; lane <= GPURT_TIMELINE_OTHER; lane++) {
            const gpurt_timeline_cell_t *cell = &b->cells[bin % GPURT_TIMELINE_BINS][lane];
            uint64_t from = bin * width;

            /* Where in its bin it ran is not known: it is drawn at the beginning. */
            if (!is_in(f->t, w, lane))
                continue;
            spread(f, columns, from, from + (cell->kernels < width ? cell->kernels : width),
                   false);
            spread(f, columns, from, from + (cell->copies < width ? cell->copies : width),
                   true);
        }
}

/* ---- why nothing did ----------------------------------------------------------------- */

typedef enum reason {
    REASON_NONE,
    REASON_WAIT,
    REASON_LAUNCH,
    REASON_OFF /* nobody knows whether anything ran */
} reason_t;

/* The processes that ran something on a GPU: waits of others do not hold it up. */
static void programs_find(const gpurt_timeline_t *t, int gpu, bool ran[PROGRAMS])
{
    const which_t w = {-1, gpu};

    memset(ran, 0, PROGRAMS * sizeof *ran);
    for (uint32_t i = 0; i < lane_count(t); i++)
        if (is_in(t, w, i))
            ran[t->lanes[i].program % PROGRAMS] = true;
}

/* The gap of a GPU around a moment at which no kernel ran, taken apart as the collector
 * does. */
static reason_t gap_reason(const frame_t *f, int gpu, uint64_t at)
{
    const which_t w = {-1, gpu};
    uint64_t begin = 0, end = UINT64_MAX;
    bool told = false, ran[PROGRAMS];

    programs_find(f->t, gpu, ran);

    for (uint32_t i = 0; i < span_count(f->t); i++) {
        const gpurt_timeline_span_t *s = &f->t->spans[i];
        uint64_t stop = s->start_ns + s->ns;

        if (s->what != GPURT_TIMELINE_KERNEL || !is_in(f->t, w, lane_of(s)))
            continue;
        if (stop <= at && stop > begin)
            begin = stop;
        if (s->start_ns > at && s->start_ns < end)
            end = s->start_ns;
    }
    for (uint32_t i = 0; begin && i < span_count(f->t); i++) {
        const gpurt_timeline_span_t *s = &f->t->spans[i];

        told |= s->what == GPURT_TIMELINE_WAIT && ran[s->program] && s->start_ns <= begin &&
                s->start_ns + s->ns > at;
    }
    return told ? REASON_WAIT
           : begin && end != UINT64_MAX && end - begin < GPURT_ACTIVITY_LAUNCH_NS
               ? REASON_LAUNCH
               : REASON_NONE;
}

static bool is_off(const frame_t *f, int gpu, uint64_t at)
{
    for (uint32_t i = 0; i < GPURT_TIMELINE_OFFS; i++) {
        const gpurt_timeline_off_t *off = &f->t->offs[gpu][i];

        if (off->start_ns && at >= off->start_ns && at < off->end_ns)
            return true;
    }
    return false;
}

/* The larger part of a stretch that only its sums are known of. */
static reason_t busy_reason(const gpurt_timeline_busy_t *b)
{
    if (b->kernels + b->copying + b->waiting + b->launching + b->idle == 0)
        return REASON_OFF;
    if (b->waiting >= b->launching)
        return b->waiting > b->idle ? REASON_WAIT : REASON_NONE;
    return b->launching > b->idle ? REASON_LAUNCH : REASON_NONE;
}

static reason_t stretch_reason(const frame_t *f, int gpu, uint64_t at)
{
    for (uint32_t i = 0; i < GPURT_TIMELINE_BUSY; i++) {
        const gpurt_timeline_busy_t *b = &f->t->busy[gpu][i];

        if (b->ns && at >= b->start_ns && at - b->start_ns < b->ns)
            return busy_reason(b);
    }
    return REASON_NONE;
}

/* ---- drawing ------------------------------------------------------------------------- */

/* A column that is full for a part of its time. */
static void bar_draw(canvas_t *c, rect_t area, int row, int column, style_t style,
                     uint64_t part, uint64_t whole)
{
    uint64_t eighths = part >= whole ? 8 : (part * 8 + whole / 2) / whole;

    canvas_glyph(c, area, row, column, style,
                 0x2580 + (uint32_t)(eighths ? eighths : 1), /* lower blocks; 1: a line */
                 eighths > 4 ? '#' : '+');
}

static void column_draw(canvas_t *c, rect_t area, int row, int column, const column_t *at,
                        uint64_t whole, style_t style)
{
    if (at->kernels == 0 && at->copies == 0)
        canvas_glyph(c, area, row, column, STYLE_RULE, 0xb7, '.');
    else if (at->kernels >= at->copies)
        bar_draw(c, area, row, column, style, at->kernels, whole);
    else
        bar_draw(c, area, row, column, STYLE_INFO, at->copies, whole);
}

/* "GPU 1", and where that is not what its process calls it "GPU 1 (0 of 10801)". */
static void gpu_label(const picture_t *p, canvas_t *c, rect_t area, int row, int gpu)
{
    const gpurt_model_gpu_t *g = &p->view->activity.gpus[gpu];
    int at = canvas_printf(c, area, row, 1, STYLE_BOLD, "GPU %d", gpu);

    if (g->other_names)
        canvas_printf(c, area, row, at + 1, STYLE_DIM, "(%u of %u)", g->other_number,
                      g->other_pid);
}

static void gpu_draw(const picture_t *p, const frame_t *f, canvas_t *c, rect_t area,
                     int row, int gpu)
{
    const which_t w = {-1, gpu};
    column_t columns[COLUMNS_MOST];

    columns_fill(f, w, columns);
    gpu_label(p, c, area, row, gpu);
    for (int i = 0; i < f->columns; i++) {
        uint64_t start = column_start(f, i), end = column_start(f, i + 1);
        reason_t reason = REASON_NONE;

        if (columns[i].kernels || columns[i].copies)
            ;
        else if (is_off(f, gpu, start + (end - start) / 2))
            reason = REASON_OFF;
        else
            reason = f->spans ? gap_reason(f, gpu, start + (end - start) / 2)
                              : stretch_reason(f, gpu, start + (end - start) / 2);
        if (reason == REASON_OFF) /* blank */
            continue;
        if (reason == REASON_NONE)
            column_draw(c, area, row, f->label + i, &columns[i], end - start, STYLE_GOOD);
        else
            canvas_glyph(c, area, row, f->label + i,
                         reason == REASON_WAIT ? STYLE_WARN : STYLE_ERROR,
                         reason == REASON_WAIT ? 'w' : 'l',
                         reason == REASON_WAIT ? 'w' : 'l');
    }
}

/* Names of kernels whose bars are wide enough. */
static void names_draw(const picture_t *p, const frame_t *f, canvas_t *c, rect_t area,
                       int row, int lane)
{
    const gpurt_model_activity_t *a = &p->view->activity;

    for (uint32_t i = 0; f->spans && i < span_count(f->t); i++) {
        const gpurt_timeline_span_t *s = &f->t->spans[i];
        int from = column_at(f, s->start_ns), until = column_at(f, s->start_ns + s->ns);
        rect_t bar = {area.row + row, area.column + f->label + from, 1, until - from};

        if ((int)lane_of(s) != lane || s->kernel >= GPURT_MODEL_KERNELS ||
            until - from < NAME_LEAST)
            continue;
        canvas_text(c, bar, 0, 0, STYLE_HEAD_GOOD, a->kernels[s->kernel].name,
                    strnlen(a->kernels[s->kernel].name, GPURT_MODEL_KERNEL_NAME));
    }
}

/* Numbers are those of its process, which is named where there is more than one. */
static void label_draw(const frame_t *f, int lane, canvas_t *c, rect_t area, int row)
{
    const gpurt_timeline_lane_t *l = &f->t->lanes[lane];
    style_t style = l->kind == GPURT_TIMELINE_WAITS ? STYLE_DIM : STYLE_NORMAL;
    int at;

    if (lane == GPURT_TIMELINE_OTHER) {
        canvas_put(c, area, row, 1, STYLE_DIM, " other streams");
        return;
    }
    if (l->kind == GPURT_TIMELINE_WAITS)
        at = canvas_put(c, area, row, 1, style, " host waits");
    else if (l->context > 1)
        at = canvas_printf(c, area, row, 1, style, " %u stream %u/%u", l->device,
                           l->context, l->stream);
    else
        at = canvas_printf(c, area, row, 1, style, " %u stream %u", l->device, l->stream);
    if (f->several && l->pid)
        canvas_printf(c, area, row, at, style, " of %u", l->pid);
    else if (f->several)
        canvas_put(c, area, row, at, style, " of others");
}

static void lane_draw(const picture_t *p, const frame_t *f, canvas_t *c, rect_t area,
                      int row, int lane)
{
    const gpurt_timeline_lane_t *l = &f->t->lanes[lane];
    const which_t w = {lane, -1};
    column_t columns[COLUMNS_MOST];

    label_draw(f, lane, c, area, row);
    columns_fill(f, w, columns);
    for (int i = 0; i < f->columns; i++)
        column_draw(c, area, row, f->label + i, &columns[i],
                    column_start(f, i + 1) - column_start(f, i),
                    l->kind == GPURT_TIMELINE_WAITS ? STYLE_WARN : STYLE_GOOD);
    names_draw(p, f, c, area, row, lane);
}

static int ascending(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* Lanes by GPU and process, the waits and the rest behind them. */
static int compare(const void *x, const void *y)
{
    const gpurt_timeline_lane_t *a = *(const gpurt_timeline_lane_t *const *)x;
    const gpurt_timeline_lane_t *b = *(const gpurt_timeline_lane_t *const *)y;

    if (a->kind != b->kind)
        return ascending(a->kind, b->kind);
    if (a->gpu != b->gpu)
        return ascending(a->gpu, b->gpu);
    if (a->program != b->program)
        return ascending(a->program, b->program);
    if (a->context != b->context)
        return ascending(a->context, b->context);
    return ascending(a->stream, b->stream);
}

static int lanes_order(const gpurt_timeline_t *t,
                       const gpurt_timeline_lane_t *order[GPURT_TIMELINE_LANES + 1])
{
    int count = (int)lane_count(t);

    for (int i = 0; i < count; i++)
        order[i] = &t->lanes[i];
    qsort(order, (size_t)count, sizeof order[0], compare);
    if (t->lanes[GPURT_TIMELINE_OTHER].count)
        order[count++] = &t->lanes[GPURT_TIMELINE_OTHER];
    return count;
}

static void heading(const picture_t *p, const frame_t *f, canvas_t *c, rect_t area, int row,
                    int hidden)
{
    char stretch[24], end[32];
    int at = canvas_printf(c, area, row, 1, STYLE_DIM, "streams, %s to %s",
                           activity_time(f->until_ns - f->from_ns, stretch),
                           picture_time(f->until_ns, 6, end));

    at = canvas_put(c, area, row, at + 2, STYLE_DIM,
                    p->streams_open ? "(< > zoom, Left Right, Esc)"
                                    : "(< > zoom, Left Right, Enter)");
    if (hidden > 0)
        canvas_printf(c, area, row, at + 2, STYLE_DIM, "%d more", hidden);
}

/* The row behind them beside a table, which takes more than its least only of what they need not
 * to be there. */
static int last_closed(const picture_t *p, int rows, int row)
{
    int last = rows - gputable_wish(p, rows), most = rows - gputable_least(rows);

    if (last < row + LEAST)
        last = row + LEAST < most ? row + LEAST : most;
    return last < row + 1 + CLOSED_LANES ? last : row + 1 + CLOSED_LANES;
}

int gputime_draw(const picture_t *p, canvas_t *c, rect_t area, int row)
{
    const gpurt_timeline_lane_t *order[GPURT_TIMELINE_LANES + 1];
    int count = lanes_order(&p->view->timeline, order), top = row, last, drawn = 0;
    int gpu = -1;
    frame_t f;

    if (count == 0 || !frame_make(p, area, &f))
        return row;
    last = p->streams_open ? area.rows : last_closed(p, area.rows, row);
    if (last < row + LEAST)
        return row;
    row++;
    for (int i = 0; i < count && row < last; i++) {
        bool other = order[i] == &f.t->lanes[GPURT_TIMELINE_OTHER];

        if (order[i]->kind == GPURT_TIMELINE_STREAM && !other &&
            (int)order[i]->gpu != gpu && order[i]->gpu < DEVICES) {
            gpu = (int)order[i]->gpu;
            gpu_draw(p, &f, c, area, row++, gpu);
            if (row == last)
                break;
        }
        lane_draw(p, &f, c, area, row++, (int)(order[i] - f.t->lanes));
        drawn++;
    }
    heading(p, &f, c, area, top, count - drawn);
    return row;
}

/* ---- keys ---------------------------------------------------------------------------- */

static void scroll(picture_t *p, bool back)
{
    uint64_t quarter = stretches[step_of(p)] / 4;

    if (back && p->streams_back_ns + quarter < known_ns(p))
        p->streams_back_ns += quarter;
    else if (!back)
        p->streams_back_ns -= p->streams_back_ns < quarter ? p->streams_back_ns : quarter;
}

bool gputime_act(picture_t *p, action_t action)
{
    uint32_t step = step_of(p);

    switch (action) {
    case ACTION_NARROWER:
        p->streams_zoom = (step > 0 ? step - 1 : 0) + 1;
        return true;
    case ACTION_WIDER:
        p->streams_zoom = (step + 1 < STRETCHES ? step + 1 : step) + 1;
        return true;
    case ACTION_LEFT:
    case ACTION_RIGHT:
        scroll(p, action == ACTION_LEFT);
        return true;
    case ACTION_OPEN:
        p->streams_open = true;
        return true;
    case ACTION_BACK:
        if (!p->streams_open && p->streams_back_ns == 0)
            return false;
        p->streams_open = false;
        p->streams_back_ns = 0;
        return true;
    default:
        return false;
    }
}
