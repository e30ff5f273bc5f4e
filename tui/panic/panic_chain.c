/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_chain.h"

#include "panic_line.h"
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

/* The book is sorted by time. */
uint32_t panic_chain_find(const panic_book_t *book, uint32_t number,
                          panic_link_t out[CHAIN_MAX])
{
    const panic_entry_t *e = &book->list[number];
    uint32_t count = 0, first = number;

    for (uint32_t relation = RELATION_WARP; relation <= RELATION_BLOCK && !count;
         relation++)
        for (uint32_t i = number; i-- > 0 && !count;)
            if (same_place(e, &book->list[i], relation == RELATION_WARP))
                out[count++] = (panic_link_t){i, relation};
    for (uint32_t i = 0; i < number && first == number; i++)
        if (book->list[i].source == e->source)
            first = i;
    if (first != number && (count == 0 || out[0].number != first))
        out[count++] = (panic_link_t){first, RELATION_FIRST};
    return count;
}

static void message_of(const panic_book_t *book, uint32_t number, gpurt_text_t *out)
{
    const panic_entry_t *e = &book->list[number];
    gpurt_site_info_t site;
    uint32_t bytes;

    panic_book_message(e, out);
    if (gpurt_dictionary_get(panic_source_sites(e->source), e->row->site, &site) &&
        site.file_bytes) {
        const char *base = panic_base(site.file, site.file_bytes, &bytes);

        gpurt_text_printf(out, " at %.*s:%u", (int)bytes, base, site.line);
    }
}

void panic_chain_print(const panic_book_t *book, uint32_t number,
                       const panic_style_t *style)
{
    static const char *const words[] = {"its warp had failed", "its block had failed",
                                        "the first failure was"};
    panic_link_t links[CHAIN_MAX];
    uint32_t count = panic_chain_find(book, number, links);

    for (uint32_t i = 0; i < count; i++) {
        const panic_entry_t *cause = &book->list[links[i].number];
        char room[GPURT_MESSAGE_MAX];
        gpurt_text_t message;
        panic_line_t line;

        gpurt_text_init(&message, room, sizeof room);
        message_of(book, links[i].number, &message);
        panic_line_begin(&line, style);
        gpurt_text_printf(&line.text, "  %-9s %s %.3f ms before: number %u, ",
                          i ? "" : "chain", words[links[i].relation],
                          (double)(book->list[number].row->time_ns - cause->row->time_ns) /
                              1e6,
                          links[i].number + 1);
        if (panic_who_told(cause->source) && !panic_who_same(cause, &book->list[number])) {
            panic_who_text(cause, &line.text);
            gpurt_text_printf(&line.text, ": ");
        }
        gpurt_render_plain(&line.text, message.at, message.used);
        panic_line_end(&line, PANIC_YELLOW);
    }
}

void panic_chain_json(gpurt_json_t *j, const panic_book_t *book, uint32_t number)
{
    static const char *const words[] = {"same-warp", "same-block", "first"};
    panic_link_t links[CHAIN_MAX];
    uint32_t count = panic_chain_find(book, number, links);

    gpurt_json_array(j, "chain");
    for (uint32_t i = 0; i < count; i++) {
        const panic_entry_t *cause = &book->list[links[i].number];
        char room[GPURT_MESSAGE_MAX];
        gpurt_text_t message;

        gpurt_text_init(&message, room, sizeof room);
        panic_book_message(cause, &message);
        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "number", links[i].number + 1);
        gpurt_json_text(j, "relation", words[links[i].relation]);
        gpurt_json_number(j, "before_ns",
                          book->list[number].row->time_ns - cause->row->time_ns);
        gpurt_json_bytes(j, "msg", message.at, message.used);
        panic_who_json(j, cause);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
}
