/* SPDX-License-Identifier: Apache-2.0 */
/* Handles that were released, made up, or name an object of another kind are told and
 * never followed; slots are used again with another generation, also past the end of the
 * counter. */
#include "../check.h"
#include "fake_backend.h"
#include "handle.h"

#include <inttypes.h>
#include <stdlib.h>

static gpurt_handles_t table = {.lock = GPURT_LOCK_INIT};
static gpurt_t *rt;

static void refused(gpurt_status_t st, const gpurt_error_t *err, const char *text)
{
    CHECK_EQ(st, GPURT_E_HANDLE);
    CHECK_EQ(err->status, GPURT_E_HANDLE);
    CHECK_CONTAINS(err->text, text);
}

/* No call takes this handle for a stream. */
static void no_stream(gpurt_stream_t handle, const char *text)
{
    uint32_t before = fake_calls_all(&fake_cpu);
    gpurt_error_t err = {0};
    char byte = 0;

    refused(gpurt_stream_sync(rt, handle, &err), &err, text);
    refused(gpurt_stream_query(rt, handle, &err), &err, text);
    refused(gpurt_copy(rt, handle, &byte, &byte, 1, &err), &err, text);
    refused(gpurt_fill(rt, handle, &byte, 0, 1, &err), &err, text);
    CHECK_EQ(gpurt_stream_destroy(rt, handle), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_stream_sync(rt, handle, NULL), GPURT_E_HANDLE);
    CHECK_EQ(fake_calls_all(&fake_cpu), before);
}

static void no_event(gpurt_event_t handle, gpurt_event_t good, gpurt_stream_t stream,
                     const char *text)
{
    uint32_t before = fake_calls_all(&fake_cpu);
    gpurt_error_t err = {0};
    uint64_t ns = 3;

    refused(gpurt_event_sync(rt, handle, &err), &err, text);
    refused(gpurt_event_query(rt, handle, &err), &err, text);
    refused(gpurt_event_elapsed_ns(rt, handle, good, &ns, &err), &err, text);
    refused(gpurt_event_elapsed_ns(rt, good, handle, &ns, &err), &err, text);
    CHECK_EQ(ns, 0);
    CHECK_EQ(gpurt_event_record(rt, handle, stream), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_event_wait(rt, handle, stream), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_event_destroy(rt, handle), handle ? GPURT_E_HANDLE : GPURT_OK);
    CHECK_EQ(fake_calls_all(&fake_cpu), before);
}

static void through_the_api(void)
{
    gpurt_stream_t s, old_s;
    gpurt_event_t e, old_e;

    CHECK_EQ(gpurt_stream_create(rt, &s, NULL), GPURT_OK);
    CHECK_EQ(gpurt_event_create(rt, &e, NULL), GPURT_OK);
    CHECK_EQ(gpurt_stream_create(rt, &old_s, NULL), GPURT_OK);
    CHECK_EQ(gpurt_event_create(rt, &old_e, NULL), GPURT_OK);
    CHECK_EQ(gpurt_stream_destroy(rt, old_s), GPURT_OK);
    CHECK_EQ(gpurt_event_destroy(rt, old_e), GPURT_OK);
    no_stream(old_s, "was destroyed already");
    no_event(old_e, e, s, "was destroyed already");
    no_stream(e, "names an event, wanted is a stream");
    no_event(s, e, s, "names a stream, wanted is an event");
    no_event(0, e, s, "never was a handle");
    CHECK_EQ(gpurt_event_record(rt, e, old_s), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_event_wait(rt, e, old_s), GPURT_E_HANDLE);

    no_stream(1, "never was a handle"); /* a generation yet to come */
    no_stream(s + ((uint64_t)1 << 32), "never was a handle: gpurt_stream_create");
    no_stream((uint32_t)s + 1000, "never was a handle");        /* a slot nobody used yet */
    no_stream(s + GPURT_HANDLE_COUNT, "never was a handle");    /* a slot beyond the last */
    no_stream(s & ~(uint64_t)0xffffffff, "never was a handle"); /* no slot at all */
    no_stream(UINT64_MAX, "never was a handle");
    for (int i = 0; i < 100000; i++)
        CHECK_EQ(
            gpurt_stream_sync(rt, (uint64_t)mrand48() << 32 | (uint32_t)mrand48(), NULL),
            GPURT_E_HANDLE);
    CHECK_EQ(gpurt_stream_sync(rt, s, NULL), GPURT_OK); /* the good ones are as they were */
    CHECK_EQ(gpurt_event_sync(rt, e, NULL), GPURT_OK);
}

/* The last user of a handle that was released meanwhile destroys its object, nobody
 * earlier. */
static gpurt_stream_t in_use;

static void destroy_in_use(fake_op_t op)
{
    uint32_t before = fake_calls(&fake_cpu, FAKE_STREAM_DESTROY);

    if (op != FAKE_STREAM_SYNC)
        return;
    CHECK_EQ(gpurt_stream_destroy(rt, in_use), GPURT_OK);
    CHECK_EQ(gpurt_stream_destroy(rt, in_use), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_stream_query(rt, in_use, NULL), GPURT_E_HANDLE);
    CHECK_EQ(fake_calls(&fake_cpu, FAKE_STREAM_DESTROY), before);
}

static void released_in_a_call(void)
{
    uint32_t before = fake_alive();

    CHECK_EQ(gpurt_stream_create(rt, &in_use, NULL), GPURT_OK);
    fake_cpu.inside = destroy_in_use;
    CHECK_EQ(gpurt_stream_sync(rt, in_use, NULL), GPURT_OK);
    fake_cpu.inside = NULL;
    CHECK_EQ(fake_alive(), before);
    no_stream(in_use, "was destroyed already");
}

static void full_table(void)
{
    static gpurt_stream_t all[GPURT_HANDLE_COUNT];
    uint32_t count = 0, before = fake_alive();
    gpurt_error_t err = {0};
    gpurt_stream_t more = 1;

    while (gpurt_stream_create(rt, &all[count], NULL) == GPURT_OK)
        count++;
    CHECK_EQ(before + count, GPURT_HANDLE_COUNT);
    CHECK_EQ(gpurt_event_create(rt, &more, &err), GPURT_E_NOMEM);
    CHECK_EQ(more, 0);
    CHECK_CONTAINS(err.text, "4096 streams, events, guards and services exist");
    CHECK_EQ(fake_alive(), GPURT_HANDLE_COUNT); /* the one too many went again */
    CHECK_EQ(gpurt_stream_destroy(rt, all[7]), GPURT_OK);
    CHECK_EQ(gpurt_event_create(rt, &more, NULL), GPURT_OK);
    no_stream(all[7], "was destroyed already");
    CHECK_EQ(gpurt_event_destroy(rt, more), GPURT_OK);
    for (uint32_t i = 0; i < count; i++)
        CHECK_EQ(gpurt_stream_destroy(rt, all[i]), i == 7 ? GPURT_E_HANDLE : GPURT_OK);
    CHECK_EQ(fake_alive(), before);
}

static void earlier_runtime(void)
{
    gpurt_options_t cpu = {.struct_size = sizeof cpu, .backend = GPURT_BACKEND_CPU};
    gpurt_stream_t old, fresh;

    CHECK_EQ(gpurt_stream_create(rt, &old, NULL), GPURT_OK);
    CHECK_EQ(gpurt_close(rt, NULL), GPURT_OK);
    rt = fake_gpurt_open(&cpu);
    no_stream(old, "was destroyed already");
    CHECK_EQ(gpurt_stream_create(rt, &fresh, NULL), GPURT_OK);
    CHECK(fresh != old);
    no_stream(old, "was destroyed already");
    CHECK_EQ(gpurt_stream_sync(rt, fresh, NULL), GPURT_OK);
}

/* ---- the table alone ----------------------------------------------------------------- */
static void slot_comes_round(void)
{
    static char object;
    gpurt_orphan_t orphan;
    gpurt_error_t err = {0};
    uint64_t first = gpurt_handle_create(&table, GPURT_HANDLE_EVENT, &object), last = 0;
    uint32_t rounds = 0;
    void *seen = NULL;

    CHECK(gpurt_handle_release(&table, GPURT_HANDLE_EVENT, first, &orphan));
    CHECK(orphan.object == &object && orphan.kind == GPURT_HANDLE_EVENT);
    for (int i = 0; i < 9 * GPURT_HANDLE_COUNT; i++) {
        uint64_t h = gpurt_handle_create(&table, GPURT_HANDLE_STREAM, &object);

        CHECK(h != 0 && h != first && h != last);
        if ((uint32_t)h == (uint32_t)first) {
            CHECK_EQ((uint32_t)(h >> 32), (uint32_t)(first >> 32) + ++rounds);
            CHECK_MSG(!gpurt_handle_take(&table, GPURT_HANDLE_EVENT, first, &seen),
                      "stale handle followed in round %u", rounds);
            gpurt_handle_refuse(&table, GPURT_HANDLE_EVENT, first, &err);
            CHECK_CONTAINS(err.text, "was destroyed already");
            CHECK(gpurt_handle_take(&table, GPURT_HANDLE_STREAM, h, &seen));
            CHECK(seen == &object);
            CHECK(!gpurt_handle_drop(&table, h).object);
        }
        CHECK(gpurt_handle_release(&table, GPURT_HANDLE_STREAM, h, &orphan));
        CHECK(orphan.object == &object && orphan.kind == GPURT_HANDLE_STREAM);
        last = h;
    }
    /* Each slot in turn; and the generation went over its end on the way. */
    CHECK_EQ(rounds, 9);
    CHECK((uint32_t)(first >> 32) + rounds < (uint32_t)(first >> 32));
}

static void two_users(void)
{
    static char object;
    uint64_t h = gpurt_handle_create(&table, GPURT_HANDLE_STREAM, &object);
    gpurt_orphan_t orphan;
    void *a, *b;

    CHECK(gpurt_handle_take(&table, GPURT_HANDLE_STREAM, h, &a));
    CHECK(gpurt_handle_take(&table, GPURT_HANDLE_STREAM, h, &b));
    CHECK(gpurt_handle_release(&table, GPURT_HANDLE_STREAM, h, &orphan));
    CHECK(!orphan.object);
    CHECK(!gpurt_handle_release(&table, GPURT_HANDLE_STREAM, h, &orphan));
    CHECK(!gpurt_handle_take(&table, GPURT_HANDLE_STREAM, h, &a));
    CHECK(!gpurt_handle_drop(&table, h).object);
    orphan = gpurt_handle_drop(&table, h);
    CHECK(orphan.object == &object && orphan.kind == GPURT_HANDLE_STREAM);
}

int main(void)
{
    gpurt_options_t cpu = {.struct_size = sizeof cpu, .backend = GPURT_BACKEND_CPU};

    fake_reset();
    rt = fake_gpurt_open(&cpu);
    through_the_api();
    released_in_a_call();
    full_table();
    earlier_runtime();
    CHECK_EQ(gpurt_close(rt, NULL), GPURT_OK);
    CHECK_EQ(fake_alive(), 0);
    slot_comes_round();
    two_users();
    return 0;
}
