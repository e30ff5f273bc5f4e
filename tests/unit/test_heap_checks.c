/* SPDX-License-Identifier: Apache-2.0 */
/* A heap that checks: each planted misuse is told once, with the lines that asked and freed;
 * who does nothing wrong is told nothing, at either level. */
#include "alloc_stage.h"
#include "heap_checks_kernels.h"
#include "stage_parts.h"

#include <gpurt/gc.h>
#include <gpurt/reclaim.h>

GPURT_KERNEL_DECLARE(checks_alloc, struct checks_args);
GPURT_KERNEL_DECLARE(checks_write, struct checks_args);
GPURT_KERNEL_DECLARE(checks_free, struct checks_args);
GPURT_KERNEL_DECLARE(checks_free_again, struct checks_args);
GPURT_KERNEL_DECLARE(checks_free_raced, struct checks_args);
GPURT_KERNEL_DECLARE(checks_leak, struct checks_args);
GPURT_KERNEL_DECLARE(checks_fill, struct checks_args);
GPURT_KERNEL_DECLARE(checks_drain, struct checks_args);
GPURT_KERNEL_DECLARE(checks_cancelled, struct checks_args);
GPURT_KERNEL_DECLARE(checks_storm, struct checks_args);
GPURT_KERNEL_DECLARE(checks_warp, struct checks_args);
GPURT_KERNEL_DECLARE(checks_passed_on, struct checks_args);
GPURT_KERNEL_DECLARE(checks_places, struct checks_args);
GPURT_KERNEL_DECLARE(checks_tally, struct checks_args);

enum {
    BLOCKS = 4,
    THREADS = 64,
    CELLS = 8192
};
#define FILE_NAME "heap_checks_kernels.c"

typedef struct bench {
    struct checks_args args;
    gpurt_launch_t launch;
    uint32_t lines[LINES];
} bench_t;

static void bench_open(bench_t *b, uint32_t level, uint64_t bytes)
{
    gpurt_heap_options_t options = {.bytes = bytes, .checks = level, .shards = 2};

    memset(b, 0, sizeof *b);
    OK(gpurt_heap_create(rt, &options, &b->args.heap, &err));
    OK(gpurt_mem_create(rt, CELLS * sizeof(uint64_t), (void **)&b->args.cells, &err));
    OK(gpurt_mem_create(rt, sizeof b->lines, (void **)&b->args.lines, &err));
    OK(gpurt_fill(rt, 0, b->args.cells, 0, CELLS * sizeof(uint64_t), &err));
    b->launch = (gpurt_launch_t){.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}};
    b->args.align = 16;
}

static void bench_close(bench_t *b)
{
    OK(gpurt_heap_destroy(rt, &b->args.heap, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, b->args.cells), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, b->args.lines), GPURT_OK);
}

static uint64_t faults(bench_t *b, gpurt_heap_fault_t *out, uint32_t room)
{
    uint64_t count;

    OK(gpurt_copy(rt, 0, b->lines, b->args.lines, sizeof b->lines, &err));
    OK(gpurt_heap_faults(rt, &b->args.heap, out, room, &count, &err));
    return count;
}

static uint64_t cell(bench_t *b, uint32_t i)
{
    uint64_t value;

    OK(gpurt_copy(rt, 0, &value, b->args.cells + i, sizeof value, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    return value;
}

/* That the place is the call of the kernels which stands there. */
static void place_check(const bench_t *b, const char *what, const char *site,
                        uint32_t which)
{
    char end[64];
    size_t length = strlen(site), want;

    snprintf(end, sizeof end, "%s:%u", FILE_NAME, b->lines[which]);
    want = strlen(end);
    CHECK_MSG(length >= want && strcmp(site + length - want, end) == 0, "%s: %s, not %s",
              what, site, end);
}

static void silent(bench_t *b)
{
    gpurt_heap_fault_t f = {0};

    CHECK_MSG(faults(b, &f, 1) == 0, "0x%llx of %llu bytes %s: byte %lld",
              (unsigned long long)f.object, (unsigned long long)f.size,
              gpurt_heap_wrong_text(f.what), (long long)f.at);
    OK(gpurt_heap_check(rt, &b->args.heap, &err));
}

/* ---- guards -------------------------------------------------------------------------- */

/* One byte beside an object of that size; `at` says which. */
static void beside(uint32_t level, uint64_t size, uint32_t align, int64_t at, uint32_t what)
{
    gpurt_heap_fault_t f;
    bench_t b;

    bench_open(&b, level, size > 60000 ? 2 * MIB : MIB);
    b.args.size = size;
    b.args.align = align;
    RUN(&b, checks_alloc);
    CHECK(cell(&b, 0) && cell(&b, 0) % align == 0);
    if (size >= 16 && size <= GPURT_SMALL_MAX && !(size & (size - 1)))
        CHECK_EQ(cell(&b, 0) % size, 0); /* as in a heap that does not check */
    RUN(&b, checks_write);               /* all of it, and nothing else */
    silent(&b);
    b.args.mode = 1;
    b.args.at = at;
    if (what)
        RUN(&b, checks_write);
    CHECK_EQ(gpurt_heap_check(rt, &b.args.heap, NULL), what ? GPURT_E_FAULT : GPURT_OK);
    b.args.mode = THREADS + 3;
    b.args.at = 0;
    RUN(&b, checks_free);
    if (!what) {
        silent(&b);
        bench_close(&b);
        return;
    }
    CHECK_EQ(faults(&b, &f, 1), 1);
    CHECK_EQ(f.what, what);
    CHECK_EQ(f.size, size);
    CHECK_EQ(f.at, at);
    CHECK_EQ(f.object, cell(&b, 0));
    CHECK_EQ(f.block, 0);
    CHECK_EQ(f.thread, 0);
    CHECK_EQ(f.found_block, 1);
    CHECK_EQ(f.found_thread, 3);
    place_check(&b, "asked", f.site, LINE_ALLOC);
    place_check(&b, "found", f.found_site, LINE_FREE);
    bench_close(&b);
}

static void test_guards(void)
{
    static const uint64_t sizes[] = {1,    2,     7,     15,    16,    17,    31,    32,
                                     48,   63,    64,    100,   255,   256,   1000,  4096,
                                     5000, 16384, 32752, 32768, 32769, 65536, 200000};

    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t size = sizes[i];
        int64_t end = (int64_t)size;

        beside(GPURT_CHECKS_CHEAP, size, 16, end, GPURT_WRONG_OVERRUN);
        beside(GPURT_CHECKS_CHEAP, size, 16, end + 15, GPURT_WRONG_OVERRUN);
        beside(GPURT_CHECKS_FULL, size, 16, end, GPURT_WRONG_OVERRUN);
        beside(GPURT_CHECKS_FULL, size, 16, -1, GPURT_WRONG_UNDERRUN);
        beside(GPURT_CHECKS_FULL, size, 16, -16, GPURT_WRONG_UNDERRUN);
        beside(GPURT_CHECKS_FULL, size, 256, -1, GPURT_WRONG_UNDERRUN);
        beside(GPURT_CHECKS_CHEAP, size, 16, 0, 0);
        beside(GPURT_CHECKS_FULL, size, 4096, 0, 0);
    }
    beside(GPURT_CHECKS_FULL, 100, 65536, -1, GPURT_WRONG_UNDERRUN);
}

/* ---- after the free ------------------------------------------------------------------ */

/* The rest of the heap passes through: what was kept back is given back. */
static void churn(bench_t *b)
{
    b->args.count = CELLS;
    for (uint32_t i = 0; i < 2; i++) {
        RUN(b, checks_fill);
        RUN(b, checks_drain);
    }
}

static void used_after(uint64_t size, int64_t at)
{
    gpurt_heap_fault_t f;
    uint64_t object;
    bench_t b;

    bench_open(&b, GPURT_CHECKS_FULL, 6 * MIB);
    b.args.size = size;
    RUN(&b, checks_alloc);
    object = cell(&b, 0);
    b.args.mode = THREADS * 2 + 5;
    RUN(&b, checks_free);
    silent(&b);
    b.args.mode = 1;
    b.args.at = at;
    RUN(&b, checks_write);
    CHECK_EQ(gpurt_heap_check(rt, &b.args.heap, NULL), GPURT_E_FAULT);
    OK(gpurt_fill(rt, 0, b.args.cells, 0, CELLS * sizeof(uint64_t), &err));
    churn(&b);
    CHECK_EQ(faults(&b, &f, 1), 1);
    CHECK_EQ(f.what, GPURT_WRONG_USED);
    CHECK_EQ(f.object, object);
    CHECK_EQ(f.size, size);
    CHECK_EQ(f.at, at);
    CHECK_EQ(f.free_block, 2);
    CHECK_EQ(f.free_thread, 5);
    place_check(&b, "asked", f.site, LINE_ALLOC);
    place_check(&b, "freed", f.free_site, LINE_FREE);
    bench_close(&b);
}

static void test_used(void)
{
    used_after(8, 0);
    used_after(100, 95);
    used_after(1000, 0);
    used_after(5000, 2500);
    used_after(32768, 32767);
    used_after(100000, 99999); /* far into either end of a large one */
    used_after(100000, 100);
}

/* Slots that a request could still have. */
static uint64_t left(const gpurt_heap_stats_t *stats)
{
    uint64_t sum = stats->free_chunks;

    for (uint32_t c = 0; c < GPURT_CLASS_COUNT; c++)
        sum += stats->classes[c].reusable + stats->classes[c].fresh;
    return sum;
}

/* What is kept back is bounded, and goes when memory is short: nothing is lost by it. */
static void test_kept(void)
{
    gpurt_heap_options_t options = {.bytes = 4 * MIB,
                                    .checks = GPURT_CHECKS_FULL,
                                    .shards = 1,
                                    .keep_bytes = 100 << 10};
    gpurt_heap_stats_t stats;
    uint32_t count = 0, again = 0;
    bench_t b;

    bench_open(&b, GPURT_CHECKS_FULL, 4 * MIB);
    OK(gpurt_heap_destroy(rt, &b.args.heap, &err));
    OK(gpurt_heap_create(rt, &options, &b.args.heap, &err));
    b.args.size = 1000;
    b.args.count = CELLS;
    RUN(&b, checks_fill);
    for (uint32_t i = 0; i < CELLS; i++)
        count += cell(&b, i) != 0;
    CHECK(count > 500);
    RUN(&b, checks_drain);
    OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
    CHECK_MSG(stats.kept_bytes <= options.keep_bytes + 256 * 1280, "%llu bytes kept back",
              (unsigned long long)stats.kept_bytes);
    CHECK(stats.kept > 20);
    CHECK_EQ(stats.live, stats.kept);
    RUN(&b, checks_fill);
    for (uint32_t i = 0; i < CELLS; i++)
        again += cell(&b, i) != 0;
    OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
    CHECK_EQ(stats.kept, 0);
    CHECK_EQ(stats.live, again);
    CHECK_EQ(left(&stats),
             0); /* a chunk that came free meanwhile may serve a larger class */
    CHECK_MSG(again > count - count / 20, "%u of %u", again, count);
    silent(&b);
    bench_close(&b);
}

/* ---- bad frees ----------------------------------------------------------------------- */

static void twice(uint32_t level, uint64_t size)
{
    gpurt_heap_fault_t f[2];
    bench_t b;

    bench_open(&b, level, 6 * MIB);
    b.args.size = size;
    RUN(&b, checks_alloc);
    b.args.mode = 7;
    RUN(&b, checks_free);
    b.args.mode = THREADS * 3 + 9; /* another block */
    RUN(&b, checks_free_again);
    CHECK_EQ(faults(&b, f, 2), 1);
    CHECK_EQ(f[0].what, GPURT_WRONG_TWICE);
    CHECK_EQ(f[0].size, size);
    CHECK_EQ(f[0].object, cell(&b, 0));
    CHECK_EQ(f[0].free_block, 0);
    CHECK_EQ(f[0].free_thread, 7);
    CHECK_EQ(f[0].found_block, 3);
    CHECK_EQ(f[0].found_thread, 9);
    place_check(&b, "asked", f[0].site, LINE_ALLOC);
    place_check(&b, "freed", f[0].free_site, LINE_FREE);
    place_check(&b, "found", f[0].found_site, LINE_AGAIN);
    OK(gpurt_heap_check(rt, &b.args.heap, &err));
    bench_close(&b);
}

/* All lanes at once: one frees, the others are told. */
static void twice_raced(uint32_t level)
{
    gpurt_heap_fault_t f[2];
    gpurt_heap_stats_t stats;
    bench_t b;

    bench_open(&b, level, 6 * MIB);
    b.args.size = 48;
    RUN(&b, checks_alloc);
    RUN(&b, checks_free_raced);
    CHECK_EQ(faults(&b, f, 2), BLOCKS * THREADS - 1);
    CHECK_EQ(f[1].what, GPURT_WRONG_TWICE);
    OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_TWICE], BLOCKS * THREADS - 1);
    CHECK_EQ(stats.live, level == GPURT_CHECKS_FULL);
    OK(gpurt_heap_check(rt, &b.args.heap, &err));
    bench_close(&b);
}

/* A pointer into a live object names it, also where that is many chunks long. */
static void inside(uint32_t level, uint64_t size, int64_t at)
{
    gpurt_heap_stats_t stats;
    gpurt_heap_fault_t f;
    bench_t b;

    bench_open(&b, level, 6 * MIB);
    b.args.size = size;
    RUN(&b, checks_alloc);
    b.args.at = at;
    RUN(&b, checks_free);
    CHECK_EQ(faults(&b, &f, 1), 1);
    CHECK_EQ(f.what, GPURT_WRONG_INTERIOR);
    CHECK_EQ(f.object, cell(&b, 0));
    CHECK_EQ(f.size, size);
    CHECK_EQ(f.at, at);
    place_check(&b, "asked", f.site, LINE_ALLOC);
    OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_INTERIOR], 1);
    CHECK_EQ(stats.live, 1);
    bench_close(&b);
}

static void test_bad_frees(void)
{
    gpurt_heap_fault_t f[4];
    uint64_t object;
    bench_t b;

    for (uint32_t level = GPURT_CHECKS_CHEAP; level <= GPURT_CHECKS_FULL; level++) {
        twice(level, 24);
        twice(level, 4096);
        twice(level, 300000);
        twice_raced(level);
        inside(level, 480, 48);
        inside(level, 300000, 65536);
        inside(level, 300000, 299984);
        bench_open(&b, level, 6 * MIB);
        b.args.size = 480;
        RUN(&b, checks_alloc);
        object = cell(&b, 0);
        b.args.at = 32;
        b.args.mode = 1;
        RUN(&b, checks_free);
        CHECK_EQ(faults(&b, f, 4), 1);
        CHECK_EQ(f[0].what, GPURT_WRONG_INTERIOR);
        CHECK_EQ(f[0].object, object);
        CHECK_EQ(f[0].size, 480);
        CHECK_EQ(f[0].at, 32);
        place_check(&b, "asked", f[0].site, LINE_ALLOC);
        place_check(&b, "found", f[0].found_site, LINE_FREE);
        b.args.at = (int64_t)((uintptr_t)b.args.cells - object);
        RUN(&b, checks_free_again);
        CHECK_EQ(faults(&b, f, 4), 2);
        CHECK_EQ(f[1].what, GPURT_WRONG_FOREIGN);
        CHECK_EQ(f[1].size, 0);
        CHECK_EQ(f[1].object, (uint64_t)(uintptr_t)b.args.cells);
        place_check(&b, "found", f[1].found_site, LINE_AGAIN);
        b.args.at = 0;
        RUN(&b, checks_free);
        CHECK_EQ(faults(&b, f, 4), 2);
        bench_close(&b);
    }
}

/* ---- leaks --------------------------------------------------------------------------- */

static void test_leaks(void)
{
    char text[4096], want[64];
    gpurt_heap_leak_t leaks[4];
    uint32_t count;
    size_t length;
    bench_t b;

    for (uint32_t level = GPURT_CHECKS_CHEAP; level <= GPURT_CHECKS_FULL; level++) {
        bench_open(&b, level, 6 * MIB);
        b.args.size = 72;
        RUN(&b, checks_leak);
        silent(&b);
        OK(gpurt_heap_leaks(rt, &b.args.heap, leaks, 4, &count, &err));
        CHECK_EQ(count, 1);
        CHECK_EQ(leaks[0].objects, BLOCKS * THREADS);
        CHECK_EQ(leaks[0].bytes, BLOCKS * THREADS * 72);
        place_check(&b, "leaked", leaks[0].site, LINE_LEAK);
        OK(gpurt_heap_report(rt, &b.args.heap, false, text, sizeof text, &length, &err));
        CHECK_EQ(length, strlen(text));
        snprintf(want, sizeof want, "18432 bytes in 256 objects from ");
        CHECK_MSG(strstr(text, want), "%s", text);
        OK(gpurt_heap_report(rt, &b.args.heap, true, text, sizeof text, &length, &err));
        CHECK_MSG(strstr(text, "\"leaks\":[{\"bytes\":18432,\"objects\":256,\"site\":\""),
                  "%s", text);
        OK(gpurt_heap_report(rt, &b.args.heap, true, text, 10, &length, &err));
        CHECK(strlen(text) == 9 && length > 100);
        b.args.count = BLOCKS * THREADS;
        RUN(&b, checks_drain);
        OK(gpurt_heap_leaks(rt, &b.args.heap, leaks, 4, &count, &err));
        CHECK_EQ(count, 0);
        bench_close(&b);
    }
}

/* ---- nothing wrong ------------------------------------------------------------------- */

static void test_silent(void)
{
    gpurt_heap_stats_t stats;
    uint32_t count;
    bench_t b;

    for (uint32_t level = GPURT_CHECKS_OFF; level <= GPURT_CHECKS_FULL; level++) {
        bench_open(&b, level, 16 * MIB);
        for (b.args.seed = 1; b.args.seed < 4; b.args.seed++) {
            b.args.count = 40;
            RUN(&b, checks_storm);
            silent(&b);
        }
        b.args.count = 70;
        b.args.size = 40;
        for (b.args.mode = 0; b.args.mode < 2; b.args.mode++) {
            RUN(&b, checks_warp);
            silent(&b);
        }
        OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
        CHECK_EQ(stats.live - stats.kept, BLOCKS * 2 * 70);
        OK(gpurt_heap_leaks(rt, &b.args.heap, NULL, 0, &count, &err));
        CHECK_EQ(count, level > GPURT_CHECKS_OFF);
        bench_close(&b);

        bench_open(&b, level, 16 * MIB); /* too large for a warp's request */
        b.args.count = 70;
        b.args.size = GPURT_SMALL_MAX + 1;
        RUN(&b, checks_warp);
        silent(&b);
        OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
        CHECK_EQ(stats.counts.xrefused[GPURT_ALLOC_TOO_LARGE], BLOCKS * 2);
        bench_close(&b);
    }
}

/* Code that does not check, in a heap that does: nothing is told, nothing breaks. */
static void test_mixed(void)
{
    gpurt_heap_options_t options = {.bytes = 16 * MIB, .checks = GPURT_CHECKS_FULL};
    gpurt_heap_fault_t f;
    uint64_t count;
    bench_t b;
    stage_t s;

    stage_open(&s, &options, 600);
    bench_open(&b, GPURT_CHECKS_OFF, MIB);
    OK(gpurt_heap_destroy(rt, &b.args.heap, &err));
    b.args.heap = s.args.heap;
    s.args.min_bytes = 4;
    s.args.max_bytes = 5000;
    s.args.rounds = 10;
    for (uint32_t i = 0; i < 3; i++) {
        s.args.seed = b.args.seed = i;
        RUN(&s, alloc_storm);
        stage_verdict(&s);
        b.args.count = 20;
        RUN(&b, checks_storm);
        OK(gpurt_heap_check(rt, &s.args.heap, &err));
    }
    OK(gpurt_heap_faults(rt, &s.args.heap, &f, 1, &count, &err));
    CHECK_EQ(count, 0);
    /* objects of the one, freed by the other */
    OK(gpurt_mem_destroy(rt, b.args.cells));
    b.args.cells = s.args.cells;
    b.args.count = 600;
    RUN(&b, checks_drain);
    OK(gpurt_heap_faults(rt, &s.args.heap, &f, 1, &count, &err));
    CHECK_EQ(count, 0);
    CHECK_EQ(gpurt_mem_destroy(rt, b.args.lines), GPURT_OK);
    stage_close(&s);
}

/* What the heap is asked for by gpurt's own code counts as the line's that asked for it. */
static void test_passed_on(void)
{
    static const gpurt_gc_type_t type = {.tail = GPURT_GC_NO_TAIL};
    gpurt_gc_options_t options = {.type_count = 1, .types = &type};
    gpurt_heap_leak_t leaks[2];
    uint32_t count;

    for (uint32_t mode = 0; mode < ASKED_COUNT; mode++) {
        bench_t b;

        bench_open(&b, GPURT_CHECKS_CHEAP, 2 * MIB);
        OK(gpurt_refs_create(rt, &b.args.heap, NULL, &b.args.refs, &err));
        OK(gpurt_gc_create(rt, &b.args.heap, &options, &b.args.gc, &err));
        b.launch = (gpurt_launch_t){.grid = {1, 1, 1}, .block = {32, 1, 1}};
        b.args.size = 100;
        b.args.mode = mode;
        RUN(&b, checks_passed_on);
        OK(gpurt_heap_leaks(rt, &b.args.heap, leaks, 2, &count, &err));
        CHECK_MSG(count == 1, "mode %u: %u places", mode, count);
        CHECK(leaks[0].objects == 1);
        silent(&b); /* reads where the calls stand */
        place_check(&b, "passed on", leaks[0].site, LINE_LEAK);
        OK(gpurt_gc_destroy(rt, &b.args.gc, &err));
        OK(gpurt_refs_destroy(rt, &b.args.refs, &err));
        bench_close(&b);
    }
}

/* ---- pools --------------------------------------------------------------------------- */

/* What is done to objects that come by a pool. */
static void pooled(uint32_t level, uint32_t mode, uint32_t what)
{
    gpurt_heap_stats_t stats;
    gpurt_heap_fault_t f;
    gpurt_heap_leak_t leak;
    uint32_t leaks;
    bench_t b;

    bench_open(&b, level, 2 * MIB);
    b.launch = (gpurt_launch_t){.grid = {1, 1, 1}, .block = {32, 1, 1}};
    b.args.size = 100;
    b.args.mode = mode;
    RUN(&b, checks_places);
    CHECK_EQ(faults(&b, &f, 1), what != GPURT_WRONG_NONE);
    if (what) {
        CHECK_EQ(f.what, what);
        CHECK_EQ(f.object, cell(&b, 0));
        CHECK_EQ(f.size, 100);
        place_check(&b, "asked", f.site, LINE_ALLOC);
        place_check(&b, "freed", f.free_site, LINE_FREE);
        place_check(&b, "found", f.found_site,
                    what == GPURT_WRONG_TWICE ? LINE_AGAIN : LINE_FREE);
    }
    OK(gpurt_heap_leaks(rt, &b.args.heap, &leak, 1, &leaks, &err));
    CHECK_EQ(leaks, mode == 3);
    if (leaks)
        place_check(&b, "leaked", leak.site, LINE_LEAK);
    OK(gpurt_heap_check(rt, &b.args.heap, &err));
    OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
    CHECK_EQ(stats.live - stats.kept, mode == 3);
    CHECK_EQ(stats.counts.xgot[GPURT_PLACE_GLOBAL], 33); /* no level kept any */
    CHECK_EQ(stats.counts.xgot[GPURT_PLACE_THREAD] + stats.counts.xput[GPURT_PLACE_THREAD],
             0);
    bench_close(&b);
}

static void test_pools(void)
{
    for (uint32_t level = GPURT_CHECKS_CHEAP; level <= GPURT_CHECKS_FULL; level++) {
        pooled(level, 0, GPURT_WRONG_NONE);
        pooled(level, 1, GPURT_WRONG_OVERRUN);
        pooled(level, 2, GPURT_WRONG_TWICE);
        pooled(level, 3, GPURT_WRONG_NONE);
    }
}

/* Counters that all lanes of a heap share: each counts once, and tickets are nobody else's. */
static void test_tally(void)
{
    static uint8_t seen[BLOCKS * THREADS * 8];
    enum {
        ROUNDS = 8
    };
    uint64_t total;
    bench_t b;

    bench_open(&b, GPURT_CHECKS_OFF, MIB);
    for (b.args.count = 1; b.args.count <= ROUNDS; b.args.count++) {
        OK(gpurt_fill(rt, 0, b.args.cells, 0, CELLS * sizeof(uint64_t), &err));
        memset(seen, 0, sizeof seen);
        RUN(&b, checks_tally);
        total = cell(&b, 0);
        CHECK_EQ(total, BLOCKS * THREADS * b.args.count);
        for (uint32_t i = 0; i < BLOCKS * THREADS; i++) {
            uint64_t mine = cell(&b, 1 + i);

            if (i % 3 == 0)
                CHECK(mine >= 1 && mine <= total);
            if (i % 3 == 2)
                CHECK(mine < total && !seen[mine]++);
        }
    }
    bench_close(&b);
}

/* No call of the allocator ends a lane, though its block is cancelled. */
static void test_cancelled(void)
{
    for (uint32_t level = GPURT_CHECKS_CHEAP; level <= GPURT_CHECKS_FULL; level++) {
        gpurt_heap_stats_t stats;
        uint64_t live;
        bench_t b;

        bench_open(&b, level, MIB);
        b.args.size = 100;
        b.args.count = CELLS - 1;
        RUN(&b, checks_fill);
        OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
        live = stats.live;
        CHECK(live > 0 && stats.counts.xrefused[GPURT_ALLOC_FULL] > 0);
        RUN(&b, checks_cancelled);
        CHECK_EQ(cell(&b, CELLS - 1), 2);
        OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
        CHECK_EQ(stats.live, live - 1);
        for (uint32_t i = 0; i < GPURT_FREE_FAULTS; i++)
            CHECK_EQ(stats.counts.xbad_frees[i], 0);
        silent(&b);
        bench_close(&b);
    }
}

static void test_options(void)
{
    gpurt_heap_options_t odd = {.checks = 9},
                         small = {.bytes = 900 << 10, .checks = GPURT_CHECKS_FULL};
    gpurt_heap_leak_t leak;
    gpurt_heap_stats_t stats;
    gpurt_heap_t heap;
    uint32_t count;

    CHECK_EQ(gpurt_heap_create(rt, &odd, &heap, NULL), GPURT_E_INVALID);
    OK(gpurt_heap_create(rt, &small, &heap, &err));
    OK(gpurt_heap_stats(rt, &heap, &stats, &err));
    CHECK(stats.bytes + stats.tables <= small.bytes);
    OK(gpurt_heap_destroy(rt, &heap, &err));
    small.checks = 0;
    OK(gpurt_heap_create(rt, &small, &heap, &err));
    CHECK(heap.watch == NULL);
    OK(gpurt_heap_leaks(rt, &heap, &leak, 1, &count, &err));
    CHECK_EQ(count, 0);
    OK(gpurt_heap_destroy(rt, &heap, &err));
    CHECK_EQ(gpurt_heap_leaks(rt, &heap, &leak, 1, &count, NULL), GPURT_E_HANDLE);
    setenv("GPURT_HEAP_CHECKS", "a little", 1);
    CHECK_EQ(gpurt_heap_create(rt, &small, &heap, NULL), GPURT_E_INVALID);
    setenv("GPURT_HEAP_CHECKS", "Cheap", 1);
    OK(gpurt_heap_create(rt, &small, &heap, &err));
    CHECK(heap.watch != NULL);
    OK(gpurt_heap_destroy(rt, &heap, &err));
    unsetenv("GPURT_HEAP_CHECKS");
}

static const stage_part_t parts[] = {
    {"options", test_options},     {"silent", test_silent}, {"guards", test_guards},
    {"used", test_used},           {"kept", test_kept},     {"bad_frees", test_bad_frees},
    {"leaks", test_leaks},         {"mixed", test_mixed},   {"tally", test_tally},
    {"cancelled", test_cancelled}, {"pools", test_pools},   {"passed_on", test_passed_on},
};

int main(int argc, char **argv)
{
    return stage_parts(argc, argv, parts, sizeof parts / sizeof parts[0]);
}
