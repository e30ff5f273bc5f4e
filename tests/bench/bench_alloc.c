/* SPDX-License-Identifier: Apache-2.0 */
/* bench_alloc: what an allocation costs, how many there are in a second, and how much of a
 * heap they can use; beside it CUDA's device malloc and counters that only go up, which are
 * the least that an allocator can cost.
 *
 * Objects are written and looked at by other threads before a time is believed. Each time
 * is the median of its repeats; words after the case name: threads, or warps a
 * multiprocessor. An argument runs only the cases whose name begins with it; soak SECONDS
 * churns for so long instead. */
#include "bench_alloc_stage.h"
#include "rows.h"

#include <cuda_runtime_api.h>
#include <string.h>

enum {
    REPEATS = 21,
    BUMP_COUNTERS = 256,
    SM_CYCLES_ROUNDS = 200
};

#define KERNELS(suffix)                                                \
    GPURT_KERNEL_DECLARE(bench_get_##suffix, struct bench_alloc_args); \
    GPURT_KERNEL_DECLARE(bench_put_##suffix, struct bench_alloc_args); \
    GPURT_KERNEL_DECLARE(bench_latency_##suffix, struct bench_alloc_args)
KERNELS(gpurt);
GPURT_KERNEL_DECLARE(bench_get_tight, struct bench_alloc_args);
GPURT_KERNEL_DECLARE(bench_put_tight, struct bench_alloc_args);
KERNELS(cuda);
KERNELS(bump_one);
KERNELS(bump_sm);
GPURT_KERNEL_DECLARE(bench_latency_magazine, struct bench_alloc_args);
GPURT_KERNEL_DECLARE(bench_latency_magazine_64, struct bench_alloc_args);
GPURT_KERNEL_DECLARE(bench_latency_magazine_64_half, struct bench_alloc_args);
GPURT_KERNEL_DECLARE(bench_latency_tight, struct bench_alloc_args);
GPURT_KERNEL_DECLARE(bench_latency_gpurt_64, struct bench_alloc_args);
GPURT_KERNEL_DECLARE(bench_latency_shared, struct bench_alloc_args);
GPURT_KERNEL_DECLARE(bench_mark, struct bench_alloc_args);
GPURT_KERNEL_DECLARE(bench_check, struct bench_alloc_args);
GPURT_KERNEL_DECLARE(bench_survive, struct bench_alloc_args);
GPURT_KERNEL_DECLARE(bench_churn_gpurt, struct bench_alloc_args);
GPURT_KERNEL_DECLARE(bench_churn_cuda, struct bench_alloc_args);
GPURT_KERNEL_DECLARE(bench_churn_by_warp_gpurt, struct bench_alloc_args);
GPURT_KERNEL_DECLARE(bench_churn_by_warp_cuda, struct bench_alloc_args);
GPURT_KERNEL_DECLARE(bench_exhaust_gpurt, struct bench_alloc_args);
GPURT_KERNEL_DECLARE(bench_release_gpurt, struct bench_alloc_args);

typedef struct peer {
    const char *name;
    const gpurt_kernel_t *get, *put, *latency;
    bool frees;
} peer_t;
static const peer_t gpurt = {"gpurt", &gpurt_kernel_bench_get_gpurt,
                             &gpurt_kernel_bench_put_gpurt,
                             &gpurt_kernel_bench_latency_gpurt, true};
static const peer_t gpurt_64 = {"gpurt-64", NULL, NULL,
                                &gpurt_kernel_bench_latency_gpurt_64, true};
static const peer_t tight = {"gpurt-32-registers", &gpurt_kernel_bench_get_tight,
                             &gpurt_kernel_bench_put_tight,
                             &gpurt_kernel_bench_latency_tight, true};
static const peer_t magazine = {"magazine", NULL, NULL,
                                &gpurt_kernel_bench_latency_magazine, true};
static const peer_t magazine_64 = {"magazine-64", NULL, NULL,
                                   &gpurt_kernel_bench_latency_magazine_64, true};
static const peer_t magazine_64_half = {"magazine-64", NULL, NULL,
                                        &gpurt_kernel_bench_latency_magazine_64_half, true};
static const peer_t shared = {"ceil-shared", NULL, NULL, &gpurt_kernel_bench_latency_shared,
                              true};
static const peer_t cuda = {"cuda-malloc", &gpurt_kernel_bench_get_cuda,
                            &gpurt_kernel_bench_put_cuda, &gpurt_kernel_bench_latency_cuda,
                            true};
static const peer_t bump_one = {"ceil-bump1", &gpurt_kernel_bench_get_bump_one,
                                &gpurt_kernel_bench_put_bump_one,
                                &gpurt_kernel_bench_latency_bump_one, false};
static const peer_t bump_sm = {"ceil-bumpSM", &gpurt_kernel_bench_get_bump_sm,
                               &gpurt_kernel_bench_put_bump_sm,
                               &gpurt_kernel_bench_latency_bump_sm, false};

/* Every cell has an object of its own. */
static void check_cells(bench_t *b, const char *who)
{
    sums_clear(b);
    launch_all(b, &gpurt_kernel_bench_mark);
    launch_all(b, &gpurt_kernel_bench_check);
    if (sum_read(b, BENCH_NULL))
        fail(who, "not every request was served");
    if (sum_read(b, BENCH_WRONG))
        fail(who, "two objects share memory");
}

typedef struct pair {
    double get, put;
} pair_t;

/* One object a thread, in G/s. */
static pair_t many(bench_t *b, const peer_t *who, uint32_t repeats)
{
    double get[REPEATS], put[REPEATS];
    pair_t rate;

    need(gpurt_fill(b->rt, 0, b->args.bump, 0, BUMP_COUNTERS * 128, NULL), "fill");
    for (uint32_t i = 0; i < repeats + 1; i++) { /* the first is for the check */
        double ns = time_all(b, who->get);

        if (i == 0 && who->frees)
            check_cells(b, who->name);
        else if (i > 0)
            get[i - 1] = ns;
        if (who->frees)
            ns = time_all(b, who->put);
        if (i > 0)
            put[i - 1] = ns;
    }
    rate.get = (double)b->args.count / rows_median(get, repeats);
    rate.put = (double)b->args.count / rows_median(put, repeats);
    return rate;
}

static void run_many(bench_t *b, const char *kind, uint64_t count, uint32_t bytes)
{
    pair_t ours, theirs[4];
    const peer_t *peers[4] = {&bump_one, &bump_sm, &tight, &cuda};
    char name[64];

    b->args.count = count;
    b->args.min_bytes = bytes;
    ours = many(b, &gpurt, REPEATS);
    for (uint32_t i = 0; i < 4; i++) {
        bool slow = peers[i] == &cuda;

        if (slow && (count > 65536 || bytes == 1024))
            continue; /* minutes */
        theirs[i] = many(b, peers[i], slow ? 3 : REPEATS);
        snprintf(name, sizeof name, "%s_get_%u_%llu", kind, bytes,
                 (unsigned long long)count);
        rows_add("alloc", name, ours.get, "G/s", peers[i]->name, theirs[i].get);
        snprintf(name, sizeof name, "%s_put_%u_%llu", kind, bytes,
                 (unsigned long long)count);
        if (peers[i]->frees)
            rows_add("alloc", name, ours.put, "G/s", peers[i]->name, theirs[i].put);
    }
    snprintf(name, sizeof name, "%s_put_%u_%llu", kind, bytes, (unsigned long long)count);
    rows_add("alloc", name, ours.put, "G/s", NULL, 0);
}

static void cases_warm(bench_t *b)
{
    static const uint32_t sizes[] = {16, 64, 256, 1024, 4096, 8192};
    static const uint32_t counts[] = {MILLION, 65536, 4096};

    if (!wanted(b, "warm"))
        return;
    heap_open(b, 12 * GIB); /* a million of the largest, and what shards keep */
    for (uint32_t c = 0; c < 3; c++)
        for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            if (counts[c] == MILLION || sizes[i] == 64)
                run_many(b, "warm", counts[c], sizes[i]);
    heap_close(b);
}

/* The first kernel that uses a heap. */
static void cases_cold(bench_t *b)
{
    static const uint32_t sizes[] = {16, 64, 256, 1024, 4096};
    enum {
        COLD = 5
    };

    for (uint32_t i = 0; i < 5 && wanted(b, "cold"); i++) {
        double get[COLD];
        char name[64];

        b->args.count = MILLION;
        b->args.min_bytes = sizes[i];
        for (uint32_t k = 0; k < COLD; k++) {
            heap_open(b, 8 * GIB);
            get[k] = time_all(b, gpurt.get);
            check_cells(b, gpurt.name);
            heap_close(b);
        }
        snprintf(name, sizeof name, "cold_get_%u_%d", sizes[i], MILLION);
        rows_add("alloc", name, MILLION / rows_median(get, COLD), "G/s", NULL, 0);
    }
}

/* ---- cycles -------------------------------------------------------------------------- */

static void sort_u32(uint32_t *v, uint32_t count, double *out)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = v[i];
    qsort(out, count, sizeof *out, rows_compare);
}

static void run_latency(bench_t *b, const peer_t *who, uint32_t bytes, uint32_t blocks,
                        uint32_t threads, const char *load)
{
    uint32_t rounds = who == &cuda ? 20 : SM_CYCLES_ROUNDS;
    uint32_t count = blocks * threads / 32 * rounds;
    uint32_t *cycles = (uint32_t *)malloc(count * 8), *one = (uint32_t *)malloc(count * 4);
    double *sorted = (double *)malloc(count * sizeof(double));
    static const char *const calls[] = {"get", "put"};

    b->args.min_bytes = bytes;
    b->args.rounds = rounds;
    b->args.count = MILLION;
    need(gpurt_fill(b->rt, 0, b->args.bump, 0, BUMP_COUNTERS * 128, NULL), "fill");
    sums_clear(b);
    for (uint32_t i = 0; i < 2; i++) /* the first warms up */
        launch(b, who->latency, blocks, threads);
    need(gpurt_copy(b->rt, 0, cycles, b->args.cycles, count * 8, NULL), "copy");
    need(gpurt_sync(b->rt, NULL), who->name);
    if (sum_read(b, BENCH_NULL))
        fail(who->name, "not every request whose time was taken was served");
    for (uint32_t k = 0; k < 2; k++) {
        char name[64];

        if (k == 1 && !who->frees)
            break;
        for (uint32_t i = 0; i < count; i++)
            one[i] = cycles[2 * i + k];
        sort_u32(one, count, sorted);
        snprintf(name, sizeof name, "latency_%s_%u_%s.p50.%s", calls[k], bytes, load,
                 who->name);
        rows_add("alloc", name, sorted[count / 2], "cycles", NULL, 0);
        snprintf(name, sizeof name, "latency_%s_%u_%s.p99.%s", calls[k], bytes, load,
                 who->name);
        rows_add("alloc", name, sorted[count - count / 100 - 1], "cycles", NULL, 0);
    }
    free(cycles);
    free(one);
    free(sorted);
}

static void cases_latency(bench_t *b)
{
    uint32_t sms = b->info.sm_count;

    if (!wanted(b, "latency"))
        return;
    heap_open(b, 4 * GIB);
    run_latency(b, &magazine_64, 64, sms, 32, "1warp");
    run_latency(b, &magazine_64_half, 64, sms * 4, 256, "half");
    run_latency(b, &magazine_64, 64, sms * 8, 256, "full");
    run_latency(b, &shared, 64, sms, 32, "1warp");
    run_latency(b, &shared, 64, sms * 4, 256, "half");
    run_latency(b, &shared, 64, sms * 8, 256, "full");
    run_latency(b, &magazine, 64, sms, 32, "1warp");
    run_latency(b, &magazine, 64, sms * 8, 256, "full");
    run_latency(b, &gpurt, 64, sms, 32, "1warp");
    run_latency(b, &gpurt_64, 64, sms, 32, "1warp");
    run_latency(b, &gpurt, 4096, sms, 32, "1warp");
    run_latency(b, &tight, 64, sms, 32, "1warp");
    run_latency(b, &tight, 64, sms * 8, 256, "full");
    run_latency(b, &bump_one, 64, sms, 32, "1warp");
    run_latency(b, &bump_sm, 64, sms, 32, "1warp");
    run_latency(b, &bump_sm, 64, sms * 8, 256, "full");
    run_latency(b, &cuda, 64, sms, 32, "1warp");
    heap_close(b);
}

/* ---- the others ---------------------------------------------------------------------- */

static void cases_churn(bench_t *b)
{
    enum {
        CHURN_THREADS = 65536,
        ROUNDS = 100
    };
    static const struct {
        const char *name;
        uint32_t every;
        const gpurt_kernel_t *ours, *cuda;
    } ways[] = {
        {"churn_16_8192", 0, &gpurt_kernel_bench_churn_gpurt,
         &gpurt_kernel_bench_churn_cuda},
        {"churn_16_8192_all_bytes", 1, &gpurt_kernel_bench_churn_gpurt,
         &gpurt_kernel_bench_churn_cuda},
        {"churn_16_8192_all_bytes_by_warp", 1, &gpurt_kernel_bench_churn_by_warp_gpurt,
         &gpurt_kernel_bench_churn_by_warp_cuda},
    };
    double ns[5], cuda_ns;

    if (!wanted(b, "churn"))
        return;
    heap_open(b, 4 * GIB);
    b->args.min_bytes = 16;
    b->args.max_bytes = 8192;
    b->args.rounds = ROUNDS;
    for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++) {
        b->args.every = ways[way].every;
        sums_clear(b);
        for (uint32_t i = 0; i < 5; i++) {
            b->args.seed = i;
            ns[i] = time_ns(b, ways[way].ours, CHURN_THREADS / THREADS, THREADS);
        }
        if (sum_read(b, BENCH_WRONG) || sum_read(b, BENCH_NULL))
            fail("churn", "objects were overwritten, or requests not served");
        b->args.rounds = 2;
        cuda_ns = time_ns(b, ways[way].cuda, CHURN_THREADS / THREADS, THREADS) / 2 * ROUNDS;
        b->args.rounds = ROUNDS;
        rows_add("alloc", ways[way].name, 2.0 * CHURN_THREADS * ROUNDS / rows_median(ns, 5),
                 "G op/s", cuda.name, 2.0 * CHURN_THREADS * ROUNDS / cuda_ns);
    }
    heap_close(b);
}

/* From one thread to a million, an object each; from 8 multiprocessors to all, as blocks go to
 * one each, 200 objects a thread one after the other. */
static void cases_scale(bench_t *b)
{
    static const uint32_t threads[] = {1, 32, 1024, 16384, 262144, MILLION};
    static const uint32_t sms[] = {8, 16, 33, 66, 132};
    enum {
        ROUNDS = 200
    };
    char name[64];

    if (!wanted(b, "scale"))
        return;
    heap_open(b, 4 * GIB);
    for (uint32_t i = 0; i < sizeof threads / sizeof *threads; i++)
        run_many(b, "scale", threads[i], 64);
    b->args.min_bytes = b->args.max_bytes = 64;
    b->args.every = 0;
    b->args.rounds = ROUNDS;
    sums_clear(b);
    for (uint32_t i = 0; i < sizeof sms / sizeof *sms && sms[i] <= b->info.sm_count; i++) {
        double ns[5];

        for (uint32_t k = 0; k < 5; k++)
            ns[k] = time_ns(b, &gpurt_kernel_bench_churn_gpurt, sms[i], THREADS);
        snprintf(name, sizeof name, "scale_sm_%u", sms[i]);
        rows_add("alloc", name, 2.0 * sms[i] * THREADS * ROUNDS / rows_median(ns, 5),
                 "G op/s", NULL, 0);
    }
    if (sum_read(b, BENCH_WRONG) || sum_read(b, BENCH_NULL))
        fail("scale", "objects were overwritten, or requests not served");
    heap_close(b);
}

/* For so many seconds: objects of all sizes, every byte written and read, then the heap's
 * tables looked through; seeds and the share of long objects change from round to round. */
static void soak(bench_t *b, double seconds)
{
    static const uint32_t most[] = {64, 1024, 8192, 32768};
    enum {
        ROUNDS = 20,
        SOAK_THREADS = 65536
    };
    double ns = 0, ops = 0;
    uint32_t turn = 0;

    heap_open(b, 4 * GIB);
    b->args.every = 1;
    b->args.min_bytes = 1;
    b->args.rounds = ROUNDS;
    for (; ns < seconds * 1e9; turn++) {
        gpurt_error_t err = {0};

        b->args.seed = turn;
        b->args.max_bytes = most[turn % 4];
        sums_clear(b);
        ns += time_ns(b, &gpurt_kernel_bench_churn_gpurt, SOAK_THREADS / THREADS, THREADS);
        ops += 2.0 * SOAK_THREADS * ROUNDS;
        if (sum_read(b, BENCH_WRONG) || sum_read(b, BENCH_NULL))
            fail("soak", "objects were overwritten, or requests not served");
        if (turn % 64 == 0 && gpurt_heap_check(b->rt, &b->args.heap, &err) != GPURT_OK)
            fail("soak", err.text);
    }
    heap_close(b);
    rows_add("alloc", "soak", ns / 1e9, "s", NULL, 0);
    rows_add("alloc", "soak.ops", ops / 1e9, "G", NULL, 0);
}

static double served_percent(bench_t *b, uint32_t min_bytes, uint32_t max_bytes,
                             uint64_t heap)
{
    uint64_t bytes;

    b->args.min_bytes = min_bytes;
    b->args.max_bytes = max_bytes;
    b->args.rounds = 1u << 30;
    sums_clear(b);
    launch(b, &gpurt_kernel_bench_exhaust_gpurt, b->info.sm_count * 8, THREADS);
    launch(b, &gpurt_kernel_bench_exhaust_gpurt, b->info.sm_count * 8, THREADS);
    bytes = sum_read(b, BENCH_BYTES);
    return 100.0 * (double)bytes / (double)heap;
}

static void release(bench_t *b)
{
    b->args.every = 0;
    launch(b, &gpurt_kernel_bench_release_gpurt, b->info.sm_count * 8, THREADS);
    need(gpurt_sync(b->rt, NULL), "release");
}

static void cases_use(bench_t *b)
{
    static const uint32_t ranges[][2] = {{16, 16},     {64, 64},     {256, 256},
                                         {1024, 1024}, {4096, 4096}, {16, 8192}};
    char name[64];

    for (uint32_t i = 0; i < 6 && wanted(b, "use"); i++) {
        heap_open(b, 8 * GIB);
        snprintf(name, sizeof name, "use_%u_%u", ranges[i][0], ranges[i][1]);
        rows_add("alloc", name, served_percent(b, ranges[i][0], ranges[i][1], 8 * GIB), "%",
                 NULL, 0);
        release(b);
        heap_close(b);
    }
    if (wanted(b, "use")) { /* what one class frees, another can have */
        heap_open(b, GIB / 2);
        served_percent(b, 64, 64, GIB / 2);
        release(b);
        rows_add("alloc", "use_4096_after_64", served_percent(b, 4096, 4096, GIB / 2), "%",
                 NULL, 0);
        release(b);
        heap_close(b);
    }
}

static void cases_survivors(bench_t *b)
{
    gpurt_heap_stats_t stats;
    uint32_t rounds = 0;
    double ns = 0;

    if (!wanted(b, "survivors"))
        return;
    heap_open(b, GIB);
    b->args.min_bytes = 64;
    b->args.count = 4 * MILLION;
    for (; rounds < 64; rounds++) {
        sums_clear(b);
        ns += time_all(b, gpurt.get);
        launch_all(b, &gpurt_kernel_bench_mark);
        launch_all(b, &gpurt_kernel_bench_check);
        if (sum_read(b, BENCH_NULL))
            break;
        if (sum_read(b, BENCH_WRONG))
            fail("survivors", "two objects share memory");
        b->args.seed = rounds;
        launch_all(b, &gpurt_kernel_bench_survive);
    }
    rows_add("alloc", "survivors_rounds", rounds, "of 64", NULL, 0);
    rows_add("alloc", "survivors_get", 64.0 * 4 * MILLION / ns, "G/s", NULL, 0);
    need(gpurt_heap_stats(b->rt, &b->args.heap, &stats, NULL), "stats");
    rows_add("alloc", "survivors_footprint",
             (double)(stats.chunks - stats.free_chunks) * GPURT_CHUNK_BYTES /
                 (double)stats.live_bytes,
             "x live", NULL, 0);
    heap_close(b);
}

/* A full heap says so at once to everybody, and serves nobody. */
static double full_answer(bench_t *b)
{
    double ns[5];

    b->args.rounds = 1;
    launch(b, &gpurt_kernel_bench_exhaust_gpurt, 1056, THREADS); /* to the last one */
    sums_clear(b);
    for (uint32_t i = 0; i < 5; i++)
        ns[i] = time_ns(b, &gpurt_kernel_bench_exhaust_gpurt, 1056, THREADS);
    if (sum_read(b, BENCH_SERVED))
        fail("full", "requests were served by a heap that was to be full");
    return rows_median(ns, 5);
}

static void cases_full(bench_t *b)
{
    static const uint32_t ranges[][2] = {{64, 64}, {16, 8192}};
    char name[64];

    for (uint32_t k = 0; k < 2 && wanted(b, "full"); k++) {
        heap_open(b, GIB);
        served_percent(b, ranges[k][0], ranges[k][1], GIB);
        b->args.count = 270336;
        b->args.min_bytes = b->args.max_bytes; /* smaller ones may still be there */
        snprintf(name, sizeof name, "full_answer_%u_%u_270336", ranges[k][0], ranges[k][1]);
        rows_add("alloc", name, full_answer(b) / 1000, "us", NULL, 0);
        release(b);
        heap_close(b);
    }
}

int main(int argc, char **argv)
{
    gpurt_options_t options = {.struct_size = sizeof options,
                               .backend = GPURT_BACKEND_CUDA};
    gpurt_error_t err = {0};
    bench_t b = {0};

    b.only = argc > 1 ? argv[1] : NULL;
    if (gpurt_open(&options, &b.rt, &err) != GPURT_OK) {
        fprintf(stderr, "bench_alloc: skipped: %s\n", err.text);
        return 77;
    }
    need(gpurt_info(b.rt, &b.info), "info");
    if (b.info.backend != GPURT_BACKEND_CUDA) {
        fprintf(stderr, "bench_alloc: skipped: %s\n", b.info.why);
        return 77;
    }
    if (cudaDeviceSetLimit(cudaLimitMallocHeapSize, 2 * GIB) != cudaSuccess)
        fail("cudaDeviceSetLimit", "refused");
    need(gpurt_event_create(b.rt, &b.begin, NULL), "event");
    need(gpurt_event_create(b.rt, &b.end, NULL), "event");
    b.args.cells = (uint64_t *)memory(&b, 8ull * 4 * MILLION);
    b.args.bump = (uint64_t *)memory(&b, BUMP_COUNTERS * 128);
    b.args.arena = (char *)memory(&b, 8 * GIB);
    b.args.sums = (uint64_t *)memory(&b, BENCH_SUMS * 8);
    b.args.cycles = (uint32_t *)memory(&b, 8ull * b.info.sm_count * 64 * SM_CYCLES_ROUNDS);
    rows_head();
    if (argc > 2 && strcmp(argv[1], "soak") == 0)
        soak(&b, atof(argv[2]));
    cases_warm(&b);
    cases_cold(&b);
    cases_latency(&b);
    cases_churn(&b);
    cases_scale(&b);
    cases_use(&b);
    cases_survivors(&b);
    cases_full(&b);
    need(gpurt_close(b.rt, NULL), "close");
    return 0;
}
