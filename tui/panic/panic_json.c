/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of docs/PANIC_JSON.md, version 1. */
#include "fileabout.h"
#include "hang_text.h"
#include "json.h"
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

#include <stdlib.h>
#include <string.h>

static void put_triple(gpurt_json_t *j, const char *key, gpurt_dim3_t v)
{
    gpurt_json_triple(j, key, v.x, v.y, v.z);
}

static void put_device(gpurt_json_t *j, const panic_source_t *source, uint32_t section)
{
    const gplog_section_t *s =
        section < source->about.section_count ? &source->about.sections[section] : NULL;

    gpurt_json_text(j, "back_end", gplog_back_end(s ? s->kind : GPURT_SECTION_NONE));
    if (s && s->kind == GPURT_SECTION_HOST)
        gpurt_json_signed(j, "device", -1);
    else
        gpurt_json_number(j, "device", s ? s->device : 0);
}

/* site, file and so on of a row, with its message. */
static void put_site(gpurt_json_t *j, const gpurt_dictionary_t *d, const gpurt_row_t *row,
                     uint32_t lane, bool format)
{
    char room[GPURT_MESSAGE_MAX];
    gpurt_site_info_t site;
    gpurt_text_t text;

    if (!gpurt_dictionary_get(d, row->site, &site) || site.kind != GPURT_DEF_SITE)
        memset(&site, 0, sizeof site);
    gpurt_json_bytes(j, "file", site.file, site.file_bytes);
    gpurt_json_number(j, "line", site.line);
    if (format) {
        gpurt_json_bytes(j, "module", site.module, site.module_bytes);
        gpurt_json_bytes(j, "format", site.format, site.format_bytes);
    }
    gpurt_text_init(&text, room, sizeof room);
    gpurt_render_message(d, row, lane, &text);
    gpurt_json_bytes(j, "msg", text.at, text.used);
}

static void put_lives(gpurt_json_t *j, const panic_source_t *s)
{
    gpurt_life_t *lives = NULL;
    uint32_t count = 0;

    if (s->log)
        gpurt_lives_read(s->log, &lives, &count, NULL);
    lives_json(j, "lives", lives, count);
    free(lives);
}

/* The fields of the object that is open. */
static void put_source(gpurt_json_t *j, const panic_source_t *s)
{
    const gpurt_box_identity_t *id = &s->about.identity;

    gpurt_json_text(j, "name", s->name);
    gpurt_json_text(j, "kind", s->log ? "log" : s->dump.core ? "gpu-core" : "box");
    gpurt_json_bool(j, "alive", s->alive);
    gpurt_json_field(j, "program", id->program);
    gpurt_json_field(j, "host", id->host);
    gpurt_json_number(j, "pid", id->pid);
    gpurt_json_number(j, "left_out", s->left_out);
    gpurt_json_number(j, "torn_frames", s->torn_frames);
    who_json_list(j, "programs", panic_source_sites(s), &s->about, NULL);
    put_lives(j, s);
}

static void put_kind(gpurt_json_t *j, const panic_entry_t *e)
{
    gpurt_json_text(j, "kind", panic_kind_name(panic_source_sites(e->source), e->row));
}

/* Of a site: that of its first panic. */
static void put_category(gpurt_json_t *j, const panic_entry_t *e)
{
    panic_facts_t f;

    panic_read(panic_source_sites(e->source), e->row, &f);
    gpurt_json_text_known(
        j, "category",
        e->row->kind == GPURT_KIND_PANIC ? panic_category(f.p.category)->id : NULL);
}

static void put_schema(gpurt_json_t *j, const char *schema)
{
    gpurt_json_object(j, NULL);
    gpurt_json_text(j, "schema", schema);
    gpurt_json_number(j, "version", 1);
}

/* ---- list ---------------------------------------------------------------------------- */
static void put_sites(gpurt_json_t *j, const panic_book_t *book)
{
    gpurt_json_array(j, "sites");
    for (uint32_t i = 0; i < book->site_count; i++) {
        const panic_site_t *s = &book->sites[i];
        const panic_entry_t *first = &book->list[s->first];

        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "number", s->first + 1);
        put_kind(j, first);
        gpurt_json_number(j, "count", s->count);
        gpurt_json_number(j, "first_ns", first->row->time_ns);
        gpurt_json_number(j, "last_ns", book->list[s->last].row->time_ns);
        put_category(j, first);
        panic_who_json(j, first);
        panic_who_site_json(j, "processes", book, i);
        put_site(j, panic_source_sites(first->source), first->row, 0, true);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

void panic_list_json(const panic_book_t *book, FILE *out)
{
    gpurt_json_t json, *j = &json;

    gpurt_json_file(j, out);
    put_schema(j, "gpurt-panic-list");
    gpurt_json_number(j, "panics", book->count);
    put_sites(j, book);
    gpurt_json_array(j, "sources");
    for (uint32_t i = 0; i < book->source_count; i++) {
        gpurt_json_object(j, NULL);
        put_source(j, &book->sources[i]);
        panic_last_json_all(j, &book->sources[i]);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
    gpurt_json_newline(j);
}

/* ---- show ---------------------------------------------------------------------------- */
static void put_values(gpurt_json_t *j, const gpurt_dictionary_t *d, const panic_facts_t *f)
{
    gpurt_json_array(j, "operands");
    for (uint32_t i = 0; i < f->p.arg_count; i++) {
        gpurt_json_object(j, NULL);
        panic_value_json(j, d, gpurt_type_at(f->site.types, i), f->p.args[i]);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
    gpurt_json_array(j, "lane_values");
    for (uint32_t m = f->p.known[0]; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);

        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "lane", lane);
        gpurt_json_bool(j, "failed", f->p.failed >> lane & 1);
        if (f->p.known[1] >> lane & 1) {
            gpurt_json_object(j, "second");
            panic_value_json(j, d, gpurt_type_at(f->site.types, 1), f->p.lanes[1][lane]);
            gpurt_json_object_end(j);
        }
        panic_value_json(j, d, gpurt_type_at(f->site.types, 0), f->p.lanes[0][lane]);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

static void put_excerpt(gpurt_json_t *j, const panic_facts_t *f, const char *folder)
{
    excerpt_t e;

    if (!excerpt_read(f->site.file, f->site.file_bytes, f->site.line, folder, &e)) {
        gpurt_json_null(j, "source_lines");
        return;
    }
    gpurt_json_object(j, "source_lines");
    gpurt_json_number(j, "first", e.first);
    gpurt_json_number(j, "line", e.line);
    gpurt_json_number(j, "column", e.column);
    gpurt_json_number(j, "width", e.width);
    gpurt_json_text(j, "path", e.path);
    gpurt_json_array(j, "lines");
    for (uint32_t i = 0; i < e.count; i++)
        gpurt_json_text(j, NULL, e.lines[i]);
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
}

/* The fields of `gpurt-log cat --jsonl`. */
static void put_records(gpurt_json_t *j, const char *key, const panic_source_t *source,
                        const panic_near_t *near, uint32_t lane)
{
    const gpurt_dictionary_t *d = panic_source_sites(source);

    gpurt_json_array(j, key);
    for (uint32_t i = 0; i < near->count; i++) {
        const gpurt_row_t *row = near->rows[i];
        uint32_t rank = panic_lane_rank(row, lane);

        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "ts_ns", row->time_ns);
        gpurt_json_text(j, "level", gpurt_level_name(row->level));
        who_json_pid(j, gplog_program_pid(d, &source->about, row));
        put_device(j, source, row->section);
        gpurt_json_number(j, "sm", row->sm);
        gpurt_json_number(j, "block", row->block);
        gpurt_json_number(j, "warp", row->warp);
        gpurt_json_number(j, "lanes", gpurt_render_lanes(row, rank));
        put_site(j, d, row, rank, false);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}

/* null for a panic, and where the dump was not kept. */
static void put_fault(gpurt_json_t *j, const panic_entry_t *e)
{
    const fault_t *fault = NULL;
    panic_dump_t dump;
    bool borrowed;

    if (e->row->kind != GPURT_KIND_FAULT ||
        panic_dump_of(e->source, e->row, &dump, &fault, &borrowed, NULL) != GPURT_OK) {
        gpurt_json_null(j, "fault");
        return;
    }
    panic_fault_json(j, "fault", &dump, fault);
    if (!borrowed)
        panic_dump_close(&dump);
}

/* null for what is no hang, and where its snapshot was not kept. */
static void put_hang(gpurt_json_t *j, const panic_entry_t *e)
{
    gpurt_waitgraph_t graph;
    gpurt_waits_t waits;

    if (e->row->kind != GPURT_KIND_HANG ||
        panic_hang_of(e->source, e->row, &waits, &graph, NULL) != GPURT_OK) {
        gpurt_json_null(j, "hang");
        return;
    }
    hang_json(j, "hang", &graph);
    gpurt_waitgraph_fini(&graph);
    gpurt_waits_fini(&waits);
}

/* Where and when it came, and among which others. */
static void put_place(gpurt_json_t *j, const panic_book_t *book, uint32_t number,
                      const panic_facts_t *f)
{
    const panic_entry_t *e = &book->list[number];
    panic_crowd_t crowd;

    panic_who_json(j, e);
    gpurt_json_number(j, "ts_ns", e->row->time_ns);
    gpurt_json_number(j, "clock", f->p.clock);
    put_device(j, e->source, e->row->section);
    gpurt_json_number(j, "sm", e->row->sm);
    gpurt_json_number(j, "warp_slot", e->row->slot);
    put_triple(j, "block", f->p.block);
    put_triple(j, "thread", f->p.thread);
    gpurt_json_number(j, "warp", e->row->warp);
    gpurt_json_number(j, "lane", f->p.lane);
    gpurt_json_number(j, "lanes", e->row->mask);
    gpurt_json_number(j, "failed", f->p.failed);
    put_site(j, panic_source_sites(e->source), e->row, 0, true);
    panic_book_crowd(book, number, &crowd);
    gpurt_json_number(j, "at_site", crowd.at_site);
    gpurt_json_number(j, "site_rank", crowd.site_rank);
    gpurt_json_number(j, "in_block", crowd.in_block);
    gpurt_json_number(j, "block_rank", crowd.block_rank);
}

gpurt_status_t panic_show_json(const panic_book_t *book, uint32_t number,
                               const panic_style_t *style, gpurt_error_t *err)
{
    static const char *const names[PANIC_NEAR] = {"warp", "block", "sm"};
    const panic_entry_t *e = &book->list[number];
    const gpurt_dictionary_t *d = panic_source_sites(e->source);
    panic_near_t near[PANIC_NEAR];
    gpurt_json_t json, *j = &json;
    panic_facts_t f;
    gpurt_status_t st = panic_source_near(e->source, e->row, style->near, near, err);

    if (st != GPURT_OK)
        return st;
    panic_read(d, e->row, &f);
    gpurt_json_file(j, style->out);
    put_schema(j, "gpurt-panic");
    gpurt_json_number(j, "number", number + 1);
    gpurt_json_number(j, "of", book->count);
    put_kind(j, e);
    gpurt_json_object(j, "source");
    put_source(j, e->source);
    gpurt_json_object_end(j);
    put_place(j, book, number, &f);
    panic_about_json(j, d, &f);
    put_values(j, d, &f);
    put_fault(j, e);
    put_hang(j, e);
    panic_launch_json(j, e);
    panic_last_json(j, e);
    panic_chain_json(j, book, number);
    put_excerpt(j, &f, style->folder);
    gpurt_json_object(j, "before");
    for (int i = 0; i < PANIC_NEAR; i++) {
        put_records(j, names[i], e->source, &near[i], f.p.lane);
        panic_near_fini(&near[i]);
    }
    gpurt_json_object_end(j);
    gpurt_json_object_end(j);
    gpurt_json_newline(j);
    return GPURT_OK;
}
