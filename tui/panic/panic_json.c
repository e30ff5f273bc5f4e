/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of docs/PANIC_JSON.md, version 1. */
#include "fileabout.h"
#include "hang_text.h"
#include "lives_text.h"
#include "panic_about.h"
#include "panic_case.h"
#include "panic_fault.h"
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
        panic_brief_t first;

        panic_brief_read(&book->list[s->first], &first);
        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "number", s->first + 1);
        gpurt_json_text(j, "kind", first.kind);
        gpurt_json_number(j, "count", s->count);
        gpurt_json_number(j, "first_ns", first.entry->row->time_ns);
        gpurt_json_number(j, "last_ns", book->list[s->last].row->time_ns);
        gpurt_json_text_known(j, "category", first.category ? first.category->id : NULL);
        who_json(j, &first.who);
        panic_who_site_json(j, "processes", book, i);
        panic_brief_json(j, &first, true);
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

static void put_excerpt(gpurt_json_t *j, const excerpt_t *e)
{
    gpurt_json_object(j, "source_lines");
    gpurt_json_number(j, "first", e->first);
    gpurt_json_number(j, "line", e->line);
    gpurt_json_number(j, "column", e->column);
    gpurt_json_number(j, "width", e->width);
    gpurt_json_text(j, "path", e->path);
    gpurt_json_array(j, "lines");
    for (uint32_t i = 0; i < e->count; i++)
        gpurt_json_text(j, NULL, e->lines[i]);
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
}

/* The fields of `gpurt-log cat --jsonl`. */
static void put_record(gpurt_json_t *j, const panic_source_t *source,
                       const gpurt_row_t *row, uint32_t lane)
{
    const gpurt_dictionary_t *d = panic_source_sites(source);
    uint32_t rank = panic_lane_rank(row, lane);
    char room[GPURT_MESSAGE_MAX];
    gpurt_site_info_t site;
    gpurt_text_t text;

    if (!gpurt_dictionary_get(d, row->site, &site) || site.kind != GPURT_DEF_SITE)
        memset(&site, 0, sizeof site);
    gpurt_text_init(&text, room, sizeof room);
    gpurt_render_message(d, row, rank, &text);
    gpurt_json_object(j, NULL);
    gpurt_json_number(j, "ts_ns", row->time_ns);
    gpurt_json_text(j, "level", gpurt_level_name(row->level));
    who_json_pid(j, gplog_program_pid(d, &source->about, row));
    put_device(j, source, row->section);
    gpurt_json_number(j, "sm", row->sm);
    gpurt_json_number(j, "block", row->block);
    gpurt_json_number(j, "warp", row->warp);
    gpurt_json_number(j, "lanes", gpurt_render_lanes(row, rank));
    gpurt_json_bytes(j, "file", site.file, site.file_bytes);
    gpurt_json_number(j, "line", site.line);
    gpurt_json_bytes(j, "msg", text.at, text.used);
    gpurt_json_object_end(j);
}

static void put_records(gpurt_json_t *j, const panic_case_t *c)
{
    static const char *const names[PANIC_NEAR] = {"warp", "block", "sm"};

    gpurt_json_object(j, "before");
    for (int i = 0; i < PANIC_NEAR; i++) {
        gpurt_json_array(j, names[i]);
        for (uint32_t k = 0; k < c->near[i].count; k++)
            put_record(j, c->source, c->near[i].rows[k], c->brief.facts.p.lane);
        gpurt_json_array_end(j);
    }
    gpurt_json_object_end(j);
}

/* Where and when it came, and among which others. */
static void put_place(gpurt_json_t *j, const panic_case_t *c)
{
    const panic_facts_t *f = &c->brief.facts;

    who_json(j, &c->brief.who);
    gpurt_json_number(j, "ts_ns", c->row->time_ns);
    gpurt_json_number(j, "clock", f->p.clock);
    put_device(j, c->source, c->row->section);
    gpurt_json_number(j, "sm", c->row->sm);
    gpurt_json_number(j, "warp_slot", c->row->slot);
    put_triple(j, "block", f->p.block);
    put_triple(j, "thread", f->p.thread);
    gpurt_json_number(j, "warp", c->row->warp);
    gpurt_json_number(j, "lane", f->p.lane);
    gpurt_json_number(j, "lanes", c->row->mask);
    gpurt_json_number(j, "failed", f->p.failed);
    panic_brief_json(j, &c->brief, true);
    gpurt_json_number(j, "at_site", c->crowd.at_site);
    gpurt_json_number(j, "site_rank", c->crowd.site_rank);
    gpurt_json_number(j, "in_block", c->crowd.in_block);
    gpurt_json_number(j, "block_rank", c->crowd.block_rank);
}

/* What is not there is null. */
static void put_evidence(gpurt_json_t *j, const panic_case_t *c)
{
    if (c->fault)
        panic_fault_json(j, "fault", &c->dump, c->fault);
    else
        gpurt_json_null(j, "fault");
    if (c->has_graph)
        hang_json(j, "hang", &c->graph);
    else
        gpurt_json_null(j, "hang");
    panic_ways_json(j, &c->ways);
    panic_last_json(j, &c->last);
    panic_chain_json(j, &c->chain);
    if (c->has_excerpt)
        put_excerpt(j, &c->excerpt);
    else
        gpurt_json_null(j, "source_lines");
}

void panic_show_json(const panic_case_t *c, FILE *out)
{
    gpurt_json_t json, *j = &json;

    gpurt_json_file(j, out);
    put_schema(j, "gpurt-panic");
    gpurt_json_number(j, "number", c->number + 1);
    gpurt_json_number(j, "of", c->book->count);
    gpurt_json_text(j, "kind", c->brief.kind);
    gpurt_json_object(j, "source");
    put_source(j, c->source);
    gpurt_json_object_end(j);
    put_place(j, c);
    panic_about_json(j, c->brief.sites, &c->brief.facts);
    put_values(j, c->brief.sites, &c->brief.facts);
    put_evidence(j, c);
    put_records(j, c);
    gpurt_json_object_end(j);
    gpurt_json_newline(j);
}
