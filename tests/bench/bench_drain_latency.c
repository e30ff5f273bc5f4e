/* SPDX-License-Identifier: Apache-2.0 */
/* From a store on the device to the drainer's eye. A child process is the application:
 * one warp that speaks now and then, alone or beside a storm of blocks that log as fast as
 * they can, and kernels that panic. This process is the drainer, with the log file behind
 * it, resting as the programs do or spinning; or it does nothing but look at the count of
 * panics and at the next slot, which is as early as any host can see them (bare). A message bears
 * the time at which it was made; the clocks are compared by the application, whose bound is a
 * row of its own. Times of panics are put between a comparison before the first and one behind the
 * last, because the clocks' rates differ. Of a panic two times are told: when its count was seen,
 * and when its record was whole. */
#include "bench_drain.h"
#include "check.h"
#include "drain.h"
#include "hosttime.h"
#include "lobby.h"
#include "logsink.h"
#include "rows.h"

#include <gpurt/gpurt.h>

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SAMPLES = 4096,
    PANICS = 200, /* of the box's 256 slots */
    PANIC_EVERY_US = 5000,
    CLOCK_KNOWN_US = 1100000, /* the clocks are compared once a second, by who waits */
    STORM_BLOCKS_GPU = 264,   /* leaves room for the warp that speaks */
    STORM_BLOCKS_CPU = 4,
    STORM_THREADS = 256,
    WAIT_S = 20
};
#define PING_EVERY_NS 3000000ull
#define RUN_NS        1500000000ull

typedef struct latency_case {
    const char *name;
    bool panic, storm, spin;
    bool compute, bare; /* beside blocks that compute; without a drainer */
} latency_case_t;

/* Owner: the case. Written by the sink. */
typedef struct seen {
    double us[SAMPLES], flag_us[SAMPLES];       /* flag: the count alone */
    uint64_t flag_ns[PANICS], whole_ns[PANICS]; /* when each was seen */
    gpurt_clock_fit_t before;                   /* the first panic */
    const gpurt_boxmap_t *map;
    uint32_t count, raised, coming; /* raised: panics whose count was seen */
    uint64_t messages;
    bool panic;
} seen_t;

/* ---- the application ----------------------------------------------------------------- */

static void must(gpurt_status_t st, const gpurt_error_t *e)
{
    if (st != GPURT_OK) {
        fprintf(stderr, "bench_drain: %s\n", e->text);
        _exit(1);
    }
}

static void panics(gpurt_t *rt, gpurt_stream_t stream)
{
    struct bench_ping_args args = {0, 1};
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .stream = stream};
    gpurt_error_t e;

    for (int i = 0; i < PANICS; i++) {
        must(gpurt_launch(rt, &launch, bench_panic, &args, &e), &e);
        usleep(PANIC_EVERY_US);
    }
}

static void __attribute__((noreturn)) application(const latency_case_t *c)
{
    gpurt_stream_t quiet, loud;
    gpurt_error_t e;
    gpurt_info_t info;
    gpurt_t *rt;
    struct bench_ping_args ping = {0, PING_EVERY_NS}, storm = {0, 0};
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};

    must(gpurt_open(NULL, &rt, &e), &e);
    must(gpurt_info(rt, &info), &e);
    must(gpurt_stream_create(rt, &quiet, &e), &e);
    must(gpurt_stream_create(rt, &loud, &e), &e);
    if (c->panic && info.backend != GPURT_BACKEND_CPU) {
        usleep(CLOCK_KNOWN_US);
        must(gpurt_sync(rt, &e), &e);
    }
    ping.until_ns = storm.until_ns =
        gpurt_real_ns() + RUN_NS + (c->panic ? PANICS * PANIC_EVERY_US * 1000ull : 0);
    if (c->storm || c->compute) {
        launch.grid.x =
            info.backend == GPURT_BACKEND_CPU ? STORM_BLOCKS_CPU : STORM_BLOCKS_GPU;
        launch.block.x = STORM_THREADS;
        launch.stream = loud;
        if (c->compute)
            must(gpurt_launch(rt, &launch, bench_compute, &storm, &e), &e);
        else
            must(gpurt_launch(rt, &launch, bench_ping, &storm, &e), &e);
    }
    launch.grid.x = 1;
    launch.block.x = 32;
    launch.stream = quiet;
    if (c->panic)
        panics(rt, quiet);
    else
        must(gpurt_launch(rt, &launch, bench_ping, &ping, &e), &e);
    gpurt_sync(rt, &e); /* panics are its status */
    gpurt_close(rt, &e);
    _exit(0);
}

/* ---- the drainer --------------------------------------------------------------------- */

static gpurt_status_t look(void *context, const gpurt_row_t *row, gpurt_error_t *e)
{
    seen_t *s = context;

    (void)e;
    s->messages += gpurt_row_messages(row);
    if ((s->panic ? row->kind != GPURT_KIND_PANIC : row->level != GPURT_LEVEL_WARN) ||
        s->count == SAMPLES)
        return GPURT_OK;
    if (s->panic && s->count < PANICS) /* one after the other, so they come in order */
        s->whole_ns[s->count] = gpurt_real_ns();
    s->us[s->count++] = (double)(int64_t)(gpurt_real_ns() - row->time_ns) / 1e3;
    return GPURT_OK;
}

static void alarm_look(void *context, uint32_t section, uint32_t coming)
{
    seen_t *s = context;
    uint64_t now = gpurt_real_ns();

    (void)section;
    if (s->raised == 0)
        CHECK(gpurt_boxmap_clock(s->map, 0, &s->before));
    for (; s->coming < coming; s->coming++)
        if (s->raised < PANICS)
            s->flag_ns[s->raised++] = now;
    s->coming = coming;
}

/* Returns: false when the application holds out no box. */
static bool box_take(gpurt_lobby_t *lobby, gpurt_boxmap_t *map, pid_t child)
{
    gpurt_error_t e;
    int fd = -1, status;

    for (int i = 0; i < WAIT_S * 1000; i++) {
        if (gpurt_lobby_take(lobby, &fd, &e) == GPURT_OK)
            break;
        if (waitpid(child, &status, WNOHANG) == child)
            return false;
        usleep(1000);
    }
    CHECK_MSG(fd >= 0, "no box");
    CHECK_MSG(gpurt_boxmap_attach_fd(fd, true, map, &e) == GPURT_OK, "%s", e.text);
    close(fd);
    return true;
}

/* From a device's time to one of ours, between two comparisons of the clocks. */
static double since_us(const gpurt_clock_fit_t *a, const gpurt_clock_fit_t *b,
                       uint64_t device_ns, uint64_t seen_ns)
{
    double rate;

    if (b->device_ns <= a->device_ns) /* one clock, or no other comparison */
        return (double)(int64_t)(seen_ns - gpurt_clock_real(a, device_ns & GPURT_TIME_MASK,
                                                            seen_ns)) /
               1e3;
    rate = (double)(b->real_ns - a->real_ns) / (double)(b->device_ns - a->device_ns);
    return ((double)(int64_t)(seen_ns - a->real_ns) -
            (double)(int64_t)(device_ns - a->device_ns) * rate) /
           1e3;
}

/* When it is over. */
static void panics_time(const gpurt_boxmap_t *map, seen_t *seen)
{
    gpurt_clock_fit_t after;

    CHECK(gpurt_boxmap_clock(map, 0, &after));
    for (uint32_t i = 0; i < seen->count && i < PANICS; i++) {
        uint64_t device_ns = gpurt_boxmap_panic(map, 0, i)->time_ns;

        seen->us[i] = since_us(&seen->before, &after, device_ns, seen->whole_ns[i]);
        seen->flag_us[i] = since_us(&seen->before, &after, device_ns, seen->flag_ns[i]);
    }
}

static void look_bare(const gpurt_boxmap_t *map, seen_t *seen)
{
    const uint32_t *count = &map->box->sections[0].xpanics;
    const double end = rows_now_ns() + WAIT_S * 1e9;

    for (uint32_t i = 0; i < PANICS && rows_now_ns() < end; i++) {
        const gpurt_panic_t *slot = gpurt_boxmap_panic(map, 0, i);

        while (gpurt_load_relaxed_sys_u32(count) <= i && rows_now_ns() < end)
            ; /* relaxed: a hint, when there is something */
        seen->flag_ns[i] = gpurt_real_ns();
        while (gpurt_load_acquire_sys_u32(&slot->xstate) !=
                   GPURT_PANIC_WRITTEN && /* B6.acq */
               rows_now_ns() < end)
            ;
        seen->whole_ns[i] = gpurt_real_ns();
        seen->count = i + 1;
        if (i == 0)
            CHECK(gpurt_boxmap_clock(map, 0, &seen->before));
    }
}

static void drain_all(const gpurt_boxmap_t *map, const latency_case_t *c, seen_t *seen)
{
    char path[] = "/tmp/bench_latency.XXXXXX";
    gpurt_writer_options_t wo = {.struct_size = sizeof wo, .append = true};
    gpurt_drain_options_t o = {.struct_size = sizeof o, .sink_count = 2, .spin = c->spin};
    gpurt_writer_t *w;
    gpurt_drain_t *d;
    gpurt_error_t e;
    uint32_t rows;

    close(mkstemp(path));
    CHECK_MSG(gpurt_writer_open(path, &wo, &w, &e) == GPURT_OK, "%s", e.text);
    o.sinks[0] = gpurt_logsink(w);
    o.sinks[1] = (gpurt_drain_sink_t){.context = seen, .put = look, .alarm = alarm_look};
    o.dictionary = gpurt_writer_dictionary(w);
    o.scribe = gpurt_scribe_pays() ? gpurt_scribe_open() : NULL;
    CHECK_MSG(gpurt_drain_open(map, &o, &d, &e) == GPURT_OK, "%s", e.text);
    do {
        CHECK_MSG(gpurt_drain_round(d, &rows, &e) == GPURT_OK, "%s", e.text);
        if (rows == 0)
            gpurt_drain_rest(d);
    } while (rows > 0 || !gpurt_drain_over(d));
    CHECK_MSG(gpurt_drain_finish(d, &e) == GPURT_OK, "%s", e.text);
    gpurt_drain_close(d);
    gpurt_scribe_close(o.scribe);
    CHECK_MSG(gpurt_writer_close(w, &e) == GPURT_OK, "%s", e.text);
    unlink(path);
}

static void latency_rows(const char *name, const char *what, double *us, uint32_t count,
                         double promised)
{
    char row[64];

    snprintf(row, sizeof row, "%s.%sp50", name, what);
    rows_add("drain", row, rows_percentile(us, count, 50), "us", NULL, 0);
    snprintf(row, sizeof row, "%s.%sp99", name, what);
    rows_add("drain", row, rows_percentile(us, count, 99), "us",
             promised > 0 ? "promised" : NULL, promised);
}

static void case_rows(const latency_case_t *c, seen_t *seen)
{
    uint32_t want = c->panic ? PANICS : (uint32_t)(RUN_NS / PING_EVERY_NS) / 2;
    char name[64];

    CHECK_MSG(seen->count >= want, "%s: %u of %u samples", c->name, seen->count, want);
    if (c->panic) {
        snprintf(name, sizeof name, "%s.first", c->name);
        rows_add("drain", name, seen->us[0], "us", NULL, 0);
        latency_rows(c->name, "flag_", seen->flag_us, seen->count,
                     c->bare   ? 0
                     : c->spin ? 10
                               : 1000);
    }
    latency_rows(c->name, "", seen->us, seen->count, c->panic && c->spin ? 10 : 1000);
    if (c->storm) {
        snprintf(name, sizeof name, "%s.messages", c->name);
        rows_add("drain", name, (double)seen->messages / 1e6, "M", NULL, 0);
    }
}

/* How far wrong the times of a case may be. */
static void clock_row(const latency_case_t *c, const gpurt_clock_fit_t *fit)
{
    char name[64];

    snprintf(name, sizeof name, "%s.clock_error", c->name);
    rows_add("drain", name, (double)fit->error_ns / 1e3, "us", NULL, 0);
}

/* Returns: false when there is no box to drain on this back end. */
static bool case_run(const latency_case_t *c)
{
    gpurt_clock_fit_t fit = {0};
    gpurt_boxmap_t map = {.fd = -1};
    static seen_t seen, behind; /* behind: what comes when all was seen */
    gpurt_error_t e;
    gpurt_lobby_t lobby;
    int status;
    pid_t child;
    bool found;

    memset(&seen, 0, sizeof seen);
    seen.panic = c->panic;
    seen.map = behind.map = &map;
    CHECK_MSG(gpurt_lobby_open(&lobby, &e) == GPURT_OK, "%s", e.text);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        setenv(GPURT_HANDOVER_ENV, lobby.name, 1);
        application(c);
    }
    CHECK(child > 0);
    found = box_take(&lobby, &map, child);
    if (found) {
        if (c->bare)
            look_bare(&map, &seen);
        drain_all(&map, c, c->bare ? &behind : &seen);
        waitpid(child, &status, 0);
        gpurt_boxmap_clock(&map, 0, &fit);
        if (c->panic)
            panics_time(&map, &seen);
        gpurt_boxmap_detach(&map);
        case_rows(c, &seen);
        clock_row(c, &fit);
    }
    seen.map = behind.map = NULL;
    gpurt_lobby_close(&lobby);
    return found;
}

int bench_latency(const char *only)
{
    static const latency_case_t cases[] = {
        {.name = "latency_idle"},
        {.name = "latency_storm", .storm = true},
        {.name = "latency_idle_spin", .spin = true},
        {.name = "latency_storm_spin", .storm = true, .spin = true},
        {.name = "panic_idle", .panic = true},
        {.name = "panic_idle_spin", .panic = true, .spin = true},
        {.name = "panic_storm", .panic = true, .storm = true},
        {.name = "panic_storm_spin", .panic = true, .storm = true, .spin = true},
        {.name = "panic_idle_bare", .panic = true, .bare = true},
        {.name = "panic_compute_bare", .panic = true, .compute = true, .bare = true},
        {.name = "panic_compute_spin", .panic = true, .compute = true, .spin = true},
    };

    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if ((!only || strstr(cases[i].name, only)) && !case_run(&cases[i])) {
            fprintf(stderr, "bench_drain: no box from this back end: latencies left out\n");
            return 0;
        }
    return 0;
}
