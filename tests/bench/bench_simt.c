/* SPDX-License-Identifier: Apache-2.0 */
/* bench_simt - the CPU back end's own costs. Every case checks its result before it is timed. */
#include "bench_simt.h"

#include <gpurt/gpurt.h>

#include <string.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "../../runtime/simt/fiber.h"
#include "rows.h"

enum {
    REPEATS = 21,
    SWITCHES = 200000,
    STACK = 64 * 1024
};

static void die(const char *what, const gpurt_error_t *err)
{
    fprintf(stderr, "bench_simt: %s: %s\n", what, err ? err->text : "wrong result");
    exit(1);
}

/* ---- fiber switch, and the C library's beside it --------------------------------------------- */
static simt_fiber_t main_fiber;
static simt_fiber_chunk_t *ring;
static uint32_t ring_size;
static ucontext_t u_main, u_ring[GPURT_WARP_SIZE];

static void fiber_body(void)
{
    uint32_t me = ring_size++;

    for (;;) /* the last one goes back to main, which counts rounds */
        simt_fiber_switch(&ring->fibers[me],
                          me + 1 < GPURT_WARP_SIZE ? &ring->fibers[me + 1] : &main_fiber);
}

static void u_body(int me)
{
    for (;;)
        swapcontext(&u_ring[me], me + 1 < GPURT_WARP_SIZE ? &u_ring[me + 1] : &u_main);
}

static double time_rounds(void (*round)(void), uint32_t rounds)
{
    double samples[REPEATS];

    for (uint32_t r = 0; r < REPEATS; r++) {
        double t = rows_now_ns();

        for (uint32_t i = 0; i < rounds; i++)
            round();
        samples[r] = (rows_now_ns() - t) / rounds / (GPURT_WARP_SIZE + 1);
    }
    return rows_median(samples, REPEATS);
}

static void fiber_round(void)
{
    simt_fiber_switch(&main_fiber, &ring->fibers[0]);
}

static void u_round(void)
{
    swapcontext(&u_main, &u_ring[0]);
}

static void bench_switch(void)
{
    char *stacks = (char *)malloc((size_t)GPURT_WARP_SIZE * STACK);
    double ours, theirs;

    simt_fiber_adopt(&main_fiber);
    ring = simt_fiber_chunk_create(STACK, fiber_body);
    if (!ring || !stacks)
        die("fibers", NULL);
    fiber_round();
    if (ring_size != GPURT_WARP_SIZE)
        die("fibers", NULL);
    for (int i = 0; i < GPURT_WARP_SIZE; i++) {
        getcontext(&u_ring[i]);
        u_ring[i].uc_stack.ss_sp = stacks + (size_t)i * STACK;
        u_ring[i].uc_stack.ss_size = STACK;
        makecontext(&u_ring[i], (void (*)(void))u_body, 1, i);
    }
    u_round();
    ours = time_rounds(fiber_round, SWITCHES / GPURT_WARP_SIZE);
    theirs = time_rounds(u_round, SWITCHES / GPURT_WARP_SIZE / 20);
    rows_add("simt", "fiber_switch", ours, "ns", "ucontext", theirs);
    simt_fiber_chunk_destroy(ring);
    free(stacks);
}

/* ---- kernels ------------------------------------------------------------------------------------ */
typedef struct load {
    const gpurt_kernel_t *kernel;
    uint32_t blocks, threads, rounds;
    bool cooperative;
} load_t;

static gpurt_t *open_with(uint32_t workers, uint32_t schedule)
{
    gpurt_options_t options;
    gpurt_error_t err;
    gpurt_t *rt;

    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.backend = GPURT_BACKEND_CPU;
    options.cpu.workers = workers;
    options.cpu.schedule = schedule;
    options.cpu.seed = 1;
    if (gpurt_open(&options, &rt, &err) != GPURT_OK)
        die("open", &err);
    return rt;
}

static double run_once(gpurt_t *rt, const load_t *l, struct bench_simt_args *args)
{
    gpurt_launch_t launch = {.grid = {l->blocks, 1, 1},
                             .block = {l->threads, 1, 1},
                             .shared_bytes = l->threads * 4,
                             .cooperative = l->cooperative};
    gpurt_error_t err;
    double t = rows_now_ns();

    if (gpurt_launch_kernel(rt, &launch, l->kernel, args, sizeof *args, &err) != GPURT_OK ||
        gpurt_sync(rt, &err) != GPURT_OK)
        die(l->kernel->name, &err);
    return rows_now_ns() - t;
}

/* Median time of one launch, and the first one's, which pays for the stacks. */
static double run_load(gpurt_t *rt, const load_t *l, double *cold)
{
    size_t lanes = (size_t)l->blocks * l->threads;
    uint64_t top = 0;
    struct bench_simt_args args = {(uint32_t *)calloc(lanes, sizeof(uint32_t)), &top,
                                   l->rounds};
    double samples[REPEATS], first;

    if (!args.out)
        die("memory", NULL);
    first = run_once(rt, l, &args);
    if (cold)
        *cold = first;
    for (uint32_t r = 0; r < REPEATS; r++)
        samples[r] = run_once(rt, l, &args);
    if (l->kernel == &gpurt_kernel_bench_ballot && args.out[lanes - 1] != l->rounds * 16)
        die("ballot", NULL);
    if (l->kernel == &gpurt_kernel_bench_bump && top % (REPEATS + 1))
        die("bump", NULL);
    free(args.out);
    return rows_median(samples, REPEATS);
}

static void bench_kernels(void)
{
    load_t empty = {&gpurt_kernel_bench_empty, 64, 256, 0, false};
    load_t tiny = {&gpurt_kernel_bench_empty, 1, 32, 0, false};
    load_t ballot = {&gpurt_kernel_bench_ballot, 64, 256, 200, false};
    load_t barrier = {&gpurt_kernel_bench_barrier, 64, 256, 50, false};
    load_t bump = {&gpurt_kernel_bench_bump, 64, 256, 10, false};
    gpurt_t *rt = open_with(1, GPURT_SCHEDULE_DEFAULT);
    double cold, one_ballot, one_barrier, one_bump, warm;

    warm = run_load(rt, &empty, &cold) / 1e6;
    rows_add("simt", "launch_64x256_empty", warm, "ms", "first_launch", cold / 1e6);
    warm = run_load(rt, &tiny, NULL) / 1e6;
    rows_add("simt", "launch_1x32_empty", warm, "ms", NULL, 0);
    one_ballot = run_load(rt, &ballot, NULL);
    rows_add("simt", "ballot_32_lanes", one_ballot / (64 * 8 * 200) / 1e3, "us", NULL, 0);
    one_barrier = run_load(rt, &barrier, NULL);
    rows_add("simt", "block_barrier_per_lane", one_barrier / (64.0 * 256 * 100), "ns", NULL,
             0);
    one_bump = run_load(rt, &bump, NULL);
    rows_add("simt", "bump_64x256", one_bump / 1e6, "ms", NULL, 0);
    gpurt_close(rt, NULL);

    rt = open_with(2, GPURT_SCHEDULE_DEFAULT);
    rows_add("simt", "two_workers_ballot", one_ballot / run_load(rt, &ballot, NULL), "x",
             NULL, 0);
    rows_add("simt", "two_workers_barrier", one_barrier / run_load(rt, &barrier, NULL), "x",
             NULL, 0);
    rows_add("simt", "two_workers_bump", one_bump / run_load(rt, &bump, NULL), "x", NULL,
             0);
    gpurt_close(rt, NULL);
}

/* A run as a test makes it: open, launch, wait, close. And launches alone. */
static void bench_seeded(void)
{
    load_t tally = {&gpurt_kernel_bench_tally, 2, 32, 4, false};
    uint32_t out[64] = {0};
    struct bench_simt_args args = {out, NULL, 4};
    enum {
        RUNS = 1000
    };
    double t = rows_now_ns(), whole, launches;
    gpurt_t *rt;

    for (uint32_t i = 0; i < RUNS; i++) {
        rt = open_with(1, GPURT_SCHEDULE_RANDOM);
        run_once(rt, &tally, &args);
        gpurt_close(rt, NULL);
    }
    whole = RUNS / ((rows_now_ns() - t) / 1e9);
    rt = open_with(1, GPURT_SCHEDULE_RANDOM);
    t = rows_now_ns();
    for (uint32_t i = 0; i < RUNS; i++)
        run_once(rt, &tally, &args);
    launches = RUNS / ((rows_now_ns() - t) / 1e9);
    gpurt_close(rt, NULL);
    if (out[0] != 2u * RUNS * 64 * 4)
        die("tally", NULL);
    rows_add("simt", "seeded_runs_2x32", whole, "runs/s", "launches_only", launches);
}

static void bench_live_lanes(void)
{
    load_t hold = {&gpurt_kernel_bench_hold, 64, 256, 0, true};
    gpurt_t *rt = open_with(1, GPURT_SCHEDULE_DEFAULT);
    struct rusage use;

    run_load(rt, &hold, NULL);
    gpurt_close(rt, NULL);
    getrusage(RUSAGE_SELF, &use);
    rows_add("simt", "live_lanes_16384_rss", (double)use.ru_maxrss / 1024, "MiB", NULL, 0);
}

/* "bump" alone is what the sanitizers' cost is measured with. */
static void bench_bump_only(void)
{
    load_t bump = {&gpurt_kernel_bench_bump, 64, 256, 10, false};
    gpurt_t *rt = open_with(1, GPURT_SCHEDULE_DEFAULT);

    rows_add("simt", "bump_64x256", run_load(rt, &bump, NULL) / 1e6, "ms", NULL, 0);
    gpurt_close(rt, NULL);
}

int main(int argc, char **argv)
{
    rows_head();
    if (argc > 1 && !strcmp(argv[1], "sanitized")) {
        bench_bump_only();
        bench_live_lanes();
        return 0;
    }
    bench_switch();
    bench_kernels();
    bench_seeded();
    bench_live_lanes();
    return 0;
}
