/* SPDX-License-Identifier: Apache-2.0 */
/* One line a site: how often, from when to when, where, and what the first one said. */
#include "lives_text.h"
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

static void site_where(const panic_entry_t *e, gpurt_text_t *out)
{
    gpurt_site_info_t site;
    uint32_t bytes;
    const char *base;

    if (!gpurt_dictionary_get(panic_source_sites(e->source), e->row->site, &site)) {
        gpurt_text_printf(out, "site %u", e->row->site);
        return;
    }
    if (site.file_bytes == 0) {
        gpurt_text_add(out, "-", 1); /* without debug information */
        return;
    }
    base = panic_base(site.file, site.file_bytes, &bytes);
    gpurt_render_plain(out, base, bytes);
    gpurt_text_printf(out, ":%u", site.line);
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
    char from[PANIC_TIME], to[PANIC_TIME], where_room[WHERE], text_room[GPURT_MESSAGE_MAX];
    char who_room[WHERE];
    gpurt_text_t where, text, who;
    panic_line_t line;

    gpurt_text_init(&where, where_room, sizeof where_room);
    site_where(first, &where);
    gpurt_text_init(&text, text_room, sizeof text_room);
    panic_book_message(first, &text);
    panic_line_begin(&line, style);
    gpurt_text_printf(&line.text, "%4u %6llu  %s  %s  %-*s  ", site->first + 1,
                      (unsigned long long)site->count,
                      panic_time(first->row->time_ns, 3, from),
                      panic_time(last->row->time_ns, 3, to), widths->where, where_room);
    gpurt_text_init(&who, who_room, sizeof who_room);
    site_who(book, number, &who);
    if (widths->who)
        gpurt_text_printf(&line.text, "%-*s  ", widths->who, who_room);
    gpurt_render_plain(&line.text, text.at, text.used);
    panic_line_end(&line, NULL);
}

static widths_t widest(const panic_book_t *book)
{
    size_t where = 4, who = panic_who_any(book) ? 5 : 0;

    for (uint32_t i = 0; i < book->site_count; i++) {
        char room[WHERE];
        gpurt_text_t text;

        gpurt_text_init(&text, room, sizeof room);
        site_where(&book->list[book->sites[i].first], &text);
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
    fprintf(style->out, "%u panic%s at %u site%s\n", book->count,
            gpurt_plural(book->count, "s"), book->site_count,
            gpurt_plural(book->site_count, "s"));
    for (uint32_t i = 0; i < book->source_count; i++) {
        print_lives(&book->sources[i], style);
        panic_last_line(&book->sources[i], style);
        panic_line_source(&book->sources[i], style);
    }
}
