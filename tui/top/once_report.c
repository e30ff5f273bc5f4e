/* SPDX-License-Identifier: Apache-2.0 */
#include "once_report.h"

#include "activity_text.h"
#include "canvas.h"
#include "exittext.h"
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

/* ,"name":"text" */
static void json_text(FILE *out, const char *name, const char *text, size_t room)
{
    char escaped[6 * 2 * GPURT_MODEL_SITE_TEXT + 1]; /* "\u0001" is the longest escape */
    gpurt_text_t to;

    gpurt_text_init(&to, escaped, sizeof escaped);
    gpurt_render_json(&to, text, strnlen(text, room));
    fprintf(out, ",\"%s\":\"%s\"", name, escaped);
}

static void json_number(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, ",\"%s\":%" PRIu64, name, value);
}

static void json_identity(FILE *out, const gpurt_modelview_t *v,
                          const report_about_t *about)
{
    const gpurt_box_identity_t *id = &v->names.identity;
    const gpurt_model_section_t *device = NULL;

    for (int i = 0; i < GPURT_BOX_SECTIONS && !device; i++)
        if (v->numbers.sections[i].kind == GPURT_SECTION_CUDA ||
            v->numbers.sections[i].kind == GPURT_SECTION_CPU)
            device = &v->numbers.sections[i];
    fprintf(out, "{\"schema\":1");
    json_text(out, "state", about->state, 16);
    if (about->launched && about->ended)
        fprintf(out, ",\"status\":%d", about->status);
    json_text(out, "program", id->program[0] ? id->program : about->name,
              sizeof id->program);
    json_number(out, "pid", id->pid);
    json_text(out, "host", id->host, sizeof id->host);
    json_text(out, "back_end",
              !device                              ? ""
              : device->kind == GPURT_SECTION_CUDA ? "cuda"
                                                   : "cpu",
              8);
    json_text(out, "device", device ? device->name : "", GPURT_BOX_NAME);
}

static void json_sums(FILE *out, const gpurt_model_numbers_t *n)
{
    static const char *const reasons[GPURT_MODEL_REASONS] = {
        "other",  "full",    "overrun", "sites",   "torn",
        "shared", "limited", "panic",   "buffers", "slots"};

    json_number(out, "time_ns", n->time_ns);
    json_number(out, "first_ns", n->first_ns);
    json_number(out, "last_ns", n->last_ns);
    json_number(out, "records", n->messages);
    json_number(out, "dropped", n->lost);
    json_number(out, "panics", n->panics);
    json_number(out, "sites", n->site_count);
    json_number(out, "rows", n->rows);
    json_number(out, "per_second", n->per_second);
    json_number(out, "dropped_per_second", n->lost_per_second);
    fputs(",\"levels\":{", out);
    for (uint32_t i = 0; i < GPURT_LEVEL_LOST; i++)
        fprintf(out, "%s\"%s\":%" PRIu64, i ? "," : "", gpurt_level_name(i), n->levels[i]);
    fputs("},\"losses\":{", out);
    for (uint32_t i = 0; i < GPURT_MODEL_REASONS; i++)
        fprintf(out, "%s\"%s\":%" PRIu64, i ? "," : "", reasons[i], n->losses[i]);
    fputs("}", out);
}

static void json_sections(FILE *out, const gpurt_model_numbers_t *n)
{
    static const char *const kinds[] = {"none", "cuda", "cpu", "host"};
    bool first = true;

    fputs(",\"devices\":[", out);
    for (int i = 0; i < GPURT_MODEL_SECTIONS; i++) {
        const gpurt_model_section_t *s = &n->sections[i];
        uint32_t active = 0;

        if (s->kind == 0 && s->messages == 0)
            continue;
        for (uint32_t sm = 0; sm < s->sm_shown && s->sm_first + sm < GPURT_MODEL_SMS; sm++)
            active += n->sms[s->sm_first + sm].per_second != 0;
        fprintf(out, "%s{\"kind\":\"%s\"", first ? "" : ",",
                s->kind < 4 ? kinds[s->kind] : "?");
        json_text(out, "name", s->name, sizeof s->name);
        json_number(out, "device", s->device);
        json_number(out, "sms", s->sm_count);
        json_number(out, "active_sms", active);
        json_number(out, "records", s->messages);
        json_number(out, "per_second", s->per_second);
        json_number(out, "dropped", s->lost);
        json_number(out, "panics", s->panics);
        fputs("}", out);
        first = false;
    }
    fputs("]", out);
}

static void json_sites(FILE *out, const gpurt_modelview_t *v)
{
    picture_t p = {.view = v, .site_sort = SORT_COUNT};
    uint16_t order[GPURT_MODEL_SITES + 1];
    uint32_t count = sitelist_collect(&p, order);

    fputs(",\"site_list\":[", out);
    for (uint32_t i = 0; i < count; i++) {
        const gpurt_model_site_count_t *sum = &v->numbers.sites[order[i]];
        const gpurt_model_site_t *site = &v->names.sites[order[i]];
        bool other = order[i] == GPURT_MODEL_SITES;

        fprintf(out, "%s{\"records\":%" PRIu64, i ? "," : "", sum->messages);
        json_number(out, "per_second", sum->per_second);
        json_text(out, "level", other ? "" : gpurt_level_name(site->level), 8);
        json_text(out, "file", other ? "" : site->file, sizeof site->file);
        json_number(out, "line", other ? 0 : site->line);
        json_text(out, "format", other ? "(all others)" : site->format,
                  sizeof site->format);
        json_text(out, "last", other ? "" : site->last, sizeof site->last);
        fputs("}", out);
    }
    fputs("]", out);
}

static void json_panics(FILE *out, const gpurt_modelview_t *v)
{
    uint64_t count =
        v->panics.count < GPURT_MODEL_PANICS ? v->panics.count : GPURT_MODEL_PANICS;

    fputs(",\"panic_list\":[", out);
    for (uint64_t i = 0; i < count; i++) {
        const gpurt_model_panic_t *e = &v->panics.list[i];

        fprintf(out, "%s{\"ts_ns\":%" PRIu64, i ? "," : "", e->time_ns);
        json_text(out, "file", e->file, sizeof e->file);
        json_number(out, "line", e->line);
        json_text(out, "msg", e->message, sizeof e->message);
        json_number(out, "pid", e->pid);
        json_number(out, "section", e->section);
        json_number(out, "sm", e->sm);
        json_number(out, "slot", e->slot);
        fprintf(out, ",\"block\":[%u,%u,%u],\"thread\":[%u,%u,%u]", e->block.x, e->block.y,
                e->block.z, e->thread.x, e->thread.y, e->thread.z);
        json_number(out, "warp", e->warp);
        json_number(out, "lane", e->lane);
        json_number(out, "mask", e->mask);
        json_number(out, "failed", e->failed);
        json_number(out, "clock", e->clock);
        fputs("}", out);
    }
    fputs("]", out);
}

void report_json(FILE *out, const gpurt_modelview_t *view, const report_about_t *about)
{
    json_identity(out, view, about);
    json_sums(out, &view->numbers);
    json_sections(out, &view->numbers);
    json_sites(out, view);
    json_panics(out, view);
    if (view->activity.rows) {
        fputs(",\"activity\":", out);
        activity_json(out, &view->activity);
    }
    if (view->objects.rows) {
        fputs(",\"objects\":", out);
        objects_json(out, &view->objects);
    }
    fputs("}\n", out);
    fflush(out);
}
