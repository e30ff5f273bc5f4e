/* SPDX-License-Identifier: Apache-2.0 */
/* The first look: how much is said, where, by which sites, what went wrong, the last
 * lines. */
#include "gpulist.h"
#include "loglist.h"
#include "paniclist.h"
#include "plural.h"
#include "render.h"
#include "running_text.h"
#include "sitelist.h"

#include <stdio.h>
#include <string.h>

enum {
    CURVE = GPURT_MODEL_SECONDS,
    LONG_TEXT = 512
};
#define ERROR_SHOWN_NS 1000000000ull

/* Most urgent first, as the eye reads. */
static const uint32_t levels_shown[] = {GPURT_LEVEL_PANIC, GPURT_LEVEL_ERROR,
                                        GPURT_LEVEL_WARN,  GPURT_LEVEL_INFO,
                                        GPURT_LEVEL_DEBUG, GPURT_LEVEL_TRACE};
enum {
    LEVELS_SHOWN = 6
};

/* ---- rates --------------------------------------------------------------------------- */

enum curve {
    CURVE_ALL,
    CURVE_WARN,
    CURVE_ERROR,
    CURVE_LOST
};

/* Samples a second, the last one the second before now: the one that is whole. */
static int history(const picture_t *p, enum curve which, uint64_t out[CURVE])
{
    const gpurt_model_numbers_t *n = &p->view->numbers;
    uint64_t end = (p->until_ns ? p->until_ns : n->time_ns) / 1000000000u;
    uint64_t first = n->first_ns / 1000000000u;
    int count = 0;

    if (end > first + CURVE)
        first = end - CURVE;
    for (uint64_t second = first; second < end && count < CURVE; second++) {
        const gpurt_model_second_t *s = &n->seconds[second % GPURT_MODEL_SECONDS];
        bool there = s->second == second;

        out[count++] = !there                 ? 0
                       : which == CURVE_ALL   ? s->messages
                       : which == CURVE_WARN  ? s->warnings
                       : which == CURVE_ERROR ? s->errors
                                              : s->lost;
    }
    return count;
}

static void curve_draw(const picture_t *p, canvas_t *c, rect_t area, int row, int column,
                       enum curve which, style_t style)
{
    uint64_t values[CURVE];
    int count = history(p, which, values), width = area.columns - column - 1;

    if (width >= 4 && count > 0)
        canvas_spark(c, area, row, column, width, style,
                     values + (count > width ? count - width : 0),
                     count < width ? count : width, 0);
}

static void rate_row(const picture_t *p, canvas_t *c, rect_t area, int row,
                     const char *name, style_t style, uint64_t count, uint64_t rate)
{
    char buffer[16];
    (void)p;

    canvas_put(c, area, row, 1, style, name);
    canvas_right(c, area, row, 13, STYLE_NORMAL, canvas_short(count, buffer));
    if (area.columns >= 24) {
        canvas_right(c, area, row, 21, rate ? STYLE_BOLD : STYLE_DIM,
                     canvas_short(rate, buffer));
        canvas_put(c, area, row, 21, STYLE_DIM, "/s");
    }
}

/* All levels in one row, for screens without room. */
static void levels_line(const picture_t *p, canvas_t *c, rect_t area, int row)
{
    const gpurt_model_numbers_t *n = &p->view->numbers;
    char buffer[16];
    int at = 1;

    for (int i = 0; i < LEVELS_SHOWN; i++) {
        uint32_t level = levels_shown[i];

        if (n->levels[level] == 0 && level != GPURT_LEVEL_ERROR &&
            level != GPURT_LEVEL_WARN)
            continue;
        at = canvas_put(c, area, row, at, picture_level_style(level),
                        gpurt_level_name(level));
        at = canvas_put(c, area, row, at + 1, STYLE_NORMAL,
                        canvas_short(n->levels[level], buffer)) +
             2;
    }
    at = canvas_put(c, area, row, at, n->lost ? STYLE_LOST : STYLE_DIM, "LOST");
    canvas_put(c, area, row, at + 1, STYLE_NORMAL, canvas_short(n->lost, buffer));
}

static void share_bar(canvas_t *c, rect_t area, int row, int column, uint64_t part,
                      uint64_t all)
{
    int width = area.columns - column - 1;
    int full = all ? (int)((double)part / (double)all * width + 0.5) : 0;

    if (part && full == 0)
        full = 1;
    for (int i = 0; i < width; i++)
        canvas_glyph(c, area, row, column + i, i < full ? STYLE_GOOD : STYLE_RULE,
                     i < full ? 0x2501 : 0xb7, i < full ? '#' : '.');
}

static void rates_full(const picture_t *p, canvas_t *c, rect_t area)
{
    const gpurt_model_numbers_t *n = &p->view->numbers;
    int row = 2;

    for (int i = 0; i < LEVELS_SHOWN && row < area.rows; i++, row++) {
        uint32_t level = levels_shown[i];
        style_t style = picture_level_style(level);

        rate_row(p, c, area, row, gpurt_level_name(level),
                 n->levels[level] ? style : STYLE_DIM, n->levels[level],
                 n->level_rates[level]);
        if (level == GPURT_LEVEL_ERROR || level == GPURT_LEVEL_WARN)
            curve_draw(p, c, area, row, 25,
                       level == GPURT_LEVEL_ERROR ? CURVE_ERROR : CURVE_WARN, style);
        else if (level <= GPURT_LEVEL_INFO)
            share_bar(c, area, row, 25, n->levels[level], n->messages);
    }
    if (row < area.rows) {
        rate_row(p, c, area, row, "LOST", n->lost ? STYLE_LOST : STYLE_DIM, n->lost,
                 n->lost_per_second);
        curve_draw(p, c, area, row, 25, CURVE_LOST, STYLE_LOST);
    }
}

static void rates_draw(const picture_t *p, canvas_t *c, rect_t area)
{
    const gpurt_model_numbers_t *n = &p->view->numbers;

    if (area.rows < 2)
        return;
    canvas_rule(c, area, "Records  (curve: a column a second)");
    if (area.rows == 2) {
        levels_line(p, c, area, 1);
        return;
    }
    rate_row(p, c, area, 1, "all", STYLE_BOLD, n->messages, n->per_second);
    curve_draw(p, c, area, 1, 25, CURVE_ALL, STYLE_INFO);
    if (area.rows < 6)
        levels_line(p, c, area, 2);
    else
        rates_full(p, c, area);
}

/* ---- map ----------------------------------------------------------------------------- */

static void sm_draw(canvas_t *c, rect_t area, int row, int column,
                    const gpurt_model_sm_t *sm, uint32_t top, uint64_t now_ns)
{
    static const struct {
        uint32_t code;
        char ascii;
        style_t style;
    } heat[] = {{0x2591, '-', STYLE_HEAT_1},
                {0x2592, '+', STYLE_HEAT_2},
                {0x2593, '*', STYLE_HEAT_3},
                {0x2588, '#', STYLE_HEAT_4}};
    uint64_t step = top ? (uint64_t)sm->per_second * 4 / top : 0;

    step = step > 3 ? 3 : step;
    if (sm->errors && now_ns - sm->error_ns < ERROR_SHOWN_NS)
        canvas_glyph(c, area, row, column, STYLE_ERROR, '!', '!');
    else if (sm->per_second)
        canvas_glyph(c, area, row, column, heat[step].style, heat[step].code,
                     heat[step].ascii);
    else if (sm->messages)
        canvas_glyph(c, area, row, column, STYLE_DIM, 0xb7, '.');
    else
        canvas_glyph(c, area, row, column, STYLE_RULE, ' ', ' ');
}

static void map_title(const picture_t *p, canvas_t *c, rect_t area, uint32_t active,
                      uint32_t slots)
{
    char title[128], device[48] = "";
    uint32_t count = 0;

    for (int i = GPURT_BOX_SECTIONS - 1; i >= 0; i--) {
        const gpurt_model_section_t *s = &p->view->numbers.sections[i];

        count += s->sm_shown;
        if (s->sm_shown)
            snprintf(device, sizeof device, "%s %u",
                     s->kind == GPURT_SECTION_CUDA ? "GPU" : "CPU", s->device);
    }
    snprintf(title, sizeof title,
             "SMs of %s  %u of %u spoke in the last second, %u warp slot%s", device, active,
             count, slots, gpurt_plural(slots, "s"));
    if ((int)strlen(title) > area.columns - 6)
        snprintf(title, sizeof title, "SMs  %u of %u active", active, count);
    canvas_rule(c, area, title);
}

/* How the cells lie: each `width` columns wide, `per_row` in a row behind a label. */
typedef struct grid {
    int width, per_row, label;
} grid_t;

/* The widest cells with which all of them find room. */
static grid_t grid_of(rect_t area, int count)
{
    grid_t grid = {.label = area.columns >= 40 ? 5 : 1};
    int room = area.columns - grid.label - 1, rows = area.rows - 1;

    for (grid.width = 3; grid.width > 1; grid.width--) {
        grid.per_row = room / grid.width / 4 * 4; /* labels are multiples of 4 */
        if (grid.per_row > 0 && (count + grid.per_row - 1) / grid.per_row <= rows)
            return grid;
    }
    grid.per_row = room > 8 ? room / 4 * 4 : room > 0 ? room : 1;
    if ((count + grid.per_row - 1) / grid.per_row > rows)
        grid.per_row = room > 0 ? room : 1;
    return grid;
}

static int section_draw(const gpurt_model_numbers_t *n, canvas_t *c, rect_t area, int row,
                        const gpurt_model_section_t *s, uint32_t top)
{
    grid_t grid =
        grid_of((rect_t){0, 0, area.rows - row + 1, area.columns}, (int)s->sm_shown);

    for (uint32_t sm = 0; sm < s->sm_shown && s->sm_first + sm < GPURT_MODEL_SMS; sm++) {
        int column = (int)(sm % (uint32_t)grid.per_row);
        int line = row + (int)(sm / (uint32_t)grid.per_row);

        if (column == 0 && grid.label > 1)
            canvas_printf(c, area, line, 0, STYLE_DIM, "%4u", sm);
        for (int i = 0; i < (grid.width == 3 ? 2 : 1); i++)
            sm_draw(c, area, line, grid.label + column * grid.width + i,
                    &n->sms[s->sm_first + sm], top, n->time_ns);
    }
    return row + (int)((s->sm_shown + (uint32_t)grid.per_row - 1) / (uint32_t)grid.per_row);
}

static void map_draw(const picture_t *p, canvas_t *c, rect_t area)
{
    const gpurt_model_numbers_t *n = &p->view->numbers;
    uint32_t top = 0, active = 0, slots = 0;
    int row = 1;

    if (area.rows < 2 || area.columns < 8)
        return;
    for (int i = 0; i < GPURT_MODEL_SMS; i++) {
        top = n->sms[i].per_second > top ? n->sms[i].per_second : top;
        active += n->sms[i].per_second != 0;
        slots += (uint32_t)__builtin_popcountll(n->sms[i].slots);
    }
    map_title(p, c, area, active, slots);
    for (int i = 0; i < GPURT_BOX_SECTIONS && row < area.rows; i++)
        if (n->sections[i].sm_shown)
            row = section_draw(n, c, area, row, &n->sections[i], top);
}

/* ---- alerts -------------------------------------------------------------------------- */

static void panic_line(canvas_t *c, rect_t area, int row, const panic_group_t *g)
{
    const gpurt_model_panic_t *e = g->last;
    char time[32];
    int at = canvas_printf(c, area, row, 1, STYLE_PANIC, " PANIC %u ", g->number) + 1;

    if (g->count > 1)
        at = canvas_printf(c, area, row, at, STYLE_ERROR, "%ux ", g->count);
    if (area.columns >= 90)
        at = canvas_printf(c, area, row, at, STYLE_DIM, "%s sm%u b%u,%u,%u ",
                           picture_time(e->time_ns, 3, time), e->sm, e->block.x, e->block.y,
                           e->block.z);
    at = picture_place(c, area, row, at, area.columns >= 120 ? 30 : 22, e->file,
                       sizeof e->file, e->line) +
         1;
    canvas_text(c, area, row, at, STYLE_ERROR, e->message,
                strnlen(e->message, sizeof e->message));
}

/* It may be what it shall be, or hang: view 9 shows where it is. */
static void long_line(const picture_t *p, canvas_t *c, rect_t area, int row,
                      const gpurt_model_running_t *r)
{
    char room[LONG_TEXT];
    gpurt_text_t text;
    int at = canvas_put(c, area, row, 1, STYLE_WARN, "LONG ");

    gpurt_text_init(&text, room, sizeof room);
    running_line(&p->view->activity, r, p->view->numbers.time_ns, &text);
    at = canvas_text(c, area, row, at, STYLE_WARN, text.at, text.used);
    if (p->view->warps.rows)
        canvas_put(c, area, row, at, STYLE_DIM, "  (9 shows where it is)");
}

static void alert_draw(const picture_t *p, canvas_t *c, rect_t area)
{
    const gpurt_model_numbers_t *n = &p->view->numbers;
    panic_group_t groups[PICTURE_ALERTS];
    uint32_t count = paniclist_groups(p, PICTURE_ALERTS, groups);
    const gpurt_model_running_t *longest = gpulist_longest(p);
    char buffer[16];
    int row = 1;

    if (area.rows < 2)
        return;
    canvas_rule(c, area, "Alerts  (3 shows panics)");
    for (uint32_t i = 0; i < count && row < area.rows - ((n->lost || longest) && i > 0);
         i++)
        panic_line(c, area, row++, &groups[i]);
    if (longest && row < area.rows)
        long_line(p, c, area, row++, longest);
    if (n->lost && row < area.rows)
        canvas_printf(c, area, row, 1, STYLE_LOST, "LOST %s record%s%s",
                      canvas_short(n->lost, buffer), gpurt_plural(n->lost, "s"),
                      n->losses[GPURT_LOSS_FULL]
                          ? ": rings were full; larger ones: GPURT_RING_BYTES"
                          : "");
}

/* ---- all of it ----------------------------------------------------------------------- */

static void draw(const picture_t *p, canvas_t *c, rect_t area)
{
    layout_wish_t wish;
    layout_t layout;

    /* The same function as for the frame, so that both agree. */
    picture_wish(p, &wish);
    layout_compute(c->rows, c->columns, &wish, &layout);
    (void)area;
    rates_draw(p, c, layout.pane[PANE_RATES]);
    map_draw(p, c, layout.pane[PANE_SMS]);
    if (layout.pane[PANE_GPU].rows > 1) {
        canvas_rule(c, layout.pane[PANE_GPU], "GPUs  (6 shows kernels)");
        gpulist_running(p, c, layout.pane[PANE_GPU],
                        gpulist_gpus(p, c, layout.pane[PANE_GPU], 1), PICTURE_RUNNING);
    }
    alert_draw(p, c, layout.pane[PANE_ALERT]);
    if (layout.pane[PANE_SITES].rows > 2)
        sitelist_pane(p, c, layout.pane[PANE_SITES], -1);
    if (layout.pane[PANE_LOG].rows > 1) {
        canvas_rule(c, layout.pane[PANE_LOG], "Log");
        loglist_pane(p, c, layout.pane[PANE_LOG], 0, 0);
    }
}

const view_class_t view_overview = {"Overview", draw, NULL};
