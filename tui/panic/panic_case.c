/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_case.h"

/* The dump of a fault, the graph of a hang. */
static void evidence_find(panic_case_t *c)
{
    c->fault = NULL;
    c->borrowed = true;
    c->has_graph = false;
    if (c->row->kind == GPURT_KIND_FAULT &&
        panic_dump_of(c->source, &c->brief.facts, &c->dump, &c->fault, &c->borrowed,
                      &c->lost) != GPURT_OK) {
        c->fault = NULL;
        c->borrowed = true;
    }
    if (c->row->kind == GPURT_KIND_HANG)
        c->has_graph = panic_hang_of(c->source, &c->brief.facts, &c->waits, &c->graph,
                                     &c->lost) == GPURT_OK;
}

gpurt_status_t panic_case_open(const panic_book_t *book, uint32_t number,
                               const panic_style_t *style, panic_case_t *out,
                               gpurt_error_t *err)
{
    const panic_entry_t *e = &book->list[number];
    const gpurt_site_info_t *site = &out->brief.facts.site;
    gpurt_status_t st = panic_source_near(e->source, e->row, style->near, out->near, err);

    if (st != GPURT_OK)
        return st;
    out->book = book;
    out->number = number;
    out->source = e->source;
    out->row = e->row;
    panic_brief_read(e, &out->brief);
    panic_book_crowd(book, number, &out->crowd);
    panic_chain_find(book, number, &out->chain);
    panic_ways_find(e, &out->ways);
    panic_last_find(e->source, e->row, &out->last);
    evidence_find(out);
    out->has_excerpt = excerpt_read(site->file, site->file_bytes, site->line, style->folder,
                                    &out->excerpt);
    return GPURT_OK;
}

void panic_case_close(panic_case_t *c)
{
    for (int i = 0; i < PANIC_NEAR; i++)
        panic_near_fini(&c->near[i]);
    panic_ways_free(&c->ways);
    panic_last_free(&c->last);
    if (!c->borrowed)
        panic_dump_close(&c->dump);
    if (c->has_graph) {
        gpurt_waitgraph_fini(&c->graph);
        gpurt_waits_fini(&c->waits);
    }
}
