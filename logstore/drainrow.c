/* SPDX-License-Identifier: Apache-2.0 */
/* Records, panics and losses as rows of the batch. */
#include "drainpart.h"

#include <string.h>

gpurt_row_t *drain_row(gpurt_drain_t *d, uint32_t words)
{
    gpurt_row_t *row = (gpurt_row_t *)(d->rows + d->rows_used);

    if (d->count == BATCH_ROWS || d->rows_used + gpurt_row_bytes(words) > BATCH_BYTES)
        return NULL;
    memset(row, 0, sizeof *row);
    row->words = (uint16_t)words;
    return row;
}

void drain_row_done(gpurt_drain_t *d, const gpurt_row_t *row)
{
    gpurt_timed_t *e = &d->entries[d->count++];

    e->time_ns = row->time_ns;
    e->offset = d->rows_used;
    d->rows_used += gpurt_row_bytes(row->words);
}

/* gpurt_clock_real with the division done once a round: an error below 1 ns an hour. */
uint64_t drain_time(gpurt_drain_t *d, uint32_t section, uint64_t time48)
{
    const drain_section_t *s = &d->sections[section];
    uint64_t near = s->fit.device_ns + (d->now_ns - s->fit.real_ns);
    int64_t off = (int64_t)((time48 - near) << 16) >> 16;
    int64_t since = (int64_t)(near + (uint64_t)off - s->fit.device_ns);

    return s->fit.real_ns + (uint64_t)(since + (int64_t)((double)since * s->rate));
}

/* The ring's place on the device. */
static void row_place(const gpurt_drain_t *d, gpurt_row_t *row, uint32_t section,
                      uint32_t ring)
{
    uint32_t slots = d->map->sections[section].warp_slots;

    row->section = (uint8_t)section;
    row->sm = (uint16_t)(ring / slots);
    row->slot = (uint16_t)(ring % slots);
}

bool drain_loss(gpurt_drain_t *d, uint32_t section, uint32_t ring, uint32_t reason,
                uint64_t count, uint64_t time_ns)
{
    gpurt_row_t *row = drain_row(d, 4);
    uint32_t *w;

    if (!row)
        return false;
    row->time_ns = time_ns;
    row->kind = GPURT_KIND_LOSS;
    row->level = GPURT_LEVEL_LOST;
    row->form = GPURT_FORM_BLOCK;
    row_place(d, row, section, ring);
    w = gpurt_row_words(row);
    w[0] = reason;
    w[1] = (uint32_t)count;
    w[2] = (uint32_t)(count >> 32);
    w[3] = ring;
    drain_row_done(d, row);
    d->sum.lost += count;
    return true;
}

/* Whether every string that a record names is defined; number 0 names none. */
static bool strings_there(gpurt_drain_t *d, uint32_t section, const drain_site_t *site,
                          const uint32_t *words, uint32_t count, uint32_t lanes)
{
    uint32_t column = 0;

    for (uint32_t i = 0; i < GPURT_MAX_ARGS; i++) {
        uint32_t type = gpurt_type_at(site->types, i);

        for (uint32_t lane = 0; type == GPURT_TYPE_STRING && lane < lanes; lane++) {
            uint32_t at = column * lanes + lane;

            if (at < count && words[at] && !drain_string_id(d, section, words[at]))
                return false;
        }
        column += gpurt_type_words(type);
    }
    return true;
}

/* Numbers of strings are the section's own; the dictionary has its own. */
static void strings_translate(gpurt_drain_t *d, uint32_t section, const drain_site_t *site,
                              uint32_t *words, uint32_t count, uint32_t lanes)
{
    uint32_t column = 0;

    for (uint32_t i = 0; i < GPURT_MAX_ARGS; i++) {
        uint32_t type = gpurt_type_at(site->types, i);

        for (uint32_t lane = 0; type == GPURT_TYPE_STRING && lane < lanes; lane++) {
            uint32_t at = column * lanes + lane;

            if (at < count)
                words[at] = drain_string_id(d, section, words[at]);
        }
        column += gpurt_type_words(type);
    }
}

/* Lanes of a record, and where its arguments start. Returns: false for a form not known. */
static bool form_read(const uint32_t *words, uint32_t have, uint32_t *mask, uint32_t *first,
                      uint32_t *lanes)
{
    uint32_t form = words[0] >> 29;

    *first = GPURT_RECORD_HEAD_WORDS;
    *mask = GPURT_FULL_MASK;
    *lanes = 1;
    switch (form) {
    case GPURT_FORM_WARP:
    case GPURT_FORM_BLOCK:
        return true;
    case GPURT_FORM_LANE:
        *mask = 1u << (words[2] >> 16 & 31u);
        return true;
    case GPURT_FORM_THREAD:
        *mask = 1;
        return true;
    case GPURT_FORM_LANES:
        *lanes = 32;
        return true;
    case GPURT_FORM_WARP_PART:
    case GPURT_FORM_LANES_PART:
        if (have <= GPURT_RECORD_HEAD_WORDS)
            return false;
        *mask = words[GPURT_RECORD_HEAD_WORDS];
        (*first)++;
        if (form == GPURT_FORM_LANES_PART)
            *lanes = (uint32_t)__builtin_popcount(*mask);
        return *mask != 0;
    default:
        return false;
    }
}

int drain_record(gpurt_drain_t *d, uint32_t section, uint32_t ring, const uint32_t *words,
                 uint32_t groups, bool wait_for_site)
{
    uint32_t have = groups * GPURT_GROUP_WORDS, kind = words[0] >> 16 & 0xffu;
    uint32_t mask, first, lanes, count;
    drain_site_t site = {0};
    gpurt_row_t *row;

    if (!form_read(words, have, &mask, &first, &lanes)) {
        d->sum.torn++;
        return drain_loss(d, section, ring, GPURT_LOSS_TORN, 1, d->now_ns) ? 1 : 0;
    }
    if ((words[0] & 0xffffu) && !drain_site_get(d, section, words[0] & 0xffffu, &site) &&
        wait_for_site)
        return -1;
    count = have - first;
    if (site.id && kind != GPURT_KIND_TEXT && site.words * lanes < count)
        count = site.words * lanes;
    if (site.strings && wait_for_site &&
        !strings_there(d, section, &site, words + first, count, lanes))
        return -1;
    row = drain_row(d, count);
    if (!row)
        return 0;
    row->time_ns = drain_time(d, section, words[1] | (uint64_t)(words[2] & 0xffffu) << 32);
    row->site = site.id;
    row->block = words[3];
    row->mask = mask;
    row_place(d, row, section, ring);
    row->warp = (uint8_t)(words[0] >> 24 & 31u);
    row->kind = (uint8_t)kind;
    row->form = (uint8_t)(words[0] >> 29);
    row->level = site.level;
    memcpy(row + 1, words + first, 4u * count);
    if (site.strings)
        strings_translate(d, section, &site, gpurt_row_words(row), count, lanes);
    drain_row_done(d, row);
    return 1;
}

/* Arguments as the site's types say, then the rest of the slot: block, thread, lane,
 * failed, clock, and the operands of the lanes that failed. */
bool drain_panic(gpurt_drain_t *d, uint32_t section, const gpurt_panic_t *panic)
{
    uint32_t words[GPURT_PANIC_ARGS * 2 + 10 + 2 * GPURT_WARP_SIZE], count = 0;
    drain_site_t site = {0};
    gpurt_row_t *row;

    drain_site_get(d, section, panic->site, &site);
    for (uint32_t i = 0; i < GPURT_PANIC_ARGS; i++) {
        uint32_t type = gpurt_type_at(site.types, i), size = gpurt_type_words(type);

        if (size == 0)
            break;
        words[count++] = type == GPURT_TYPE_STRING
                             ? drain_string_id(d, section, (uint32_t)panic->args[i])
                             : (uint32_t)panic->args[i];
        if (size == 2)
            words[count++] = (uint32_t)(panic->args[i] >> 32);
    }
    memcpy(words + count, &panic->block, sizeof panic->block);
    memcpy(words + count + 3, &panic->thread, sizeof panic->thread);
    count += 6;
    words[count++] = panic->lane;
    words[count++] = panic->failed;
    words[count++] = (uint32_t)panic->clock;
    words[count++] = (uint32_t)(panic->clock >> 32);
    for (uint32_t m = panic->failed; m; m &= m - 1) {
        uint64_t value = panic->lanes[__builtin_ctz(m)];

        words[count++] = (uint32_t)value;
        words[count++] = (uint32_t)(value >> 32);
    }
    row = drain_row(d, count);
    if (!row)
        return false;
    row->time_ns = drain_time(d, section, panic->time_ns & GPURT_TIME_MASK);
    row->site = site.id;
    row->block = panic->block.x;
    row->mask = panic->mask;
    row->section = (uint8_t)section;
    row->sm = (uint16_t)panic->sm;
    row->slot = (uint16_t)panic->warp_slot;
    row->warp = (uint8_t)panic->warp;
    row->kind = GPURT_KIND_PANIC;
    row->level = GPURT_LEVEL_PANIC;
    row->form = GPURT_FORM_WARP_PART;
    memcpy(row + 1, words, 4u * count);
    drain_row_done(d, row);
    d->sum.panics++;
    return true;
}
