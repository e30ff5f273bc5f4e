/* SPDX-License-Identifier: Apache-2.0 */
/* The sites of two runs side by side: which are new, which are gone, which fail more often. A
 * site that moved a few lines, in another build of the same file, is the same one. */
#include "panic_brief.h"
#include "panic_who.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

static const panic_entry_t *first_of(const panic_book_t *b, uint32_t site)
{
    return &b->list[b->sites[site].first];
}

static bool site_info(const panic_book_t *b, uint32_t site, gpurt_site_info_t *out)
{
    const panic_entry_t *e = first_of(b, site);

    return gpurt_dictionary_get(panic_source_sites(e->source), e->row->site, out);
}

static bool same_text(const char *a, uint32_t a_bytes, const char *b, uint32_t b_bytes)
{
    return a_bytes == b_bytes && (a_bytes == 0 || memcmp(a, b, a_bytes) == 0);
}

/* Folders differ from machine to machine. */
static bool same_site(const gpurt_site_info_t *x, const gpurt_site_info_t *y, bool line)
{
    uint32_t a_bytes, b_bytes;
    const char *a = panic_base(x->file, x->file_bytes, &a_bytes);
    const char *b = panic_base(y->file, y->file_bytes, &b_bytes);

    return (!line || x->line == y->line) && same_text(a, a_bytes, b, b_bytes) &&
           same_text(x->format, x->format_bytes, y->format, y->format_bytes);
}

static size_t message_of(const panic_entry_t *e, char room[GPURT_MESSAGE_MAX])
{
    gpurt_text_t text;

    gpurt_text_init(&text, room, GPURT_MESSAGE_MAX);
    gpurt_render_message(panic_source_sites(e->source), e->row, 0, &text);
    return text.used;
}

/* All deadlocks have one format. In another line it is the same one where it says the same. */
static bool says_same(const panic_entry_t *a, const panic_entry_t *b)
{
    char x[GPURT_MESSAGE_MAX], y[GPURT_MESSAGE_MAX];
    size_t bytes;

    if (a->row->kind != GPURT_KIND_HANG)
        return true;
    bytes = message_of(a, x);
    return bytes == message_of(b, y) && memcmp(x, y, bytes) == 0;
}

/* Fills, for each site of b, the one of a that it was; first those in the same line. */
static void match(const panic_book_t *a, const panic_book_t *b, uint32_t *was, bool *taken)
{
    gpurt_site_info_t x, y;

    for (int line = 1; line >= 0; line--)
        for (uint32_t j = 0; j < b->site_count; j++)
            for (uint32_t i = 0; was[j] == NONE && i < a->site_count; i++)
                if (!taken[i] && site_info(a, i, &x) && site_info(b, j, &y) &&
                    same_site(&x, &y, line) &&
                    (line || says_same(first_of(a, i), first_of(b, j)))) {
                    was[j] = i;
                    taken[i] = true;
                }
}

static void print_line(const panic_book_t *book, uint32_t site, const char *word,
                       uint64_t before, uint64_t now, const panic_style_t *style)
{
    const panic_entry_t *e = &book->list[book->sites[site].first];
    const char *colour = strcmp(word, "new") == 0 || strcmp(word, "more") == 0 ? PANIC_RED
                         : strcmp(word, "same") == 0                           ? NULL
                                                                               : PANIC_CYAN;
    panic_brief_t b;
    panic_line_t line;

    panic_brief_read(e, &b);
    panic_line_begin(&line, style);
    gpurt_text_printf(&line.text, "%-5s %6" PRIu64 " -> %-6" PRIu64 "  ", word, before,
                      now);
    if (panic_brief_place(&b, &line.text))
        gpurt_text_printf(&line.text, "  ");
    if (panic_who_any(book)) {
        panic_who_site_text(book, site, &line.text);
        gpurt_text_printf(&line.text, "  ");
    }
    panic_brief_message(&b, &line.text);
    panic_line_end(&line, colour);
}

static void put_line(const panic_book_t *book, uint32_t site, const char *word,
                     uint64_t before, uint64_t now, gpurt_json_t *j)
{
    panic_brief_t b;

    panic_brief_read(&book->list[book->sites[site].first], &b);
    gpurt_json_object(j, NULL);
    gpurt_json_text(j, "change", word);
    gpurt_json_number(j, "before", before);
    gpurt_json_number(j, "now", now);
    panic_brief_json(j, &b, false);
    panic_who_site_json(j, "processes", book, site);
    gpurt_json_object_end(j);
}

static void diff_begin(gpurt_json_t *j, FILE *out)
{
    gpurt_json_file(j, out);
    gpurt_json_object(j, NULL);
    gpurt_json_text(j, "schema", "gpurt-panic-diff");
    gpurt_json_number(j, "version", 1);
    gpurt_json_array(j, "sites");
}

static void diff_end(gpurt_json_t *j)
{
    gpurt_json_array_end(j);
    gpurt_json_object_end(j);
    gpurt_json_newline(j);
}

int panic_diff(const panic_book_t *a, const panic_book_t *b, bool json,
               const panic_style_t *style)
{
    uint32_t *was = malloc((b->site_count + 1) * sizeof *was);
    bool *taken = calloc(a->site_count + 1, sizeof *taken), worse = false;
    gpurt_json_t j;

    if (!was || !taken) {
        free(was);
        free(taken);
        return -1;
    }
    for (uint32_t i = 0; i < b->site_count; i++)
        was[i] = NONE;
    match(a, b, was, taken);
    if (json)
        diff_begin(&j, style->out);
    for (uint32_t i = 0; i < a->site_count + b->site_count; i++) {
        bool gone = i >= b->site_count;
        uint32_t site = gone ? i - b->site_count : i;
        uint64_t before = gone                ? a->sites[site].count
                          : was[site] == NONE ? 0
                                              : a->sites[was[site]].count,
                 now = gone ? 0 : b->sites[site].count;
        const char *word = gone            ? "gone"
                           : before == 0   ? "new"
                           : now > before  ? "more"
                           : now == before ? "same"
                                           : "fewer";

        if (gone && taken[site])
            continue;
        worse = worse || now > before;
        if (json)
            put_line(gone ? a : b, site, word, before, now, &j);
        else
            print_line(gone ? a : b, site, word, before, now, style);
    }
    if (json)
        diff_end(&j);
    free(was);
    free(taken);
    return worse;
}
