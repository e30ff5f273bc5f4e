/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of docs/PANIC_JSON.md, version 1. */
#include "fileabout.h"
#include "hang_text.h"
#include "lives_text.h"
#include "panic_about.h"
#include "panic_category.h"
#include "panic_chain.h"
#include "panic_excerpt.h"
#include "panic_fault.h"
#include "panic_hang.h"
#include "panic_last.h"
#include "panic_launch.h"
#include "panic_line.h"
#include "panic_who.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void key(FILE *out, const char *name)
{
    fprintf(out, ",\"%s\":", name);
}

static void put_text(FILE *out, const char *name, const char *text, size_t bytes)
{
    key(out, name);
    text_put_json(out, text ? text : "", text ? bytes : 0);
}

static void put_number(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, ",\"%s\":%" PRIu64, name, value);
}

static void put_triple(FILE *out, const char *name, gpurt_dim3_t v)
{
    fprintf(out, ",\"%s\":[%u,%u,%u]", name, v.x, v.y, v.z);
}

static void put_device(FILE *out, const panic_source_t *source, uint32_t section)
{
    const gplog_section_t *s =
        section < source->about.section_count ? &source->about.sections[section] : NULL;

    fprintf(out, ",\"back_end\":\"%s\"", gplog_back_end(s ? s->kind : GPURT_SECTION_NONE));
    if (s && s->kind == GPURT_SECTION_HOST)
        fputs(",\"device\":-1", out);
    else
        put_number(out, "device", s ? s->device : 0);
}

/* site, file and so on of a row, with its message. */
static void put_site(FILE *out, const gpurt_dictionary_t *d, const gpurt_row_t *row,
                     uint32_t lane, bool format)
{
    char room[GPURT_MESSAGE_MAX];
    gpurt_site_info_t site;
    gpurt_text_t text;

    if (!gpurt_dictionary_get(d, row->site, &site) || site.kind != GPURT_DEF_SITE)
        memset(&site, 0, sizeof site);
    put_text(out, "file", site.file, site.file_bytes);
    put_number(out, "line", site.line);
    if (format) {
        put_text(out, "module", site.module, site.module_bytes);
        put_text(out, "format", site.format, site.format_bytes);
    }
    gpurt_text_init(&text, room, sizeof room);
    gpurt_render_message(d, row, lane, &text);
    put_text(out, "msg", text.at, text.used);
}

static void put_lives(FILE *out, const panic_source_t *s)
{
    gpurt_life_t *lives = NULL;
    uint32_t count = 0;

    if (s->log)
        gpurt_lives_read(s->log, &lives, &count, NULL);
    key(out, "lives");
    lives_json(out, lives, count);
    free(lives);
}

static void put_source_begin(FILE *out, const panic_source_t *s)
{
    const gpurt_box_identity_t *id = &s->about.identity;

    fputs("{\"name\":", out);
    text_put_json(out, s->name, strlen(s->name));
    fprintf(out, ",\"kind\":\"%s\",\"alive\":%s",
            s->log         ? "log"
            : s->dump.core ? "gpu-core"
                           : "box",
            s->alive ? "true" : "false");
    put_text(out, "program", id->program, strnlen(id->program, sizeof id->program));
    put_text(out, "host", id->host, strnlen(id->host, sizeof id->host));
    put_number(out, "pid", id->pid);
    put_number(out, "left_out", s->left_out);
    put_number(out, "torn_frames", s->torn_frames);
    key(out, "programs");
    who_json_list(panic_source_sites(s), &s->about, NULL, out);
    put_lives(out, s);
}

static void put_source(FILE *out, const panic_source_t *s)
{
    put_source_begin(out, s);
    fputc('}', out);
}

static void put_kind(FILE *out, const panic_entry_t *e)
{
    fprintf(out, ",\"kind\":\"%s\"",
            panic_kind_name(panic_source_sites(e->source), e->row));
}

/* Of a site: that of its first panic. */
static void put_category(FILE *out, const panic_entry_t *e)
{
    const faultkind_t *kind;
    panic_facts_t f;

    if (e->row->kind != GPURT_KIND_PANIC) {
        fputs(",\"category\":null", out);
        return;
    }
    panic_read(panic_source_sites(e->source), e->row, &f);
    kind = panic_category(f.p.category);
    put_text(out, "category", kind->id, strlen(kind->id));
}

/* ---- list ---------------------------------------------------------------------------- */
void panic_list_json(const panic_book_t *book, FILE *out)
{
    fprintf(out, "{\"schema\":\"gpurt-panic-list\",\"version\":1,\"panics\":%u,\"sites\":[",
            book->count);
    for (uint32_t i = 0; i < book->site_count; i++) {
        const panic_site_t *s = &book->sites[i];
        const panic_entry_t *first = &book->list[s->first];

        fprintf(out, "%s{\"number\":%u", i ? "," : "", s->first + 1);
        put_kind(out, first);
        put_number(out, "count", s->count);
        put_number(out, "first_ns", first->row->time_ns);
        put_number(out, "last_ns", book->list[s->last].row->time_ns);
        put_category(out, first);
        panic_who_json(first, out);
        key(out, "processes");
        panic_who_site_json(book, i, out);
        put_site(out, panic_source_sites(first->source), first->row, 0, true);
        fputc('}', out);
    }
    fputs("],\"sources\":[", out);
    for (uint32_t i = 0; i < book->source_count; i++) {
        fputs(i ? "," : "", out);
        put_source_begin(out, &book->sources[i]);
        panic_last_json_all(&book->sources[i], out);
        fputc('}', out);
    }
    fputs("]}\n", out);
}

/* ---- show ---------------------------------------------------------------------------- */
static void put_value(FILE *out, const gpurt_dictionary_t *d, uint32_t type, uint64_t value)
{
    char room[GPURT_MESSAGE_MAX];
    gpurt_text_t text;

    gpurt_text_init(&text, room, sizeof room);
    gpurt_render_value(d, type, value, &text);
    fprintf(out, "\"type\":\"%s\"", panic_type_name(type));
    put_text(out, "text", text.at, text.used);
    fprintf(out, ",\"bits\":\"0x%" PRIx64 "\"}", value);
}

static void put_values(FILE *out, const gpurt_dictionary_t *d, const panic_facts_t *f)
{
    bool first = true;

    fputs(",\"operands\":[", out);
    for (uint32_t i = 0; i < f->p.arg_count; i++) {
        fputs(i ? ",{" : "{", out);
        put_value(out, d, gpurt_type_at(f->site.types, i), f->p.args[i]);
    }
    fputs("],\"lane_values\":[", out);
    for (uint32_t m = f->p.known[0]; m; m &= m - 1, first = false) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);

        fprintf(out, "%s{\"lane\":%u,\"failed\":%s,", first ? "" : ",", lane,
                f->p.failed >> lane & 1 ? "true" : "false");
        if (f->p.known[1] >> lane & 1) {
            fputs("\"second\":{", out);
            put_value(out, d, gpurt_type_at(f->site.types, 1), f->p.lanes[1][lane]);
            fputc(',', out);
        }
        put_value(out, d, gpurt_type_at(f->site.types, 0), f->p.lanes[0][lane]);
    }
    fputc(']', out);
}

static void put_excerpt(FILE *out, const panic_facts_t *f, const char *folder)
{
    excerpt_t e;

    key(out, "source_lines");
    if (!excerpt_read(f->site.file, f->site.file_bytes, f->site.line, folder, &e)) {
        fputs("null", out);
        return;
    }
    fprintf(out, "{\"first\":%u,\"line\":%u,\"column\":%u,\"width\":%u", e.first, e.line,
            e.column, e.width);
    put_text(out, "path", e.path, strlen(e.path));
    fputs(",\"lines\":[", out);
    for (uint32_t i = 0; i < e.count; i++) {
        fputs(i ? "," : "", out);
        text_put_json(out, e.lines[i], strlen(e.lines[i]));
    }
    fputs("]}", out);
}

/* The fields of `gpurt-log cat --jsonl`. */
static void put_records(FILE *out, const char *name, const panic_source_t *source,
                        const panic_near_t *near, uint32_t lane)
{
    const gpurt_dictionary_t *d = panic_source_sites(source);

    fprintf(out, "\"%s\":[", name);
    for (uint32_t i = 0; i < near->count; i++) {
        const gpurt_row_t *row = near->rows[i];
        uint32_t rank = panic_lane_rank(row, lane);

        fprintf(out, "%s{\"ts_ns\":%" PRIu64 ",\"level\":\"%s\"", i ? "," : "",
                row->time_ns, gpurt_level_name(row->level));
        who_json_pid(gplog_program_pid(d, &source->about, row), out);
        put_device(out, source, row->section);
        put_number(out, "sm", row->sm);
        put_number(out, "block", row->block);
        put_number(out, "warp", row->warp);
        put_number(out, "lanes", gpurt_render_lanes(row, rank));
        put_site(out, d, row, rank, false);
        fputc('}', out);
    }
    fputc(']', out);
}

/* null for a panic, and where the dump was not kept. */
static void put_fault(FILE *out, const panic_entry_t *e)
{
    const fault_t *fault = NULL;
    panic_dump_t dump;
    bool borrowed;

    key(out, "fault");
    if (e->row->kind != GPURT_KIND_FAULT ||
        panic_dump_of(e->source, e->row, &dump, &fault, &borrowed, NULL) != GPURT_OK) {
        fputs("null", out);
        return;
    }
    panic_fault_json(&dump, fault, out);
    if (!borrowed)
        panic_dump_close(&dump);
}

/* null for what is no hang, and where its snapshot was not kept. */
static void put_hang(FILE *out, const panic_entry_t *e)
{
    gpurt_waitgraph_t graph;
    gpurt_waits_t waits;

    key(out, "hang");
    if (e->row->kind != GPURT_KIND_HANG ||
        panic_hang_of(e->source, e->row, &waits, &graph, NULL) != GPURT_OK) {
        fputs("null", out);
        return;
    }
    hang_json(&graph, out);
    gpurt_waitgraph_fini(&graph);
    gpurt_waits_fini(&waits);
}

gpurt_status_t panic_show_json(const panic_book_t *book, uint32_t number,
                               const panic_style_t *style, gpurt_error_t *err)
{
    const panic_entry_t *e = &book->list[number];
    const gpurt_dictionary_t *d = panic_source_sites(e->source);
    FILE *out = style->out;
    uint32_t section = e->row->section;
    static const char *const names[PANIC_NEAR] = {"warp", "block", "sm"};
    panic_near_t near[PANIC_NEAR];
    panic_crowd_t crowd;
    panic_facts_t f;
    gpurt_status_t st = panic_source_near(e->source, e->row, style->near, near, err);

    if (st != GPURT_OK)
        return st;
    panic_read(d, e->row, &f);
    fprintf(out, "{\"schema\":\"gpurt-panic\",\"version\":1,\"number\":%u,\"of\":%u",
            number + 1, book->count);
    put_kind(out, e);
    key(out, "source");
    put_source(out, e->source);
    panic_who_json(e, out);
    put_number(out, "ts_ns", e->row->time_ns);
    put_number(out, "clock", f.p.clock);
    put_device(out, e->source, section);
    put_number(out, "sm", e->row->sm);
    put_number(out, "warp_slot", e->row->slot);
    put_triple(out, "block", f.p.block);
    put_triple(out, "thread", f.p.thread);
    put_number(out, "warp", e->row->warp);
    put_number(out, "lane", f.p.lane);
    put_number(out, "lanes", e->row->mask);
    put_number(out, "failed", f.p.failed);
    put_site(out, d, e->row, 0, true);
    panic_book_crowd(book, number, &crowd);
    put_number(out, "at_site", crowd.at_site);
    put_number(out, "site_rank", crowd.site_rank);
    put_number(out, "in_block", crowd.in_block);
    put_number(out, "block_rank", crowd.block_rank);
    panic_about_json(out, d, &f);
    put_values(out, d, &f);
    put_fault(out, e);
    put_hang(out, e);
    panic_launch_json(e, out);
    panic_last_json(e, out);
    panic_chain_json(book, number, out);
    put_excerpt(out, &f, style->folder);
    fputs(",\"before\":{", out);
    for (int i = 0; i < PANIC_NEAR; i++) {
        fputs(i ? "," : "", out);
        put_records(out, names[i], e->source, &near[i], f.p.lane);
        panic_near_fini(&near[i]);
    }
    fputs("}}\n", out);
    return GPURT_OK;
}
