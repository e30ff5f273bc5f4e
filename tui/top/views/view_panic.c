/* SPDX-License-Identifier: Apache-2.0 */
/* Panics: a list, and everything about the selected one. */
#include "filelist.h"
#include "loglist.h"
#include "render.h"

#include <stdio.h>
#include <string.h>

enum {
    LIST_ROWS = 8,
    NEAR = 8,
    OUT_OF_SIGHT = -10000 /* more rows than a report has */
};

/* Looked back at, the sum may be of some moments before. */
static uint64_t raised(const picture_t *p)
{
    uint32_t kept = picture_panics(p);

    return p->view->numbers.panics > kept ? p->view->numbers.panics : kept;
}

static void list_row(const picture_t *p, canvas_t *c, rect_t area, int row, uint32_t index)
{
    const gpurt_model_panic_t *e = &p->view->panics.list[index];
    const char *slash = strrchr(e->file, '/');
    char time[32];
    int at = canvas_printf(c, area, row, 1, STYLE_BOLD, "%3u ", index + 1);

    at = canvas_put(c, area, row, at, STYLE_DIM, picture_time(e->time_ns, 6, time)) + 1;
    if (p->view->names.programs > 1)
        at = canvas_put(c, area, row, at, STYLE_DIM, picture_who(e->pid, time)) + 1;
    if (area.columns >= 70)
        at = canvas_printf(c, area, row, at, STYLE_DIM, "sm%u w%u b%u,%u,%u  ", e->sm,
                           e->warp, e->block.x, e->block.y, e->block.z);
    at = canvas_printf(c, area, row, at, STYLE_INFO, "%s:%u  ", slash ? slash + 1 : e->file,
                       e->line);
    canvas_text(c, area, row, at, STYLE_ERROR, e->message,
                strnlen(e->message, sizeof e->message));
}

/* ---- report -------------------------------------------------------------------------- */

/* Rows of the report are counted whether they are in sight or not. */
typedef struct page {
    canvas_t *canvas;
    rect_t area;
    int row;
} page_t;

static int field(page_t *g, const char *name)
{
    if (g->row >= 1)
        canvas_put(g->canvas, g->area, g->row, 2, STYLE_DIM, name);
    return 13;
}

static void line(page_t *g, const char *name, const char *text)
{
    int at = field(g, name);

    if (g->row >= 1)
        canvas_put(g->canvas, g->area, g->row, at, STYLE_NORMAL, text);
    g->row++;
}

/* A value as its type says, in both bases where that helps. */
static void value_text(uint32_t type, uint64_t value, char *to, size_t room)
{
    uint32_t low = (uint32_t)value;
    float f;
    double d;

    memcpy(&f, &low, sizeof f);
    memcpy(&d, &value, sizeof d);
    switch (type) {
    case GPURT_TYPE_I32:
        snprintf(to, room, "%d", (int32_t)low);
        break;
    case GPURT_TYPE_I64:
        snprintf(to, room, "%lld", (long long)value);
        break;
    case GPURT_TYPE_F32:
        snprintf(to, room, "%g", (double)f);
        break;
    case GPURT_TYPE_F64:
        snprintf(to, room, "%g", d);
        break;
    case GPURT_TYPE_PTR:
        snprintf(to, room, "0x%llx", (unsigned long long)value);
        break;
    case GPURT_TYPE_STRING:
        snprintf(to, room, "(text: see message)");
        break;
    default:
        snprintf(to, room, "%llu (0x%llx)", (unsigned long long)value,
                 (unsigned long long)value);
    }
}

static void place_lines(page_t *g, const picture_t *p, const gpurt_model_panic_t *e)
{
    const gpurt_model_section_t *s =
        &p->view->numbers
             .sections[e->section < GPURT_MODEL_SECTIONS ? e->section : GPURT_BOX_SECTIONS];
    char text[256], time[32], device[96];

    if (p->view->names.programs > 1) {
        line(g, "process", picture_who(e->pid, text));
    }
    snprintf(text, sizeof text, "%s:%u", e->file, e->line);
    line(g, "site", text);
    snprintf(text, sizeof text, "%s   clock %llu", picture_time(e->time_ns, 9, time),
             (unsigned long long)e->clock);
    line(g, "time", text);
    snprintf(text, sizeof text, "%s, SM %u, warp slot %u", picture_device(s, device), e->sm,
             e->slot);
    line(g, "device", text);
    if (e->failed) {
        snprintf(text, sizeof text, "block %u,%u,%u  thread %u,%u,%u  warp %u  lane %u",
                 e->block.x, e->block.y, e->block.z, e->thread.x, e->thread.y, e->thread.z,
                 e->warp, e->lane);
        line(g, "thread", text);
        snprintf(text, sizeof text, "0x%08x ran together, 0x%08x failed (%d)", e->mask,
                 e->failed, __builtin_popcount(e->failed));
    } else { /* a fault of which the warp is known, but not the lane */
        snprintf(text, sizeof text, "block %u,%u,%u  warp %u, its threads from %u,%u,%u on",
                 e->block.x, e->block.y, e->block.z, e->warp, e->thread.x, e->thread.y,
                 e->thread.z);
        line(g, "thread", text);
        snprintf(text, sizeof text, "0x%08x ran together", e->mask);
    }
    line(g, "lanes", text);
}

static void value_lines(page_t *g, const gpurt_model_panic_t *e)
{
    uint32_t type = gpurt_type_at(e->types, 0), count = e->arg_count;
    char text[256], value[64];
    size_t used = 0;

    for (uint32_t i = 0; i < count && i < GPURT_PANIC_ARGS; i++) {
        char name[24];

        value_text(gpurt_type_at(e->types, i), e->args[i], value, sizeof value);
        snprintf(name, sizeof name, "operand %u", i + 1);
        line(g, name, value);
    }
    if (count == 0 || (e->failed & (e->failed - 1)) == 0)
        return; /* one lane: its value is the first operand */
    for (uint32_t m = e->failed, shown = 0; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);

        value_text(type, e->lanes[lane], value, sizeof value);
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%2u: %-20.20s", lane, value);
        if (++shown % 3 == 0 || (m & (m - 1)) == 0) {
            line(g, shown <= 3 ? "by lane" : "", text);
            used = 0;
        }
    }
}

/* What the same warp slot said before, newest first, as far as lines are kept. */
static uint32_t near_kept(const picture_t *p, const gpurt_model_panic_t *e,
                          const gpurt_model_line_t *lines[64])
{
    picture_t past = *p;
    filter_t filter = {.level = 0};
    uint32_t count, near = 0;
    char text[64];
    int used = snprintf(text, sizeof text, "sm=%u slot=%u", e->sm, e->slot);

    if (e->pid)
        snprintf(text + used, sizeof text - (size_t)used, " pid=%u", e->pid);
    filter_parse(&filter, text, NULL);
    past.until_ns = e->time_ns;
    count = loglist_collect(&past, &filter, 0, 64, lines, NULL);
    for (uint32_t i = 0; i < count; i++) /* devices have the same numbers */
        if (lines[i]->section == e->section && near < NEAR)
            lines[near++] = lines[i];
    return near;
}

/* The same of a file, which has all of them. */
static uint32_t near_filed(const logwindow_lines_t *file,
                           const gpurt_model_line_t *lines[64])
{
    uint32_t near = 0;

    for (uint32_t i = file->count; i > 0 && near < NEAR; i--)
        lines[near++] = &file->lines[i - 1];
    return near;
}

static void near_lines(page_t *g, const picture_t *p, const gpurt_model_panic_t *e)
{
    const logwindow_lines_t *file = p->file ? filelist_near(p, e) : NULL;
    const gpurt_model_line_t *lines[64];
    uint32_t near = file ? near_filed(file, lines) : near_kept(p, e, lines);
    bool gone = !p->file && loglist_gone(p, 0) > 0;
    char text[400] = "this warp slot logged nothing";

    if (near)
        snprintf(text, sizeof text, "what this warp slot logged%s",
                 gone ? ", as far as it is kept" : "");
    else if (p->file && !file)
        snprintf(text, sizeof text, "(reading the log)");
    else if (gone)
        snprintf(text, sizeof text, "no longer kept; %s%s%s",
                 p->log ? "gpurt-panic show " : "gpurt-panic show of a log (--record FILE)",
                 p->log ? p->log : "", " has it");
    g->row++;
    line(g, "before it", text);
    for (uint32_t i = near; i > 0; i--, g->row++)
        if (g->row >= 1)
            loglist_draw(p, g->canvas, g->area, g->row, lines[i - 1], 0);
}

static void report_lines(page_t *g, const picture_t *p, const gpurt_model_panic_t *e)
{
    if (g->row >= 1)
        canvas_text(g->canvas, g->area, g->row, field(g, "message"), STYLE_ERROR,
                    e->message, strnlen(e->message, sizeof e->message));
    g->row++;
    if (e->format[0])
        line(g, "format", e->format);
    place_lines(g, p, e);
    value_lines(g, e);
    near_lines(g, p, e);
}

/* Out of sight, where nothing is drawn. */
static int report_rows(const picture_t *p, uint32_t index)
{
    page_t page = {.row = OUT_OF_SIGHT};

    report_lines(&page, p, &p->view->panics.list[index]);
    return page.row - OUT_OF_SIGHT;
}

/* The last line stays in sight, also of a report that became shorter. */
static int scroll_bound(const picture_t *p, uint32_t index, int rows)
{
    int last = report_rows(p, index) - 1;

    return rows < 0 ? 0 : rows > last ? last : rows;
}

static void report_draw(const picture_t *p, canvas_t *c, rect_t area, uint32_t index)
{
    page_t page = {c, area, 1 - scroll_bound(p, index, (int)p->panic_scroll)};
    char title[64];

    report_lines(&page, p, &p->view->panics.list[index]);
    snprintf(title, sizeof title, "Panic %u of %llu", index + 1,
             (unsigned long long)raised(p));
    canvas_rule(c, area, title);
}

/* ---- the view ------------------------------------------------------------------------ */

/* Of those that there are: at least one. */
static uint32_t selected(const picture_t *p)
{
    uint32_t count = picture_panics(p);

    return p->panic < count ? p->panic : count - 1;
}

static void draw(const picture_t *p, canvas_t *c, rect_t area)
{
    uint32_t count = picture_panics(p), chosen, rows, first = 0;
    rect_t list = area, report = area;
    char title[96];

    if (count == 0) {
        canvas_rule(c, area, "Panics");
        canvas_put(c, area, 1, 2, STYLE_GOOD, "no panics");
        return;
    }
    chosen = selected(p);
    rows = count < LIST_ROWS ? count : LIST_ROWS;
    if ((int)rows > area.rows / 3)
        rows = area.rows >= 6 ? (uint32_t)area.rows / 3 : 1;
    if (p->panic_open || area.rows < 5) {
        report_draw(p, c, area, chosen);
        return;
    }
    list.rows = (int)rows + 1;
    report.row += list.rows;
    report.rows -= list.rows;
    snprintf(title, sizeof title, "Panics  %llu raised, %u kept",
             (unsigned long long)raised(p), count);
    canvas_rule(c, list, title);
    if (chosen >= rows)
        first = chosen - rows + 1;
    for (uint32_t i = 0; i < rows; i++) {
        list_row(p, c, list, 1 + (int)i, first + i);
        if (first + i == chosen)
            canvas_row_style(c, list, 1 + (int)i, STYLE_SELECT);
    }
    report_draw(p, c, report, chosen);
}

static bool act(picture_t *p, action_t action, int page)
{
    int count = (int)picture_panics(p), at = (int)p->panic;

    switch (action) {
    case ACTION_OPEN:
        p->panic_open = !p->panic_open;
        p->panic_scroll = 0;
        return true;
    case ACTION_BACK:
        if (!p->panic_open)
            return false;
        p->panic_open = false;
        p->panic_scroll = 0;
        return true;
    case ACTION_PAGE_DOWN:
    case ACTION_PAGE_UP:
        page = action == ACTION_PAGE_UP ? -page / 2 : page / 2;
        if (count > 0)
            p->panic_scroll = (uint32_t)scroll_bound(
                p, selected(p), scroll_bound(p, selected(p), (int)p->panic_scroll) + page);
        return true;
    case ACTION_UP:
    case ACTION_DOWN:
    case ACTION_FIRST:
    case ACTION_LAST:
        at += action == ACTION_UP      ? -1
              : action == ACTION_DOWN  ? 1
              : action == ACTION_FIRST ? -count
                                       : count;
        at = at > count - 1 ? count - 1 : at;
        p->panic = at < 0 ? 0 : (uint32_t)at;
        p->panic_scroll = 0;
        return true;
    default:
        return false;
    }
}

const view_class_t view_panics = {"Panics", draw, act};
