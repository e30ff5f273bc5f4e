/* SPDX-License-Identifier: Apache-2.0 */
/* What the allocator refuses, on both back ends: a request that cannot be served gets NULL and
 * the reason, at once and no longer than it holds; a pointer that cannot be freed is counted by
 * kind and left alone; a heap that cannot be made, or was destroyed, is named as that.
 * test_alloc_served has what it serves. */
#include "alloc_stage.h"
#include "stage_parts.h"

#include <gpurt/magazine.h>

/* ---- requests -------------------------------------------------------------------------- */

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
    while ((object[count] = stage_one(&s, 32768, 16, &why)))
        count++;
    CHECK(count >= 8);
    for (uint32_t i = 0; i < 8; i++) {
        uint64_t tickets = i < 4 ? i : GPURT_RUN_WORN - 4 + i;

        word = vain_word(&s);
        word = (word & ~(uint64_t)GPURT_RUN_TICKETS) | tickets;
        OK(gpurt_copy(rt, 0, s.args.heap.currents + VAIN_CLASS, &word, sizeof word, &err));
        CHECK_EQ(stage_one(&s, 32768, 16, &why), 0);
        CHECK_EQ(why, GPURT_ALLOC_FULL);
        word = vain_word(&s);
        CHECK(gpurt_run_ticket(word) <= GPURT_RUN_WORN);
        stage_free_one(&s, object[i]);
        object[i] = stage_one(&s, 32768, 16, &why);
        CHECK_EQ(why, GPURT_ALLOC_OK);
        CHECK_EQ(stage_one(&s, 32768, 16, &why), 0);
    }
    for (uint32_t i = 0; i < count; i++)
        stage_free_one(&s, object[i]);
    CHECK_EQ(stage_stats(&s).live, 0);
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
    stage_one(&s, 16, 3, &why);
    CHECK_EQ(why, GPURT_ALLOC_ALIGNMENT);
    stage_one(&s, 16, 0, &why);
    CHECK_EQ(why, GPURT_ALLOC_ALIGNMENT);
    stage_one(&s, 16, 1 << 17, &why);
    CHECK_EQ(why, GPURT_ALLOC_ALIGNMENT);
    stage_one(&s, 3 * MIB, 16, &why);
    CHECK_EQ(why, GPURT_ALLOC_TOO_LARGE);
    while ((first[count] = stage_one(&s, 65536, 16, &why)))
        count++;
    CHECK_EQ(why, GPURT_ALLOC_FULL);
    CHECK_EQ(count, stage_stats(&s).chunks);
    stage_one(&s, 16, 16, &why);
    CHECK_EQ(why, GPURT_ALLOC_FULL);
    for (uint32_t i = 0; i < count; i += 2)
        stage_free_one(&s, first[i]);
    stage_one(&s, 100000, 16, &why);
    CHECK_EQ(why, GPURT_ALLOC_FRAGMENTED);
    stats = stage_stats(&s);
    CHECK_EQ(stats.largest_row, 1);
    CHECK_EQ(stats.counts.xrefused[GPURT_ALLOC_ALIGNMENT], 3);
    CHECK_EQ(stats.counts.xrefused[GPURT_ALLOC_TOO_LARGE], 1);
    CHECK_EQ(stats.counts.xrefused[GPURT_ALLOC_FULL], 2);
    CHECK_EQ(stats.counts.xrefused[GPURT_ALLOC_FRAGMENTED], 1);
    stage_free_one(
        &s, first[1]); /* chunks 0, 1, 2 are free again, and 64 KiB of 16 bytes in one */
    stage_free_one(&s, stage_one(&s, 196608, 16, &why));
    CHECK_EQ(why, GPURT_ALLOC_OK);
    {
        gpurt_heap_t kept = s.args.heap;

        s.args.heap = none;
        stage_one(&s, 16, 16, &why);
        CHECK_EQ(why, GPURT_ALLOC_NO_HEAP);
        s.args.heap = kept;
    }
    stage_close(&s);
}

/* What a warp's request cannot serve it refuses by name; of no heap it gets nothing, as a
 * magazine does, and no memory is touched. */
static void test_warp_refused(void)
{
    static const gpurt_heap_t none;
    gpurt_heap_options_t roomy = {.bytes = 64 * MIB};
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

/* ---- pointers -------------------------------------------------------------------------- */

/* What cannot be freed is counted and does no harm. */
static void test_bad_frees(void)
{
    gpurt_heap_options_t options = {.bytes = 2 * MIB};
    gpurt_heap_stats_t stats;
    uint64_t small, large, other;
    uint32_t why;
    stage_t s;

    stage_open(&s, &options, 2);
    small = stage_one(&s, 48, 16, &why);
    other = stage_one(&s, 48, 16, &why);
    large = stage_one(&s, 200000, 16, &why);
    stage_free_one(&s, 0);
    stage_free_one(&s, (uint64_t)(uintptr_t)s.args.cells);
    stage_free_one(&s, small + 16);
    stage_free_one(&s, large + 16);
    stage_free_one(&s, large + 65536); /* where another chunk begins, up to the last */
    stage_free_one(&s, large + 3 * 65536);
    stage_free_one(&s, large + 3 * 65536 + 32);
    stage_free_one(&s, (uint64_t)(uintptr_t)s.args.heap.chunks - 16);
    stage_free_one(&s, (uint64_t)(uintptr_t)s.args.heap.chunks + options.bytes);
    CHECK_EQ(stage_stats(&s).live, 3);
    CHECK_EQ(stage_stats(&s).counts.xbad_frees[GPURT_FREE_TWICE], 0);
    stage_free_one(&s, large + 4 * 65536); /* what follows it is of the pool */
    CHECK_EQ(stage_stats(&s).counts.xbad_frees[GPURT_FREE_TWICE], 1);
    for (uint32_t i = 0; i < 3; i++) {
        stage_free_one(&s, small);
        stage_free_one(&s, large);
    }
    stats = stage_stats(&s);
    CHECK_EQ(stats.live, 1);
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_FOREIGN], 3);
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_INTERIOR], 2 + 3);
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_TWICE], 1 + 2 + 2);
    CHECK_EQ(stats.counts.xbad_pointer, large);
    stage_free_one(&s, large + 65536); /* of what was freed, and had never been more */
    CHECK_EQ(stage_stats(&s).counts.xbad_frees[GPURT_FREE_TWICE], 1 + 2 + 2 + 1);
    stage_free_one(&s, other);
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

/* A row that lies in a magazine already is not freed once more, also where it has no room. */
static void test_row_twice(void)
{
    gpurt_heap_options_t options = {.bytes = 2 * MIB};
    gpurt_heap_stats_t stats;
    stage_t s;

    stage_open(&s, &options, 2);
    s.args.min_bytes = 64;
    RUN(&s, alloc_magazine_again);
    stats = stage_stats(&s);
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_TWICE], 4 * 64);
    CHECK_EQ(stats.live, GPURT_MAGAZINE_ROWS * 4 * 64); /* not flushed */
    stage_close(&s);
}

/* A second free leaves the chunk found, and given back by the last of the others. freed: how many slots of
 * the chunk are free before one of them is freed again. */
static void freed_again(uint32_t freed)
{
    gpurt_heap_options_t options = {.bytes = 2 * MIB, .shards = 1, .run_chunks = 1};
    uint64_t objects[16];
    uint32_t why;
    stage_t s;

    stage_open(&s, &options, 2);
    for (uint32_t i = 0; i < 16; i++)
        objects[i] = stage_one(&s, 4096, 16, &why);
    for (uint32_t i = 0; i < freed; i++)
        stage_free_one(&s, objects[i]);
    stage_free_one(&s, objects[freed - 1]);
    CHECK_EQ(stage_stats(&s).counts.xbad_frees[GPURT_FREE_TWICE], 1);
    CHECK_EQ(stage_stats(&s).live, 16 - freed);
    OK(gpurt_heap_check(rt, &s.args.heap, &err));
    for (uint32_t i = freed; i < 16; i++)
        stage_free_one(&s, objects[i]);
    OK(gpurt_heap_check(rt, &s.args.heap, &err));
    CHECK_EQ(stage_stats(&s).classes[gpurt_class_of(4096)].chunks, 0);
    stage_close(&s);
}

/* The same by warps, whose lanes learn of neighbours' bits what one lane was told. */
static void warp_freed_again(uint32_t bytes, uint32_t mode)
{
    gpurt_heap_options_t options = {.bytes = 4 * MIB, .shards = 1, .run_chunks = 4};
    stage_t s;

    stage_open(&s, &options, 2);
    s.launch.grid.x = 1;
    s.launch.block.x = 32; /* no other warp, which might be given one in between */
    s.args.min_bytes = bytes;
    s.args.mode = mode;
    for (uint32_t i = 1; i <= 8; i++) {
        RUN(&s, alloc_free_again);
        CHECK_EQ(stage_stats(&s).counts.xbad_frees[GPURT_FREE_TWICE], 32 * i);
        CHECK_EQ(stage_stats(&s).live, 0);
        OK(gpurt_heap_check(rt, &s.args.heap, &err));
    }
    stage_close(&s);
}

/* Slots in a row, but of two chunks. */
static void warp_freed_crossed(void)
{
    gpurt_heap_options_t options = {.bytes = 4 * MIB, .shards = 1, .run_chunks = 1};
    stage_t s;

    stage_open(&s, &options, 2);
    s.launch.grid.x = 1;
    s.launch.block.x = 32;
    s.args.min_bytes = 2048; /* a chunk is 32 of them */
    RUN(&s, alloc_free_crossed);
    CHECK_EQ(stage_stats(&s).counts.xbad_frees[GPURT_FREE_TWICE], 0);
    CHECK_EQ(stage_stats(&s).live, 0);
    OK(gpurt_heap_check(rt, &s.args.heap, &err));
    stage_close(&s);
}

static void test_freed_again(void)
{
    static const uint32_t sizes[] = {16, 48, 4096, 5000, 32768};

    for (uint32_t freed = 1; freed < 16; freed++)
        freed_again(freed);
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (uint32_t mode = 0; mode < 2; mode++)
            warp_freed_again(sizes[i], mode);
    warp_freed_crossed();
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
    all = stage_one(&s, 4 * MIB, 16, &why); /* up to the end of what is there */
    CHECK_EQ(all, (uint64_t)(uintptr_t)s.args.heap.chunks);
    stage_free_one(&s, all + 4 * MIB);
    stage_free_one(&s, all + 4 * MIB - 65536);
    stats = stage_stats(&s);
    CHECK_EQ(stats.live, 1);
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_TWICE], 1); /* never handed out */
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_INTERIOR], 1);
    stage_free_one(&s, all);
    CHECK_EQ(stage_stats(&s).live, 0);
    stage_close(&s);
}

/* A lane that says no size takes no part in a magazine's free. */
static void test_no_size(void)
{
    gpurt_heap_options_t options = {.bytes = 4 * MIB};
    stage_t s;

    stage_open(&s, &options, 4 * 64);
    s.args.min_bytes = 48;
    RUN(&s, alloc_magazine_no_size);
    CHECK_EQ(stage_compare(&s), 4 * 64 / 2);
    stage_close(&s);
}

/* Whatever leaves a heap has grown by, over words of the branches, all of them are found. */
static void test_grown_leaves(void)
{
    static const uint32_t grown[][2] = {{1, 140}, {64, 128}, {70, 140}};
    uint32_t why;
    stage_t s;

    for (uint32_t i = 0; i < sizeof grown / sizeof grown[0]; i++) {
        uint64_t from = grown[i][0] * 4ull * MIB, to = grown[i][1] * 4ull * MIB;
        gpurt_heap_options_t options = {.bytes = from, .reserve_bytes = 4 * MIB + to};
        gpurt_heap_t probe;

        if (gpurt_heap_create(rt, &options, &probe, NULL) == GPURT_E_UNSUPPORTED)
            return; /* no heap grows on this device */
        OK(gpurt_heap_destroy(rt, &probe, &err));
        stage_open(&s, &options, 2);
        CHECK(stage_one(&s, from, 16, &why) != 0);
        CHECK(stage_one(&s, 16, 16, &why) == 0);
        OK(gpurt_heap_grow(rt, &s.args.heap, to - from, &err));
        CHECK(stage_one(&s, 16, 16, &why) != 0);
        CHECK_EQ(stage_stats(&s).counts.xtaken_up, grown[i][1]);
        stage_close(&s);
    }
}

/* ---- heaps ----------------------------------------------------------------------------- */

static void test_handles(void)
{
    gpurt_heap_options_t options = {.bytes = 4 * MIB}, small = {.bytes = 65536};
    gpurt_heap_options_t odd = {.run_chunks = 3}, wide = {.spread = 7};
    gpurt_heap_options_t cut = {.struct_size = 3, .bytes = 2 * MIB};
    gpurt_heap_options_t vast = {.bytes = 1ull << 50}, far = {.reserve_bytes = 1ull << 50};
    gpurt_heap_options_t traced[] = {{.bytes = 64ull << 30, .trace = true},
                                     {.reserve_bytes = 64ull << 30, .trace = true}};
    gpurt_heap_t heap, copy, many[GPURT_HEAPS];
    gpurt_heap_stats_t stats;
    gpurt_error_t why;

    CHECK_EQ(gpurt_heap_create(rt, NULL, NULL, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_heap_create(rt, &small, &heap, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_heap_create(rt, &odd, &heap, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_heap_create(rt, &wide, &heap, NULL), GPURT_E_INVALID);
    CHECK_EQ(gpurt_heap_create(rt, &cut, &heap, NULL), GPURT_E_INVALID);
    cut.struct_size = offsetof(gpurt_heap_options_t, keep_bytes); /* of before that came */
    OK(gpurt_heap_create(rt, &cut, &heap, &err));
    OK(gpurt_heap_stats(rt, &heap, &stats, &err));
    CHECK(stats.bytes <= 2 * MIB);
    OK(gpurt_heap_destroy(rt, &heap, &err));
    CHECK(heap.chunks == NULL);
    for (uint32_t i = 0; i < 2 * GPURT_HEAPS; i++) { /* none of them leaves anything */
        CHECK_EQ(gpurt_heap_create(rt, i % 2 ? &vast : &far, &heap, &why), GPURT_E_INVALID);
        CHECK(heap.chunks == NULL);
        CHECK_MSG(strstr(why.text, "ytes 1125899906842624: ") &&
                      strstr(why.text, "less than 1 TiB"),
                  "%s", why.text);
    }
    for (uint32_t i = 0; i < 2; i++) { /* whose places no record could tell */
        CHECK_EQ(gpurt_heap_create(rt, &traced[i], &heap, &why), GPURT_E_INVALID);
        CHECK_MSG(strstr(why.text, "are traced"), "%s", why.text);
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

static const stage_part_t parts[] = {
    {"handles", test_handles},           {"vain", test_vain},
    {"reasons", test_reasons},           {"bad_frees", test_bad_frees},
    {"freed_twice", test_freed_twice},   {"freed_again", test_freed_again},
    {"row_twice", test_row_twice},       {"free_ahead", test_free_ahead},
    {"grown_leaves", test_grown_leaves}, {"no_size", test_no_size},
    {"warp_short", stage_warp_short},    {"warp_refused", test_warp_refused},
};

int main(int argc, char **argv)
{
    return stage_parts(argc, argv, parts, sizeof parts / sizeof parts[0]);
}
