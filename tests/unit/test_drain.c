/* SPDX-License-Identifier: Apache-2.0 */
/* A drain over a box: every message and every loss arrives, late definitions are waited
 * for, a lane that died hides no panic, times are right in boxes of any age, a sink that
 * fails loses nothing, two drainers exclude each other, a third takes over. */
#include "boxwork.h"
#include "check.h"
#include "drain.h"
#include "feed.h"
#include "hosttime.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    RINGS = 12,
    MAX = 200000
};

/* A sink that remembers. */
typedef struct memory {
    uint64_t messages, lost, panics, flushes;
    uint64_t last_time, panic_losses;
    uint32_t refuse;      /* this many calls from now on fail */
    uint32_t next[RINGS]; /* per ring, for uniform messages */
    bool ordered, unknown;
} memory_t;

static gpurt_error_t err;
static gpurt_boxmap_t map;
static gpurt_dictionary_t dictionary;

static gpurt_status_t sink_put(void *context, const gpurt_row_t *row, gpurt_error_t *e)
{
    memory_t *m = context;
    const uint32_t *w = gpurt_row_words(row);

    if (m->refuse) {
        m->refuse--;
        return gpurt_fail(e, GPURT_E_OS, GPURT_FROM_GPURT, 0, "refused");
    }
    if (m->ordered)
        CHECK_MSG(row->time_ns >= m->last_time, "order within a round");
    m->last_time = row->time_ns;
    m->messages += gpurt_row_messages(row);
    m->lost += gpurt_row_lost(row);
    m->panics += row->kind == GPURT_KIND_PANIC;
    m->panic_losses += row->kind == GPURT_KIND_LOSS && w[0] == GPURT_LOSS_PANIC;
    m->unknown |= row->site == 0 && row->kind == GPURT_KIND_LOG;
    if (row->kind == GPURT_KIND_LOG && row->form == GPURT_FORM_WARP && row->words == 2) {
        uint32_t ring = row->sm * 4u + row->slot;

        CHECK_MSG(w[1] == ring && w[0] >= m->next[ring], "ring %u: %u after %u", ring, w[0],
                  m->next[ring]);
        m->next[ring] = w[0] + 1;
    }
    return GPURT_OK;
}

static gpurt_status_t sink_flush(void *context, gpurt_error_t *e)
{
    (void)e;
    ((memory_t *)context)->flushes++;
    return GPURT_OK;
}

static gpurt_drain_t *open_drain(memory_t *m, memory_t *ordered)
{
    gpurt_drain_options_t o = {
        .struct_size = sizeof o,
        .sink_count = ordered ? 2 : 1,
        .sinks =
            {{.context = m, .put = sink_put, .flush = sink_flush},
             {.context = ordered, .put = sink_put, .flush = sink_flush, .in_order = true}},
        .dictionary = &dictionary};
    gpurt_drain_t *d;

    CHECK_MSG(gpurt_drain_open(&map, &o, &d, &err) == GPURT_OK, "%s", err.text);
    return d;
}

static void open_box(uint32_t policy)
{
    gpurt_section_plan_t s = {.kind = GPURT_SECTION_CPU,
                              .sm_count = 3,
                              .warp_slots = 4,
                              .ring_bytes = 4096,
                              .policy = policy};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};

    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
}

/* Feeds `count` messages over the rings and drains now and then. Returns: written. */
static uint64_t feed(gpurt_drain_t *d, memory_t *ordered, uint32_t count, uint32_t every)
{
    uint32_t numbers[RINGS] = {0}, rows;
    uint64_t written = 0, time = gpurt_real_ns();

    for (uint32_t i = 0; i < count; i++) {
        uint32_t r = i * 7u % RINGS;
        gpurt_ring_port_t port = gpurt_boxmap_port(&map, 0, r);
        bool lanes = i % 50 == 49;

        if (lanes ? feed_lanes(&port, 2, r, 0, r, time)
                  : feed_uniform(&port, 1, r, numbers[r], r, time))
            written += lanes ? 32 : 1;
        numbers[r] += !lanes;
        time += 1 + (i % 5 == 0 ? 20000 : 0);
        ordered->last_time = 0; /* a new round may begin with something older */
        if (i % every == every - 1)
            CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK, "%s", err.text);
    }
    return written;
}

static void policies(void)
{
    for (uint32_t policy = 0; policy < 2; policy++)
        for (uint32_t every = 50; every <= 50000; every *= 10) {
            memory_t m = {0}, ordered = {.ordered = true};
            gpurt_drain_figures_t sum;
            gpurt_drain_t *d;
            uint64_t written, all = MAX / 50 * (49 + 32);

            open_box(policy);
            feed_define(&map, 0);
            d = open_drain(&m, &ordered);
            written = feed(d, &ordered, MAX, every);
            ordered.last_time = 0;
            ordered.ordered = false;
            CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
            gpurt_drain_figures(d, &sum);
            CHECK_MSG(m.messages + m.lost == all,
                      "policy %u every %u: %llu and %llu lost of %llu", policy, every,
                      (unsigned long long)m.messages, (unsigned long long)m.lost,
                      (unsigned long long)all);
            CHECK_MSG(policy == 1 || m.messages == written, "dropped ones were told");
            CHECK_MSG(every > 50 || m.lost == 0, "a drainer that keeps up loses nothing");
            CHECK_MSG(every < 50000 || m.lost > 0, "rings of 4 KiB do not hold this");
            CHECK_MSG(ordered.messages == m.messages && sum.messages == m.messages,
                      "both sinks");
            CHECK_MSG(sum.torn == 0 && !m.unknown, "torn %llu",
                      (unsigned long long)sum.torn);
            gpurt_drain_close(d);
            gpurt_boxmap_detach(&map);
        }
}

static void late_site_and_panic(void)
{
    gpurt_ring_port_t port;
    memory_t m = {0};
    gpurt_drain_t *d;
    uint32_t rows;

    open_box(GPURT_POLICY_DROP_NEWEST);
    d = open_drain(&m, NULL);
    port = gpurt_boxmap_port(&map, 0, 3);
    CHECK_MSG(feed_uniform(&port, 1, 3, 0, 3, gpurt_real_ns()), "room");
    CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK && rows == 0, "held back");
    feed_define(&map, 0);
    CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK && rows == 1 && !m.unknown,
              "defined");
    CHECK_MSG(feed_uniform(&port, 4000, 3, 1, 3, gpurt_real_ns()),
              "a site that never comes");
    for (int i = 0; i < 300 && m.messages < 2; i++, usleep(1000))
        CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(m.messages == 2 && m.unknown, "given up waiting");
    m.flushes = 0;
    feed_panic(&map, 0, 0, 1);
    CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK && m.panics == 1, "panic");
    CHECK_MSG(m.flushes == 1, "and flushed at once");
    gpurt_drain_close(d);
    d = open_drain(&m, NULL);
    CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK && m.panics == 1, "told once");
    gpurt_drain_close(d);
    gpurt_boxmap_detach(&map);
}

/* A record that is stored late bears a time from before the look at which it was missed, in a
 * box that is so old that looks are what its times are counted from. */
static void times_of_late_records(void)
{
    gpurt_ring_port_t port;
    memory_t m = {0};
    gpurt_drain_t *d;
    uint64_t before;
    uint32_t rows;

    open_box(GPURT_POLICY_DROP_NEWEST);
    feed_define(&map, 0);
    before = gpurt_real_ns();
    map.box->identity.real_ns = before - 60 * 3600000000000ull;
    d = open_drain(&m, NULL);
    for (int i = 0; i < 3; i++, usleep(1000))
        CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK, "%s", err.text);
    port = gpurt_boxmap_port(&map, 0, 5);
    CHECK_MSG(feed_uniform(&port, 1, 5, 0, 5, before), "room");
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(m.last_time == before, "%lld ns off", (long long)(m.last_time - before));
    gpurt_drain_close(d);
    gpurt_boxmap_detach(&map);
}

/* A lane takes slot 1 and dies before it has written it: those behind it are told at once,
 * it itself when the application has ended, and each of them once, whoever drains. */
static void panic_behind_a_dead_lane(void)
{
    memory_t m = {0};
    gpurt_drain_t *d;
    uint32_t rows;

    open_box(GPURT_POLICY_DROP_NEWEST);
    feed_define(&map, 0);
    d = open_drain(&m, NULL);
    feed_panic(&map, 0, 0, 1);
    gpurt_add_relaxed_sys_u32(&map.box->sections[0].xpanics, 1);
    feed_panic(&map, 0, 2, 1);
    CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK && m.panics == 2, "%llu told",
              (unsigned long long)m.panics);
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    gpurt_drain_close(d);
    CHECK_MSG(m.panics == 2 && m.panic_losses == 0, "its process lives and may go on");
    d = open_drain(&m, NULL);
    feed_panic(&map, 0, 3, 1);
    gpurt_store_release_sys_u32(&map.box->xlife, GPURT_LIFE_CLOSED); /* B4.rel */
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    gpurt_drain_close(d);
    CHECK_MSG(m.panics == 3 && m.panic_losses == 1, "the unfinished one is told");
    d = open_drain(&m, NULL);
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    gpurt_drain_close(d);
    CHECK_MSG(m.panics == 3 && m.panic_losses == 1, "once");
    gpurt_boxmap_detach(&map);
}

/* Records hold 48 bits of their clock, which wrap every 78 hours: the rest follows from when
 * the box was made, or last drained. */
static void times_of_old_boxes(void)
{
    static const uint64_t hour = 3600000000000ull;
    static const struct {
        uint64_t made, beat, written; /* hours ago; beat 0: never drained */
    } cases[] = {{1, 0, 1},     {30, 0, 1},  {60, 0, 59},    {76, 0, 76},  {60, 0, 0},
                 {500, 70, 70}, {500, 2, 1}, {9000, 60, 30}, {9000, 70, 0}};

    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (uint32_t skewed = 0; skewed < 2; skewed++) {
            uint64_t now = gpurt_real_ns(), made = now - cases[i].made * hour,
                     device = skewed ? 77 * hour + 12345 : made;
            gpurt_clock_fit_t fit = {.device_ns = device, .real_ns = made};
            uint64_t written = now - cases[i].written * hour;
            gpurt_ring_port_t port;
            memory_t m = {0};
            gpurt_drain_t *d;

            open_box(GPURT_POLICY_DROP_NEWEST);
            feed_define(&map, 0);
            map.box->identity.real_ns = made;
            map.box->claim.xbeat_ns = cases[i].beat ? now - cases[i].beat * hour : 0;
            gpurt_boxmap_set_clock(&map, 0, &fit);
            port = gpurt_boxmap_port(&map, 0, 5);
            CHECK_MSG(feed_uniform(&port, 1, 5, 0, 5, device + (written - made)), "room");
            d = open_drain(&m, NULL);
            CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
            gpurt_drain_close(d);
            CHECK_MSG(m.messages == 1 && m.last_time == written, "case %u: %lld hours off",
                      i, (long long)(int64_t)(m.last_time - written) / (long long)hour);
            gpurt_boxmap_detach(&map);
        }
}

static void *launch_later(void *context)
{
    uint64_t *launched_ns = context;

    while (gpurt_load_relaxed_sys_u32(&map.box->xasleep) == 0)
        usleep(100);
    usleep(1000);
    *launched_ns = gpurt_real_ns();
    gpurt_boxwork_begin(map.box);
    return NULL;
}

/* A drainer with nothing to do sleeps long, and a launch ends that; while something that was
 * launched may run, it looks within a millisecond. */
static void rest_and_wake(void)
{
    uint64_t launched_ns, fastest = UINT64_MAX, late;
    memory_t m = {0};
    gpurt_drain_t *d;
    pthread_t thread;
    uint32_t rows;

    open_box(GPURT_POLICY_DROP_NEWEST);
    d = open_drain(&m, NULL);
    CHECK_MSG(gpurt_drain_patience(d) == 0, "it has just begun");
    usleep(1100000);
    for (int i = 0; i < 20; i++) {
        CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK, "%s", err.text);
        CHECK_MSG(gpurt_drain_patience(d) > 1000000, "nothing runs");
        CHECK(pthread_create(&thread, NULL, launch_later, &launched_ns) == 0);
        do
            gpurt_drain_rest(d);
        while (gpurt_load_relaxed_sys_u32(&map.box->xwork) == map.box->xended);
        late = gpurt_real_ns();
        pthread_join(thread, NULL);
        fastest = late - launched_ns < fastest ? late - launched_ns : fastest;
        CHECK_MSG(gpurt_drain_patience(d) <= 1000000, "a kernel may run");
        gpurt_boxwork_ended(map.box, gpurt_boxwork_count(map.box));
    }
    CHECK_MSG(fastest < 1000000, "woken after %llu ns at best",
              (unsigned long long)fastest);
    gpurt_drain_close(d);
    gpurt_boxmap_detach(&map);
}

/* As a program that launches a kernel by plain CUDA: it runs, and rings no bell. One byte
 * through the pipe makes it run. */
static pid_t plain_start(int *bell)
{
    int ends[2];
    pid_t child;
    char byte;

    CHECK(pipe(ends) == 0);
    child = fork();
    if (child == 0) {
        close(ends[1]);
        while (read(ends[0], &byte, 1) == 1)
            ;
        _exit(0);
    }
    close(ends[0]);
    *bell = ends[1];
    return child;
}

/* A drainer in its long sleep sees within a moment that the application's host code runs. */
static void wake_for_plain_launches(void)
{
    uint64_t fastest = UINT64_MAX, before, late;
    memory_t m = {0};
    gpurt_drain_t *d;
    uint32_t rows;
    pid_t child;
    int bell;

    open_box(GPURT_POLICY_DROP_NEWEST);
    child = plain_start(&bell);
    map.box->identity.pid = (uint32_t)child;
    d = open_drain(&m, NULL);
    usleep(1100000);
    for (int i = 0; i < 20; i++) {
        do {
            CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK, "%s", err.text);
            usleep(1000);
        } while (gpurt_drain_patience(d) < 10000000);
        before = gpurt_real_ns();
        CHECK(write(bell, "", 1) == 1);
        gpurt_drain_rest(d);
        late = gpurt_real_ns();
        fastest = late - before < fastest ? late - before : fastest;
    }
    CHECK_MSG(fastest < 10000000, "awake after %llu ns at best",
              (unsigned long long)fastest);
    CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK, "%s", err.text);
    close(bell);
    waitpid(child, NULL, 0);
    gpurt_drain_close(d);
    gpurt_boxmap_detach(&map);
}

static void failing_sink(void)
{
    memory_t m = {0};
    gpurt_drain_t *d;
    uint64_t written = 0;
    uint32_t rows;

    open_box(GPURT_POLICY_DROP_NEWEST);
    feed_define(&map, 0);
    d = open_drain(&m, NULL);
    for (uint32_t i = 0; i < 100; i++) {
        gpurt_ring_port_t port = gpurt_boxmap_port(&map, 0, 5);

        written += feed_uniform(&port, 1, 5, i, 5, i);
    }
    m.refuse = 3;
    for (int i = 0; i < 3; i++)
        CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_E_OS, "refused");
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK && m.messages == written,
              "all came again");
    gpurt_drain_close(d);
    gpurt_boxmap_detach(&map);
}

/* A store whose disk is full for a while. */
typedef struct full_store {
    uint32_t refuse, rows, prepared;
} full_store_t;

static gpurt_status_t full_prepare(void *context, const gpurt_row_t *rows, uint32_t bytes,
                                   uint32_t count, gpurt_box_intent_t *place,
                                   gpurt_error_t *e)
{
    (void)rows;
    (void)bytes;
    (void)e;
    ((full_store_t *)context)->prepared = count;
    place->inode = 1;
    return GPURT_OK;
}

static gpurt_status_t full_commit(void *context, gpurt_error_t *e)
{
    full_store_t *s = context;

    if (s->refuse) {
        s->refuse--;
        return gpurt_fail(e, GPURT_E_OS, GPURT_FROM_GPURT, 0, "no space");
    }
    s->rows += s->prepared;
    return GPURT_OK;
}

static bool full_holds(void *context, const gpurt_box_intent_t *place)
{
    (void)context;
    (void)place;
    return false;
}

/* What could not be written does not count as filed, and is written once, later. */
static void failing_store(void)
{
    full_store_t store = {.refuse = 3};
    gpurt_drain_options_t o = {.struct_size = sizeof o,
                               .sink_count = 1,
                               .sinks = {{.context = &store,
                                          .prepare = full_prepare,
                                          .commit = full_commit,
                                          .holds = full_holds}},
                               .dictionary = &dictionary};
    const gpurt_ring_control_t *control;
    gpurt_drain_t *d;
    uint32_t rows, tail;

    open_box(GPURT_POLICY_DROP_NEWEST);
    feed_define(&map, 0);
    control = gpurt_boxmap_control(&map, 0, 5);
    tail = control->xtail;
    CHECK_MSG(gpurt_drain_open(&map, &o, &d, &err) == GPURT_OK, "%s", err.text);
    for (uint32_t i = 0; i < 100; i++) {
        gpurt_ring_port_t port = gpurt_boxmap_port(&map, 0, 5);

        CHECK_MSG(feed_uniform(&port, 1, 5, i, 5, gpurt_real_ns()), "room");
    }
    CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK && rows == 100, "%u rows",
              rows);
    for (int i = 0; i < 3; i++) {
        CHECK_MSG(gpurt_drain_flush(d, &err) == GPURT_E_OS, "refused");
        CHECK_MSG(control->xfiled == tail && store.rows == 0, "nothing is in the file");
    }
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(store.rows == 100 && control->xtail == control->head.xhead, "%u rows",
              store.rows);
    gpurt_drain_close(d);
    gpurt_boxmap_detach(&map);
}

static void claims(void)
{
    gpurt_drain_options_t o = {.struct_size = sizeof o, .dictionary = &dictionary};
    gpurt_drain_figures_t sum;
    gpurt_drain_t *d, *second;
    memory_t m = {0};
    int status;
    pid_t child;

    open_box(GPURT_POLICY_DROP_NEWEST);
    d = open_drain(&m, NULL);
    CHECK_MSG(gpurt_drain_open(&map, &o, &second, &err) == GPURT_E_BUSY && !second,
              "two drainers");
    gpurt_drain_close(d);
    child = fork();
    if (child == 0)
        _exit(gpurt_drain_open(&map, &o, &d, NULL) == GPURT_OK ? 0
                                                               : 1); /* dies as the owner */
    waitpid(child, &status, 0);
    CHECK_MSG(status == 0, "claimed by a child");
    d = open_drain(&m, NULL);
    gpurt_drain_figures(d, &sum);
    CHECK_MSG(sum.takeovers == 2, "%u drainers before us", sum.takeovers);
    gpurt_drain_close(d);
    o.struct_size = 0;
    CHECK_MSG(gpurt_drain_open(&map, &o, &d, &err) == GPURT_E_INVALID, "options");
    gpurt_boxmap_detach(&map);
}

int main(void)
{
    policies();
    late_site_and_panic();
    panic_behind_a_dead_lane();
    times_of_old_boxes();
    times_of_late_records();
    rest_and_wake();
    wake_for_plain_launches();
    failing_sink();
    failing_store();
    claims();
    gpurt_dictionary_fini(&dictionary);
    return 0;
}
