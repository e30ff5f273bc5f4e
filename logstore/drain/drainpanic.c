/* SPDX-License-Identifier: Apache-2.0 */
/* Panic slots as rows of the batch. A slot may be damaged: its counts are bounded, and what
 * its numbers name is looked up, never followed. */
#include "drainpart.h"

#include <string.h>

/* The words of a row, as they grow. */
typedef struct words {
    gpurt_drain_t *drain;
    uint32_t section;
    uint32_t *at, count;
} words_t;

static void put(words_t *w, uint32_t word)
{
    w->at[w->count++] = word;
}

static void put_pair(words_t *w, uint64_t value)
{
    put(w, (uint32_t)value);
    put(w, (uint32_t)(value >> 32));
}

static void put_triple(words_t *w, gpurt_dim3_t v)
{
    put(w, v.x);
    put(w, v.y);
    put(w, v.z);
}

static void put_text(words_t *w, uint32_t number)
{
    put(w, drain_string_id(w->drain, w->section, number));
}

/* A part's head; its size is known when it ends. */
static uint32_t part_begin(words_t *w)
{
    put(w, 0);
    return w->count;
}

static void part_end(words_t *w, uint32_t kind, uint32_t start)
{
    w->at[start - 1] = kind << 24 | (w->count - start);
}

static uint32_t most(uint32_t count, uint32_t limit)
{
    return count < limit ? count : limit;
}

/* ---- parts --------------------------------------------------------------------------- */

static void put_args(words_t *w, const gpurt_panic_t *p, uint64_t types)
{
    for (uint32_t i = 0; i < GPURT_PANIC_ARGS; i++) {
        uint32_t type = gpurt_type_at(types, i), size = gpurt_type_words(type);

        if (size == 0)
            break;
        if (type == GPURT_TYPE_STRING)
            put_text(w, (uint32_t)p->args[i]);
        else
            put(w, (uint32_t)p->args[i]);
        if (size == 2)
            put(w, (uint32_t)(p->args[i] >> 32));
    }
}

/* The words that rows have had from the first version on. */
static void put_fixed(words_t *w, const gpurt_panic_t *p)
{
    put_triple(w, p->block);
    put_triple(w, p->thread);
    put(w, p->lane);
    put(w, p->failed);
    put_pair(w, p->clock);
    for (uint32_t m = p->failed; m; m &= m - 1)
        put_pair(w, p->lanes[0][__builtin_ctz(m)]);
}

static void put_about(words_t *w, const gpurt_panic_t *p)
{
    uint32_t start = part_begin(w);

    put(w, p->category | (uint32_t)p->own << 16);
    put(w, p->number);
    put_pair(w, p->launch);
    put_triple(w, p->grid);
    put_triple(w, p->block_dim);
    put(w, p->cluster_rank);
    put(w, p->cluster_size);
    put_text(w, p->condition);
    put_text(w, p->function);
    put_text(w, p->kernel);
    put_pair(w, p->log_sequence);
    put_pair(w, p->task);
    put_pair(w, p->parent_task);
    put(w, p->contexts_left_out);
    put(w, p->frames_left_out);
    put(w, p->held_left_out);
    part_end(w, GPLOG_PART_ABOUT, start);
}

static void put_lanes(words_t *w, const gpurt_panic_t *p, uint32_t operand, uint32_t mask)
{
    uint32_t start;

    if (mask == 0)
        return;
    start = part_begin(w);
    put(w, operand);
    put(w, mask);
    for (uint32_t m = mask; m; m &= m - 1)
        put_pair(w, p->lanes[operand][__builtin_ctz(m)]);
    part_end(w, GPLOG_PART_LANES, start);
}

static void put_context(words_t *w, const gpurt_panic_t *p)
{
    uint32_t count = most(p->context_count, GPURT_PANIC_CONTEXTS), start;

    if (count == 0)
        return;
    start = part_begin(w);
    for (uint32_t i = 0; i < count; i++) {
        const gpurt_panic_context_t *c = &p->contexts[i];

        put_text(w, c->name);
        put(w, c->type);
        put_pair(w, c->type == GPURT_TYPE_STRING
                        ? drain_string_id(w->drain, w->section, (uint32_t)c->value)
                        : c->value);
    }
    part_end(w, GPLOG_PART_CONTEXT, start);
}

static void put_frames(words_t *w, const gpurt_panic_t *p)
{
    uint32_t count = most(p->frame_count, GPURT_PANIC_FRAMES), start;

    if (count == 0)
        return;
    start = part_begin(w);
    for (uint32_t i = 0; i < count; i++) {
        put_text(w, p->frames[i].function);
        put_text(w, p->frames[i].file);
        put(w, p->frames[i].line);
    }
    part_end(w, GPLOG_PART_FRAMES, start);
}

static void put_held(words_t *w, const gpurt_panic_t *p)
{
    uint32_t count = most(p->held_count, GPURT_PANIC_HELD), start;

    if (count == 0)
        return;
    start = part_begin(w);
    for (uint32_t i = 0; i < count; i++) {
        put(w, p->held[i].kind);
        put_text(w, p->held[i].name);
        put_pair(w, p->held[i].object);
    }
    part_end(w, GPLOG_PART_HELD, start);
}

static void put_window(words_t *w, const gpurt_panic_window_t *from)
{
    uint32_t bytes = most(from->bytes, GPURT_PANIC_WINDOW), start = part_begin(w);

    put_text(w, from->name);
    put_pair(w, from->base);
    put_pair(w, from->size);
    put_pair(w, from->start);
    put_pair(w, from->mark);
    put(w, bytes);
    memset(w->at + w->count, 0, (bytes + 3) / 4 * 4);
    memcpy(w->at + w->count, from->data, bytes);
    w->count += (bytes + 3) / 4;
    part_end(w, GPLOG_PART_WINDOW, start);
}

/* ---- rows ---------------------------------------------------------------------------- */

static void put_report(words_t *w, gpurt_panic_t *p)
{
    uint32_t bytes = most(p->report_bytes, GPURT_PANIC_REPORT), start = part_begin(w);

    put(w, p->report_bytes);
    put(w, bytes);
    memset(w->at + w->count, 0, (bytes + 3) / 4 * 4);
    memcpy(w->at + w->count, gpurt_panic_report(p), bytes);
    w->count += (bytes + 3) / 4;
    part_end(w, GPLOG_PART_REPORT, start);
}

/* What a row can grow to. */
enum {
    PARTS = 4, /* about, context, frames, held: once each */
    MOST = 2 * GPURT_PANIC_ARGS + 10 + 2 * GPURT_WARP_SIZE + PARTS + 25 +
           (GPURT_PANIC_OWN + 1) * (3 + 2 * GPURT_WARP_SIZE) + 4 * GPURT_PANIC_CONTEXTS +
           3 * GPURT_PANIC_FRAMES + 4 * GPURT_PANIC_HELD +
           GPURT_PANIC_WINDOWS * (11 + GPURT_PANIC_WINDOW / 4),
    MOST_REPORT = 2 * GPURT_PANIC_ARGS + 10 + 2 * GPURT_WARP_SIZE + 26 +
                  3 * GPURT_PANIC_FRAMES + 1 + 3 + (GPURT_PANIC_REPORT + 3) / 4
};
GPURT_STATIC_ASSERT((int)MOST <= (int)GPLOG_ROW_WORDS, "the longest row");
GPURT_STATIC_ASSERT((int)MOST_REPORT <= (int)GPLOG_ROW_WORDS, "the longest row");

/* What has a report is of a kernel as a whole: it has no values of lanes, notes or windows. */
static uint32_t panic_words(words_t *w, gpurt_panic_t *p, uint64_t types)
{
    put_args(w, p, types);
    put_fixed(w, p);
    put_about(w, p);
    if (p->report_bytes) {
        put_frames(w, p);
        put_report(w, p);
        return w->count;
    }
    put_lanes(w, p, 0, gpurt_type_at(types, 0) ? p->mask & ~p->failed : 0);
    put_lanes(w, p, 1, gpurt_type_at(types, 1) ? p->mask : 0);
    put_context(w, p);
    put_frames(w, p);
    put_held(w, p);
    for (uint32_t i = 0; i < most(p->window_count, GPURT_PANIC_WINDOWS); i++)
        put_window(w, &p->windows[i]);
    return w->count;
}

bool drain_panic(gpurt_drain_t *d, uint32_t section, gpurt_panic_t *panic)
{
    const drain_site_t *site = drain_site_get(d, section, panic->site);
    gpurt_row_t *row = drain_row(d);
    words_t words = {d, section, NULL, 0};

    if (!row)
        return false;
    memset(row, 0, sizeof *row);
    row->time_ns = drain_time(&d->sections[section], panic->time_ns & GPURT_TIME_MASK);
    row->site = site ? site->id : 0;
    row->block = panic->block.x;
    row->mask = panic->mask;
    row->section = (uint8_t)section;
    row->sm = (uint16_t)panic->sm;
    row->slot = (uint16_t)panic->warp_slot;
    row->warp = (uint8_t)panic->warp;
    row->kind = GPURT_KIND_PANIC;
    row->level = GPURT_LEVEL_PANIC;
    row->form = GPURT_FORM_WARP_PART;
    words.at = gpurt_row_words(row);
    drain_row_done(d, row, panic_words(&words, panic, site ? site->types : 0));
    d->sum.messages++;
    d->sum.panics++;
    return true;
}

static bool text_there(gpurt_drain_t *d, uint32_t section, uint32_t number)
{
    return number == 0 || drain_string_id(d, section, number) != 0;
}

bool drain_panic_defined(gpurt_drain_t *d, uint32_t section, const gpurt_panic_t *panic)
{
    const drain_site_t *site = drain_site_get(d, section, panic->site);
    uint32_t windows =
        panic->report_bytes ? 0 : most(panic->window_count, GPURT_PANIC_WINDOWS);
    bool there = panic->site == 0 || site;

    for (uint32_t i = 0; there && site && i < GPURT_PANIC_ARGS; i++)
        if (gpurt_type_at(site->types, i) == GPURT_TYPE_STRING)
            there = text_there(d, section, (uint32_t)panic->args[i]);
    there = there && text_there(d, section, panic->condition) &&
            text_there(d, section, panic->function) &&
            text_there(d, section, panic->kernel);
    for (uint32_t i = 0; there && i < most(panic->context_count, GPURT_PANIC_CONTEXTS); i++)
        there = text_there(d, section, panic->contexts[i].name) &&
                (panic->contexts[i].type != GPURT_TYPE_STRING ||
                 text_there(d, section, (uint32_t)panic->contexts[i].value));
    for (uint32_t i = 0; there && i < most(panic->frame_count, GPURT_PANIC_FRAMES); i++)
        there = text_there(d, section, panic->frames[i].function) &&
                text_there(d, section, panic->frames[i].file);
    for (uint32_t i = 0; there && i < windows; i++)
        there = text_there(d, section, panic->windows[i].name);
    return there;
}
