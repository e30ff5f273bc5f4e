/* SPDX-License-Identifier: Apache-2.0 */
/* 200 kills: of the application, of the drainer, of both. Every message and every panic
 * whose producer came back from writing it before the end is in the log file; none is torn;
 * none is there twice, wherever the drainer was killed: its successor sees in the file what
 * was done. A successor with a file of its own may repeat what the first file holds, but
 * nothing is in either file twice. */
#include "check.h"
#include "cursor.h"
#include "feed.h"
#include "hosttime.h"
#include "logsink.h"
#include "procfs.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    KILLS = 200,
    RINGS = 6,
    PANICS = 256,
    PANIC_EVERY = 40, /* messages of all rings */
    DIED = 3          /* slot of a lane that never finished its panic */
};

/* What the application knows it has written; outlives it. */
typedef struct shared {
    uint32_t xcommitted[RINGS];
    uint32_t xpanics;
} shared_t;

/* What a file holds: how often each message, each panic. */
typedef struct tally {
    uint8_t messages[RINGS][1 << 22];
    uint32_t high[RINGS];
    uint8_t panics[PANICS];
    uint32_t unfinished;
} tally_t;

static gpurt_error_t err;
static gpurt_boxmap_t map;
static shared_t *shared;
static char path[64], other[64];
static tally_t first, second;
static int kills; /* so far */

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

static void raise_panic(void)
{
    uint32_t index = map.box->sections[0].xpanics;

    if (index >= PANICS)
        return;
    if (index == DIED)
        gpurt_add_relaxed_sys_u32(&map.box->sections[0].xpanics, 1);
    else
        feed_panic(&map, 0, index, 1);
    gpurt_store_release_sys_u32(&shared->xpanics, index + 1);
}

/* The box names its maker; here that is a child. */
static void application(void)
{
    uint32_t number[RINGS] = {0};

    map.box->identity.pid = (uint32_t)getpid();
    map.box->identity.start_ticks = gpurt_process_start((uint32_t)getpid());
    for (uint32_t round = 0;; round++) {
        if (round % PANIC_EVERY == 0)
            raise_panic();
        for (uint32_t r = 0; r < RINGS; r++) {
            gpurt_ring_port_t port = gpurt_boxmap_port(&map, 0, r);

            if (!feed_uniform(&port, 1, r, number[r], r, gpurt_real_ns()))
                continue;
            number[r]++;
            gpurt_store_release_sys_u32(&shared->xcommitted[r], number[r]);
        }
    }
}

/* The log as a store whose process dies on its way: each time at another flush, and at
 * another step of it. With a scribe the drain's thread goes on reading meanwhile, and other
 * batches may wait behind this one. */
typedef enum death {
    UNPACKED, /* the batch was handed over, and nothing was done with it */
    UNWRITTEN,
    WRITTEN, /* planned, in the file, and its tails not stored */
    FREED,   /* its tails are stored, and the next one packed */
    DEATHS
} death_t;

static gpurt_drain_sink_t mortal;
static uint32_t flushes_left; /* 0: it lives */
static death_t death;
static bool with_scribe, with_shelf; /* frames that last, so that rings are shelved */

static void die_at(death_t here)
{
    if (flushes_left == 1 && death == here)
        raise(SIGKILL);
}

static gpurt_status_t mortal_prepare(void *context, const gpurt_row_t *rows, uint32_t bytes,
                                     uint32_t count, gpurt_box_intent_t *place,
                                     gpurt_error_t *e)
{
    gpurt_status_t st;

    die_at(UNPACKED);
    st = mortal.prepare(context, rows, bytes, count, place, e);
    die_at(FREED);
    return st;
}

static gpurt_status_t mortal_commit(void *context, gpurt_error_t *e)
{
    gpurt_status_t st;

    die_at(UNWRITTEN);
    st = mortal.commit(context, e);
    die_at(WRITTEN);
    flushes_left -= flushes_left > 1;
    return st;
}

/* Drains into the file until told to stop by the death of the application. */
static void drain_to(const char *file, pid_t application_pid)
{
    gpurt_writer_options_t wo = {.struct_size = sizeof wo, .append = true};
    gpurt_drain_options_t o = {.struct_size = sizeof o,
                               .sink_count = 1,
                               .flush_ns = with_shelf ? 12000000 : 200000};
    gpurt_writer_t *w;
    gpurt_drain_t *d;
    uint32_t rows;

    CHECK_MSG(gpurt_writer_open(file, &wo, &w, &err) == GPURT_OK, "%s", err.text);
    o.sinks[0] = mortal = gpurt_logsink(w);
    o.sinks[0].prepare = mortal_prepare;
    o.sinks[0].commit = mortal_commit;
    o.dictionary = gpurt_writer_dictionary(w);
    o.scribe = with_scribe ? gpurt_scribe_open() : NULL;
    CHECK_MSG(gpurt_drain_open(&map, &o, &d, &err) == GPURT_OK, "%s", err.text);
    while (gpurt_process_start((uint32_t)application_pid) != 0) {
        CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK, "%s", err.text);
        gpurt_drain_rest(d);
    }
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    gpurt_drain_close(d);
    gpurt_scribe_close(o.scribe);
    CHECK_MSG(gpurt_writer_close(w, &err) == GPURT_OK, "%s", err.text);
}

static void drainer(pid_t application_pid)
{
    drain_to(path, application_pid);
}

static void other_drainer(pid_t application_pid)
{
    drain_to(other, application_pid);
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

/* Waits for one that ends itself, but not for ever: there may be too little to write. */
static void await_own_death(pid_t child)
{
    siginfo_t info;

    for (int ms = 0; ms < 200; ms++, usleep(1000)) {
        info.si_pid = 0;
        if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid)
            return;
    }
}

static void end(pid_t child, bool kill_it)
{
    int status;

    if (kill_it)
        kill(child, SIGKILL);
    waitpid(child, &status, 0);
    CHECK_MSG(kill_it || status == 0, "status %x", status);
}

static void row_count(tally_t *t, const gpurt_log_t *log, const gpurt_row_t *row)
{
    const uint32_t *w = gpurt_row_words(row);
    gpurt_site_info_t site;

    if (row->kind == GPURT_KIND_PANIC) {
        CHECK_MSG(row->block >= 40 && row->block < 40 + PANICS, "panic %u", row->block);
        CHECK_MSG(t->panics[row->block - 40]++ == 0, "panic %u twice", row->block - 40);
    }
    t->unfinished += row->kind == GPURT_KIND_LOSS && w[0] == GPURT_LOSS_PANIC;
    if (row->kind != GPURT_KIND_LOG)
        return;
    CHECK_MSG(gpurt_dictionary_get(gpurt_log_dictionary(log), row->site, &site),
              "a message of site %u before its definition", row->site);
    CHECK_MSG(w[1] == row->sm && w[0] < sizeof t->messages[0], "payload");
    CHECK_MSG(t->messages[w[1]][w[0]]++ == 0, "kill %d, ring %u: %u twice", kills, w[1],
              w[0]);
    if (w[0] >= t->high[w[1]])
        t->high[w[1]] = w[0] + 1;
}

static void count_file(const char *file, tally_t *t)
{
    const gpurt_row_t *row;
    gpurt_cursor_t *c;
    struct stat info;
    gpurt_log_t *log;

    for (uint32_t r = 0; r < RINGS; r++)
        memset(t->messages[r], 0, t->high[r]);
    memset(t->high, 0, sizeof *t - offsetof(tally_t, high));
    if (stat(file, &info) != 0 || info.st_size == 0)
        return; /* killed before it began */
    CHECK_MSG(gpurt_log_open(file, &log, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(gpurt_cursor_open(log, 0, &c, &err) == GPURT_OK, "%s", err.text);
    while ((row = gpurt_cursor_next(c)) != NULL)
        row_count(t, log, row);
    gpurt_cursor_close(c);
    gpurt_log_close(log);
}

/* Returns: messages and panics that both files have. */
static uint32_t count_files(void)
{
    uint32_t both = 0, raised;

    count_file(path, &first);
    count_file(other, &second);
    for (uint32_t r = 0; r < RINGS; r++) {
        uint32_t want = gpurt_load_acquire_sys_u32(&shared->xcommitted[r]);
        uint32_t high = first.high[r] > second.high[r] ? first.high[r] : second.high[r];

        CHECK_MSG(high >= want, "ring %u: %u of %u committed", r, high, want);
        for (uint32_t i = 0; i < high; i++) {
            CHECK_MSG(first.messages[r][i] || second.messages[r][i],
                      "ring %u: %u is missing (%u committed)", r, i, want);
            both += first.messages[r][i] && second.messages[r][i];
        }
    }
    raised = gpurt_load_acquire_sys_u32(&shared->xpanics);
    for (uint32_t i = 0; i < raised; i++) {
        CHECK_MSG(i == DIED || first.panics[i] || second.panics[i],
                  "panic %u of %u is missing", i, raised);
        both += first.panics[i] && second.panics[i];
    }
    /* That one, and the one at which the application was killed. */
    CHECK_MSG(first.unfinished + second.unfinished >= (raised > DIED) &&
                  first.unfinished + second.unfinished <= 2,
              "%u lanes that died told, %u in the other file", first.unfinished,
              second.unfinished);
    return both;
}

int main(void)
{
    unsigned seed = 12345, both = 0, shelved = 0;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                  -1, 0);
    CHECK_MSG(shared != MAP_FAILED, "mmap");
    snprintf(path, sizeof path, "/tmp/test_kill.%u", (unsigned)getpid());
    snprintf(other, sizeof other, "/tmp/test_kill.%u.other", (unsigned)getpid());
    for (int i = 0; i < KILLS; kills = ++i) {
        bool kill_drainer = i % 3 != 0, elsewhere = i % 4 == 1, mortal_one;
        pid_t app, drain;

        open_box();
        app = start(NULL, 0);
        mortal_one = kill_drainer && i % 2;
        flushes_left = mortal_one ? 1 + (uint32_t)rand_r(&seed) % 8 : 0;
        death = (death_t)(i / 4 % DEATHS);
        with_scribe = i / 16 % 2;
        with_shelf = i / 32 % 2;
        drain = start(drainer, app);
        flushes_left = 0;
        usleep((useconds_t)rand_r(&seed) % 4000);
        if (kill_drainer) {
            if (mortal_one)
                await_own_death(drain);
            end(drain, true);
            shelved += map.box->shelf.xend != map.box->shelf.xfirst;
            if (i % 3 == 2) /* the application goes on for a while, then dies too */
                usleep((useconds_t)rand_r(&seed) % 1000);
            drain = start(elsewhere ? other_drainer : drainer, app); /* takes over */
            usleep((useconds_t)rand_r(&seed) % 2000);
        }
        end(app, true);
        end(drain, false);
        both += count_files();
        gpurt_boxmap_detach(&map);
        unlink(path);
        unlink(other);
    }
    CHECK_MSG(shelved > 0, "no drainer left anything on the shelf");
    printf(
        "%d kills, 0 lost, 0 twice in a file; %u in both of two files; %u shelves left\n",
        KILLS, both, shelved);
    return 0;
}
