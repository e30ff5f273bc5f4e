/* SPDX-License-Identifier: Apache-2.0 */
/* A heap that checks serves whoever asks, at either level: lanes in a storm, whole warps, code
 * that does not check, gpurt's own in another's name, pools, a block that is cancelled. Who does
 * nothing wrong is told nothing. test_heap_checks has who does. */
#include "heap_checks_stage.h"
#include "stage_parts.h"

#include <gpurt/gc.h>
#include <gpurt/reclaim.h>

/* ---- nothing wrong ------------------------------------------------------------------- */

static void test_silent(void)
{
    gpurt_heap_stats_t stats;
    uint32_t count;
    checks_stage_t b;

    for (uint32_t level = GPURT_CHECKS_OFF; level <= GPURT_CHECKS_FULL; level++) {
        checks_open(&b, level, 16 * MIB);
        for (b.args.seed = 1; b.args.seed < 4; b.args.seed++) {
            b.args.count = 40;
            RUN(&b, checks_storm);
            checks_silent(&b);
        }
        b.args.count = 70;
        b.args.size = 40;
        for (b.args.mode = 0; b.args.mode < 2; b.args.mode++) {
            RUN(&b, checks_warp);
            checks_silent(&b);
        }
        OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
        CHECK_EQ(stats.live - stats.kept, BLOCKS * 2 * 70);
        OK(gpurt_heap_leaks(rt, &b.args.heap, NULL, 0, &count, &err));
        CHECK_EQ(count, level > GPURT_CHECKS_OFF);
        checks_close(&b);

        checks_open(&b, level, 16 * MIB); /* too large for a warp's request */
        b.args.count = 70;
        b.args.size = GPURT_SMALL_MAX + 1;
        RUN(&b, checks_warp);
        checks_silent(&b);
        OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
        CHECK_EQ(stats.counts.xrefused[GPURT_ALLOC_TOO_LARGE], BLOCKS * 2);
        checks_close(&b);
    }
}

/* Code that does not check, in a heap that does: nothing is told, nothing breaks. */
static void test_mixed(void)
{
    gpurt_heap_options_t options = {.bytes = 16 * MIB, .checks = GPURT_CHECKS_FULL};
    gpurt_heap_fault_t f;
    uint64_t count;
    checks_stage_t b;
    stage_t s;

    stage_open(&s, &options, 600);
    checks_open(&b, GPURT_CHECKS_OFF, MIB);
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

/* No call of the allocator ends a lane, though its block is cancelled. */
static void test_cancelled(void)
{
    for (uint32_t level = GPURT_CHECKS_CHEAP; level <= GPURT_CHECKS_FULL; level++) {
        gpurt_heap_stats_t stats;
        uint64_t live;
        checks_stage_t b;

        checks_open(&b, level, MIB);
        b.args.size = 100;
        b.args.count = CELLS - 1;
        RUN(&b, checks_fill);
        OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
        live = stats.live;
        CHECK(live > 0 && stats.counts.xrefused[GPURT_ALLOC_FULL] > 0);
        RUN(&b, checks_cancelled);
        CHECK_EQ(checks_cell(&b, CELLS - 1), 2);
        OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
        CHECK_EQ(stats.live, live - 1);
        for (uint32_t i = 0; i < GPURT_FREE_FAULTS; i++)
            CHECK_EQ(stats.counts.xbad_frees[i], 0);
        checks_silent(&b);
        checks_close(&b);
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
    checks_stage_t b;

    checks_open(&b, GPURT_CHECKS_OFF, MIB);
    for (b.args.count = 1; b.args.count <= ROUNDS; b.args.count++) {
        OK(gpurt_fill(rt, 0, b.args.cells, 0, CELLS * sizeof(uint64_t), &err));
        memset(seen, 0, sizeof seen);
        RUN(&b, checks_tally);
        total = checks_cell(&b, 0);
        CHECK_EQ(total, BLOCKS * THREADS * b.args.count);
        for (uint32_t i = 0; i < BLOCKS * THREADS; i++) {
            uint64_t mine = checks_cell(&b, 1 + i);

            if (i % 3 == 0)
                CHECK(mine >= 1 && mine <= total);
            if (i % 3 == 2)
                CHECK(mine < total && !seen[mine]++);
        }
    }
    checks_close(&b);
}

/* ---- in the name of another ---------------------------------------------------------- */

/* What the heap is asked for by gpurt's own code counts as the line's that asked for it. */
static void test_passed_on(void)
{
    static const gpurt_gc_type_t type = {.tail = GPURT_GC_NO_TAIL};
    gpurt_gc_options_t options = {.type_count = 1, .types = &type};
    gpurt_heap_leak_t leaks[2];
    uint32_t count;

    for (uint32_t mode = 0; mode < ASKED_COUNT; mode++) {
        checks_stage_t b;

        checks_open(&b, GPURT_CHECKS_CHEAP, 2 * MIB);
        OK(gpurt_refs_create(rt, &b.args.heap, NULL, &b.args.refs, &err));
        OK(gpurt_gc_create(rt, &b.args.heap, &options, &b.args.gc, &err));
        b.launch = (gpurt_launch_t){.grid = {1, 1, 1}, .block = {32, 1, 1}};
        b.args.size = 100;
        b.args.mode = mode;
        RUN(&b, checks_passed_on);
        OK(gpurt_heap_leaks(rt, &b.args.heap, leaks, 2, &count, &err));
        CHECK_MSG(count == 1, "mode %u: %u places", mode, count);
        /* of a block's arena lanes share what they ask for together, if they do */
        if (mode >= ASKED_BLOCK_ARENA)
            CHECK(leaks[0].objects >= 1 && leaks[0].objects <= GPURT_WARP_SIZE);
        else
            CHECK_EQ(leaks[0].objects, 1);
        checks_silent(&b); /* reads where the calls stand */
        checks_place(&b, "passed on", leaks[0].site, LINE_LEAK);
        OK(gpurt_gc_destroy(rt, &b.args.gc, &err));
        OK(gpurt_refs_destroy(rt, &b.args.refs, &err));
        checks_close(&b);
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
    checks_stage_t b;

    checks_open(&b, level, 2 * MIB);
    b.launch = (gpurt_launch_t){.grid = {1, 1, 1}, .block = {32, 1, 1}};
    b.args.size = 100;
    b.args.mode = mode;
    RUN(&b, checks_places);
    CHECK_EQ(checks_faults(&b, &f, 1), what != GPURT_WRONG_NONE);
    if (what) {
        CHECK_EQ(f.what, what);
        CHECK_EQ(f.object, checks_cell(&b, 0));
        CHECK_EQ(f.size, 100);
        checks_place(&b, "asked", f.site, LINE_ALLOC);
        checks_place(&b, "freed", f.free_site, LINE_FREE);
        checks_place(&b, "found", f.found_site,
                     what == GPURT_WRONG_TWICE ? LINE_AGAIN : LINE_FREE);
    }
    OK(gpurt_heap_leaks(rt, &b.args.heap, &leak, 1, &leaks, &err));
    CHECK_EQ(leaks, mode == 3);
    if (leaks)
        checks_place(&b, "leaked", leak.site, LINE_LEAK);
    OK(gpurt_heap_check(rt, &b.args.heap, &err));
    OK(gpurt_heap_stats(rt, &b.args.heap, &stats, &err));
    CHECK_EQ(stats.live - stats.kept, mode == 3);
    CHECK_EQ(stats.counts.xgot[GPURT_PLACE_GLOBAL], 33); /* no level kept any */
    CHECK_EQ(stats.counts.xgot[GPURT_PLACE_THREAD] + stats.counts.xput[GPURT_PLACE_THREAD],
             0);
    checks_close(&b);
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

static const stage_part_t parts[] = {
    {"silent", test_silent}, {"mixed", test_mixed},         {"cancelled", test_cancelled},
    {"tally", test_tally},   {"passed_on", test_passed_on}, {"pools", test_pools},
};

int main(int argc, char **argv)
{
    return stage_parts(argc, argv, parts, sizeof parts / sizeof parts[0]);
}
