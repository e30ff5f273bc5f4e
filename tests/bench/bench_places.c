/* SPDX-License-Identifier: Apache-2.0 */
/* bench_places: what memory with a shape costs: arenas, pools, regions, many frees by one
 * call, rows against bank conflicts. Beside each the bare pointer that moves, or what one
 * would use instead.
 *
 * Lanes look at their objects before a time is believed. Words after a case's name: bytes, warps of
 * a multiprocessor. Cycles are a warp's, a call; the median over warps and repeats. An argument
 * runs only the cases whose name begins with it. On the CPU back end, GPURT_BACKEND=cpu, it
 * shows that the kernels are right; its nanoseconds mean nothing. */
#include "bench_places.h"

#include "rows.h"

#include <gpurt/arenas.h>
#include <gpurt/matrix.h>
#include <gpurt/regions.h>

#include <string.h>

enum {
    REPEATS = 11,
    LEAST = 3,             /* repeats of a kernel, */
    KERNEL_NS = 500000000, /* ... and more as long as that takes */
    ROUNDS = 64,
    MAX_BLOCKS = 1024,
    REGION_ROUNDS = 4, /* a warp's request is 32 looks */
    REGION_BLOCKS = 16 /* what all of them hold fits into the region and the heap */
};

GPURT_KERNEL_DECLARE(bench_places_bare, struct bench_places_args);
GPURT_KERNEL_DECLARE(bench_places_arena, struct bench_places_args);
GPURT_KERNEL_DECLARE(bench_places_arena_warp, struct bench_places_args);
GPURT_KERNEL_DECLARE(bench_places_arena_block, struct bench_places_args);
GPURT_KERNEL_DECLARE(bench_places_arena_heap, struct bench_places_args);
GPURT_KERNEL_DECLARE(bench_places_heap, struct bench_places_args);
GPURT_KERNEL_DECLARE(bench_places_heap_warp, struct bench_places_args);
GPURT_KERNEL_DECLARE(bench_places_magazine, struct bench_places_args);
GPURT_KERNEL_DECLARE(bench_places_pools, struct bench_places_args);
GPURT_KERNEL_DECLARE(bench_places_region, struct bench_places_args);
GPURT_KERNEL_DECLARE(bench_places_tile, struct bench_places_args);

typedef struct bench {
    gpurt_t *rt;
    struct bench_places_args args;
    uint32_t blocks, threads;
    const char *only;
} bench_t;

static void need(gpurt_status_t st, const gpurt_error_t *err, const char *what)
{
    if (st == GPURT_OK)
        return;
    fprintf(stderr, "bench_places: %s: %s\n", what, err->text);
    exit(1);
}

static void *memory(bench_t *b, size_t bytes)
{
    gpurt_error_t err = {0};
    void *p = NULL;

    need(gpurt_mem_create(b->rt, bytes, &p, &err), &err, "memory");
    need(gpurt_fill(b->rt, 0, p, 0, bytes, &err), &err, "memory");
    return p;
}

typedef struct cost {
    double get, put; /* cycles of a warp, a call */
} cost_t;

static uint32_t samples_of(const bench_t *b, double *to, uint32_t at, uint32_t which)
{
    static uint64_t seen[2 * MAX_BLOCKS * BENCH_THREADS / 32];
    uint32_t warps = b->blocks * b->threads / 32;
    gpurt_error_t err = {0};

    need(gpurt_copy(b->rt, 0, seen, b->args.cycles, warps * 2 * sizeof *seen, &err), &err,
         "copy");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    for (uint32_t i = 0; i < warps; i++)
        to[at + i] = (double)seen[2 * i + which] / b->args.rounds / BENCH_BATCH;
    return warps;
}

static cost_t run(bench_t *b, const gpurt_kernel_t *kernel)
{
    static double get[REPEATS * MAX_BLOCKS * BENCH_THREADS / 32];
    static double put[REPEATS * MAX_BLOCKS * BENCH_THREADS / 32];
    gpurt_launch_t l = {.grid = {b->blocks, 1, 1}, .block = {b->threads, 1, 1}};
    gpurt_error_t err = {0};
    double until = rows_now_ns() + KERNEL_NS;
    uint32_t count = 0;
    uint64_t wrong;

    for (uint32_t i = 0; i < REPEATS && (i < LEAST || rows_now_ns() < until); i++) {
        need(gpurt_launch_kernel(b->rt, &l, kernel, &b->args, sizeof b->args, &err), &err,
             kernel->name);
        samples_of(b, get, count, 0);
        count += samples_of(b, put, count, 1);
    }
    need(gpurt_copy(b->rt, 0, &wrong, b->args.wrong, sizeof wrong, &err), &err, "copy");
    need(gpurt_sync(b->rt, &err), &err, kernel->name);
    if (wrong) {
        fprintf(stderr, "bench_places: %s: %llu objects were not there or not one's own\n",
                kernel->name, (unsigned long long)wrong);
        exit(1);
    }
    return (cost_t){rows_median(get, count), rows_median(put, count)};
}

static void row(const bench_t *b, const char *what, const char *call, double value,
                const char *peer, double peer_value)
{
    char name[96];

    snprintf(name, sizeof name, "%s_%s_%u_%uw", what, call, b->args.bytes, b->threads / 32);
    rows_add("places", name, value, "cycles", peer, peer_value);
}

static bool wanted(const bench_t *b, const char *name)
{
    return !b->only || strncmp(name, b->only, strlen(b->only)) == 0;
}

static void cases_arena(bench_t *b)
{
    static const struct {
        const char *name;
        const gpurt_kernel_t *kernel;
    } kinds[] = {{"arena_thread", &gpurt_kernel_bench_places_arena},
                 {"arena_warp", &gpurt_kernel_bench_places_arena_warp},
                 {"arena_block", &gpurt_kernel_bench_places_arena_block},
                 {"arena_pieces", &gpurt_kernel_bench_places_arena_heap}};
    cost_t bare = run(b, &gpurt_kernel_bench_places_bare), heap;

    heap = run(b, &gpurt_kernel_bench_places_heap);
    for (uint32_t i = 0; i < 4; i++) {
        cost_t c = run(b, kinds[i].kernel);

        row(b, kinds[i].name, "get", c.get, "bare-pointer", bare.get);
        row(b, kinds[i].name, "get", c.get, "heap", heap.get);
        row(b, kinds[i].name, "reset", c.put * BENCH_BATCH, "heap-frees",
            heap.put * BENCH_BATCH);
    }
}

static void cases_pools(bench_t *b)
{
    cost_t pools = run(b, &gpurt_kernel_bench_places_pools);
    cost_t magazine = run(b, &gpurt_kernel_bench_places_magazine);
    cost_t heap = run(b, &gpurt_kernel_bench_places_heap);
    cost_t warp = run(b, &gpurt_kernel_bench_places_heap_warp);

    row(b, "pools", "get", pools.get, "magazine", magazine.get);
    row(b, "pools", "get", pools.get, "heap", heap.get);
    row(b, "pools", "put", pools.put, "magazine", magazine.put);
    row(b, "pools", "put", pools.put, "heap", heap.put);
    row(b, "warp_call", "get", warp.get, "heap", heap.get);
    row(b, "warp_call", "put", warp.put, "heap", heap.put);
}

static void cases_region(bench_t *b)
{
    static const char *const names[] = {"region_first", "region_best", "region_worst"};
    uint32_t threads = b->threads, blocks = b->blocks;
    gpurt_error_t err = {0};

    b->blocks = blocks < REGION_BLOCKS ? blocks : (uint32_t)REGION_BLOCKS;
    b->args.bytes = 32768; /* a granule, and a slot of the heap's largest class */
    b->args.rounds = REGION_ROUNDS;
    for (uint32_t fit = 0; fit < GPURT_FITS; fit++)
        for (b->threads = 32; b->threads <= threads; b->threads *= 8) {
            gpurt_region_options_t o = {.fit = fit, .bytes = 2ull << 30};
            cost_t c, heap;

            heap = run(b, &gpurt_kernel_bench_places_heap);
            need(gpurt_region_create(b->rt, &o, &b->args.region, &err), &err, "region");
            c = run(b, &gpurt_kernel_bench_places_region);
            row(b, names[fit], "get", c.get, "heap", heap.get);
            row(b, names[fit], "put", c.put, "heap", heap.put);
            need(gpurt_region_check(b->rt, &b->args.region, &err), &err, "region");
            need(gpurt_region_destroy(b->rt, &b->args.region, &err), &err, "region");
        }
    b->threads = threads;
    b->blocks = blocks;
    b->args.rounds = ROUNDS;
}

static void cases_tile(bench_t *b)
{
    double padded, bare;

    b->args.bytes = 4;
    b->args.pitch = 32;
    bare = run(b, &gpurt_kernel_bench_places_tile).get;
    b->args.pitch = gpurt_bank_pitch(128, 4) / 4;
    padded = run(b, &gpurt_kernel_bench_places_tile).get;
    row(b, "tile_column", "load", padded * BENCH_BATCH / 32, "unpadded",
        bare * BENCH_BATCH / 32);
}

static void cases(bench_t *b)
{
    for (b->threads = 32; b->threads <= BENCH_THREADS; b->threads *= 8) {
        if (wanted(b, "arena"))
            for (b->args.bytes = 16; b->args.bytes <= 256; b->args.bytes *= 4)
                cases_arena(b);
        b->args.bytes = 64;
        if (wanted(b, "pools"))
            cases_pools(b);
        if (wanted(b, "tile"))
            cases_tile(b);
    }
    b->threads = BENCH_THREADS;
    if (wanted(b, "region"))
        cases_region(b);
}

int main(int argc, char **argv)
{
    gpurt_heap_options_t o = {.bytes = 2ull << 30};
    bench_t b = {.only = argc > 1 ? argv[1] : NULL};
    gpurt_error_t err = {0};
    gpurt_info_t info;

    if (gpurt_open(NULL, &b.rt, &err) != GPURT_OK || gpurt_info(b.rt, &info) != GPURT_OK) {
        fprintf(stderr, "bench_places: %s\n", err.text);
        return 77;
    }
    b.args.rounds = ROUNDS;
    b.blocks = info.sm_count < MAX_BLOCKS ? info.sm_count : MAX_BLOCKS;
    need(gpurt_heap_create(b.rt, &o, &b.args.heap, &err), &err, "heap");
    need(gpurt_arena_source_create(b.rt, &b.args.heap, 0, &b.args.source, &err), &err,
         "source");
    b.args.scratch = (char *)memory(&b, (size_t)b.blocks * BENCH_THREADS * 4096);
    b.args.cycles = (uint64_t *)memory(&b, (size_t)b.blocks * BENCH_THREADS / 32 * 16);
    b.args.wrong = (uint64_t *)memory(&b, 8);
    rows_head();
    cases(&b);
    need(gpurt_heap_check(b.rt, &b.args.heap, &err), &err, "heap");
    gpurt_arena_source_destroy(b.rt, &b.args.source, NULL);
    gpurt_heap_destroy(b.rt, &b.args.heap, NULL);
    gpurt_mem_destroy(b.rt, b.args.scratch);
    gpurt_mem_destroy(b.rt, b.args.cycles);
    gpurt_mem_destroy(b.rt, b.args.wrong);
    return gpurt_close(b.rt, NULL) == GPURT_OK ? 0 : 1;
}
