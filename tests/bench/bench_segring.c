/* SPDX-License-Identifier: Apache-2.0 */
/* bench_segring: segments and bytes a second through a ring, with readers that keep up and with a ring
 * that overwrites, and what a call costs that waits for nobody. Beside each its floor: an addition a
 * warp and the bare stores, a compare-exchange.
 *
 * In each run what was read is summed up, and what was read and lost together is what was written.
 * On the CPU back end, GPURT_BACKEND=cpu, it shows that the kernels are right; its figures mean
 * nothing. */
#include "bench_segring.h"

#include "rows.h"

#include <gpurt/segrings.h>

#include <stdio.h>

enum {
    REPEATS = 21,
    FEWER = 4 /* a part of all segments, where many blocks overwrite */
};

GPURT_KERNEL_DECLARE(bench_segring_feed, struct bench_segring_args);
GPURT_KERNEL_DECLARE(bench_segring_bare, struct bench_segring_args);
GPURT_KERNEL_DECLARE(bench_segring_call, struct bench_segring_args);
GPURT_KERNEL_DECLARE(bench_segring_cas, struct bench_segring_args);

typedef struct bench {
    gpurt_t *rt;
    gpurt_stream_t stream;
    struct bench_segring_args args;
    bench_ring_sums_t seen; /* of the last run */
    gpurt_segring_counts_t counts;
    uint32_t threads, each, blocks;
} bench_t;

static void need(gpurt_status_t st, const gpurt_error_t *err, const char *what)
{
    if (st == GPURT_OK)
        return;
    fprintf(stderr, "bench_segring: %s: %s\n", what, err->text);
    exit(1);
}

static void *memory(bench_t *b, size_t bytes)
{
    gpurt_error_t err = {0};
    void *p = NULL;

    need(gpurt_mem_create(b->rt, bytes, &p, &err), &err, "memory");
    return p;
}

static void launch(bench_t *b, const gpurt_kernel_t *kernel, uint32_t blocks,
                   uint32_t threads)
{
    gpurt_launch_t l = {
        .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .stream = b->stream};
    gpurt_error_t err = {0};

    need(gpurt_launch_kernel(b->rt, &l, kernel, &b->args, sizeof b->args, &err), &err,
         kernel->name);
}

/* A ring of its own for each run. Returns: nanoseconds of the kernel. */
static double run_once(bench_t *b, const gpurt_kernel_t *kernel, uint32_t policy,
                       uint32_t blocks, uint32_t threads)
{
    const gpurt_segring_options_t o = {.bytes = BENCH_RING_BYTES, .policy = policy};
    gpurt_segring_status_t s;
    gpurt_error_t err = {0};
    gpurt_event_t from, to;
    uint64_t took = 0;

    need(gpurt_segring_create(b->rt, &o, &b->args.ring, &err), &err, "ring");
    need(gpurt_event_create(b->rt, &from, &err), &err, "event");
    need(gpurt_event_create(b->rt, &to, &err), &err, "event");
    need(gpurt_fill(b->rt, b->stream, b->args.sums, 0, sizeof b->seen, &err), &err, "fill");
    gpurt_event_record(b->rt, from, b->stream);
    launch(b, kernel, blocks, threads);
    gpurt_event_record(b->rt, to, b->stream);
    need(gpurt_copy(b->rt, b->stream, &b->seen, b->args.sums, sizeof b->seen, &err), &err,
         "copy");
    need(gpurt_sync(b->rt, &err), &err, kernel->name);
    need(gpurt_event_elapsed_ns(b->rt, from, to, &took, &err), &err, "time");
    need(gpurt_segring_status(b->rt, &b->args.ring, &s, &err), &err, "status");
    b->counts = s.counts;
    need(gpurt_segring_destroy(b->rt, &b->args.ring, &err), &err, "destroy");
    gpurt_event_destroy(b->rt, from);
    gpurt_event_destroy(b->rt, to);
    return (double)took;
}

static void feed_check(const bench_t *b, uint32_t writers, uint32_t policy,
                       const char *name)
{
    uint64_t all = (uint64_t)writers * b->threads * b->each;
    bool fine = b->seen.xother == 0 && b->counts.reserved == all;

    if (policy == GPURT_SEGRING_BLOCK)
        fine = fine && b->seen.xread == all && b->seen.xsum == all * (b->each + 1) / 2;
    else
        fine = fine && b->counts.lost + b->counts.depth == all;
    if (fine)
        return;
    fprintf(stderr, "bench_segring: %s: wrote %llu, read %llu, lost %llu, other %llu\n",
            name, (unsigned long long)b->counts.reserved, (unsigned long long)b->seen.xread,
            (unsigned long long)b->counts.lost, (unsigned long long)b->seen.xother);
    exit(1);
}

/* M segments a second, from all blocks that fit, or from one. */
static void feed(bench_t *b, const char *what, uint32_t writers, uint32_t readers,
                 uint32_t policy)
{
    double ns[REPEATS], bare[REPEATS];
    double segments = (double)b->each * b->threads * writers;
    char name[64];

    b->args.each = b->each;
    b->args.readers = readers;
    snprintf(name, sizeof name, "%s_%u_blocks_%u", what, b->args.bytes, writers);
    for (uint32_t i = 0; i <= REPEATS; i++) { /* the first one warms up */
        ns[i ? i - 1 : 0] = run_once(b, &gpurt_kernel_bench_segring_feed, policy,
                                     writers + readers, b->threads);
        feed_check(b, writers, policy, name);
        bare[i ? i - 1 : 0] =
            run_once(b, &gpurt_kernel_bench_segring_bare, policy, writers, b->threads);
    }
    rows_add("segring", name, segments / rows_median(ns, REPEATS) * 1e3, "Mseg/s",
             "bare-stores", segments / rows_median(bare, REPEATS) * 1e3);
}

static double cycles_of(bench_t *b, const gpurt_kernel_t *kernel, uint32_t at)
{
    uint64_t seen[BENCH_RING_CALLS];
    double cycles[BENCH_RING_CALLS];
    gpurt_error_t err = {0};

    (void)run_once(b, kernel, GPURT_SEGRING_BLOCK, 1, 32);
    (void)run_once(b, kernel, GPURT_SEGRING_BLOCK, 1, 32);
    need(gpurt_copy(b->rt, b->stream, seen, b->args.cycles + at, sizeof seen, &err), &err,
         "copy");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    for (uint32_t i = 0; i < BENCH_RING_CALLS; i++)
        cycles[i] = (double)seen[i];
    return rows_percentile(cycles, BENCH_RING_CALLS, 50);
}

static void calls(bench_t *b)
{
    static const char *const names[] = {"call_write", "call_read"};
    char text[64];

    for (uint32_t i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%s_%u", names[i], b->args.bytes);
        rows_add("segring", text,
                 cycles_of(b, &gpurt_kernel_bench_segring_call, i * BENCH_RING_CALLS),
                 "cycles", "cas",
                 cycles_of(b, &gpurt_kernel_bench_segring_cas, i * BENCH_RING_CALLS));
    }
}

static void begin(bench_t *b, const gpurt_info_t *info)
{
    gpurt_launch_t shape = {.block = {1, 1, 1}};
    bool gpu = info->backend == GPURT_BACKEND_CUDA;
    gpurt_error_t err = {0};
    uint32_t fits = 0;

    b->threads = gpu ? 256 : 32;
    b->each = gpu ? 16 : 4;
    shape.block.x = b->threads;
    need(gpurt_occupancy(b->rt, &shape, &gpurt_kernel_bench_segring_feed, &fits, &err),
         &err, "occupancy");
    b->blocks =
        info->sm_count < fits ? info->sm_count : fits; /* all are resident at once */
    b->blocks = b->blocks < 3 ? 3 : b->blocks;
    need(gpurt_stream_create(b->rt, &b->stream, &err), &err, "stream");
    b->args.sums = (bench_ring_sums_t *)memory(b, sizeof b->seen);
    b->args.bare = (uint64_t *)memory(b, BENCH_RING_BYTES);
    b->args.cycles = (uint64_t *)memory(b, 2 * BENCH_RING_CALLS * sizeof(uint64_t));
}

int main(void)
{
    static const uint32_t bytes[] = {32, 240, 1008}; /* one unit, four, sixteen */
    static bench_t b;
    gpurt_error_t err = {0};
    gpurt_info_t info;

    if (gpurt_open(NULL, &b.rt, &err) != GPURT_OK || gpurt_info(b.rt, &info) != GPURT_OK) {
        fprintf(stderr, "bench_segring: %s\n", err.text);
        return 77;
    }
    begin(&b, &info);
    rows_head();
    for (uint32_t i = 0; i < 3; i++) {
        b.args.bytes = bytes[i];
        calls(&b);
        feed(&b, "record", 1, 0, GPURT_SEGRING_OVERWRITE);
        b.each /= FEWER; /* all of them move one tail */
        feed(&b, "record", b.blocks, 0, GPURT_SEGRING_OVERWRITE);
        b.each *= FEWER;
        feed(&b, "feed", 1, 1, GPURT_SEGRING_BLOCK);
    }
    gpurt_mem_destroy(b.rt, b.args.sums);
    gpurt_mem_destroy(b.rt, b.args.bare);
    gpurt_mem_destroy(b.rt, b.args.cycles);
    return gpurt_close(b.rt, NULL) == GPURT_OK ? 0 : 1;
}
