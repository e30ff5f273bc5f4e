/* SPDX-License-Identifier: Apache-2.0 */
/* bench_lock - a mutex of a GPU: cycles of a free one's acquire, in shared and in global memory, each
 * beside a bare compare-exchange; and how often a contended one changes hands in a second. */
#include "bench_lock.h"
#include "rows.h"

#include <gpurt/gpurt.h>

enum {
    ROUNDS = 4096,
    CONTENDED_ROUNDS = 16,
    REPEATS = 21,
    WARPS = 4 /* a block, contended */
};

static gpurt_t *rt;
static gpurt_error_t err;
static gpurt_info_t info;
static uint64_t *cycles;
static bench_lock_desk_t *desk;

static bool launched(const gpurt_kernel_t *kernel, uint32_t blocks, uint32_t threads,
                     uint32_t rounds)
{
    gpurt_launch_t launch = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
    struct bench_lock_args args = {cycles, desk, rounds};

    return gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err) == GPURT_OK;
}

/* Median over repeats. Returns: cycles an acquire, or below 0. */
static double acquire(const gpurt_kernel_t *kernel)
{
    double samples[REPEATS];

    for (int r = -2; r < REPEATS; r++) {
        uint64_t sum;

        if (!launched(kernel, 1, 32, ROUNDS) ||
            gpurt_copy(rt, GPURT_STREAM_DEFAULT, &sum, cycles, sizeof sum, &err) !=
                GPURT_OK ||
            gpurt_sync(rt, &err) != GPURT_OK)
            return -1;
        samples[r < 0 ? 0 : r] = (double)sum / ROUNDS;
    }
    return rows_median(samples, REPEATS);
}

/* Returns: changes of hands in a microsecond, or below 0; what the mutex guards is checked. */
static double contended(const gpurt_kernel_t *kernel)
{
    uint64_t turns = (uint64_t)info.sm_count * WARPS * CONTENDED_ROUNDS, seen = 0, ns;
    gpurt_event_t begin, end;
    double samples[REPEATS];

    if (gpurt_event_create(rt, &begin, &err) != GPURT_OK ||
        gpurt_event_create(rt, &end, &err) != GPURT_OK)
        return -1;
    for (int r = -2; r < REPEATS; r++) {
        if (gpurt_fill(rt, GPURT_STREAM_DEFAULT, desk, 0, sizeof *desk, &err) != GPURT_OK ||
            gpurt_event_record(rt, begin, GPURT_STREAM_DEFAULT) != GPURT_OK ||
            !launched(kernel, info.sm_count, 32 * WARPS, CONTENDED_ROUNDS) ||
            gpurt_event_record(rt, end, GPURT_STREAM_DEFAULT) != GPURT_OK ||
            gpurt_copy(rt, GPURT_STREAM_DEFAULT, &seen, &desk->bare, sizeof seen, &err) !=
                GPURT_OK ||
            gpurt_sync(rt, &err) != GPURT_OK ||
            gpurt_event_elapsed_ns(rt, begin, end, &ns, &err) != GPURT_OK || seen != turns)
            return -1;
        samples[r < 0 ? 0 : r] = (double)turns * 1000.0 / (double)ns;
    }
    gpurt_event_destroy(rt, begin);
    gpurt_event_destroy(rt, end);
    return rows_median(samples, REPEATS);
}

static int rows(void)
{
    double global = acquire(&gpurt_kernel_bench_lock_global);
    double bare_global = acquire(&gpurt_kernel_bench_bare_global);
    double shared = acquire(&gpurt_kernel_bench_lock_shared);
    double bare_shared = acquire(&gpurt_kernel_bench_bare_shared);
    double lanes = contended(&gpurt_kernel_bench_lock_contended);
    double warps = contended(&gpurt_kernel_bench_lock_warps);

    if (global < 0 || bare_global < 0 || shared < 0 || bare_shared < 0 || lanes < 0 ||
        warps < 0)
        return 1;
    rows_head();
    rows_add("bench_lock", "acquire_global", global, "cycles", "bare", bare_global);
    rows_add("bench_lock", "acquire_shared", shared, "cycles", "bare", bare_shared);
    rows_add("bench_lock", "contended_lane_a_warp", lanes, "M/s", "warps", warps);
    return 0;
}

int main(void)
{
    gpurt_options_t options = {.struct_size = sizeof options,
                               .backend = GPURT_BACKEND_CUDA};
    void *memory = NULL;
    int status = 1;

    if (gpurt_open(&options, &rt, &err) != GPURT_OK) {
        fprintf(stderr, "bench_lock: %s\n", err.text);
        return 77;
    }
    if (gpurt_info(rt, &info) == GPURT_OK &&
        gpurt_mem_create(rt, 128 + sizeof *desk, &memory, &err) == GPURT_OK &&
        gpurt_fill(rt, GPURT_STREAM_DEFAULT, memory, 0, 128 + sizeof *desk, &err) ==
            GPURT_OK) {
        cycles = (uint64_t *)memory;
        desk = (bench_lock_desk_t *)(void *)((char *)memory + 128);
        status = rows();
    }
    if (status)
        fprintf(stderr, "bench_lock: %s\n", err.text);
    gpurt_mem_destroy(rt, memory);
    gpurt_close(rt, NULL);
    return status;
}
