/* SPDX-License-Identifier: Apache-2.0 */
/* Mutators and collector under one schedule: block 0 of a launch collects, minor and major
 * cycles in turn, while the lanes of the others make objects, hang them elsewhere, carry
 * them about and drop them. Each lane checks every object that it comes to; after it an
 * oracle follows all handles, and two collections must leave what it found and nothing else.
 * In some runs lanes hold on to handles beyond their sections, and to what those name.
 * An argument is the number of seeds, a second one the first of them. */
#include "object_stage.h"
#include "seeds.h"

static const setting_t scenes[] = {
    {.heap = {.bytes = 2 << 20, .shards = 2},
     .objects = 300,
     .roots = 3,
     .sections = 40,
     .blocks = 3,
     .threads = 32,
     .active = 4,
     .rounds = 10,
     .ops = 5,
     .cycles = 4,
     .bytes = 100,
     .dawdle = 6,
     .alone = true},
    {.heap = {.bytes = 4 << 20, .shards = 2},
     .objects = 1500,
     .roots = 8,
     .sections = 8,
     .blocks = 3,
     .threads = 32,
     .active = 32,
     .rounds = 6,
     .ops = 4,
     .cycles = 3,
     .bytes = 40,
     .dawdle = 2},
    {.heap = {.bytes = 1 << 20, .shards = 1},
     .objects = 60,
     .roots = 1,
     .sections = 6,
     .blocks = 2,
     .threads = 32,
     .active = 6,
     .rounds = 16,
     .ops = 3,
     .cycles = 12,
     .bytes = 300,
     .dawdle = 60,
     .alone = true},
    {.heap = {.bytes = 300 << 10, .shards = 1},
     .objects = 500,
     .roots = 2,
     .sections = 12,
     .blocks = 4,
     .threads = 32,
     .active = 3,
     .rounds = 12,
     .ops = 6,
     .cycles = 5,
     .bytes = 5000,
     .dawdle = 3,
     .alone = true},
};

/* A block of watchers beside one that makes and drops. */
static const setting_t watched = {.heap = {.bytes = 1 << 20, .shards = 1},
                                  .objects = 200,
                                  .roots = 2,
                                  .sections = 40,
                                  .blocks = 3,
                                  .threads = 32,
                                  .active = 3,
                                  .rounds = 40,
                                  .ops = 3,
                                  .cycles = 3,
                                  .bytes = 40,
                                  .dawdle = 30,
                                  .alone = true};

/* Returns: objects that went while a lane had kept their handles. */
static uint32_t run_scene(const setting_t *scene, uint32_t seed, uint32_t mode)
{
    object_verdict_t v;
    stage_t s;

    stage_open(&s, scene, seed);
    s.args.mode = mode;
    RUN(&s, object_storm);
    v = stage_verdict(&s);
    CHECK(v.xcycles >= scene->cycles);
    stage_settle(&s);
    stage_close(&s);
    return v.xdied;
}

int main(int argc, char **argv)
{
    uint32_t died = 0;
    seeds_t s;

    for (seeds_begin(&s, argc, argv, 200); seeds_next(&s, 4);) {
        run_scene(&scenes[s.seed % (sizeof scenes / sizeof scenes[0])], s.seed, 0);
        if (s.seed % 4 == 0)
            died += run_scene(&watched, s.seed, 1);
    }
    fprintf(stderr, "%u objects went under kept handles\n", died);
    CHECK(died > 0 || s.count < 10);
    return 0;
}
