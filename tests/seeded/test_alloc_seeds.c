/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator under schedules that no machine would choose: each seed is another order of
 * all lanes at all atomics, in heaps so small that shards quarrel over every chunk. After
 * each the tables are looked through and compared with what the cells hold.
 * An argument is the number of seeds, a second one the first of them. */
#include "alloc_stage.h"
#include "seeds.h"

enum {
    SEEDS = 300
};

/* What a seed tries; sizes and room decide which paths are taken. */
static const struct scene {
    uint32_t min_bytes, max_bytes, cells;
    gpurt_heap_options_t options;
} scenes[] = {
    {16, 16, 100, {.bytes = 300 << 10, .shards = 3, .spread = 1}},
    {700, 1024, 150, {.bytes = 400 << 10, .shards = 2, .spread = 1}},
    {9000, 16384, 40, {.bytes = 700 << 10, .shards = 4, .spread = 2}},
    {16, 9000, 120, {.bytes = 600 << 10, .shards = 3, .spread = 2, .run_chunks = 4}},
    {16, 100000, 60, {.bytes = 900 << 10, .shards = 2, .spread = 1}},
    {3000, 16384, 300, {.bytes = 3 * MIB, .shards = 6, .spread = 2, .run_chunks = 8}},
    {60000, 5000000, 24, {.bytes = 14 * MIB, .shards = 1}},
    {32000, 140000, 30, {.bytes = 1200 << 10, .shards = 1}},
};

enum {
    WARPS = 4,
    GROWN_WARPS = 100
};

/* Many for a warp by one call, out of what other warps are just giving back. */
static void run_warps(stage_t *s, const struct scene *scene)
{
    stage_drain(s);
    s->args.mode = scene->cells / WARPS;
    s->args.min_bytes = scene->max_bytes;
    s->args.rounds = 3;
    RUN(s, alloc_warp);
    CHECK_EQ(stage_compare(s), stage_verdict(s).xserved);
    s->args.min_bytes = scene->min_bytes;
}

static void run_scene(const struct scene *scene, uint32_t seed)
{
    stage_t s;

    stage_open(&s, &scene->options, scene->cells);
    s.launch.block.x = 64;
    s.launch.grid.x = WARPS / 2;
    s.args.min_bytes = scene->min_bytes;
    s.args.max_bytes = scene->max_bytes;
    s.args.seed = seed;
    s.args.rounds = 8;
    RUN(&s, alloc_storm);
    stage_verdict(&s);
    stage_compare(&s);
    s.args.mode = seed / 7 % 2;
    if (scene->max_bytes <= GPURT_SMALL_MAX) {
        RUN(&s, alloc_magazine);
        stage_verdict(&s);
        stage_compare(&s);
        run_warps(&s, scene);
    }
    s.args.mode = 1; /* to the brim, and a little of it back */
    RUN(&s, alloc_fill);
    s.args.mode = 3;
    RUN(&s, alloc_drain);
    stage_verdict(&s);
    stage_compare(&s);
    stage_drain(&s);
    stage_free_raced(&s, 100000);
    stage_close(&s);
}

/* A heap is full, then it grows: whoever asks after that is served, whoever of them all tells the
 * others of the new chunks. */
static void run_grown(uint32_t seed)
{
    gpurt_heap_options_t options = {
        .bytes = 4 * MIB, .reserve_bytes = 16 * MIB, .shards = 1 + seed % 3};
    uint32_t bytes = 32768, why;
    stage_t s;

    stage_open(&s, &options, GROWN_WARPS);
    CHECK(stage_one(&s, 4 * MIB, 16, &why) != 0);
    CHECK(stage_one(&s, bytes, 16, &why) == 0); /* so none waits for another */
    CHECK_EQ(why, GPURT_ALLOC_FULL);
    OK(gpurt_heap_grow(rt, &s.args.heap, 12 * MIB, &err));
    s.launch.grid.x = GROWN_WARPS;
    s.launch.block.x = GPURT_WARP_SIZE;
    RUN(&s, alloc_leaders);
    for (uint32_t i = 0; i < GROWN_WARPS; i++)
        CHECK_MSG(stage_cells(&s)[i], "warp %u was refused: %llu chunks are free", i,
                  (unsigned long long)stage_stats(&s).free_chunks);
    CHECK_EQ(stage_stats(&s).live, GROWN_WARPS + 1);
    stage_close(&s);
}

int main(int argc, char **argv)
{
    seeds_t s;

    for (seeds_begin(&s, argc, argv, SEEDS); seeds_next(&s, 3);) {
        run_scene(&scenes[s.seed % (sizeof scenes / sizeof scenes[0])], s.seed);
        run_grown(s.seed);
        if (s.seed % 16 == 1) /* it looks long for what is not there */
            stage_warp_short();
    }
    return 0;
}
