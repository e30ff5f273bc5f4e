/* SPDX-License-Identifier: Apache-2.0 */
/* bench_heap_checks: what a request with its free costs at each level of checks, beside the
 * same by code that does not check. Objects are written and read; a heap that finds something
 * wrong, or refuses, ends the bench. Each figure is the median of its repeats. */
#include "bench_heap_checks.h"
#include "rows.h"

#include <gpurt/heap.h>

GPURT_KERNEL_DECLARE(bench_heap_checked, struct bench_heap_args);
GPURT_KERNEL_DECLARE(bench_heap_plain, struct bench_heap_args);

enum {
    REPEATS = 21,
    THREADS = 128,
    HEAP_CPU = 128 << 20,
    HEAP_GPU =
        1 << 30 /* 67,584 lanes on an H200, up to 3 KiB each, and what is kept back */
};

static gpurt_t *rt;
static gpurt_error_t err;

static void ok_at(int line, gpurt_status_t st)
{
    if (st == GPURT_OK)
        return;
    fprintf(stderr, "bench_heap_checks.c:%d: %s: %s\n", line, gpurt_status_name(st),
            err.text);
    exit(1);
}
#define OK(call) ok_at(__LINE__, call)

static void nothing_wrong(const struct bench_heap_args *args)
{
    uint64_t faults;
    uint32_t seen[2];

    OK(gpurt_copy(rt, 0, seen, args->xseen, sizeof seen, &err));
    OK(gpurt_sync(rt, &err));
    OK(gpurt_heap_faults(rt, &args->heap, NULL, 0, &faults, &err));
    if (seen[0] || seen[1] || faults) {
        fprintf(stderr, "bench_heap_checks: %u wrong, %u refused, %llu found\n", seen[0],
                seen[1], (unsigned long long)faults);
        exit(1);
    }
}

/* Nanoseconds of one request with its free, over all lanes. */
static double pair_ns(const gpurt_kernel_t *kernel, uint32_t level, uint32_t size)
{
    gpurt_heap_options_t options = {.bytes = HEAP_CPU, .checks = level};
    struct bench_heap_args args = {.size = size};
    gpurt_launch_t launch = {.block = {THREADS, 1, 1}};
    double samples[REPEATS];
    gpurt_info_t info;

    OK(gpurt_info(rt, &info));
    if (info.backend == GPURT_BACKEND_CUDA)
        options.bytes = HEAP_GPU;
    launch.grid.x = info.backend == GPURT_BACKEND_CUDA ? info.sm_count * 4 : 16;
    args.rounds = info.backend == GPURT_BACKEND_CUDA ? 64 : 20;
    OK(gpurt_heap_create(rt, &options, &args.heap, &err));
    OK(gpurt_mem_create(rt, 2 * sizeof(uint32_t), (void **)&args.xseen, &err));
    OK(gpurt_fill(rt, 0, args.xseen, 0, 2 * sizeof(uint32_t), &err));
    for (int i = -3; i < REPEATS; i++) {
        double begin = rows_now_ns();

        OK(gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err));
        OK(gpurt_sync(rt, &err));
        if (i >= 0)
            samples[i] =
                (rows_now_ns() - begin) / ((double)launch.grid.x * THREADS * args.rounds);
    }
    nothing_wrong(&args);
    OK(gpurt_mem_destroy(rt, args.xseen));
    OK(gpurt_heap_destroy(rt, &args.heap, &err));
    return rows_median(samples, REPEATS);
}

static void levels(uint32_t size)
{
    static const char *const names[] = {"off", "cheap", "full"};
    double plain = pair_ns(&gpurt_kernel_bench_heap_plain, GPURT_CHECKS_OFF, size);
    char name[32];

    for (uint32_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s_%u", names[i], size);
        rows_add("heap_checks", name,
                 pair_ns(&gpurt_kernel_bench_heap_checked, GPURT_CHECKS_OFF + i, size),
                 "ns", "not_compiled", plain);
    }
}

int main(void)
{
    rows_head();
    OK(gpurt_open(NULL, &rt, &err));
    levels(64);
    levels(1024);
    OK(gpurt_close(rt, &err));
    return 0;
}
