/* SPDX-License-Identifier: Apache-2.0 */
/* A chunk's state that comes round again: a lane remembers it while others free the chunk, use
 * it for another class and bring the same state back; then it reserves by what it remembers.
 * It gets what the state says now, and nobody else has it; over all seeds that happens often.
 * An argument is the number of seeds, a second one the first of them. */
#include "chunk_state_kernels.h"
#include "seeds.h"

#include <gpurt/heap.h>

GPURT_KERNEL_DECLARE(chunk_state_storm, struct chunk_state_args);

typedef struct stage {
    struct chunk_state_args args;
    gpurt_launch_t launch;
} stage_t;

static chunk_state_verdict_t run_storm(uint32_t seed)
{
    gpurt_heap_options_t options = {
        .struct_size = sizeof options, .bytes = 150 << 10, .shards = 1};
    stage_t s = {.launch = {.grid = {1, 1, 1},
                            .block = {CHUNK_STATE_WARPS * GPURT_WARP_SIZE, 1, 1}}};
    chunk_state_verdict_t verdict;
    gpurt_heap_stats_t stats;

    OK(gpurt_heap_create(rt, &options, &s.args.heap, &err));
    CHECK_EQ(s.args.heap.chunk_count, 1);
    s.args.verdict = (chunk_state_verdict_t *)stage_zeros(sizeof verdict);
    s.args.rounds = 16;
    s.args.seed = seed;
    RUN(&s, chunk_state_storm);
    stage_read(&verdict, s.args.verdict, sizeof verdict);
    CHECK_EQ(verdict.xshared, 0);
    CHECK_EQ(verdict.unkept, 0);
    OK(gpurt_heap_check(rt, &s.args.heap, &err));
    OK(gpurt_heap_trim(rt, &s.args.heap, &err));
    OK(gpurt_heap_stats(rt, &s.args.heap, &stats, &err));
    CHECK_EQ(stats.live, 0);
    CHECK_EQ(stats.free_chunks, 1);
    OK(gpurt_heap_destroy(rt, &s.args.heap, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.verdict), GPURT_OK);
    return verdict;
}

int main(int argc, char **argv)
{
    seeds_t seeds;
    uint32_t promised = 0, round = 0;

    for (seeds_begin(&seeds, argc, argv, 300); seeds_next(&seeds, 3);) {
        chunk_state_verdict_t verdict = run_storm(seeds.seed);

        promised += verdict.promised;
        round += verdict.round;
    }
    fprintf(stderr, "%u states let it have slots, %u of them had come round\n", promised,
            round);
    CHECK(round > 0 || seeds.count < 100);
    return 0;
}
