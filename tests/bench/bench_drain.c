/* SPDX-License-Identifier: Apache-2.0 */
/* bench_drain - from full rings to the log file on one core: read, check, sort, compress,
 * write. Beside it what reading the rings alone takes. CPU time of the draining thread. */
#include "check.h"
#include "feed.h"
#include "logsink.h"
#include "procfs.h"
#include "ringread.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    SMS = 132,
    SLOTS = 16,
    REPEATS = 20
};

static gpurt_boxmap_t map;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t seed = 88172645463325252ull;
static uint32_t rnd(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 32) % below;
}

/* Fills every ring; arguments like an address and a size. Returns: messages. */
static uint64_t fill(bool lanes)
{
    static uint64_t time; /* the producer's clock: never back, also when a fill was quick */
    uint64_t written = 0;
    bool room = true;

    time += time ? 1000000 : gpurt_real_ns() + 1000000000ull;
    while (room) {
        room = false;
        for (uint32_t n = 0; n < SMS * SLOTS; n++) {
            uint32_t ring = rnd(SMS * SLOTS), site = 1 + rnd(FEED_SITES);
            gpurt_ring_port_t port = gpurt_boxmap_port(&map, 0, ring);
            bool done = lanes ? feed_lanes(&port, site, ring, rnd(65536) * 256,
                                           64u << rnd(6), time += 32 * rnd(12))
                              : feed_uniform(&port, site, ring, rnd(65536) * 256,
                                             64u << rnd(6), time += 32 * rnd(12));

            written += done ? (lanes ? 32 : 1) : 0;
            room |= done;
        }
    }
    return written;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void report(const char *name, double *rates)
{
    qsort(rates, REPEATS, sizeof *rates, compare);
    printf("bench_drain case=%s m_messages_s_p50=%.1f m_messages_s_worst=%.1f\n", name,
           rates[REPEATS / 2] / 1e6, rates[0] / 1e6);
}

static uint64_t read_only(void)
{
    uint32_t words[GPURT_READ_WORDS], groups;
    uint64_t n = 0;

    for (uint32_t r = 0; r < SMS * SLOTS; r++) {
        const gpurt_group_t *ring = gpurt_boxmap_groups(&map, 0, r);
        uint32_t at = gpurt_boxmap_control(&map, 0, r)->xtail;

        for (; gpurt_ring_read(ring, 1024, at, words, &groups) == GPURT_READ_RECORD; n++)
            at += groups;
    }
    return n;
}

static void run(bool lanes)
{
    char path[] = "/tmp/bench_drain.XXXXXX";
    gpurt_writer_options_t wo = {.struct_size = sizeof wo, .append = true};
    gpurt_drain_options_t o = {.struct_size = sizeof o, .sink_count = 1};
    double rates[REPEATS], floor_rates[REPEATS];
    gpurt_drain_figures_t sum;
    gpurt_writer_t *w;
    gpurt_drain_t *d;
    gpurt_error_t err;
    uint64_t total = 0;

    close(mkstemp(path));
    CHECK_MSG(gpurt_writer_open(path, &wo, &w, &err) == GPURT_OK, "%s", err.text);
    o.sinks[0] = gpurt_logsink(w);
    o.dictionary = gpurt_writer_dictionary(w);
    CHECK_MSG(gpurt_drain_open(&map, &o, &d, &err) == GPURT_OK, "%s", err.text);
    for (int i = -2; i < REPEATS; i++) {
        uint64_t written = fill(lanes);
        uint32_t rows;
        double t = now();
        uint64_t n = read_only();

        floor_rates[i < 0 ? 0 : i] = (double)n * (lanes ? 32 : 1) / (now() - t);
        t = now();
        do
            CHECK_MSG(gpurt_drain_round(d, &rows, &err) == GPURT_OK, "%s", err.text);
        while (rows > 0);
        CHECK_MSG(gpurt_drain_flush(d, &err) == GPURT_OK, "%s", err.text);
        rates[i < 0 ? 0 : i] = (double)written / (now() - t);
        total += written;
        usleep(100);
    }
    gpurt_drain_figures(d, &sum);
    CHECK_MSG(sum.messages == total, "%llu of %llu", (unsigned long long)sum.messages,
              (unsigned long long)total);
    report(lanes ? "floor_read_lanes" : "floor_read_uniform", floor_rates);
    report(lanes ? "drain_lanes" : "drain_uniform", rates);
    gpurt_drain_close(d);
    gpurt_writer_close(w, NULL);
    unlink(path);
}

int main(void)
{
    gpurt_section_plan_t s = {.kind = GPURT_SECTION_CPU,
                              .sm_count = SMS,
                              .warp_slots = SLOTS,
                              .ring_bytes = 16384};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};
    gpurt_error_t err;

    CHECK_MSG(gpurt_boxmap_create(&plan, &map, &err) == GPURT_OK, "%s", err.text);
    feed_define(&map, 0);
    run(false);
    run(true);
    gpurt_boxmap_detach(&map);
    return 0;
}
