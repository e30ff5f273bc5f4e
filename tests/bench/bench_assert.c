/* SPDX-License-Identifier: Apache-2.0 */
/* bench_assert - what promises that hold and polls cost a kernel of a GPU: the same text with
 * them and without, by turns. Two kernels that wait for memory: a transpose (one promise a lane
 * for its four elements; and one at each access, which keeps the loads from being issued
 * together) and a sum (one for each 16 bytes). And one that does nothing but multiply-adds, with
 * a poll each 64, or in GPURT_LOOP. Beside each what the compiler itself offers: assert of
 * <assert.h>, a branch to a trap, a look at one word of shared memory (as short as a poll can be)
 * or of global memory. */
#include "bench_assert.h"
#include "rows.h"

#include <gpurt/gpurt.h>

#include <string.h>

enum {
    SIDE = 8192,
    REPEATS = 41,
    LOOP = 4096,
    BLOCKS_A_MULTIPROCESSOR = 8,
    THREADS = 256
};

static gpurt_t *rt;
static gpurt_error_t err;
static struct bench_assert_args args = {.side = SIDE, .repeats = LOOP, .factor = 0.5f};
static gpurt_event_t from, to;

static bool well(gpurt_status_t st)
{
    return st == GPURT_OK;
}

/* Returns: us, below 0 when something failed. */
static double once(const gpurt_launch_t *launch, const gpurt_kernel_t *kernel)
{
    uint64_t ns = 0;

    if (!well(gpurt_event_record(rt, from, GPURT_STREAM_DEFAULT)) ||
        !well(gpurt_launch_kernel(rt, launch, kernel, &args, sizeof args, &err)) ||
        !well(gpurt_event_record(rt, to, GPURT_STREAM_DEFAULT)) ||
        !well(gpurt_event_sync(rt, to, &err)) ||
        !well(gpurt_event_elapsed_ns(rt, from, to, &ns, &err)))
        return -1;
    return (double)ns / 1e3;
}

static bool compare(const char *name, const gpurt_launch_t *launch,
                    const gpurt_kernel_t *with, const gpurt_kernel_t *without,
                    double promised)
{
    double a[REPEATS], b[REPEATS], bare;
    char row[64];

    for (int i = -3; i < REPEATS; i++) {
        double x = once(launch, with), y = once(launch, without);

        if (x < 0 || y < 0)
            return false;
        a[i < 0 ? 0 : i] = x;
        b[i < 0 ? 0 : i] = y;
    }
    bare = rows_median(b, REPEATS);
    rows_add("assert", name, rows_median(a, REPEATS), "us", "bare", bare);
    snprintf(row, sizeof row, "%s.added", name);
    rows_add("assert", row, (rows_median(a, REPEATS) / bare - 1) * 100, "%",
             promised > 0 ? "promised" : NULL, promised);
    return true;
}

typedef struct assert_case {
    const char *name;
    const gpurt_kernel_t *with, *without;
    double promised; /* %; 0: a peer, of which nothing was promised */
} assert_case_t;

static bool run(uint32_t sms)
{
    const gpurt_launch_t tiles = {
        .grid = {SIDE / BENCH_ASSERT_TILE, SIDE / BENCH_ASSERT_TILE, 1},
        .block = {BENCH_ASSERT_TILE, BENCH_ASSERT_ROWS, 1}};
    const gpurt_launch_t all = {.grid = {sms * BLOCKS_A_MULTIPROCESSOR, 1, 1},
                                .block = {THREADS, 1, 1}};
    const assert_case_t cases[] = {
        {"transpose_assert", &gpurt_kernel_bench_transpose_assert,
         &gpurt_kernel_bench_transpose, 1},
        {"transpose_libc", &gpurt_kernel_bench_transpose_libc,
         &gpurt_kernel_bench_transpose, 0},
        {"transpose_trap", &gpurt_kernel_bench_transpose_trap,
         &gpurt_kernel_bench_transpose, 0},
        {"transpose_assert_each", &gpurt_kernel_bench_transpose_each,
         &gpurt_kernel_bench_transpose, 0},
        {"transpose_trap_each", &gpurt_kernel_bench_transpose_trap_each,
         &gpurt_kernel_bench_transpose, 0},
        {"sum_assert", &gpurt_kernel_bench_sum_assert, &gpurt_kernel_bench_sum, 1},
        {"sum_libc", &gpurt_kernel_bench_sum_libc, &gpurt_kernel_bench_sum, 0},
        {"sum_trap", &gpurt_kernel_bench_sum_trap, &gpurt_kernel_bench_sum, 0},
        {"sum_poll", &gpurt_kernel_bench_sum_poll, &gpurt_kernel_bench_sum, 2},
        {"sum_loop", &gpurt_kernel_bench_sum_loop, &gpurt_kernel_bench_sum, 2},
        {"sum_shared_word", &gpurt_kernel_bench_sum_shared, &gpurt_kernel_bench_sum, 0},
        {"sum_global_word", &gpurt_kernel_bench_sum_global, &gpurt_kernel_bench_sum, 0},
        {"compute_poll", &gpurt_kernel_bench_compute_poll, &gpurt_kernel_bench_compute, 2},
        {"compute_loop", &gpurt_kernel_bench_compute_loop, &gpurt_kernel_bench_compute, 2},
        {"compute_shared_word", &gpurt_kernel_bench_compute_shared,
         &gpurt_kernel_bench_compute, 0},
        {"compute_global_word", &gpurt_kernel_bench_compute_global,
         &gpurt_kernel_bench_compute, 0},
    };

    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (!compare(cases[i].name, strstr(cases[i].name, "transpose") ? &tiles : &all,
                     cases[i].with, cases[i].without, cases[i].promised))
            return false;
    return true;
}

int main(void)
{
    gpurt_options_t options = {.struct_size = sizeof options,
                               .backend = GPURT_BACKEND_CUDA};
    const size_t bytes = (size_t)SIDE * SIDE * sizeof(float);
    void *in = NULL, *out = NULL;
    gpurt_info_t info;
    bool ok;

    if (gpurt_open(&options, &rt, &err) != GPURT_OK) {
        fprintf(stderr, "bench_assert: %s\n", err.text);
        return 77;
    }
    args.count = (uint64_t)SIDE * SIDE;
    rows_head();
    ok = well(gpurt_info(rt, &info)) && well(gpurt_mem_create(rt, bytes, &in, &err)) &&
         well(gpurt_mem_create(rt, bytes, &out, &err)) &&
         well(gpurt_fill(rt, GPURT_STREAM_DEFAULT, in, 0x3f, bytes, &err)) &&
         well(gpurt_event_create(rt, &from, &err)) &&
         well(gpurt_event_create(rt, &to, &err));
    args.in = (const float *)in;
    args.out = (float *)out;
    args.stop = (const uint32_t *)in; /* all 0x3f: never what is looked for */
    ok = ok && run(info.sm_count) && well(gpurt_sync(rt, &err));
    if (!ok)
        fprintf(stderr, "bench_assert: %s\n", err.text);
    gpurt_event_destroy(rt, from);
    gpurt_event_destroy(rt, to);
    gpurt_mem_destroy(rt, in);
    gpurt_mem_destroy(rt, out);
    gpurt_close(rt, NULL);
    return !ok;
}
