/* SPDX-License-Identifier: Apache-2.0 */
/* A ring that is half used up is emptied to the shelf and not to a frame of its own: its producer
 * finds room, also while the store stands still, frames are few, and the next drainer, wherever
 * the one before it stopped, finds each message once. */
#include "check.h"
#include "drain.h"
#include "feed.h"
#include "hosttime.h"

#include <string.h>
#include <unistd.h>

enum {
    RING_GROUPS = 256,
    HALF = 64, /* messages of two groups that use up half a ring */
    WAITS = 100000
};
#define NEVER_NS 1000000000000ull
#define AGED_NS  1200000000ull

static gpurt_error_t err;
static gpurt_boxmap_t map;
static gpurt_dictionary_t dictionary;
static uint64_t flush_ns = NEVER_NS;
static gpurt_ring_port_t port;
static uint32_t fed;

/* What the store has; its thread's, but for xgate and xframes. */
static struct store {
    const gpurt_row_t *rows;
    uint32_t bytes;
    uint32_t next, missing; /* message awaited; how many did not come */
    uint64_t lost;
    uint32_t xframes;
    uint32_t xgate; /* 1: commit waits; written by: the test */
} store;

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

static void row_look(const gpurt_row_t *row)
{
    const uint32_t *w = gpurt_row_words(row);

    store.lost += gpurt_row_lost(row);
    if (row->kind != GPURT_KIND_LOG)
        return;
    CHECK_MSG(w[0] >= store.next, "message %u after %u", w[0], store.next);
    store.missing += w[0] - store.next;
    store.next = w[0] + 1;
}

static gpurt_status_t store_commit(void *context, gpurt_error_t *e)
{
    (void)context;
    (void)e;
    while (gpurt_load_relaxed_sys_u32(&store.xgate)) /* relaxed: a figure of the test */
        usleep(100);
    for (uint32_t at = 0; at < store.bytes;) {
        const gpurt_row_t *row = (const gpurt_row_t *)((const char *)store.rows + at);

        at += gpurt_row_bytes(row->words);
        row_look(row);
    }
    gpurt_add_relaxed_sys_u32(&store.xframes, 1); /* relaxed: as above */
    return GPURT_OK;
}

static bool store_holds(void *context, const gpurt_box_intent_t *place)
{
    (void)context;
    (void)place;
    return false;
}

static void open_box(uint32_t shelf_bytes)
{
    gpurt_section_plan_t s = {.kind = GPURT_SECTION_CPU,
                              .sm_count = 2,
                              .ring_bytes = RING_GROUPS * GPURT_GROUP_BYTES};
    gpurt_box_plan_t plan = {.struct_size = sizeof plan,
                             .section_count = 1,
                             .sections = &s,
                             .shelf_bytes = shelf_bytes};

    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    feed_define(&map, 0);
    port = gpurt_boxmap_port(&map, 0, 1);
    memset(&store, 0, sizeof store);
    fed = 0;
}

/* spin: looks at all rings in each round. */
static gpurt_drain_t *open_drain(const gpurt_boxmap_t *from, gpurt_scribe_t *scribe)
{
    gpurt_drain_options_t o = {
        .struct_size = sizeof o,
        .sink_count = 1,
        .sinks = {{.prepare = store_prepare, .commit = store_commit, .holds = store_holds}},
        .dictionary = &dictionary,
        .scribe = scribe,
        .flush_ns = flush_ns,
        .spin = true};
    gpurt_drain_t *d;

    CHECK_MSG(gpurt_drain_open(from, &o, &d, &err) == GPURT_OK, "%s", err.text);
    return d;
}

static void feed(uint32_t count)
{
    for (uint32_t end = fed + count; fed < end; fed++)
        CHECK_MSG(feed_uniform(&port, 1, 1, fed, 1, gpurt_real_ns()), "no room for %u",
                  fed);
}

static uint32_t round_once(gpurt_drain_t *d)
{
    uint32_t rows;

    CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK, "%s", err.text);
    return rows;
}

/* Half a ring a round. */
static void feed_rounds(gpurt_drain_t *d, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t rows = 0;

        feed(HALF);
        for (int tries = 0; tries < 3 && rows < HALF; tries++) /* a batch may be full */
            rows += round_once(d);
        CHECK_EQ(rows, HALF);
    }
}

static uint32_t on_shelf(void)
{
    return map.box->shelf.xend - map.box->shelf.xfirst;
}

static void end(gpurt_drain_t *d, uint32_t missing)
{
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    gpurt_drain_close(d);
    CHECK_EQ(store.next, fed);
    CHECK_EQ(store.missing, missing);
    CHECK_EQ(port.control->xtail, port.control->head.xhead);
    CHECK_EQ(port.control->xfiled, port.control->head.xhead);
    CHECK_EQ(on_shelf(), 0);
    gpurt_boxmap_detach(&map);
}

static gpurt_status_t reader_put(void *context, const gpurt_row_t *row, gpurt_error_t *e)
{
    uint32_t *next = context;

    (void)e;
    if (row->kind == GPURT_KIND_LOG)
        CHECK_EQ(gpurt_row_words(row)[0], (*next)++);
    return GPURT_OK;
}

/* What a drainer would find that came now. */
static void all_is_there(void)
{
    gpurt_drain_options_t o = {.struct_size = sizeof o,
                               .sink_count = 1,
                               .sinks = {{.put = reader_put}},
                               .dictionary = &dictionary};
    uint32_t next = 0;
    gpurt_boxmap_t copy;
    gpurt_drain_t *d;

    o.sinks[0].context = &next;
    CHECK_MSG(gpurt_boxmap_attach_fd(map.fd, false, &copy, &err) == GPURT_OK, "%s",
              err.text);
    CHECK_MSG(gpurt_drain_open(&copy, &o, &d, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    gpurt_drain_close(d);
    gpurt_boxmap_detach(&copy);
    CHECK_EQ(next, fed);
}

/* As a drainer that is killed leaves them: nothing flushed, the space of some given back. */
static void left_behind(uint32_t rounds)
{
    gpurt_drain_t *d;

    open_box(0);
    d = open_drain(&map, NULL);
    feed_rounds(d, rounds);
    gpurt_drain_close(d);
    CHECK_EQ(store.xframes, 0);
    CHECK_EQ(on_shelf(), port.control->xtail - GPURT_RING_START + rounds);
    CHECK_EQ(port.control->xfiled, GPURT_RING_START);
}

static void few_frames(void)
{
    gpurt_drain_t *d;

    open_box(0);
    d = open_drain(&map, NULL);
    feed_rounds(d, 312); /* 19,968 rows: more than a batch has */
    CHECK_EQ(store.xframes, 1);
    CHECK_MSG(on_shelf() < 312 * (2 * HALF + 1), "its groups are off the shelf");
    end(d, 0);
    CHECK_EQ(store.xframes, 2);
}

static void a_shelf_that_is_full(void)
{
    gpurt_drain_t *d;

    open_box(8192); /* 512 groups: three pieces */
    d = open_drain(&map, NULL);
    feed_rounds(d, 100);
    CHECK_EQ(store.xframes, 25);
    end(d, 0);
}

static void a_store_that_stands(void)
{
    gpurt_scribe_t *scribe = gpurt_scribe_open();
    gpurt_drain_t *d;
    uint64_t done = 0;
    uint32_t tail;

    CHECK_MSG(scribe, "a thread");
    open_box(0);
    d = open_drain(&map, scribe);
    gpurt_store_relaxed_sys_u32(&store.xgate, 1); /* relaxed: a figure of the test */
    feed(HALF / 2);
    CHECK_EQ(round_once(d), HALF / 2);
    feed_panic(&map, 0, 0, 1);
    CHECK_EQ(round_once(d), 1); /* handed over, and not written */
    feed_rounds(d, 100);
    tail = port.control->xtail;
    CHECK_EQ(tail, port.control->head.xhead);
    all_is_there();
    gpurt_store_relaxed_sys_u32(&store.xgate, 0); /* relaxed: as above */
    for (int i = 0; i < WAITS && done == 0; i++, usleep(100))
        done = gpurt_load_acquire_sys_u64(&map.box->claim.xdone); /* DP2.acq */
    CHECK_EQ(done, 1);
    CHECK_EQ(port.control->xtail, tail); /* what was given is not taken back */
    end(d, 0);
    gpurt_scribe_close(scribe);
}

static void the_next_drainer(void)
{
    gpurt_drain_t *d;
    uint32_t tail;

    left_behind(5);
    feed(HALF + 10); /* over what was there before */
    end(open_drain(&map, NULL), 0);

    left_behind(5); /* it dies between the shelf and the tail */
    tail = port.control->xtail;
    port.control->xtail = tail - 2 * HALF;
    d = open_drain(&map, NULL);
    CHECK_EQ(round_once(d), 5 * HALF);
    CHECK_EQ(port.control->xtail, tail);
    end(d, 0);

    left_behind(5); /* so does its successor, as it reads, and the third has written it */
    d = open_drain(&map, NULL);
    CHECK_EQ(round_once(d), 5 * HALF);
    gpurt_drain_close(d);
    d = open_drain(&map, NULL);
    CHECK_EQ(round_once(d), 5 * HALF);
    CHECK_MSG(gpurt_drain_flush(d, &err) == GPURT_OK, "%s", err.text);
    gpurt_drain_close(d);
    CHECK_EQ(on_shelf(), 0);
    feed(10);
    end(open_drain(&map, NULL), 0);
}

/* Its flush was cut off before the shelf's room was given back: the rings know better. */
static void a_flush_cut_short(void)
{
    gpurt_drain_t *d;
    uint32_t first;

    left_behind(5);
    first = map.box->shelf.xfirst;
    d = open_drain(&map, NULL);
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    gpurt_drain_close(d);
    CHECK_EQ(store.next, fed);
    map.box->shelf.xfirst = first;
    feed(10);
    end(open_drain(&map, NULL), 0);
}

static void a_reader(void)
{
    left_behind(5);
    feed(10);
    all_is_there();
    end(open_drain(&map, NULL), 0); /* it has changed nothing */
}

static void a_site_that_comes_late(void)
{
    gpurt_drain_t *d;

    left_behind(2);
    gpurt_boxmap_def(&map, 0, 0)->xstate = GPURT_DEF_NONE;
    d = open_drain(&map, NULL);
    feed(10);
    CHECK_EQ(round_once(d), 0);
    gpurt_boxmap_def(&map, 0, 0)->xstate = GPURT_DEF_SITE;
    CHECK_EQ(round_once(d), 2 * HALF);
    end(d, 0);
}

static gpurt_group_t *shelf_at(uint32_t position)
{
    return &gpurt_boxmap_shelf(&map)[position & (map.shelf.group_count - 1)];
}

/* Where the second piece lies, behind the groups of the first. */
static uint32_t second(void)
{
    uint32_t first = map.box->shelf.xfirst;

    return first + 1 + ((gpurt_box_piece_t *)shelf_at(first))->groups;
}

/* Records that their writer did not finish: the 11th message of the first piece, and the last
 * of it. */
static void a_hole(void)
{
    left_behind(3);
    memset(shelf_at(map.box->shelf.xfirst + 1 + 20), 0, sizeof(gpurt_group_t));
    memset(shelf_at(second() - 2), 0, 2 * sizeof(gpurt_group_t));
    end(open_drain(&map, NULL), 2);
    CHECK_EQ(store.lost, 2);
}

/* The front of a piece was filed, given back and overwritten as it was copied. It holds records of the next
 * lap then, which come behind the piece, and from the ring. */
static void a_front_that_was_overwritten(void)
{
    enum {
        FILED = 24
    };
    const gpurt_group_t *ring;
    uint32_t front;

    left_behind(1);
    /* with the mark of the lap */
    front = port.control->xtail - GPURT_RING_START - 2 * (HALF - FILED);
    ring = gpurt_boxmap_groups(&map, 0, 1);
    feed(HALF + FILED);
    for (uint32_t i = 0; i < front; i++)
        *shelf_at(map.box->shelf.xfirst + 1 + i) =
            ring[(GPURT_RING_START + i) & (RING_GROUPS - 1)];
    port.control->xfiled = GPURT_RING_START + front;
    port.control->xseen = FILED;
    store.next = FILED;
    end(open_drain(&map, NULL), 0);
    CHECK_EQ(store.lost, 0);
}

/* What cannot be found any more is told. */
static void a_damaged_shelf(void)
{
    gpurt_box_piece_t *piece;
    gpurt_drain_t *d;

    left_behind(3);
    piece = (gpurt_box_piece_t *)shelf_at(second());
    piece->groups = RING_GROUPS + 1; /* it and all behind it are gone */
    feed(HALF + 10);
    d = open_drain(&map, NULL);
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    gpurt_drain_close(d);
    CHECK_EQ(store.next, fed);
    CHECK_EQ(store.missing, store.lost);
    CHECK_MSG(store.missing > 0 && store.missing <= 2 * HALF, "%u", store.missing);
    gpurt_boxmap_detach(&map);
}

/* Few rows wait for others as long as they may, many a quarter of that. */
static void frames_by_age(void)
{
    uint64_t begin_ns = gpurt_real_ns();
    gpurt_drain_t *d;

    open_box(0);
    flush_ns = AGED_NS;
    d = open_drain(&map, NULL);
    feed_rounds(d, 3);
    feed(HALF - 1);
    do
        round_once(d);
    while (gpurt_real_ns() - begin_ns <= AGED_NS / 4 * 3 / 2);
    if (gpurt_real_ns() - begin_ns < AGED_NS) /* else we were held up */
        CHECK_EQ(store.xframes, 0);
    feed(1); /* the 256th */
    round_once(d);
    CHECK_EQ(store.xframes, 1);
    end(d, 0);
    flush_ns = NEVER_NS;
}

int main(void)
{
    few_frames();
    frames_by_age();
    a_shelf_that_is_full();
    a_store_that_stands();
    the_next_drainer();
    a_flush_cut_short();
    a_reader();
    a_site_that_comes_late();
    a_hole();
    a_front_that_was_overwritten();
    a_damaged_shelf();
    gpurt_dictionary_fini(&dictionary);
    return 0;
}
