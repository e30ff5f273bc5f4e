/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of records that are like the one before, and of records that differ from it in one way:
 * each row says what its record does, and its texts, whichever way it was made. A sink that
 * looks at rows is told truly whether their times go back. */
#include "check.h"
#include "drain.h"
#include "feed.h"
#include "hosttime.h"

#include <string.h>

enum {
    HOST = 1, /* the second section */
    SMS = 2,
    SLOTS = 2,
    RINGS = SMS * SLOTS,
    SITES = 3,
    TEXTS = 4,
    ROUNDS = 3000,
    WORDS = GPURT_RECORD_HEAD_WORDS + 12,
    QUEUE = 64
};

/* What a row must say. */
typedef struct want {
    uint64_t time_ns;
    uint32_t line, block, mask, warp, kind, form, level, words;
    uint32_t args[12]; /* of strings: the numbers of their texts */
} want_t;

typedef struct queue {
    want_t list[QUEUE];
    uint32_t count, at;
} queue_t;

static gpurt_error_t err;
static gpurt_boxmap_t map;
static gpurt_dictionary_t dictionary;
static queue_t queues[2][RINGS];
static const uint64_t types[SITES] = {
    GPURT_TYPE_U32 | GPURT_TYPE_U32 << 4,
    GPURT_TYPE_STRING | GPURT_TYPE_U32 << 4 | GPURT_TYPE_STRING << 8,
    GPURT_TYPE_U64 | GPURT_TYPE_STRING << 4 | GPURT_TYPE_U32 << 8 | GPURT_TYPE_U64 << 12};
static uint32_t ordered, disordered, rows_seen;

static uint32_t rnd(uint32_t end)
{
    static uint64_t seed = 88172645463325252ull;

    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 33) % end;
}

/* ---- what is written ----------------------------------------------------------------- */

static void text_define(uint32_t section, uint32_t index)
{
    gpurt_def_t *def = gpurt_boxmap_def(&map, section, SITES + index);
    char text[] = "text 0";

    text[5] = (char)('0' + (index + section) % TEXTS); /* numbers are a section's own */
    def->slots = 1;
    def->format_bytes = sizeof text - 1;
    memcpy(gpurt_def_text(def), text, sizeof text - 1);
    gpurt_store_release_sys_u32(&def->xstate, GPURT_DEF_STRING); /* B3.rel */
}

static void define(uint32_t section)
{
    for (uint32_t i = 0; i < SITES; i++) {
        gpurt_def_t *def = gpurt_boxmap_def(&map, section, i);

        def->slots = 1;
        def->level = (uint8_t)(GPURT_LEVEL_INFO + i % 3);
        def->line = 100 * (section + 1) + i;
        def->kind = GPURT_KIND_LOG;
        def->types = types[i];
        for (uint64_t left = types[i]; left; left >>= 4)
            def->arg_count++;
        gpurt_store_release_sys_u32(&def->xstate, GPURT_DEF_SITE); /* B3.rel */
    }
    for (uint32_t i = 0; i + 1 < TEXTS; i++)
        text_define(section, i); /* the last one comes later */
}

static bool is_string(uint32_t site, uint32_t word)
{
    return (site == 1 && word != 1) || (site == 2 && word == 2);
}

/* A record as it came last, with something of it changed now and then; its texts among the
 * first `texts`, or the last of them. */
static void record_put(uint32_t section, uint32_t ring, uint32_t site, uint32_t texts,
                       bool last)
{
    static const uint32_t forms[] = {GPURT_FORM_THREAD, GPURT_FORM_WARP, GPURT_FORM_BLOCK,
                                     GPURT_FORM_LANE, GPURT_FORM_WARP_PART};
    static uint32_t form, kind = GPURT_KIND_LOG, more;
    const gpurt_ring_port_t port = gpurt_boxmap_port(&map, section, ring);
    uint32_t words[WORDS] = {0}, at = GPURT_RECORD_HEAD_WORDS, lane = rnd(32);
    queue_t *q = &queues[section][ring];
    want_t *w = &q->list[q->count++ % QUEUE];
    uint64_t time_ns = gpurt_real_ns() - (rnd(4) ? 0 : rnd(20000)); /* late now and then */

    form = rnd(8) ? form : forms[rnd(5)];
    kind = rnd(16) ? kind : kind == GPURT_KIND_LOG ? GPURT_KIND_USER : GPURT_KIND_LOG;
    more = rnd(8) ? more : rnd(2) * 3; /* words that the site has no name for */
    *w = (want_t){.time_ns = time_ns,
                  .line = 100 * (section + 1) + site,
                  .block = rnd(1000),
                  .mask = form == GPURT_FORM_THREAD      ? 1
                          : form == GPURT_FORM_LANE      ? 1u << lane
                          : form == GPURT_FORM_WARP_PART ? 1 + rnd(1000)
                                                         : GPURT_FULL_MASK,
                  .warp = rnd(3) ? 1 : rnd(32),
                  .kind = kind,
                  .form = form,
                  .level = GPURT_LEVEL_INFO + site % 3,
                  .words = gpurt_types_words(types[site])};
    if (site == 2 && rnd(4) == 0 && form != GPURT_FORM_WARP_PART) {
        w->words = 2; /* it was cut off: what two groups hold */
        more = 0;
    }
    words[0] = gpurt_record_what(site + 1, kind, form, w->warp);
    words[1] = (uint32_t)time_ns;
    words[2] = ((uint32_t)(time_ns >> 32) & 0xffffu) | (form == GPURT_FORM_LANE) * lane
                                                           << 16;
    words[3] = w->block;
    if (form == GPURT_FORM_WARP_PART)
        words[at++] = w->mask;
    for (uint32_t i = 0; i < w->words; i++) {
        w->args[i] = !is_string(site, i) ? rnd(1u << 30) : last ? texts : rnd(texts + 1);
        words[at++] = is_string(site, i) && w->args[i] ? SITES + w->args[i] : w->args[i];
    }
    CHECK(feed_words(&port, words, at + more));
}

/* ---- what is read -------------------------------------------------------------------- */

static void string_check(uint32_t section, uint32_t id, uint32_t number)
{
    char want[] = "text 0";
    gpurt_site_info_t info;

    if (number == 0) {
        CHECK_EQ(id, 0);
        return;
    }
    want[5] = (char)('0' + (number - 1 + section) % TEXTS);
    CHECK(gpurt_dictionary_get(&dictionary, id, &info));
    CHECK_EQ(info.kind, GPURT_DEF_STRING);
    CHECK_MSG(info.format_bytes == sizeof want - 1 &&
                  memcmp(info.format, want, sizeof want - 1) == 0,
              "%.*s for %s", (int)info.format_bytes, info.format, want);
}

static void row_check(const gpurt_row_t *row)
{
    queue_t *q = &queues[row->section][row->sm * SLOTS + row->slot];
    const want_t *w = &q->list[q->at++ % QUEUE];
    gpurt_site_info_t info;

    CHECK(gpurt_dictionary_get(&dictionary, row->site, &info));
    CHECK_EQ(info.line, w->line);
    CHECK_EQ(row->block, w->block);
    CHECK_EQ(row->mask, w->mask);
    CHECK_EQ(row->warp, w->warp);
    CHECK_EQ(row->kind, w->kind);
    CHECK_EQ(row->form, w->form);
    CHECK_EQ(row->level, w->level);
    CHECK_EQ(row->program, 0);
    CHECK_EQ(row->words, w->words);
    if (row->section == HOST)
        CHECK_EQ(row->time_ns, w->time_ns);
    for (uint32_t i = 0; i < w->words; i++)
        if (is_string(w->line % 100, i))
            string_check(row->section, gpurt_row_words(row)[i], w->args[i]);
        else
            CHECK_EQ(gpurt_row_words(row)[i], w->args[i]);
    CHECK(row->words % 2 == 0 || gpurt_row_words(row)[row->words] == 0);
}

static void rows_watch(void *context, const gpurt_row_t *rows, uint32_t bytes,
                       uint32_t count, bool in_order)
{
    const uint8_t *at = (const uint8_t *)rows, *end = at + bytes;
    uint64_t before = 0;
    bool back = false;

    (void)context;
    rows_seen += count;
    for (; at < end; count--) {
        const gpurt_row_t *row = (const gpurt_row_t *)at;

        row_check(row);
        back |= row->time_ns < before;
        before = row->time_ns;
        at += gpurt_row_bytes(row->words);
    }
    CHECK_EQ(count, 0);
    CHECK(!(back && in_order));
    ordered += in_order;
    disordered += back;
}

static void box_open(void)
{
    gpurt_section_plan_t s[2] = {{.kind = GPURT_SECTION_CPU}, {.kind = GPURT_SECTION_HOST}};
    gpurt_box_plan_t plan = {.struct_size = sizeof plan, .section_count = 2, .sections = s};
    gpurt_clock_fit_t clock = {0};

    for (uint32_t i = 0; i < 2; i++) {
        s[i].sm_count = SMS;
        s[i].warp_slots = SLOTS;
        s[i].ring_bytes = 1 << 16;
    }
    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    clock.device_ns = clock.real_ns = gpurt_real_ns();
    for (uint32_t i = 0; i < 2; i++) {
        define(i);
        gpurt_boxmap_set_clock(&map, i, &clock);
    }
}

/* A round need not look at each ring. */
static void rounds(gpurt_drain_t *d, uint32_t seen)
{
    const uint64_t until = gpurt_real_ns() + 20000000000ull;
    uint32_t rows;

    while (rows_seen < seen && gpurt_real_ns() < until)
        CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK, "%s", err.text);
    CHECK_EQ(rows_seen, seen);
}

/* A text that is not defined yet is waited for, however the record before it was. Returns: records
 * written. */
static uint32_t late_text(gpurt_drain_t *d)
{
    uint32_t rows, written = 0;

    for (uint32_t section = 0; section < 2; section++) {
        record_put(section, 0, 1, TEXTS - 1, true);
        rounds(d, ++written);
        record_put(section, 0, 1, TEXTS, true);
        CHECK_EQ(gpurt_drain_round(d, &rows, &err), GPURT_OK);
        CHECK_EQ(rows_seen, written);
        text_define(section, TEXTS - 1);
        rounds(d, ++written);
    }
    return written;
}

int main(void)
{
    gpurt_drain_options_t o = {.struct_size = sizeof o,
                               .sink_count = 1,
                               .sinks = {{.watch = rows_watch}},
                               .dictionary = &dictionary};
    uint32_t written, site = 0;
    gpurt_drain_t *d;

    box_open();
    CHECK_MSG(gpurt_drain_open(&map, &o, &d, &err) == GPURT_OK, "%s", err.text);
    written = late_text(d);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t section = rnd(2), ring = rnd(RINGS), count = 1 + rnd(20);

        for (uint32_t k = 0; k < count; k++) {
            ring = rnd(8) ? ring : rnd(RINGS);
            site = rnd(8) ? site : rnd(SITES);
            record_put(section, ring, site, TEXTS, false);
        }
        written += count;
        rounds(d, written);
    }
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    CHECK(ordered > 0 && disordered > 100);
    gpurt_drain_close(d);
    gpurt_boxmap_detach(&map);
    gpurt_dictionary_fini(&dictionary);
    return 0;
}
