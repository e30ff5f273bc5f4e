/* SPDX-License-Identifier: Apache-2.0 */
/* A heap that checks, under schedules that no machine would choose: objects that are written
 * to their last byte raise no alarm, however their frees, their time kept back and the next
 * owners' requests meet; of many lanes that free one object all but one are told.
 * An argument is the number of seeds, a second one the first of them. */
#include "check.h"
#include "heap_checks_kernels.h"

#include <gpurt/heap.h>

GPURT_KERNEL_DECLARE(checks_alloc, struct checks_args);
GPURT_KERNEL_DECLARE(checks_free_raced, struct checks_args);
GPURT_KERNEL_DECLARE(checks_leak, struct checks_args);
GPURT_KERNEL_DECLARE(checks_storm, struct checks_args);

enum {
    SEEDS = 100,
    LANES = 96,
    CELLS = 256
};

static gpurt_t *rt;

#define OK(call)                                                                \
    do {                                                                        \
        gpurt_error_t err = {0};                                                \
        gpurt_status_t st_ = call;                                              \
        CHECK_MSG(st_ == GPURT_OK, "%s: %s", gpurt_status_name(st_), err.text); \
    } while (0)
#define RUN(kernel)                                         \
    do {                                                    \
        OK(gpurt_launch(rt, &launch, kernel, &args, &err)); \
        OK(gpurt_stream_sync(rt, 0, &err));                 \
    } while (0)

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
    gpurt_launch_t launch = {.grid = {LANES / 48, 1, 1}, .block = {48, 1, 1}};
    struct checks_args args = {.size = 40, .align = 16, .seed = seed, .count = 10};
    gpurt_heap_stats_t stats;
    uint32_t places;

    OK(gpurt_heap_create(rt, &options, &args.heap, &err));
    OK(gpurt_mem_create(rt, CELLS * sizeof(uint64_t), (void **)&args.cells, &err));
    OK(gpurt_mem_create(rt, sizeof(uint32_t) * LINES, (void **)&args.lines, &err));
    RUN(checks_storm);
    expect_faults(&args.heap, 0);
    RUN(checks_alloc);
    RUN(checks_free_raced);
    expect_faults(&args.heap, LANES - 1);
    OK(gpurt_heap_stats(rt, &args.heap, &stats, &err));
    CHECK_EQ(stats.live, stats.kept);
    RUN(checks_leak);
    OK(gpurt_heap_leaks(rt, &args.heap, NULL, 0, &places, &err));
    CHECK_EQ(places, 1);
    OK(gpurt_heap_destroy(rt, &args.heap, &err));
    OK(gpurt_mem_destroy(rt, args.cells));
    OK(gpurt_mem_destroy(rt, args.lines));
}

int main(int argc, char **argv)
{
    uint32_t seeds = argc > 1 ? (uint32_t)atoi(argv[1]) : SEEDS;
    uint32_t first = argc > 2 ? (uint32_t)atoi(argv[2]) : 1;

    for (uint32_t seed = first; seed < first + seeds; seed++) {
        gpurt_options_t options = {.struct_size = sizeof options,
                                   .backend = GPURT_BACKEND_CPU};

        options.cpu.seed = seed;
        options.cpu.schedule = seed % 3 ? GPURT_SCHEDULE_RANDOM : GPURT_SCHEDULE_PCT;
        fprintf(stderr, "\r%u ", seed); /* which one it was, when it fails */
        OK(gpurt_open(&options, &rt, &err));
        run_seed(seed);
        OK(gpurt_close(rt, &err));
    }
    return 0;
}
