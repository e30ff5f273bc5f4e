/* SPDX-License-Identifier: Apache-2.0 */
/* One panic on one screen: what, where, with which values, in which line, after what. */
#include "hang_text.h"
#include "panic_about.h"
#include "panic_case.h"
#include "panic_fault.h"
#include "panic_who.h"
#include "plural.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- facts --------------------------------------------------------------------------- */
/* Nothing where there is one process: the source is its. */
static void print_who(const panic_case_t *c, const panic_style_t *style)
{
    panic_line_t line;

    if (!panic_who_told(c->source))
        return;
    panic_field(&line, style, "process");
    who_text(&c->brief.who, &line.text);
    panic_line_end(&line, NULL);
}

/* Of a fault it may not be known which lanes of the warp it was. */
static bool is_vague(const panic_facts_t *f)
{
    return f->row->kind == GPURT_KIND_FAULT && f->p.exception && f->p.failed == 0 &&
           f->row->mask;
}

/* Of such a one only the warp is told. */
static void print_thread(const panic_facts_t *f, const panic_style_t *style)
{
    const gpurt_row_t *row = f->row;
    panic_line_t line;

    panic_field(&line, style, "thread");
    gpurt_text_printf(&line.text, "block %u,%u,%u", f->p.block.x, f->p.block.y,
                      f->p.block.z);
    if (is_vague(f))
        gpurt_text_printf(&line.text,
                          "  warp %u, one or more of its threads from %u,%u,%u on",
                          row->warp, f->p.thread.x, f->p.thread.y, f->p.thread.z);
    else
        gpurt_text_printf(&line.text, "  thread %u,%u,%u  warp %u  lane %u", f->p.thread.x,
                          f->p.thread.y, f->p.thread.z, row->warp, f->p.lane);
    panic_line_end(&line, NULL);
}

/* A task that waits has no lane: what the record says of one is of none. */
static bool is_of_task(const panic_case_t *c)
{
    const gpurt_waits_t *w = &c->waits;
    uint32_t first = c->has_graph ? hang_first(&c->graph) : GPURT_WAIT_NOBODY;

    return first != GPURT_WAIT_NOBODY && gpurt_wait_task(w, &w->waits[first]);
}

static void print_place(const panic_case_t *c, const panic_style_t *style)
{
    const panic_facts_t *f = &c->brief.facts;
    const gpurt_row_t *row = c->row;
    const gplog_file_t *about = &c->source->about;
    panic_line_t line;

    panic_field(&line, style, "site");
    if (f->site.file_bytes) {
        gpurt_render_plain(&line.text, f->site.file, f->site.file_bytes);
        gpurt_text_printf(&line.text, ":%u", f->site.line);
    } else {
        gpurt_text_printf(&line.text, "not known (%u)", row->site);
    }
    panic_line_end(&line, NULL);
    if (is_of_task(c)) {
        panic_field(&line, style, "thread");
        gpurt_text_printf(&line.text, "none: a task waits, and no warp stands for it");
        panic_line_end(&line, NULL);
        return;
    }
    print_thread(f, style);
    panic_field(&line, style, "lanes");
    if (row->kind == GPURT_KIND_HANG)
        gpurt_text_printf(&line.text, "0x%08x wait", row->mask);
    else if (f->p.category >= GPURT_CATEGORY_HANG && f->p.category < GPURT_CATEGORY_RUNTIME)
        gpurt_text_printf(&line.text, "0x%08x have not ended, 0x%08x stand here (%d)",
                          row->mask, f->p.failed, __builtin_popcount(f->p.failed));
    else if (is_vague(f))
        gpurt_text_printf(&line.text, "0x%08x ran together, not known which of them failed",
                          row->mask);
    else
        gpurt_text_printf(&line.text, "0x%08x ran together, 0x%08x failed (%d)", row->mask,
                          f->p.failed, __builtin_popcount(f->p.failed));
    panic_line_end(&line, NULL);
    panic_field(&line, style, "device");
    if (row->section < about->section_count) {
        const gplog_section_t *s = &about->sections[row->section];
        bool named = s->kind != GPURT_SECTION_CUDA && strncmp(s->name, "CPU", 3) == 0;
        const char *name = named && s->device ? s->name + 3 : s->name;

        if (!named || s->device)
            gpurt_text_printf(&line.text, "%s %u%s",
                              s->kind == GPURT_SECTION_CUDA ? "GPU" : "CPU", s->device,
                              named ? "" : " ");
        gpurt_render_plain(&line.text, name,
                           strnlen(name, sizeof s->name - (size_t)(name - s->name)));
        gpurt_text_add(&line.text, ", ", 2);
    }
    gpurt_text_printf(&line.text, "SM %u, warp slot %u", row->sm, row->slot);
    panic_line_end(&line, NULL);
}

/* Where it stands among others; nothing where it is alone. */
static void print_crowd(const panic_crowd_t *c, const panic_style_t *style)
{
    panic_line_t line;

    if (c->at_site > 1) {
        panic_field(&line, style, "again");
        gpurt_text_printf(&line.text, "number %u of %u at this site", c->site_rank,
                          c->at_site);
        panic_line_end(&line, NULL);
    }
    if (c->in_block > 1) {
        panic_field(&line, style, "in block");
        gpurt_text_printf(&line.text,
                          c->block_rank == 1 ? "the first of %u"
                                             : "not the first: one of %u, number %u",
                          c->in_block, c->block_rank);
        panic_line_end(&line, NULL);
    }
}

static void print_time(const panic_facts_t *f, const panic_style_t *style)
{
    time_t seconds = (time_t)(f->row->time_ns / 1000000000u);
    char time[PANIC_TIME], zone[32] = "";
    panic_line_t line;
    struct tm tm;

    if (localtime_r(&seconds, &tm))
        strftime(zone, sizeof zone, "%z", &tm);
    panic_field(&line, style, "time");
    gpurt_text_printf(&line.text, "%s %s", panic_time(f->row->time_ns, 9, time), zone);
    if (f->row->kind == GPURT_KIND_PANIC)
        gpurt_text_printf(&line.text, ", clock %llu", (unsigned long long)f->p.clock);
    panic_line_end(&line, NULL);
}

/* ---- source -------------------------------------------------------------------------- */
static void print_excerpt(const excerpt_t *e, const panic_style_t *style)
{
    panic_line_t line;

    fputc('\n', style->out);
    for (uint32_t i = 0; i < e->count; i++) {
        bool own = e->first + i == e->line;

        panic_line_begin(&line, style);
        gpurt_text_printf(&line.text, "%c %5u | ", own ? '>' : ' ', e->first + i);
        gpurt_render_plain(&line.text, e->lines[i], strlen(e->lines[i]));
        panic_line_end(&line, own ? NULL : PANIC_DIM);
        if (!own || !e->column)
            continue;
        panic_line_begin(&line, style);
        gpurt_text_printf(&line.text, "        | %*s^", (int)e->column - 1, "");
        for (uint32_t c = 1; c < e->width; c++)
            gpurt_text_add(&line.text, "~", 1);
        panic_line_end(&line, PANIC_RED);
    }
}

/* ---- what came before ---------------------------------------------------------------- */
/* "-12.345 us" */
static void add_before(gpurt_text_t *out, uint64_t ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s "};
    double value = (double)ns;
    int unit = 0;

    while (unit < 3 && value >= 1000.0) {
        value /= 1000.0;
        unit++;
    }
    gpurt_text_printf(out, "%8.*f %s", unit ? 3 : 0, -value, units[unit]);
}

static const char *level_colour(uint32_t level)
{
    return level == GPURT_LEVEL_WARN                                 ? PANIC_YELLOW
           : level >= GPURT_LEVEL_ERROR && level <= GPURT_LEVEL_LOST ? PANIC_RED
                                                                     : NULL;
}

static void print_record(const panic_case_t *c, const gpurt_row_t *row, char mark,
                         const panic_style_t *style)
{
    const gpurt_dictionary_t *d = c->brief.sites;
    uint32_t lane = panic_lane_rank(row, c->brief.facts.p.lane);
    uint32_t messages = gpurt_row_messages(row), bytes;
    char room[GPURT_MESSAGE_MAX];
    gpurt_site_info_t site;
    gpurt_text_t text;
    panic_line_t line;

    panic_line_begin(&line, style);
    gpurt_text_printf(&line.text, "%c ", mark);
    add_before(&line.text, c->row->time_ns - row->time_ns);
    gpurt_text_printf(&line.text, " %-5s b%u w%u ", gpurt_level_name(row->level),
                      row->block, row->warp);
    if (gpurt_dictionary_get(d, row->site, &site) && site.file_bytes) {
        const char *base = panic_base(site.file, site.file_bytes, &bytes);

        gpurt_render_plain(&line.text, base, bytes);
        gpurt_text_printf(&line.text, ":%u  ", site.line);
    }
    gpurt_text_init(&text, room, sizeof room);
    gpurt_render_message(d, row, lane, &text);
    gpurt_render_plain(&line.text, text.at, text.used);
    if (messages > 1)
        gpurt_text_printf(&line.text, "  (+%u lane%s)", messages - 1,
                          gpurt_plural(messages - 1, "s"));
    panic_line_end(&line, level_colour(row->level));
}

/* A row of one of the lists; whose it is, by the narrowest. */
typedef struct near_row {
    const gpurt_row_t *row;
    uint64_t order;
    int of;
} near_row_t;

static int by_time(const void *a, const void *b)
{
    const near_row_t *x = a, *y = b;

    if (x->row->time_ns != y->row->time_ns)
        return x->row->time_ns < y->row->time_ns ? -1 : 1;
    return x->order != y->order ? (x->order < y->order ? -1 : 1) : x->of - y->of;
}

/* The lists as one, by time. */
static void print_near(const panic_case_t *c, const panic_style_t *style)
{
    const panic_near_t *near = c->near;
    static const char marks[PANIC_NEAR] = {'*', '+', ' '};
    uint32_t room = 0, count = 0;
    near_row_t *all;
    panic_line_t line;

    for (int i = 0; i < PANIC_NEAR; i++)
        room += near[i].count;
    all = calloc(room ? room : 1, sizeof *all);
    if (!room || !all) {
        fputs("\nnothing was recorded before it on its SM\n", style->out);
        free(all);
        return;
    }
    fputc('\n', style->out);
    panic_line_begin(&line, style);
    gpurt_text_printf(
        &line.text,
        "before it: the last %u record%s of its warp (*), %u of its block (+), "
        "%u of its SM",
        near[PANIC_OF_WARP].count, gpurt_plural(near[PANIC_OF_WARP].count, "s"),
        near[PANIC_OF_BLOCK].count, near[PANIC_OF_SM].count);
    panic_line_end(&line, NULL);
    for (int i = 0; i < PANIC_NEAR; i++)
        for (uint32_t k = 0; k < near[i].count; k++)
            all[count++] = (near_row_t){near[i].rows[k], near[i].order[k], i};
    qsort(all, count, sizeof *all, by_time);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || all[i].order != all[i - 1].order)
            print_record(c, all[i].row, marks[all[i].of], style);
    free(all);
}

static void print_title(const panic_case_t *c, const panic_style_t *style)
{
    panic_line_t line;

    panic_line_begin(&line, style);
    gpurt_text_printf(&line.text, "%s %u of %u in ",
                      c->row->kind == GPURT_KIND_FAULT ? "GPU fault" : c->brief.kind,
                      c->number + 1, c->book->count);
    gpurt_render_plain(&line.text, c->source->name, strlen(c->source->name));
    panic_line_end(&line, PANIC_DIM);
    panic_line_begin(&line, style);
    panic_brief_message(&c->brief, &line.text);
    panic_line_end(&line, PANIC_RED);
}

/* Of a fault and of a hang what was kept, else why nothing was; of a panic its operands. */
static void print_evidence(const panic_case_t *c, const panic_style_t *style)
{
    const bool is_hang = c->row->kind == GPURT_KIND_HANG;

    if (is_hang)
        fputc('\n', style->out);
    if (c->has_graph)
        hang_print(&c->graph, style);
    else if (c->fault)
        panic_fault_facts(&c->dump, c->fault, style);
    else if (is_hang || c->row->kind == GPURT_KIND_FAULT)
        fprintf(style->out, "  %s\n", c->lost.text);
    else
        panic_about_values(c->brief.sites, &c->brief.facts, style);
}

void panic_show_print(const panic_case_t *c, const panic_style_t *style)
{
    const gpurt_dictionary_t *d = c->brief.sites;
    const panic_facts_t *f = &c->brief.facts;

    print_title(c, style);
    panic_about_promise(d, f, style);
    print_who(c, style);
    print_place(c, style);
    panic_about_launch(d, f, style);
    print_time(f, style);
    panic_ways_print(&c->ways, style);
    panic_last_print(&c->last, style);
    print_crowd(&c->crowd, style);
    panic_chain_print(&c->chain, style);
    panic_about_notes(d, f, style);
    print_evidence(c, style);
    if (c->has_excerpt)
        print_excerpt(&c->excerpt, style);
    panic_about_report(f, style);
    panic_about_memory(d, f, style);
    if (!c->source->dump.core && !is_of_task(c))
        print_near(c, style);
    panic_about_remedy(f, style);
    if (c->fault)
        panic_fault_rest(&c->dump, c->fault, style);
    panic_line_source(c->source, style);
}
