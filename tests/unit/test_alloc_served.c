/* SPDX-License-Identifier: Apache-2.0 */
/* What the allocator serves, from kernels, on both back ends: objects never share a byte,
 * whoever frees them; they begin where they must; what is freed can be had again, by whoever
 * asks; and after all is freed every chunk is back. test_alloc_refused has what it does not. */
#include "alloc_stage.h"
#include "stage_parts.h"

static const gpurt_heap_options_t roomy = {.bytes = 64 * MIB};
static const gpurt_heap_options_t tight = {.bytes = 2 * MIB, .spread = 2, .shards = 5};
static const gpurt_heap_options_t narrow = {.bytes = 600 << 10, .shards = 1};

/* ---- storms ---------------------------------------------------------------------------- */

static void test_storm(uint32_t min_bytes, uint32_t max_bytes, uint32_t cells,
                       const gpurt_heap_options_t *options, bool may_be_full)
{
    stage_t s;
    alloc_verdict_t v;

    stage_open(&s, options, cells);
    s.args.min_bytes = min_bytes;
    s.args.max_bytes = max_bytes;
    s.args.rounds =
        min_bytes < 16384 ? 60 : 12; /* one lane writes and reads all of an object */
    for (uint32_t launch = 0; launch < 3; launch++) {
        s.args.seed++;
        RUN(&s, alloc_storm);
        v = stage_verdict(&s);
        CHECK(v.xserved > 0);
        CHECK_MSG(may_be_full || v.xnull == 0, "%u of %u requests of %u..%u got NULL",
                  v.xnull, v.xnull + v.xserved, min_bytes, max_bytes);
        stage_compare(&s);
    }
    stage_drain(&s);
    stage_close(&s);
}

static void storm_words(void)
{
    test_storm(4, 64, 512, &roomy, false);
}
static void storm_slots(void)
{
    test_storm(16, 8192, 512, &roomy, false);
}
static void storm_rows(void)
{
    test_storm(20000, 200000, 64, &roomy, false);
}
static void storm_tight(void)
{
    test_storm(4, 9000, 700, &tight, true);
}
static void storm_narrow(void)
{
    test_storm(4, 3000, 300, &narrow, true);
}
static void storm_tight_rows(void)
{
    test_storm(1000, 200000, 300, &tight, true);
}

/* ---- to the last one ------------------------------------------------------------------- */

/* Lanes take until nothing is left: nearly all bytes are served, no object twice; then one
 * freed object can be had again at once, and all of them. */
static void test_full(uint32_t bytes, uint32_t percent)
{
    gpurt_heap_options_t options = {.bytes = 8 * MIB, .shards = 3, .spread = 2};
    uint32_t cells = 2 * (options.bytes / bytes), live, kept;
    uint64_t served;
    stage_t s;

    stage_open(&s, &options, cells);
    s.args.min_bytes = s.args.max_bytes = bytes;
    live = stage_fill(&s);
    CHECK_EQ(stage_compare(&s), live);
    served = (uint64_t)live * bytes;
    CHECK_MSG(served * 100 >= options.bytes * percent, "%u bytes: only %llu of %llu served",
              bytes, (unsigned long long)served, (unsigned long long)options.bytes);

    s.args.mode = 2; /* every other object is freed ... */
    RUN(&s, alloc_drain);
    kept = stage_compare(&s);
    CHECK(kept > live / 3 && kept < live / 3 * 2);
    CHECK_EQ(stage_fill(&s), live - kept); /* ... and its place can be had again, */
    CHECK_EQ(stage_compare(&s), live);
    stage_drain(&s);
    CHECK_EQ(stage_fill(&s), live); /* as can all of it */
    stage_drain(&s);
    stage_close(&s);
}

static void test_fulls(void)
{
    test_full(16, 90);
    test_full(48, 90);
    test_full(1000, 85);
    test_full(16384, 80);
    test_full(65536, 80);
}

/* Chunks that runs hold in reserve are found when nothing else is left. */
static void test_reserve(void)
{
    gpurt_heap_options_t options = {.bytes = 8 * MIB, .shards = 1, .run_chunks = 16};
    gpurt_heap_stats_t stats;
    uint32_t why, large = 0;
    stage_t s;

    stage_open(&s, &options, 4);
    for (uint32_t i = 0; i < 16 + 32 + 1; i++) /* into the third run, of 4 chunks */
        stage_one(&s, 4096, 16, &why);
    stats = stage_stats(&s);
    CHECK_EQ(stats.classes[gpurt_class_of(4096)].chunks, 1 + 2 + 4);
    while (stage_one(&s, 65536, 16, &why))
        large++;
    CHECK_EQ(large, stats.chunks - 1 - 2 - 1);
    stats = stage_stats(&s);
    CHECK_EQ(stats.classes[gpurt_class_of(4096)].chunks, 1 + 2 + 1);
    CHECK_EQ(stats.classes[gpurt_class_of(4096)].reusable, 15);
    stage_close(&s);

    stage_open(&s, &options, 4); /* the same for another class */
    for (uint32_t i = 0; i < 16 + 32 + 1; i++)
        stage_one(&s, 4096, 16, &why);
    for (large = 0; stage_one(&s, 16384, 16, &why); large++)
        ;
    CHECK_EQ(large, 4 * (stats.chunks - 1 - 2 - 1));
    stage_close(&s);
}

/* Half of a chunk is worth taking up; a little less is not, while there are new ones. */
static void test_half(void)
{
    gpurt_heap_options_t options = {.bytes = 8 * MIB, .shards = 1, .run_chunks = 1};

    for (uint32_t freed = 7; freed <= 8; freed++) {
        gpurt_heap_stats_t stats;
        uint64_t objects[16];
        uint32_t why;
        stage_t s;

        stage_open(&s, &options, 4);
        for (uint32_t i = 0; i < 16; i++)
            objects[i] = stage_one(&s, 4096, 16, &why);
        for (uint32_t i = 0; i < freed; i++)
            stage_free_one(&s, objects[2 * i]);
        CHECK(stage_one(&s, 4096, 16, &why));
        stats = stage_stats(&s);
        CHECK_EQ(stats.counts.xreused, freed == 8 ? 1 : 0);
        CHECK_EQ(stats.classes[gpurt_class_of(4096)].chunks, freed == 8 ? 1 : 2);
        stage_close(&s);
    }
}

/* ... as are slots of another shard's run. */
static void test_steal(void)
{
    gpurt_heap_options_t options = {.bytes = 2 * MIB, .shards = 4, .spread = 2};
    gpurt_heap_stats_t stats;
    uint32_t why, served = 0;
    stage_t s;

    stage_open(&s, &options, 4);
    s.launch.grid.x = 1;
    s.launch.block.x = 128; /* warps of four shards */
    for (s.args.mode = 1; s.args.mode < 4; s.args.mode++)
        CHECK(stage_one(&s, 16384, 16, &why));
    s.args.mode = 0;
    while (stage_one(&s, 16384, 16, &why))
        served++;
    stats = stage_stats(&s);
    CHECK_EQ(served, 4 * stats.chunks - 3);
    CHECK(stats.counts.xstolen > 0);
    stage_close(&s);
}

/* A chunk can be left in a set of a class that it is no longer of: whoever finds it there looks
 * at what it is. */
static void test_left_in_a_set(void)
{
    gpurt_heap_options_t options = {.bytes = 2 * MIB, .shards = 1};
    const uint32_t c = gpurt_class_of(256);
    uint64_t first, second, third, set[3] = {0, 1, 1}; /* a leaf, the branch and the root */
    const gpurt_heap_t *h;
    uint32_t why, chunk;
    stage_t s;

    stage_open(&s, &options, 4);
    h = &s.args.heap;
    CHECK_EQ(h->tree_words, 3);
    first = stage_one(&s, 64, 16, &why);
    second = stage_one(&s, 64, 16, &why);
    stage_free_one(&s, first);
    chunk = (uint32_t)((first - (uint64_t)(uintptr_t)h->chunks) >> GPURT_CHUNK_SHIFT);
    set[0] = 1ull << chunk;
    OK(gpurt_copy(rt, 0, h->trees + gpurt_tree_good(c) * h->tree_words, set, sizeof set,
                  &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    third = stage_one(&s, 256, 16, &why);
    CHECK((uint32_t)((third - (uint64_t)(uintptr_t)h->chunks) >> GPURT_CHUNK_SHIFT) !=
          chunk);
    stage_free_one(&s, third);
    stage_free_one(&s, second);
    stage_close(&s);
}

/* ---- where they begin ------------------------------------------------------------------ */

static void test_alignment(void)
{
    gpurt_heap_options_t options = {.bytes = 4 * MIB};
    stage_t s;
    uint32_t why;

    stage_open(&s, &options, 2);
    for (uint32_t align = 1; align <= 65536; align *= 2)
        for (uint32_t size = 1; size <= 70000; size = size * 3 + 1) {
            uint64_t object = stage_one(&s, size, align, &why);

            CHECK_EQ(why, GPURT_ALLOC_OK);
            CHECK_EQ(object % align, 0);
            stage_free_one(&s, object);
        }
    for (uint32_t size = 16; size <= 32768; size *= 2) {
        uint64_t object = stage_one(&s, size, 16, &why);

        CHECK_EQ(object % size, 0); /* powers of two are aligned to themselves */
        stage_free_one(&s, object);
    }
    stage_free_one(&s, stage_one(&s, 0, 16, &why));
    CHECK_EQ(stage_stats(&s).live, 0);
    stage_close(&s);
}

/* Lanes of a warp that want alike but for the alignment, where only slots of a larger class are
 * left: those serve the ones that they can, and no others. */
static void test_alignment_full(void)
{
    gpurt_heap_options_t options = {.bytes = 2 * MIB, .shards = 1};
    uint64_t *cells, none[GPURT_WARP_SIZE] = {0};
    stage_t s;

    stage_open(&s, &options, 4096);
    s.args.min_bytes = s.args.max_bytes = 640;
    stage_fill(&s);
    s.args.mode = 2;
    RUN(&s, alloc_drain); /* every other slot is free */
    OK(gpurt_copy(rt, 0, s.args.cells, none, sizeof none, &err));
    s.args.min_bytes = 512;
    RUN(&s, alloc_mixed);
    stage_verdict(&s);
    cells = stage_cells(&s);
    for (uint32_t i = 0; i < GPURT_WARP_SIZE; i++)
        CHECK_EQ(cells[i] != 0, i % 2 == 0);
    stage_close(&s);
}

/* ---- of whom they are asked ------------------------------------------------------------ */

/* Many for a warp by one call: all apart, and all there is when there is not enough. */
static void test_warp(void)
{
    static const uint32_t counts[] = {1, 32, 777, 5000};
    for (uint32_t i = 0; i < 8; i++) {
        uint32_t n = counts[i % 4], warps = 8;
        gpurt_heap_stats_t stats;
        stage_t s;

        stage_open(&s, i < 4 ? &roomy : &tight, n * warps);
        s.args.mode = n;
        s.args.min_bytes = i < 4 ? 40 : 1000;
        RUN(&s, alloc_warp);
        CHECK_EQ(stage_compare(&s), stage_verdict(&s).xserved);
        stats = stage_stats(&s);
        if (i < 4)
            CHECK_EQ(stats.live, n * warps);
        else if (stats.live < n * warps) /* of 8 warps each is refused once */
            CHECK(stats.free_chunks == 0 && stats.counts.xrefused[GPURT_ALLOC_FULL] > 0);
        stage_drain(&s);
        stage_close(&s);
    }
}

static void test_magazine(void)
{
    gpurt_heap_options_t options = {.bytes = 16 * MIB}, small = {.bytes = 1 * MIB};
    uint64_t *cells;
    stage_t s;

    for (uint32_t i = 0; i < 6; i++) {
        stage_open(&s, i < 4 ? &options : &small, 500);
        s.args.min_bytes = 4;
        s.args.max_bytes = i % 2 ? 40000 : 100;
        s.args.rounds = 40;
        s.args.seed = i;
        for (s.args.mode = 0; s.args.mode < 2; s.args.mode++) {
            RUN(&s, alloc_magazine);
            CHECK(stage_verdict(&s).xserved > 0);
            stage_compare(&s);
        }
        stage_drain(&s);
        stage_close(&s);
    }
    for (uint32_t size = 64; size <= 256; size *= 4) {
        stage_open(&s, &options, 2 * 4 * 64);
        s.args.rounds = 10;
        s.args.min_bytes = size;
        RUN(&s, alloc_magazine_row);
        stage_verdict(&s);
        cells = stage_cells(&s);
        for (uint32_t i = 0; i < 4 * 64; i++)
            CHECK_EQ(cells[2 * i], cells[2 * i + 1]); /* the row that was given back */
        CHECK_EQ(stage_stats(&s).live, 2 * 4 * 64);   /* not flushed: with the program */
        s.args.mode = 1;
        RUN(&s, alloc_magazine_row);
        CHECK_EQ(stage_stats(&s).live, 2 * 4 * 64);
        CHECK_EQ(stage_stats(&s).counts.xbad_frees[GPURT_FREE_TWICE], 0);
        stage_close(&s);
    }
}

/* Rows beside a magazine's first serve whole warps, too; what has no place goes to the heap. So do
 * objects that do not lie side by side, which a heap gives now and then where warps meet. */
static void test_magazine_bursts(void)
{
    gpurt_heap_options_t options = {.bytes = 16 * MIB};
    uint32_t lanes = 4 * 64, kept, live;
    stage_t s;

    for (uint32_t rows = 3; rows <= 7; rows += 2) {
        stage_open(&s, &options, 2);
        s.args.min_bytes = 64;
        s.args.rounds = 10;
        s.args.mode = rows;
        RUN(&s, alloc_magazine_burst);
        CHECK_EQ(stage_verdict(&s).xnull, 0);
        kept = (rows < 4 ? rows : 4) * lanes; /* not flushed */
        live = (uint32_t)stage_stats(&s).live;
        CHECK_MSG(live <= kept && live > kept - kept / 4, "%u live of %u", live, kept);
        CHECK_EQ(stage_stats(&s).counts.xbad_frees[GPURT_FREE_TWICE], 0);
        stage_close(&s);
    }
}

/* Lanes that want many sizes are served by the heap, and where it is full by a row. */
static void test_magazine_mixed(void)
{
    gpurt_heap_options_t options = {.bytes = 16 * MIB}, full = {.bytes = 1 * MIB};
    gpurt_heap_stats_t stats;
    stage_t s;

    stage_open(&s, &options, 2);
    s.launch = (gpurt_launch_t){.grid = {1, 1, 1}, .block = {GPURT_WARP_SIZE, 1, 1}};
    RUN(&s, alloc_magazine_mixed);
    stats = stage_stats(&s);
    CHECK_EQ(stage_verdict(&s).xserved, GPURT_WARP_SIZE);
    CHECK_EQ(stats.live, GPURT_WARP_SIZE + 4); /* the row, and what was not given back */
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_TWICE], 4);
    stage_close(&s);

    stage_open(&s, &full, 2);
    s.launch = (gpurt_launch_t){.grid = {1, 1, 1}, .block = {GPURT_WARP_SIZE, 1, 1}};
    s.args.mode = 1;
    RUN(&s, alloc_magazine_mixed);
    CHECK_EQ(stage_stats(&s).live, stage_verdict(&s).xserved);
    stage_close(&s);
}

static void test_default(void)
{
    gpurt_heap_options_t options = {.bytes = 4 * MIB, .make_default = true};
    stage_t s, second;

    stage_open(&s, &options, 200);
    stage_open(&second, NULL, 1);
    s.args.min_bytes = 100;
    s.args.mode = 64;
    RUN(&s, alloc_default);
    CHECK_EQ(stage_compare(&s), 200);
    RUN(&s, alloc_default);
    CHECK_EQ(stage_compare(&s), 200);
    CHECK_EQ(stage_stats(&second).live, 0);
    s.args.mode = 0;
    RUN(&s, alloc_default);
    CHECK_EQ(stage_stats(&s).live, 0);
    OK(gpurt_heap_set_default(rt, &second.args.heap, &err));
    s.args.mode = 16;
    RUN(&s, alloc_default);
    CHECK_EQ(stage_stats(&s).live, 0);
    CHECK_EQ(stage_stats(&second).live, 200);
    stage_close(&second); /* and with it the default */
    OK(gpurt_fill(rt, 0, s.args.cells, 0, 1600, &err));
    RUN(&s, alloc_default);
    CHECK_EQ(stage_cells(&s)[0], 0);
    stage_close(&s);
}

static const stage_part_t parts[] = {
    {"alignment", test_alignment},
    {"alignment_full", test_alignment_full},
    {"set", test_left_in_a_set},
    {"reserve", test_reserve},
    {"half", test_half},
    {"steal", test_steal},
    {"default", test_default},
    {"warp", test_warp},
    {"magazine", test_magazine},
    {"magazine_bursts", test_magazine_bursts},
    {"magazine_mixed", test_magazine_mixed},
    {"full", test_fulls},
    {"storm_words", storm_words},
    {"storm_slots", storm_slots},
    {"storm_rows", storm_rows},
    {"storm_tight", storm_tight},
    {"storm_narrow", storm_narrow},
    {"storm_tight_rows", storm_tight_rows},
};

int main(int argc, char **argv)
{
    return stage_parts(argc, argv, parts, sizeof parts / sizeof parts[0]);
}
