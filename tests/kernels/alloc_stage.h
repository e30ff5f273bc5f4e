/* SPDX-License-Identifier: Apache-2.0 */
/* alloc_stage.h - a heap, cells that hold its objects, and what must be true of both. */
#ifndef GPURT_TESTS_ALLOC_STAGE_H
#define GPURT_TESTS_ALLOC_STAGE_H

#include "alloc_kernels.h"
#include "stage.h"

#include <gpurt/heap.h>

GPURT_KERNEL_DECLARE(alloc_storm, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_fill, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_leaders, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_drain, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_one, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_free_one, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_mixed, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_free_raced, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_free_again, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_free_crossed, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_default, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_magazine, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_warp, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_warp_short, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_magazine_no_size, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_magazine_row, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_magazine_twice, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_magazine_burst, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_magazine_again, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_magazine_mixed, struct alloc_args);

enum {
    MIB = 1 << 20,
    CELLS_MOST = 1 << 20
};

static uint64_t cells_copy[CELLS_MOST];

/* ---- a heap with cells and a verdict ------------------------------------------------- */

typedef struct stage {
    struct alloc_args args;
    gpurt_launch_t launch;
} stage_t;

static inline void stage_open(stage_t *s, const gpurt_heap_options_t *options,
                              uint32_t cells)
{
    memset(s, 0, sizeof *s);
    OK(gpurt_heap_create(rt, options, &s->args.heap, &err));
    s->args.cells = (uint64_t *)stage_zeros(cells * sizeof(uint64_t));
    s->args.verdict = (alloc_verdict_t *)stage_zeros(sizeof(alloc_verdict_t));
    s->args.cell_count = cells;
    s->launch = (gpurt_launch_t){.grid = {4, 1, 1}, .block = {64, 1, 1}};
}

static inline void stage_close(stage_t *s)
{
    OK(gpurt_heap_destroy(rt, &s->args.heap, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.cells), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.verdict), GPURT_OK);
}

static inline alloc_verdict_t stage_verdict(stage_t *s)
{
    alloc_verdict_t v;

    stage_read(&v, s->args.verdict, sizeof v);
    CHECK_MSG(v.xwrong == 0, "%u objects were overwritten, first 0x%llx", v.xwrong,
              (unsigned long long)v.xfirst);
    CHECK_EQ(v.xmisaligned, 0);
    OK(gpurt_fill(rt, 0, s->args.verdict, 0, sizeof v, &err));
    return v;
}

static inline gpurt_heap_stats_t stage_stats(stage_t *s)
{
    gpurt_heap_stats_t stats;

    OK(gpurt_heap_check(rt, &s->args.heap, &err));
    OK(gpurt_heap_stats(rt, &s->args.heap, &stats, &err));
    return stats;
}

static inline uint64_t *stage_cells(stage_t *s)
{
    stage_read(cells_copy, s->args.cells, s->args.cell_count * sizeof(uint64_t));
    return cells_copy;
}

/* ---- the heap's own view against what the cells hold --------------------------------- */

static inline int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

typedef struct visit {
    uint64_t *expected;
    uint32_t at, count;
    uint64_t end; /* of the last object */
} visit_t;

static inline bool visit(void *context, void *object, size_t bytes)
{
    visit_t *v = (visit_t *)context;
    uint64_t begin = (uint64_t)(uintptr_t)object;

    CHECK_MSG(v->at < v->count && v->expected[v->at] == begin,
              "object %u: the heap says 0x%llx is live, the cells 0x%llx", v->at,
              (unsigned long long)begin,
              v->at < v->count ? (unsigned long long)v->expected[v->at] : 0ull);
    CHECK(begin >= v->end);
    v->end = begin + bytes;
    v->at++;
    return true;
}

/* Exactly the objects in cells are live. */
static inline uint32_t stage_compare(stage_t *s)
{
    uint64_t *cells = stage_cells(s);
    visit_t v = {.expected = cells};
    uint32_t count = s->args.cell_count;

    qsort(cells, count, sizeof *cells, by_value);
    while (v.count < count && v.expected[0] == 0)
        v.expected++, count--;
    v.count = count;
    OK(gpurt_heap_walk(rt, &s->args.heap, visit, &v, &err));
    CHECK_EQ(v.at, count);
    CHECK_EQ(stage_stats(s).live, count);
    return count;
}

/* Frees all that cells hold; then every chunk is back. */
static inline void stage_drain(stage_t *s)
{
    gpurt_heap_stats_t stats;

    s->args.mode = 0;
    RUN(s, alloc_drain);
    stage_verdict(s);
    stats = stage_stats(s);
    CHECK_EQ(stats.live, 0);
    CHECK_EQ(stats.live_bytes, 0);
    OK(gpurt_heap_trim(rt, &s->args.heap, &err));
    stats = stage_stats(s);
    CHECK_EQ(stats.free_chunks, stats.chunks);
    CHECK_EQ(stats.largest_row, stats.chunks);
    CHECK_EQ(stats.counts.xopened, stats.counts.xclosed);
}

/* One request; returns the answer, and why it is NULL. */
static inline uint64_t stage_one(stage_t *s, uint64_t size, uint32_t align, uint32_t *why)
{
    uint64_t *cells;

    s->args.min_bytes = (uint32_t)size;
    s->args.max_bytes = align;
    RUN(s, alloc_one);
    cells = stage_cells(s);
    *why = (uint32_t)cells[1];
    CHECK_EQ(cells[0] == 0, *why != GPURT_ALLOC_OK);
    return cells[0];
}

static inline void stage_free_one(stage_t *s, uint64_t object)
{
    OK(gpurt_copy(rt, 0, s->args.cells, &object, sizeof object, &err));
    RUN(s, alloc_free_one);
}

/* All lanes free one object of that size: one of them does, the others are told. */
static inline void stage_free_raced(stage_t *s, uint32_t bytes)
{
    uint32_t lanes = s->launch.grid.x * s->launch.block.x;
    uint64_t before = stage_stats(s).counts.xbad_frees[GPURT_FREE_TWICE];
    gpurt_heap_stats_t stats;

    s->args.min_bytes = bytes;
    s->args.max_bytes = 16; /* the alignment */
    s->args.mode = 0;
    RUN(s, alloc_one);
    CHECK(stage_cells(s)[0] != 0);
    RUN(s, alloc_free_raced);
    stats = stage_stats(s);
    CHECK_EQ(stats.live, 0);
    CHECK_EQ(stats.counts.xbad_frees[GPURT_FREE_TWICE], before + lanes - 1);
}

/* A warp is told of as many objects as it got, also where a chunk's count is wrong. */
static inline void stage_warp_short(void)
{
    gpurt_heap_options_t options = {.bytes = 400 << 10, .shards = 1};
    alloc_verdict_t v;
    stage_t s;

    stage_open(&s, &options, 1000);
    s.launch = (gpurt_launch_t){.grid = {1, 1, 1}, .block = {GPURT_WARP_SIZE, 1, 1}};
    s.args.min_bytes = 1024;
    RUN(&s, alloc_warp_short);
    stage_read(&v, s.args.verdict, sizeof v);
    CHECK_EQ(v.xnull, 0);
    CHECK_EQ(v.xserved, 40);
    stage_close(&s);
}

/* Takes until nothing is left, not a slot. Twice, because a lane stops at its first NULL,
 * and may get it while others are still sharing out the last chunk. Returns: objects
 * served. */
static inline uint32_t stage_fill(stage_t *s)
{
    gpurt_heap_stats_t stats;
    uint32_t served = 0;

    s->args.mode = 1;
    for (uint32_t i = 0; i < 2; i++) {
        alloc_verdict_t v;

        RUN(s, alloc_fill);
        v = stage_verdict(s);
        CHECK(v.xnull > 0);
        served += v.xserved;
    }
    stats = stage_stats(s);
    CHECK_EQ(stats.free_chunks, 0);
    if (s->args.max_bytes <= GPURT_SMALL_MAX) {
        CHECK_EQ(stats.classes[gpurt_class_of(s->args.max_bytes)].fresh, 0);
        CHECK_EQ(stats.classes[gpurt_class_of(s->args.max_bytes)].reusable, 0);
    }
    return served;
}

#endif
