/* SPDX-License-Identifier: Apache-2.0 */
/* Regions, arenas and pools under schedules that no machine would choose: each seed is another
 * order of all lanes at all atomics, in so little memory that lanes quarrel over every
 * granule and piece. After each the tables are looked through and compared with what lanes
 * hold; blocks that were cancelled on the way cost nothing.
 * An argument is the number of seeds, a second one the first of them. */
#include "arena_stage.h"
#include "place_stage.h"
#include "region_stage.h"
#include "seeds.h"

enum {
    SEEDS = 300
};

static void run_region(uint32_t seed)
{
    gpurt_region_options_t o = {.fit = seed / 2 % GPURT_FITS, .granule = 64};
    region_stage_t s;

    o.bytes = seed % 5 ? 40000 : 9000;
    region_stage_open(&s, &o, 40);
    s.launch.grid.x = 2;
    s.args.max_bytes = seed % 5 ? 2000 : 700;
    s.args.rounds = 8;
    s.args.seed = seed;
    s.args.mode = seed % 4 == 0 ? REGION_CANCELS : 0;
    RUN(&s, region_storm);
    region_verdict(&s);
    region_compare(&s);
    region_empty(&s);
    region_stage_close(&s);
}

static void run_arena(uint32_t seed)
{
    static const gpurt_kernel_t *const kinds[] = {
        &gpurt_kernel_arena_thread, &gpurt_kernel_arena_warp, &gpurt_kernel_arena_block};
    arena_stage_t s;
    uint64_t swept;

    arena_stage_open(&s, seed % 3 ? 700 << 10 : 300 << 10, 256 << seed % 4, 900);
    s.launch.grid.x = 2;
    s.args.rounds = 12;
    for (uint32_t i = 0; i < 2; i++) {
        s.args.seed = seed + i;
        s.args.mode = (seed % 4 ? 0 : ARENA_CANCELS) | (i ? ARENA_SWEEPS : 0);
        arena_run(&s, kinds[seed % 3]);
        arena_verdict(&s);
        if (seed % 4)
            CHECK_EQ(arena_live(&s), 0);
        gpurt_arena_source_next(&s.args.source);
    }
    OK(gpurt_arena_source_sweep(rt, &s.args.source, &swept, &err));
    CHECK_EQ(arena_live(&s), 0);
    arena_stage_close(&s);
}

static void run_places(uint32_t seed)
{
    place_stage_t s;

    place_stage_open(&s, seed % 3 ? 900 << 10 : 300 << 10, 80);
    s.launch.block.x = 64;
    s.args.max_bytes = seed % 2 ? 64 : 1500;
    s.args.alike = seed / 2 % 2;
    s.args.rounds = 8;
    s.args.seed = seed;
    place_run_storm(&s);
    RUN(&s, place_drain);
    holding_take(s.args.verdict);
    CHECK_EQ(place_stats(&s).live, 0);
    place_stage_close(&s);
}

/* Returns: rows that a warp took of another. */
static uint64_t run_exchange(uint32_t seed)
{
    uint64_t stolen;
    place_stage_t s;

    place_stage_open(&s, 900 << 10, 1);
    s.launch.grid.x = 1;
    s.launch.block.x = 64;
    s.args.rounds = 3;
    s.args.seed = seed;
    RUN(&s, place_exchange);
    holding_take(s.args.verdict);
    place_read(&stolen, s.args.out, 1);
    CHECK_EQ(place_stats(&s).live, 0);
    place_stage_close(&s);
    return stolen;
}

int main(int argc, char **argv)
{
    seeds_t s;
    uint64_t stolen = 0;

    for (seeds_begin(&s, argc, argv, SEEDS); seeds_next(&s, 3);) {
        run_region(s.seed);
        run_arena(s.seed);
        run_places(s.seed);
        stolen += run_exchange(s.seed);
    }
    CHECK(stolen > 0 || s.count < 10);
    return 0;
}
