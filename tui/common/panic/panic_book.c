/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_book.h"

#include "panic_read.h"
#include "panic_who.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct filling {
    panic_book_t *book;
    panic_source_t *source;
    bool short_of_memory;
} filling_t;

static bool take(void *context, const gpurt_row_t *row)
{
    filling_t *f = context;
    panic_book_t *b = f->book;
    panic_entry_t *e;

    if (!filter_run_message(b->run, panic_source_sites(f->source), &f->source->about, row,
                            0)) {
        b->left_out++;
        return true;
    }
    if (b->count == b->room) {
        uint32_t room = b->room ? 2 * b->room : 64;
        panic_entry_t *list = room > b->room ? realloc(b->list, room * sizeof *list) : NULL;

        if (!list) {
            f->short_of_memory = true;
            return false;
        }
        b->list = list;
        b->room = room;
    }
    e = &b->list[b->count];
    e->source = f->source;
    e->row = panic_row_copy(row);
    f->short_of_memory = !e->row;
    b->count += e->row != NULL;
    return e->row != NULL;
}

static int by_time(const void *a, const void *b)
{
    const panic_entry_t *x = a, *y = b;

    if (x->row->time_ns != y->row->time_ns)
        return x->row->time_ns < y->row->time_ns ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->row->sm != y->row->sm)
        return x->row->sm < y->row->sm ? -1 : 1;
    return (int)x->row->slot - (int)y->row->slot;
}

static bool same_text(const char *a, uint32_t a_bytes, const char *b, uint32_t b_bytes)
{
    return a_bytes == b_bytes && (a_bytes == 0 || memcmp(a, b, a_bytes) == 0);
}

static bool same_site(const panic_entry_t *a, const panic_entry_t *b)
{
    gpurt_site_info_t x = {0}, y = {0};
    bool known = gpurt_dictionary_get(panic_source_sites(a->source), a->row->site, &x);

    if (a->source == b->source && a->row->site == b->row->site)
        return true;
    if (!known || !gpurt_dictionary_get(panic_source_sites(b->source), b->row->site, &y))
        return false;
    return x.line == y.line && same_text(x.file, x.file_bytes, y.file, y.file_bytes) &&
           same_text(x.format, x.format_bytes, y.format, y.format_bytes);
}

static bool count_sites(panic_book_t *book)
{
    book->sites = calloc(book->count ? book->count : 1, sizeof *book->sites);
    if (!book->sites)
        return false;
    for (uint32_t i = 0; i < book->count; i++) {
        uint32_t s = 0;

        while (s < book->site_count &&
               !same_site(&book->list[book->sites[s].first], &book->list[i]))
            s++;
        if (s == book->site_count) {
            book->sites[s].first = i;
            book->site_count++;
        }
        book->list[i].site = s;
        book->sites[s].last = i;
        book->sites[s].count++;
    }
    return true;
}

static void facts_of(const panic_entry_t *e, panic_facts_t *out)
{
    panic_read(panic_source_sites(e->source), e->row, out);
}

static bool same_block(const panic_entry_t *a, const panic_facts_t *x,
                       const panic_entry_t *b, const panic_facts_t *y)
{
    return panic_who_same(a, b) && a->row->section == b->row->section && y->p.about &&
           x->p.launch == y->p.launch && x->p.block.x == y->p.block.x &&
           x->p.block.y == y->p.block.y && x->p.block.z == y->p.block.z;
}

void panic_book_crowd(const panic_book_t *book, uint32_t number, panic_crowd_t *out)
{
    const panic_entry_t *own = &book->list[number];
    panic_facts_t mine, other;

    memset(out, 0, sizeof *out);
    facts_of(own, &mine);
    for (uint32_t i = 0; i < book->count; i++) {
        const panic_entry_t *e = &book->list[i];

        if (same_site(own, e)) {
            out->at_site++;
            out->site_rank += i <= number;
        }
        if (!mine.p.about)
            continue;
        facts_of(e, &other);
        if (same_block(own, &mine, e, &other)) {
            out->in_block++;
            out->block_rank += other.p.number <= mine.p.number;
        }
    }
}

gpurt_status_t panic_book_fill(panic_book_t *book, gpurt_error_t *err)
{
    for (uint32_t i = 0; i < book->source_count; i++) {
        filling_t filling = {book, &book->sources[i], false};
        gpurt_status_t st = panic_source_panics(&book->sources[i], take, &filling, err);

        if (filling.short_of_memory)
            return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "panics");
        if (st != GPURT_OK)
            return st;
    }
    if (book->count)
        qsort(book->list, book->count, sizeof *book->list, by_time);
    if (!count_sites(book))
        return gpurt_fail(err, GPURT_E_NOMEM, GPURT_FROM_ERRNO, ENOMEM, "panics");
    return GPURT_OK;
}

void panic_book_fini(panic_book_t *book)
{
    for (uint32_t i = 0; i < book->count; i++)
        free(book->list[i].row);
    for (uint32_t i = 0; i < book->source_count; i++)
        panic_source_close(&book->sources[i]);
    free(book->list);
    free(book->sites);
    free(book->sources);
    memset(book, 0, sizeof *book);
}
