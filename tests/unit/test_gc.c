/* SPDX-License-Identifier: Apache-2.0 */
/* The collector, on both back ends: what can be reached stays, byte for byte, also when it is
 * moved; what cannot goes; the young go without a look at the old; kernels work meanwhile;
 * and what cannot be right is answered. */
#include "object_stage.h"

enum {
    MIB = 1 << 20,
    ENTRIES_OF_ALL = 64 /* wherever a warp runs, it takes the lowest that is free */
};

static const setting_t usual = {.heap = {.bytes = 16 * MIB},
                                .objects = 8000,
                                .roots = 16,
                                .sections = 64,
                                .wait_ms = 20000,
                                .blocks = 4,
                                .threads = 64,
                                .active = 32,
                                .rounds = 30,
                                .ops = 4,
                                .cycles = 4,
                                .bytes = 200,
                                .dawdle = 1,
                                .cells = 2000};

static uint64_t cell(stage_t *s, uint32_t i)
{
    uint64_t value;

    stage_read(&value, s->args.cells + i, sizeof value);
    return value;
}

static void collect(stage_t *s, gpurt_gc_kind_t kind)
{
    OK(gpurt_gc_collect(rt, &s->args.gc, kind, &err));
}

/* A list of cell_count / mode objects, and as many others as that leaves. */
static void list(stage_t *s, uint32_t mode)
{
    s->args.mode = mode;
    RUN_AS(s, lane, object_list);
}

static uint64_t follow(stage_t *s)
{
    RUN_AS(s, lane, object_follow);
    stage_verdict(s);
    return cell(s, 0);
}

static void cut(stage_t *s)
{
    OK(gpurt_fill(rt, 0, s->args.gc.roots, 0, s->args.gc.root_count * 8, &err));
    OK(gpurt_sync(rt, &err));
}

/* ---- collections --------------------------------------------------------------------- */

/* A list as deep as it is long: marking goes one by one. */
static void test_list(void)
{
    gpurt_gc_stats_t stats;
    stage_t s;

    stage_open(&s, &usual, 1);
    list(&s, 2);
    CHECK_EQ(stage_stats(&s).objects, 2000);
    collect(&s, GPURT_GC_MAJOR_CYCLE);
    stats = stage_stats(&s);
    CHECK_EQ(stats.objects, 1000);
    CHECK_EQ(stats.freed, 1000);
    CHECK_EQ(stats.marked, 1000);
    CHECK_EQ(stats.bytes, 1000 * (40 + usual.bytes));
    CHECK_EQ(stats.old + stats.dying, 0);
    CHECK(!stats.unfinished);
    CHECK_EQ(follow(&s), 1000);
    stage_settle(&s);
    list(&s, 1); /* entries and memory are used again */
    CHECK_EQ(follow(&s), 2000);
    stage_settle(&s);
    stage_close(&s);
}

/* Who lives through two collections is old: minor ones leave it alone, also when it is out
 * of reach. */
static void test_generations(void)
{
    gpurt_gc_stats_t stats;
    stage_t s;

    stage_open(&s, &usual, 1);
    list(&s, 4);
    collect(&s, GPURT_GC_MINOR_CYCLE); /* 1,500 are garbage */
    stats = stage_stats(&s);
    CHECK_EQ(stats.objects, 500);
    CHECK_EQ(stats.old, 0);
    collect(&s, GPURT_GC_MINOR_CYCLE);
    stats = stage_stats(&s);
    CHECK_EQ(stats.old, 500);
    CHECK_EQ(stats.promoted, 500);
    collect(&s, GPURT_GC_MINOR_CYCLE);
    CHECK_EQ(stage_stats(&s).marked, 0); /* nothing young: nothing to look through */
    CHECK_EQ(follow(&s), 500);
    cut(&s);
    collect(&s, GPURT_GC_MINOR_CYCLE);
    CHECK_EQ(stage_stats(&s).objects, 500);
    collect(&s, GPURT_GC_MAJOR_CYCLE);
    CHECK_EQ(stage_stats(&s).objects, 0);
    stage_close(&s);
}

/* A young object that only an old one refers to, which was written since. */
static void test_old_to_young(void)
{
    stage_t s;

    stage_open(&s, &usual, 1);
    s.args.cell_count = 1;
    list(&s, 1);
    for (uint32_t i = 0; i < 4; i++)
        collect(&s, GPURT_GC_MINOR_CYCLE);
    CHECK_EQ(stage_stats(&s).old, 1);
    RUN_AS(&s, lane, object_hang);
    CHECK_EQ(cell(&s, 0), GPURT_GC_OK);
    for (uint32_t i = 0; i < 4; i++) { /* also in collections after that one */
        collect(&s, GPURT_GC_MINOR_CYCLE);
        CHECK_EQ(stage_stats(&s).objects, 2);
        CHECK_EQ(oracle_count(&s), 2);
    }
    RUN_AS(&s, lane, object_hang); /* in the other's place, which is old by now */
    collect(&s, GPURT_GC_MINOR_CYCLE);
    CHECK_EQ(stage_stats(&s).objects, 3);
    collect(&s, GPURT_GC_MAJOR_CYCLE);
    CHECK_EQ(stage_stats(&s).objects, 2);
    stage_close(&s);
}

/* ---- beside kernels ------------------------------------------------------------------ */

/* The collector's own launches, while mutators run in another stream. */
static void test_beside(void)
{
    gpurt_stream_t stream;
    uint32_t collections = 0;
    object_verdict_t v;
    stage_t s;

    stage_open(&s, &usual, 5);
    OK(gpurt_stream_create(rt, &stream, &err));
    s.launch.stream = stream;
    for (uint32_t launch = 0; launch < 3; launch++) {
        s.args.seed++;
        OK(gpurt_launch(rt, &s.launch, object_mutators, &s.args, &err));
        do {
            collect(&s, collections++ % 3 ? GPURT_GC_MINOR_CYCLE : GPURT_GC_MAJOR_CYCLE);
        } while (gpurt_stream_query(rt, stream, NULL) == GPURT_E_NOT_READY);
        OK(gpurt_stream_sync(rt, stream, &err));
        v = stage_verdict(&s);
        CHECK(v.xsteps > 0);
    }
    OK(gpurt_gc_collect(rt, &s.args.gc, GPURT_GC_MAJOR_CYCLE, &err));
    stage_settle(&s);
    CHECK(stage_stats(&s).freed > 0);
    CHECK_EQ(gpurt_stream_destroy(rt, stream), GPURT_OK);
    stage_close(&s);
}

/* A launch in which a block collects. */
static void test_storm(void)
{
    object_verdict_t v;
    stage_t s;

    stage_open(&s, &usual, 9);
    RUN(&s, object_storm);
    v = stage_verdict(&s);
    CHECK(v.xcycles >= usual.cycles);
    stage_settle(&s);
    stage_close(&s);
}

static void test_waits(void)
{
    stage_t s;

    stage_open(&s, &usual, 1);
    s.lane.block.x = 32;
    RUN_AS(&s, lane, object_waits);
    stage_verdict(&s);
    stage_close(&s);
}

/* What is made while a cycle arms may have been told of an object that nobody else names any more. */
static void test_armed(void)
{
    stage_t s;

    stage_open(&s, &usual, 1);
    s.args.cell_count = 1;
    list(&s, 1);
    s.lane.block.x = 32;
    RUN_AS(&s, lane, object_armed);
    stage_verdict(&s);
    CHECK_EQ(oracle_count(&s), 2);
    CHECK_EQ(stage_stats(&s).objects, 2);
    stage_settle(&s);
    stage_close(&s);
}

/* A section that never ends holds a collection up, for a while; it goes on when the host has
 * closed it. */
static void test_cancelled(void)
{
    setting_t hasty = usual;
    gpurt_gc_stats_t stats;
    stage_t s;

    hasty.wait_ms = 30;
    stage_open(&s, &hasty, 1);
    list(&s, 2);
    s.lane.block.x = 32;
    RUN_AS(&s, lane, object_cancelled);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK_EQ(gpurt_gc_collect(rt, &s.args.gc, GPURT_GC_MAJOR_CYCLE, NULL),
                 GPURT_E_NOT_READY);
        stats = stage_stats(&s);
        CHECK(stats.unfinished);
        CHECK_EQ(stats.open_sections, 1);
        CHECK_EQ(stats.oldest_block, 0);
        CHECK_EQ(stats.objects, 2000);
    }
    OK(gpurt_gc_recover(rt, &s.args.gc, &err));
    s.lane.block.x = 1;
    CHECK_EQ(follow(&s), 1000);
    collect(&s, GPURT_GC_MAJOR_CYCLE); /* the one that was begun */
    stats = stage_stats(&s);
    CHECK(!stats.unfinished);
    CHECK_EQ(stats.objects, 1000);
    stage_settle(&s);
    stage_close(&s);
}

/* ---- compaction ---------------------------------------------------------------------- */

/* One in sixteen of many objects stays: their chunks are given back, and each of them is as
 * it was, under the same handle. The slots that they go to had longer ones last, of which one
 * stays. */
static void test_compact(uint32_t bytes)
{
    setting_t set = usual;
    gpurt_heap_stats_t before, after;
    uint32_t moved = 0;
    stage_t s;

    set.bytes = bytes;
    stage_open(&s, &set, 1);
    list(&s, 16);
    collect(&s, GPURT_GC_MAJOR_CYCLE);
    CHECK_EQ(follow(&s), 125);
    s.args.bytes += 8;
    list(&s, s.args.cell_count);
    collect(&s, GPURT_GC_MAJOR_CYCLE);
    CHECK_EQ(follow(&s), 126);
    OK(gpurt_heap_trim(rt, &s.args.gc.heap, &err));
    OK(gpurt_heap_stats(rt, &s.args.gc.heap, &before, &err));
    OK(gpurt_gc_compact(rt, &s.args.gc, &moved, &err));
    OK(gpurt_heap_check(rt, &s.args.gc.heap, &err));
    OK(gpurt_heap_stats(rt, &s.args.gc.heap, &after, &err));
    CHECK(moved > 0);
    CHECK(after.free_chunks > before.free_chunks);
    CHECK_EQ(after.kept, 0);
    CHECK_EQ(after.live, before.live - before.kept);
    CHECK_EQ(after.live_bytes, before.live_bytes - before.kept_bytes);
    CHECK_EQ(follow(&s), 126);
    CHECK_EQ(oracle_count(&s), 126);
    OK(gpurt_gc_compact(rt, &s.args.gc, &moved, &err));
    CHECK_EQ(moved, 0);
    list(&s, 1); /* what was left free can be had */
    CHECK_EQ(follow(&s), 2126);
    stage_settle(&s);
    stage_close(&s);
}

/* Another collector's handle names no object of this one. */
static void test_two_collectors(void)
{
    stage_t s, other;

    stage_open(&s, &usual, 1);
    stage_open(&other, &usual, 1);
    list(&s, 1);
    list(&other, 1);
    CHECK(cell(&s, 0) >> 32 != cell(&other, 0) >> 32); /* whatever the entry */
    stage_close(&other);
    stage_close(&s);
}

/* ---- answers ------------------------------------------------------------------------- */

static void test_answers(void)
{
    static const uint32_t expected[] = {
        GPURT_GC_DEAD,         GPURT_GC_DEAD,         GPURT_GC_FOREIGN,
        GPURT_GC_FOREIGN,      GPURT_GC_FOREIGN,      GPURT_GC_NO_SECTION,
        GPURT_GC_NOT_A_HANDLE, GPURT_GC_NOT_A_HANDLE, GPURT_GC_NOT_A_HANDLE,
        GPURT_GC_NO_SECTION,   GPURT_GC_DEAD,         GPURT_GC_NO_SECTION,
        GPURT_GC_NO_TYPE,      GPURT_GC_NO_TYPE,      GPURT_GC_NO_MEMORY};
    enum {
        COUNT = sizeof expected / sizeof expected[0]
    };
    uint64_t cells[COUNT + 1];
    setting_t few = usual;
    gpurt_gc_stats_t stats;
    stage_t s;

    few.objects = ENTRIES_OF_ALL;
    stage_open(&s, &few, 1);
    s.args.cell_count = 2;
    list(&s, 2); /* cells[0] stays, cells[1] dies */
    collect(&s, GPURT_GC_MAJOR_CYCLE);
    cells[0] = cell(&s, 1);
    s.args.cell_count = 8;
    list(&s, 9); /* one in front of the other, seven more */
    CHECK_EQ((uint32_t)cell(&s, 0), (uint32_t)cells[0]); /* in the dead one's entry */
    CHECK(cell(&s, 0) != cells[0]);
    OK(gpurt_copy(rt, 0, s.args.cells, cells, sizeof cells[0], &err));
    RUN_AS(&s, lane, object_answers);
    stage_read(cells, s.args.cells, sizeof cells);
    for (uint32_t i = 0; i < COUNT; i++)
        CHECK_MSG(cells[i] == expected[i], "call %u: %llu, not %u", i,
                  (unsigned long long)cells[i], expected[i]);
    CHECK_EQ(cells[COUNT], 0);
    stats = stage_stats(&s);
    CHECK_EQ(stats.objects, 9); /* nothing was made or written */
    CHECK_EQ(stats.answers[GPURT_GC_DEAD], 3);
    CHECK_EQ(stats.answers[GPURT_GC_NO_TYPE], 2);
    CHECK_EQ(follow(&s), 2);
    stage_close(&s);
}

/* An entry is used again for so long that the number of its lives comes round: no handle is
 * ever the one that means none, and none comes twice. */
static void test_lives(void)
{
    setting_t one = usual;
    uint64_t handles[20];
    stage_t s;

    one.objects = 1;
    stage_open(&s, &one, 1);
    s.args.cell_count = 1;
    for (uint32_t i = 0; i < 20; i++) {
        list(&s, 1);
        handles[i] = cell(&s, 0);
        CHECK(handles[i] != 0);
        for (uint32_t before = 0; before < i; before++)
            CHECK(handles[before] != handles[i]);
        CHECK_EQ(follow(&s), 1);
        cut(&s);
        collect(&s, GPURT_GC_MAJOR_CYCLE);
    }
    stage_settle(&s);
    stage_close(&s);
}

/* The table is full, the heap is full: NULL, and all is well after a collection. */
static void test_full(void)
{
    setting_t few = usual, small = usual;
    gpurt_gc_stats_t stats;
    stage_t s;

    few.objects = 100;
    stage_open(&s, &few, 1);
    list(&s, 3);
    stats = stage_stats(&s);
    CHECK_EQ(stats.objects, 100);
    CHECK_EQ(stats.answers[GPURT_GC_NO_ENTRY], 1900);
    stage_settle(&s);
    list(&s, 3);
    CHECK_EQ(stage_stats(&s).objects, 100);
    stage_close(&s);

    small.heap.bytes = 1 * MIB;
    small.bytes = 4000;
    stage_open(&s, &small, 1);
    list(&s, 3);
    stats = stage_stats(&s);
    CHECK(stats.answers[GPURT_GC_NO_MEMORY] > 0);
    CHECK_EQ(stats.objects + stats.answers[GPURT_GC_NO_MEMORY], 2000);
    stage_settle(&s);
    stage_close(&s);
}

static void test_bad_input(void)
{
    gpurt_gc_options_t many = {.objects = 1u << 30}, no_types = {.type_count = 1};
    gpurt_heap_t gone = {0};
    gpurt_gc_stats_t stats;
    gpurt_gc_t gc, copy;
    stage_t s;

    stage_open(&s, &usual, 1);
    CHECK_EQ(gpurt_gc_create(rt, &s.args.gc.heap, NULL, NULL, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_gc_create(rt, &s.args.gc.heap, &many, &gc, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_gc_create(rt, &s.args.gc.heap, &no_types, &gc, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_gc_create(rt, &gone, NULL, &gc, NULL), GPURT_E_HANDLE);
    CHECK(gc.control == NULL);
    CHECK_EQ(gpurt_gc_collect(rt, &s.args.gc, (gpurt_gc_kind_t)7, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_gc_collect(rt, NULL, GPURT_GC_MAJOR_CYCLE, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_gc_stats(rt, &s.args.gc, NULL, NULL), GPURT_E_INVALID);
    OK(gpurt_gc_create(rt, &s.args.gc.heap, NULL, &gc, &err));
    copy = gc;
    OK(gpurt_gc_destroy(rt, &gc, &err));
    OK(gpurt_gc_destroy(rt, &gc, &err));
    OK(gpurt_gc_destroy(rt, NULL, &err));
    CHECK_EQ(gpurt_gc_collect(rt, &copy, GPURT_GC_MAJOR_CYCLE, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_gc_compact(rt, &copy, NULL, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_gc_recover(rt, &copy, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_gc_stats(rt, &copy, &stats, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_gc_destroy(rt, &copy, NULL), GPURT_E_HANDLE);
    stage_close(&s);
}

int main(void)
{
    gpurt_error_t failed = {0};

    if (gpurt_open(NULL, &rt, &failed) != GPURT_OK)
        SKIP("%s", failed.text);
    test_list();
    test_generations();
    test_old_to_young();
    test_storm();
    test_beside();
    test_waits();
    test_armed();
    test_cancelled();
    test_compact(0);
    test_compact(1001);
    test_two_collectors();
    test_answers();
    test_lives();
    test_full();
    test_bad_input();
    OK(gpurt_close(rt, &err));
    return 0;
}
