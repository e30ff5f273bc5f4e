/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator, from kernels, on both back ends: objects never share a byte, whoever frees
 * them; what is freed can be had again; when memory is out the answer is NULL; and after
 * all is freed every chunk is back. */
#include "alloc_stage.h"

/* ---- tests --------------------------------------------------------------------------- */

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

static const gpurt_heap_options_t roomy = {.bytes = 64 * MIB};
static const gpurt_heap_options_t tight = {.bytes = 2 * MIB, .spread = 2, .shards = 5};
static const gpurt_heap_options_t narrow = {.bytes = 600 << 10, .shards = 1};

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

/* One request; returns the answer, and why it is NULL. */
static uint64_t one(stage_t *s, uint64_t size, uint32_t align, uint32_t *why)
{
    uint64_t *cells;

    s->args.min_bytes = (uint32_t)size;
    s->args.max_bytes = align;
    RUN(s, alloc_one);
    cells = stage_cells(s);
    *why = (uint32_t)cells[1];
    CHECK_EQ(cells[0] == 0, *why != GPURT_ALLOC_OK);
    return cells[0];
}

static void free_one(stage_t *s, uint64_t object)
{
    OK(gpurt_copy(rt, 0, s->args.cells, &object, sizeof object, &err));
    RUN(s, alloc_free_one);
}

static void test_alignment(void)
{
    gpurt_heap_options_t options = {.bytes = 4 * MIB};
    stage_t s;
    uint32_t why;

    stage_open(&s, &options, 2);
    for (uint32_t align = 1; align <= 65536; align *= 2)
        for (uint32_t size = 1; size <= 70000; size = size * 3 + 1) {
            uint64_t object = one(&s, size, align, &why);

            CHECK_EQ(why, GPURT_ALLOC_OK);
            CHECK_EQ(object % align, 0);
            free_one(&s, object);
        }
    for (uint32_t size = 16; size <= 32768; size *= 2) {
        uint64_t object = one(&s, size, 16, &why);

        CHECK_EQ(object % size, 0); /* powers of two are aligned to themselves */
        free_one(&s, object);
    }
    free_one(&s, one(&s, 0, 16, &why));
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

enum {
    VAIN_CLASS = GPURT_CLASS_COUNT - 1 /* of 32 KiB */
};

static uint64_t vain_word(stage_t *s)
{
    uint64_t word;

    OK(gpurt_copy(rt, 0, &word, s->args.heap.currents + VAIN_CLASS, sizeof word, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    CHECK((word & GPURT_RUN_DRY) && !gpurt_run_is_live(word));
    return word;
}

/* The word of a class whose requests are in vain counts them; long before the count runs over
 * into what stands beside it, it begins anew. And none of them is answered out of date. */
static void test_vain(void)
{
    gpurt_heap_options_t options = {.bytes = 2 * MIB, .shards = 1};
    uint32_t why, count = 0;
    uint64_t word, object[64] = {0};
    stage_t s;

    stage_open(&s, &options, 64);
    while ((object[count] = one(&s, 32768, 16, &why)))
        count++;
    CHECK(count >= 8);
    for (uint32_t i = 0; i < 8; i++) {
        uint64_t tickets = i < 4 ? i : GPURT_RUN_WORN - 4 + i;

        word = vain_word(&s);
        word = (word & ~(uint64_t)GPURT_RUN_TICKETS) | tickets;
        OK(gpurt_copy(rt, 0, s.args.heap.currents + VAIN_CLASS, &word, sizeof word, &err));
        CHECK_EQ(one(&s, 32768, 16, &why), 0);
        CHECK_EQ(why, GPURT_ALLOC_FULL);
        word = vain_word(&s);
        CHECK(gpurt_run_ticket(word) <= GPURT_RUN_WORN);
        free_one(&s, object[i]);
        object[i] = one(&s, 32768, 16, &why);
        CHECK_EQ(why, GPURT_ALLOC_OK);
        CHECK_EQ(one(&s, 32768, 16, &why), 0);
    }
    for (uint32_t i = 0; i < count; i++)
        free_one(&s, object[i]);
    CHECK_EQ(stage_stats(&s).live, 0);
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
    first = one(&s, 64, 16, &why);
    second = one(&s, 64, 16, &why);
    free_one(&s, first);
    chunk = (uint32_t)((first - (uint64_t)(uintptr_t)h->chunks) >> GPURT_CHUNK_SHIFT);
    set[0] = 1ull << chunk;
    OK(gpurt_copy(rt, 0, h->trees + gpurt_tree_good(c) * h->tree_words, set, sizeof set,
                  &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    third = one(&s, 256, 16, &why);
    CHECK((uint32_t)((third - (uint64_t)(uintptr_t)h->chunks) >> GPURT_CHUNK_SHIFT) !=
          chunk);
    free_one(&s, third);
    free_one(&s, second);
    stage_close(&s);
}

static void test_reasons(void)
{
    static const gpurt_heap_t none;
    gpurt_heap_options_t options = {.bytes = 2 * MIB, .shards = 1};
    gpurt_heap_stats_t stats;
    uint64_t first[64] = {0};
    uint32_t why, count = 0;
    stage_t s;

    stage_open(&s, &options, 64);
    one(&s, 16, 3, &why);
    CHECK_EQ(why, GPURT_ALLOC_ALIGNMENT);
    one(&s, 16, 0, &why);
    CHECK_EQ(why, GPURT_ALLOC_ALIGNMENT);
    one(&s, 16, 1 << 17, &why);
    CHECK_EQ(why, GPURT_ALLOC_ALIGNMENT);
    one(&s, 3 * MIB, 16, &why);
    CHECK_EQ(why, GPURT_ALLOC_TOO_LARGE);
    while ((first[count] = one(&s, 65536, 16, &why)))
        count++;
    CHECK_EQ(why, GPURT_ALLOC_FULL);
    CHECK_EQ(count, stage_stats(&s).chunks);
    one(&s, 16, 16, &why);
    CHECK_EQ(why, GPURT_ALLOC_FULL);
    for (uint32_t i = 0; i < count; i += 2)
        free_one(&s, first[i]);
    one(&s, 100000, 16, &why);
    CHECK_EQ(why, GPURT_ALLOC_FRAGMENTED);
    stats = stage_stats(&s);
    CHECK_EQ(stats.largest_row, 1);
    CHECK_EQ(stats.counts.xrefused[GPURT_ALLOC_ALIGNMENT], 3);
    CHECK_EQ(stats.counts.xrefused[GPURT_ALLOC_TOO_LARGE], 1);
    CHECK_EQ(stats.counts.xrefused[GPURT_ALLOC_FULL], 2);
    CHECK_EQ(stats.counts.xrefused[GPURT_ALLOC_FRAGMENTED], 1);
    free_one(&s,
             first[1]); /* chunks 0, 1, 2 are free again, and 64 KiB of 16 bytes in one */
    free_one(&s, one(&s, 196608, 16, &why));
    CHECK_EQ(why, GPURT_ALLOC_OK);
    {
        gpurt_heap_t kept = s.args.heap;

        s.args.heap = none;
        one(&s, 16, 16, &why);
        CHECK_EQ(why, GPURT_ALLOC_NO_HEAP);
        s.args.heap = kept;
    }
    stage_close(&s);
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
        one(&s, 4096, 16, &why);
    stats = stage_stats(&s);
    CHECK_EQ(stats.classes[gpurt_class_of(4096)].chunks, 1 + 2 + 4);
    while (one(&s, 65536, 16, &why))
        large++;
    CHECK_EQ(large, stats.chunks - 1 - 2 - 1);
    stats = stage_stats(&s);
    CHECK_EQ(stats.classes[gpurt_class_of(4096)].chunks, 1 + 2 + 1);
    CHECK_EQ(stats.classes[gpurt_class_of(4096)].reusable, 15);
    stage_close(&s);

    stage_open(&s, &options, 4); /* the same for another class */
    for (uint32_t i = 0; i < 16 + 32 + 1; i++)
        one(&s, 4096, 16, &why);
    for (large = 0; one(&s, 16384, 16, &why); large++)
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
            objects[i] = one(&s, 4096, 16, &why);
        for (uint32_t i = 0; i < freed; i++)
            free_one(&s, objects[2 * i]);
        CHECK(one(&s, 4096, 16, &why));
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
        CHECK(one(&s, 16384, 16, &why));
    s.args.mode = 0;
    while (one(&s, 16384, 16, &why))
        served++;
    stats = stage_stats(&s);
    CHECK_EQ(served, 4 * stats.chunks - 3);
    CHECK(stats.counts.xstolen > 0);
    stage_close(&s);
}

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

/* What a warp's request cannot serve it refuses by name; of no heap it gets nothing, as a
 * magazine does, and no memory is touched. */
static void test_warp_refused(void)
{
    static const gpurt_heap_t none;
    gpurt_heap_stats_t stats;
    gpurt_heap_t kept;
    stage_t s;

    stage_open(&s, &roomy, 64 * 8);
    s.args.mode = 64;
    s.args.min_bytes = GPURT_SMALL_MAX + 1;
    RUN(&s, alloc_warp);
    CHECK_EQ(stage_verdict(&s).xserved, 0);
    stats = stage_stats(&s);
    CHECK_EQ(stats.counts.xrefused[GPURT_ALLOC_TOO_LARGE], 8); /* once a warp */
    CHECK_EQ(stats.counts.xrefused[GPURT_ALLOC_FULL], 0);
    s.args.mode = 0; /* none wanted, none refused */
    RUN(&s, alloc_warp);
    CHECK_EQ(stage_stats(&s).counts.xrefused[GPURT_ALLOC_TOO_LARGE], 8);

    kept = s.args.heap;
    s.args.heap = none;
    s.args.mode = 64;
    s.args.min_bytes = 40;
    RUN(&s, alloc_warp);
    CHECK_EQ(stage_verdict(&s).xserved, 0);
    s.args.rounds = 5;
    for (s.args.mode = 0; s.args.mode < 2; s.args.mode++)
        for (s.args.max_bytes = 100; s.args.max_bytes < 50000; s.args.max_bytes *= 400) {
            alloc_verdict_t v;

            RUN(&s, alloc_magazine);
            v = stage_verdict(&s);
            CHECK_EQ(v.xserved, 0);
            CHECK_EQ(v.xnull, 5 * 4 * 64);
        }
    s.args.heap = kept;
    CHECK_EQ(stage_compare(&s), 0);
    stage_close(&s);
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

/* What cannot be freed is counted and does no harm. */
static void test_bad_frees(void)
{
    gpurt_heap_options_t options = {.bytes = 2 * MIB};
    gpurt_heap_stats_t stats;
    uint64_t small, large, other;
    uint32_t why;
    stage_t s;

    stage_open(&s, &options, 2);
    small = one(&s, 48, 16, &why);
    other = one(&s, 48, 16, &why);
    large = one(&s, 200000, 16, &why);
    free_one(&s, 0);
    free_one(&s, (uint64_t)(uintptr_t)s.args.cells);
    free_one(&s, small + 16);
    free_one(&s, large + 16);
    free_one(&s, large + 65536); /* where another chunk begins, up to the last */
    free_one(&s, large + 3 * 65536);
    free_one(&s, large + 3 * 65536 + 32);
    free_one(&s, (uint64_t)(uintptr_t)s.args.heap.chunks - 16);
    free_one(&s, (uint64_t)(uintptr_t)s.args.heap.chunks + options.bytes);
    CHECK_EQ(stage_stats(&s).live, 3);
    CHECK_EQ(stage_stats(&s).counts.xbad_frees[GPURT_FREE_TWICE], 0);
    free_one(&s, large + 4 * 65536); /* what follows it is of the pool */
    CHECK_EQ(stage_stats(&s).counts.xbad_frees[GPURT_FREE_TWICE], 1);
    for (uint32_t i = 0; i < 3; i++) {
        free_one(&s, small);
        free_one(&s, large);
    }
    stats = stage_stats(&s);
    CHECK_EQ(stats.live, 1);
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_FOREIGN], 3);
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_INTERIOR], 2 + 3);
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_TWICE], 1 + 2 + 2);
    CHECK_EQ(stats.counts.xbad_pointer, large);
    free_one(&s, large + 65536); /* of what was freed, and had never been more */
    CHECK_EQ(stage_stats(&s).counts.xbad_frees[GPURT_FREE_TWICE], 1 + 2 + 2 + 1);
    free_one(&s, other);
    CHECK_EQ(stage_stats(&s).live, 0);
    stage_close(&s);
}

/* An object is freed by one of those that free it, wherever they meet. */
static void test_freed_twice(void)
{
    gpurt_heap_options_t options = {.bytes = 2 * MIB};
    gpurt_heap_stats_t stats;
    stage_t s;

    stage_open(&s, &options, 2);
    stage_free_raced(&s, 48);
    stage_free_raced(&s, 200000);
    stage_close(&s);

    stage_open(&s, &options, 2);
    s.args.min_bytes = 64;
    RUN(&s, alloc_magazine_twice);
    stats = stage_stats(&s);
    CHECK_EQ(stage_verdict(&s).xserved, 4 * 64 / 2);
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_TWICE], 4 * 64 / 2);
    CHECK_EQ(stats.live, 0);
    stage_close(&s);
}

/* Addresses that a heap may grow into are of none of its objects. */
static void test_free_ahead(void)
{
    gpurt_heap_options_t options = {.bytes = 4 * MIB, .reserve_bytes = 8 * MIB};
    gpurt_heap_stats_t stats;
    gpurt_heap_t probe;
    uint64_t all;
    uint32_t why;
    stage_t s;

    if (gpurt_heap_create(rt, &options, &probe, NULL) == GPURT_E_UNSUPPORTED)
        return; /* no heap grows on this device */
    OK(gpurt_heap_destroy(rt, &probe, &err));
    stage_open(&s, &options, 2);
    all = one(&s, 4 * MIB, 16, &why); /* up to the end of what is there */
    CHECK_EQ(all, (uint64_t)(uintptr_t)s.args.heap.chunks);
    free_one(&s, all + 4 * MIB);
    free_one(&s, all + 4 * MIB - 65536);
    stats = stage_stats(&s);
    CHECK_EQ(stats.live, 1);
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_TWICE], 1); /* never handed out */
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_INTERIOR], 1);
    free_one(&s, all);
    CHECK_EQ(stage_stats(&s).live, 0);
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

static void test_handles(void)
{
    gpurt_heap_options_t options = {.bytes = 4 * MIB}, small = {.bytes = 65536};
    gpurt_heap_options_t odd = {.run_chunks = 3}, wide = {.spread = 7};
    gpurt_heap_options_t vast = {.bytes = 1ull << 50}, far = {.reserve_bytes = 1ull << 50};
    gpurt_heap_t heap, copy, many[GPURT_HEAPS];
    gpurt_heap_stats_t stats;
    gpurt_error_t why;

    CHECK_EQ(gpurt_heap_create(rt, NULL, NULL, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_heap_create(rt, &small, &heap, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_heap_create(rt, &odd, &heap, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_heap_create(rt, &wide, &heap, NULL), GPURT_E_INVALID);
    CHECK(heap.chunks == NULL);
    for (uint32_t i = 0; i < 2 * GPURT_HEAPS; i++) { /* none of them leaves anything */
        CHECK_EQ(gpurt_heap_create(rt, i % 2 ? &vast : &far, &heap, &why), GPURT_E_INVALID);
        CHECK(heap.chunks == NULL);
        CHECK_MSG(strstr(why.text, "ytes 1125899906842624: ") &&
                      strstr(why.text, "less than 1 TiB"),
                  "%s", why.text);
    }
    OK(gpurt_heap_create(rt, &options, &heap, &err));
    copy = heap;
    OK(gpurt_heap_stats(rt, &copy, &stats, &err));
    CHECK(stats.bytes + stats.tables <= options.bytes &&
          stats.bytes > options.bytes / 10 * 9);
    OK(gpurt_heap_destroy(rt, &heap, &err));
    OK(gpurt_heap_destroy(rt, &heap, &err));
    OK(gpurt_heap_destroy(rt, NULL, &err));
    CHECK_EQ(gpurt_heap_stats(rt, &copy, &stats, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_heap_walk(rt, &copy, visit, NULL, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_heap_trim(rt, &copy, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_heap_check(rt, &copy, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_heap_set_default(rt, &copy, NULL), GPURT_E_HANDLE);
    CHECK_EQ(gpurt_heap_destroy(rt, &copy, NULL), GPURT_E_HANDLE);
    for (uint32_t i = 0; i < GPURT_HEAPS; i++)
        OK(gpurt_heap_create(rt, &options, &many[i], &err));
    CHECK_EQ(gpurt_heap_create(rt, &options, &heap, NULL), GPURT_E_NOMEM);
    for (uint32_t i = 0; i < GPURT_HEAPS; i++)
        OK(gpurt_heap_destroy(rt, &many[i], &err));
}

/* test_alloc [-l | NAME...]: one after another they take long under compute-sanitizer, side by side
 * they do not. -l: their names. */
static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
    {"handles", test_handles},
    {"alignment", test_alignment},
    {"alignment_full", test_alignment_full},
    {"vain", test_vain},
    {"set", test_left_in_a_set},
    {"reasons", test_reasons},
    {"reserve", test_reserve},
    {"half", test_half},
    {"steal", test_steal},
    {"bad_frees", test_bad_frees},
    {"freed_twice", test_freed_twice},
    {"free_ahead", test_free_ahead},
    {"default", test_default},
    {"warp", test_warp},
    {"warp_refused", test_warp_refused},
    {"magazine", test_magazine},
    {"full", test_fulls},
    {"storm_words", storm_words},
    {"storm_slots", storm_slots},
    {"storm_rows", storm_rows},
    {"storm_tight", storm_tight},
    {"storm_narrow", storm_narrow},
    {"storm_tight_rows", storm_tight_rows},
};

static bool is_asked(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc == 1;
}

static int names_print(void)
{
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        puts(tests[i].name);
    return 0;
}

int main(int argc, char **argv)
{
    gpurt_error_t failed = {0};
    int ran = 0;

    if (argc == 2 && strcmp(argv[1], "-l") == 0)
        return names_print();
    if (gpurt_open(NULL, &rt, &failed) != GPURT_OK)
        SKIP("%s", failed.text);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++)
        if (is_asked(argc, argv, tests[i].name)) {
            tests[i].run();
            ran++;
        }
    CHECK_MSG(ran > 0, "no test of that name");
    OK(gpurt_close(rt, &err));
    return 0;
}
