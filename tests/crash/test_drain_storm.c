/* SPDX-License-Identifier: Apache-2.0 */
/* test_drain_storm [STORMS]: rings as a GPU has them, of 528 warps that trickle at first, then flood
 * and wait for room, while the store is slow and fails; in the midst of it the program is killed.
 * What is read from the log is each warp's every number, once and in its order. */
#include "check.h"
#include "cursor.h"
#include "feed.h"
#include "hosttime.h"
#include "logsink.h"
#include "procfs.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    STORMS = 6,
    SMS = 132,
    SLOTS = 8,
    WARPS = 4 * SMS, /* in the first slots of each */
    ENOUGH = 1500,   /* numbers of one warp, many laps of it: the end */
    BURST = 200,     /* most that come together, more than a visit takes */
    TRICKLE = 40,    /* rounds of one each, in which the shelf is used */
    REFUSED = 16,    /* one commit of so many fails, and as many are slow */
    SLOW_US = 20000
};

static gpurt_error_t err;
static gpurt_boxmap_t map;
static char path[] = "/tmp/test_drain_storm.XXXXXX";
static gpurt_drain_sink_t store;
static unsigned luck; /* the store's */

static gpurt_ring_port_t port_of(uint32_t warp)
{
    return gpurt_boxmap_port(&map, 0, warp / 4 * SLOTS + warp % 4);
}

static void open_box(uint32_t ring_bytes)
{
    gpurt_section_plan_t s = {.kind = GPURT_SECTION_CUDA,
                              .sm_count = SMS,
                              .warp_slots = SLOTS,
                              .ring_bytes = ring_bytes,
                              .policy = GPURT_POLICY_BLOCK};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};
    gpurt_clock_fit_t fit = {.device_ns = gpurt_real_ns(), .real_ns = gpurt_real_ns()};

    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    feed_define(&map, 0);
    gpurt_boxmap_set_clock(&map, 0, &fit);
}

/* Returns: whether there was room. */
static bool say(uint32_t warp, uint32_t *next)
{
    gpurt_ring_port_t port = port_of(warp);
    bool room = feed_uniform(&port, 1, warp / 2, *next, warp, gpurt_real_ns());

    *next += room;
    return room;
}

/* Dies between two messages, so that what the rings count is what they were given. */
static void application(unsigned seed)
{
    static uint32_t next[WARPS];

    for (uint32_t round = 0; round < TRICKLE; round++) {
        for (uint32_t w = 0; w < WARPS; w++)
            if (rand_r(&seed) % 3)
                say(w, &next[w]);
        usleep((useconds_t)rand_r(&seed) % 1000);
    }
    for (;;) {
        uint32_t w = (uint32_t)rand_r(&seed) % WARPS,
                 left = (uint32_t)rand_r(&seed) % BURST;

        while (left-- && say(w, &next[w]))
            ;
        if (next[w] >= ENOUGH)
            raise(SIGKILL);
    }
}

static gpurt_status_t commit(void *context, gpurt_error_t *e)
{
    uint32_t draw = (uint32_t)rand_r(&luck) % REFUSED;

    if (draw == 0)
        return gpurt_fail(e, GPURT_E_OS, GPURT_FROM_GPURT, 0, "no space");
    if (draw == 1)
        usleep((useconds_t)rand_r(&luck) % SLOW_US);
    return store.commit(context, e);
}

/* Until the drain says that it is over. A round that the store fails is tried again. */
static void drain(gpurt_drain_t *d, pid_t app)
{
    uint32_t rows;
    bool over = false;

    while (!over) {
        gpurt_status_t st = gpurt_drain_round(d, &rows, &err);

        if (app > 0 && waitpid(app, NULL, WNOHANG) == app)
            app = 0;
        over = st == GPURT_OK && rows == 0 && gpurt_drain_over(d);
        gpurt_drain_rest(d);
    }
    while (gpurt_drain_finish(d, &err) != GPURT_OK)
        ;
}

static void record(unsigned seed)
{
    gpurt_drain_options_t o = {
        .struct_size = sizeof o, .sink_count = 1, .heirs_ns = 100000000};
    gpurt_writer_t *writer;
    gpurt_drain_t *d;
    pid_t app = fork();

    if (app == 0)
        application(seed);
    o.scribe = gpurt_scribe_open();
    map.box->identity.pid = (uint32_t)app;
    map.box->identity.start_ticks = gpurt_process_start((uint32_t)app);
    CHECK_MSG(gpurt_writer_open(path, NULL, &writer, &err) == GPURT_OK, "%s", err.text);
    store = gpurt_logsink(writer);
    o.sinks[0] = store;
    o.sinks[0].commit = commit;
    o.dictionary = gpurt_writer_dictionary(writer);
    CHECK_MSG(gpurt_drain_open(&map, &o, &d, &err) == GPURT_OK, "%s", err.text);
    drain(d, app);
    gpurt_drain_close(d);
    gpurt_scribe_close(o.scribe);
    CHECK_MSG(gpurt_writer_close(writer, &err) == GPURT_OK, "%s", err.text);
}

static uint64_t read_back(void)
{
    uint32_t next[WARPS] = {0};
    const gpurt_row_t *row;
    gpurt_cursor_t *cursor;
    uint64_t count = 0;
    gpurt_log_t *log;

    CHECK_MSG(gpurt_log_open(path, &log, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(gpurt_cursor_open(log, 0, &cursor, &err) == GPURT_OK, "%s", err.text);
    for (; (row = gpurt_cursor_next(cursor)) != NULL; count++) {
        const uint32_t *w = gpurt_row_words(row);

        CHECK_MSG(row->kind == GPURT_KIND_LOG && w[1] < WARPS, "kind %u", row->kind);
        CHECK_MSG(w[0] == next[w[1]]++, "warp %u: %u comes in row %llu", w[1], w[0],
                  (unsigned long long)count);
    }
    for (uint32_t w = 0; w < WARPS; w++) {
        gpurt_ring_port_t port = port_of(w);

        CHECK_EQ(next[w], port.head->xrecords);
    }
    gpurt_cursor_close(cursor);
    gpurt_log_close(log);
    return count;
}

int main(int argc, char **argv)
{
    unsigned storms = argc > 1 ? (unsigned)atoi(argv[1]) : STORMS;
    uint64_t rows = 0;
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    for (unsigned seed = 0; seed < storms; seed++) {
        CHECK(ftruncate(fd, 0) == 0);
        luck = seed;
        open_box(4096u << 2 * (seed % 2));
        record(seed);
        rows += read_back();
        gpurt_boxmap_detach(&map);
    }
    close(fd);
    unlink(path);
    printf("%u storms, %llu rows\n", storms, (unsigned long long)rows);
    return 0;
}
