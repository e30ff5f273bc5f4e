/* SPDX-License-Identifier: Apache-2.0 */
/* bench_drain - from the rings of a GPU of 132 multiprocessors with 64 warp slots each to
 * the log file, on one core: read, check, turn into rows, compress, write. Beside each
 * case what its greater part takes alone: zstd -1 on the same rows, reading the same
 * rings, touching the same words. Rates are of the CPU time of the draining thread, and the
 * file is read back before they are believed.
 *
 *   bench_drain             all
 *   bench_drain rates       the rates
 *   bench_drain flood       what waits behind full rings: see bench_drain_flood.c
 *   bench_drain latency     from a store on the device to the drainer's eye: see
 *                           bench_drain_latency.c
 *   bench_drain panic_idle  those of its cases that bear this in their names */
#include "bench_drain.h"
#include "check.h"
#include "feed.h"
#include "hosttime.h"
#include "logsink.h"
#include "procfs.h"
#include "publish.h"
#include "reader.h"
#include "ringread.h"
#include "rows.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

enum {
    SMS = 132,
    SLOTS = 64,
    RINGS = SMS * SLOTS,
    REPEATS = 20,
    FILL_RECORDS = 1000000, /* of a repeat, spread over all rings */
    LOOKS = 200,
    HOT = 8,
    SAMPLE_BYTES = 64 << 20 /* rows kept for the floors */
};

typedef enum what {
    UNIFORM,
    LANES
} what_t;

static gpurt_boxmap_t map;
static gpurt_error_t err;
static uint64_t seed = 88172645463325252ull;
static uint64_t feed_time; /* the producers' clock: never back */

/* Rows as they went to the store: the floors work on the same bytes. */
static struct sample {
    uint8_t *bytes;
    size_t used, batch[256];
    uint32_t batches, rows;
} sample;
static gpurt_drain_sink_t file_sink;

static uint32_t rnd(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 32) % below;
}

/* Arguments like an address and a size. Returns: messages. */
static uint32_t feed_one(uint32_t ring, what_t what)
{
    gpurt_ring_port_t port = gpurt_boxmap_port(&map, 0, ring);
    uint32_t site = 1 + rnd(FEED_SITES), a = rnd(65536) * 256, b = 64u << rnd(6);

    feed_time += 32 * rnd(12);
    if (what == LANES)
        return feed_lanes(&port, site, ring, a, b, feed_time) ? 32 : 0;
    return feed_uniform(&port, site, ring, a, b, feed_time);
}

static uint64_t fill(what_t what, uint32_t rings, uint32_t records)
{
    uint64_t messages = 0;

    for (uint32_t i = 0; i < records; i++)
        messages += feed_one(rnd(rings) * (RINGS / rings), what);
    return messages;
}

/* ---- a drain into a file ------------------------------------------------------------- */

typedef struct run {
    char path[32];
    gpurt_writer_t *writer;
    gpurt_drain_t *drain;
    publish_t *publish;
    uint64_t written;
} run_t;

static gpurt_status_t sampling_prepare(void *context, const gpurt_row_t *rows,
                                       uint32_t bytes, uint32_t count,
                                       gpurt_box_intent_t *place, gpurt_error_t *e)
{
    if (sample.bytes && sample.batches < 256 && sample.used + bytes <= SAMPLE_BYTES) {
        memcpy(sample.bytes + sample.used, rows, bytes);
        sample.used += bytes;
        sample.batch[sample.batches++] = bytes;
        sample.rows += count;
    }
    return file_sink.prepare(context, rows, bytes, count, place, e);
}

static void run_open(run_t *r, bool published, bool sampled)
{
    gpurt_writer_options_t wo = {.struct_size = sizeof wo, .append = true};
    gpurt_drain_options_t o = {.struct_size = sizeof o, .sink_count = 1};
    gplog_file_t about;

    memset(r, 0, sizeof *r);
    strcpy(r->path, "/tmp/bench_drain.XXXXXX");
    close(mkstemp(r->path));
    gpurt_drain_about(&map, &about);
    wo.about = &about;
    CHECK_MSG(gpurt_writer_open(r->path, &wo, &r->writer, &err) == GPURT_OK, "%s",
              err.text);
    o.sinks[0] = file_sink = gpurt_logsink(r->writer);
    if (sampled)
        o.sinks[0].prepare = sampling_prepare;
    o.dictionary = gpurt_writer_dictionary(r->writer);
    if (published) {
        r->publish = publish_open(&map, &o);
        CHECK_MSG(r->publish, "nothing can be published here: XDG_RUNTIME_DIR?");
    }
    CHECK_MSG(gpurt_drain_open(&map, &o, &r->drain, &err) == GPURT_OK, "%s", err.text);
}

/* Returns: CPU time of draining all that the rings hold. */
static double run_drain(run_t *r)
{
    double start = rows_cpu_ns();
    uint32_t rows;

    do {
        CHECK_MSG(gpurt_drain_round(r->drain, &rows, &err) == GPURT_OK, "%s", err.text);
        publish_tick(r->publish);
    } while (rows > 0);
    CHECK_MSG(gpurt_drain_flush(r->drain, &err) == GPURT_OK, "%s", err.text);
    return rows_cpu_ns() - start;
}

/* The file must hold what was written, no more and no less. Returns: bytes a message. */
static double run_close(run_t *r)
{
    gpurt_log_summary_t sum;
    gpurt_writer_figures_t figures;
    gpurt_log_t *log;

    CHECK_MSG(gpurt_drain_finish(r->drain, &err) == GPURT_OK, "%s", err.text);
    gpurt_drain_close(r->drain);
    publish_close(r->publish);
    gpurt_writer_figures(r->writer, &figures);
    CHECK_MSG(gpurt_writer_close(r->writer, &err) == GPURT_OK, "%s", err.text);
    CHECK_MSG(gpurt_log_open(r->path, &log, &err) == GPURT_OK, "%s", err.text);
    gpurt_log_summary(log, &sum);
    CHECK_MSG(sum.messages == r->written && sum.torn_frames == 0, "%llu of %llu",
              (unsigned long long)sum.messages, (unsigned long long)r->written);
    for (uint64_t i = 0; i < gpurt_log_frames(log); i++) {
        gpurt_log_rows_t rows;

        CHECK_MSG(gpurt_log_read(log, i, &rows, &err) == GPURT_OK, "%s", err.text);
    }
    gpurt_log_close(log);
    unlink(r->path);
    return (double)figures.bytes / (double)r->written;
}

/* ---- floors -------------------------------------------------------------------------- */

/* M rows a second of zstd -1 over the batches of the sample. */
static double floor_zstd(void)
{
    size_t room = ZSTD_compressBound(GPLOG_RAW_MAX);
    uint8_t *out = malloc(room);
    ZSTD_CCtx *c = ZSTD_createCCtx();
    double times[REPEATS];

    CHECK(out && c && sample.rows);
    ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, 1);
    for (int i = -1; i < REPEATS; i++) {
        const uint8_t *p = sample.bytes;
        double start = rows_cpu_ns();

        for (uint32_t b = 0; b < sample.batches; p += sample.batch[b++])
            CHECK(!ZSTD_isError(ZSTD_compress2(c, out, room, p, sample.batch[b])));
        times[i < 0 ? 0 : i] = rows_cpu_ns() - start;
    }
    ZSTD_freeCCtx(c);
    free(out);
    return sample.rows * 1e3 / rows_median(times, REPEATS);
}

static uint64_t read_only(void)
{
    uint32_t words[GPURT_READ_WORDS], groups;
    uint64_t n = 0;

    for (uint32_t r = 0; r < RINGS; r++) {
        const gpurt_group_t *ring = gpurt_boxmap_groups(&map, 0, r);
        uint32_t at = gpurt_boxmap_control(&map, 0, r)->xtail;

        for (; gpurt_ring_read(ring, 1024, at, words, &groups) == GPURT_READ_RECORD;
             at += groups)
            n += (words[0] >> 16 & 0xffu) != GPURT_KIND_LAP;
    }
    return n;
}

/* ---- cases --------------------------------------------------------------------------- */

/* A model is fed by a thread of its own: its share of the CPU time is a row of its own. */
static double other_threads_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec - rows_cpu_ns();
}

static void bench_published(void)
{
    double before = other_threads_ns(), drain_ns = 0;
    run_t r;

    run_open(&r, true, false);
    for (int i = 0; i < REPEATS; i++) {
        r.written += fill(UNIFORM, RINGS, FILL_RECORDS);
        drain_ns += run_drain(&r);
    }
    run_close(&r);
    rows_add("drain", "uniform_to_file_published", (double)r.written * 1e3 / drain_ns,
             "M messages/s", "promised", 8);
    rows_add("drain", "uniform_to_file_published.both_threads",
             (double)r.written * 1e3 / (drain_ns + other_threads_ns() - before),
             "M messages/s", "promised", 8);
}

static void bench_file(what_t what)
{
    const char *name = what == LANES ? "lanes_to_file" : "uniform_to_file";
    uint32_t records = what == LANES ? FILL_RECORDS / 8 : FILL_RECORDS;
    double rates[REPEATS], reads[REPEATS], bytes;
    uint32_t share = what == LANES ? GPURT_WARP_SIZE : 1;
    char text[64];
    run_t r;

    sample.used = sample.batches = sample.rows = 0;
    run_open(&r, false, true);
    for (int i = -2; i < REPEATS; i++) {
        uint64_t messages = fill(what, RINGS, records), seen;
        double start = rows_cpu_ns();

        seen = read_only();
        reads[i < 0 ? 0 : i] = (double)seen * 1e3 / (rows_cpu_ns() - start);
        CHECK_EQ(seen * share, messages);
        rates[i < 0 ? 0 : i] = (double)messages * 1e3 / run_drain(&r);
        r.written += messages;
    }
    bytes = run_close(&r);
    rows_add("drain", name, rows_median(rates, REPEATS), "M messages/s", "zstd_1_alone",
             floor_zstd() * share);
    snprintf(text, sizeof text, "%s.p1", name);
    rows_add("drain", text, rows_percentile(rates, REPEATS, 1), "M messages/s",
             what == UNIFORM ? "promised" : NULL, 8);
    snprintf(text, sizeof text, "%s.bytes", name);
    rows_add("drain", text, bytes, "B/message", "rows",
             (double)sample.used / sample.rows / share);
    snprintf(text, sizeof text, "%s.read_rings", name);
    rows_add("drain", text, rows_median(reads, REPEATS) * share, "M messages/s", NULL, 0);
}

/* What a drainer pays for rings in which nothing is. */
static void bench_idle(void)
{
    double looks[LOOKS], touches[LOOKS];
    run_t r;

    run_open(&r, false, false);
    run_drain(&r);
    for (int i = 0; i < LOOKS; i++) {
        double start = rows_cpu_ns();
        uint32_t rows, sum = 0;

        for (uint32_t n = 0; n < RINGS; n++)
            /* relaxed: nothing is read behind it */
            sum += gpurt_load_relaxed_sys_u32(&gpurt_boxmap_groups(&map, 0, n)->tag);
        __asm__ volatile("" ::"r"(sum)); /* for this, the loads are made */
        touches[i] = rows_cpu_ns() - start;
        usleep(250); /* the next look is due */
        start = rows_cpu_ns();
        CHECK_MSG(gpurt_drain_round(r.drain, &rows, &err) == GPURT_OK && rows == 0, "idle");
        looks[i] = rows_cpu_ns() - start;
    }
    run_close(&r);
    rows_add("drain", "look_at_8448_idle_rings", rows_median(looks, LOOKS) / 1e3, "us",
             "one_word_each", rows_median(touches, LOOKS) / 1e3);
    rows_add("drain", "look_at_8448_idle_rings.p99",
             rows_percentile(looks, LOOKS, 99) / 1e3, "us", NULL, 0);
}

/* An application whose host code sleeps. */
static pid_t sleeper_start(void)
{
    pid_t child = fork();

    if (child == 0)
        for (;;)
            pause();
    CHECK(child > 0);
    map.box->identity.pid = (uint32_t)child;
    map.box->identity.start_ticks = gpurt_process_start((uint32_t)child);
    return child;
}

/* Nothing comes, resting as the programs do: while a kernel may run, and while none does. */
static void bench_rest(bool working)
{
    pid_t application = sleeper_start();
    double begin = rows_now_ns(), start = begin, cpu = 0;
    uint32_t rows;
    run_t r;

    run_open(&r, false, false);
    map.box->xwork = map.box->xended + working;
    do {
        if (cpu == 0 && rows_now_ns() - begin > 1.2e9) { /* by now it is sure of it */
            start = rows_now_ns();
            cpu = rows_cpu_ns();
        }
        CHECK_MSG(gpurt_drain_round(r.drain, &rows, &err) == GPURT_OK, "%s", err.text);
        if (rows == 0)
            gpurt_drain_rest(r.drain);
    } while (rows_now_ns() - begin < 3.2e9);
    rows_add("drain", working ? "cpu_while_silent_kernel" : "cpu_while_no_kernel",
             (rows_cpu_ns() - cpu) / (rows_now_ns() - start) * 100, "%", NULL, 0);
    run_close(&r);
    kill(application, SIGKILL);
    waitpid(application, NULL, 0);
}

/* Few rings are in use among many, in bursts that fit them. */
static void bench_few(void)
{
    double times[REPEATS], rates[REPEATS];
    run_t r;

    run_open(&r, false, false);
    for (int i = -2; i < REPEATS; i++) {
        uint64_t messages = 0;
        double time = 0;

        for (int burst = 0; burst < 100; burst++) {
            uint64_t fed = fill(UNIFORM, HOT, HOT * 200);

            messages += fed;
            time += run_drain(&r);
        }
        r.written += messages;
        times[i < 0 ? 0 : i] = time / (double)messages;
        rates[i < 0 ? 0 : i] = (double)messages * 1e3 / time;
    }
    run_close(&r);
    rows_add("drain", "few_8_of_8448_to_file", rows_median(rates, REPEATS), "M messages/s",
             "promised", 8);
    rows_add("drain", "few_8_of_8448_to_file.each", rows_median(times, REPEATS), "ns", NULL,
             0);
}

static void bench_rates(void)
{
    gpurt_section_plan_t s = {.kind = GPURT_SECTION_CPU,
                              .sm_count = SMS,
                              .warp_slots = SLOTS,
                              .ring_bytes = 16384,
                              .policy = GPURT_POLICY_BLOCK};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};

    sample.bytes = malloc(SAMPLE_BYTES);
    CHECK(sample.bytes);
    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    feed_define(&map, 0);
    feed_time = gpurt_real_ns();
    bench_file(UNIFORM);
    bench_file(LANES);
    bench_published();
    bench_few();
    bench_idle();
    bench_rest(true);
    bench_rest(false);
    gpurt_boxmap_detach(&map);
    free(sample.bytes);
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : NULL;

    rows_head();
    if (!only || strcmp(only, "rates") == 0)
        bench_rates();
    if (!only || strcmp(only, "flood") == 0)
        bench_flood();
    if (!only || strcmp(only, "trickle") == 0)
        bench_trickle();
    if (only && (strcmp(only, "rates") == 0 || strcmp(only, "flood") == 0 ||
                 strcmp(only, "trickle") == 0))
        return 0;
    return bench_latency(only && strcmp(only, "latency") == 0 ? NULL : only);
}
