/* SPDX-License-Identifier: Apache-2.0 */
/* 200 kills: of the application, of the drainer, of both. Every message whose producer
 * came back from writing it before the end is in the log file; none is torn; only a
 * drainer killed between its file and its tails may write some twice. */
#include "check.h"
#include "cursor.h"
#include "feed.h"
#include "logsink.h"
#include "procfs.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    KILLS = 200,
    RINGS = 6
};

/* What the application knows it has written; outlives it. */
typedef struct shared {
    uint32_t xcommitted[RINGS];
} shared_t;

static gpurt_error_t err;
static gpurt_boxmap_t map;
static shared_t *shared;
static char path[64];

static void open_box(void)
{
    gpurt_section_plan_t s = {.kind = GPURT_SECTION_CPU,
                              .sm_count = RINGS,
                              .ring_bytes = 8192,
                              .policy = GPURT_POLICY_BLOCK};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};

    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    feed_define(&map, 0);
    memset(shared, 0, sizeof *shared);
}

/* The box names its maker; here that is a child. */
static void application(void)
{
    uint32_t number[RINGS] = {0};

    for (;;)
        for (uint32_t r = 0; r < RINGS; r++) {
            gpurt_ring_port_t port = gpurt_boxmap_port(&map, 0, r);

            if (!feed_uniform(&port, 1, r, number[r], r, gpurt_real_ns()))
                continue;
            number[r]++;
            gpurt_store_release_sys_u32(&shared->xcommitted[r], number[r]);
        }
}

/* Drains into the file until told to stop by the death of the application. */
static void drainer(pid_t application_pid)
{
    gpurt_writer_options_t wo = {
        .struct_size = sizeof wo, .append = true, .frame_rows = 500};
    gpurt_drain_options_t o = {
        .struct_size = sizeof o, .sink_count = 1, .flush_ns = 200000};
    gpurt_writer_t *w;
    gpurt_drain_t *d;
    uint32_t rows;

    CHECK_MSG(gpurt_writer_open(path, &wo, &w, &err) == GPURT_OK, "%s", err.text);
    o.sinks[0] = gpurt_logsink(w);
    o.dictionary = gpurt_writer_dictionary(w);
    CHECK_MSG(gpurt_drain_open(&map, &o, &d, &err) == GPURT_OK, "%s", err.text);
    while (gpurt_process_start((uint32_t)application_pid) != 0) {
        CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK, "%s", err.text);
        gpurt_drain_rest(d);
    }
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    gpurt_drain_close(d);
    CHECK_MSG(gpurt_writer_close(w, &err) == GPURT_OK, "%s", err.text);
}

static pid_t start(void (*run)(pid_t), pid_t argument)
{
    pid_t child = fork();

    if (child == 0) {
        if (run)
            run(argument);
        else
            application();
        _exit(0);
    }
    CHECK_MSG(child > 0, "fork");
    return child;
}

static void end(pid_t child, bool kill_it)
{
    int status;

    if (kill_it)
        kill(child, SIGKILL);
    waitpid(child, &status, 0);
    CHECK_MSG(kill_it || status == 0, "status %x", status);
}

/* Returns: messages that the file has more than once. */
static uint32_t count_file(bool once)
{
    static uint8_t times[RINGS][1 << 22];
    uint32_t high[RINGS] = {0}, twice = 0;
    const gpurt_row_t *row;
    gpurt_cursor_t *c;
    gpurt_log_t *log;

    CHECK_MSG(gpurt_log_open(path, &log, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(gpurt_cursor_open(log, 0, &c, &err) == GPURT_OK, "%s", err.text);
    while ((row = gpurt_cursor_next(c)) != NULL) {
        const uint32_t *w = gpurt_row_words(row);

        if (row->kind != GPURT_KIND_LOG)
            continue;
        CHECK_MSG(w[1] == row->sm && w[0] < sizeof times[0], "payload");
        times[w[1]][w[0]]++;
        if (w[0] >= high[w[1]])
            high[w[1]] = w[0] + 1;
    }
    for (uint32_t r = 0; r < RINGS; r++) {
        uint32_t want = gpurt_load_acquire_sys_u32(&shared->xcommitted[r]);

        CHECK_MSG(high[r] >= want, "ring %u: %u of %u committed", r, high[r], want);
        for (uint32_t i = 0; i < high[r]; i++) {
            CHECK_MSG(times[r][i] != 0, "ring %u: %u is missing (%u committed)", r, i,
                      want);
            twice += times[r][i] > 1;
        }
        memset(times[r], 0, high[r]);
    }
    CHECK_MSG(!once || twice == 0, "%u twice", twice);
    gpurt_cursor_close(c);
    gpurt_log_close(log);
    return twice;
}

int main(void)
{
    unsigned seed = 12345, twice = 0;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                  -1, 0);
    CHECK_MSG(shared != MAP_FAILED, "mmap");
    snprintf(path, sizeof path, "/tmp/test_kill.%u", (unsigned)getpid());
    for (int i = 0; i < KILLS; i++) {
        bool kill_drainer = i % 3 != 0;
        pid_t app, drain;

        open_box();
        app = start(NULL, 0);
        drain = start(drainer, app);
        usleep((useconds_t)rand_r(&seed) % 4000);
        if (kill_drainer) {
            end(drain, true);
            if (i % 3 == 2) /* the application goes on for a while, then dies too */
                usleep((useconds_t)rand_r(&seed) % 1000);
            drain = start(drainer, app); /* takes over */
            usleep((useconds_t)rand_r(&seed) % 2000);
        }
        end(app, true);
        end(drain, false);
        twice += count_file(!kill_drainer);
        gpurt_boxmap_detach(&map);
        unlink(path);
    }
    printf("%d kills, 0 lost, %u written twice\n", KILLS, twice);
    return 0;
}
