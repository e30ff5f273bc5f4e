/* SPDX-License-Identifier: Apache-2.0 */
/* A heap that checks, under schedules that no machine would choose: objects that are written
 * to their last byte raise no alarm, however their frees, their time kept back and the next
 * owners' requests meet; of many lanes that free one object all but one are told.
 * An argument is the number of seeds, a second one the first of them. */
#include "heap_checks_kernels.h"
#include "seeds.h"

#include <gpurt/heap.h>

GPURT_KERNEL_DECLARE(checks_alloc, struct checks_args);
GPURT_KERNEL_DECLARE(checks_drain, struct checks_args);
GPURT_KERNEL_DECLARE(checks_fill, struct checks_args);
GPURT_KERNEL_DECLARE(checks_free_raced, struct checks_args);
GPURT_KERNEL_DECLARE(checks_leak, struct checks_args);
GPURT_KERNEL_DECLARE(checks_stale, struct checks_args);
GPURT_KERNEL_DECLARE(checks_storm, struct checks_args);
GPURT_KERNEL_DECLARE(checks_warp, struct checks_args);

enum {
    SEEDS = 100,
    LANES = 96,
    CELLS = 256
};

typedef struct stage {
    struct checks_args args;
    gpurt_launch_t launch, warps; /* warps: blocks of two whole ones */
} stage_t;

static void expect_faults(const gpurt_heap_t *heap, uint64_t want)
{
    gpurt_heap_fault_t f = {0};
    uint64_t count;

    OK(gpurt_heap_faults(rt, heap, &f, 1, &count, &err));
    CHECK_MSG(count == want, "%llu, not %llu: 0x%llx of %llu bytes %s: byte %lld, %s",
              (unsigned long long)count, (unsigned long long)want,
              (unsigned long long)f.object, (unsigned long long)f.size,
              gpurt_heap_wrong_text(f.what), (long long)f.at, f.site);
    OK(gpurt_heap_check(rt, heap, &err));
}

static void run_seed(uint32_t seed)
{
    /* a chunk for each class and shard, and records for as much again */
    gpurt_heap_options_t options = {.bytes = seed % 3 ? 7 << 20 : 12 << 20,
                                    .shards = seed % 3 ? 1 : 2,
                                    .checks = GPURT_CHECKS_CHEAP + seed % 2,
                                    .keep_bytes = seed % 5 * 20000};
    stage_t s = {.args = {.size = 40, .align = 16, .seed = seed, .count = 10},
                 .launch = {.grid = {LANES / 48, 1, 1}, .block = {48, 1, 1}},
                 .warps = {.grid = {1, 1, 1}, .block = {64, 1, 1}}};
    gpurt_heap_stats_t stats;
    uint32_t places;

    OK(gpurt_heap_create(rt, &options, &s.args.heap, &err));
    s.args.cells = (uint64_t *)stage_zeros(CELLS * sizeof(uint64_t));
    s.args.lines = (uint32_t *)stage_zeros(sizeof(uint32_t) * LINES);
    RUN(&s, checks_storm);
    expect_faults(&s.args.heap, 0);
    s.args.mode = 1;
    RUN_AS(&s, warps, checks_warp);
    s.args.mode = 0;
    expect_faults(&s.args.heap, 0);
    RUN(&s, checks_alloc);
    RUN(&s, checks_free_raced);
    expect_faults(&s.args.heap, LANES - 1);
    OK(gpurt_heap_stats(rt, &s.args.heap, &stats, &err));
    CHECK_EQ(stats.live, stats.kept);
    RUN(&s, checks_leak);
    OK(gpurt_heap_leaks(rt, &s.args.heap, NULL, 0, &places, &err));
    CHECK_EQ(places, 1);
    OK(gpurt_heap_destroy(rt, &s.args.heap, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.cells), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.lines), GPURT_OK);
}

/* The object of the first chunk that lies last in it. */
static uint64_t last_of_first(const stage_t *s)
{
    uint64_t cells[CELLS], last = 0;

    stage_read(cells, s->args.cells, sizeof cells);
    for (uint32_t i = 0; i < s->args.count; i++)
        if (cells[i] - (uint64_t)(uintptr_t)s->args.heap.chunks < GPURT_CHUNK_BYTES &&
            cells[i] > last)
            last = cells[i];
    return last;
}

/* An object is freed again when its chunk has been to the pool, and comes back just then or has come:
 * its slot is one of a run, which nobody was given yet. */
static void run_stale(uint32_t seed)
{
    gpurt_heap_options_t options = {.bytes = 4 << 20,
                                    .shards = 1 + seed % 2,
                                    .checks = GPURT_CHECKS_CHEAP + seed / 2 % 2,
                                    .keep_bytes = 1};
    stage_t s = {.args = {.size = 1000, .align = 16, .count = 200},
                 .launch = {.grid = {LANES / 48, 1, 1}, .block = {48, 1, 1}}};
    uint64_t stale;

    OK(gpurt_heap_create(rt, &options, &s.args.heap, &err));
    s.args.cells = (uint64_t *)stage_zeros(CELLS * sizeof(uint64_t));
    s.args.lines = (uint32_t *)stage_zeros(sizeof(uint32_t) * LINES);
    RUN(&s, checks_fill);
    stale = last_of_first(&s);
    RUN(&s, checks_drain);
    OK(gpurt_heap_trim(rt, &s.args.heap, &err));
    s.args.count = 20;
    s.args.mode = seed % (LANES - 20) + 20; /* of the first warp, or another */
    OK(gpurt_copy(rt, 0, s.args.cells + s.args.count, &stale, sizeof stale, &err));
    RUN(&s, checks_stale);
    expect_faults(&s.args.heap, 1);
    s.args.count = CELLS; /* nobody else has it */
    stale = 0;
    OK(gpurt_copy(rt, 0, s.args.cells + 20, &stale, sizeof stale, &err));
    RUN(&s, checks_fill);
    RUN(&s, checks_drain);
    expect_faults(&s.args.heap, 1);
    OK(gpurt_heap_destroy(rt, &s.args.heap, &err));
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.cells), GPURT_OK);
    CHECK_EQ(gpurt_mem_destroy(rt, s.args.lines), GPURT_OK);
}

int main(int argc, char **argv)
{
    seeds_t s;

    for (seeds_begin(&s, argc, argv, SEEDS); seeds_next(&s, 3);) {
        run_seed(s.seed);
        run_stale(s.seed);
    }
    return 0;
}
