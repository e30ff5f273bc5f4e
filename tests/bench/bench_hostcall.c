/* SPDX-License-Identifier: Apache-2.0 */
/* bench_hostcall - a host call from a running kernel: round trip of one lane and of a warp, beside
 * a bare word that goes there and back; calls a second from all multiprocessors; what the thread
 * that serves costs asleep. Each answer is checked. */
#include "bench_hostcall.h"
#include "rows.h"

#include <gpurt/gpurt.h>
#include <gpurt/hostcalls.h>

#include <string.h>
#include <unistd.h>

enum {
    ROUNDS = 4000,
    WARM = 200,
    CROWD_ROUNDS = 32,
    REPEATS = 5,
    ASLEEP_MS = 2000
};

static gpurt_t *rt;
static gpurt_error_t err;
static gpurt_info_t info;
static struct bench_hostcall_args args;
static uint32_t ns[ROUNDS];
static double samples[ROUNDS];

GPURT_HOST_FUNCTION(bench_add, context, ask, answer)
{
    (void)context;
    *answer = *ask + 1;
    return GPURT_OK;
}

static bool launched(const gpurt_kernel_t *kernel, uint32_t blocks, uint32_t threads,
                     uint32_t rounds)
{
    const gpurt_launch_t launch = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}};

    args.rounds = rounds;
    return gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err) == GPURT_OK;
}

/* Waits for the kernel. Returns: whether all answers were right. */
static bool ended(void)
{
    uint32_t wrong = 1;

    return gpurt_copy(rt, GPURT_STREAM_DEFAULT, ns, args.ns, sizeof ns, &err) == GPURT_OK &&
           gpurt_copy(rt, GPURT_STREAM_DEFAULT, &wrong, args.wrong, sizeof wrong, &err) ==
               GPURT_OK &&
           gpurt_sync(rt, &err) == GPURT_OK && wrong == 0;
}

static void rounds_tell(const char *name, double *p50, double *p99)
{
    for (uint32_t i = WARM; i < ROUNDS; i++)
        samples[i - WARM] = ns[i];
    *p50 = rows_percentile(samples, ROUNDS - WARM, 50);
    *p99 = rows_percentile(samples, ROUNDS - WARM, 99);
    fprintf(stderr, "%s: p50 %.0f ns, p99 %.0f ns\n", name, *p50, *p99);
}

/* The host answers each word at once. */
static void bare_serve(void)
{
    for (uint32_t i = 1; i <= ROUNDS; i++) {
        while (gpurt_load_acquire_sys_u32(args.ask) != i)
            ;
        gpurt_store_release_sys_u32(args.answer, i);
    }
}

static bool round_trips(void)
{
    double bare50, bare99, lane50, lane99, warp50, warp99;

    *args.ask = *args.answer = 0;
    if (!launched(&gpurt_kernel_bench_hostcall_bare, 1, 1, ROUNDS))
        return false;
    bare_serve();
    if (!ended())
        return false;
    rounds_tell("bare word", &bare50, &bare99);
    if (!launched(&gpurt_kernel_bench_hostcall_calls, 1, 1, ROUNDS) || !ended())
        return false;
    rounds_tell("one lane", &lane50, &lane99);
    if (!launched(&gpurt_kernel_bench_hostcall_calls, 1, 32, ROUNDS) || !ended())
        return false;
    rounds_tell("one warp", &warp50, &warp99);
    rows_add("bench_hostcall", "lane_p50", lane50, "ns", "bare-word", bare50);
    rows_add("bench_hostcall", "lane_p99", lane99, "ns", "bare-word", bare99);
    rows_add("bench_hostcall", "warp_p50", warp50, "ns", "bare-word", bare50);
    rows_add("bench_hostcall", "warp_p99", warp99, "ns", "bare-word", bare99);
    return true;
}

/* So many warps of each multiprocessor. */
static bool crowd(const char *name, uint32_t warps)
{
    double rates[REPEATS];

    for (int r = -1; r < REPEATS; r++) {
        double begin = rows_now_ns();

        if (!launched(&gpurt_kernel_bench_hostcall_calls, info.sm_count, 32 * warps,
                      CROWD_ROUNDS) ||
            gpurt_sync(rt, &err) != GPURT_OK)
            return false;
        rates[r < 0 ? 0 : r] = (double)info.sm_count * 32 * warps * CROWD_ROUNDS * 1e3 /
                               (rows_now_ns() - begin);
        if (!ended())
            return false;
    }
    rows_add("bench_hostcall", name, rows_median(rates, REPEATS), "M calls/s", NULL, 0);
    return true;
}

static bool asleep(void)
{
    gpurt_hostcalls_status_t before, after;

    usleep(200000);
    if (gpurt_hostcalls_status(rt, &args.calls, &before, &err) != GPURT_OK)
        return false;
    usleep(ASLEEP_MS * 1000);
    if (gpurt_hostcalls_status(rt, &args.calls, &after, &err) != GPURT_OK)
        return false;
    rows_add("bench_hostcall", "asleep",
             (double)(after.used_ns - before.used_ns) / (ASLEEP_MS * 1e4), "% of a core",
             NULL, 0);
    return true;
}

static bool made(void)
{
    void *words = NULL, *memory = NULL;

    if (gpurt_host_create(rt, 256, &words, &err) != GPURT_OK ||
        gpurt_mem_create(rt, sizeof ns + 4, &memory, &err) != GPURT_OK ||
        gpurt_fill(rt, GPURT_STREAM_DEFAULT, memory, 0, sizeof ns + 4, &err) != GPURT_OK ||
        gpurt_hostcalls_create(rt, NULL, &args.calls, &err) != GPURT_OK ||
        gpurt_hostcalls_add(rt, &args.calls, bench_add, NULL, &err) != GPURT_OK)
        return false;
    memset(words, 0, 256);
    args.ask = (uint32_t *)words;
    args.answer = (uint32_t *)words + 32; /* a line of its own */
    args.ns = (uint32_t *)memory;
    args.wrong = args.ns + ROUNDS;
    return true;
}

int main(void)
{
    gpurt_options_t options = {.struct_size = sizeof options,
                               .backend = GPURT_BACKEND_CUDA};
    bool done;

    if (gpurt_open(&options, &rt, &err) != GPURT_OK) {
        fprintf(stderr, "bench_hostcall: %s\n", err.text);
        return 77;
    }
    rows_head();
    done = gpurt_info(rt, &info) == GPURT_OK && made() && round_trips() &&
           crowd("all_1_warp", 1) && crowd("all_4_warps", 4) && crowd("all_16_warps", 16) &&
           asleep() && gpurt_hostcalls_destroy(rt, &args.calls, &err) == GPURT_OK;
    if (!done)
        fprintf(stderr, "bench_hostcall: %s\n", err.text[0] ? err.text : "a wrong answer");
    gpurt_close(rt, NULL);
    return done ? 0 : 1;
}
