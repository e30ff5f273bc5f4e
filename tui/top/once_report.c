/* SPDX-License-Identifier: Apache-2.0 */
#include "once_report.h"

#include "activity_text.h"
#include "canvas.h"
#include "exittext.h"
#include "linesheet.h"
#include "loglist.h"
#include "object_text.h"
#include "paniclist.h"
#include "render.h"
#include "sitelist.h"
#include "textfold.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum {
    SITES = 8,
    LINES = 6,
    FUNCTIONS = 3,
    PANICS = 3,
    COLUMNS = 100, /* where nobody says how many, */
    ROWS = 40,
    NAME = 255,      /* a name that is cut here says nothing of it: none is so long */
    SITE_WIDTH = 44, /* and of them messages have so many */
    WIDTH = 60,
    NARROW = 16 /* messages have so many at least */
};

/* So many columns, and what a picture is wider than usual. */
static size_t width_of(const report_about_t *about, size_t usual)
{
    return about->columns > COLUMNS ? usual + (size_t)(about->columns - COLUMNS) : usual;
}

/* In a table a line is not folded for its message: where it is said how wide a picture is, that
 * has what is left. */
static size_t width_of_site(const report_about_t *about)
{
    int left = SITE_WIDTH + about->columns - COLUMNS - 1;

    if (about->columns == 0)
        return SITE_WIDTH;
    return left > NARROW ? (size_t)left : NARROW;
}

/* ---- plain --------------------------------------------------------------------------- */

static void put_plain(FILE *out, const char *text, size_t bytes, size_t width)
{
    char room[1024];
    gpurt_text_t escaped;

    gpurt_text_init(&escaped, room, width + 1 < sizeof room ? width + 1 : sizeof room);
    gpurt_render_plain(&escaped, text, bytes);
    fputs(escaped.at, out);
}

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash ? slash + 1 : file;
}

static void plain_end(FILE *out, const report_about_t *about)
{
    char text[48];

    if (!WIFSIGNALED(about->wait_status)) {
        fprintf(out, " with status %d", about->status);
        return;
    }
    gpurt_exit_text(about->wait_status, text, sizeof text);
    fprintf(out, ", %s", text);
}

static void plain_head(FILE *out, const gpurt_modelview_t *v, const report_about_t *about)
{
    const gpurt_model_numbers_t *n = &v->numbers;
    const gpurt_box_identity_t *id = &v->names.identity;
    char time[32], span[32], device[96];

    fprintf(out, "gpurt-top  %s  ", n->time_ns ? picture_time(n->time_ns, 0, time) : "-");
    put_plain(out, id->program[0] ? id->program : about->name,
              strlen(id->program[0] ? id->program : about->name), NAME);
    if (id->pid)
        fprintf(out, "[%" PRIu32 "]", id->pid);
    fprintf(out, "  %s", about->state);
    if (about->launched && about->ended)
        plain_end(out, about);
    for (int i = 0; i < GPURT_BOX_SECTIONS; i++) {
        const gpurt_model_section_t *s = &n->sections[i];

        if (s->kind != GPURT_SECTION_CUDA && s->kind != GPURT_SECTION_CPU)
            continue;
        fputs("  ", out);
        picture_device(s, device);
        put_plain(out, device, strlen(device), NAME);
    }
    fprintf(out,
            "\nrecords %" PRIu64 "  %" PRIu32 "/s  lost %" PRIu64 "  panics %" PRIu64
            "  sites %" PRIu32 "  over %s\n",
            n->messages, n->per_second, n->lost, n->panics, n->site_count,
            picture_span(n->last_ns - n->first_ns, span));
    fputs("levels", out);
    for (uint32_t level = GPURT_MODEL_LEVELS; level-- > 0;)
        if (n->levels[level])
            fprintf(out, "  %s %" PRIu64, gpurt_level_name(level), n->levels[level]);
    fputc('\n', out);
}

static void plain_sites(FILE *out, const picture_t *p, const report_about_t *about)
{
    uint16_t order[GPURT_MODEL_SITES + 1];
    uint32_t count = sitelist_collect(p, order);

    if (count == 0)
        return;
    fprintf(out, "\n%-6s %-24s %12s %10s  %s\n", "level", "site", "count", "per s",
            "last message");
    for (uint32_t i = 0; i < count && i < SITES; i++) {
        const gpurt_model_site_count_t *sum = &p->view->numbers.sites[order[i]];
        const gpurt_model_site_t *site = &p->view->names.sites[order[i]];
        char place[GPURT_MODEL_WHERE + 16];

        if (order[i] == GPURT_MODEL_SITES) {
            fprintf(out, "%-6s %-24s %12" PRIu64 " %10" PRIu32 "\n", "", "(all others)",
                    sum->messages, sum->per_second);
            continue;
        }
        snprintf(place, sizeof place, site->file[0] ? "%s:%u" : "-", base_name(site->file),
                 site->line);
        fprintf(out, "%-6s ", gpurt_level_name(site->level));
        put_plain(out, place, strlen(place), 24);
        fprintf(out, "%*s %12" PRIu64 " %10" PRIu32 "  ",
                (int)(strlen(place) < 24 ? 24 - strlen(place) : 0), "", sum->messages,
                sum->per_second);
        put_plain(out, site->last, strnlen(site->last, sizeof site->last),
                  width_of_site(about));
        fputc('\n', out);
    }
}

/* Nothing where there is one process. */
static void put_who(FILE *out, const picture_t *p, uint32_t pid)
{
    char text[16];

    if (p->view->names.programs > 1)
        fprintf(out, "%s ", picture_who(pid, text));
}

static void plain_panics(FILE *out, const picture_t *p, const report_about_t *about)
{
    panic_group_t groups[PANICS];
    uint32_t count = paniclist_groups(p, PANICS, groups);

    if (count)
        fputc('\n', out);
    for (uint32_t i = 0; i < count; i++) {
        const gpurt_model_panic_t *e = groups[i].last;

        fprintf(out, "PANIC %" PRIu32 "  ", groups[i].number);
        if (groups[i].count > 1)
            fprintf(out, "%" PRIu32 "x  ", groups[i].count);
        put_who(out, p, e->pid);
        if (groups[i].mixed)
            fputs("and others ", out);
        put_plain(out, base_name(e->file), strlen(base_name(e->file)), NAME);
        fprintf(out, ":%" PRIu32 "  sm %u block %u,%u,%u thread %u,%u,%u  ", e->line, e->sm,
                e->block.x, e->block.y, e->block.z, e->thread.x, e->thread.y, e->thread.z);
        put_plain(out, e->message, strnlen(e->message, sizeof e->message),
                  width_of(about, WIDTH));
        fputc('\n', out);
    }
}

static bool is_of_device(const picture_t *p, const gpurt_model_line_t *l)
{
    return l->section >= GPURT_MODEL_SECTIONS ||
           p->view->numbers.sections[l->section].kind != GPURT_SECTION_HOST;
}

static void plain_lines(FILE *out, const picture_t *p, const report_about_t *about)
{
    const gpurt_model_line_t *lines[LINES];
    uint32_t count = loglist_collect(p, &p->filter, 0, LINES, lines, NULL);
    char time[32];

    if (count)
        fputc('\n', out);
    for (uint32_t i = count; i-- > 0;) {
        const gpurt_model_line_t *l = lines[i];
        size_t bytes = l->text_bytes < sizeof l->text ? l->text_bytes : sizeof l->text;

        fprintf(out, "%s %-5s ", picture_time(l->time_ns, 6, time),
                gpurt_level_name(l->level));
        put_who(out, p, l->pid);
        if (is_of_device(p, l))
            fprintf(out, "sm%u ", l->sm);
        if (l->file[0]) {
            put_plain(out, l->file, strnlen(l->file, sizeof l->file), 24);
            fprintf(out, ":%" PRIu32 "  ", l->line);
        }
        put_plain(out, l->text, bytes, width_of(about, WIDTH));
        fputc('\n', out);
    }
}

/* What is printed, until it is folded. */
typedef struct plain_page {
    FILE *out, *memory; /* memory NULL: there is none, and lines stay as long as they are */
    char *text;
    size_t bytes;
} plain_page_t;

static FILE *page_begin(plain_page_t *page, FILE *out)
{
    *page = (plain_page_t){.out = out};
    page->memory = open_memstream(&page->text, &page->bytes);
    return page->memory ? page->memory : out;
}

static void page_end(plain_page_t *page, const report_about_t *about)
{
    if (page->memory && fclose(page->memory) == 0)
        textfold_put(page->out, page->text, page->bytes, (size_t)about->columns);
    free(page->text);
    fputc('\n', page->out);
    fflush(page->out);
}

/* Where kernels are: the first functions, and the first lines of each. */
static void plain_warps(FILE *out, const picture_t *p)
{
    linesheet_t sheet;

    if (p->view->warps.rows == 0)
        return;
    if (linesheet_make(p, &sheet)) {
        sheet.text.functions = FUNCTIONS;
        sheet.text.lines = LINES;
        fputc('\n', out);
        lines_text_plain(out, &sheet.text);
    }
    linesheet_fini(&sheet);
}

void report_plain(FILE *out, const gpurt_modelview_t *view, const report_about_t *about)
{
    picture_t p = {.view = view, .site_sort = SORT_COUNT};
    plain_page_t page;
    FILE *to = page_begin(&page, out);

    plain_head(to, view, about);
    plain_sites(to, &p, about);
    plain_panics(to, &p, about);
    plain_lines(to, &p, about);
    activity_plain(to, &view->activity, SITES);
    plain_warps(to, &p);
    objects_plain(to, &view->objects);
    page_end(&page, about);
}

void report_view(FILE *out, const picture_t *p, const report_about_t *about)
{
    canvas_t canvas = {.unicode = about->unicode};
    plain_page_t page;
    FILE *to = page_begin(&page, out);

    plain_head(to, p->view, about);
    if (canvas_resize(&canvas, about->rows ? about->rows : ROWS,
                      about->columns ? about->columns : COLUMNS)) {
        picture_view(p->shown)->draw(
            p, &canvas, (rect_t){.rows = canvas.rows, .columns = canvas.columns});
        canvas_print(&canvas, to);
    } else
        fputs("no memory for the view\n", to);
    canvas_fini(&canvas);
    page_end(&page, about);
}

/* ---- JSON ---------------------------------------------------------------------------- */

static void json_identity(gpurt_json_t *j, const gpurt_modelview_t *v,
                          const report_about_t *about)
{
    const gpurt_box_identity_t *id = &v->names.identity;
    const char *program = id->program[0] ? id->program : about->name;
    const gpurt_model_section_t *device = NULL;

    for (int i = 0; i < GPURT_BOX_SECTIONS && !device; i++)
        if (v->numbers.sections[i].kind == GPURT_SECTION_CUDA ||
            v->numbers.sections[i].kind == GPURT_SECTION_CPU)
            device = &v->numbers.sections[i];
    gpurt_json_number(j, "schema", 1);
    gpurt_json_text(j, "state", about->state);
    if (about->launched && about->ended)
        gpurt_json_signed(j, "status", about->status);
    gpurt_json_bytes(j, "program", program, strnlen(program, sizeof id->program));
    gpurt_json_number(j, "pid", id->pid);
    gpurt_json_field(j, "host", id->host);
    gpurt_json_text(j, "back_end",
                    !device                              ? ""
                    : device->kind == GPURT_SECTION_CUDA ? "cuda"
                                                         : "cpu");
    if (device)
        gpurt_json_field(j, "device", device->name);
    else
        gpurt_json_text(j, "device", "");
}

static void json_sums(gpurt_json_t *j, const gpurt_model_numbers_t *n)
{
    static const char *const reasons[GPURT_MODEL_REASONS] = {
        "other",  "full",    "overrun", "sites",   "torn",
        "shared", "limited", "panic",   "buffers", "slots"};

    gpurt_json_number(j, "time_ns", n->time_ns);
    gpurt_json_number(j, "first_ns", n->first_ns);
    gpurt_json_number(j, "last_ns", n->last_ns);
    gpurt_json_number(j, "records", n->messages);
    gpurt_json_number(j, "dropped", n->lost);
    gpurt_json_number(j, "panics", n->panics);
    gpurt_json_number(j, "sites", n->site_count);
    gpurt_json_number(j, "rows", n->rows);
    gpurt_json_number(j, "per_second", n->per_second);
    gpurt_json_number(j, "dropped_per_second", n->lost_per_second);
    gpurt_json_object(j, "levels");
    for (uint32_t i = 0; i < GPURT_LEVEL_LOST; i++)
        gpurt_json_number(j, gpurt_level_name(i), n->levels[i]);
    gpurt_json_object_end(j);
    gpurt_json_object(j, "losses");
    for (uint32_t i = 0; i < GPURT_MODEL_REASONS; i++)
        gpurt_json_number(j, reasons[i], n->losses[i]);
    gpurt_json_object_end(j);
}

static void json_sections(gpurt_json_t *j, const gpurt_model_numbers_t *n)
{
    static const char *const kinds[] = {"none", "cuda", "cpu", "host"};

    gpurt_json_array(j, "devices");
    for (int i = 0; i < GPURT_MODEL_SECTIONS; i++) {
        const gpurt_model_section_t *s = &n->sections[i];
        uint32_t active = 0;

        if (s->kind == 0 && s->messages == 0)
            continue;
        for (uint32_t sm = 0; sm < s->sm_shown && s->sm_first + sm < GPURT_MODEL_SMS; sm++)
            active += n->sms[s->sm_first + sm].per_second != 0;
        gpurt_json_object(j, NULL);
        gpurt_json_text(j, "kind", s->kind < 4 ? kinds[s->kind] : "?");
        gpurt_json_field(j, "name", s->name);
        gpurt_json_number(j, "device", s->device);
        gpurt_json_number(j, "sms", s->sm_count);
        gpurt_json_number(j, "active_sms", active);
        gpurt_json_number(j, "records", s->messages);
        gpurt_json_number(j, "per_second", s->per_second);
        gpurt_json_number(j, "dropped", s->lost);
        gpurt_json_number(j, "panics", s->panics);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

static void json_sites(gpurt_json_t *j, const gpurt_modelview_t *v)
{
    static const gpurt_model_site_t others = {.format = "(all others)"};
    picture_t p = {.view = v, .site_sort = SORT_COUNT};
    uint16_t order[GPURT_MODEL_SITES + 1];
    uint32_t count = sitelist_collect(&p, order);

    gpurt_json_array(j, "site_list");
    for (uint32_t i = 0; i < count; i++) {
        const gpurt_model_site_count_t *sum = &v->numbers.sites[order[i]];
        const bool other = order[i] == GPURT_MODEL_SITES;
        const gpurt_model_site_t *site = other ? &others : &v->names.sites[order[i]];

        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "records", sum->messages);
        gpurt_json_number(j, "per_second", sum->per_second);
        gpurt_json_text(j, "level", other ? "" : gpurt_level_name(site->level));
        gpurt_json_field(j, "file", site->file);
        gpurt_json_number(j, "line", site->line);
        gpurt_json_field(j, "format", site->format);
        gpurt_json_field(j, "last", site->last);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

static void json_panics(gpurt_json_t *j, const gpurt_modelview_t *v)
{
    uint64_t count =
        v->panics.count < GPURT_MODEL_PANICS ? v->panics.count : GPURT_MODEL_PANICS;

    gpurt_json_array(j, "panic_list");
    for (uint64_t i = 0; i < count; i++) {
        const gpurt_model_panic_t *e = &v->panics.list[i];

        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "ts_ns", e->time_ns);
        gpurt_json_field(j, "file", e->file);
        gpurt_json_number(j, "line", e->line);
        gpurt_json_field(j, "msg", e->message);
        gpurt_json_number(j, "pid", e->pid);
        gpurt_json_number(j, "section", e->section);
        gpurt_json_number(j, "sm", e->sm);
        gpurt_json_number(j, "slot", e->slot);
        gpurt_json_triple(j, "block", e->block.x, e->block.y, e->block.z);
        gpurt_json_triple(j, "thread", e->thread.x, e->thread.y, e->thread.z);
        gpurt_json_number(j, "warp", e->warp);
        gpurt_json_number(j, "lane", e->lane);
        gpurt_json_number(j, "mask", e->mask);
        gpurt_json_number(j, "failed", e->failed);
        gpurt_json_number(j, "clock", e->clock);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

static void json_warps(gpurt_json_t *j, const gpurt_modelview_t *v, const char *key,
                       bool recent)
{
    const picture_t p = {.view = v, .lines_recent = recent};
    linesheet_t sheet;

    if (linesheet_make(&p, &sheet))
        lines_text_json(j, key, &sheet.text);
    linesheet_fini(&sheet);
}

void report_json(FILE *out, const gpurt_modelview_t *view, const report_about_t *about)
{
    gpurt_json_t j;

    gpurt_json_file(&j, out);
    gpurt_json_object(&j, NULL);
    json_identity(&j, view, about);
    json_sums(&j, &view->numbers);
    json_sections(&j, &view->numbers);
    json_sites(&j, view);
    json_panics(&j, view);
    if (view->activity.rows)
        activity_json(&j, "activity", &view->activity);
    if (view->objects.rows)
        objects_json(&j, "objects", &view->objects);
    if (view->warps.rows) {
        json_warps(&j, view, "lines", false);
        json_warps(&j, view, "lines_recent", true);
        gpurt_json_number(&j, "lines_left_out", view->warps.left_out);
    }
    gpurt_json_object_end(&j);
    gpurt_json_newline(&j);
    fflush(out);
}
