/* SPDX-License-Identifier: Apache-2.0 */
/* What lines of a view, rows of a log, sites and names say of themselves. A field that costs work
 * is made only for who asks. */
#include "filter_record.h"

#include "fileabout.h"
#include "filter_run.h"
#include "panic_category.h"
#include "panic_read.h"
#include "program.h"
#include "recordline.h"

#include <string.h>

enum {
    CUT = 4 /* a text may end so many bytes before its room does, for a whole character */
};

/* What a log line of device code does not know. */
#define UNTOLD (FILTER_BIT(FILTER_KERNEL) | FILTER_BIT(FILTER_FUNCTION))

void filter_record_number(filter_record_t *r, uint32_t field, uint64_t value)
{
    r->there |= FILTER_BIT(field);
    r->numbers[field] = value;
}

void filter_record_text(filter_record_t *r, uint32_t field, const char *at, size_t bytes)
{
    r->there |= FILTER_BIT(field);
    r->texts[field] = (filter_text_t){at, bytes};
}

static void set_place(filter_record_t *r, const char *file, size_t bytes, uint32_t line)
{
    if (bytes == 0)
        return;
    filter_record_text(r, FILTER_FILE, file, bytes);
    filter_record_number(r, FILTER_LINE, line);
    r->there |= FILTER_BIT(FILTER_SITE);
}

static void set_kind(filter_record_t *r, uint32_t kind)
{
    uint32_t number = filter_field_number(FILTER_KIND, gpurt_kind_word(kind));

    if (number != UINT32_MAX)
        filter_record_number(r, FILTER_KIND, number);
}

/* kind: of its section, GPURT_SECTION_*. */
static void set_device(filter_record_t *r, uint32_t kind, uint32_t device)
{
    filter_record_number(r, FILTER_DEVICE, device);
    if (kind == GPURT_SECTION_CUDA)
        filter_record_number(r, FILTER_GPU, device);
    else if (kind == GPURT_SECTION_CPU)
        filter_record_number(r, FILTER_CPU, device);
    else
        r->unsure |= FILTER_BIT(FILTER_GPU) | FILTER_BIT(FILTER_CPU);
}

static void set_back_end(filter_record_t *r, uint32_t kind)
{
    if (kind == GPURT_SECTION_NONE)
        r->unsure |= FILTER_BIT(FILTER_BACK_END);
    else
        filter_record_number(r, FILTER_BACK_END,
                             filter_field_number(FILTER_BACK_END, gplog_back_end(kind)));
}

/* Of device code. */
static void set_warp(filter_record_t *r, uint32_t sm, uint32_t slot, uint32_t block,
                     uint32_t warp, uint32_t lanes)
{
    filter_record_number(r, FILTER_SM, sm);
    filter_record_number(r, FILTER_SLOT, slot);
    filter_record_number(r, FILTER_BLOCK, block);
    filter_record_number(r, FILTER_WARP, warp);
    filter_record_number(r, FILTER_LANE, lanes);
    filter_record_number(r, FILTER_THREAD, (uint64_t)warp * GPURT_WARP_SIZE);
    r->of_lanes = true;
    r->unsure |= UNTOLD;
}

static void set_pid(filter_record_t *r, uint32_t pid)
{
    if (pid)
        filter_record_number(r, FILTER_PID, pid);
    else
        r->unsure |= FILTER_BIT(FILTER_PID);
}

/* ---- a row --------------------------------------------------------------------------- */

typedef struct reading {
    const filter_t *f;
    const gpurt_dictionary_t *d;
    const gplog_file_t *about;
    const gpurt_row_t *row;
    filter_record_t r;
    recordline_t line;
} reading_t;

static bool asks(const filter_t *f, uint32_t fields)
{
    return (f->fields & fields) != 0;
}

/* A name in text, made nice as it is printed. */
static void set_name(reading_t *g, uint32_t field, uint32_t id)
{
    const char *nice = gpurt_render_nicely(g->d, id);
    gpurt_site_info_t info;

    if (nice)
        filter_record_text(&g->r, field, nice, strlen(nice));
    else if (gpurt_dictionary_get(g->d, id, &info) && info.kind == GPURT_DEF_STRING)
        filter_record_text(&g->r, field, info.format, info.format_bytes);
    else
        return;
    g->r.unsure &= ~FILTER_BIT(field);
}

static void set_function(reading_t *g, const gpurt_panicrow_t *p)
{
    gpurt_site_info_t text;
    const char *name;
    uint32_t bytes;
    bool kernel;

    if (p->kernel)
        set_name(g, FILTER_KERNEL, p->kernel);
    if (!p->function || !gpurt_dictionary_get(g->d, p->function, &text) ||
        text.kind != GPURT_DEF_STRING)
        return;
    name = panic_function(&text, &bytes, &kernel);
    filter_record_text(&g->r, FILTER_FUNCTION, name, bytes);
    g->r.unsure &= ~FILTER_BIT(FILTER_FUNCTION);
    if (!kernel || p->kernel)
        return;
    filter_record_text(&g->r, FILTER_KERNEL, name, bytes);
    g->r.unsure &= ~FILTER_BIT(FILTER_KERNEL);
}

static void read_panic(reading_t *g, uint64_t types)
{
    gpurt_panicrow_t p;

    gpurt_panicrow_read(g->row, types, &p);
    memcpy(g->r.block, &p.block, sizeof g->r.block);
    memcpy(g->r.thread, &p.thread, sizeof g->r.thread);
    g->r.triples = true;
    if (!p.about)
        return;
    if (g->row->kind == GPURT_KIND_PANIC)
        filter_record_number(&g->r, FILTER_CATEGORY, panic_category(p.category)->number);
    set_function(g, &p);
}

/* What it is called, if recordline.h has a name of it. */
static const recordline_field_t *read_name(reading_t *g)
{
    const recordline_field_t *name = &g->line.fields[RECORDLINE_NAME];

    if (name->there)
        filter_record_text(&g->r, FILTER_NAME, name->text, name->bytes);
    return name;
}

/* Fields that recordline.h makes of an activity. */
static void read_activity(reading_t *g)
{
    const recordline_field_t *fields = g->line.fields;
    const recordline_field_t *device = &fields[RECORDLINE_DEVICE];
    const recordline_field_t *name = read_name(g);
    bool kernel = strcmp(gpurt_kind_word(g->row->kind), "kernel") == 0 ||
                  strcmp(gpurt_kind_word(g->row->kind), "launch") == 0;

    if (device->there)
        set_device(&g->r, gplog_about_kind(g->about, g->row), (uint32_t)device->value);
    if (fields[RECORDLINE_THREAD].there)
        filter_record_number(&g->r, FILTER_THREAD, fields[RECORDLINE_THREAD].value);
    if (kernel && name->there)
        filter_record_text(&g->r, FILTER_KERNEL, name->text, name->bytes);
    else if (kernel)
        g->r.unsure |= FILTER_BIT(FILTER_KERNEL);
}

static void read_where(reading_t *g)
{
    const gpurt_row_t *row = g->row;
    const gplog_section_t *s =
        row->section < g->about->section_count && row->section < GPURT_BOX_SECTIONS
            ? &g->about->sections[row->section]
            : NULL;
    bool host = s ? s->kind == GPURT_SECTION_HOST : row->form == GPURT_FORM_THREAD;

    if (s && !host)
        set_device(&g->r, s->kind, s->device);
    else if (!host)
        g->r.unsure |=
            FILTER_BIT(FILTER_DEVICE) | FILTER_BIT(FILTER_GPU) | FILTER_BIT(FILTER_CPU);
    if (row->kind == GPURT_KIND_LOSS) {
        if (!host && g->line.fields[RECORDLINE_SM].there) {
            filter_record_number(&g->r, FILTER_SM, row->sm);
            filter_record_number(&g->r, FILTER_SLOT, row->slot);
        }
    } else if (host) {
        filter_record_number(&g->r, FILTER_THREAD, row->block);
    } else {
        set_warp(&g->r, row->sm, row->slot, row->block, row->warp, row->mask);
    }
}

static void read_row(reading_t *g)
{
    const uint32_t kind = gplog_about_kind(g->about, g->row);
    gpurt_site_info_t site = {0};

    recordline_begin(&g->line, g->d, g->about, g->row);
    filter_record_number(&g->r, FILTER_LEVEL, g->row->level);
    set_pid(&g->r, gplog_program_pid(g->d, g->about, g->row));
    set_kind(&g->r, g->row->kind);
    set_back_end(&g->r, kind);
    if (gpurt_dictionary_get(g->d, g->row->site, &site))
        set_place(&g->r, site.file, site.file_bytes, site.line);
    if (gpurt_kind_is_activity(g->row->kind)) {
        read_activity(g);
    } else {
        read_where(g);
        (void)read_name(g);
    }
    if (g->row->kind == GPURT_KIND_PANIC || g->row->kind == GPURT_KIND_FAULT)
        read_panic(g, site.types);
}

/* A row of a log, and the lanes of one of its messages. */
filter_answer_t filter_of_row(const filter_t *f, const gpurt_dictionary_t *d,
                              const gplog_file_t *about, const gpurt_row_t *row,
                              uint32_t lane, uint32_t *unsure)
{
    const bool any = lane == FILTER_ANY_LANE;
    reading_t g;

    if (unsure)
        *unsure = 0;
    if (!(filter_levels(f) >> (row->level < 32 ? row->level : 31) & 1))
        return FILTER_NO;
    if (f->count == 0)
        return FILTER_YES;
    memset(&g.r, 0, sizeof g.r);
    g.f = f;
    g.d = d;
    g.about = about;
    g.row = row;
    read_row(&g);
    if (!any && g.r.of_lanes)
        filter_record_number(&g.r, FILTER_LANE, gpurt_render_lanes(row, lane));
    if (asks(f, FILTER_BIT(FILTER_WORD) | FILTER_BIT(FILTER_MESSAGE))) {
        const recordline_field_t *message = &g.line.fields[RECORDLINE_MESSAGE];

        recordline_message(&g.line, any ? 0 : lane);
        filter_record_text(&g.r, FILTER_MESSAGE, message->text, message->bytes);
        g.r.cut = message->bytes + CUT >= GPURT_MESSAGE_MAX;
    }
    return filter_judge(f, &g.r, unsure);
}

/* ---- a line, a site, a name ---------------------------------------------------------- */

static void read_section(filter_record_t *r, const gpurt_model_numbers_t *numbers,
                         const gpurt_model_line_t *line)
{
    const gpurt_model_section_t *s = numbers && line->section < GPURT_BOX_SECTIONS
                                         ? &numbers->sections[line->section]
                                         : NULL;

    set_back_end(r, line->form == GPURT_FORM_THREAD ? GPURT_SECTION_HOST
                    : s                             ? s->kind
                                                    : GPURT_SECTION_NONE);
    if (line->form == GPURT_FORM_THREAD)
        return;
    if (s && s->kind != GPURT_SECTION_NONE)
        set_device(r, s->kind, s->device);
    else
        r->unsure |=
            FILTER_BIT(FILTER_DEVICE) | FILTER_BIT(FILTER_GPU) | FILTER_BIT(FILTER_CPU);
}

filter_answer_t filter_line(const filter_t *f, const gpurt_model_numbers_t *numbers,
                            const gpurt_model_line_t *line, uint32_t *unsure)
{
    const size_t room = sizeof line->text;
    size_t bytes = line->text_bytes < room ? line->text_bytes : room;
    filter_record_t r;

    if (unsure)
        *unsure = 0;
    if (!(filter_levels(f) >> (line->level < 32 ? line->level : 31) & 1))
        return FILTER_NO;
    if (f->count == 0)
        return FILTER_YES;
    memset(&r, 0, sizeof r);
    filter_record_number(&r, FILTER_LEVEL, line->level);
    set_pid(&r, line->pid);
    set_kind(&r, line->kind);
    read_section(&r, numbers, line);
    set_place(&r, line->file, strnlen(line->file, sizeof line->file), line->line);
    r.folded = true;
    r.short_file = strnlen(line->file, sizeof line->file) + CUT >= sizeof line->file;
    if (line->kind == GPURT_KIND_LOSS) {
        filter_record_number(&r, FILTER_SM, line->sm);
        filter_record_number(&r, FILTER_SLOT, line->slot);
    } else if (line->form == GPURT_FORM_THREAD) {
        filter_record_number(&r, FILTER_THREAD, line->block);
    } else {
        set_warp(&r, line->sm, line->slot, line->block, line->warp, line->mask);
    }
    if (line->kind == GPURT_KIND_PANIC)
        r.unsure |= FILTER_BIT(FILTER_CATEGORY);
    filter_record_text(&r, FILTER_MESSAGE, line->text, bytes);
    r.cut = bytes + CUT >= room;
    return filter_judge(f, &r, unsure);
}

/* What all its messages have in common is known, the rest is not. */
bool filter_site(const filter_t *f, const gpurt_model_site_t *site)
{
    filter_record_t r;

    if (!(filter_levels(f) >> (site->level < 32 ? site->level : 31) & 1))
        return false;
    memset(&r, 0, sizeof r);
    filter_record_number(&r, FILTER_LEVEL, site->level);
    set_kind(&r, site->kind);
    set_place(&r, site->file, strnlen(site->file, sizeof site->file), site->line);
    filter_record_text(&r, FILTER_MESSAGE, site->format,
                       strnlen(site->format, sizeof site->format));
    r.unsure = ~r.there;
    return filter_judge(f, &r, NULL) != FILTER_NO;
}

bool filter_name(const filter_t *f, const char *name, const uint32_t *gpu, uint32_t pid)
{
    filter_record_t r;

    memset(&r, 0, sizeof r);
    filter_record_text(&r, FILTER_MESSAGE, name, strlen(name));
    filter_record_text(&r, FILTER_NAME, name, strlen(name));
    filter_record_text(&r, FILTER_KERNEL, name, strlen(name));
    if (pid)
        filter_record_number(&r, FILTER_PID, pid);
    r.unsure = ~r.there;
    if (gpu) {
        r.unsure &= ~(FILTER_BIT(FILTER_GPU) | FILTER_BIT(FILTER_DEVICE));
        if (*gpu < GPURT_MODEL_DEVICES)
            set_device(&r, GPURT_SECTION_CUDA, *gpu);
    }
    return filter_judge(f, &r, NULL) != FILTER_NO;
}
