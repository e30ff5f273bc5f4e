/* SPDX-License-Identifier: Apache-2.0 */
/* What few messages cost, that never pause: one ring of 4 KiB, fed at a steady rate, and a drainer
 * in a process of its own that writes them to a file. Bytes of a message, frames of a second,
 * processor time of the drainer, and how old the oldest message of a frame is when the frame is
 * in the file, which is what somebody who follows the file waits. */
#include "bench_drain.h"
#include "check.h"
#include "feed.h"
#include "hosttime.h"
#include "logsink.h"
#include "reader.h"
#include "rows.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    AGES = 8192,
    STEPS = 1000, /* of a second: messages come in bursts of a thousandth of the rate */
    SECONDS = 3
};

/* Shared with the drainer, which alone writes it. */
typedef struct ages {
    double ms[AGES];
    uint32_t count;
} ages_t;

static gpurt_error_t err;
static gpurt_boxmap_t map;
static gpurt_drain_sink_t file;
static ages_t *ages;
static uint64_t oldest_ns;

static gpurt_status_t aged_prepare(void *context, const gpurt_row_t *rows, uint32_t bytes,
                                   uint32_t count, gpurt_box_intent_t *place,
                                   gpurt_error_t *e)
{
    oldest_ns = rows->time_ns; /* of one ring: they come in order */
    return file.prepare(context, rows, bytes, count, place, e);
}

static gpurt_status_t aged_commit(void *context, gpurt_error_t *e)
{
    gpurt_status_t st = file.commit(context, e);

    if (ages->count < AGES)
        ages->ms[ages->count++] = (double)(gpurt_real_ns() - oldest_ns) / 1e6;
    return st;
}

static void drainer(const char *path)
{
    gpurt_writer_options_t wo = {.struct_size = sizeof wo, .append = true};
    gpurt_drain_options_t o = {.struct_size = sizeof o, .sink_count = 1};
    gpurt_writer_t *w;
    gpurt_drain_t *d;
    uint32_t rows;

    CHECK_MSG(gpurt_writer_open(path, &wo, &w, &err) == GPURT_OK, "%s", err.text);
    o.sinks[0] = file = gpurt_logsink(w);
    o.sinks[0].prepare = aged_prepare;
    o.sinks[0].commit = aged_commit;
    o.dictionary = gpurt_writer_dictionary(w);
    o.scribe = gpurt_scribe_pays() ? gpurt_scribe_open() : NULL;
    CHECK_MSG(gpurt_drain_open(&map, &o, &d, &err) == GPURT_OK, "%s", err.text);
    do {
        CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK, "%s", err.text);
        if (rows == 0)
            gpurt_drain_rest(d);
    } while (rows > 0 || !gpurt_drain_over(d));
    CHECK_MSG(gpurt_drain_finish(d, &err) == GPURT_OK, "%s", err.text);
    gpurt_drain_close(d);
    gpurt_scribe_close(o.scribe);
    CHECK_MSG(gpurt_writer_close(w, &err) == GPURT_OK, "%s", err.text);
}

static void feed_steadily(uint32_t rate)
{
    gpurt_ring_port_t port = gpurt_boxmap_port(&map, 0, 0);
    struct timespec next;
    uint32_t fed = 0;

    clock_gettime(CLOCK_MONOTONIC, &next);
    for (uint32_t step = 1; step <= SECONDS * STEPS; step++) {
        for (; fed < (uint64_t)step * rate / STEPS; fed++)
            while (!feed_uniform(&port, 1 + fed % FEED_SITES, 0, fed, fed * 7u,
                                 gpurt_real_ns()))
                sched_yield(); /* until there is room */
        next.tv_nsec += 1000000000 / STEPS;
        next.tv_sec += next.tv_nsec / 1000000000;
        next.tv_nsec %= 1000000000;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
}

/* Returns: seconds that the drainer had a processor. */
static double run(const char *path, uint32_t rate, double *seconds)
{
    double start = rows_now_ns();
    struct rusage used;
    int status;
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        drainer(path);
        _exit(0);
    }
    feed_steadily(rate);
    *seconds = (rows_now_ns() - start) / 1e9;
    gpurt_store_release_sys_u32(&map.box->xlife, GPURT_LIFE_CLOSED); /* B4.rel */
    CHECK(wait4(child, &status, 0, &used) == child && status == 0);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void row_of(uint32_t rate, const char *what, double value, const char *unit)
{
    char name[64];

    snprintf(name, sizeof name, "trickle_%uk_%s", rate / 1000, what);
    rows_add("drain", name, value, unit, NULL, 0);
}

static void trickle(uint32_t rate)
{
    gpurt_section_plan_t s = {
        .kind = GPURT_SECTION_CPU, .ring_bytes = 4096, .policy = GPURT_POLICY_BLOCK};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};
    char path[] = "/tmp/bench_trickle.XXXXXX";
    gpurt_log_summary_t sum;
    gpurt_log_t *log;
    struct stat info;
    double cpu, seconds;

    close(mkstemp(path));
    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    feed_define(&map, 0);
    ages->count = 0;
    cpu = run(path, rate, &seconds);
    CHECK_MSG(gpurt_log_open(path, &log, &err) == GPURT_OK, "%s", err.text);
    gpurt_log_summary(log, &sum);
    CHECK_MSG(sum.messages == (uint64_t)SECONDS * rate, "%llu messages",
              (unsigned long long)sum.messages);
    CHECK(stat(path, &info) == 0);
    row_of(rate, "bytes", (double)info.st_size / (double)sum.messages, "B/message");
    row_of(rate, "frames", (double)gpurt_log_frames(log) / seconds, "1/s");
    row_of(rate, "cpu", 100 * cpu / seconds, "%");
    row_of(rate, "age_p50", rows_percentile(ages->ms, ages->count, 50), "ms");
    row_of(rate, "age_p99", rows_percentile(ages->ms, ages->count, 99), "ms");
    gpurt_log_close(log);
    gpurt_boxmap_detach(&map);
    unlink(path);
}

void bench_trickle(void)
{
    ages =
        mmap(NULL, sizeof *ages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(ages != MAP_FAILED);
    for (uint32_t rate = 1000; rate <= 1000000; rate *= 10)
        trickle(rate);
    munmap(ages, sizeof *ages);
}
