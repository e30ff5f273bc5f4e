/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of thread, warp, block and heap, on both back ends: objects never share a byte on
 * their way through, each level takes what the one below has no room for, a warp that lacks
 * what another has gets it, and the levels' counts say so. Many frees by one call. */
#include "place_stage.h"

static uint64_t sum(const uint64_t *levels)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < GPURT_PLACES; i++)
        all += levels[i];
    return all;
}

/* In a heap that checks no level keeps anything. */
static bool keeps(const place_stage_t *s)
{
    return !s->args.heap.watch;
}

static void test_storms(void)
{
    for (uint32_t i = 0; i < 6; i++) {
        place_stage_t s;
        uint64_t served = 0;
        gpurt_heap_stats_t stats;

        place_stage_open(&s, i < 4 ? 8 << 20 : 600 << 10, 300);
        s.args.max_bytes = i % 2 ? 3000 : 100;
        s.args.alike = i / 2 % 2;
        s.args.rounds = 20;
        for (s.args.seed = 1; s.args.seed < 4; s.args.seed++)
            served += place_run_storm(&s);
        stats = place_stats(&s);
        CHECK_EQ(sum(stats.counts.xgot), served); /* each object came of one level, */
        CHECK_EQ(sum(stats.counts.xput),
                 served - stats.live); /* ... went to one, or stayed */
        CHECK((stats.counts.xgot[GPURT_PLACE_THREAD] > 0) == keeps(&s));
        CHECK((stats.counts.xgot[GPURT_PLACE_WARP] > 0) == keeps(&s));
        CHECK(stats.counts.xgot[GPURT_PLACE_GLOBAL] > 0);
        RUN(&s, place_drain);
        holding_take(s.args.verdict);
        CHECK_EQ(place_stats(&s).live, 0);
        place_stage_close(&s);
    }
}

/* Rows of 32 go up level by level, and come down to another warp. */
static void test_overflow(uint32_t rows)
{
    uint64_t in_rack = rows - 6 < 32 ? rows - 6 : 32, out[3];
    gpurt_heap_stats_t stats;
    place_stage_t s;

    place_stage_open(&s, 8 << 20, 1);
    s.launch.grid.x = 1;
    s.launch.block.x = 64;
    s.args.rows = rows;
    RUN(&s, place_rows);
    holding_take(s.args.verdict);
    stats = place_stats(&s);
    place_read(out, s.args.out, 3);
    CHECK_EQ(stats.live, 0);
    if (!keeps(&s)) {
        CHECK_EQ(sum(stats.counts.xput), (rows + 3) * 32);
        CHECK_EQ(stats.counts.xput[GPURT_PLACE_GLOBAL], (rows + 3) * 32);
        CHECK_EQ(sum(stats.counts.xgot), (rows + rows + 3) * 32);
        CHECK_EQ(stats.counts.xgot[GPURT_PLACE_GLOBAL], (rows + rows + 3) * 32);
        CHECK_EQ(out[0] + out[1] + out[2], 0);
        place_stage_close(&s);
        return;
    }
    /* The first warp's rows: two in pockets, four in the magazine, up to 32 in the rack;
     * later it takes three, of its pockets and its magazine, and puts them back there. */
    CHECK_EQ(stats.counts.xput[GPURT_PLACE_THREAD], (2 + 2) * 32);
    CHECK_EQ(stats.counts.xput[GPURT_PLACE_WARP], (4 + 1) * 32);
    CHECK_EQ(stats.counts.xput[GPURT_PLACE_BLOCK], in_rack * 32);
    CHECK_EQ(stats.counts.xput[GPURT_PLACE_GLOBAL], (rows - 6 - in_rack) * 32);
    CHECK_EQ(stats.counts.xgot[GPURT_PLACE_THREAD], 2 * 32);
    CHECK_EQ(stats.counts.xgot[GPURT_PLACE_WARP], 32);
    CHECK_EQ(stats.counts.xgot[GPURT_PLACE_BLOCK], in_rack * 32);
    CHECK_EQ(stats.counts.xgot[GPURT_PLACE_GLOBAL], (rows + rows - in_rack) * 32);
    CHECK_EQ(out[0], 0);
    CHECK_EQ(out[1], in_rack); /* all of them the other warp's */
    CHECK_EQ(out[2], 1);       /* and one that was asked for */
    place_stage_close(&s);
}

/* A row that has to go and finds no level with room but the heap. */
static void test_full(void)
{
    enum {
        ROWS = 2 + 4 + 32 /* of pocket, bin and rack */
    };
    gpurt_heap_stats_t stats;
    place_stage_t s;

    place_stage_open(&s, 8 << 20, 1);
    s.launch.grid.x = 1;
    s.launch.block.x = 32;
    s.args.rows = ROWS;
    RUN(&s, place_full);
    holding_take(s.args.verdict);
    stats = place_stats(&s);
    CHECK_EQ(stats.live, 0);
    CHECK_EQ(stats.counts.xgot[GPURT_PLACE_GLOBAL],
             (keeps(&s) ? ROWS + 1 + 1 : ROWS + 1 + ROWS) * 32);
    place_stage_close(&s);
}

static void test_free_warp(void)
{
    uint64_t kept[8], all = 0;
    gpurt_heap_stats_t stats;
    place_stage_t s;

    for (uint32_t rows = 1; rows <= 3000; rows = rows * 5 + 2) {
        place_stage_open(&s, 16 << 20, 8 * rows);
        s.args.rows = rows;
        s.args.max_bytes = 64;
        RUN(&s, place_free_warp);
        place_read(kept, s.args.out, 8);
        all = 0;
        for (uint32_t i = 0; i < 8; i++)
            all += kept[i];
        stats = place_stats(&s);
        CHECK_EQ(stats.live, all);
        CHECK_EQ(all, 8 * ((rows + 10) / 16));
        place_stage_close(&s);
    }
}

/* Of a heap that is none every level gets nothing, and touches nothing. */
static void test_no_heap(void)
{
    static const gpurt_heap_t none;
    place_stage_t s;
    gpurt_heap_t kept;

    place_stage_open(&s, 8 << 20, 300);
    kept = s.args.heap;
    s.args.heap = none;
    s.args.rounds = 8;
    for (uint32_t i = 0; i < 4; i++) {
        holding_verdict_t v;

        s.args.max_bytes = i % 2 ? 40000 : 100;
        s.args.alike = i / 2;
        RUN(&s, place_storm);
        v = holding_take(s.args.verdict);
        CHECK_EQ(v.xserved, 0);
        CHECK(v.xrefused > 0);
    }
    s.args.heap = kept;
    CHECK_EQ(place_stats(&s).live, 0);
    place_stage_close(&s);
}

/* What lies in a pocket already is not taken again, nor given to the heap beside it. A heap that
 * checks has no pockets, and tells: test_heap_checks_served. */
static void test_pocket_twice(void)
{
    enum {
        HELD = 4 * 32
    };
    gpurt_heap_stats_t stats;
    uint64_t cells[HELD];
    place_stage_t s;

    place_stage_open(&s, 8 << 20, HELD);
    if (s.args.heap.watch) {
        place_stage_close(&s);
        return;
    }
    s.launch = (gpurt_launch_t){.grid = {1, 1, 1}, .block = {GPURT_WARP_SIZE, 1, 1}};
    RUN(&s, place_pocket);
    place_read(cells, s.args.cells, HELD);
    for (uint32_t i = 0; i < HELD; i++)
        for (uint32_t k = 0; k < i; k++)
            CHECK_MSG(cells[i] != cells[k], "objects %u and %u are one", k, i);
    OK(gpurt_heap_check(rt, &s.args.heap, &err));
    OK(gpurt_heap_stats(rt, &s.args.heap, &stats, &err));
    CHECK_EQ(stats.live, HELD);
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_TWICE], 2 * 32);
    CHECK_EQ(sum(stats.counts.xgot) - sum(stats.counts.xput), HELD);
    place_stage_close(&s);
}

int main(void)
{
    gpurt_error_t failed = {0};

    if (gpurt_open(NULL, &rt, &failed) != GPURT_OK)
        SKIP("%s", failed.text);
    test_overflow(10);
    test_overflow(50);
    test_full();
    test_pocket_twice();
    test_free_warp();
    test_no_heap();
    test_storms();
    OK(gpurt_close(rt, &err));
    return 0;
}
