/* SPDX-License-Identifier: Apache-2.0 */
/* A box of host code alone: its drain writes by itself while the scribe rests, and through the
 * scribe while that is busy with, or serves, somebody else; a store that fails is asked again. Either
 * way each record of a batch that was gathered comes once, in order. */
#include "check.h"
#include "drain.h"
#include "hostring.h"
#include "hosttime.h"

#include <pthread.h>
#include <unistd.h>

enum {
    PART = 1000, /* records between two looks; a ring holds more */
    RING_BYTES = 65536
};

/* What reaches the store: fills, by their numbers. */
typedef struct store {
    uint32_t ready, rows;  /* prepared, and there */
    uint32_t refuse;       /* so many commits fail */
    uint32_t ours, theirs; /* prepared by this thread, by another */
} store_t;

static gpurt_error_t err;
static gpurt_boxmap_t map;
static gpurt_hostring_t ring;
static gpurt_dictionary_t dictionary;
static pthread_t self;
static uint32_t xgate; /* 1: the other job waits; written by: the test */

static gpurt_status_t store_prepare(void *context, const gpurt_row_t *rows, uint32_t bytes,
                                    uint32_t count, gpurt_box_intent_t *place,
                                    gpurt_error_t *e)
{
    const uint8_t *at = (const uint8_t *)rows, *end = at + bytes;
    store_t *s = context;

    (void)e;
    s->ready = s->rows;
    for (; at < end; s->ready++) {
        const gpurt_row_t *row = (const gpurt_row_t *)at;
        gpurt_activity_fill_t fill;

        CHECK_EQ(row->kind, GPURT_KIND_FILL);
        memcpy(&fill, gpurt_row_words(row), sizeof fill);
        CHECK_EQ(fill.correlation, s->ready);
        at += gpurt_row_bytes(row->words);
    }
    CHECK_EQ(s->ready, s->rows + count);
    if (pthread_equal(pthread_self(), self))
        s->ours++;
    else
        s->theirs++;
    place->inode = 1;
    return GPURT_OK;
}

static gpurt_status_t store_commit(void *context, gpurt_error_t *e)
{
    store_t *s = context;

    if (s->refuse) {
        s->refuse--;
        return gpurt_fail(e, GPURT_E_OS, GPURT_FROM_GPURT, 0, "no space");
    }
    s->rows = s->ready;
    return GPURT_OK;
}

static bool store_holds(void *context, const gpurt_box_intent_t *place)
{
    (void)context;
    (void)place;
    return false;
}

static bool job_run(gpurt_scribe_job_t *job)
{
    (void)job;
    while (gpurt_load_acquire_sys_u32(&xgate)) /* the test's own */
        usleep(100);
    return true;
}

static void box_open(void)
{
    gpurt_section_plan_t s;
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};

    gpurt_hostring_plan(&s);
    s.ring_bytes = RING_BYTES;
    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    gpurt_hostring_clock(&map, 0);
    CHECK_MSG(gpurt_hostring_init(&ring, &map, 0, &err) == GPURT_OK, "%s", err.text);
    CHECK(gpurt_drain_is_patient(&map));
}

/* Records from..from + PART - 1, as many at once as go. */
static void part_put(uint32_t from)
{
    static gpurt_hostbatch_t batch;

    for (uint32_t i = from; i < from + PART; i++) {
        gpurt_activity_fill_t fill = {.correlation = i};
        uint64_t now = gpurt_real_ns();

        if (gpurt_hostring_gather(&ring, &batch, GPURT_KIND_FILL, 0, now, &fill))
            continue;
        CHECK(batch.count > 1);
        CHECK(gpurt_hostring_write(&ring, &batch, now));
        CHECK(gpurt_hostring_gather(&ring, &batch, GPURT_KIND_FILL, 0, now, &fill));
    }
    CHECK(gpurt_hostring_write(&ring, &batch, gpurt_real_ns()));
    CHECK_EQ(batch.count, 0);
}

/* Rounds until the drain has taken all, whether it is written or not. */
static void take(gpurt_drain_t *d, gpurt_status_t expected)
{
    gpurt_status_t st = GPURT_OK;
    uint32_t rows = 1;

    while (st == GPURT_OK && rows > 0)
        st = gpurt_drain_round(d, &rows, &err);
    CHECK_EQ(st, expected);
}

int main(void)
{
    store_t store = {.rows = 0};
    gpurt_scribe_t *scribe = gpurt_scribe_open();
    gpurt_scribe_job_t other = {.run = job_run, .owner = &other};
    gpurt_drain_options_t o = {.struct_size = sizeof o,
                               .sink_count = 1,
                               .sinks = {{.context = &store,
                                          .prepare = store_prepare,
                                          .commit = store_commit,
                                          .holds = store_holds}},
                               .spin = true, /* each round looks at all rings */
                               .dictionary = &dictionary,
                               .scribe = scribe};
    gpurt_drain_t *d;

    alarm(50);
    self = pthread_self();
    CHECK(scribe);
    box_open();
    CHECK_MSG(gpurt_drain_open(&map, &o, &d, &err) == GPURT_OK, "%s", err.text);

    part_put(0);
    take(d, GPURT_OK);
    CHECK_EQ(gpurt_drain_flush(d, &err), GPURT_OK);
    CHECK(store.rows == PART && store.ours > 0 && store.theirs == 0);

    store.refuse = 2;
    part_put(PART);
    take(d, GPURT_E_OS); /* half a ring: it is to be written at once */
    CHECK_EQ(gpurt_drain_flush(d, &err), GPURT_E_OS);
    CHECK_EQ(store.rows, PART);
    CHECK_EQ(gpurt_drain_flush(d, &err), GPURT_OK);
    CHECK(store.rows == 2 * PART && store.theirs == 0);

    gpurt_store_release_sys_u32(&xgate, 1); /* the test's own */
    gpurt_scribe_submit(scribe, &other);
    CHECK(!gpurt_scribe_rests(scribe));
    store.ours = 0;
    part_put(2 * PART);
    take(d, GPURT_OK); /* handed over, and not waited for */
    gpurt_store_release_sys_u32(&xgate, 0);
    CHECK_EQ(gpurt_drain_flush(d, &err), GPURT_OK);
    CHECK(store.rows == 3 * PART && store.theirs > 0);

    CHECK(gpurt_scribe_rests(scribe));
    part_put(3 * PART);
    take(d, GPURT_OK);
    CHECK_EQ(gpurt_drain_flush(d, &err), GPURT_OK);
    CHECK(store.rows == 4 * PART && store.ours > 0);

    gpurt_scribe_join(scribe); /* a drain whose panics must not wait for our write */
    store.ours = 0;
    part_put(4 * PART);
    CHECK_EQ(gpurt_drain_finish(d, &err), GPURT_OK);
    CHECK(store.rows == 5 * PART && store.ours == 0);
    gpurt_scribe_leave(scribe);
    gpurt_drain_close(d);
    gpurt_scribe_close(scribe);
    gpurt_boxmap_detach(&map);
    gpurt_dictionary_fini(&dictionary);
    return 0;
}
