/* SPDX-License-Identifier: Apache-2.0 */
/* bench_cancel - what the look for a cancelled block adds to a block barrier of a GPU: cycles
 * a barrier with it, beside the bare one, a block on each multiprocessor. */
#include "bench_cancel.h"
#include "rows.h"

#include <gpurt/gpurt.h>

enum {
    ROUNDS = 4096,
    REPEATS = 21,
    MAX_BLOCKS = 1024
};

static gpurt_t *rt;
static gpurt_error_t err;
static gpurt_info_t info;

/* Median over repeats of the slowest block. Returns: cycles a barrier, or below 0. */
static double cycles(const gpurt_kernel_t *kernel, uint32_t threads, void *memory)
{
    gpurt_launch_t launch = {.grid = {info.sm_count, 1, 1}, .block = {threads, 1, 1}};
    struct bench_cancel_args args = {(uint64_t *)memory, ROUNDS};
    static uint64_t seen[MAX_BLOCKS];
    double samples[REPEATS];

    for (int r = -2; r < REPEATS; r++) {
        uint64_t most = 0;

        if (gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err) !=
                GPURT_OK ||
            gpurt_copy(rt, GPURT_STREAM_DEFAULT, seen, memory, info.sm_count * sizeof *seen,
                       &err) != GPURT_OK ||
            gpurt_sync(rt, &err) != GPURT_OK)
            return -1;
        for (uint32_t b = 0; b < info.sm_count; b++)
            most = seen[b] > most ? seen[b] : most;
        samples[r < 0 ? 0 : r] = (double)most / ROUNDS;
    }
    return rows_median(samples, REPEATS);
}

int main(void)
{
    gpurt_options_t options = {.struct_size = sizeof options,
                               .backend = GPURT_BACKEND_CUDA};
    void *memory = NULL;
    int status = 0;

    if (gpurt_open(&options, &rt, &err) != GPURT_OK) {
        fprintf(stderr, "bench_cancel: %s\n", err.text);
        return 77;
    }
    if (gpurt_info(rt, &info) != GPURT_OK || info.sm_count > MAX_BLOCKS ||
        gpurt_mem_create(rt, MAX_BLOCKS * sizeof(uint64_t), &memory, &err) != GPURT_OK)
        return 1;
    rows_head();
    for (uint32_t threads = 32; threads <= 1024 && !status; threads *= 2) {
        double looks = cycles(&gpurt_kernel_bench_barrier_looks, threads, memory);
        double bare = cycles(&gpurt_kernel_bench_barrier_bare, threads, memory);
        char name[64];

        snprintf(name, sizeof name, "barrier_%u_threads", threads);
        status = looks < 0 || bare < 0;
        if (!status)
            rows_add("bench_cancel", name, looks, "cycles", "bare", bare);
    }
    if (status)
        fprintf(stderr, "bench_cancel: %s\n", err.text);
    gpurt_mem_destroy(rt, memory);
    gpurt_close(rt, NULL);
    return status;
}
