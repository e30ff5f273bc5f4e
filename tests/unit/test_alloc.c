/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator, from kernels, on both back ends: objects never share a byte, whoever frees
 * them; what is freed can be had again; when memory is out the answer is NULL; and after all
 * is freed every chunk is back. */
#include "alloc_kernels.h"
#include "check.h"

#include <gpurt/heap.h>

GPURT_KERNEL_DECLARE(alloc_storm, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_fill, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_drain, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_one, struct alloc_args);
GPURT_KERNEL_DECLARE(alloc_free_one, struct alloc_args);

enum {
    MIB = 1 << 20,
    CELLS_MOST = 1 << 20
};

static gpurt_t *rt;
static uint64_t cells_copy[CELLS_MOST];

static void ok_at(const char *where, gpurt_status_t st, const gpurt_error_t *err)
{
    if (st != GPURT_OK)
        check_end(CHECK_FAILED, where, "%s: %s", gpurt_status_name(st), err->text);
}
#define OK(call)                      \
    do {                              \
        gpurt_error_t err = {0};      \
        gpurt_status_t st_ = call;    \
        ok_at(CHECK_HERE, st_, &err); \
    } while (0)

/* ---- a heap with cells and a verdict ------------------------------------------------- */

typedef struct stage {
    struct alloc_args args;
    gpurt_launch_t launch;
} stage_t;

static void stage_open(stage_t *s, const gpurt_heap_options_t *options, uint32_t cells)
{
    memset(s, 0, sizeof *s);
    OK(gpurt_heap_create(rt, options, &s->args.heap, &err));
    OK(gpurt_mem_create(rt, cells * sizeof(uint64_t), (void **)&s->args.cells, &err));
    OK(gpurt_mem_create(rt, sizeof(alloc_verdict_t), (void **)&s->args.verdict, &err));
    OK(gpurt_fill(rt, 0, s->args.cells, 0, cells * sizeof(uint64_t), &err));
    OK(gpurt_fill(rt, 0, s->args.verdict, 0, sizeof(alloc_verdict_t), &err));
    s->args.cell_count = cells;
    s->launch = (gpurt_launch_t){.grid = {4, 1, 1}, .block = {64, 1, 1}};
}

static void stage_close(stage_t *s)
{
    OK(gpurt_heap_destroy(rt, &s->args.heap, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.cells), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.verdict), GPURT_OK);
}

#define RUN(s, kernel)                                                \
    do {                                                              \
        OK(gpurt_launch(rt, &(s)->launch, kernel, &(s)->args, &err)); \
        OK(gpurt_stream_sync(rt, 0, &err));                           \
    } while (0)

static alloc_verdict_t stage_verdict(stage_t *s)
{
    alloc_verdict_t v;

    OK(gpurt_copy(rt, 0, &v, s->args.verdict, sizeof v, &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    CHECK_MSG(v.xwrong == 0, "%u objects were overwritten, first 0x%llx", v.xwrong,
              (unsigned long long)v.xfirst);
    CHECK_EQ(v.xmisaligned, 0);
    OK(gpurt_fill(rt, 0, s->args.verdict, 0, sizeof v, &err));
    return v;
}

static gpurt_heap_stats_t stage_stats(stage_t *s)
{
    gpurt_heap_stats_t stats;

    OK(gpurt_heap_check(rt, &s->args.heap, &err));
    OK(gpurt_heap_stats(rt, &s->args.heap, &stats, &err));
    return stats;
}

static uint64_t *stage_cells(stage_t *s)
{
    OK(gpurt_copy(rt, 0, cells_copy, s->args.cells, s->args.cell_count * sizeof(uint64_t),
                  &err));
    OK(gpurt_stream_sync(rt, 0, &err));
    return cells_copy;
}

/* ---- the heap's own view against what the cells hold ------------------------------------ */

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

typedef struct visit {
    uint64_t *expected;
    uint32_t at, count;
    uint64_t end; /* of the last object */
} visit_t;

static bool visit(void *context, void *object, size_t bytes)
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
static uint32_t stage_compare(stage_t *s)
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
static void stage_drain(stage_t *s)
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

/* ---- tests ---------------------------------------------------------------------------- */

static void test_storm(uint32_t min_bytes, uint32_t max_bytes, uint32_t cells,
                       const gpurt_heap_options_t *options, bool may_be_full)
{
    stage_t s;
    alloc_verdict_t v;

    stage_open(&s, options, cells);
    s.args.min_bytes = min_bytes;
    s.args.max_bytes = max_bytes;
    s.args.rounds = 60;
    for (uint32_t launch = 0; launch < 3; launch++) {
        s.args.seed++;
        RUN(&s, alloc_storm);
        v = stage_verdict(&s);
        CHECK(v.xserved > 0);
        CHECK_MSG(may_be_full || v.xnull == 0, "%u of %u requests of %u..%u got NULL",
                  v.xnull, v.xnull + v.xserved, min_bytes, max_bytes);
        stage_compare(&s);
    }
    stage_drain(&s);
    stage_close(&s);
}

static void test_storms(void)
{
    gpurt_heap_options_t roomy = {.bytes = 64 * MIB};
    gpurt_heap_options_t tight = {.bytes = 2 * MIB, .spread = 2, .shards = 5};
    gpurt_heap_options_t narrow = {.bytes = 600 << 10, .shards = 1};

    test_storm(4, 64, 512, &roomy, false);
    test_storm(16, 8192, 512, &roomy, false);
    test_storm(20000, 200000, 64, &roomy, false);
    test_storm(4, 9000, 700, &tight, true);
    test_storm(4, 3000, 300, &narrow, true);
    test_storm(1000, 200000, 300, &tight, true);
}

/* Takes until nothing is left. Twice, because a lane stops at its first NULL, and may get it
 * while others are still sharing out the last chunk. Returns: objects served. */
static uint32_t stage_fill(stage_t *s)
{
    uint32_t served = 0;

    s->args.mode = 1;
    for (uint32_t i = 0; i < 2; i++) {
        alloc_verdict_t v;

        RUN(s, alloc_fill);
        v = stage_verdict(s);
        CHECK(v.xnull > 0);
        served += v.xserved;
    }
    return served;
}

/* Lanes take until nothing is left: nearly all bytes are served, no object twice; then one
 * freed object can be had again at once, and all of them. */
static void test_full(uint32_t bytes, uint32_t percent)
{
    gpurt_heap_options_t options = {.bytes = 8 * MIB, .shards = 3, .spread = 2};
    uint32_t cells = 2 * (options.bytes / bytes), live, kept;
    uint64_t served;
    stage_t s;

    stage_open(&s, &options, cells);
    s.args.min_bytes = s.args.max_bytes = bytes;
    live = stage_fill(&s);
    CHECK_EQ(stage_compare(&s), live);
    served = (uint64_t)live * bytes;
    CHECK_MSG(served * 100 >= options.bytes * percent, "%u bytes: only %llu of %llu served",
              bytes, (unsigned long long)served, (unsigned long long)options.bytes);

    s.args.mode = 2; /* every other object is freed ... */
    RUN(&s, alloc_drain);
    kept = stage_compare(&s);
    CHECK(kept > live / 3 && kept < live / 3 * 2);
    CHECK_EQ(stage_fill(&s), live - kept); /* ... and its place can be had again, */
    CHECK_EQ(stage_compare(&s), live);
    stage_drain(&s);
    CHECK_EQ(stage_fill(&s), live); /* as can all of it */
    stage_drain(&s);
    stage_close(&s);
}

int main(void)
{
    gpurt_error_t failed = {0};

    if (gpurt_open(NULL, &rt, &failed) != GPURT_OK)
        SKIP("%s", failed.text);
    test_storms();
    test_full(16, 90);
    test_full(48, 90);
    test_full(1000, 85);
    test_full(16384, 80);
    test_full(65536, 80);
    OK(gpurt_close(rt, &err));
    return 0;
}
