/* SPDX-License-Identifier: Apache-2.0 */
/* bench_broadcast: messages a second from one block to 1, 8 and 64 others, how long one takes from
 * one multiprocessor to another, and what a call costs that waits for nobody. Beside each its
 * floor: bare tickets and slots, a flag each way, a compare-exchange and a load.
 *
 * The sum of all that was read is checked in each run; with the policy that drops, read and lost
 * together. On the CPU back end, GPURT_BACKEND=cpu, it shows that the kernels are right; its
 * figures mean nothing. */
#include "bench_broadcast.h"

#include "rows.h"

#include <gpurt/broadcasts.h>

#include <stdio.h>

enum {
    REPEATS = 21
};

GPURT_KERNEL_DECLARE(bench_broadcast_feed_word, struct bench_broadcast_args);
GPURT_KERNEL_DECLARE(bench_broadcast_feed_note, struct bench_broadcast_args);
GPURT_KERNEL_DECLARE(bench_broadcast_bare, struct bench_broadcast_args);
GPURT_KERNEL_DECLARE(bench_broadcast_call, struct bench_broadcast_args);
GPURT_KERNEL_DECLARE(bench_broadcast_call_bare, struct bench_broadcast_args);
GPURT_KERNEL_DECLARE(bench_broadcast_ping, struct bench_broadcast_args);
GPURT_KERNEL_DECLARE(bench_broadcast_flag, struct bench_broadcast_args);

typedef struct bench {
    gpurt_t *rt;
    struct bench_broadcast_args args;
    bench_cast_sums_t seen; /* of the last run */
    uint32_t threads, each, blocks;
} bench_t;

static void need(gpurt_status_t st, const gpurt_error_t *err, const char *what)
{
    if (st == GPURT_OK)
        return;
    fprintf(stderr, "bench_broadcast: %s: %s\n", what, err->text);
    exit(1);
}

static void *memory(bench_t *b, size_t bytes)
{
    gpurt_error_t err = {0};
    void *p = NULL;

    need(gpurt_mem_create(b->rt, bytes, &p, &err), &err, "memory");
    return p;
}

static void casts_make(bench_t *b, uint32_t policy)
{
    const gpurt_broadcast_options_t o = {.policy = policy};
    gpurt_error_t err = {0};

    need(gpurt_make_broadcast(b->rt, &b->args.word, &o, &err), &err, "broadcast");
    need(gpurt_make_broadcast(b->rt, &b->args.back, &o, &err), &err, "broadcast");
    need(gpurt_make_broadcast(b->rt, &b->args.note, &o, &err), &err, "broadcast");
}

static void casts_free(bench_t *b)
{
    gpurt_error_t err = {0};

    need(gpurt_broadcast_destroy(b->rt, &b->args.word.broadcast, &err), &err, "destroy");
    need(gpurt_broadcast_destroy(b->rt, &b->args.back.broadcast, &err), &err, "destroy");
    need(gpurt_broadcast_destroy(b->rt, &b->args.note.broadcast, &err), &err, "destroy");
}

/* Returns: nanoseconds of the kernel. */
static double run_once(bench_t *b, const gpurt_kernel_t *kernel, uint32_t blocks,
                       uint32_t threads)
{
    gpurt_launch_t l = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
    gpurt_error_t err = {0};
    gpurt_event_t from, to;
    uint64_t took = 0;

    need(gpurt_event_create(b->rt, &from, &err), &err, "event");
    need(gpurt_event_create(b->rt, &to, &err), &err, "event");
    need(gpurt_fill(b->rt, 0, b->args.sums, 0, sizeof b->seen, &err), &err, "fill");
    need(gpurt_fill(b->rt, 0, b->args.ring, 0, 1024, &err), &err, "fill");
    gpurt_event_record(b->rt, from, 0);
    need(gpurt_launch_kernel(b->rt, &l, kernel, &b->args, sizeof b->args, &err), &err,
         kernel->name);
    gpurt_event_record(b->rt, to, 0);
    need(gpurt_copy(b->rt, 0, &b->seen, b->args.sums, sizeof b->seen, &err), &err, "copy");
    need(gpurt_sync(b->rt, &err), &err, kernel->name);
    need(gpurt_event_elapsed_ns(b->rt, from, to, &took, &err), &err, "time");
    gpurt_event_destroy(b->rt, from);
    gpurt_event_destroy(b->rt, to);
    return (double)took;
}

/* What must be true of a run in which each of `readers` reads all. */
static void feed_check(const bench_t *b, uint32_t readers, bool drops, const char *name)
{
    uint64_t all = (uint64_t)readers * b->threads * b->each * (b->each + 1ull) / 2;

    if (drops ? b->seen.xsum <= all : b->seen.xsum == all && b->seen.xlost == 0)
        return;
    fprintf(stderr, "bench_broadcast: %s: read %llu, lost %llu messages, not %llu\n", name,
            (unsigned long long)b->seen.xsum, (unsigned long long)b->seen.xlost,
            (unsigned long long)all);
    exit(1);
}

/* M messages a second that are published, each for all readers. */
static void feed(bench_t *b, const char *name, const gpurt_kernel_t *kernel,
                 uint32_t readers, uint32_t policy)
{
    double ns[REPEATS], bare[REPEATS], messages = (double)b->each * b->threads;
    char text[64];

    if (readers + 1 > b->blocks)
        return;
    casts_make(b, policy);
    b->args.each = b->each;
    for (uint32_t i = 0; i <= REPEATS; i++) { /* the first one warms up */
        ns[i ? i - 1 : 0] = run_once(b, kernel, readers + 1, b->threads);
        feed_check(b, readers, policy == GPURT_BROADCAST_DROP, name);
        bare[i ? i - 1 : 0] =
            run_once(b, &gpurt_kernel_bench_broadcast_bare, readers + 1, b->threads);
    }
    snprintf(text, sizeof text, "%s_%u", name, readers);
    rows_add("broadcast", text, messages / rows_median(ns, REPEATS) * 1e3, "Mmsg/s",
             "bare-tickets", messages / rows_median(bare, REPEATS) * 1e3);
    casts_free(b);
}

static double cycles_of(bench_t *b, const gpurt_kernel_t *kernel, uint32_t blocks,
                        uint32_t at, uint32_t count, uint32_t percent)
{
    uint64_t seen[BENCH_CAST_PINGS];
    double cycles[BENCH_CAST_PINGS];
    gpurt_error_t err = {0};

    (void)run_once(b, kernel, blocks, 32);
    (void)run_once(b, kernel, blocks, 32);
    need(gpurt_copy(b->rt, 0, seen, b->args.cycles + at, count * sizeof *seen, &err), &err,
         "copy");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    for (uint32_t i = 0; i < count; i++)
        cycles[i] = (double)seen[i];
    return rows_percentile(cycles, count, percent);
}

static void calls(bench_t *b)
{
    static const char *const names[] = {"call_publish_8", "call_read_8"};
    static const char *const floors[] = {"cas", "load"};

    casts_make(b, GPURT_BROADCAST_BLOCK);
    for (uint32_t i = 0; i < 2; i++)
        rows_add("broadcast", names[i],
                 cycles_of(b, &gpurt_kernel_bench_broadcast_call, 1, i * BENCH_CAST_CALLS,
                           BENCH_CAST_CALLS, 50),
                 "cycles", floors[i],
                 cycles_of(b, &gpurt_kernel_bench_broadcast_call_bare, 1,
                           i * BENCH_CAST_CALLS, BENCH_CAST_CALLS, 50));
    casts_free(b);
}

static void hops(bench_t *b)
{
    static const uint32_t percents[] = {50, 99};
    char text[64];

    casts_make(b, GPURT_BROADCAST_BLOCK);
    for (uint32_t i = 0; i < 2; i++) {
        double way = cycles_of(b, &gpurt_kernel_bench_broadcast_ping, b->blocks, 0,
                               BENCH_CAST_PINGS, percents[i]);
        double flag = cycles_of(b, &gpurt_kernel_bench_broadcast_flag, b->blocks, 0,
                                BENCH_CAST_PINGS, percents[i]);

        snprintf(text, sizeof text, "one_way_8_p%u", percents[i]);
        rows_add("broadcast", text, way / 2, "cycles", "bare-flag", flag / 2);
    }
    casts_free(b);
}

int main(void)
{
    static const uint32_t readers[] = {1, 8, 64};
    static bench_t b;
    gpurt_launch_t shape = {.block = {1, 1, 1}};
    gpurt_error_t err = {0};
    uint32_t fits = 0;
    gpurt_info_t info;

    if (gpurt_open(NULL, &b.rt, &err) != GPURT_OK || gpurt_info(b.rt, &info) != GPURT_OK) {
        fprintf(stderr, "bench_broadcast: %s\n", err.text);
        return 77;
    }
    b.threads = info.backend == GPURT_BACKEND_CUDA ? 512 : 32;
    b.each = info.backend == GPURT_BACKEND_CUDA ? 500 : 4;
    shape.block.x = b.threads;
    need(
        gpurt_occupancy(b.rt, &shape, &gpurt_kernel_bench_broadcast_feed_note, &fits, &err),
        &err, "occupancy");
    b.blocks = info.sm_count < fits ? info.sm_count : fits; /* all are resident at once */
    b.blocks = b.blocks < 2 ? 2 : b.blocks;
    b.args.sums = (bench_cast_sums_t *)memory(&b, sizeof b.seen);
    b.args.ring = (uint64_t *)memory(&b, BENCH_CAST_SLOTS * sizeof(gpurt_u128_t));
    b.args.cycles = (uint64_t *)memory(&b, BENCH_CAST_PINGS * sizeof(uint64_t));
    rows_head();
    for (uint32_t i = 0; i < 3; i++) {
        feed(&b, "feed_8", &gpurt_kernel_bench_broadcast_feed_word, readers[i],
             GPURT_BROADCAST_BLOCK);
        feed(&b, "feed_48", &gpurt_kernel_bench_broadcast_feed_note, readers[i],
             GPURT_BROADCAST_BLOCK);
        feed(&b, "feed_8_drop", &gpurt_kernel_bench_broadcast_feed_word, readers[i],
             GPURT_BROADCAST_DROP);
    }
    hops(&b);
    calls(&b);
    gpurt_mem_destroy(b.rt, b.args.sums);
    gpurt_mem_destroy(b.rt, b.args.ring);
    gpurt_mem_destroy(b.rt, b.args.cycles);
    return gpurt_close(b.rt, NULL) == GPURT_OK ? 0 : 1;
}
