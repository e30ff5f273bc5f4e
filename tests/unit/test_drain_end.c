/* SPDX-License-Identifier: Apache-2.0 */
/* When a drain may end: its application is gone, and nothing came for the settle time although
 * whoever writes, a GPU that its driver has not stopped yet, had room. While rows wait for the
 * store a writer may wait for them, and its silence is not its end; nor is that of a GPU which
 * another process has inherited and which waits for its turn. */
#include "check.h"
#include "drain.h"
#include "feed.h"
#include "hosttime.h"
#include <gpurt/impl/ringput.h>

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    RINGS = 8,
    RING_BYTES = 16384, /* more than one visit takes */
    GROUPS = 300000,    /* of all writers: more than three batches and the shelf hold */
    STANDS_NS = 50000000,
    SETTLE_NS = 1000000,   /* of which it stands fifty */
    HEIR_SAYS = 20,        /* messages into each ring */
    LOOK_AGAIN_US = 100000 /* a look for heirs is older then than the drain lets it be */
};
#define NEVER_NS 3600000000000ull
#define LIMIT_NS 20000000000ull
#define HEIRS_NS 1500000000ull
#define LONG_NS  1000000000ull /* less, and more than an end without heirs takes */

static gpurt_error_t err;
static gpurt_boxmap_t map;
static gpurt_dictionary_t dictionary;

/* What the store has; the scribe's, but for xgate and xrefuse. */
static struct store {
    const gpurt_row_t *rows;
    uint32_t bytes;
    uint32_t next[RINGS];
    uint32_t xgate;   /* 1: commit waits; written by: the test */
    uint32_t xrefuse; /* 1: commit fails; written by: the test */
} store;

/* Who writes: a device, as its rings see it. */
static struct writers {
    bool lanes;           /* records of 24 groups, not of 2 */
    uint32_t each;        /* messages of one, in all */
    uint32_t said[RINGS]; /* committed */
} writers;

static bool busy; /* a sink is */

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
    (void)context;
    while (gpurt_load_relaxed_sys_u32(&store.xgate)) /* relaxed: a flag of the test */
        usleep(100);
    if (gpurt_load_relaxed_sys_u32(&store.xrefuse)) /* relaxed: as above */
        return gpurt_fail(e, GPURT_E_OS, GPURT_FROM_GPURT, 0, "no space");
    for (uint32_t at = 0; at < store.bytes;) {
        const gpurt_row_t *row = (const gpurt_row_t *)((const char *)store.rows + at);
        const uint32_t *w = gpurt_row_words(row);

        at += gpurt_row_bytes(row->words);
        CHECK_EQ(row->kind, GPURT_KIND_LOG);
        CHECK_MSG(w[0] == store.next[row->block]++, "ring %u: %u", row->block, w[0]);
    }
    return GPURT_OK;
}

static bool store_holds(void *context, const gpurt_box_intent_t *place)
{
    (void)context;
    (void)place;
    return false;
}

static bool sink_ready(void *context)
{
    (void)context;
    return !busy;
}

/* A process that is no more. */
static uint32_t gone_pid(void)
{
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    CHECK_MSG(child > 0 && waitpid(child, NULL, 0) == child, "a process that ends");
    return (uint32_t)child;
}

static gpurt_drain_t *open_all(gpurt_scribe_t *scribe, bool lanes)
{
    gpurt_section_plan_t s = {.kind = GPURT_SECTION_CPU,
                              .sm_count = RINGS / 4,
                              .warp_slots = 4,
                              .ring_bytes = RING_BYTES,
                              .policy = GPURT_POLICY_BLOCK};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};
    gpurt_drain_options_t o = {
        .struct_size = sizeof o,
        .sink_count = 2,
        .sinks = {{.prepare = store_prepare, .commit = store_commit, .holds = store_holds},
                  {.ready = sink_ready}},
        .dictionary = &dictionary,
        .scribe = scribe,
        .flush_ns = NEVER_NS, /* the end alone closes the last frame */
        .settle_ns = SETTLE_NS,
        .heirs_ns = HEIRS_NS};
    gpurt_drain_t *d;

    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    feed_define(&map, 0);
    map.box->identity.pid = gone_pid();
    memset(&store, 0, sizeof store);
    writers = (struct writers){.lanes = lanes, .each = GROUPS / RINGS / (lanes ? 24 : 2)};
    CHECK_MSG(gpurt_drain_open(&map, &o, &d, &err) == GPURT_OK, "%s", err.text);
    return d;
}

/* All that have something to say and room say it. Returns: whether one did. */
static bool writers_step(void)
{
    bool any = false;

    for (uint32_t r = 0; r < RINGS; r++) {
        gpurt_ring_port_t port = gpurt_boxmap_port(&map, 0, r);
        uint32_t *at = &writers.said[r];

        while (*at < writers.each && (writers.lanes ? feed_lanes : feed_uniform)(
                                         &port, 1, r, *at, r, gpurt_real_ns())) {
            (*at)++;
            any = true;
        }
    }
    return any;
}

/* Rounds of a drainer beside the writers, until it may end or, where that is given, nothing has
 * happened for so long. Returns: whether it may. */
static bool rounds(gpurt_drain_t *d, uint64_t quiet_ns)
{
    uint64_t begin = gpurt_real_ns(), since = begin;

    while (gpurt_real_ns() - begin < LIMIT_NS) {
        bool wrote = writers_step();
        uint32_t rows;
        gpurt_status_t st = gpurt_drain_round(d, &rows, &err);

        CHECK_MSG(st == GPURT_OK || store.xrefuse, "%s", err.text);
        if (rows || wrote)
            since = gpurt_real_ns();
        else if (gpurt_drain_over(d))
            return true;
        else if (quiet_ns && gpurt_real_ns() - since > quiet_ns)
            return false;
        gpurt_drain_rest(d);
    }
    CHECK_MSG(false, "it comes to an end");
    return false;
}

static void close_all(gpurt_drain_t *d, gpurt_scribe_t *scribe)
{
    gpurt_drain_close(d);
    gpurt_scribe_close(scribe);
    gpurt_boxmap_detach(&map);
}

/* Nothing comes, because who writes waits for what stands. Then it goes on. */
static void stands(bool store_stands, bool lanes)
{
    gpurt_scribe_t *scribe = gpurt_scribe_open();
    gpurt_drain_t *d = open_all(scribe, lanes);
    uint32_t waiting = 0;

    CHECK_MSG(scribe, "a thread");
    busy = !store_stands;
    gpurt_store_relaxed_sys_u32(&store.xgate, store_stands); /* relaxed: a flag */
    CHECK_MSG(!rounds(d, STANDS_NS), "not over: who writes waits for room");
    for (uint32_t r = 0; r < RINGS; r++)
        waiting += writers.said[r] < writers.each;
    CHECK_MSG(waiting > 0, "the writers do wait");
    busy = false;
    gpurt_store_relaxed_sys_u32(&store.xgate, 0); /* relaxed: as above */
    CHECK_MSG(rounds(d, 0), "over");
    for (uint32_t r = 0; r < RINGS; r++) {
        CHECK_EQ(writers.said[r], writers.each);
        CHECK_MSG(store.next[r] == writers.each, "ring %u: %u of %u in the file", r,
                  store.next[r], writers.each);
    }
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    close_all(d, scribe);
}

/* It is not waited for, or a full disk would keep a drainer for ever. */
static void a_store_that_refuses(bool alone)
{
    gpurt_scribe_t *scribe = alone ? NULL : gpurt_scribe_open();
    gpurt_drain_t *d = open_all(scribe, false);

    gpurt_store_relaxed_sys_u32(&store.xrefuse, 1); /* relaxed: a flag */
    CHECK_MSG(rounds(d, 0), "over");
    CHECK_EQ(gpurt_drain_finish(d, &err), GPURT_E_OS);
    CHECK_STR(err.text, "no space");
    close_all(d, scribe);
}

static int heir_pipe[2];

static void *heir_run(void *context)
{
    char c;

    (void)context;
    if (read(heir_pipe[0], &c, 1) == 1)
        writers_step();
    _exit(0);
}

/* A process that the application left behind, which has inherited the box: it waits for a word,
 * then it says something and ends. half: its first thread has ended before. Returns: its number. */
static pid_t heir_start(uint32_t messages, bool half)
{
    pid_t child;

    CHECK(pipe(heir_pipe) == 0);
    child = fork();
    if (child == 0) {
        pthread_t thread;

        close(heir_pipe[1]);
        writers.each = messages;
        if (!half)
            heir_run(NULL);
        if (pthread_create(&thread, NULL, heir_run, NULL) != 0)
            _exit(1);
        pthread_exit(NULL);
    }
    CHECK(child > 0);
    close(heir_pipe[0]);
    return child;
}

/* Waits until its first thread has ended: it shows no memory any more. */
static void heir_await_half(pid_t heir)
{
    char path[64], text[64];

    snprintf(path, sizeof path, "/proc/%d/maps", (int)heir);
    for (int i = 0; i < 10000; i++) {
        FILE *file = fopen(path, "r");
        bool empty = !file || !fgets(text, sizeof text, file);

        if (file)
            fclose(file);
        if (empty)
            return;
        usleep(1000);
    }
    CHECK_MSG(false, "the first thread of a process ends");
}

/* All that it said is in the file. */
static void heir_end(gpurt_drain_t *d)
{
    for (uint32_t r = 0; r < RINGS; r++)
        CHECK_MSG(store.next[r] == HEIR_SAYS, "ring %u: %u of %u in the file", r,
                  store.next[r], HEIR_SAYS);
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    close(heir_pipe[1]);
    close_all(d, NULL);
}

static void an_heir_that_writes(bool half)
{
    gpurt_drain_t *d = open_all(NULL, false);
    pid_t heir = heir_start(HEIR_SAYS, half);

    if (half)
        heir_await_half(heir);
    writers.each = 0;
    CHECK_MSG(!rounds(d, STANDS_NS), "not over: another may still write");
    CHECK(write(heir_pipe[1], "w", 1) == 1);
    CHECK_MSG(rounds(d, 0), "over");
    CHECK(waitpid(heir, NULL, 0) == heir);
    heir_end(d);
}

/* It writes and ends when the rings were looked at and it was not looked for yet. */
static void an_heir_that_is_quick(void)
{
    gpurt_drain_t *d = open_all(NULL, false);
    pid_t heir = heir_start(HEIR_SAYS, false);
    uint32_t rows;

    writers.each = 0;
    CHECK_MSG(!rounds(d, STANDS_NS), "not over: another may still write");
    usleep(LOOK_AGAIN_US);
    CHECK(gpurt_drain_round(d, &rows, &err) == GPURT_OK);
    CHECK(write(heir_pipe[1], "w", 1) == 1);
    CHECK(waitpid(heir, NULL, 0) == heir);
    CHECK_MSG(!gpurt_drain_over(d), "not over: nobody has looked at the rings since");
    CHECK_MSG(rounds(d, 0), "over");
    heir_end(d);
}

/* Returns: how long an end takes where nothing comes, with a process left behind or without. */
static uint64_t idle_end(bool left, bool closed)
{
    gpurt_drain_t *d = open_all(NULL, false);
    uint64_t begin = gpurt_real_ns(), took;
    pid_t heir = left ? heir_start(0, false) : 0;

    writers.each = 0;
    if (closed)
        gpurt_store_release_sys_u32(&map.box->xlife, GPURT_LIFE_CLOSED);
    CHECK_MSG(rounds(d, 0), "over");
    took = gpurt_real_ns() - begin;
    if (left) {
        CHECK_MSG(waitpid(heir, NULL, WNOHANG) == 0, "before it has ended");
        close(heir_pipe[1]);
        CHECK(waitpid(heir, NULL, 0) == heir);
    }
    close_all(d, NULL);
    return took;
}

/* A daemon, say. It is not waited for as long as it lives, nor at all where the application has
 * closed its box. */
static void an_heir_that_stays(void)
{
    bool alone = false, closed = false;

    CHECK_MSG(idle_end(true, false) >= LONG_NS, "not at once");
    for (int i = 0; i < 5; i++) { /* the machine may be slow */
        alone = alone || idle_end(false, false) < LONG_NS;
        closed = closed || idle_end(true, true) < LONG_NS;
    }
    CHECK_MSG(alone, "without one it ends at once");
    CHECK_MSG(closed, "nobody writes to a box that is closed");
}

/* One of another box, whose first thread has ended. */
static void a_stranger(void)
{
    pid_t stranger = heir_start(0, true);
    bool soon = false;

    heir_await_half(stranger);
    for (int i = 0; i < 5 && !soon; i++)
        soon = idle_end(false, false) < LONG_NS;
    CHECK_MSG(soon, "it is not waited for");
    close(heir_pipe[1]);
    CHECK(waitpid(stranger, NULL, 0) == stranger);
}

int main(void)
{
    stands(true, false);  /* no batch is free */
    stands(true, true);   /* the shelf is full */
    stands(false, false); /* rows that nobody takes */
    a_store_that_refuses(true);
    a_store_that_refuses(false);
    an_heir_that_writes(false);
    an_heir_that_writes(true);
    an_heir_that_is_quick();
    an_heir_that_stays();
    a_stranger();
    gpurt_dictionary_fini(&dictionary);
    return 0;
}
