/* SPDX-License-Identifier: Apache-2.0 */
/* bench_alloc_stage.h - what every case of bench_alloc stands on: the runtime, a heap of a size,
 * sums that kernels write, a launch and its time. A call that fails ends the bench. */
#ifndef GPURT_TESTS_BENCH_ALLOC_STAGE_H
#define GPURT_TESTS_BENCH_ALLOC_STAGE_H

#include "bench_alloc.h"

#include <gpurt/gpurt.h>
#include <gpurt/heap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    THREADS = 256, /* of a block */
    MILLION = 1 << 20
};
#define GIB (1ull << 30)

typedef struct bench {
    gpurt_t *rt;
    gpurt_info_t info;
    struct bench_alloc_args args;
    gpurt_event_t begin, end;
    const char *only;
} bench_t;

static inline void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_alloc: %s: %s\n", what, why);
    exit(1);
}

static inline void need(gpurt_status_t st, const char *what)
{
    if (st != GPURT_OK)
        fail(what, gpurt_status_text(st));
}

static inline bool wanted(const bench_t *b, const char *name)
{
    return !b->only || strncmp(name, b->only, strlen(b->only)) == 0;
}

/* ---- set-up -------------------------------------------------------------------------- */

static inline void *memory(bench_t *b, size_t bytes)
{
    void *p;

    need(gpurt_mem_create(b->rt, bytes, &p, NULL), "memory");
    need(gpurt_fill(b->rt, 0, p, 0, bytes, NULL), "fill");
    return p;
}

static inline void heap_open(bench_t *b, uint64_t bytes)
{
    gpurt_heap_options_t o = {.struct_size = sizeof o, .bytes = bytes};
    gpurt_error_t err = {0};

    if (gpurt_heap_create(b->rt, &o, &b->args.heap, &err) != GPURT_OK)
        fail("heap", err.text);
    /* Cells name no object of the heap before. */
    need(
        gpurt_fill(b->rt, GPURT_STREAM_DEFAULT, b->args.cells, 0, 8ull * 4 * MILLION, NULL),
        "clear the cells");
}

static inline void heap_close(bench_t *b)
{
    gpurt_error_t err = {0};

    if (gpurt_heap_check(b->rt, &b->args.heap, &err) != GPURT_OK)
        fail("heap", err.text);
    need(gpurt_heap_destroy(b->rt, &b->args.heap, NULL), "heap");
}

static inline void sums_clear(bench_t *b)
{
    need(gpurt_fill(b->rt, 0, b->args.sums, 0, BENCH_SUMS * 8, NULL), "fill");
}

static inline uint64_t sum_read(bench_t *b, uint32_t index)
{
    uint64_t sums[BENCH_SUMS];

    need(gpurt_copy(b->rt, 0, sums, b->args.sums, sizeof sums, NULL), "copy");
    need(gpurt_sync(b->rt, NULL), "sync");
    return sums[index];
}

/* ---- running ------------------------------------------------------------------------- */

static inline void launch(bench_t *b, const gpurt_kernel_t *kernel, uint32_t blocks,
                          uint32_t threads)
{
    gpurt_launch_t l = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
    gpurt_error_t err = {0};

    if (gpurt_launch_kernel(b->rt, &l, kernel, &b->args, sizeof b->args, &err) != GPURT_OK)
        fail(kernel->name, err.text);
}

static inline void launch_all(bench_t *b, const gpurt_kernel_t *kernel)
{
    launch(b, kernel, (uint32_t)((b->args.count + THREADS - 1) / THREADS), THREADS);
}

static inline double time_ns(bench_t *b, const gpurt_kernel_t *kernel, uint32_t blocks,
                             uint32_t threads)
{
    uint64_t ns;

    need(gpurt_event_record(b->rt, b->begin, 0), "event");
    launch(b, kernel, blocks, threads);
    need(gpurt_event_record(b->rt, b->end, 0), "event");
    need(gpurt_event_sync(b->rt, b->end, NULL), kernel->name);
    need(gpurt_event_elapsed_ns(b->rt, b->begin, b->end, &ns, NULL), "event");
    return (double)ns;
}

static inline double time_all(bench_t *b, const gpurt_kernel_t *kernel)
{
    return time_ns(b, kernel, (uint32_t)((b->args.count + THREADS - 1) / THREADS), THREADS);
}

#endif
