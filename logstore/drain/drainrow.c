/* SPDX-License-Identifier: Apache-2.0 */
/* Records and losses as rows of the batch. */
#include "drainagain.h"

#include <gpurt/impl/objectclass.h>
#include <string.h>

void drain_room(gpurt_drain_t *d, drain_room_t kept)
{
    d->room_rows = BATCH_ROWS - BATCH_ROWS / 16 * kept;
    d->room_bytes = BATCH_BYTES - BATCH_BYTES / 16 * kept - LONGEST_ROW;
}

void drain_time_base(gpurt_drain_t *d, drain_section_t *s)
{
    s->oldest_time = s->fit.device_ns + (d->floor_ns - s->fit.real_ns);
}

bool drain_loss(gpurt_drain_t *d, uint32_t section, uint32_t ring, uint32_t reason,
                uint64_t count, uint64_t time_ns)
{
    gpurt_row_t *row = drain_row(d);
    uint32_t *w;

    if (!row)
        return false;
    memset(row, 0, sizeof *row);
    row->time_ns = time_ns;
    row->kind = GPURT_KIND_LOSS;
    row->level = GPURT_LEVEL_LOST;
    row->form = GPURT_FORM_BLOCK;
    row->section = (uint8_t)section;
    if (ring != DRAIN_NO_RING) {
        row->sm = d->sm;
        row->slot = d->slot;
    }
    w = gpurt_row_words(row);
    w[0] = reason;
    w[1] = (uint32_t)count;
    w[2] = (uint32_t)(count >> 32);
    w[3] = ring;
    drain_row_done(d, row, 4);
    d->sum.lost += count;
    return true;
}

/* Numbers of strings are the section's own; the dictionary has its own, and number 0 names
 * none. Returns: false: one is not defined yet and is waited for; the words, changed in part,
 * will be read again. */
static bool strings_translate(gpurt_drain_t *d, uint32_t section, const drain_site_t *site,
                              uint32_t *words, uint32_t count, uint32_t lanes, bool wait)
{
    for (uint32_t left = site->strings; left; left &= left - 1) {
        uint32_t first = (uint32_t)__builtin_ctz(left) * lanes;

        for (uint32_t at = first; at < first + lanes && at < count; at++) {
            uint32_t id = words[at] ? drain_string_id(d, section, words[at]) : 0;

            if (words[at] && !id && wait)
                return false;
            words[at] = id;
        }
    }
    return true;
}

uint32_t drain_string_late(gpurt_drain_t *d, uint32_t section, uint32_t number)
{
    return drain_string_id(d, section, number);
}

/* A record's head, taken apart. */
typedef struct record_head {
    uint32_t form, mask;
    uint32_t first; /* word of the arguments */
    uint32_t lanes; /* sets of arguments */
} record_head_t;

/* Kinds that a drainer makes: one in a ring is not believed. A loss counts as no message, and would
 * be taken again and again. */
static bool is_foreign(uint32_t kind)
{
    return kind == GPURT_KIND_LOSS || kind == GPURT_KIND_PANIC || kind == GPURT_KIND_FAULT;
}

/* Returns: false for a form or kind that producers do not write. */
static bool head_read(const uint32_t *words, uint32_t have, record_head_t *h)
{
    h->form = gpurt_record_form(words[0]);
    h->first = GPURT_RECORD_HEAD_WORDS;
    h->mask = GPURT_FULL_MASK;
    h->lanes = 1;
    /* one group: nobody writes that */
    if (have < GPURT_RECORD_HEAD_WORDS || is_foreign(words[0] >> 16 & 0xffu))
        return false;
    switch (h->form) {
    case GPURT_FORM_WARP:
    case GPURT_FORM_BLOCK:
        return true;
    case GPURT_FORM_LANE:
        h->mask = 1u << (words[2] >> 16 & 31u);
        return true;
    case GPURT_FORM_THREAD:
        h->mask = 1;
        return true;
    case GPURT_FORM_LANES:
        h->lanes = 32;
        return true;
    case GPURT_FORM_WARP_PART:
    case GPURT_FORM_LANES_PART:
        if (have <= GPURT_RECORD_HEAD_WORDS)
            return false;
        h->mask = words[GPURT_RECORD_HEAD_WORDS];
        h->first++;
        if (h->form == GPURT_FORM_LANES_PART)
            h->lanes = (uint32_t)__builtin_popcount(h->mask);
        return h->mask != 0;
    default:
        return false;
    }
}

/* The words that the row's own fields are about to cover. */
static void row_fill(const gpurt_drain_t *d, gpurt_row_t *row, const record_head_t *h,
                     uint32_t section)
{
    const uint32_t *words = drain_record_words(row);
    uint32_t what = words[0], low = words[1], high = words[2], block = words[3];

    row->time_ns =
        drain_time(&d->sections[section], low | (uint64_t)(high & 0xffffu) << 32);
    row->block = block;
    row->mask = h->mask;
    row->sm = d->sm;
    row->slot = d->slot;
    row->section = (uint8_t)section;
    row->warp = (uint8_t)(what >> 24 & 31u);
    row->kind = (uint8_t)(what >> 16);
    row->form = (uint8_t)h->form;
}

/* Remembers what the next record of that site has in common with this one, if it is of the same
 * size. A site that is not known yet may be by then, and a mask of its own is read anew. */
static void again_keep(gpurt_drain_t *d, uint32_t section, uint32_t what, uint32_t groups,
                       const drain_site_t *site, const gpurt_row_t *row)
{
    drain_again_t *a = &d->sections[section].again[what % DRAIN_AGAINS];
    bool plain = row->form == GPURT_FORM_THREAD || row->form == GPURT_FORM_WARP ||
                 row->form == GPURT_FORM_BLOCK;

    if (!plain || !site->id || row->kind == GPURT_KIND_OBJECT)
        return;
    a->what = what & DRAIN_AGAIN_WHAT;
    a->groups = groups;
    a->def_count = d->map->sections[section].def_count;
    a->host = d->map->sections[section].kind == GPURT_SECTION_HOST;
    a->strings = row->words < 32 ? site->strings & ((1u << row->words) - 1) : site->strings;
    a->row = *row;
}

/* Words of a record: those that its site's types take; a text and an object say it themselves.
 * have: what there is, some of it only fills up the last group. */
static uint32_t words_of(uint32_t kind, const drain_site_t *site, const uint32_t *args,
                         uint32_t lanes, uint32_t have)
{
    uint32_t count = site->words * lanes;

    if (!site->id || kind == GPURT_KIND_TEXT)
        return have;
    if (kind == GPURT_KIND_OBJECT)
        count = GPURT_OBJECT_HEAD_WORDS + 2 * gpurt_object_count(args[1]);
    return count < have ? count : have;
}

/* Texts of an object are in its first record alone. */
static bool has_strings(uint32_t kind, const uint32_t *args)
{
    return kind != GPURT_KIND_OBJECT || gpurt_object_first(args[1]) == 0;
}

uint32_t drain_record(gpurt_drain_t *d, uint32_t section, uint32_t ring, gpurt_row_t *row,
                      uint32_t groups, bool wait_for_site)
{
    static const drain_site_t unknown;
    uint32_t *words = drain_record_words(row), what = words[0];
    uint32_t have = groups * GPURT_GROUP_WORDS, number = what & 0xffffu, count, kind,
             messages;
    uint32_t *args = gpurt_row_words(row);
    const drain_site_t *site = &unknown;
    record_head_t h;

    if (!head_read(words, have, &h)) {
        d->sum.torn++;
        drain_loss(d, section, ring, GPURT_LOSS_TORN, 1, d->now_ns); /* there is room */
        return 1;
    }
    if (number) {
        site = drain_site_get(d, section, number);
        if (!site && wait_for_site)
            return 0;
        site = site ? site : &unknown;
    }
    kind = what >> 16 & 0xffu;
    count = words_of(kind, site, words + h.first, h.lanes, have - h.first);
    if (has_strings(kind, words + h.first) &&
        !strings_translate(d, section, site, words + h.first, count, h.lanes,
                           wait_for_site))
        return 0;
    row_fill(d, row, &h, section);
    /* Host threads share a ring, and tell of things when they have ended. */
    if (d->map->sections[section].kind != GPURT_SECTION_HOST)
        row->time_ns = drain_time_after(&d->sections[section].cursors[ring], row->time_ns);
    row->site = site->id;
    row->level = site->level;
    if (h.first > GPURT_RECORD_HEAD_WORDS)
        memmove(args, args + 1, 4u * count);
    drain_row_done(d, row, count);
    again_keep(d, section, what, groups, site, row);
    messages = gpurt_row_messages(row);
    d->sum.messages += messages;
    return messages;
}
