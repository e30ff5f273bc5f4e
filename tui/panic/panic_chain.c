/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_chain.h"

#include "panic_brief.h"
#include "panic_who.h"

#include <string.h>

static bool same_place(const panic_entry_t *a, const panic_entry_t *b, bool warp)
{
    panic_facts_t x, y;

    if (!panic_who_same(a, b) || a->row->section != b->row->section)
        return false;
    panic_read(panic_source_sites(a->source), a->row, &x);
    panic_read(panic_source_sites(b->source), b->row, &y);
    if (x.p.about && y.p.about && x.p.launch != y.p.launch)
        return false;
    return x.p.block.x == y.p.block.x && x.p.block.y == y.p.block.y &&
           x.p.block.z == y.p.block.z &&
           (!warp || (a->row->sm == b->row->sm && a->row->slot == b->row->slot &&
                      a->row->warp == b->row->warp));
}

static void add(panic_chain_t *chain, uint32_t number, uint32_t relation)
{
    chain->links[chain->count++] = (panic_link_t){number, relation};
}

/* The book is sorted by time. */
void panic_chain_find(const panic_book_t *book, uint32_t number, panic_chain_t *out)
{
    const panic_entry_t *e = &book->list[number];
    uint32_t first = number;

    *out = (panic_chain_t){.book = book, .number = number};
    for (uint32_t relation = RELATION_WARP; relation <= RELATION_BLOCK && !out->count;
         relation++)
        for (uint32_t i = number; i-- > 0 && !out->count;)
            if (same_place(e, &book->list[i], relation == RELATION_WARP))
                add(out, i, relation);
    for (uint32_t i = 0; i < number && first == number; i++)
        if (book->list[i].source == e->source)
            first = i;
    if (first != number && (out->count == 0 || out->links[0].number != first))
        add(out, first, RELATION_FIRST);
}

static uint64_t before_ns(const panic_chain_t *chain, const panic_brief_t *cause)
{
    return chain->book->list[chain->number].row->time_ns - cause->entry->row->time_ns;
}

void panic_chain_print(const panic_chain_t *chain, const panic_style_t *style)
{
    static const char *const words[] = {"its warp had failed", "its block had failed",
                                        "the first failure was"};

    for (uint32_t i = 0; i < chain->count; i++) {
        const panic_link_t *link = &chain->links[i];
        const panic_entry_t *e = &chain->book->list[link->number];
        panic_brief_t cause;
        panic_line_t line;

        panic_brief_read(e, &cause);
        panic_line_begin(&line, style);
        gpurt_text_printf(&line.text, "  %-9s %s %.3f ms before: number %u, ",
                          i ? "" : "chain", words[link->relation],
                          (double)before_ns(chain, &cause) / 1e6, link->number + 1);
        if (panic_who_told(e->source) &&
            !panic_who_same(e, &chain->book->list[chain->number])) {
            who_text(&cause.who, &line.text);
            gpurt_text_printf(&line.text, ": ");
        }
        panic_brief_message(&cause, &line.text);
        if (cause.facts.site.file_bytes)
            gpurt_text_printf(&line.text, " at ");
        panic_brief_place(&cause, &line.text);
        panic_line_end(&line, PANIC_YELLOW);
    }
}

void panic_chain_json(gpurt_json_t *j, const panic_chain_t *chain)
{
    static const char *const words[] = {"same-warp", "same-block", "first"};

    gpurt_json_array(j, "chain");
    for (uint32_t i = 0; i < chain->count; i++) {
        panic_brief_t cause;

        panic_brief_read(&chain->book->list[chain->links[i].number], &cause);
        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "number", chain->links[i].number + 1);
        gpurt_json_text(j, "relation", words[chain->links[i].relation]);
        gpurt_json_number(j, "before_ns", before_ns(chain, &cause));
        gpurt_json_bytes(j, "msg", cause.message.at, cause.message.used);
        who_json(j, &cause.who);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}
