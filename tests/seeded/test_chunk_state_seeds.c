/* SPDX-License-Identifier: Apache-2.0 */
/* A chunk's state that comes round again: a lane remembers it while others free the chunk, use
 * it for another class and bring the same state back; then it reserves by what it remembers.
 * It gets what the state says now, and nobody else has it; over all seeds that happens often.
 * And a free that meets who takes the chunk out of its set: it is found after that.
 * An argument is the number of seeds, a second one the first of them. */
#include "chunk_state_kernels.h"
#include "seeds.h"

#include <gpurt/heap.h>

GPURT_KERNEL_DECLARE(chunk_state_storm, struct chunk_state_args);
GPURT_KERNEL_DECLARE(chunk_state_fill, struct chunk_state_args);
GPURT_KERNEL_DECLARE(chunk_state_meet, struct chunk_state_args);
GPURT_KERNEL_DECLARE(chunk_state_late, struct chunk_state_args);
GPURT_KERNEL_DECLARE(chunk_state_empty, struct chunk_state_args);

typedef struct stage {
    struct chunk_state_args args;
    gpurt_launch_t launch;
} stage_t;

static void stage_open(stage_t *s, uint32_t seed, uint32_t warps)
{
    gpurt_heap_options_t options = {
        .struct_size = sizeof options, .bytes = 150 << 10, .shards = 1};

    memset(s, 0, sizeof *s);
    s->launch =
        (gpurt_launch_t){.grid = {1, 1, 1}, .block = {warps * GPURT_WARP_SIZE, 1, 1}};
    OK(gpurt_heap_create(rt, &options, &s->args.heap, &err));
    CHECK_EQ(s->args.heap.chunk_count, 1);
    s->args.verdict = (chunk_state_verdict_t *)stage_zeros(sizeof *s->args.verdict);
    s->args.rounds = 16;
    s->args.seed = seed;
}

/* Nothing is used any more: so the heap must find, too. */
static void stage_close(stage_t *s)
{
    gpurt_heap_stats_t stats;

    OK(gpurt_heap_check(rt, &s->args.heap, &err));
    OK(gpurt_heap_trim(rt, &s->args.heap, &err));
    OK(gpurt_heap_stats(rt, &s->args.heap, &stats, &err));
    CHECK_EQ(stats.live, 0);
    CHECK_EQ(stats.free_chunks, 1);
    OK(gpurt_heap_destroy(rt, &s->args.heap, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.verdict), GPURT_OK);
}

static chunk_state_verdict_t run_storm(uint32_t seed)
{
    chunk_state_verdict_t verdict;
    stage_t s;

    stage_open(&s, seed, CHUNK_STATE_WARPS);
    RUN(&s, chunk_state_storm);
    stage_read(&verdict, s.args.verdict, sizeof verdict);
    CHECK_EQ(verdict.xshared, 0);
    CHECK_EQ(verdict.unkept, 0);
    stage_close(&s);
    return verdict;
}

/* A chunk is in its set in vain. Who takes it out looks at its state first; a free that comes
 * between the two leaves it at finding the chunk there. Returns: whether it had a run. */
static uint32_t run_meeting(uint32_t seed)
{
    chunk_state_verdict_t verdict;
    stage_t s;

    stage_open(&s, seed, 2);
    RUN(&s, chunk_state_fill);
    RUN(&s, chunk_state_meet);
    stage_read(&verdict, s.args.verdict, sizeof verdict);
    OK(gpurt_heap_check(rt, &s.args.heap, &err)); /* the free slot is found */
    RUN(&s, chunk_state_empty);
    stage_close(&s);
    return verdict.adopted;
}

static void run_late(uint32_t seed)
{
    chunk_state_verdict_t verdict;
    stage_t s;

    stage_open(&s, seed, 1);
    RUN(&s, chunk_state_fill);
    RUN(&s, chunk_state_late);
    stage_read(&verdict, s.args.verdict, sizeof verdict);
    CHECK_EQ(verdict.promised, 1);
    RUN(&s, chunk_state_empty);
    stage_close(&s);
}

int main(int argc, char **argv)
{
    seeds_t seeds;
    uint32_t promised = 0, round = 0, adopted = 0, late = 0;

    for (seeds_begin(&seeds, argc, argv, 300); seeds_next(&seeds, 3);) {
        chunk_state_verdict_t verdict = run_storm(seeds.seed);

        promised += verdict.promised;
        round += verdict.round;
        adopted += run_meeting(seeds.seed);
        if (late++ == 0)
            run_late(seeds.seed);
    }
    fprintf(stderr, "%u states let it have slots, %u of them had come round\n", promised,
            round);
    CHECK(round > 0 || seeds.count < 100);
    fprintf(stderr, "%u of %u chunks were met by who looked\n", adopted, seeds.count);
    CHECK((adopted > 0 && adopted < seeds.count) || seeds.count < 100);
    return 0;
}
