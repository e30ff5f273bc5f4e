/* SPDX-License-Identifier: Apache-2.0 */
/* bench_alloc_calls: what one call of a warp takes, by how a program asks and frees: p50, p99 and
 * p99.9 of the heap, of magazines, of all pools, and beside them a bare addition in memory.
 *
 *     pairs    an object at a time, freed at once
 *     bursts   eight requests, then eight frees
 *     live     16 objects a lane, one of which is changed each round; _mixed: of any size
 *     others   what a warp asked for another warp frees
 *
 * Words after a pattern: bytes, and who is at work: one warp alone; one, or 16, on each
 * multiprocessor. An argument runs only the patterns whose name begins with it. On the CPU back
 * end, GPURT_BACKEND=cpu, it shows that the kernels are right. */
#include "bench_alloc_calls.h"
#include "bench_alloc_stage.h"
#include "rows.h"

enum {
    ROUNDS = 1024,
    ROUNDS_CPU = 64
};

#define CALLS_DECLARE(pattern)                                                     \
    GPURT_KERNEL_DECLARE(bench_calls_heap_##pattern, struct bench_alloc_args);     \
    GPURT_KERNEL_DECLARE(bench_calls_magazine_##pattern, struct bench_alloc_args); \
    GPURT_KERNEL_DECLARE(bench_calls_places_##pattern, struct bench_alloc_args);   \
    GPURT_KERNEL_DECLARE(bench_calls_bare_##pattern, struct bench_alloc_args)
CALLS_DECLARE(pairs);
CALLS_DECLARE(bursts);
CALLS_DECLARE(live);
CALLS_DECLARE(others);

#define CALLS_KERNELS(pattern)                            \
    {                                                     \
        &gpurt_kernel_bench_calls_heap_##pattern,         \
            &gpurt_kernel_bench_calls_magazine_##pattern, \
            &gpurt_kernel_bench_calls_places_##pattern,   \
            &gpurt_kernel_bench_calls_bare_##pattern      \
    }
static const char *const who[] = {"gpurt", "magazine", "places", "ceil-atomic"};

typedef struct pattern {
    const char *name;
    uint32_t min_bytes, max_bytes, least_warps;
    const gpurt_kernel_t *kernels[4];
} pattern_t;
static const pattern_t patterns[] = {
    {"pairs", 64, 64, 1, CALLS_KERNELS(pairs)},
    {"bursts", 64, 64, 1, CALLS_KERNELS(bursts)},
    {"live", 64, 64, 1, CALLS_KERNELS(live)},
    {"live_mixed", 16, 8192, 1, CALLS_KERNELS(live)},
    {"others", 64, 64, 2, CALLS_KERNELS(others)},
};

typedef struct load {
    const char *name;
    uint32_t blocks, warps; /* blocks: 0: as many as there are multiprocessors */
} load_t;
static const load_t loads[] = {{"alone", 1, 1}, {"sm", 0, 1}, {"sm16", 0, 16}};

/* Calls of one kind, sorted. */
static void tell(const pattern_t *of, const load_t *load, const char *call, const char *by,
                 double *cycles, uint32_t count)
{
    static const struct {
        const char *name;
        uint32_t above; /* one in so many is */
    } parts[] = {{"p50", 2}, {"p99", 100}, {"p99.9", 1000}};
    char name[96];

    qsort(cycles, count, sizeof *cycles, rows_compare);
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s_%s_%u_%s.%s.%s", of->name, call, of->min_bytes,
                 load->name, parts[i].name, by);
        rows_add("alloc_calls", name, cycles[count - count / parts[i].above - 1], "cycles",
                 NULL, 0);
    }
}

/* Returns: nanoseconds of the launch. */
static double run(bench_t *b, const pattern_t *of, const load_t *load, uint32_t k)
{
    uint32_t blocks = load->blocks ? load->blocks : b->info.sm_count;
    uint32_t warps = load->warps < of->least_warps ? of->least_warps : load->warps;
    uint32_t count = blocks * warps * b->args.rounds;
    uint32_t *cycles = (uint32_t *)malloc(count * 8ull);
    double *one = (double *)malloc(count * sizeof(double)), ns = 0;
    static const char *const calls[] = {"get", "put"};

    sums_clear(b);
    for (uint32_t i = 0; i < 2; i++) { /* the first warms up */
        need(gpurt_fill(b->rt, 0, b->args.cells, 0, 8ull * 4 * MILLION, NULL), "cells");
        ns = time_ns(b, of->kernels[k], blocks, warps * 32);
    }
    need(gpurt_copy(b->rt, 0, cycles, b->args.cycles, count * 8ull, NULL), "copy");
    need(gpurt_sync(b->rt, NULL), of->name);
    if (sum_read(b, BENCH_NULL))
        fail(of->name, "not every request whose time was taken was served");
    for (uint32_t call = 0; call < 2; call++) {
        for (uint32_t i = 0; i < count; i++)
            one[i] = cycles[2 * i + call];
        tell(of, load, calls[call], who[k], one, count);
    }
    free(cycles);
    free(one);
    return ns;
}

static void run_pattern(bench_t *b, const pattern_t *of)
{
    for (uint32_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        uint32_t blocks = loads[i].blocks ? loads[i].blocks : b->info.sm_count;
        uint32_t warps =
            loads[i].warps < of->least_warps ? of->least_warps : loads[i].warps;
        double calls = 2.0 * 32 * blocks * warps * b->args.rounds, ns[4];
        char name[96];

        for (uint32_t k = 0; k < 4; k++)
            ns[k] = run(b, of, &loads[i], k);
        for (uint32_t k = 1; k < 3; k++) {
            snprintf(name, sizeof name, "%s_rate_%u_%s.%s", of->name, of->min_bytes,
                     loads[i].name, who[k]);
            rows_add("alloc_calls", name, calls / ns[k], "G op/s", who[0], calls / ns[0]);
        }
    }
}

int main(int argc, char **argv)
{
    gpurt_options_t options = {.struct_size = sizeof options};
    gpurt_error_t err = {0};
    bench_t b = {0};
    bool cpu;

    b.only = argc > 1 ? argv[1] : NULL;
    if (gpurt_open(&options, &b.rt, &err) != GPURT_OK)
        fail("open", err.text);
    need(gpurt_info(b.rt, &b.info), "info");
    cpu = b.info.backend != GPURT_BACKEND_CUDA;
    if (cpu && b.info.sm_count > 4)
        b.info.sm_count = 4;
    need(gpurt_event_create(b.rt, &b.begin, NULL), "event");
    need(gpurt_event_create(b.rt, &b.end, NULL), "event");
    b.args.rounds = cpu ? ROUNDS_CPU : ROUNDS;
    b.args.cells = (uint64_t *)memory(&b, 8ull * 4 * MILLION);
    b.args.bump = (uint64_t *)memory(&b, 256 * 128);
    b.args.arena = (char *)memory(&b, cpu ? GIB / 16 : 8 * GIB);
    b.args.sums = (uint64_t *)memory(&b, BENCH_SUMS * 8);
    b.args.cycles =
        (uint32_t *)memory(&b, 8ull * b.info.sm_count * CALLS_WARPS * b.args.rounds);
    rows_head();
    for (uint32_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        if (!wanted(&b, patterns[i].name))
            continue;
        heap_open(&b, cpu ? GIB / 4 : 8 * GIB);
        b.args.min_bytes = patterns[i].min_bytes;
        b.args.max_bytes = patterns[i].max_bytes;
        run_pattern(&b, &patterns[i]);
        heap_close(&b);
    }
    need(gpurt_close(b.rt, NULL), "close");
    return 0;
}
