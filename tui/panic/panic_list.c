/* SPDX-License-Identifier: Apache-2.0 */
/* One line a site: how often, from when to when, where, and what the first one said. */
#include "lives_text.h"
#include "panic_brief.h"
#include "panic_category.h"
#include "panic_last.h"
#include "panic_who.h"
#include "plural.h"

#include <stdlib.h>
#include <string.h>

enum {
    WHERE = 128
};

/* Columns of what is as wide as its longest; 0: the column is not there. */
typedef struct widths {
    int where, who;
} widths_t;

static void site_where(const panic_brief_t *b, gpurt_text_t *out)
{
    if (b->facts.site.kind != GPURT_DEF_SITE)
        gpurt_text_printf(out, "site %u", b->entry->row->site);
    else if (!panic_brief_place(b, out))
        gpurt_text_add(out, "-", 1); /* without debug information */
}

/* Whose failures a site's are; nothing where no source is of several processes. */
static void site_who(const panic_book_t *book, uint32_t number, gpurt_text_t *out)
{
    if (panic_who_any(book))
        panic_who_site_text(book, number, out);
}

static void print_site(const panic_book_t *book, uint32_t number, const widths_t *widths,
                       const panic_style_t *style)
{
    const panic_site_t *site = &book->sites[number];
    const panic_entry_t *first = &book->list[site->first], *last = &book->list[site->last];
    char from[PANIC_TIME], to[PANIC_TIME], where_room[WHERE];
    char who_room[WHERE];
    gpurt_text_t where, who;
    panic_brief_t b;
    panic_line_t line;

    panic_brief_read(first, &b);
    gpurt_text_init(&where, where_room, sizeof where_room);
    site_where(&b, &where);
    panic_line_begin(&line, style);
    gpurt_text_printf(&line.text, "%4u %6llu  %s  %s  %-*s  ", site->first + 1,
                      (unsigned long long)site->count,
                      panic_time(first->row->time_ns, 3, from),
                      panic_time(last->row->time_ns, 3, to), widths->where, where_room);
    gpurt_text_init(&who, who_room, sizeof who_room);
    site_who(book, number, &who);
    if (widths->who)
        gpurt_text_printf(&line.text, "%-*s  ", widths->who, who_room);
    panic_brief_message(&b, &line.text);
    panic_line_end(&line, NULL);
}

static widths_t widest(const panic_book_t *book)
{
    size_t where = 4, who = panic_who_any(book) ? 5 : 0;

    for (uint32_t i = 0; i < book->site_count; i++) {
        char room[WHERE];
        gpurt_text_t text;
        panic_brief_t b;

        panic_brief_read(&book->list[book->sites[i].first], &b);
        gpurt_text_init(&text, room, sizeof room);
        site_where(&b, &text);
        where = text.used > where ? text.used : where;
        gpurt_text_init(&text, room, sizeof room);
        site_who(book, i, &text);
        who = text.used > who ? text.used : who;
    }
    return (widths_t){(int)where, (int)who};
}

static void print_lives(const panic_source_t *source, const panic_style_t *style)
{
    gpurt_life_t *lives = NULL;
    uint32_t count = 0;

    if (source->log)
        gpurt_lives_read(source->log, &lives, &count, NULL);
    lives_print(style->out, lives, count);
    free(lives);
}

void panic_list_print(const panic_book_t *book, const panic_style_t *style)
{
    widths_t widths = widest(book);
    uint64_t faults = 0, hangs = 0;
    char counts[PANIC_COUNTS];
    panic_line_t line;

    if (book->count) {
        panic_line_begin(&line, style);
        gpurt_text_printf(&line.text, "%4s %6s  %-23s  %-23s  %-*s  ", "N", "COUNT",
                          "FIRST", "LAST", widths.where, "SITE");
        if (widths.who)
            gpurt_text_printf(&line.text, "%-*s  ", widths.who, "WHOSE");
        gpurt_text_printf(&line.text, "MESSAGE OF THE FIRST");
        panic_line_end(&line, PANIC_DIM);
    }
    for (uint32_t i = 0; i < book->site_count; i++)
        print_site(book, i, &widths, style);
    for (uint32_t i = 0; i < book->count; i++) {
        const panic_entry_t *e = &book->list[i];
        panic_facts_t facts;
        uint32_t kind;

        panic_read(panic_source_sites(e->source), e->row, &facts);
        kind = gpurt_panicrow_kind(e->row, &facts.p);
        faults += kind == GPURT_KIND_FAULT;
        hangs += kind == GPURT_KIND_HANG;
    }
    panic_counts_text(book->count, faults, hangs, counts);
    fprintf(style->out, "%s at %u site%s\n", counts, book->site_count,
            gpurt_plural(book->site_count, "s"));
    for (uint32_t i = 0; i < book->source_count; i++) {
        print_lives(&book->sources[i], style);
        panic_last_line(&book->sources[i], style);
        panic_line_source(&book->sources[i], style);
    }
}
