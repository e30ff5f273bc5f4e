/* SPDX-License-Identifier: Apache-2.0 */
/* Rings that overflow hold nobody up: a message elsewhere and a panic are seen in the round
 * that follows them, also while a store stands still, whose rows are bounded and written once
 * in the end; and a store that fails behind a scribe loses nothing. */
#include "check.h"
#include "drain.h"
#include "feed.h"
#include "hosttime.h"
#include <gpurt/impl/ringput.h>

#include <string.h>
#include <unistd.h>

enum {
    RINGS = 32,
    FLOODS = 24,    /* of them, that are filled */
    CALM = 30,      /* one that is not */
    RECORDS = 2000, /* of each: a ring of 64 KiB holds 2,048 */
    BATCH = 16384,  /* rows, as drainpart.h has it */
    BATCHES = 3,
    WAIT_ROUNDS = 1000000
};

static gpurt_error_t err;
static gpurt_boxmap_t map;
static gpurt_dictionary_t dictionary;

/* What the sinks saw. */
static struct seen {
    uint64_t messages, calm, panics;
    uint32_t round_rows; /* since it was set to 0 */
    bool panic_last;     /* the last row was one */
    bool raise;          /* raise a panic when asked whether we are ready */
    uint32_t raised;
} seen;

/* What the store has; its thread's, but for xgate and xrefuse. */
static struct store {
    const gpurt_row_t *rows;
    uint32_t bytes;
    uint32_t next[RINGS], panics;
    uint64_t written;
    uint32_t xgate;   /* 1: commit waits; written by: the test */
    uint32_t xrefuse; /* so many commits fail; written by: both */
} store;

static gpurt_status_t sink_put(void *context, const gpurt_row_t *row, gpurt_error_t *e)
{
    (void)context;
    (void)e;
    seen.round_rows++;
    seen.messages += row->kind == GPURT_KIND_LOG;
    seen.calm += row->kind == GPURT_KIND_LOG && gpurt_row_words(row)[1] == CALM;
    seen.panic_last = row->kind == GPURT_KIND_PANIC;
    seen.panics += seen.panic_last;
    return GPURT_OK;
}

/* Between the rings that are not in flood and those that are. */
static bool sink_ready(void *context)
{
    (void)context;
    if (seen.raise)
        feed_panic(&map, 0, seen.raised++, 1);
    seen.raise = false;
    return true;
}

static gpurt_status_t store_prepare(void *context, const gpurt_row_t *rows, uint32_t bytes,
                                    uint32_t count, gpurt_box_intent_t *place,
                                    gpurt_error_t *e)
{
    (void)context;
    (void)count;
    (void)e;
    store.rows = rows;
    store.bytes = bytes;
    place->inode = 1;
    return GPURT_OK;
}

static gpurt_status_t store_commit(void *context, gpurt_error_t *e)
{
    uint32_t refuse = gpurt_load_relaxed_sys_u32(&store.xrefuse); /* relaxed: a figure */

    (void)context;
    while (gpurt_load_relaxed_sys_u32(&store.xgate)) /* relaxed: as above */
        usleep(100);
    if (refuse) {
        gpurt_store_relaxed_sys_u32(&store.xrefuse, refuse - 1); /* relaxed: as above */
        return gpurt_fail(e, GPURT_E_OS, GPURT_FROM_GPURT, 0, "no space");
    }
    for (uint32_t at = 0; at < store.bytes;) {
        const gpurt_row_t *row = (const gpurt_row_t *)((const char *)store.rows + at);
        const uint32_t *w = gpurt_row_words(row);

        at += gpurt_row_bytes(row->words);
        store.written++;
        store.panics += row->kind == GPURT_KIND_PANIC;
        if (row->kind == GPURT_KIND_LOG)
            CHECK_MSG(w[0] == store.next[w[1]]++, "ring %u: %u", w[1], w[0]);
    }
    return GPURT_OK;
}

static bool store_holds(void *context, const gpurt_box_intent_t *place)
{
    (void)context;
    (void)place;
    return false;
}

static void open_box(void)
{
    gpurt_section_plan_t s = {.kind = GPURT_SECTION_CPU,
                              .sm_count = RINGS / 4,
                              .warp_slots = 4,
                              .ring_bytes = 65536,
                              .policy = GPURT_POLICY_DROP_NEWEST};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};

    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    feed_define(&map, 0);
    memset(&seen, 0, sizeof seen);
    memset(&store, 0, sizeof store);
}

static gpurt_drain_t *open_drain(gpurt_scribe_t *scribe)
{
    gpurt_drain_options_t o = {
        .struct_size = sizeof o,
        .sink_count = 2,
        .sinks = {{.prepare = store_prepare, .commit = store_commit, .holds = store_holds},
                  {.put = sink_put, .ready = sink_ready}},
        .dictionary = &dictionary,
        .scribe = scribe,
        .spin = true}; /* looks at all rings in each round */
    gpurt_drain_t *d;

    CHECK_MSG(gpurt_drain_open(&map, &o, &d, &err) == GPURT_OK, "%s", err.text);
    return d;
}

static void feed_one(uint32_t ring, uint32_t number)
{
    gpurt_ring_port_t port = gpurt_boxmap_port(&map, 0, ring);

    CHECK_MSG(feed_uniform(&port, 1, ring, number, ring, gpurt_real_ns()), "room");
}

static void flood(void)
{
    for (uint32_t i = 0; i < FLOODS * RECORDS; i++)
        feed_one(i % FLOODS, i / FLOODS);
}

/* Returns: rows of it. */
static uint32_t round_once(gpurt_drain_t *d)
{
    uint32_t rows;

    seen.round_rows = 0;
    CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK, "%s", err.text);
    CHECK_EQ(seen.round_rows, rows);
    return rows;
}

static void end(gpurt_drain_t *d, gpurt_scribe_t *scribe, uint64_t calm, uint64_t panics)
{
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    gpurt_drain_close(d);
    gpurt_scribe_close(scribe);
    for (uint32_t i = 0; i < FLOODS; i++) {
        const gpurt_ring_control_t *c = gpurt_boxmap_control(&map, 0, i);

        CHECK_EQ(store.next[i], RECORDS);
        CHECK_EQ(c->xtail, c->head.xhead);
    }
    CHECK_EQ(store.next[CALM], calm);
    CHECK_EQ(store.panics, panics);
    CHECK_EQ(seen.messages, FLOODS * RECORDS + calm);
    gpurt_boxmap_detach(&map);
}

static void a_message_beside_a_flood(void)
{
    gpurt_drain_t *d;
    uint32_t rows;

    open_box();
    d = open_drain(NULL);
    flood();
    rows = round_once(d);
    CHECK_MSG(rows <= FLOODS * 128u + 1024 + 128, "%u rows: a bounded part", rows);
    for (uint32_t i = 0; i < 20; i++) {
        feed_one(CALM, i);
        rows = round_once(d);
        CHECK_MSG(seen.calm == i + 1u, "%u of %u in %u rows", (uint32_t)seen.calm, i + 1,
                  rows);
        CHECK_MSG(rows <= 1024 + 128 + 1, "and %u of the flood", rows);
    }
    CHECK_MSG(seen.messages > 15 * 1024 && seen.messages < FLOODS * RECORDS,
              "%u messages: it is taken too, and not over", (uint32_t)seen.messages);
    end(d, NULL, 20, 0);
}

static void a_panic_in_a_flood(void)
{
    gpurt_drain_t *d;
    uint32_t rows;

    open_box();
    d = open_drain(NULL);
    flood();
    feed_panic(&map, 0, seen.raised++, 1);
    rows = round_once(d);
    CHECK_MSG(rows == 1 && seen.panics == 1, "before %u others", rows - 1);
    round_once(d);
    for (uint32_t i = 0; i < 4; i++) {
        seen.raise = true;
        rows = round_once(d);
        CHECK_MSG(seen.panics == i + 2u && seen.panic_last, "the round ends with it");
        CHECK_MSG(rows <= 33, "%u rows after it was raised", rows - 1);
        CHECK_EQ(store.panics, i + 2); /* and is written */
    }
    end(d, NULL, 0, 5);
}

/* Rounds until none brings anything. */
static void rounds_until_held(gpurt_drain_t *d)
{
    uint32_t quiet = 0;

    for (uint32_t i = 0; i < WAIT_ROUNDS && quiet < 3; i++) {
        quiet = round_once(d) ? 0 : quiet + 1;
        gpurt_drain_rest(d);
    }
    CHECK_MSG(quiet == 3, "it comes to a stop");
}

static void a_store_that_stands(void)
{
    gpurt_scribe_t *scribe = gpurt_scribe_open();
    gpurt_drain_t *d;
    uint64_t taken;

    open_box();
    CHECK_MSG(scribe, "a thread");
    d = open_drain(scribe);
    gpurt_store_relaxed_sys_u32(&store.xgate, 1); /* relaxed: a figure of the test */
    flood();
    rounds_until_held(d);
    taken = seen.messages;
    CHECK_MSG(taken > BATCH && taken <= BATCHES * BATCH, "%llu rows held",
              (unsigned long long)taken);
    for (uint32_t i = 0; i < 20; i++) {
        feed_one(CALM, i);
        feed_panic(&map, 0, seen.raised++, 1);
        CHECK_EQ(round_once(d), 1);
        CHECK_MSG(seen.panics == i + 1u && seen.panic_last, "the panic first");
        CHECK_EQ(round_once(d), 1);
        CHECK_MSG(seen.calm == i + 1u, "then the message");
    }
    for (uint32_t i = 0; i < FLOODS; i++) {
        const gpurt_ring_control_t *c = gpurt_boxmap_control(&map, 0, i);

        CHECK_EQ(gpurt_load_acquire_sys_u32(&c->xtail), GPURT_RING_START); /* B2.acq */
    }
    gpurt_store_relaxed_sys_u32(&store.xgate, 0); /* relaxed: as above */
    end(d, scribe, 20, 20);
}

static void a_store_that_fails(void)
{
    gpurt_scribe_t *scribe = gpurt_scribe_open();
    gpurt_drain_t *d;
    uint32_t rows, told = 0;

    open_box();
    CHECK_MSG(scribe, "a thread");
    d = open_drain(scribe);
    store.xrefuse = 3;
    flood();
    for (uint32_t i = 0; i < WAIT_ROUNDS && told < 3; i++) {
        if (gpurt_drain_round(d, &rows, &err) == GPURT_E_OS) {
            told++;
            CHECK_STR(err.text, "no space");
        }
        gpurt_drain_rest(d);
        CHECK_MSG(told == 3 || store.written == 0, "nothing overtakes what failed");
    }
    CHECK_EQ(told, 3);
    end(d, scribe, 0, 0);
}

int main(void)
{
    a_message_beside_a_flood();
    a_panic_in_a_flood();
    a_store_that_stands();
    a_store_that_fails();
    gpurt_dictionary_fini(&dictionary);
    return 0;
}
