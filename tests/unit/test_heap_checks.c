/* SPDX-License-Identifier: Apache-2.0 */
/* A heap that checks: each planted misuse is told once, with the lines that asked and freed, and
 * so is what was never freed. test_heap_checks_served has who uses it well. */
#include "heap_checks_stage.h"
#include "stage_parts.h"

/* ---- guards -------------------------------------------------------------------------- */

/* One byte beside an object of that size; `at` says which. */
static void beside(uint32_t level, uint64_t size, uint32_t align, int64_t at, uint32_t what)
{
    gpurt_heap_fault_t f;
    checks_stage_t b;

    checks_open(&b, level, size > 60000 ? 2 * MIB : MIB);
    b.args.size = size;
    b.args.align = align;
    RUN(&b, checks_alloc);
    CHECK(checks_cell(&b, 0) && checks_cell(&b, 0) % align == 0);
    if (size >= 16 && size <= GPURT_SMALL_MAX && !(size & (size - 1)))
        CHECK_EQ(checks_cell(&b, 0) % size, 0); /* as in a heap that does not check */
    RUN(&b, checks_write);                      /* all of it, and nothing else */
    checks_silent(&b);
    b.args.mode = 1;
    b.args.at = at;
    if (what)
        RUN(&b, checks_write);
    CHECK_EQ(gpurt_heap_check(rt, &b.args.heap, NULL), what ? GPURT_E_FAULT : GPURT_OK);
    b.args.mode = THREADS + 3;
    b.args.at = 0;
    RUN(&b, checks_free);
    if (!what) {
        checks_silent(&b);
        checks_close(&b);
        return;
    }
    CHECK_EQ(checks_faults(&b, &f, 1), 1);
    CHECK_EQ(f.what, what);
    CHECK_EQ(f.size, size);
    CHECK_EQ(f.at, at);
    CHECK_EQ(f.object, checks_cell(&b, 0));
    CHECK_EQ(f.block, 0);
    CHECK_EQ(f.thread, 0);
    CHECK_EQ(f.found_block, 1);
    CHECK_EQ(f.found_thread, 3);
    checks_place(&b, "asked", f.site, LINE_ALLOC);
    checks_place(&b, "found", f.found_site, LINE_FREE);
    checks_close(&b);
}

/* What programs write too far most often is no guard's, so it is found at every address. */
static void test_pattern(void)
{
    for (uint64_t at = 0; at < 1 << 20; at += 8) {
        uint64_t word = gpurt_guard_word((1ull << 47) + at);

        CHECK_MSG((word & 0xc0c0c0c0c0c0c0c0ull) == 0x8080808080808080ull, "0x%llx at %llu",
                  (unsigned long long)word, (unsigned long long)at);
        CHECK(word != gpurt_guard_word((1ull << 47) + at + 8));
    }
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
static void churn(checks_stage_t *b)
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
    checks_stage_t b;

    checks_open(&b, GPURT_CHECKS_FULL, 6 * MIB);
    b.args.size = size;
    RUN(&b, checks_alloc);
    object = checks_cell(&b, 0);
    b.args.mode = THREADS * 2 + 5;
    RUN(&b, checks_free);
    checks_silent(&b);
    b.args.mode = 1;
    b.args.at = at;
    RUN(&b, checks_write);
    CHECK_EQ(gpurt_heap_check(rt, &b.args.heap, NULL), GPURT_E_FAULT);
    OK(gpurt_fill(rt, 0, b.args.cells, 0, CELLS * sizeof(uint64_t), &err));
    churn(&b);
    CHECK_EQ(checks_faults(&b, &f, 1), 1);
    CHECK_EQ(f.what, GPURT_WRONG_USED);
    CHECK_EQ(f.object, object);
    CHECK_EQ(f.size, size);
    CHECK_EQ(f.at, at);
    CHECK_EQ(f.free_block, 2);
    CHECK_EQ(f.free_thread, 5);
    checks_place(&b, "asked", f.site, LINE_ALLOC);
    checks_place(&b, "freed", f.free_site, LINE_FREE);
    checks_close(&b);
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
    checks_stage_t b;

    checks_open(&b, GPURT_CHECKS_FULL, 4 * MIB);
    OK(gpurt_heap_destroy(rt, &b.args.heap, &err));
    OK(gpurt_heap_create(rt, &options, &b.args.heap, &err));
    b.args.size = 1000;
    b.args.count = CELLS;
    RUN(&b, checks_fill);
    for (uint32_t i = 0; i < CELLS; i++)
        count += checks_cell(&b, i) != 0;
    CHECK(count > 500);
    RUN(&b, checks_drain);
    OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
    CHECK_MSG(stats.kept_bytes <= options.keep_bytes + 256 * 1280, "%llu bytes kept back",
              (unsigned long long)stats.kept_bytes);
    CHECK(stats.kept > 20);
    CHECK_EQ(stats.live, stats.kept);
    RUN(&b, checks_fill);
    for (uint32_t i = 0; i < CELLS; i++)
        again += checks_cell(&b, i) != 0;
    OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
    CHECK_EQ(stats.kept, 0);
    CHECK_EQ(stats.live, again);
    CHECK_EQ(left(&stats),
             0); /* a chunk that came free meanwhile may serve a larger class */
    CHECK_MSG(again > count - count / 20, "%u of %u", again, count);
    checks_silent(&b);
    checks_close(&b);
}

/* ---- bad frees ----------------------------------------------------------------------- */

static void twice(uint32_t level, uint64_t size)
{
    gpurt_heap_fault_t f[2];
    checks_stage_t b;

    checks_open(&b, level, 6 * MIB);
    b.args.size = size;
    RUN(&b, checks_alloc);
    b.args.mode = 7;
    RUN(&b, checks_free);
    b.args.mode = THREADS * 3 + 9; /* another block */
    RUN(&b, checks_free_again);
    CHECK_EQ(checks_faults(&b, f, 2), 1);
    CHECK_EQ(f[0].what, GPURT_WRONG_TWICE);
    CHECK_EQ(f[0].size, size);
    CHECK_EQ(f[0].object, checks_cell(&b, 0));
    CHECK_EQ(f[0].free_block, 0);
    CHECK_EQ(f[0].free_thread, 7);
    CHECK_EQ(f[0].found_block, 3);
    CHECK_EQ(f[0].found_thread, 9);
    checks_place(&b, "asked", f[0].site, LINE_ALLOC);
    checks_place(&b, "freed", f[0].free_site, LINE_FREE);
    checks_place(&b, "found", f[0].found_site, LINE_AGAIN);
    OK(gpurt_heap_check(rt, &b.args.heap, &err));
    checks_close(&b);
}

/* All lanes at once: one frees, the others are told. */
static void twice_raced(uint32_t level)
{
    gpurt_heap_fault_t f[2];
    gpurt_heap_stats_t stats;
    checks_stage_t b;

    checks_open(&b, level, 6 * MIB);
    b.args.size = 48;
    RUN(&b, checks_alloc);
    RUN(&b, checks_free_raced);
    CHECK_EQ(checks_faults(&b, f, 2), BLOCKS * THREADS - 1);
    CHECK_EQ(f[1].what, GPURT_WRONG_TWICE);
    OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_TWICE], BLOCKS * THREADS - 1);
    CHECK_EQ(stats.live, level == GPURT_CHECKS_FULL);
    OK(gpurt_heap_check(rt, &b.args.heap, &err));
    checks_close(&b);
}

/* A pointer into a live object names it, also where that is many chunks long. */
static void inside(uint32_t level, uint64_t size, int64_t at)
{
    gpurt_heap_stats_t stats;
    gpurt_heap_fault_t f;
    checks_stage_t b;

    checks_open(&b, level, 6 * MIB);
    b.args.size = size;
    RUN(&b, checks_alloc);
    b.args.at = at;
    RUN(&b, checks_free);
    CHECK_EQ(checks_faults(&b, &f, 1), 1);
    CHECK_EQ(f.what, GPURT_WRONG_INTERIOR);
    CHECK_EQ(f.object, checks_cell(&b, 0));
    CHECK_EQ(f.size, size);
    CHECK_EQ(f.at, at);
    checks_place(&b, "asked", f.site, LINE_ALLOC);
    OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_INTERIOR], 1);
    CHECK_EQ(stats.live, 1);
    checks_close(&b);
}

static void test_bad_frees(void)
{
    gpurt_heap_fault_t f[4];
    uint64_t object;
    checks_stage_t b;

    for (uint32_t level = GPURT_CHECKS_CHEAP; level <= GPURT_CHECKS_FULL; level++) {
        twice(level, 24);
        twice(level, 4096);
        twice(level, 300000);
        twice_raced(level);
        inside(level, 480, 48);
        inside(level, 300000, 65536);
        inside(level, 300000, 299984);
        checks_open(&b, level, 6 * MIB);
        b.args.size = 480;
        RUN(&b, checks_alloc);
        object = checks_cell(&b, 0);
        b.args.at = 32;
        b.args.mode = 1;
        RUN(&b, checks_free);
        CHECK_EQ(checks_faults(&b, f, 4), 1);
        CHECK_EQ(f[0].what, GPURT_WRONG_INTERIOR);
        CHECK_EQ(f[0].object, object);
        CHECK_EQ(f[0].size, 480);
        CHECK_EQ(f[0].at, 32);
        checks_place(&b, "asked", f[0].site, LINE_ALLOC);
        checks_place(&b, "found", f[0].found_site, LINE_FREE);
        b.args.at = (int64_t)((uintptr_t)b.args.cells - object);
        RUN(&b, checks_free_again);
        CHECK_EQ(checks_faults(&b, f, 4), 2);
        CHECK_EQ(f[1].what, GPURT_WRONG_FOREIGN);
        CHECK_EQ(f[1].size, 0);
        CHECK_EQ(f[1].object, (uint64_t)(uintptr_t)b.args.cells);
        checks_place(&b, "found", f[1].found_site, LINE_AGAIN);
        b.args.at = 0;
        RUN(&b, checks_free);
        CHECK_EQ(checks_faults(&b, f, 4), 2);
        checks_close(&b);
    }
}

/* ---- leaks --------------------------------------------------------------------------- */

static void test_leaks(void)
{
    char text[4096], want[64];
    gpurt_heap_leak_t leaks[4];
    uint32_t count;
    size_t length;
    checks_stage_t b;

    for (uint32_t level = GPURT_CHECKS_CHEAP; level <= GPURT_CHECKS_FULL; level++) {
        checks_open(&b, level, 6 * MIB);
        b.args.size = 72;
        RUN(&b, checks_leak);
        checks_silent(&b);
        OK(gpurt_heap_leaks(rt, &b.args.heap, leaks, 4, &count, &err));
        CHECK_EQ(count, 1);
        CHECK_EQ(leaks[0].objects, BLOCKS * THREADS);
        CHECK_EQ(leaks[0].bytes, BLOCKS * THREADS * 72);
        checks_place(&b, "leaked", leaks[0].site, LINE_LEAK);
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
        checks_close(&b);
    }
}

/* Objects of code that does not check are live, too: nobody is told that there are none. */
static void test_unchecked(void)
{
    gpurt_heap_leak_t leaks[4];
    char text[4096];
    uint32_t count;
    size_t length;
    checks_stage_t b;

    for (uint32_t level = GPURT_CHECKS_CHEAP; level <= GPURT_CHECKS_FULL; level++) {
        checks_open(&b, level, 6 * MIB);
        b.args.size = 72;
        RUN(&b, checks_leak);
        b.args.count = 5;
        b.args.size = 320;
        RUN(&b, checks_unchecked);
        b.args.size = 100000;
        b.args.count = 1;
        RUN(&b, checks_unchecked);
        OK(gpurt_heap_leaks(rt, &b.args.heap, leaks, 4, &count, &err));
        CHECK_EQ(count, 2);
        CHECK_EQ(leaks[0].objects, 6);
        CHECK_EQ(leaks[0].bytes, 5 * 320 + 131072);
        CHECK_EQ(leaks[0].site[0], 0);
        CHECK_EQ(leaks[1].objects, BLOCKS * THREADS);
        OK(gpurt_heap_report(rt, &b.args.heap, false, text, sizeof text, &length, &err));
        CHECK_MSG(strstr(text, "262 live objects of 151104 bytes"), "%s", text);
        CHECK_MSG(strstr(text, "6 objects of code that was not compiled to check"), "%s",
                  text);
        OK(gpurt_heap_report(rt, &b.args.heap, true, text, sizeof text, &length, &err));
        CHECK_MSG(strstr(text, "\"unchecked_objects\":6,"), "%s", text);
        checks_close(&b);
    }
}

/* What no call has found yet is found with the report: an overrun of an object that is never freed,
 * and a write to one that is kept back. A call that finds it later does not make it two. */
static void test_damage(void)
{
    char text[4096];
    size_t length;
    checks_stage_t b;

    checks_open(&b, GPURT_CHECKS_FULL, 6 * MIB);
    b.args.size = 100;
    RUN(&b, checks_alloc);
    b.args.mode = 1;
    b.args.at = 100;
    RUN(&b, checks_write);
    OK(gpurt_heap_report(rt, &b.args.heap, false, text, sizeof text, &length, &err));
    CHECK_MSG(strstr(text, "1 live object of 100 bytes, 1 fault"), "%s", text);
    CHECK_MSG(strstr(text, "was written past its end, byte 100"), "%s", text);
    CHECK_MSG(strstr(text, "found by the host"), "%s", text);
    b.args.mode = THREADS + 3;
    b.args.at = 0;
    RUN(&b, checks_free);
    b.args.mode = 1;
    b.args.at = 8;
    RUN(&b, checks_write);
    OK(gpurt_heap_report(rt, &b.args.heap, false, text, sizeof text, &length, &err));
    CHECK_MSG(strstr(text, "0 live objects of 0 bytes, 2 faults"), "%s", text);
    CHECK_MSG(strstr(text, "was written after it was freed, byte 8"), "%s", text);
    CHECK_MSG(strstr(text, "freed at ") && strstr(text, "by block 1 thread 3"), "%s", text);
    OK(gpurt_heap_report(rt, &b.args.heap, true, text, sizeof text, &length, &err));
    CHECK_MSG(strstr(text, "\"fault_count\":2,"), "%s", text);
    checks_close(&b);
}

/* ---- options ------------------------------------------------------------------------- */

static void test_options(void)
{
    gpurt_heap_options_t odd = {.checks = 9},
                         small = {.bytes = 900 << 10, .checks = GPURT_CHECKS_FULL};
    gpurt_heap_leak_t leak;
    gpurt_heap_stats_t stats;
    gpurt_heap_t heap;
    char text[512];
    size_t length;
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
    OK(gpurt_heap_report(rt, &heap, false, text, sizeof text, &length, &err));
    CHECK_CONTAINS(text,
                   "checks off: nothing is known of its objects"); /* not: none live */
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
    {"options", test_options}, {"pattern", test_pattern},     {"guards", test_guards},
    {"used", test_used},       {"kept", test_kept},           {"bad_frees", test_bad_frees},
    {"leaks", test_leaks},     {"unchecked", test_unchecked}, {"damage", test_damage},
};

int main(int argc, char **argv)
{
    return stage_parts(argc, argv, parts, sizeof parts / sizeof parts[0]);
}
