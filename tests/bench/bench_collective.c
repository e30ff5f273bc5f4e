/* SPDX-License-Identifier: Apache-2.0 */
/* bench_collective: scans and a reduction by a whole grid beside a copy of the same bytes (a
 * reduction beside half of it: it writes nothing), a scan beside CUB's, a phaser beside the grid
 * barrier, and that beside grid.sync() of cooperative groups. Results are checked before a time
 * is believed. */
#include "bench_collective.h"

#include "bench_collective_cub.h"
#include "rows.h"

#include <gpurt/gridscan.h>
#include <gpurt/phasers.h>

GPURT_KERNEL_DECLARE(bench_collective_copy, struct bench_collective_args);
GPURT_KERNEL_DECLARE(bench_collective_scan, struct bench_collective_args);
GPURT_KERNEL_DECLARE(bench_collective_scan_float, struct bench_collective_args);
GPURT_KERNEL_DECLARE(bench_collective_reduce, struct bench_collective_args);
GPURT_KERNEL_DECLARE(bench_collective_phaser, struct bench_collective_args);
GPURT_KERNEL_DECLARE(bench_collective_grid, struct bench_collective_args);
GPURT_KERNEL_DECLARE(bench_collective_peer, struct bench_collective_args);

enum {
    REPEATS = 21,
    THREADS = 256,
    BLOCKS_MOST = 16384, /* as many as tiles */
    TILE = THREADS * (int)GPURT_TILE_THREAD_BYTES / 4
};

typedef struct bench {
    gpurt_t *rt;
    gpurt_info_t info;
    struct bench_collective_args args;
    gpurt_event_t begin, end;
    uint32_t *host; /* n elements */
    bool gpu;
} bench_t;

#define NEED(call)                                                                \
    do {                                                                          \
        gpurt_error_t err = {0};                                                  \
        gpurt_status_t st_ = call;                                                \
                                                                                  \
        if (st_ != GPURT_OK) {                                                    \
            fprintf(stderr, "bench_collective: %s: %s\n", gpurt_status_name(st_), \
                    err.text);                                                    \
            exit(1);                                                              \
        }                                                                         \
    } while (0)

static void *memory(bench_t *b, uint64_t bytes)
{
    void *p;

    NEED(gpurt_mem_create(b->rt, bytes, &p, &err));
    NEED(gpurt_fill(b->rt, 0, p, 0, bytes, &err));
    return p;
}

static void setup(bench_t *b)
{
    NEED(gpurt_open(NULL, &b->rt, &err));
    NEED(gpurt_info(b->rt, &b->info));
    b->gpu = b->info.backend == GPURT_BACKEND_CUDA;
    b->args.n = b->gpu ? 64u << 20 : 1u << 18;
    b->args.rounds = b->gpu ? 1000 : 20;
    b->args.area = memory(b, gpurt_grid_area_bytes(b->args.n, BLOCKS_MOST, THREADS, 4));
    b->args.in = (const uint32_t *)memory(b, b->args.n * 4);
    b->args.out = (uint32_t *)memory(b, b->args.n * 4);
    b->args.phaser = (gpurt_phaser_t *)memory(b, sizeof(gpurt_phaser_t));
    b->args.clocks = (uint64_t *)memory(b, BLOCKS_MOST * 8);
    b->host = (uint32_t *)malloc(b->args.n * 4);
    NEED(gpurt_event_create(b->rt, &b->begin, &err));
    NEED(gpurt_event_create(b->rt, &b->end, &err));
}

/* As many blocks as are resident at once. */
static gpurt_launch_t shape(bench_t *b, const gpurt_kernel_t *kernel)
{
    gpurt_launch_t launch = {.block = {THREADS, 1, 1}};
    uint32_t fit;

    NEED(gpurt_occupancy(b->rt, &launch, kernel, &fit, &err));
    launch.grid.x = fit;
    if (fit > BLOCKS_MOST)
        launch.grid.x = BLOCKS_MOST;
    return launch;
}

/* The median launch, in nanoseconds; the first two warm up. */
static double time_of(bench_t *b, const gpurt_launch_t *launch,
                      const gpurt_kernel_t *kernel)
{
    double samples[REPEATS];

    /* anew: not all kernels have as many blocks */
    NEED(gpurt_fill(b->rt, 0, b->args.area, 0,
                    gpurt_grid_area_bytes(b->args.n, BLOCKS_MOST, THREADS, 4), &err));
    for (uint32_t i = 0; i < REPEATS + 2; i++) {
        uint64_t ns;

        NEED(gpurt_event_record(b->rt, b->begin, 0));
        NEED(gpurt_launch_kernel(b->rt, launch, kernel, &b->args, sizeof b->args, &err));
        NEED(gpurt_event_record(b->rt, b->end, 0));
        NEED(gpurt_event_sync(b->rt, b->end, &err));
        NEED(gpurt_event_elapsed_ns(b->rt, b->begin, b->end, &ns, &err));
        if (i >= 2)
            samples[i - 2] = (double)ns;
    }
    return rows_median(samples, REPEATS);
}
static double time_ns(bench_t *b, const gpurt_kernel_t *kernel)
{
    gpurt_launch_t launch = shape(b, kernel);

    return time_of(b, &launch, kernel);
}
static double time_tiles_ns(bench_t *b, const gpurt_kernel_t *kernel)
{
    gpurt_launch_t launch = {.grid = {(uint32_t)(b->args.n / TILE), 1, 1},
                             .block = {THREADS, 1, 1}};

    return time_of(b, &launch, kernel);
}

static void wrong(const char *what, uint64_t at)
{
    fprintf(stderr, "bench_collective: %s: element %llu is wrong\n", what,
            (unsigned long long)at);
    exit(1);
}

/* The input is 1, 2, 3 ... in turns of 1,000, so sums are known. */
static void check(bench_t *b, bool scan)
{
    uint32_t sum = 0;

    NEED(gpurt_copy(b->rt, 0, b->host, b->args.out, b->args.n * 4, &err));
    NEED(gpurt_sync(b->rt, &err));
    for (uint64_t i = 0; i < b->args.n; i++) {
        sum += (uint32_t)(i % 1000 + 1);
        if (scan && b->host[i] != sum)
            wrong("scan", i);
    }
    if (!scan && b->host[0] != sum)
        wrong("reduce", 0);
}

static void row(bench_t *b, const char *name, double ns, double bytes, double floor_ns)
{
    char text[64];

    snprintf(text, sizeof text, "%s_%llu", name, (unsigned long long)b->args.n);
    rows_add("collective", text, bytes / ns, "GB/s", "copy of as many bytes",
             (double)b->args.n * 8 / floor_ns);
}

/* In the same run, by the same array; no row where CUB is missing. */
static void row_of_cub(bench_t *b, double scan_ns, double copy_ns)
{
    double samples[REPEATS], bytes = (double)b->args.n * 8, cub_ns;

    NEED(gpurt_fill(b->rt, 0, b->args.out, 0, b->args.n * 4, &err));
    NEED(gpurt_sync(b->rt, &err));
    if (bench_collective_cub(b->args.in, b->args.out, b->args.n, samples, REPEATS) != 0)
        return;
    check(b, true);
    cub_ns = rows_median(samples, REPEATS);
    rows_add("collective", "scan_u32_beside_cub", bytes / scan_ns, "GB/s",
             "cub::DeviceScan::InclusiveSum", bytes / cub_ns);
    row(b, "cub_scan_u32", cub_ns, bytes, copy_ns);
}

static void case_arrays(bench_t *b)
{
    double bytes = (double)b->args.n * 4, copy, scan, tiles;

    for (uint64_t i = 0; i < b->args.n; i++)
        b->host[i] = (uint32_t)(i % 1000 + 1);
    NEED(gpurt_copy(b->rt, 0, (void *)(uintptr_t)b->args.in, b->host, b->args.n * 4, &err));
    NEED(gpurt_sync(b->rt, &err));
    copy = time_ns(b, &gpurt_kernel_bench_collective_copy);
    scan = time_ns(b, &gpurt_kernel_bench_collective_scan);
    row(b, "scan_u32", scan, 2 * bytes, copy);
    check(b, true);
    tiles = time_tiles_ns(b, &gpurt_kernel_bench_collective_scan);
    row(b, "scan_u32_block_a_tile", tiles, 2 * bytes, copy);
    check(b, true);
    row_of_cub(b, tiles < scan ? tiles : scan, copy);
    row(b, "scan_f32", time_ns(b, &gpurt_kernel_bench_collective_scan_float), 2 * bytes,
        copy);
    row(b, "scan_f32_block_a_tile",
        time_tiles_ns(b, &gpurt_kernel_bench_collective_scan_float), 2 * bytes, copy);
    row(b, "reduce_u32", time_ns(b, &gpurt_kernel_bench_collective_reduce), bytes, copy);
    check(b, false);
}

/* Nanoseconds a round, of the slowest block. */
static double round_ns(bench_t *b, const gpurt_kernel_t *kernel, bool cooperative)
{
    gpurt_launch_t launch = {.block = {THREADS, 1, 1}, .cooperative = cooperative};
    static uint64_t clocks[BLOCKS_MOST];
    double samples[REPEATS];
    gpurt_phaser_t p;

    launch.grid.x = b->gpu ? b->info.sm_count : 4;
    NEED(gpurt_phaser_fits(b->rt, &launch, kernel, launch.grid.x, &err));
    for (uint32_t i = 0; i < REPEATS; i++) {
        uint64_t most = 0;

        gpurt_phaser_init(&p, launch.grid.x);
        NEED(gpurt_copy(b->rt, 0, b->args.phaser, &p, sizeof p, &err));
        NEED(gpurt_launch_kernel(b->rt, &launch, kernel, &b->args, sizeof b->args, &err));
        NEED(gpurt_copy(b->rt, 0, clocks, b->args.clocks, launch.grid.x * 8, &err));
        NEED(gpurt_sync(b->rt, &err));
        for (uint32_t block = 0; block < launch.grid.x; block++)
            most = clocks[block] > most ? clocks[block] : most;
        samples[i] = (double)most / b->args.rounds;
    }
    return rows_median(samples, REPEATS);
}

static void case_barriers(bench_t *b)
{
    double grid = round_ns(b, &gpurt_kernel_bench_collective_grid, true);
    double peer = b->gpu ? round_ns(b, &gpurt_kernel_bench_collective_peer, true) : 0;
    double phaser = round_ns(b, &gpurt_kernel_bench_collective_phaser, false);

    if (b->gpu)
        rows_add("collective", "grid_barrier_round_p50", grid, "ns", "grid.sync", peer);
    rows_add("collective", "phaser_round_p50", phaser, "ns", "grid barrier", grid);
}

int main(void)
{
    static bench_t b;

    setup(&b);
    rows_head();
    case_arrays(&b);
    case_barriers(&b);
    NEED(gpurt_close(b.rt, &err));
    free(b.host);
    return 0;
}
