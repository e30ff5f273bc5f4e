/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_about.h"

#include "panic_category.h"
#include "plural.h"

#include <ctype.h>
#include <string.h>

enum {
    BY_LANE = 22, /* columns of a lane's value */
    DUMP_ROW = 16 /* bytes of a line of memory */
};

void panic_field(panic_line_t *line, const panic_style_t *style, const char *name)
{
    panic_line_begin(line, style);
    gpurt_text_printf(&line->text, "  %-9s ", name);
}

static bool text_get(const gpurt_dictionary_t *d, uint32_t id, gpurt_site_info_t *out)
{
    return gpurt_dictionary_get(d, id, out) && out->kind == GPURT_DEF_STRING;
}

static void add_text(gpurt_text_t *out, const gpurt_dictionary_t *d, uint32_t id)
{
    gpurt_site_info_t text;

    if (text_get(d, id, &text))
        gpurt_render_plain(out, text.format, text.format_bytes);
    else
        gpurt_text_add(out, "?", 1);
}

static void add_function(gpurt_text_t *out, const gpurt_dictionary_t *d, uint32_t id)
{
    gpurt_site_info_t text;
    const char *name;
    uint32_t bytes;
    bool kernel;

    if (!text_get(d, id, &text)) {
        gpurt_text_add(out, "?", 1);
        return;
    }
    name = panic_function(&text, &bytes, &kernel);
    gpurt_render_plain(out, name, bytes);
}

/* ---- promise, launch ----------------------------------------------------------------- */

void panic_about_promise(const gpurt_dictionary_t *d, const panic_facts_t *f,
                         const panic_style_t *style)
{
    panic_line_t line;

    if (f->row->kind == GPURT_KIND_FAULT || !f->p.about)
        return;
    panic_field(&line, style, "kind");
    gpurt_text_printf(&line.text, "%s", panic_category(f->p.category)->title);
    if (f->p.category > GPURT_CATEGORY_USER)
        gpurt_text_printf(&line.text, " (%u)", f->p.category);
    panic_line_end(&line, NULL);
    if (f->p.condition == 0)
        return;
    panic_field(&line, style, "promised");
    add_text(&line.text, d, f->p.condition);
    panic_line_end(&line, NULL);
}

void panic_about_launch(const gpurt_dictionary_t *d, const panic_facts_t *f,
                        const panic_style_t *style)
{
    const gpurt_panicrow_t *p = &f->p;
    gpurt_site_info_t text;
    bool kernel = false;
    panic_line_t line;
    uint32_t bytes;

    if (!p->about)
        return;
    if (text_get(d, p->function, &text))
        panic_function(&text, &bytes, &kernel);
    if (p->function && !kernel) {
        panic_field(&line, style, "function");
        add_function(&line.text, d, p->function);
        panic_line_end(&line, NULL);
    }
    panic_field(&line, style, "launch");
    if (p->kernel || kernel) {
        gpurt_text_printf(&line.text, "kernel ");
        add_function(&line.text, d, p->kernel ? p->kernel : p->function);
        gpurt_text_printf(&line.text, "  ");
    }
    gpurt_text_printf(&line.text, "number %llu  grid %u,%u,%u  block %u,%u,%u",
                      (unsigned long long)p->launch, p->grid.x, p->grid.y, p->grid.z,
                      p->block_dim.x, p->block_dim.y, p->block_dim.z);
    if (p->cluster_size > 1)
        gpurt_text_printf(&line.text, "  rank %u of a cluster of %u", p->cluster_rank,
                          p->cluster_size);
    panic_line_end(&line, NULL);
}

/* ---- notes --------------------------------------------------------------------------- */

static void print_held(const gpurt_dictionary_t *d, const panic_facts_t *f,
                       const panic_style_t *style)
{
    static const char *const kinds[] = {"object", "lock", "channel", "allocation"};
    panic_line_t line;

    for (uint32_t i = 0; i < f->p.held_count; i++) {
        const gpurt_panic_held_t *h = &f->p.held[i];

        panic_field(&line, style, i ? "" : "held");
        gpurt_text_printf(&line.text, "%s 0x%llx",
                          kinds[h->kind < sizeof kinds / sizeof kinds[0] ? h->kind : 0],
                          (unsigned long long)h->object);
        if (h->name) {
            gpurt_text_add(&line.text, " ", 1);
            add_text(&line.text, d, h->name);
        }
        panic_line_end(&line, NULL);
    }
    if (f->p.held_left_out) {
        panic_field(&line, style, "");
        gpurt_text_printf(&line.text, "and %u more", f->p.held_left_out);
        panic_line_end(&line, PANIC_DIM);
    }
}

static void print_frames(const gpurt_dictionary_t *d, const panic_facts_t *f,
                         const panic_style_t *style)
{
    panic_line_t line;

    for (uint32_t i = 0; i < f->p.frame_count; i++) {
        const gpurt_panic_frame_t *frame = &f->p.frames[i];
        gpurt_site_info_t file;
        uint32_t bytes;

        panic_field(&line, style, i ? "" : "frames");
        add_function(&line.text, d, frame->function);
        if (text_get(d, frame->file, &file)) {
            const char *base = panic_base(file.format, file.format_bytes, &bytes);

            gpurt_text_printf(&line.text, " at ");
            gpurt_render_plain(&line.text, base, bytes);
            gpurt_text_printf(&line.text, ":%u", frame->line);
        }
        panic_line_end(&line, NULL);
    }
    if (f->p.frames_left_out) {
        panic_field(&line, style, "");
        gpurt_text_printf(&line.text, "and %u outer one%s", f->p.frames_left_out,
                          gpurt_plural(f->p.frames_left_out, "s"));
        panic_line_end(&line, PANIC_DIM);
    }
}

void panic_about_notes(const gpurt_dictionary_t *d, const panic_facts_t *f,
                       const panic_style_t *style)
{
    panic_line_t line;

    if (f->p.task) {
        panic_field(&line, style, "task");
        gpurt_text_printf(&line.text, "%llu", (unsigned long long)f->p.task);
        if (f->p.parent_task)
            gpurt_text_printf(&line.text, ", of task %llu",
                              (unsigned long long)f->p.parent_task);
        panic_line_end(&line, NULL);
    }
    for (uint32_t i = 0; i < f->p.context_count; i++) {
        const gpurt_panic_context_t *c = &f->p.contexts[i];

        panic_field(&line, style, i ? "" : "context");
        add_text(&line.text, d, c->name);
        gpurt_text_printf(&line.text, " = ");
        panic_add_value(&line.text, d, c->type, c->value);
        panic_line_end(&line, NULL);
    }
    if (f->p.contexts_left_out) {
        panic_field(&line, style, "");
        gpurt_text_printf(&line.text, "and %u that found no room", f->p.contexts_left_out);
        panic_line_end(&line, PANIC_DIM);
    }
    if (!f->p.report) /* which has them */
        print_frames(d, f, style);
    print_held(d, f, style);
}

/* ---- values -------------------------------------------------------------------------- */

void panic_add_value(gpurt_text_t *out, const gpurt_dictionary_t *d, uint32_t type,
                     uint64_t value)
{
    char room[GPURT_MESSAGE_MAX];
    gpurt_text_t text;

    gpurt_text_init(&text, room, sizeof room);
    gpurt_render_value(d, type, value, &text);
    if (type == GPURT_TYPE_STRING)
        gpurt_text_add(out, "\"", 1);
    gpurt_render_plain(out, text.at, text.used);
    if (type == GPURT_TYPE_STRING)
        gpurt_text_add(out, "\"", 1);
    if ((type >= GPURT_TYPE_I32 && type <= GPURT_TYPE_U64) && value > 9)
        gpurt_text_printf(out, " (0x%llx)", (unsigned long long)value);
}

/* What an operand is, where its category says so. */
static const char *operand_name(const gpurt_panicrow_t *p, uint32_t i)
{
    static const char *const pairs[2][2] = {{"left", "right"}, {"index", "count"}};

    if (p->own != 2 || i >= p->own)
        return "";
    return pairs[p->category == GPURT_CATEGORY_BOUNDS][i];
}

static void add_lane(gpurt_text_t *out, const gpurt_dictionary_t *d, const panic_facts_t *f,
                     uint32_t lane)
{
    const gpurt_panicrow_t *p = &f->p;

    gpurt_text_printf(out, "%c%2u: ", p->failed >> lane & 1 ? ' ' : '+', lane);
    if (p->own < 2) {
        panic_add_value(out, d, gpurt_type_at(p->types, 0), p->lanes[0][lane]);
        return;
    }
    gpurt_render_value(d, gpurt_type_at(p->types, 0), p->lanes[0][lane], out);
    if (p->known[1] >> lane & 1) {
        gpurt_text_printf(out, ", ");
        gpurt_render_value(d, gpurt_type_at(p->types, 1), p->lanes[1][lane], out);
    }
}

/* As many to a line as there is room for; + stands before lanes that did not fail. */
static void print_lanes(const gpurt_dictionary_t *d, const panic_facts_t *f,
                        const panic_style_t *style)
{
    uint32_t shown = 0, most = style->columns && style->columns < 100 ? 3 : 4;
    panic_line_t line;

    for (uint32_t m = f->p.known[0]; m; m &= m - 1) {
        size_t start;

        if (shown % most == 0)
            panic_field(&line, style, shown ? "" : "by lane");
        if (shown % most == 0)
            line.text.used--; /* the sign's column */
        start = line.text.used;
        add_lane(&line.text, d, f, (uint32_t)__builtin_ctz(m));
        while (line.text.used - start < BY_LANE)
            gpurt_text_add(&line.text, " ", 1);
        if (++shown % most == 0 || !(m & (m - 1)))
            panic_line_end(&line, NULL);
    }
}

void panic_about_values(const gpurt_dictionary_t *d, const panic_facts_t *f,
                        const panic_style_t *style)
{
    panic_line_t line;

    for (uint32_t i = 0; i < f->p.arg_count; i++) {
        uint32_t type = gpurt_type_at(f->p.types, i);

        panic_field(&line, style, i == 0 ? "operands" : "");
        gpurt_text_printf(&line.text, "%-6s ", panic_type_name(type));
        panic_add_value(&line.text, d, type, f->p.args[i]);
        if (operand_name(&f->p, i)[0])
            gpurt_text_printf(&line.text, "  %s", operand_name(&f->p, i));
        panic_line_end(&line, NULL);
    }
    if ((f->p.known[0] & (f->p.known[0] - 1)) != 0) /* else its value stands above */
        print_lanes(d, f, style);
}

/* ---- memory -------------------------------------------------------------------------- */

/* Where the marked address lies, in words. */
static void add_mark(gpurt_text_t *out, const gpurt_panicrow_window_t *w)
{
    uint64_t end = w->base + w->size;

    if (w->mark == 0)
        return;
    gpurt_text_printf(out, ", 0x%llx is ", (unsigned long long)w->mark);
    if (w->mark < w->base)
        gpurt_text_printf(out, "%llu byte%s before it",
                          (unsigned long long)(w->base - w->mark),
                          gpurt_plural(w->base - w->mark, "s"));
    else if (w->mark >= end)
        gpurt_text_printf(out, "%llu byte%s behind its end",
                          (unsigned long long)(w->mark - end),
                          gpurt_plural(w->mark - end, "s"));
    else
        gpurt_text_printf(out, "at byte %llu of it",
                          (unsigned long long)(w->mark - w->base));
}

static void print_dump(const gpurt_panicrow_window_t *w, const panic_style_t *style)
{
    panic_line_t line;

    for (uint32_t at = 0; at < w->bytes; at += DUMP_ROW) {
        uint64_t address = w->start + at;
        uint32_t count = w->bytes - at < DUMP_ROW ? w->bytes - at : DUMP_ROW;
        bool marked = w->mark >= address && w->mark < address + count;

        panic_line_begin(&line, style);
        gpurt_text_printf(&line.text, "%c %012llx ", marked ? '>' : ' ',
                          (unsigned long long)address);
        for (uint32_t i = 0; i < DUMP_ROW; i++) {
            char sign = marked && w->mark == address + i ? '[' : ' ';

            if (marked && i && w->mark == address + i - 1)
                sign = ']';
            if (i < count)
                gpurt_text_printf(&line.text, "%c%02x", sign, w->data[at + i]);
            else
                gpurt_text_printf(&line.text, "   ");
        }
        gpurt_text_printf(&line.text, "%s",
                          marked && w->mark == address + DUMP_ROW - 1 ? "]" : " ");
        for (uint32_t i = 0; i < count; i++) {
            char c = isprint(w->data[at + i]) ? (char)w->data[at + i] : '.';

            gpurt_text_add(&line.text, &c, 1);
        }
        panic_line_end(&line, marked ? PANIC_YELLOW : NULL);
    }
}

void panic_about_memory(const gpurt_dictionary_t *d, const panic_facts_t *f,
                        const panic_style_t *style)
{
    panic_line_t line;

    for (uint32_t i = 0; i < f->p.window_count; i++) {
        const gpurt_panicrow_window_t *w = &f->p.windows[i];

        fputc('\n', style->out);
        panic_line_begin(&line, style);
        gpurt_text_printf(&line.text, "memory of ");
        if (w->name)
            add_text(&line.text, d, w->name);
        else
            gpurt_text_printf(&line.text, "0x%llx", (unsigned long long)w->base);
        gpurt_text_printf(&line.text, ": %llu byte%s from 0x%llx",
                          (unsigned long long)w->size, gpurt_plural(w->size, "s"),
                          (unsigned long long)w->base);
        add_mark(&line.text, w);
        panic_line_end(&line, NULL);
        print_dump(w, style);
    }
}

/* ---- report -------------------------------------------------------------------------- */

void panic_about_report(const panic_facts_t *f, const panic_style_t *style)
{
    const char *p = f->p.report, *end = p + f->p.report_bytes;
    panic_line_t line;

    if (!p)
        return;
    fputs("\nreport:\n", style->out);
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));

        panic_line_begin(&line, style);
        gpurt_text_printf(&line.text, "  ");
        gpurt_render_plain(&line.text, p, (size_t)((stop ? stop : end) - p));
        panic_line_end(&line, NULL);
        p = stop ? stop + 1 : end;
    }
    if (f->p.report_left_out == 0)
        return;
    panic_line_begin(&line, style);
    gpurt_text_printf(&line.text,
                      "  (cut: %u more byte%s; gpurt_report has all of it in the program)",
                      f->p.report_left_out, gpurt_plural(f->p.report_left_out, "s"));
    panic_line_end(&line, PANIC_YELLOW);
}

void panic_about_remedy(const panic_facts_t *f, const panic_style_t *style)
{
    if (f->row->kind == GPURT_KIND_FAULT || !f->p.about)
        return;
    fputc('\n', style->out);
    panic_line_wrap("help: ", panic_category(f->p.category)->remedy, PANIC_CYAN, style);
}
