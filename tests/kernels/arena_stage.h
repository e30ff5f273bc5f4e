/* SPDX-License-Identifier: Apache-2.0 */
/* arena_stage.h - a heap, what arenas grow from, and what must be true of both. */
#ifndef GPURT_TESTS_ARENA_STAGE_H
#define GPURT_TESTS_ARENA_STAGE_H

#include "arena_kernels.h"
#include "holding_stage.h"

#include <gpurt/arenas.h>

GPURT_KERNEL_DECLARE(arena_thread, struct arena_args);
GPURT_KERNEL_DECLARE(arena_warp, struct arena_args);
GPURT_KERNEL_DECLARE(arena_block, struct arena_args);
GPURT_KERNEL_DECLARE(arena_rules, struct arena_args);
GPURT_KERNEL_DECLARE(arena_rules_together, struct arena_args);

typedef struct arena_stage {
    struct arena_args args;
    gpurt_launch_t launch;
} arena_stage_t;

static inline void arena_stage_open(arena_stage_t *s, uint64_t heap_bytes, uint32_t piece,
                                    uint32_t max_bytes)
{
    gpurt_heap_options_t o = {.bytes = heap_bytes, .spread = 1};

    memset(s, 0, sizeof *s);
    OK(gpurt_heap_create(rt, &o, &s->args.heap, &err));
    OK(gpurt_arena_source_create(rt, &s->args.heap, 700, &s->args.source, &err));
    OK(gpurt_arena_source_create(rt, &s->args.heap, 1, &s->args.narrow, &err));
    s->args.rules = (uint32_t *)stage_zeros(RULE_COUNT * sizeof(uint32_t));
    s->args.verdict = (holding_verdict_t *)stage_zeros(sizeof(holding_verdict_t));
    s->args.piece_bytes = piece;
    s->args.max_bytes = max_bytes;
    s->launch = (gpurt_launch_t){.grid = {4, 1, 1}, .block = {64, 1, 1}};
}

static inline void arena_stage_close(arena_stage_t *s)
{
    stage_silent(&s->args.heap);
    OK(gpurt_arena_source_destroy(rt, &s->args.source, &err));
    OK(gpurt_arena_source_destroy(rt, &s->args.narrow, &err));
    OK(gpurt_heap_destroy(rt, &s->args.heap, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.rules), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.verdict), GPURT_OK);
}

static inline void arena_run(arena_stage_t *s, const gpurt_kernel_t *kernel)
{
    OK(gpurt_launch_kernel(rt, &s->launch, kernel, &s->args, sizeof s->args, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
}

static inline holding_verdict_t arena_verdict(arena_stage_t *s)
{
    return holding_take(s->args.verdict);
}

/* Pieces that arenas have of the heap, which is all that anybody has of it; tables of heap
 * and sources are in order, and nothing was freed that is none. */
static inline uint64_t arena_live(arena_stage_t *s)
{
    gpurt_arena_stats_t all, narrow;
    gpurt_heap_stats_t stats;

    OK(gpurt_heap_check(rt, &s->args.heap, &err));
    OK(gpurt_heap_stats(rt, &s->args.heap, &stats, &err));
    for (uint32_t i = 0; i < GPURT_FREE_FAULTS; i++)
        CHECK_EQ(stats.counts.xbad_frees[i], 0);
    OK(gpurt_arena_source_stats(rt, &s->args.source, &all, &err));
    OK(gpurt_arena_source_stats(rt, &s->args.narrow, &narrow, &err));
    CHECK_EQ(all.pieces + narrow.pieces, stats.live - stats.kept);
    CHECK(all.bytes >= all.pieces * 64 && all.bytes <= stats.live_bytes);
    CHECK(all.largest <= all.bytes && (all.largest > 0) == (all.pieces > 0));
    CHECK(all.arenas >= (all.pieces > 0) && all.arenas <= s->args.source.slot_count);
    CHECK((all.bytes > 0) == (all.pieces > 0));
    CHECK(all.taken >= all.bytes);
    return stats.live - stats.kept;
}

#endif
