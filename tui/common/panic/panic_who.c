/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_who.h"

#include <stdlib.h>
#include <string.h>

bool panic_who_same(const panic_entry_t *a, const panic_entry_t *b)
{
    return a->source == b->source && a->row->program == b->row->program;
}

bool panic_who_told(const panic_source_t *source)
{
    return gplog_program_several(panic_source_sites(source));
}

bool panic_who_any(const panic_book_t *book)
{
    for (uint32_t i = 0; i < book->source_count; i++)
        if (panic_who_told(&book->sources[i]))
            return true;
    return false;
}

bool panic_who_of(const panic_source_t *source, const gpurt_row_t *row,
                  gplog_program_t *out)
{
    return gplog_program_known(panic_source_sites(source), &source->about, row->program,
                               out);
}

void panic_who_text(const panic_entry_t *e, gpurt_text_t *out)
{
    gplog_program_t p;

    panic_who_of(e->source, e->row, &p);
    who_text(&p, out);
}

/* ---- at a site ----------------------------------------------------------------------- */

/* A process with failures at a site. */
typedef struct party {
    gplog_program_t who;
    uint64_t count;
} party_t;

/* By their first failure. */
typedef struct parties {
    party_t *list; /* heap */
    uint32_t count;
} parties_t;

/* One process may be in several sources: a box for each device, a log named twice. */
static bool is_of(const party_t *party, const gplog_program_t *who)
{
    return party->who.pid == who->pid && party->who.start_ticks == who->start_ticks &&
           strcmp(party->who.name, who->name) == 0;
}

/* Without memory those that found room. */
static void party_add(parties_t *p, const gplog_program_t *who)
{
    party_t *list;
    uint32_t i = 0;

    while (i < p->count && !is_of(&p->list[i], who))
        i++;
    if (i == p->count) {
        list = realloc(p->list, (p->count + 1) * sizeof *list);
        if (!list)
            return;
        p->list = list;
        list[p->count++] = (party_t){*who, 0};
    }
    p->list[i].count++;
}

static parties_t parties_of(const panic_book_t *book, uint32_t site)
{
    parties_t parties = {NULL, 0};

    for (uint32_t i = book->sites[site].first; i <= book->sites[site].last; i++) {
        const panic_entry_t *e = &book->list[i];
        gplog_program_t who;

        if (e->site != site)
            continue;
        panic_who_of(e->source, e->row, &who);
        party_add(&parties, &who);
    }
    return parties;
}

void panic_who_site_text(const panic_book_t *book, uint32_t site, gpurt_text_t *out)
{
    parties_t parties = parties_of(book, site);

    panic_who_text(&book->list[book->sites[site].first], out);
    if (parties.count > 1)
        gpurt_text_printf(out, " and %u more", parties.count - 1);
    free(parties.list);
}

void panic_who_site_json(gpurt_json_t *j, const char *key, const panic_book_t *book,
                         uint32_t site)
{
    parties_t parties = parties_of(book, site);

    gpurt_json_array(j, key);
    for (uint32_t i = 0; i < parties.count; i++) {
        gpurt_json_object(j, NULL);
        gpurt_json_number(j, "count", parties.list[i].count);
        who_json(j, &parties.list[i].who);
        gpurt_json_object_end(j);
    }
    gpurt_json_array_end(j);
    free(parties.list);
}
