/* SPDX-License-Identifier: Apache-2.0 */
/* place_stage.h - a heap, cells that hold its objects, and what must be true of both. */
#ifndef GPURT_TESTS_PLACE_STAGE_H
#define GPURT_TESTS_PLACE_STAGE_H

#include "holding_stage.h"
#include "place_kernels.h"

#include <gpurt/heap.h>

GPURT_KERNEL_DECLARE(place_storm, struct place_args);
GPURT_KERNEL_DECLARE(place_drain, struct place_args);
GPURT_KERNEL_DECLARE(place_rows, struct place_args);
GPURT_KERNEL_DECLARE(place_full, struct place_args);
GPURT_KERNEL_DECLARE(place_pocket, struct place_args);
GPURT_KERNEL_DECLARE(place_free_warp, struct place_args);
GPURT_KERNEL_DECLARE(place_matrix, struct place_args);
GPURT_KERNEL_DECLARE(place_lanes, struct place_args);
GPURT_KERNEL_DECLARE(place_wait, struct place_args);
GPURT_KERNEL_DECLARE(place_exchange, struct place_args);

typedef struct place_stage {
    struct place_args args;
    gpurt_launch_t launch;
} place_stage_t;

static inline void place_stage_open(place_stage_t *s, uint64_t heap_bytes, uint32_t cells)
{
    gpurt_heap_options_t o = {.bytes = heap_bytes, .spread = 1};

    memset(s, 0, sizeof *s);
    OK(gpurt_heap_create(rt, &o, &s->args.heap, &err));
    s->args.cells = (uint64_t *)stage_zeros(cells * sizeof(uint64_t));
    s->args.out = (uint64_t *)stage_zeros(64 * sizeof(uint64_t));
    s->args.verdict = (holding_verdict_t *)stage_zeros(sizeof(holding_verdict_t));
    s->args.cell_count = cells;
    s->launch = (gpurt_launch_t){.grid = {2, 1, 1}, .block = {PLACE_WARPS * 32, 1, 1}};
}

static inline void place_stage_close(place_stage_t *s)
{
    stage_silent(&s->args.heap);
    OK(gpurt_heap_destroy(rt, &s->args.heap, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.cells), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.out), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.verdict), GPURT_OK);
}

/* The heap's tables are in order, and nothing was freed that is no object. */
static inline gpurt_heap_stats_t place_stats(place_stage_t *s)
{
    gpurt_heap_stats_t stats;

    OK(gpurt_heap_check(rt, &s->args.heap, &err));
    OK(gpurt_heap_stats(rt, &s->args.heap, &stats, &err));
    for (uint32_t i = 0; i < GPURT_FREE_FAULTS; i++)
        CHECK_EQ(stats.counts.xbad_frees[i], 0);
    stats.live -= stats.kept; /* nobody has those */
    return stats;
}

static inline void place_read(uint64_t *to, const uint64_t *from, uint32_t count)
{
    OK(gpurt_copy(rt, 0, to, from, count * sizeof *to, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
}

/* A storm, then: as many objects live as cells hold. Returns: objects served. */
static inline uint32_t place_run_storm(place_stage_t *s)
{
    uint64_t *cells = (uint64_t *)malloc(s->args.cell_count * sizeof *cells);
    uint32_t held = 0, served;

    RUN(s, place_storm);
    served = holding_take(s->args.verdict).xserved;
    CHECK(cells);
    place_read(cells, s->args.cells, s->args.cell_count);
    for (uint32_t i = 0; i < s->args.cell_count; i++)
        held += cells[i] != 0;
    free(cells);
    CHECK_EQ(place_stats(s).live, held);
    return served;
}

#endif
