/* SPDX-License-Identifier: Apache-2.0 */
#include "linesheet.h"

#include "activity_text.h"
#include "plural.h"

#include <stdio.h>
#include <string.h>

#define SECOND_NS 1000000000ull
enum {
    ROWS_LEAST = 4, /* of functions, where there are so many */
    REASON = 40,
    TEXT = 96
};

/* ---- what is shown ------------------------------------------------------------------- */

bool linesheet_fits(const picture_t *p, const linesheet_t *s,
                    const gpurt_linesum_function_t *f)
{
    char room[LINES_NAME];

    return filter_name(&p->filter, s->text.name(s->text.names, f->function, room), NULL, 0);
}

static void selected_find(const picture_t *p, linesheet_t *s)
{
    for (uint32_t i = 0; i < s->sums.function_count; i++) {
        const gpurt_linesum_function_t *f = &s->sums.functions[i];

        if (!linesheet_fits(p, s, f))
            continue;
        if (!s->selected || f->function == p->lines_function) {
            s->selected = f;
            s->at = s->shown;
        }
        s->shown++;
    }
}

bool linesheet_make(const picture_t *p, linesheet_t *out)
{
    const gpurt_model_warps_t *w = &p->view->warps;
    const uint32_t count =
        w->count < GPURT_MODEL_LINE_CELLS ? w->count : GPURT_MODEL_LINE_CELLS;
    const uint32_t second = p->lines_recent ? (uint32_t)(w->last_ns / SECOND_NS) : 0;

    memset(out, 0, sizeof *out);
    if (gpurt_linesums_of(&out->sums, w->cells, count, second) != GPURT_OK)
        return false;
    out->sums.first_ns = w->first_ns;
    out->sums.last_ns = w->last_ns;
    out->text = (lines_text_t){.sums = &out->sums, .name = lines_text_view, .names = w};
    selected_find(p, out);
    return true;
}

void linesheet_fini(linesheet_t *s)
{
    gpurt_linesums_fini(&s->sums);
}

/* ---- words --------------------------------------------------------------------------- */

style_t linesheet_style(double percent)
{
    return percent >= 50   ? STYLE_ERROR
           : percent >= 10 ? STYLE_WARN
           : percent >= 1  ? STYLE_INFO
                           : STYLE_DIM;
}

int linesheet_name(const linesheet_t *s, canvas_t *c, rect_t area, int row, int column,
                   style_t style, uint32_t id)
{
    char room[LINES_NAME];
    const char *name = s->text.name(s->text.names, id, room);

    return canvas_text(c, area, row, column, style, name, strlen(name));
}

void linesheet_reason(const linesheet_t *s, const gpurt_linesum_reason_t *r, uint64_t whole,
                      char *text, size_t room)
{
    char name[LINES_NAME];

    snprintf(text, room, "%s %.0f%%", lines_text_words(&s->text, r->reason, name),
             linesheet_percent(r->samples, whole));
}

void linesheet_title(const picture_t *p, const linesheet_t *s, const char *rest,
                     canvas_t *c, rect_t area)
{
    const gpurt_model_warps_t *w = &p->view->warps;
    const unsigned long long all = s->sums.samples + w->left_out;
    char text[4 * TEXT], time[24];
    int used;

    if (p->lines_recent)
        used = snprintf(text, sizeof text, "Lines  %llu sample%s of the last %d s",
                        (unsigned long long)s->sums.samples,
                        gpurt_plural(s->sums.samples, "s"), GPURT_LINECELL_SECONDS);
    else
        used =
            snprintf(text, sizeof text, "Lines  %llu sample%s of warps in %s", all,
                     gpurt_plural(all, "s"), activity_time(w->last_ns - w->first_ns, time));
    snprintf(text + used, sizeof text - (size_t)used, "%s", rest);
    canvas_rule(c, area, text);
}

/* ---- the table ----------------------------------------------------------------------- */

/* "spin.cu:12"; "+0x100" where there is no line. */
static void hottest_put(const linesheet_t *s, canvas_t *c, rect_t area, int row, int column,
                        int width, const gpurt_linesum_line_t *l)
{
    char room[LINES_NAME];

    if (l->line) {
        const char *file = s->text.name(s->text.names, l->file, room);
        const char *slash = strrchr(file, '/');

        picture_place(c, area, row, column, width, slash ? slash + 1 : file, LINES_NAME,
                      l->line);
    } else
        canvas_printf(c, area, row, column, STYLE_DIM, "+0x%x", l->offset);
}

static void function_draw(const linesheet_t *s, canvas_t *c, rect_t area, int row,
                          const gpurt_linesum_function_t *f, bool selected)
{
    const double percent = linesheet_percent(f->samples, s->sums.samples);
    lines_reasons_t reasons;
    char text[TEXT];
    int column = 1, wide = area.columns >= 76;

    lines_text_reasons(&s->sums, f->first_line, f->line_count, &reasons);
    canvas_printf(c, area, row, column, linesheet_style(percent), "%5.1f%%", percent);
    column += 8;
    if (wide) {
        canvas_printf(c, area, row, column, STYLE_NORMAL, "%9llu",
                      (unsigned long long)f->samples);
        column += 11;
        linesheet_reason(s, &reasons.of[0], f->samples, text, sizeof text);
        if (reasons.count)
            canvas_printf(c, area, row, column, STYLE_NORMAL, "%.*s", REASON - 2, text);
        column += REASON;
    }
    if (area.columns >= 100) {
        hottest_put(s, c, area, row, column, 18, &s->sums.lines[f->first_line]);
        column += 20;
    }
    linesheet_name(s, c, area, row, column, STYLE_BOLD, f->function);
    if (selected)
        canvas_row_style(c, area, row, STYLE_SELECT);
}

static int functions_draw(const picture_t *p, const linesheet_t *s, canvas_t *c,
                          rect_t area, int row)
{
    const uint32_t room = area.rows > row ? (uint32_t)(area.rows - row) : 0;
    const uint32_t first = s->at >= room ? s->at - room + 1 : 0;
    uint32_t at = 0;

    for (uint32_t i = 0; i < s->sums.function_count; i++) {
        const gpurt_linesum_function_t *f = &s->sums.functions[i];

        if (!linesheet_fits(p, s, f))
            continue;
        if (at >= first && at - first < room)
            function_draw(s, c, area, row++, f, at == s->at);
        at++;
    }
    return row;
}

/* ---- the lines of the selected one --------------------------------------------------- */

static void line_draw(const linesheet_t *s, canvas_t *c, rect_t area, int row,
                      const gpurt_linesum_line_t *l)
{
    const double percent = linesheet_percent(l->samples, s->selected->samples);
    const gpurt_linesum_reason_t *r = &s->sums.reasons[l->first_reason];
    char room[LINES_NAME], text[TEXT];
    int column = 11, width = area.columns / 3;

    canvas_printf(c, area, row, 3, linesheet_style(percent), "%5.1f%%", percent);
    if (l->line)
        picture_place(c, area, row, column, width,
                      s->text.name(s->text.names, l->file, room), LINES_NAME, l->line);
    else
        canvas_printf(c, area, row, column, STYLE_DIM, "+0x%x", l->offset);
    column += width + 2;
    for (uint32_t i = 0; i < l->reason_count && i < 3 && r[i].samples; i++) {
        linesheet_reason(s, &r[i], l->samples, text, sizeof text);
        column =
            canvas_printf(c, area, row, column, STYLE_NORMAL, "%s%s", i ? ", " : "", text);
    }
}

bool linesheet_calls(const linesheet_t *s, canvas_t *c, rect_t area, int row, int column,
                     const gpurt_linesum_line_t *l, uint32_t index)
{
    char room[LINES_NAME];

    if (index >= l->calls_count || !lines_text_calls(&s->text, l, index, room))
        return false;
    column = canvas_printf(
        c, area, row, column, STYLE_DIM, "%3.0f%% ",
        linesheet_percent(s->sums.calls[l->first_calls + index].samples, l->samples));
    canvas_text(c, area, row, column, STYLE_DIM, room, strlen(room));
    return true;
}

static void lines_draw(const linesheet_t *s, canvas_t *c, rect_t area, int row)
{
    rect_t below = area;
    char text[LINES_NAME + 32], room[LINES_NAME];

    below.row += row;
    below.rows -= row;
    if (below.rows < 2 || !s->selected)
        return;
    snprintf(text, sizeof text, "%s",
             s->text.name(s->text.names, s->selected->function, room));
    canvas_rule(c, below, text);
    row = 1;
    for (uint32_t i = 0; i < s->selected->line_count && row < below.rows; i++) {
        const gpurt_linesum_line_t *l = &s->sums.lines[s->selected->first_line + i];

        line_draw(s, c, below, row++, l);
        row += row < below.rows && linesheet_calls(s, c, below, row, 11, l, 0);
    }
}

static void left_out_draw(const picture_t *p, canvas_t *c, rect_t area, int row)
{
    const gpurt_model_warps_t *w = &p->view->warps;

    if (w->left_out && !p->lines_recent)
        canvas_printf(c, area, row, 1, STYLE_WARN,
                      "%llu more sample%s no row: gpurt-log lines has them all",
                      (unsigned long long)w->left_out,
                      w->left_out == 1 ? " has" : "s have");
}

static void heads_draw(canvas_t *c, rect_t area)
{
    int column = 9;

    canvas_put(c, area, 1, 2, STYLE_DIM, "share");
    if (area.columns >= 76) {
        canvas_put(c, area, 1, 11, STYLE_DIM, "samples");
        canvas_put(c, area, 1, 20, STYLE_DIM, "mostly");
        column = 20 + REASON;
    }
    if (area.columns >= 100) {
        canvas_put(c, area, 1, column, STYLE_DIM, "most of it at");
        column += 20;
    }
    canvas_put(c, area, 1, column, STYLE_DIM, "function");
}

void linesheet_draw(const picture_t *p, const linesheet_t *s, canvas_t *c, rect_t area)
{
    rect_t table = area;
    int least = ROWS_LEAST < (int)s->shown ? ROWS_LEAST : (int)s->shown, row;
    bool full = p->view->warps.left_out && !p->lines_recent;

    if (area.rows / 2 > least)
        table.rows = area.rows / 2;
    linesheet_title(p, s,
                    p->lines_recent ? "  (s all, Enter source)"
                                    : "  (s the last seconds, Enter source)",
                    c, area);
    heads_draw(c, area);
    if (s->shown == 0)
        canvas_put(c, area, 3, 1, STYLE_DIM,
                   p->filter.text[0] ? "No function fits the filter (Esc clears it)."
                                     : "No sample came in the last seconds.");
    row = functions_draw(p, s, c, table, 2);
    if (full)
        left_out_draw(p, c, area, row++);
    lines_draw(s, c, area, row + 1);
}

/* ---- keys ---------------------------------------------------------------------------- */

/* The function that stands at a place among those that fit. */
static void select_at(picture_t *p, const linesheet_t *s, uint32_t wanted)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < s->sums.function_count; i++)
        if (linesheet_fits(p, s, &s->sums.functions[i]) && at++ == wanted)
            p->lines_function = s->sums.functions[i].function;
}

static bool step(picture_t *p, const linesheet_t *s, action_t action, int page)
{
    const int64_t last = (int64_t)s->shown - 1;
    int64_t at = s->at;

    at = action == ACTION_UP          ? at - 1
         : action == ACTION_DOWN      ? at + 1
         : action == ACTION_PAGE_UP   ? at - page
         : action == ACTION_PAGE_DOWN ? at + page
         : action == ACTION_FIRST     ? 0
         : action == ACTION_LAST      ? last
                                      : -1;
    if (action < ACTION_UP || action > ACTION_LAST)
        return false;
    if (last >= 0)
        select_at(p, s, (uint32_t)(at < 0 ? 0 : at > last ? last : at));
    return true;
}

bool linesheet_act(picture_t *p, const linesheet_t *s, action_t action, int page)
{
    switch (action) {
    case ACTION_SORT:
        p->lines_recent = !p->lines_recent;
        return true;
    case ACTION_OPEN:
    case ACTION_CODE:
        if (s->selected) {
            p->lines_function = s->selected->function;
            p->lines_open = action == ACTION_OPEN ? LINES_OF_SOURCE : LINES_OF_CODE;
            p->lines_file = p->lines_at = 0;
        }
        return true;
    default:
        return step(p, s, action, page);
    }
}
