/* SPDX-License-Identifier: Apache-2.0 */
/* Epochs, hazard pointers and reference counts under schedules that no machine would
 * choose. Nodes are so large, and the heap so small, that what is freed is soon used again:
 * a stack or a queue whose nodes nobody looks after goes wrong in some of the schedules
 * (asked for by "bare", and it must), one that is looked after in none.
 * Arguments: the number of seeds, the first of them, "bare". */
#include "reclaim_stage.h"
#include "seeds.h"

static const setting_t scenes[] = {
    {.heap = {.bytes = 300 << 10, .shards = 1},
     .epochs = {.slots = 3, .limbo = 4},
     .hazards = {.slots = 2, .retired = 3},
     .refs = {.records = 7},
     .node_bytes = 16384,
     .rounds = 16,
     .cells = 6,
     .blocks = 2,
     .threads = 32,
     .dawdle = 3},
    {.heap = {.bytes = 500 << 10, .shards = 2},
     .epochs = {.slots = 8, .limbo = 8},
     .hazards = {.slots = 4, .each = 2, .retired = 16},
     .refs = {.records = 64},
     .node_bytes = 9000,
     .rounds = 12,
     .cells = 20,
     .blocks = 2,
     .threads = 64},
    {.heap = {.bytes = 140 << 10, .shards = 1},
     .epochs = {.slots = 9, .limbo = 2},
     .hazards = {.slots = 8, .retired = 1},
     .refs = {.records = 7},
     .node_bytes = 16384,
     .rounds = 40,
     .cells = 6,
     .blocks = 6,
     .threads = 1,
     .dawdle = 30,
     .alone = true},
    {.heap = {.bytes = 220 << 10, .shards = 1},
     .epochs = {.slots = 2, .limbo = 2},
     .hazards = {.slots = 3, .each = 3, .retired = 1},
     .refs = {.records = 200},
     .node_bytes = 30000,
     .rounds = 20,
     .cells = 3,
     .blocks = 3,
     .threads = 32,
     .dawdle = 3},
};

/* Returns: what went wrong. */
static uint32_t run_nodes(const setting_t *scene, uint32_t seed, uint32_t guard)
{
    uint32_t wrong;
    stage_t s;

    stage_open(&s, scene, guard, seed);
    wrong = stage_storm(&s, seed & 1);
    if (guard != RECLAIM_BARE)
        stage_quiet(&s, 0);
    stage_close(&s);
    return wrong;
}

static void run_refs(const setting_t *scene, uint32_t seed)
{
    gpurt_refs_stats_t stats;
    reclaim_verdict_t v;
    stage_t s;

    stage_open(&s, scene, RECLAIM_BARE, seed);
    RUN(&s, reclaim_refs);
    OK(gpurt_refs_stats(rt, &s.args.refs, &stats, &err));
    CHECK_EQ(stats.live, stats.references); /* a cell's */
    CHECK_EQ(stage_live(&s), stats.live);
    RUN(&s, reclaim_refs_end);
    OK(gpurt_refs_stats(rt, &s.args.refs, &stats, &err));
    CHECK_EQ(stats.live, 0);
    CHECK_EQ(stage_live(&s), 0);
    v = stage_verdict(&s);
    CHECK_EQ(v.xwrong, 0);
    stage_close(&s);
}

int main(int argc, char **argv)
{
    uint32_t wrong = 0;
    seeds_t s;
    bool bare = argc > 3 && strcmp(argv[3], "bare") == 0;

    for (seeds_begin(&s, argc, argv, 300); seeds_next(&s, 5);) {
        const setting_t *scene = &scenes[s.seed / 2 % (sizeof scenes / sizeof scenes[0])];

        if (bare) {
            wrong += run_nodes(scene, s.seed, RECLAIM_BARE) > 0;
        } else {
            run_nodes(scene, s.seed, RECLAIM_EPOCH);
            run_nodes(scene, s.seed, RECLAIM_HAZARD);
            run_refs(scene, s.seed);
        }
    }
    if (bare)
        fprintf(stderr, "%u of %u schedules went wrong\n", wrong, s.count);
    CHECK_MSG(!bare || wrong > 0, "nodes that nobody looks after must go wrong");
    return 0;
}
