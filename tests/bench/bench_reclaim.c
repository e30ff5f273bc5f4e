/* SPDX-License-Identifier: Apache-2.0 */
/* bench_reclaim: what reference counts, epochs, hazard pointers and handles cost a warp;
 * how long a collection of a million objects takes, beside one look at each entry; and its
 * pause, which is how much longer a section takes while one runs. Clocks are cycles on a
 * GPU, nanoseconds on the CPU, where there are fewer objects. What was built is counted
 * before a time is believed, and again after it. */
#include "bench_reclaim.h"

#include "rows.h"

#include <gpurt/gc.h>
#include <gpurt/heap.h>
#include <gpurt/reclaim.h>

#include <string.h>

GPURT_KERNEL_DECLARE(bench_reclaim_op, struct bench_reclaim_args);
GPURT_KERNEL_DECLARE(bench_reclaim_build, struct bench_reclaim_args);
GPURT_KERNEL_DECLARE(bench_reclaim_count, struct bench_reclaim_args);
GPURT_KERNEL_DECLARE(bench_reclaim_drop, struct bench_reclaim_args);
GPURT_KERNEL_DECLARE(bench_reclaim_pass, struct bench_reclaim_args);
GPURT_KERNEL_DECLARE(bench_reclaim_mutate, struct bench_reclaim_args);

enum {
    REPEATS = 21,
    ROUNDS = 128,
    THREADS = 256,
    PAUSE_LAUNCHES = 8, /* of mutators; until so many collections ran beside them */
    PAUSE_CYCLES = 64
};

/* What launches of mutators told. */
typedef struct pauses {
    double cycle_ns[PAUSE_CYCLES];
    double clocks_per_ms;
    uint32_t cycles;
} pauses_t;

typedef struct bench {
    gpurt_t *rt;
    gpurt_info_t info;
    bool gpu;
    struct bench_reclaim_args args;
    gpurt_stream_t side;
    gpurt_event_t begin, end;
    uint32_t warps; /* of the largest launch that is timed by the clock */
    double *samples;
    uint64_t *clocks;
} bench_t;

static void need(gpurt_status_t st, const char *what, const gpurt_error_t *err)
{
    if (st == GPURT_OK)
        return;
    fprintf(stderr, "bench_reclaim: %s: %s: %s\n", what, gpurt_status_name(st), err->text);
    exit(1);
}
#define NEED(call)                 \
    do {                           \
        gpurt_error_t err = {0};   \
        gpurt_status_t st_ = call; \
        need(st_, #call, &err);    \
    } while (0)

static void *memory(bench_t *b, size_t bytes)
{
    void *p;

    NEED(gpurt_mem_create(b->rt, bytes, &p, &err));
    NEED(gpurt_fill(b->rt, 0, p, 0, bytes, &err));
    return p;
}

static void setup(bench_t *b)
{
    static const gpurt_gc_type_t node = {
        .handles = 3, .tail = GPURT_GC_NO_TAIL, .bytes = RECLAIM_NODE_BYTES};
    gpurt_gc_options_t gc = {.types = &node, .type_count = 1};
    gpurt_heap_options_t heap = {.bytes = 64ull << 20};
    gpurt_hazards_options_t hazards = {.slots = 0};
    gpurt_epochs_options_t epochs = {.slots = 0};
    uint32_t lanes;

    NEED(gpurt_open(NULL, &b->rt, &err));
    NEED(gpurt_info(b->rt, &b->info));
    b->gpu = b->info.backend == GPURT_BACKEND_CUDA;
    gc.roots = b->gpu ? 65536 : 2048;
    gc.objects = gc.roots * RECLAIM_LIST;
    if (b->gpu)
        heap.bytes = 1ull << 30;
    NEED(gpurt_heap_create(b->rt, &heap, &b->args.heap, &err));
    NEED(gpurt_refs_create(b->rt, &b->args.heap,
                           &(gpurt_refs_options_t){.records = 1 << 20}, &b->args.refs,
                           &err));
    epochs.slots = hazards.slots = gc.sections = b->gpu ? 0 : 64;
    NEED(gpurt_epochs_create(b->rt, &b->args.heap, &epochs, &b->args.epochs, &err));
    NEED(gpurt_hazards_create(b->rt, &b->args.heap, &hazards, &b->args.hazards, &err));
    NEED(gpurt_gc_create(b->rt, &b->args.heap, &gc, &b->args.gc, &err));
    NEED(gpurt_stream_create(b->rt, &b->side, &err));
    NEED(gpurt_event_create(b->rt, &b->begin, &err));
    NEED(gpurt_event_create(b->rt, &b->end, &err));
    b->warps = b->info.sm_count * (b->gpu ? 32 : 4);
    lanes = b->warps * GPURT_WARP_SIZE;
    b->args.words = (uint64_t *)memory(b, lanes * 16 * sizeof(uint64_t));
    b->args.clocks = (uint64_t *)memory(b, (size_t)b->warps * ROUNDS * sizeof(uint64_t));
    b->args.sums = (uint64_t *)memory(b, 2 * sizeof(uint64_t));
    b->args.rate = (uint64_t *)memory(b, 2 * sizeof(uint64_t));
    b->args.rounds = ROUNDS;
    b->samples = (double *)malloc((size_t)b->warps * ROUNDS * sizeof(double));
    b->clocks = (uint64_t *)malloc((size_t)b->warps * ROUNDS * sizeof(uint64_t));
}

static gpurt_launch_t shape(const bench_t *b, uint32_t warps)
{
    bool wide = warps > b->info.sm_count && warps >= THREADS / GPURT_WARP_SIZE;
    uint32_t threads = wide ? THREADS : GPURT_WARP_SIZE;

    return (gpurt_launch_t){.grid = {warps * GPURT_WARP_SIZE / threads, 1, 1},
                            .block = {threads, 1, 1}};
}

static void sums_check(bench_t *b, uint64_t seen)
{
    uint64_t sums[2];

    NEED(gpurt_copy(b->rt, 0, sums, b->args.sums, sizeof sums, &err));
    NEED(gpurt_sync(b->rt, &err));
    NEED(gpurt_fill(b->rt, 0, b->args.sums, 0, sizeof sums, &err));
    if (sums[0] || sums[1] != seen) {
        fprintf(stderr, "bench_reclaim: %llu wrong answers, %llu objects instead of %llu\n",
                (unsigned long long)sums[0], (unsigned long long)sums[1],
                (unsigned long long)seen);
        exit(1);
    }
}

/* The clocks of a launch that has ended, sorted. */
static void clocks_read(bench_t *b, uint32_t warps)
{
    uint32_t count = warps * ROUNDS;

    NEED(gpurt_copy(b->rt, 0, b->clocks, b->args.clocks, count * sizeof(uint64_t), &err));
    NEED(gpurt_sync(b->rt, &err));
    for (uint32_t i = 0; i < count; i++)
        b->samples[i] = (double)b->clocks[i];
}

/* ---- what a warp pays ---------------------------------------------------------------- */

static void op_time(bench_t *b, uint32_t op, uint32_t warps, double *p50, double *p99)
{
    gpurt_launch_t launch = shape(b, warps);

    b->args.op = op;
    for (uint32_t i = 0; i < 2; i++) /* the first is to warm up */
        NEED(gpurt_launch(b->rt, &launch, bench_reclaim_op, &b->args, &err));
    NEED(gpurt_sync(b->rt, &err));
    sums_check(b, 0);
    clocks_read(b, warps);
    *p50 = rows_percentile(b->samples, warps * ROUNDS, 50);
    *p99 = rows_percentile(b->samples, warps * ROUNDS, 99);
}

static void cases_ops(bench_t *b)
{
    static const char *const names[RECLAIM_OPS] = {"atomic",
                                                   "retain_release_own",
                                                   "retain_release_same",
                                                   "try_retain_release",
                                                   "epoch_section",
                                                   "epoch_retire",
                                                   "hazard_protect",
                                                   "hazard_retire",
                                                   "alloc_free",
                                                   "gc_section",
                                                   "gc_get",
                                                   "gc_write"};
    const uint32_t warps[2] = {b->info.sm_count, b->warps};

    for (uint32_t i = 0; i < 2; i++) {
        double floor50, floor99, p50, p99;
        char name[64];

        op_time(b, RECLAIM_ATOMIC, warps[i], &floor50, &floor99);
        for (uint32_t op = 1; op < RECLAIM_OPS; op++) {
            op_time(b, op, warps[i], &p50, &p99);
            snprintf(name, sizeof name, "%s_%u_p50", names[op], warps[i]);
            rows_add("reclaim", name, p50, "clocks", names[0], floor50);
            snprintf(name, sizeof name, "%s_%u_p99", names[op], warps[i]);
            rows_add("reclaim", name, p99, "clocks", names[0], floor99);
        }
        NEED(gpurt_epochs_sweep(b->rt, &b->args.epochs, &err));
        NEED(gpurt_hazards_sweep(b->rt, &b->args.hazards, &err));
    }
}

/* ---- collections --------------------------------------------------------------------- */

static void build(bench_t *b)
{
    gpurt_launch_t launch = shape(b, b->warps);

    NEED(gpurt_fill(b->rt, 0, b->args.gc.roots, 0, b->args.gc.root_count * 8ull, &err));
    NEED(gpurt_sync(b->rt, &err));
    NEED(gpurt_gc_collect(b->rt, &b->args.gc, GPURT_GC_MAJOR_CYCLE, &err));
    NEED(gpurt_launch(b->rt, &launch, bench_reclaim_build, &b->args, &err));
    NEED(gpurt_launch(b->rt, &launch, bench_reclaim_count, &b->args, &err));
    sums_check(b, b->args.gc.entry_count);
}

static void count(bench_t *b, uint64_t expected)
{
    gpurt_launch_t launch = shape(b, b->warps);
    gpurt_gc_stats_t stats;

    NEED(gpurt_launch(b->rt, &launch, bench_reclaim_count, &b->args, &err));
    sums_check(b, expected);
    NEED(gpurt_gc_stats(b->rt, &b->args.gc, &stats, &err));
    if (stats.objects == expected)
        return;
    fprintf(stderr, "bench_reclaim: %llu objects are left\n",
            (unsigned long long)stats.objects);
    exit(1);
}

static double pass_ns(bench_t *b)
{
    gpurt_launch_t launch = shape(b, b->warps);
    double samples[REPEATS];

    for (uint32_t i = 0; i < REPEATS; i++) {
        uint64_t ns;

        NEED(gpurt_event_record(b->rt, b->begin, 0));
        NEED(gpurt_launch(b->rt, &launch, bench_reclaim_pass, &b->args, &err));
        NEED(gpurt_event_record(b->rt, b->end, 0));
        NEED(gpurt_event_sync(b->rt, b->end, &err));
        NEED(gpurt_event_elapsed_ns(b->rt, b->begin, b->end, &ns, &err));
        samples[i] = (double)ns;
    }
    return rows_median(samples, REPEATS);
}

/* Whole cycles of objects that all stay; the host's time, with nothing else going on. */
static void case_cycle(bench_t *b, const char *name, gpurt_gc_kind_t kind, double floor)
{
    double samples[REPEATS];
    char text[64];

    build(b);
    for (uint32_t i = 0; i < REPEATS; i++) {
        double begin = rows_now_ns();

        NEED(gpurt_gc_collect(b->rt, &b->args.gc, kind, &err));
        samples[i] = rows_now_ns() - begin;
    }
    count(b, b->args.gc.entry_count);
    snprintf(text, sizeof text, "%s_%u_p50", name, b->args.gc.entry_count);
    rows_add("reclaim", text, rows_percentile(samples, REPEATS, 50) / 1e6, "ms",
             "one look at each", floor / 1e6);
    snprintf(text, sizeof text, "%s_%u_p99", name, b->args.gc.entry_count);
    rows_add("reclaim", text, rows_percentile(samples, REPEATS, 99) / 1e6, "ms",
             "one look at each", floor / 1e6);
}

/* A launch of mutators, while nothing is collected or while something always is. Every section
 * that it timed goes to `to`. Returns: how many. */
static uint32_t mutate(bench_t *b, bool collects, double *to, pauses_t *out)
{
    uint32_t most = b->args.gc.root_count / GPURT_WARP_SIZE;
    uint32_t warps = b->warps / 2 < most ? b->warps / 2 : most;
    gpurt_launch_t launch = shape(b, warps);
    uint64_t rate[2];

    launch.stream = b->side;
    NEED(gpurt_launch(b->rt, &launch, bench_reclaim_mutate, &b->args, &err));
    while (collects && gpurt_stream_query(b->rt, b->side, NULL) == GPURT_E_NOT_READY) {
        double begin = rows_now_ns();

        NEED(gpurt_gc_collect(b->rt, &b->args.gc, GPURT_GC_MAJOR_CYCLE, &err));
        if (out->cycles < PAUSE_CYCLES)
            out->cycle_ns[out->cycles++] = rows_now_ns() - begin;
    }
    NEED(gpurt_stream_sync(b->rt, b->side, &err));
    clocks_read(b, warps);
    NEED(gpurt_copy(b->rt, 0, rate, b->args.rate, sizeof rate, &err));
    NEED(gpurt_sync(b->rt, &err));
    out->clocks_per_ms = (double)rate[0] / (double)rate[1] * 1e6;
    memcpy(to, b->samples, (size_t)warps * ROUNDS * sizeof *to);
    return warps * ROUNDS;
}

/* What a mutator feels of collections: the time that a section takes beyond the median of
 * sections that nothing is collected beside. Nobody is stopped, so there is no other pause. */
static void case_pause(bench_t *b)
{
    static const struct {
        const char *name;
        uint32_t percent;
    } parts[] = {{"p50", 50}, {"p99", 99}, {"max", 100}};
    size_t most = (size_t)PAUSE_LAUNCHES * b->warps / 2 * ROUNDS;
    double *quiet = (double *)malloc(most * sizeof(double));
    double *busy = (double *)malloc(most * sizeof(double)), usual;
    uint32_t quiets = 0, all = 0;
    pauses_t p = {0};
    char text[64];

    build(b);
    for (uint32_t i = 0; i < PAUSE_LAUNCHES; i++)
        quiets += mutate(b, false, quiet + quiets, &p);
    for (uint32_t i = 0; i < PAUSE_LAUNCHES && p.cycles < PAUSE_CYCLES; i++)
        all += mutate(b, true, busy + all, &p);
    count(b, b->args.gc.entry_count);
    usual = rows_percentile(quiet, quiets, 50);
    for (uint32_t i = 0; i < 3; i++) {
        double at = rows_percentile(busy, all, parts[i].percent);
        double without = rows_percentile(quiet, quiets, parts[i].percent);

        snprintf(text, sizeof text, "section_while_collecting_%s", parts[i].name);
        rows_add("reclaim", text, at, "clocks", "not", without);
        snprintf(text, sizeof text, "gc_pause_%u_%s", b->args.gc.entry_count,
                 parts[i].name);
        rows_add("reclaim", text, (at > usual ? at - usual : 0) / p.clocks_per_ms, "ms",
                 "the whole cycle", rows_median(p.cycle_ns, p.cycles) / 1e6);
    }
    rows_add("reclaim", "collections_meanwhile", p.cycles, "cycles", NULL, 0);
    free(quiet);
    free(busy);
}

static void case_compact(bench_t *b)
{
    gpurt_launch_t launch = shape(b, b->warps);
    gpurt_heap_stats_t before, after;
    uint32_t moved;
    double begin;

    build(b);
    b->args.every = 16;
    NEED(gpurt_launch(b->rt, &launch, bench_reclaim_drop, &b->args, &err));
    NEED(gpurt_sync(b->rt, &err));
    NEED(gpurt_gc_collect(b->rt, &b->args.gc, GPURT_GC_MAJOR_CYCLE, &err));
    NEED(gpurt_heap_trim(b->rt, &b->args.heap, &err));
    NEED(gpurt_heap_stats(b->rt, &b->args.heap, &before, &err));
    begin = rows_now_ns();
    NEED(gpurt_gc_compact(b->rt, &b->args.gc, &moved, &err));
    rows_add("reclaim", "compact_16th", (rows_now_ns() - begin) / 1e6, "ms", NULL, 0);
    NEED(gpurt_heap_stats(b->rt, &b->args.heap, &after, &err));
    rows_add("reclaim", "compact_16th_moved", moved, "objects", NULL, 0);
    rows_add("reclaim", "compact_16th_chunks", before.chunks - after.free_chunks, "chunks",
             "before", before.chunks - before.free_chunks);
    count(b, b->args.gc.entry_count / 16);
}

int main(void)
{
    static bench_t b;
    double floor;

    setup(&b);
    rows_head();
    build(&b);
    cases_ops(&b);
    floor = pass_ns(&b);
    case_cycle(&b, "collect_major", GPURT_GC_MAJOR_CYCLE, floor);
    case_cycle(&b, "collect_minor", GPURT_GC_MINOR_CYCLE, floor);
    case_pause(&b);
    case_compact(&b);
    NEED(gpurt_gc_destroy(b.rt, &b.args.gc, &err));
    NEED(gpurt_hazards_destroy(b.rt, &b.args.hazards, &err));
    NEED(gpurt_epochs_destroy(b.rt, &b.args.epochs, &err));
    NEED(gpurt_refs_destroy(b.rt, &b.args.refs, &err));
    NEED(gpurt_heap_destroy(b.rt, &b.args.heap, &err));
    NEED(gpurt_close(b.rt, &err));
    free(b.samples);
    free(b.clocks);
    return 0;
}
