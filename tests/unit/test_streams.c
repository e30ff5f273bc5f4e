/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, events and asynchronous launches: order inside a stream, none between streams
 * but what events make, and a failed kernel that spoils nothing after it. */
#include "check.h"

#include <pthread.h>
#include <unistd.h>

#include <gpurt/atomic.h>
#include <gpurt/gpurt.h>

#include "../kernels/stream_kernels.h"

enum {
    LANES = 64,
    STEPS = 20,
    QUEUED = 10000,
    HOST_THREADS = 4,
    EACH_THREAD = 200
};

static gpurt_t *rt;
static gpurt_error_t err;
static const gpurt_launch_t one_warp = {.grid = {1, 1, 1}, .block = {32, 1, 1}};

#define OK(call) CHECK_MSG((call) == GPURT_OK, "%s: %s", #call, err.text)

static uint64_t *device_words(size_t count)
{
    void *p = NULL;

    OK(gpurt_mem_create(rt, count * sizeof(uint64_t), &p, &err));
    OK(gpurt_fill(rt, GPURT_STREAM_DEFAULT, p, 0, count * sizeof(uint64_t), &err));
    OK(gpurt_stream_sync(rt, GPURT_STREAM_DEFAULT, &err));
    return (uint64_t *)p;
}

/* Where a copy need not wait for the host: a GPU copies to other memory only while the
 * caller waits for the stream. */
static uint64_t *host_words(size_t count)
{
    void *p = NULL;

    OK(gpurt_host_create(rt, count * sizeof(uint64_t), &p, &err));
    return (uint64_t *)p;
}

/* A word that the host and kernels see, 0. */
static uint32_t *shared_flag(void)
{
    void *p = NULL;

    OK(gpurt_host_create(rt, sizeof(uint32_t), &p, &err));
    gpurt_store_release_sys_u32((uint32_t *)p, 0);
    return (uint32_t *)p;
}

static gpurt_stream_t stream_new(void)
{
    gpurt_stream_t s = 0;

    OK(gpurt_stream_create(rt, &s, &err));
    return s;
}

static gpurt_event_t event_new(void)
{
    gpurt_event_t e = 0;

    OK(gpurt_event_create(rt, &e, &err));
    return e;
}

/* A launch of LANES lanes in two blocks. */
static gpurt_launch_t on(gpurt_stream_t stream)
{
    return (gpurt_launch_t){
        .grid = {2, 1, 1}, .block = {LANES / 2, 1, 1}, .stream = stream};
}

static void step(gpurt_stream_t stream, uint64_t *data, uint32_t value)
{
    gpurt_launch_t launch = on(stream);
    struct stream_args args = {NULL, data, value};

    OK(gpurt_launch(rt, &launch, stream_step, &args, &err));
}

static void wait_for(gpurt_stream_t stream, uint32_t *flag, uint64_t *data, uint32_t value)
{
    gpurt_launch_t launch = on(stream);
    struct stream_args args = {flag, data, value};

    OK(gpurt_launch(rt, &launch, stream_wait, &args, &err));
}

/* ---- one stream ---------------------------------------------------------------------- */
/* Launches, copies and fills of one stream happen in the order in which they were asked
 * for. */
static void order_in_a_stream(void)
{
    uint64_t *data = device_words(LANES), early[LANES], late[LANES], want = 0;
    gpurt_stream_t s = stream_new();

    for (uint32_t i = 1; i <= STEPS; i++)
        step(s, data, i);
    OK(gpurt_copy(rt, s, early, data, sizeof early, &err));
    OK(gpurt_fill(rt, s, data, 0x01, LANES / 2 * sizeof(uint64_t), &err));
    step(s, data, 5);
    OK(gpurt_copy(rt, s, data + LANES - 1, data, sizeof(uint64_t), &err));
    OK(gpurt_copy(rt, s, late, data, sizeof late, &err));
    OK(gpurt_fill(rt, s, data, 0xff, LANES * sizeof(uint64_t), &err));
    OK(gpurt_stream_sync(rt, s, &err));
    for (uint32_t i = 1; i <= STEPS; i++)
        want = want * 31 + i;
    for (uint32_t i = 0; i < LANES; i++) {
        uint64_t filled = 0x0101010101010101u * 31 + 5, kept = want * 31 + 5;

        CHECK_EQ(early[i], want);
        CHECK_EQ(late[i], i < LANES / 2 || i == LANES - 1 ? filled : kept);
    }
    CHECK_EQ(gpurt_stream_query(rt, s, &err), GPURT_OK);
    OK(gpurt_stream_destroy(rt, s));
    OK(gpurt_mem_destroy(rt, data));
}

/* Far more than any queue would hold by itself; none is lost, and the host need not
 * wait. */
static void many_launches(void)
{
    uint64_t *data = device_words(1), seen = 0;
    gpurt_stream_t s = stream_new();
    struct stream_args args = {NULL, data, 0};
    gpurt_launch_t launch = on(s);

    for (uint32_t i = 0; i < QUEUED; i++)
        OK(gpurt_launch(rt, &launch, stream_count, &args, &err));
    OK(gpurt_copy(rt, s, &seen, data, sizeof seen, &err));
    OK(gpurt_stream_sync(rt, s, &err));
    CHECK_EQ(seen, 2 * QUEUED);
    OK(gpurt_stream_destroy(rt, s));
    OK(gpurt_mem_destroy(rt, data));
}

/* A stream that is destroyed finishes its work first; its handle is not followed after
 * that. */
static void destroy_waits(void)
{
    uint64_t *data = device_words(LANES), seen[LANES];
    gpurt_stream_t s = stream_new();
    gpurt_launch_t launch = on(s);
    struct stream_args args = {NULL, data, 1};

    step(s, data, 7);
    OK(gpurt_copy(rt, s, seen, data, sizeof seen, &err));
    OK(gpurt_stream_destroy(rt, s));
    OK(gpurt_sync(rt, &err));
    CHECK_EQ(seen[LANES - 1], 7);
    CHECK_EQ(gpurt_launch(rt, &launch, stream_step, &args, &err), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_stream_sync(rt, s, &err), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_stream_destroy(rt, s), GPURT_E_HANDLE);
    OK(gpurt_mem_destroy(rt, data));
}

/* ---- two streams --------------------------------------------------------------------- */
/* The first kernel ends only when the second, in another stream, has run: both are
 * resident. */
static void streams_overlap(void)
{
    uint64_t *data = device_words(LANES);
    uint32_t *flag = shared_flag();
    gpurt_stream_t a = stream_new(), b = stream_new();
    gpurt_launch_t launch = on(b);
    struct stream_args args = {flag, data, 3};

    wait_for(a, flag, data, 3);
    OK(gpurt_launch(rt, &launch, stream_signal, &args, &err));
    OK(gpurt_stream_sync(rt, a, &err));
    OK(gpurt_stream_sync(rt, b, &err));
    OK(gpurt_stream_destroy(rt, a));
    OK(gpurt_stream_destroy(rt, b));
    OK(gpurt_host_destroy(rt, flag));
    OK(gpurt_mem_destroy(rt, data));
}

/* b's work must not begin before a's event, however long that takes. */
static void event_holds_another_stream(void)
{
    uint64_t *data = device_words(2 * LANES), *seen = host_words(LANES);
    uint32_t *flag = shared_flag();
    gpurt_stream_t a = stream_new(), b = stream_new();
    gpurt_event_t e = event_new();

    wait_for(a, flag, data, 1);
    OK(gpurt_event_record(rt, e, a));
    step(a, data + LANES, 9); /* after the event: b does not wait for this one */
    OK(gpurt_event_wait(rt, e, b));
    step(b, data, 2);
    OK(gpurt_copy(rt, b, seen, data, LANES * sizeof *seen, &err));
    CHECK_EQ(gpurt_stream_query(rt, a, &err), GPURT_E_NOT_READY);
    CHECK_EQ(gpurt_stream_query(rt, b, &err), GPURT_E_NOT_READY);
    CHECK_EQ(gpurt_event_query(rt, e, &err), GPURT_E_NOT_READY);
    usleep(20000);
    CHECK_EQ(gpurt_stream_query(rt, b, &err), GPURT_E_NOT_READY);
    gpurt_store_release_sys_u32(flag, 1);
    OK(gpurt_stream_sync(rt, b, &err));
    OK(gpurt_event_query(rt, e, &err));
    OK(gpurt_event_sync(rt, e, &err));
    for (uint32_t i = 0; i < LANES; i++)
        CHECK_EQ(seen[i], 31 + 2);
    OK(gpurt_sync(rt, &err));
    OK(gpurt_event_destroy(rt, e));
    OK(gpurt_stream_destroy(rt, a));
    OK(gpurt_stream_destroy(rt, b));
    OK(gpurt_host_destroy(rt, flag));
    OK(gpurt_host_destroy(rt, seen));
    OK(gpurt_mem_destroy(rt, data));
}

/* ---- events -------------------------------------------------------------------------- */
static void events_time(void)
{
    uint64_t *data = device_words(LANES), ns = 0;
    uint32_t *flag = shared_flag();
    gpurt_stream_t s = stream_new();
    gpurt_event_t from = event_new(), to = event_new(), never = event_new();

    OK(gpurt_event_query(rt, never, &err)); /* nothing to wait for */
    OK(gpurt_event_sync(rt, never, &err));
    OK(gpurt_event_wait(rt, never, s));
    OK(gpurt_event_record(rt, from, s));
    wait_for(s, flag, data, 1);
    OK(gpurt_event_record(rt, to, s));
    CHECK_EQ(gpurt_event_elapsed_ns(rt, from, to, &ns, &err), GPURT_E_NOT_READY);
    usleep(20000);
    gpurt_store_release_sys_u32(flag, 1);
    OK(gpurt_event_sync(rt, to, &err));
    OK(gpurt_event_elapsed_ns(rt, from, to, &ns, &err));
    CHECK_MSG(ns >= 10000000 && ns < 10000000000, "a kernel of 20 ms took %llu ns",
              (unsigned long long)ns);
    CHECK(gpurt_event_elapsed_ns(rt, from, never, &ns, &err) != GPURT_OK);
    OK(gpurt_event_record(rt, from, s)); /* once more: the last record counts */
    OK(gpurt_event_sync(rt, from, &err));
    OK(gpurt_event_destroy(rt, from));
    OK(gpurt_event_destroy(rt, to));
    OK(gpurt_event_destroy(rt, never));
    CHECK_EQ(gpurt_event_query(rt, to, &err), GPURT_E_HANDLE);
    OK(gpurt_stream_destroy(rt, s));
    OK(gpurt_host_destroy(rt, flag));
    OK(gpurt_mem_destroy(rt, data));
}

/* A wait is for the record that was made before it, not for one made later. */
static void event_wait_takes_the_last_record(void)
{
    uint64_t *data = device_words(LANES);
    uint32_t *flag = shared_flag();
    gpurt_stream_t a = stream_new(), b = stream_new(), c = stream_new();
    gpurt_event_t e = event_new();

    OK(gpurt_event_record(rt, e, a));
    OK(gpurt_event_wait(rt, e, b));
    wait_for(a, flag, data, 1);
    OK(gpurt_event_record(rt, e, a));
    OK(gpurt_event_wait(rt, e, c));
    OK(gpurt_stream_sync(rt, b, &err)); /* would hang if b waited for the second record */
    CHECK_EQ(gpurt_stream_query(rt, c, &err), GPURT_E_NOT_READY);
    gpurt_store_release_sys_u32(flag, 1);
    OK(gpurt_event_destroy(rt, e)); /* c waits for it still */
    OK(gpurt_stream_sync(rt, c, &err));
    OK(gpurt_stream_destroy(rt, a));
    OK(gpurt_stream_destroy(rt, b));
    OK(gpurt_stream_destroy(rt, c));
    OK(gpurt_host_destroy(rt, flag));
    OK(gpurt_mem_destroy(rt, data));
}

/* ---- failures ------------------------------------------------------------------------ */
static void trap_in(gpurt_stream_t stream)
{
    gpurt_launch_t launch = on(stream);
    struct stream_args args = {NULL, NULL, 37};

    OK(gpurt_launch(rt, &launch, stream_trap, &args, &err));
}

/* The kernels after it run, the other stream hears nothing, the failure is told once. */
static void failure_is_told_once(void)
{
    uint64_t *data = device_words(2 * LANES), seen[LANES];
    gpurt_stream_t bad = stream_new(), good = stream_new();
    char report[4096];

    step(bad, data, 1);
    trap_in(bad);
    trap_in(bad);
    step(bad, data, 2);
    OK(gpurt_copy(rt, bad, seen, data, sizeof seen, &err));
    step(good, data + LANES, 1);
    OK(gpurt_stream_sync(rt, good, &err));
    CHECK_EQ(gpurt_stream_sync(rt, bad, &err), GPURT_E_TRAP);
    CHECK_EQ(err.status, GPURT_E_TRAP);
    CHECK_CONTAINS(err.text, "stream_trap");
    CHECK(strchr(err.text, '\n') == NULL);
    CHECK(gpurt_report(rt, report, sizeof report) > 0);
    CHECK_CONTAINS(report, "block 1 thread 5");
    CHECK_CONTAINS(report, "stream_kernels.c:");
    CHECK_EQ(gpurt_report(rt, NULL, 0), strlen(report));
    OK(gpurt_stream_sync(rt, bad, &err));
    OK(gpurt_stream_query(rt, bad, &err));
    OK(gpurt_sync(rt, &err));
    for (uint32_t i = 0; i < LANES; i++)
        CHECK_EQ(seen[i], 31 + 2);
    step(bad, data, 3);
    OK(gpurt_stream_sync(rt, bad, &err));
    OK(gpurt_stream_destroy(rt, bad));
    OK(gpurt_stream_destroy(rt, good));
    OK(gpurt_mem_destroy(rt, data));
}

/* gpurt_sync asks about all streams; query asks about one. */
static void failure_by_sync_and_by_query(void)
{
    gpurt_stream_t s = stream_new();
    gpurt_status_t st;

    trap_in(s);
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_TRAP);
    OK(gpurt_sync(rt, &err));
    trap_in(s);
    while ((st = gpurt_stream_query(rt, s, &err)) == GPURT_E_NOT_READY)
        usleep(1000);
    CHECK_EQ(st, GPURT_E_TRAP);
    OK(gpurt_stream_query(rt, s, &err));
    OK(gpurt_stream_destroy(rt, s));
}

/* What nobody asked about, close tells. */
static void failure_by_close(void)
{
    gpurt_stream_t s = stream_new();

    trap_in(s);
    CHECK_EQ(gpurt_close(rt, &err), GPURT_E_TRAP);
    CHECK_CONTAINS(err.text, "stream_trap");
    OK(gpurt_open(NULL, &rt, &err));
}

/* ---- host threads -------------------------------------------------------------------- */
static void *host_thread(void *counter)
{
    gpurt_error_t mine;
    gpurt_stream_t s = 0;
    struct stream_args args = {NULL, (uint64_t *)counter, 0};
    gpurt_launch_t launch = one_warp;

    CHECK_EQ(gpurt_stream_create(rt, &s, &mine), GPURT_OK);
    launch.stream = s;
    for (uint32_t i = 0; i < EACH_THREAD; i++) {
        CHECK_EQ(gpurt_launch(rt, &launch, stream_count, &args, &mine), GPURT_OK);
        if (i % 16 == 0)
            CHECK_EQ(gpurt_stream_sync(rt, s, &mine), GPURT_OK);
    }
    CHECK_EQ(gpurt_stream_destroy(rt, s), GPURT_OK);
    return NULL;
}

static void host_threads_launch(void)
{
    uint64_t *data = device_words(1), seen = 0;
    pthread_t threads[HOST_THREADS];

    for (uint32_t i = 0; i < HOST_THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, host_thread, data), 0);
    for (uint32_t i = 0; i < HOST_THREADS; i++)
        CHECK_EQ(pthread_join(threads[i], NULL), 0);
    OK(gpurt_sync(rt, &err)); /* the streams are gone, their work may go on */
    OK(gpurt_copy(rt, GPURT_STREAM_DEFAULT, &seen, data, sizeof seen, &err));
    OK(gpurt_sync(rt, &err));
    CHECK_EQ(seen, HOST_THREADS * EACH_THREAD);
    OK(gpurt_mem_destroy(rt, data));
}

int main(void)
{
    gpurt_info_t info;

    OK(gpurt_open(NULL, &rt, &err));
    OK(gpurt_info(rt, &info));
    order_in_a_stream();
    many_launches();
    destroy_waits();
    streams_overlap();
    event_holds_another_stream();
    events_time();
    event_wait_takes_the_last_record();
    host_threads_launch();
    if (info.backend == GPURT_BACKEND_CPU) { /* on a GPU a trap takes the context with it */
        failure_is_told_once();
        failure_by_sync_and_by_query();
        failure_by_close();
    }
    OK(gpurt_close(rt, &err));
    return 0;
}
