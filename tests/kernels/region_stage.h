/* SPDX-License-Identifier: Apache-2.0 */
/* region_stage.h - a region, cells that hold its blocks, and what must be true of both. */
#ifndef GPURT_TESTS_REGION_STAGE_H
#define GPURT_TESTS_REGION_STAGE_H

#include "holding_stage.h"
#include "region_kernels.h"

#include <gpurt/heap.h>
#include <gpurt/regions.h>

GPURT_KERNEL_DECLARE(region_trace, struct region_args);
GPURT_KERNEL_DECLARE(region_storm, struct region_args);
GPURT_KERNEL_DECLARE(region_drain, struct region_args);
GPURT_KERNEL_DECLARE(region_inner, struct region_args);

typedef struct region_stage {
    struct region_args args;
    gpurt_launch_t launch;
} region_stage_t;

static inline void region_stage_open(region_stage_t *s, const gpurt_region_options_t *o,
                                     uint32_t cells)
{
    memset(s, 0, sizeof *s);
    OK(gpurt_region_create(rt, o, &s->args.region, &err));
    s->args.cells = (uint64_t *)stage_zeros(cells * sizeof(uint64_t));
    s->args.verdict = (holding_verdict_t *)stage_zeros(sizeof(holding_verdict_t));
    s->args.cell_count = cells;
    s->launch = (gpurt_launch_t){.grid = {4, 1, 1}, .block = {64, 1, 1}};
}

static inline void region_stage_close(region_stage_t *s)
{
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.cells), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.verdict), GPURT_OK);
    OK(gpurt_region_destroy(rt, &s->args.region, &err));
}

static inline holding_verdict_t region_verdict(region_stage_t *s)
{
    return holding_take(s->args.verdict);
}

static inline gpurt_region_stats_t region_look(region_stage_t *s)
{
    gpurt_region_stats_t stats;

    OK(gpurt_region_check(rt, &s->args.region, &err));
    OK(gpurt_region_stats(rt, &s->args.region, &stats, &err));
    CHECK_EQ(stats.counts.xlooking, 0); /* all that began has ended */
    return stats;
}

/* ---- the region's own view against what the cells hold ------------------------------- */

typedef struct region_expected {
    uint64_t *blocks;
    uint32_t at, count;
} region_expected_t;

static inline int region_by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static inline bool region_visit(void *context, void *block, size_t bytes)
{
    region_expected_t *e = (region_expected_t *)context;
    uint64_t begin = (uint64_t)(uintptr_t)block;

    CHECK_MSG(e->at < e->count && e->blocks[e->at] == begin,
              "block %u: the region says 0x%llx, the cells 0x%llx", e->at,
              (unsigned long long)begin,
              e->at < e->count ? (unsigned long long)e->blocks[e->at] : 0ull);
    CHECK(bytes > 0);
    e->at++;
    return true;
}

/* Exactly the blocks in cells are live. Returns: how many. */
static inline uint32_t region_compare(region_stage_t *s)
{
    uint32_t count = s->args.cell_count;
    uint64_t *cells = (uint64_t *)malloc(count * sizeof *cells);
    region_expected_t e = {.blocks = cells};

    CHECK(cells);
    stage_read(cells, s->args.cells, count * sizeof *cells);
    qsort(cells, count, sizeof *cells, region_by_value);
    while (count && e.blocks[0] == 0)
        e.blocks++, count--;
    e.count = count;
    OK(gpurt_region_walk(rt, &s->args.region, region_visit, &e, &err));
    CHECK_EQ(e.at, count);
    CHECK_EQ(region_look(s).live, count);
    free(cells);
    return count;
}

/* Frees all that cells hold; then all is one row. */
static inline void region_empty(region_stage_t *s)
{
    gpurt_region_stats_t stats;

    RUN(s, region_drain);
    region_verdict(s);
    stats = region_look(s);
    CHECK_EQ(stats.live, 0);
    CHECK_EQ(stats.holes, 1);
    CHECK_EQ(stats.largest, stats.bytes);
}

#endif
