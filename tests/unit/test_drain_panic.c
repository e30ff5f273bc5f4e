/* SPDX-License-Identifier: Apache-2.0 */
/* Slots that are not ready yet are waited for, and not for ever: the site or a text that another
 * lane defines, windows that are being copied. Panics without a slot are told, once. A record of a
 * kind that only drainers make holds nobody. */
#include "../check.h"
#include "drain.h"
#include "feed.h"
#include "hosttime.h"
#include "panicrow.h"

#include <string.h>

enum {
    SLOTS = 4,
    LATE_SITE = FEED_SITES + 1,
    LATE_TEXT
};

static gpurt_error_t err;
static gpurt_boxmap_t map;
static gpurt_dictionary_t dictionary;
static struct {
    uint64_t panics, missing, torn;
    uint32_t coming, alarms;
    gpurt_panicrow_t p;
    gpurt_site_info_t site;
    char report[GPURT_PANIC_REPORT + 1]; /* p's own lies in a row that is gone */
} told;

#define OK(call) CHECK_MSG((call) == GPURT_OK, "%s: %s", #call, err.text)

static gpurt_status_t take(void *context, const gpurt_row_t *row, gpurt_error_t *e)
{
    uint32_t reason = row->words ? gpurt_row_words(row)[0] : 0;

    (void)context;
    (void)e;
    if (row->kind == GPURT_KIND_LOSS && reason == GPURT_LOSS_SLOTS)
        told.missing += gpurt_row_lost(row);
    told.torn += row->kind == GPURT_KIND_LOSS && reason == GPURT_LOSS_TORN;
    if (row->kind != GPURT_KIND_PANIC)
        return GPURT_OK;
    memset(&told.site, 0, sizeof told.site);
    (void)gpurt_dictionary_get(&dictionary, row->site, &told.site);
    gpurt_panicrow_read(row, told.site.types, &told.p);
    snprintf(told.report, sizeof told.report, "%.*s", (int)told.p.report_bytes,
             told.p.report ? told.p.report : "");
    told.panics++;
    return GPURT_OK;
}

static void alarmed(void *context, uint32_t section, uint32_t coming)
{
    (void)context;
    CHECK_EQ(section, 0);
    told.coming = coming;
    told.alarms++;
}

static void begin(void)
{
    gpurt_section_plan_t s = {.kind = GPURT_SECTION_CPU, .panic_count = SLOTS};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};

    memset(&told, 0, sizeof told);
    OK(gpurt_boxmap_create(&plan, &map, &err));
    feed_define(&map, 0);
}

static gpurt_drain_t *drain_open(void)
{
    gpurt_drain_options_t o = {.struct_size = sizeof o,
                               .sink_count = 1,
                               .sinks = {{.put = take, .alarm = alarmed}},
                               .dictionary = &dictionary};
    gpurt_drain_t *d;

    OK(gpurt_drain_open(&map, &o, &d, &err));
    return d;
}

static void end(gpurt_drain_t *d)
{
    gpurt_drain_close(d);
    gpurt_boxmap_detach(&map);
}

static void round_of(gpurt_drain_t *d)
{
    uint32_t rows;

    OK(gpurt_drain_round(d, &rows, &err));
}

/* Rounds until a panic is told. Returns: how long it took. */
static uint64_t wait_for(gpurt_drain_t *d, uint64_t panics)
{
    uint64_t start = gpurt_real_ns();

    while (told.panics < panics && gpurt_real_ns() - start < 10000000000u)
        round_of(d);
    CHECK_EQ(told.panics, panics);
    return gpurt_real_ns() - start;
}

static void define(uint32_t number, uint32_t what, const char *text)
{
    gpurt_def_t *def = gpurt_boxmap_def(&map, 0, number - 1);

    def->slots = 1;
    def->kind = GPURT_KIND_PANIC;
    def->types = 0;
    def->format_bytes = (uint16_t)strlen(text);
    memcpy(gpurt_def_text(def), text, strlen(text));
    gpurt_store_release_sys_u32(&def->xstate, what); /* B3.rel */
}

static void late_definitions(void)
{
    gpurt_drain_t *d;

    begin();
    d = drain_open();
    gpurt_boxmap_panic(&map, 0, 0)->condition = LATE_TEXT;
    feed_panic(&map, 0, 0, LATE_SITE);
    round_of(d);
    define(LATE_SITE, GPURT_DEF_SITE, "late");
    round_of(d);
    define(LATE_TEXT, GPURT_DEF_STRING, "i < n");
    wait_for(d, 1);
    /* On a machine that held us up for the 100 ms it may have been told without. */
    if (told.p.condition)
        CHECK_MSG(told.site.format_bytes == 4, "the site came before the text");
    feed_panic(&map, 0, 1, LATE_TEXT + 1); /* one that never comes */
    CHECK_MSG(wait_for(d, 2) >= 100000000u, "it was waited for");
    CHECK_EQ(told.site.id, 0);
    end(d);
}

static void windows(void)
{
    gpurt_panic_t *p;
    gpurt_drain_t *d;

    begin();
    d = drain_open();
    p = gpurt_boxmap_panic(&map, 0, 0);
    p->window_count = 1;
    p->windows[0].base = 0x1000;
    p->windows[0].bytes = 8;
    feed_panic(&map, 0, 0, 1);
    gpurt_store_release_sys_u32(&p->xstate, GPURT_PANIC_WRITTEN); /* B6.rel */
    wait_for(d, 1);
    CHECK_EQ(told.p.window_count, 1);
    /* A lane that a bad pointer ended in the midst of it: all but the windows. */
    p = gpurt_boxmap_panic(&map, 0, 1);
    p->window_count = 1;
    p->windows[0].bytes = 8;
    p->site = 1;
    gpurt_add_relaxed_sys_u32(&map.box->sections[0].xpanics, 1);
    gpurt_store_release_sys_u32(&p->xstate, GPURT_PANIC_COPYING); /* B6.rel */
    CHECK_MSG(wait_for(d, 2) >= 100000000u, "it was waited for");
    CHECK_EQ(told.p.window_count, 0);
    end(d);
}

/* A report that has no room ends with a whole line, and it is known how much is not there. What
 * lies in its place is no window, whatever a damaged slot says. */
static void reports(void)
{
    static const uint32_t sizes[SLOTS] = {2, GPURT_PANIC_REPORT, GPURT_PANIC_REPORT + 1,
                                          UINT32_MAX};
    gpurt_drain_t *d;

    begin();
    d = drain_open();
    for (uint32_t i = 0; i < SLOTS; i++) {
        gpurt_panic_t *p = gpurt_boxmap_panic(&map, 0, i);

        memset(gpurt_panic_report(p), 'r', GPURT_PANIC_REPORT);
        gpurt_panic_report(p)[1] = '\n';
        gpurt_panic_report(p)[GPURT_PANIC_REPORT - 100] = '\n';
        p->report_bytes = sizes[i];
        p->window_count = p->context_count = p->held_count = UINT32_MAX;
        p->category = GPURT_CATEGORY_DEADLOCK;
        feed_panic(&map, 0, i, 1);
        wait_for(d, i + 1);
        CHECK_MSG(told.p.report_bytes + told.p.report_left_out == sizes[i], "%u", sizes[i]);
        CHECK_EQ(strlen(told.report), told.p.report_bytes);
        CHECK_EQ(told.p.report_bytes, i == 0   ? 2
                                      : i == 1 ? GPURT_PANIC_REPORT
                                               : GPURT_PANIC_REPORT - 99);
        CHECK_EQ(told.p.window_count + told.p.context_count + told.p.held_count, 0);
        CHECK_EQ(told.p.known[0], 0);
    }
    end(d);
}

/* A panic is known of from its count on, and once its row is made no longer: by whoever drains. */
static void coming(void)
{
    gpurt_drain_t *d;

    begin();
    d = drain_open();
    round_of(d);
    CHECK_EQ(told.alarms, 0);
    gpurt_add_relaxed_sys_u32(&map.box->sections[0].xpanics, 2);
    round_of(d);
    CHECK_EQ(told.coming, 2);
    CHECK_EQ(told.panics, 0);
    round_of(d);
    CHECK_EQ(told.alarms, 1);
    feed_panic(&map, 0, 1, 1); /* counts a third */
    wait_for(d, 1);
    CHECK_EQ(told.coming, 2);
    OK(gpurt_drain_flush(d, &err));
    gpurt_drain_close(d);
    told.coming = 0;
    d = drain_open();
    round_of(d);
    CHECK_EQ(told.coming, 2);
    feed_panic(&map, 0, 0, 1); /* written, and a fourth counted */
    wait_for(d, 2);
    CHECK_EQ(told.coming, 2);
    feed_panic(&map, 0, 2, 1); /* a fifth, for which there is no slot: it comes nowhere */
    wait_for(d, 3);
    CHECK_EQ(told.coming, 1);
    end(d);
}

/* Whoever drains, each is told once. */
static void missing(void)
{
    gpurt_drain_t *d;

    begin();
    d = drain_open();
    for (uint32_t i = 0; i < SLOTS; i++)
        feed_panic(&map, 0, i, 1);
    map.box->sections[0].xpanics = SLOTS + 5;
    wait_for(d, SLOTS);
    round_of(d);
    CHECK_EQ(told.missing, 5);
    OK(gpurt_drain_flush(d, &err));
    map.box->sections[0].xpanics = SLOTS + 7;
    round_of(d);
    CHECK_EQ(told.missing, 7);
    OK(gpurt_drain_flush(d, &err));
    gpurt_drain_close(d);
    d = drain_open();
    round_of(d);
    OK(gpurt_drain_finish(d, &err));
    CHECK_EQ(told.missing, 7);
    end(d);
}

/* The kind of a record in its ring is turned into that of a row which counts no message. */
static void foreign_kind(void)
{
    static const uint32_t kinds[] = {GPURT_KIND_LOSS, GPURT_KIND_PANIC, GPURT_KIND_FAULT};

    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        gpurt_ring_port_t port;
        gpurt_group_t *group;
        gpurt_drain_t *d;

        begin();
        d = drain_open();
        port = gpurt_boxmap_port(&map, 0, 0);
        group = gpurt_ring_at(&port, port.control->xtail);
        CHECK(feed_uniform(&port, 1, 3, 0, 0, gpurt_real_ns()));
        group->word[0] = (group->word[0] & 0xff00ffffu) | kinds[i] << 16;
        OK(gpurt_drain_finish(d, &err)); /* comes to an end */
        CHECK_MSG(told.torn == 1 && told.panics == 0, "kind %u is not believed", kinds[i]);
        end(d);
    }
}

int main(void)
{
    late_definitions();
    windows();
    reports();
    coming();
    missing();
    foreign_kind();
    gpurt_dictionary_fini(&dictionary);
    return 0;
}
