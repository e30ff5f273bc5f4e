/* SPDX-License-Identifier: Apache-2.0 */
#include "linepage.h"

#include "plural.h"
#include "sourcetext.h"
#include "warpstate.h"

#include <stdio.h>
#include <string.h>

enum {
    FOOT = 4,       /* rows for what is known of the selected line, */
    FOOT_FROM = 14, /* where the page has so many; */
    CALLS = 3,      /* and for the calls that it stands in, */
    CALLS_FROM = 20,
    WIDTH = 36,     /* of a reason */
    CODE_TEXT = 50, /* of an instruction */
    TEXT = 96,
    STEP = 8 /* columns that Left and Right scroll */
};

/* Lines of one file, and which of them is selected. */
typedef struct page {
    const linesheet_t *sheet;
    const sourcetext_t *source; /* NULL: there is none to show */
    uint32_t file;              /* id; 0: no line is known */
    uint32_t file_at, files;    /* which of the function's */
    uint32_t line;              /* the one that is selected */
} page_t;

/* ---- which file, which line ---------------------------------------------------------- */

static const gpurt_linesum_line_t *lines_of(const linesheet_t *s)
{
    return &s->sums.lines[s->selected->first_line];
}

/* Whether no line before it, which has more samples, is of that file. */
static bool is_first_of_file(const linesheet_t *s, uint32_t index)
{
    const gpurt_linesum_line_t *l = lines_of(s);

    for (uint32_t i = 0; i < index; i++)
        if (l[i].line && l[i].file == l[index].file)
            return false;
    return l[index].line != 0;
}

/* The line with most samples of a file, or of all; NULL: there is none. */
static const gpurt_linesum_line_t *hottest_of(const linesheet_t *s, uint32_t file)
{
    const gpurt_linesum_line_t *l = lines_of(s);

    for (uint32_t i = 0; i < s->selected->line_count; i++)
        if (l[i].line && (!file || l[i].file == file))
            return &l[i];
    return NULL;
}

static const gpurt_linesum_line_t *line_at(const page_t *g, uint32_t line)
{
    const gpurt_linesum_line_t *l = lines_of(g->sheet);

    for (uint32_t i = 0; i < g->sheet->selected->line_count; i++)
        if (l[i].file == g->file && l[i].line == line && line)
            return &l[i];
    return NULL;
}

/* Functions that a compiler put into this one have lines of other files. */
static void page_find(const picture_t *p, const linesheet_t *s, page_t *out)
{
    const gpurt_linesum_line_t *hottest = hottest_of(s, p->lines_file);

    memset(out, 0, sizeof *out);
    out->sheet = s;
    hottest = hottest ? hottest : hottest_of(s, 0);
    if (!hottest)
        return;
    out->file = hottest->file;
    for (uint32_t i = 0; i < s->selected->line_count; i++)
        if (is_first_of_file(s, i)) {
            if (lines_of(s)[i].file == out->file)
                out->file_at = out->files;
            out->files++;
        }
    out->line = p->lines_at ? p->lines_at : hottest->line;
}

/* ---- the source ---------------------------------------------------------------------- */

static int gutter_width(rect_t area)
{
    return area.columns >= 90 ? 8 + WIDTH : 8;
}

static void gutter_draw(const page_t *g, canvas_t *c, rect_t area, int row,
                        const gpurt_linesum_line_t *l)
{
    const double percent = linesheet_percent(l->samples, g->sheet->selected->samples);
    char text[TEXT];

    canvas_printf(c, area, row, 0, linesheet_style(percent), "%6.1f%%", percent);
    if (gutter_width(area) == 8 || l->reason_count == 0)
        return;
    linesheet_reason(g->sheet, &g->sheet->sums.reasons[l->first_reason], l->samples, text,
                     sizeof text);
    canvas_printf(c, area, row, 8, linesheet_style(percent), "%.*s", WIDTH - 1, text);
}

static void source_line_draw(const picture_t *p, const page_t *g, canvas_t *c, rect_t area,
                             int row, uint32_t number)
{
    const gpurt_linesum_line_t *l = line_at(g, number);
    char room[SOURCETEXT_COLUMNS];
    size_t bytes = sourcetext_line(g->source, number, room);
    int column = gutter_width(area);

    if (l)
        gutter_draw(g, c, area, row, l);
    column = canvas_printf(c, area, row, column, STYLE_DIM, "%6u ", number);
    if (bytes > p->lines_column)
        canvas_text(c, area, row, column, l ? STYLE_NORMAL : STYLE_DIM,
                    room + p->lines_column, bytes - p->lines_column);
    if (number == g->line)
        canvas_row_style(c, area, row, STYLE_SELECT);
}

static void source_draw(const picture_t *p, const page_t *g, canvas_t *c, rect_t area)
{
    const uint32_t rows = area.rows > 0 ? (uint32_t)area.rows : 0;
    uint32_t first = g->line > rows / 2 ? g->line - rows / 2 : 1;

    if (first + rows > g->source->count + 1)
        first = g->source->count + 1 > rows ? g->source->count + 1 - rows : 1;
    for (uint32_t i = 0; i < rows && first + i <= g->source->count; i++)
        source_line_draw(p, g, c, area, (int)i, first + i);
}

/* Without the file: its lines that have samples, by their share. */
static void shares_draw(const page_t *g, canvas_t *c, rect_t area)
{
    const gpurt_linesum_line_t *l = lines_of(g->sheet);
    char name[LINES_NAME];
    int row = 0, column = gutter_width(area);

    for (uint32_t i = 0; i < g->sheet->selected->line_count && row < area.rows; i++) {
        if (!l[i].line || l[i].file != g->file)
            continue;
        gutter_draw(g, c, area, row, &l[i]);
        picture_place(c, area, row, column, area.columns - column,
                      g->sheet->text.name(g->sheet->text.names, l[i].file, name),
                      LINES_NAME, l[i].line);
        if (l[i].line == g->line)
            canvas_row_style(c, area, row, STYLE_SELECT);
        row++;
    }
}

/* ---- what is known of the selected line ---------------------------------------------- */

/* Broken between words. */
static void folded_put(canvas_t *c, rect_t area, int row, style_t style, const char *text)
{
    const size_t width = area.columns > 2 ? (size_t)area.columns - 2 : 1;

    while (*text && row < area.rows) {
        size_t bytes = strlen(text), cut = bytes;

        if (bytes > width)
            for (cut = width; cut > 0 && text[cut] != ' '; cut--)
                ;
        cut = cut ? cut : width;
        canvas_text(c, area, row++, 1, style, text, cut);
        text += cut;
        text += *text == ' ';
    }
}

/* Rows for the calls that the selected line stands in. */
static int calls_rows(const page_t *g, rect_t area)
{
    const gpurt_linesum_line_t *l = line_at(g, g->line);
    char room[LINES_NAME];

    if (area.rows < CALLS_FROM || !l || l->calls_count == 0 ||
        !lines_text_calls(&g->sheet->text, l, 0, room))
        return 0;
    return l->calls_count > CALLS ? CALLS + 1 : (int)l->calls_count;
}

static void calls_draw(const page_t *g, canvas_t *c, rect_t area, int rows,
                       const gpurt_linesum_line_t *l)
{
    for (int i = 0; i < rows && i < CALLS; i++)
        linesheet_calls(g->sheet, c, area, 1 + i, 1, l, (uint32_t)i);
    if (rows > CALLS)
        canvas_printf(c, area, rows, 6, STYLE_DIM, "and %u more", l->calls_count - CALLS);
}

/* calls: rows of them. */
static void foot_draw(const page_t *g, canvas_t *c, rect_t area, int calls)
{
    const gpurt_linesum_line_t *l = line_at(g, g->line);
    const gpurt_linesum_reason_t *r;
    char text[4 * TEXT], name[LINES_NAME];
    const warpstate_t *state;
    int column;

    if (!l) {
        canvas_printf(c, area, 0, 1, STYLE_DIM, "line %u: no warp was met there", g->line);
        return;
    }
    r = &g->sheet->sums.reasons[l->first_reason];
    column = canvas_printf(
        c, area, 0, 1, STYLE_BOLD,
        "line %u: %llu sample%s, %.0f%% in cycles without an issue:  ", l->line,
        (unsigned long long)l->samples, gpurt_plural(l->samples, "s"),
        linesheet_percent(l->idle, l->samples));
    for (uint32_t i = 0; i < l->reason_count && r[i].samples; i++) {
        linesheet_reason(g->sheet, &r[i], l->samples, text, sizeof text);
        column =
            canvas_printf(c, area, 0, column, STYLE_NORMAL, "%s%s", i ? ", " : "", text);
    }
    calls_draw(g, c, area, calls, l);
    if (l->reason_count == 0)
        return;
    state = warpstate_find(g->sheet->text.name(g->sheet->text.names, r->reason, name));
    if (!state)
        return;
    snprintf(text, sizeof text, "%s: %s", state->words, state->hint);
    folded_put(c, area, 1 + calls, STYLE_DIM, text);
}

/* ---- the page ------------------------------------------------------------------------ */

static void title(const picture_t *p, const page_t *g, const char *what, canvas_t *c,
                  rect_t area)
{
    const gpurt_linesum_function_t *f = g->sheet->selected;
    char name[LINES_NAME], file[LINES_NAME], text[3 * LINES_NAME], which[32] = "";

    g->sheet->text.name(g->sheet->text.names, f->function, name);
    file[0] = '\0';
    if (g->file && p->lines_open == LINES_OF_SOURCE)
        g->sheet->text.name(g->sheet->text.names, g->file, file);
    if (g->files > 1 && p->lines_open == LINES_OF_SOURCE)
        snprintf(which, sizeof which, ", file %u of %u (t)", g->file_at + 1, g->files);
    snprintf(text, sizeof text, "%.80s  %.1f%%%s%s%s  %s", name,
             linesheet_percent(f->samples, g->sheet->sums.samples), file[0] ? "  " : "",
             file, which, what);
    canvas_rule(c, area, text);
}

/* One line above the source: what to know of the file. Returns: the row behind it. */
static int note_draw(const picture_t *p, const page_t *g, canvas_t *c, rect_t area)
{
    if (!g->source)
        return 1;
    if (g->source->why[0]) {
        canvas_printf(c, area, 1, 1, STYLE_WARN,
                      "The source cannot be read here: %s. Its lines by their samples:",
                      g->source->why);
        return 2;
    }
    if (g->source->changed_ns > p->view->warps.first_ns) {
        canvas_put(
            c, area, 1, 1, STYLE_WARN,
            "The file was changed after the first sample: its lines may have moved.");
        return 2;
    }
    return 1;
}

static void source_page(const picture_t *p, page_t *g, canvas_t *c, rect_t area)
{
    rect_t body = area, foot = area;
    char path[LINES_NAME];
    const int calls = calls_rows(g, area);
    int row;

    if (p->source) {
        sourcetext_read(p->source,
                        g->sheet->text.name(g->sheet->text.names, g->file, path));
        g->source = p->source;
    }
    title(p, g, "(d code, Esc back)", c, area);
    row = note_draw(p, g, c, area);
    body.row += row;
    body.rows -= row + (area.rows >= FOOT_FROM ? FOOT + calls : 0);
    if (g->source && !g->source->why[0])
        source_draw(p, g, c, body);
    else
        shares_draw(g, c, body);
    if (area.rows < FOOT_FROM)
        return;
    foot.row += area.rows - FOOT - calls + 1;
    foot.rows = FOOT + calls - 1;
    foot_draw(g, c, foot, calls);
}

/* ---- instructions -------------------------------------------------------------------- */

/* Of the GPUs that are known; 0: they are several. */
static uint32_t arch_of(const picture_t *p)
{
    uint32_t arch = 0;

    for (uint32_t i = 0; i < GPURT_MODEL_DEVICES; i++) {
        const uint32_t one = p->view->activity.gpus[i].arch;

        if (arch && one && one != arch)
            return 0;
        arch = one ? one : arch;
    }
    return arch;
}

/* Among those of p->sass; SASSTEXT_NONE, SASSTEXT_SEVERAL. */
static uint32_t sass_function(const picture_t *p, const page_t *g)
{
    char name[LINES_NAME];

    if (!p->sass)
        return SASSTEXT_NONE;
    return sasstext_function(
        p->sass,
        g->sheet->text.name(g->sheet->text.names, g->sheet->selected->function, name),
        arch_of(p));
}

/* Returns: the column behind it. */
static int sass_draw(const picture_t *p, canvas_t *c, rect_t area, int row, int column,
                     uint32_t function, uint32_t offset)
{
    const char *text =
        function < SASSTEXT_SEVERAL ? sasstext_at(p->sass, function, offset) : NULL;

    if (!p->sass)
        return column;
    if (text)
        canvas_text(c, area, row, column, STYLE_NORMAL, text, strnlen(text, CODE_TEXT - 2));
    return column + CODE_TEXT;
}

static void code_draw(const picture_t *p, const page_t *g, canvas_t *c, rect_t area,
                      int row, uint32_t function, const gpurt_linesum_code_t *code)
{
    const double percent = linesheet_percent(code->samples, g->sheet->selected->samples);
    const gpurt_linesum_reason_t reason = {code->reason, code->reason_samples, 0};
    char text[TEXT], name[LINES_NAME], calls[LINES_NAME];
    int column = gutter_width(area);

    canvas_printf(c, area, row, 0, linesheet_style(percent), "%6.1f%%", percent);
    if (column > 8) {
        linesheet_reason(g->sheet, &reason, code->samples, text, sizeof text);
        canvas_printf(c, area, row, 8, linesheet_style(percent), "%.*s", WIDTH - 1, text);
    }
    column = canvas_printf(c, area, row, column, STYLE_NORMAL, "/*%04x*/  ", code->offset);
    column = sass_draw(p, c, area, row, column, function, code->offset);
    if (code->line)
        column = picture_place(c, area, row, column, area.columns - column,
                               g->sheet->text.name(g->sheet->text.names, code->file, name),
                               LINES_NAME, code->line);
    if (lines_text_inlined(&g->sheet->text, code->calls, calls))
        canvas_text(c, area, row, column + 2, STYLE_DIM, calls, strlen(calls));
}

/* Where their text is, or why it is not. */
static void code_head_draw(const picture_t *p, canvas_t *c, rect_t area, int row,
                           uint32_t function)
{
    const char *text = p->sass_why
                           ? p->sass_why
                           : "Instructions that warps were met at. Their text: gpurt-top "
                             "--code PROGRAM, with cuobjdump";

    if (p->sass)
        text = function == SASSTEXT_NONE
                   ? "Its text is not in the file of --code, for this GPU."
               : function == SASSTEXT_SEVERAL
                   ? "--code has it in several versions: which was this?"
                   : "Instructions that warps were met at.";
    canvas_put(c, area, row, 1,
               p->sass_why || (p->sass && function >= SASSTEXT_SEVERAL) ? STYLE_WARN
                                                                        : STYLE_DIM,
               text);
}

/* Instructions are known by where they lie alone: who has the program can have their text. */
static void code_page(const picture_t *p, const page_t *g, canvas_t *c, rect_t area)
{
    const gpurt_linesum_function_t *f = g->sheet->selected;
    const uint32_t rows = area.rows > 4 ? (uint32_t)area.rows - 4 : 0;
    const uint32_t at = p->lines_at < f->code_count ? p->lines_at
                        : f->code_count             ? f->code_count - 1
                                                    : 0;
    const uint32_t function = sass_function(p, g);
    uint32_t first = at >= rows ? at - rows + 1 : 0;
    int row = 1;

    title(p, g, g->file ? "(d source, Esc back)" : "(Esc back)", c, area);
    if (!g->file)
        canvas_put(
            c, area, row++, 1, STYLE_WARN,
            "This code has no source lines: nvcc -lineinfo adds them, and changes no "
            "instruction.");
    code_head_draw(p, c, area, row++, function);
    for (uint32_t i = first; i < f->code_count && row < area.rows && i - first < rows;
         i++) {
        code_draw(p, g, c, area, row, function, &g->sheet->sums.code[f->first_code + i]);
        if (i == at)
            canvas_row_style(c, area, row, STYLE_SELECT);
        row++;
    }
}

void linepage_draw(const picture_t *p, const linesheet_t *s, canvas_t *c, rect_t area)
{
    page_t g;

    page_find(p, s, &g);
    if (p->lines_open == LINES_OF_CODE || g.file == 0)
        code_page(p, &g, c, area);
    else
        source_page(p, &g, c, area);
}

/* ---- keys ---------------------------------------------------------------------------- */

static void file_step(picture_t *p, const page_t *g, uint32_t step)
{
    uint32_t wanted = g->files ? (g->file_at + step) % g->files : 0, at = 0;

    for (uint32_t i = 0; i < g->sheet->selected->line_count; i++)
        if (is_first_of_file(g->sheet, i) && at++ == wanted)
            p->lines_file = lines_of(g->sheet)[i].file;
    p->lines_at = 0;
}

/* Where the source is not there: the line with samples that stands so many below. */
static uint32_t share_beside(const page_t *g, int64_t step)
{
    const gpurt_linesum_line_t *l = lines_of(g->sheet);
    int64_t at = 0, count = 0, found = 0;
    uint32_t line = g->line;

    for (uint32_t i = 0; i < g->sheet->selected->line_count; i++) {
        if (!l[i].line || l[i].file != g->file)
            continue;
        at = l[i].line == g->line ? count : at;
        count++;
    }
    at = at + step < 0 ? 0 : at + step >= count ? count - 1 : at + step;
    for (uint32_t i = 0; i < g->sheet->selected->line_count; i++)
        if (l[i].line && l[i].file == g->file && found++ == at)
            line = l[i].line;
    return line;
}

static int64_t step_of(action_t action, int page)
{
    switch (action) {
    case ACTION_UP:
        return -1;
    case ACTION_DOWN:
        return 1;
    case ACTION_PAGE_UP:
        return -page;
    case ACTION_PAGE_DOWN:
        return page;
    case ACTION_FIRST:
        return -(int64_t)UINT32_MAX;
    case ACTION_LAST:
        return UINT32_MAX;
    default:
        return 0;
    }
}

static bool step(picture_t *p, const page_t *g, int64_t by)
{
    const bool code = p->lines_open == LINES_OF_CODE || g->file == 0;
    const bool whole = !code && p->source && !p->source->why[0] && p->source->count;
    int64_t least = code ? 0 : 1, most, at;

    if (by == 0)
        return false;
    if (!code && !whole) {
        p->lines_at = share_beside(g, by);
        return true;
    }
    most = code ? (int64_t)g->sheet->selected->code_count - 1 : p->source->count;
    at = (code ? p->lines_at : g->line) + by;
    p->lines_at = (uint32_t)(at > most ? most : at < least ? least : at);
    return true;
}

static bool back(picture_t *p)
{
    p->lines_open = LINES_OF_ALL;
    p->lines_file = p->lines_at = p->lines_column = 0;
    return true;
}

bool linepage_act(picture_t *p, const linesheet_t *s, action_t action, int page)
{
    page_t g;

    page_find(p, s, &g);
    switch (action) {
    case ACTION_BACK:
        return back(p);
    case ACTION_CODE:
        p->lines_open =
            p->lines_open == LINES_OF_CODE && g.file ? LINES_OF_SOURCE : LINES_OF_CODE;
        p->lines_at = 0;
        return true;
    case ACTION_TABLE:
    case ACTION_TABLE_BEFORE:
        file_step(p, &g, action == ACTION_TABLE ? 1 : g.files ? g.files - 1 : 0);
        return true;
    case ACTION_SORT:
        p->lines_recent = !p->lines_recent;
        return true;
    case ACTION_LEFT:
        p->lines_column = p->lines_column > STEP ? p->lines_column - STEP : 0;
        return true;
    case ACTION_RIGHT:
        p->lines_column += p->lines_column < SOURCETEXT_COLUMNS ? STEP : 0;
        return true;
    default:
        return step(p, &g, step_of(action, page));
    }
}
