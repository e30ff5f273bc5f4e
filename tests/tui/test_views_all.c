/* SPDX-License-Identifier: Apache-2.0 */
/* Every view at every kind of size, of a scene and of bytes that are no view at all:
 * nothing but printable characters reaches the canvas, and nothing is read or written
 * outside. */
#include "canvas_seen.h"
#include "check.h"
#include "collected.h"
#include "filter.h"
#include "once_report.h"
#include "picture.h"
#include "scene.h"

#include "model.h"

#include <locale.h>
#include <signal.h>
#include <string.h>

static canvas_t canvas;

static void check_cells(const char *what)
{
    for (int i = 0; i < canvas.rows * canvas.columns; i++) {
        uint32_t code = canvas.cells[i].code;

        CHECK_MSG(canvas.cells[i].style < STYLE_COUNT, "%s: style", what);
        CHECK_MSG(code == 0 || (code >= 0x20 && code < 0x7f) ||
                      (canvas.unicode && code >= 0xa0 && (code < 0x202a || code > 0x202e)),
                  "%s: code %x in cell %d", what, code, i);
    }
}

static void draw_all(picture_t *p, const char *what)
{
    static const int sizes[][2] = {{1, 1},     {2, 7},    {5, 20},   {5, 500},  {6, 40},
                                   {10, 40},   {24, 80},  {36, 120}, {60, 200}, {200, 20},
                                   {200, 500}, {13, 103}, {14, 104}, {9, 30}};

    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int v = 0; v < VIEW_COUNT; v++)
            for (int flags = 0; flags < 8; flags++) {
                canvas.unicode = flags & 1;
                p->shown = (view_id_t)v;
                p->replay = flags & 2;
                p->panic_open = flags & 4;
                p->panic = p->site = (uint32_t)flags * 9;
                p->log_back = (uint32_t)flags * 100;
                p->lines_open = (lines_open_t)(flags % 3);
                p->lines_recent = flags & 4;
                p->lines_at = (uint32_t)flags * 9;
                p->executor_row = (uint32_t)flags * 9;
                p->table =
                    (gpurows_t)(flags % (GPUROWS_TABLES + 1)); /* one too many, too */
                p->table_sort[p->table % GPUROWS_TABLES] = (uint32_t)flags;
                p->table_row[p->table % GPUROWS_TABLES] = (uint32_t)flags * 9;
                CHECK_MSG(canvas_resize(&canvas, sizes[s][0], sizes[s][1]), "memory");
                picture_draw(p, &canvas);
                check_cells(what);
            }
}

static const char *row_text(int row)
{
    return canvas_seen(&canvas, row);
}

static bool on_canvas(const char *text)
{
    return canvas_seen_row(&canvas, text) >= 0;
}

/* A canvas as text: characters of any length, one that is wide, and no blanks at the ends. */
static void check_printed(void)
{
    static const char text[] = "a \xc3\xbf\xe2\x96\xbf \xf0\x9f\x9a\xbf z";
    const rect_t area = {.rows = 4, .columns = 30};
    char *printed = NULL;
    size_t bytes;
    FILE *out = open_memstream(&printed, &bytes);

    canvas.unicode = true;
    CHECK(out && canvas_resize(&canvas, area.rows, area.columns));
    canvas_put(&canvas, area, 0, 0, STYLE_NORMAL, text);
    canvas_put(&canvas, area, 2, 3, STYLE_SELECT, "\xe4\xb8\xad;   ");
    canvas_print(&canvas, out);
    fclose(out);
    CHECK_STR(printed, "a \xc3\xbf\xe2\x96\xbf \xf0\x9f\x9a\xbf z\n\n   \xe4\xb8\xad;\n");
    free(printed);
}

static void check_contents(picture_t *p)
{
    canvas.unicode = true;
    CHECK_MSG(canvas_resize(&canvas, 36, 120), "memory");
    p->shown = VIEW_OVERVIEW;
    p->log_back = p->panic = p->site = 0;
    p->replay = p->panic_open = false;
    picture_draw(p, &canvas);
    CHECK_MSG(on_canvas("llm_serve[41231]") && on_canvas("GPU 0 H200"), "head: %s",
              row_text(0));
    CHECK_MSG(!on_canvas("PANIC COMING"), "none comes");
    p->coming = 1;
    picture_draw(p, &canvas);
    CHECK_MSG(on_canvas("PANIC COMING"), "one comes: %s", row_text(0));
    p->coming = 0;
    CHECK_MSG(on_canvas(" PANIC ") && on_canvas("decode.cu:88") && on_canvas("Log"),
              "overview");
    p->shown = VIEW_PANICS;
    picture_draw(p, &canvas);
    CHECK_MSG(on_canvas("bounds: idx=") && on_canvas("17: "), "panic report");
    filter_parse(&p->filter, "session", NULL);
    p->shown = VIEW_LOG;
    picture_draw(p, &canvas);
    CHECK_MSG(on_canvas("session name \\x1b[31mred\\x1b]0;title\\x07 \\x9b \\x80 end"),
              "escapes are shown, not sent: %s", row_text(3));
    CHECK_MSG(!on_canvas("token"), "the filter leaves others out");
    filter_parse(&p->filter, "lvl>=error !bounds", NULL);
    picture_draw(p, &canvas);
    CHECK_MSG(on_canvas("refill of class") && !on_canvas("token") && !on_canvas("bounds:"),
              "level and exclusion");
    memset(&p->filter, 0, sizeof p->filter);
}

static const char *head_at(const picture_t *p, int columns)
{
    CHECK_MSG(canvas_resize(&canvas, 24, columns), "memory");
    picture_draw(p, &canvas);
    return row_text(0);
}

static void collector_set(gpurt_model_activity_t *a, uint32_t index, uint32_t pid,
                          const char *state)
{
    gpurt_model_collector_t *c = &a->collectors[index];

    memset(c, 0, sizeof *c);
    c->pid = pid;
    c->rank = strcmp(state, "on") == 0 ? GPLOG_COLLECTOR_ON : GPLOG_COLLECTOR_NONE;
    snprintf(c->program, sizeof c->program, "rank");
    snprintf(c->state, sizeof c->state, "%s", state);
}

/* What the collector lacks stands in the head without its reason, of several with whose it is;
 * the view of the GPU has the first ones whole. */
static void check_collector(picture_t *p, gpurt_model_activity_t *a)
{
    const char *clash = "no records of kernels: another profiler holds CUPTI";

    a->rows = a->programs = a->collector_count = 1;
    a->collectors_troubled = 0;
    collector_set(a, 0, 101, "on");
    CHECK_MSG(!strstr(head_at(p, 140), " on "), "%s", row_text(0));
    a->collectors_troubled = 1;
    collector_set(a, 0, 101, clash);
    CHECK_CONTAINS(head_at(p, 120), "no records of kernels ");
    CHECK_MSG(!strstr(row_text(0), "another") && !strstr(row_text(0), "rank"), "%s",
              row_text(0));
    p->shown = VIEW_GPU;
    head_at(p, 120);
    CHECK(on_canvas(" no records of kernels: another profiler holds CUPTI "));
    CHECK(!on_canvas("more plainly on"));
    a->collector_count = 7;
    CHECK_CONTAINS(head_at(p, 140), "no records of kernels (rank[101])  ");
    a->collectors_troubled = 5;
    for (uint32_t i = 1; i < 5; i++)
        collector_set(a, i, 101 + i, i < 4 ? clash : "on; CUPTI refuses records");
    CHECK_CONTAINS(head_at(p, 140), "no records of kernels (rank[101]) and 4 more ");
    CHECK(on_canvas(" rank[101]: no records of kernels: another profiler holds CUPTI "));
    CHECK(on_canvas(" rank[103]: no records of kernels: another profiler holds CUPTI "));
    CHECK(on_canvas(" nor are 2 more plainly on "));
    CHECK(!on_canvas("rank[104]"));
    p->shown = VIEW_OVERVIEW;
    memset(a, 0, sizeof *a);
}

/* What is asked at a glance: does it live, what went wrong, how do I leave. */
static void check_glance(const picture_t *shown, const gpurt_modelview_t *v)
{
    static gpurt_modelview_t copy;
    picture_t p = *shown;

    copy = *v;
    p.view = &copy;
    p.shown = VIEW_OVERVIEW;
    p.launched = true;
    for (int columns = LAYOUT_MIN_COLUMNS; columns <= 140; columns++) {
        const char *head = head_at(&p, columns);

        CHECK_MSG(strstr(head, "LIVE"), "%d columns: %s", columns, head);
        CHECK_MSG(columns < 40 || strstr(head, " PANICS "), "%d columns: %s", columns,
                  head);
        CHECK_MSG(strstr(row_text(23), "Quit"), "%d columns: %s", columns, row_text(23));
        CHECK_MSG(strstr(row_text(1), "Overview"), "%d columns: %s", columns, row_text(1));
        p.asking = true;
        head_at(&p, columns);
        CHECK_MSG(strstr(row_text(23), "Enter end") && strstr(row_text(23), "d ") &&
                      strstr(row_text(23), " run") && strstr(row_text(23), "Esc"),
                  "%d columns: %s", columns, row_text(23));
        p.asking = false;
    }
    CHECK_MSG(on_canvas(" PANIC 4 ") && on_canvas(" 4x "), "panics of a site in one line");
    CHECK_MSG(!strstr(row_text(0), "quiet"), "%s", row_text(0));
    copy.numbers.time_ns = copy.numbers.last_ns + 2500000000u;
    CHECK_CONTAINS(head_at(&p, 120), "quiet for 2.5 s");
    check_collector(&p, &copy.activity);
    p.paused = true;
    CHECK_MSG(!strstr(head_at(&p, 120), "quiet") && strstr(row_text(0), "PAUSED"), "%s",
              row_text(0));
    p.paused = false;
    p.ended = true;
    p.status = 137;
    p.wait_status = 137 << 8; /* the program's own word */
    CHECK_CONTAINS(head_at(&p, 120), "ENDED 137 ");
    p.wait_status = SIGKILL;
    CHECK_CONTAINS(head_at(&p, 120), "killed by SIGKILL ");
    CHECK_CONTAINS(row_text(0), " records ");
    CHECK_MSG(!strstr(row_text(0), "/s"), "no rate of what has ended: %s", row_text(0));
    memset(&copy, 0, sizeof copy);
    p.waiting = true;
    head_at(&p, 80);
    CHECK_MSG(on_canvas("never opened gpurt"), "a program without gpurt");
    p.ended = false;
    head_at(&p, 80);
    CHECK_MSG(on_canvas("WAITING") && on_canvas("has not opened gpurt yet"), "waiting");
    for (const key_row_t *k = key_rows; k->action != ACTION_NONE; k++)
        CHECK_MSG(strlen(k->keys) < 12 && strlen(k->help) <= 40,
                  "the help has two columns: %s %s", k->keys, k->help);
}

/* A process with several devices open, or several processes: which one it is. */
static void check_which(const picture_t *shown, const gpurt_modelview_t *v)
{
    static gpurt_modelview_t copy;
    picture_t p = *shown;

    copy = *v;
    p.view = &copy;
    p.shown = VIEW_OVERVIEW;
    CHECK_MSG(!strstr(head_at(&p, 80), "GPU 0") && !strstr(row_text(0), "1/1"), "%s",
              row_text(0));
    p.processes = 3;
    p.process = 1;
    copy.numbers.sections[0].device = 5;
    CHECK_CONTAINS(head_at(&p, 80), "llm_serve[41231] 2/3 GPU 5 ");
    CHECK_CONTAINS(head_at(&p, 120), "llm_serve[41231] 2/3  ");
    CHECK_CONTAINS(row_text(0), "GPU 5 H200");
    copy.numbers.sections[0].kind = GPURT_SECTION_CPU;
    strcpy(copy.numbers.sections[0].name, "CPU, 4 workers");
    CHECK_CONTAINS(head_at(&p, 80), " 2/3 CPU 5 ");
    CHECK_CONTAINS(head_at(&p, 120), " CPU 5, 4 workers");
    copy.numbers.sections[0].device = 0;
    CHECK_CONTAINS(head_at(&p, 120), " CPU, 4 workers");
}

/* A panic overtakes what its warp said before it, a ring what another one said: report and
 * log tell them by time. */
static void check_before_it(const picture_t *shown, const gpurt_modelview_t *v)
{
    static const char *const texts[] = {"the first words", "the last words"};
    static gpurt_modelview_t copy;
    const gpurt_model_panic_t *e = &copy.panics.list[0];
    int rows[2] = {0, 0};
    picture_t p = *shown;

    copy = *v;
    for (int i = 0; i < GPURT_CLASSES; i++)
        copy.lines[i].first = copy.lines[i].end = 0;
    for (uint32_t i = 0; i < 2; i++) { /* the last words come first */
        gpurt_model_line_t *l = &copy.lines[0].list[i];

        *l = (gpurt_model_line_t){.number = i + 1, .time_ns = e->time_ns - 10 * (i + 1)};
        l->sm = (uint16_t)e->sm;
        l->slot = (uint8_t)e->slot;
        l->pid = e->pid;
        l->section = (uint8_t)e->section;
        l->text_bytes = (uint16_t)strlen(texts[1 - i]);
        memcpy(l->text, texts[1 - i], l->text_bytes);
    }
    copy.lines[0].end = 2;
    p.view = &copy;
    for (int view = 0; view < 2; view++) {
        p.shown = view ? VIEW_LOG : VIEW_PANICS;
        CHECK_MSG(canvas_resize(&canvas, 60, 120), "memory");
        picture_draw(&p, &canvas);
        memset(rows, 0, sizeof rows);
        for (int row = 0; row < canvas.rows; row++)
            for (int i = 0; i < 2; i++)
                if (strstr(row_text(row), texts[i]))
                    rows[i] = row;
        CHECK_MSG(0 < rows[0] && rows[0] < rows[1], "rows %d and %d", rows[0], rows[1]);
    }
}

static bool is_drawn(const picture_t *p, const char *text)
{
    CHECK_MSG(canvas_resize(&canvas, 60, 120), "memory");
    picture_draw(p, &canvas);
    for (int row = 0; row < canvas.rows; row++)
        if (strstr(row_text(row), text))
            return true;
    return false;
}

/* Looked back at, a site's last message is the last one until then, where it is known. */
static void check_past_site(const picture_t *shown, const gpurt_modelview_t *v)
{
    static const char *const texts[] = {"said first", "said second"};
    static gpurt_modelview_t copy;
    gpurt_model_site_t *site = &copy.names.sites[0];
    picture_t p = *shown;

    copy = *v;
    copy.numbers.sites[0].messages = 1;
    snprintf(site->file, sizeof site->file, "folder/kernel.c");
    snprintf(site->last, sizeof site->last, "said now");
    for (int i = 0; i < GPURT_CLASSES; i++)
        copy.lines[i].first = copy.lines[i].end = 0;
    for (uint32_t i = 0; i < 2; i++) {
        gpurt_model_line_t *l = &copy.lines[0].list[i];

        *l = (gpurt_model_line_t){.number = i + 1, .time_ns = 1000 * (i + 1)};
        l->line = site->line;
        l->level = (uint8_t)site->level;
        l->text_bytes = (uint16_t)strlen(texts[i]);
        memcpy(l->text, texts[i], l->text_bytes);
        snprintf(l->file, sizeof l->file, "kernel.c");
    }
    copy.lines[0].end = 2;
    p.view = &copy;
    p.shown = VIEW_SITES;
    CHECK(is_drawn(&p, "said now"));
    p.until_ns = 2500;
    CHECK(is_drawn(&p, "said second") && !is_drawn(&p, "said now"));
    p.until_ns = 1500;
    CHECK(is_drawn(&p, "said first") && !is_drawn(&p, "said second"));
    p.until_ns = 500;
    CHECK(!is_drawn(&p, "said first") && !is_drawn(&p, "said now"));
    p.until_ns = 2500; /* of another site */
    copy.lines[0].list[0].line = copy.lines[0].list[1].line = site->line + 1;
    CHECK(!is_drawn(&p, "said"));
}

/* The end of what is typed is in sight, however long and wide it is. */
static void check_typed(const picture_t *shown)
{
    picture_t p = *shown;
    bool unicode = canvas.unicode;
    char text[LINEEDIT_ROOM];

    p.typing = true;
    lineedit_begin(&p.edit, "short");
    CHECK(is_drawn(&p, "filter: short   Enter keeps it"));
    lineedit_begin(&p.edit, "lvl>=foo");
    CHECK(!filter_parse(&p.filter, p.edit.text, &p.wrong));
    CHECK(is_drawn(&p, "filter: lvl>=foo   no level is called 'foo'; there are event"));
    memset(&p.wrong, 0, sizeof p.wrong);
    memset(text, 'x', sizeof text);
    snprintf(text + sizeof text - 5, 5, "!end");
    lineedit_begin(&p.edit, text);
    CHECK(canvas_resize(&canvas, 24, 40));
    picture_draw(&p, &canvas);
    CHECK_MSG(strstr(row_text(23), "filter: xx") && strstr(row_text(23), "xx!end "), "%s",
              row_text(23));
    for (size_t i = 0; i < 90; i++)
        text[i] = "\u6838"[i % 3];
    lineedit_begin(&p.edit, text);
    canvas.unicode = true; /* each has two columns */
    picture_draw(&p, &canvas);
    CHECK_MSG(strstr(row_text(23), "x!end "), "%s", row_text(23));
    lineedit_key(&p.edit, KEY_HOME_CODE); /* its beginning is in sight, then its middle */
    lineedit_key(&p.edit, 'a');
    CHECK(p.edit.full);
    lineedit_key(&p.edit, KEY_DELETE_CODE);
    lineedit_key(&p.edit, 'a');
    picture_draw(&p, &canvas);
    CHECK_MSG(strstr(row_text(23), "filter: a") && !strstr(row_text(23), "end"), "%s",
              row_text(23));
    canvas.unicode = unicode;
}

/* Whose a line and a panic is: where they are of several processes. */
static void check_whose(const picture_t *shown, const gpurt_modelview_t *v)
{
    static gpurt_modelview_t copy;
    picture_t p = *shown;

    copy = *v;
    copy.panics.list[1].pid = 0;
    p.view = &copy;
    p.shown = VIEW_LOG;
    CHECK(!is_drawn(&p, "pid"));
    p.shown = VIEW_PANICS;
    CHECK(!is_drawn(&p, "pid"));
    copy.names.programs = 2;
    CHECK(is_drawn(&p, "  process    pid41231") && is_drawn(&p, " pid41231 sm"));
    CHECK(is_drawn(&p, " pid? sm"));
    p.shown = VIEW_LOG;
    CHECK(is_drawn(&p, " pid41231   sm"));
    filter_parse(&p.filter, "pid=41231", NULL);
    CHECK(is_drawn(&p, "pid41231") && !is_drawn(&p, "no line fits"));
    memset(&p.filter, 0, sizeof p.filter);
    p.filter.level = GPURT_LEVEL_LOST + 1; /* none has it: the level is why */
    CHECK(is_drawn(&p, "no line is of that level") && !is_drawn(&p, "no line fits"));
    p.filter.level = 0;
    filter_parse(&p.filter, "pid=106767", NULL); /* the same in 16 bits */
    CHECK(is_drawn(&p, "no line that is kept fits"));
    /* What a warp slot said before: of the other process nothing. */
    memset(&p.filter, 0, sizeof p.filter);
    p.shown = VIEW_PANICS;
    CHECK(is_drawn(&p, "what this warp slot logged"));
    copy.panics.list[0].pid = 41232;
    CHECK(!is_drawn(&p, "what this warp slot logged"));
}

/* Lines that are no longer kept are told of where they were, and who has them. */
static void check_gone(const picture_t *shown, const gpurt_modelview_t *v)
{
    static gpurt_modelview_t copy;
    picture_t p = *shown;

    copy = *v;
    p.view = &copy;
    p.shown = VIEW_LOG;
    p.launched = true; /* the newest are all there: */
    CHECK(!is_drawn(&p, "no longer kept"));
    p.log_back = 1100;
    CHECK(
        is_drawn(&p, "older lines up to INFO are no longer kept; --record FILE keeps all"));
    filter_parse(&p.filter, "zzzz", NULL);
    p.log = "x.gplog";
    CHECK(is_drawn(&p, "older lines up to INFO are no longer kept; gpurt-log cat x.gplog"));
    filter_parse(&p.filter, "lvl>=error zzzz", NULL);
    CHECK(!is_drawn(&p, "up to INFO"));
    memset(&p.filter, 0, sizeof p.filter);
    copy.panics.list[0].slot = 61; /* said nothing that is kept */
    p.shown = VIEW_PANICS;
    CHECK(is_drawn(&p, "before it  no longer kept; gpurt-panic show x.gplog has it"));
    p.shown = VIEW_LOG;
    p.filter.level = GPURT_LEVEL_LOST; /* none of the kept lines has it */
    for (int i = 0; i < GPURT_CLASSES; i++)
        copy.lines[i].first = 5;
    CHECK(is_drawn(&p, "no line is kept of this moment and level"));
    p.filter.level = 0;
    p.shown = VIEW_PANICS;
    for (int i = 0; i < GPURT_CLASSES; i++)
        copy.lines[i].first = 0;
    CHECK(is_drawn(&p, "before it  this warp slot logged nothing"));
}

/* Panics are marked on the bar of a replay, later ones, too. */
static void check_marks(const picture_t *shown, const gpurt_modelview_t *v)
{
    static gpurt_modelview_t copy;
    picture_t p = *shown;

    copy = *v;
    copy.panics.count = 2;
    copy.numbers.range_first_ns = 1000;
    copy.numbers.range_last_ns = 11000;
    copy.numbers.time_ns = 6000;
    copy.panics.list[0].time_ns = 3500;
    copy.panics.list[1].time_ns = 8500;
    p.view = &copy;
    p.replay = true;
    canvas.unicode = false;
    head_at(&p, 80);
    CHECK_MSG(strstr(row_text(22), "=!==========o") && strstr(row_text(22), "---!---"),
              "%s", row_text(22));
}

/* However far a report is scrolled, its last line stays in sight; back is as far as forth. */
static void check_panic_scroll(const picture_t *shown, const gpurt_modelview_t *v)
{
    const view_class_t *view = picture_view(VIEW_PANICS);
    static gpurt_modelview_t copy;
    picture_t p = *shown;

    copy = *v;
    copy.panics.list[0].slot = 61; /* said nothing, so "before it" is its last line */
    p.view = &copy;
    p.shown = VIEW_PANICS;
    p.panic_open = true;
    CHECK_MSG(canvas_resize(&canvas, 24, 100), "memory");
    picture_draw(&p, &canvas);
    CHECK(on_canvas("message"));
    for (int i = 0; i < 40; i++)
        CHECK(view->act(&p, ACTION_PAGE_DOWN, 19));
    picture_draw(&p, &canvas);
    CHECK(!on_canvas("message") && on_canvas("before it"));
    for (int i = 0; i < 4; i++)
        CHECK(view->act(&p, ACTION_PAGE_UP, 19));
    CHECK_EQ(p.panic_scroll, 0);
    p.panic_scroll = 60; /* of a longer one */
    picture_draw(&p, &canvas);
    CHECK(on_canvas("before it"));
}

/* All of the help can be reached, on a small screen, too. */
static void check_help(const picture_t *shown)
{
    picture_t p = *shown;

    p.shown = VIEW_HELP;
    CHECK_MSG(canvas_resize(&canvas, 10, 80), "memory");
    picture_draw(&p, &canvas);
    CHECK(on_canvas("1           overview") && !on_canvas("or hang."));
    for (int i = 0; i < 99; i++)
        CHECK(picture_view(VIEW_HELP)->act(&p, ACTION_DOWN, 10));
    picture_draw(&p, &canvas);
    CHECK(on_canvas("or hang.") && !on_canvas("TABLES   view 6"));
    CHECK(picture_view(VIEW_HELP)->act(&p, ACTION_PAGE_UP, 10));
    picture_draw(&p, &canvas);
    CHECK(on_canvas("TABLES   view 6") && !on_canvas("or hang."));
}

/* Marks that turn lines around, or that fonts fill as they like, are not for log texts. */
static void check_deceit(void)
{
    rect_t all = {0, 0, 1, 40};

    canvas.unicode = true;
    CHECK_MSG(canvas_resize(&canvas, 1, 40), "memory");
    canvas_put(&canvas, all, 0, 0, STYLE_NORMAL,
               "a\u202eb\u2066c\ufeffd\ue000e\U000e0041f\u200bg \u4e16\u754c");
    for (int i = 0; i < 14; i++)
        CHECK_MSG(canvas.cells[i].code < 0x80, "code %x", canvas.cells[i].code);
    CHECK_MSG(canvas.cells[14].code == 0x4e16 && canvas.cells[15].code == 0,
              "a wide character");
}

static void check_report(const gpurt_modelview_t *v)
{
    report_about_t about = {.name = "x", .state = "replay"};
    char *text = NULL, *again = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    report_plain(out, v, &about);
    report_json(out, v, &about);
    fclose(out);
    CHECK_MSG(v->numbers.sections[0].kind != GPURT_SECTION_CUDA || !v->numbers.first_ns ||
                  strncmp(v->numbers.sections[0].name, "H200", 5) != 0 ||
                  strstr(text, "  GPU 0 H200\n"),
              "the device: %.120s", text);
    for (size_t i = 0; i < bytes; i++)
        CHECK_MSG(text[i] == '\n' || ((uint8_t)text[i] >= 0x20 && text[i] != 0x7f),
                  "control character %d in a report: %.30s", text[i],
                  text + (i > 20 ? i - 20 : 0));
    out = open_memstream(&again, &bytes);
    report_plain(out, v, &about);
    report_json(out, v, &about);
    fclose(out);
    CHECK_MSG(strcmp(text, again) == 0, "the same view, the same text");
    free(text);
    free(again);
}

/* A message is as long as the width that is said allows. */
static void check_report_width(const gpurt_modelview_t *shown)
{
    static gpurt_modelview_t wide;
    report_about_t about = {.name = "x", .state = "replay"};
    char *text = NULL;
    size_t widths[2], bytes;

    wide = *shown;
    wide.panics.count = 1;
    memset(wide.panics.list[0].message, 'm', sizeof wide.panics.list[0].message - 1);
    for (int i = 0; i < 2; i++) {
        FILE *out = open_memstream(&text, &bytes);

        about.columns = i ? 130 : 0;
        report_plain(out, &wide, &about);
        fclose(out);
        widths[i] = strspn(strstr(text, "mmm"), "m");
        free(text);
    }
    CHECK_EQ(widths[1], widths[0] + 30);
}

/* Shared memory may hold anything; readers end the texts, the rest is the views' business. */
static void noise_fill(gpurt_modelview_t *v, uint32_t seed)
{
    uint32_t x = seed;

    for (size_t i = 0; i < sizeof *v; i++)
        ((uint8_t *)v)[i] = (uint8_t)((x = x * 1664525u + 1013904223u) >> 24);
    for (int i = 0; i < GPURT_MODEL_SITES; i++)
        v->names.sites[i].file[GPURT_MODEL_WHERE - 1] =
            v->names.sites[i].format[GPURT_MODEL_SITE_TEXT - 1] =
                v->names.sites[i].last[GPURT_MODEL_SITE_TEXT - 1] = '\0';
    for (int i = 0; i < GPURT_MODEL_PANICS; i++) {
        gpurt_model_panic_t *e = &v->panics.list[i];

        e->file[sizeof e->file - 1] = e->format[sizeof e->format - 1] = '\0';
        e->message[sizeof e->message - 1] = '\0';
    }
    for (int i = 0; i < GPURT_MODEL_SECTIONS; i++)
        v->numbers.sections[i].name[GPURT_BOX_NAME - 1] = '\0';
    gpurt_objects_end(&v->objects);
    v->names.identity.host[GPURT_BOX_NAME - 1] = '\0';
    v->names.identity.program[GPURT_BOX_NAME - 1] = '\0';
}

static void check_noise(picture_t *p, gpurt_modelview_t *v)
{
    for (uint32_t seed = 1; seed <= 3; seed++) {
        noise_fill(v, seed);
        draw_all(p, "noise");
        check_report(v);
    }
}

int main(void)
{
    gpurt_modelview_t *v = calloc(1, sizeof *v);
    picture_t p = {.view = v, .name = "x", .hertz = 10, .speed = 1};
    static scene_row_t row;
    gpurt_dictionary_t d = {0};
    gplog_file_t about;
    output_t output = {0};
    gpurt_model_t *m;
    gpurt_error_t err;
    scene_t scene;

    setlocale(LC_ALL, "C.UTF-8");
    check_printed();
    draw_all(&p, "empty");
    scene_about(&about);
    scene_begin(&scene, &d, 3, 200000);
    CHECK_MSG(gpurt_model_create(&d, &about, &m, &err) == GPURT_OK, "%s", err.text);
    for (int i = 0; i < 40000; i++) {
        scene_next(&scene, &row);
        gpurt_model_put(m, &row.row);
    }
    gpurt_model_view(m, gpurt_model_last_ns(m), GPURT_MODEL_LIVE, v);
    p.output = &output;
    draw_all(&p, "scene");
    check_contents(&p);
    check_glance(&p, v);
    check_which(&p, v);
    check_before_it(&p, v);
    check_past_site(&p, v);
    check_typed(&p);
    check_whose(&p, v);
    check_gone(&p, v);
    check_marks(&p, v);
    check_panic_scroll(&p, v);
    check_help(&p);
    check_deceit();
    check_report(v);
    check_report_width(v);
    check_noise(&p, v);
    canvas_fini(&canvas);
    gpurt_model_destroy(m);
    gpurt_dictionary_fini(&d);
    free(v);
    return 0;
}
