/* SPDX-License-Identifier: Apache-2.0 */
/* bench_log: what a log call costs the kernel that makes it, and how fast kernels fill a
 * black box.
 *
 * cycles: one warp an SM, each call timed alone, the median and the 99th of a hundred; the
 * peer is a bare store of as many bytes at a head in L1. The first calls, which define the
 * site, are not counted. storm: every warp logs as fast as it can into rings that overwrite,
 * which asks no drainer; the peer is the bare store again, in the same run. Before anything
 * is timed a storm of each kind runs into a box of its own, and its rings must have counted
 * at least the messages that were made. On a machine without a GPU the same cases run on the CPU back
 * end, smaller, for their ratios. */
#include "bench_log.h"

#include "boxmap.h"
#include "life.h"
#include "rows.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    REPEATS = 21,
    WARM = 64, /* calls of a warp that are not counted */
    RAW_BYTES = 16384,
    STORM_THREADS = 256,
    STORM_BYTES_MIN = 1 << 28
};

static gpurt_t *rt;
static gpurt_info_t info;
static gpurt_error_t err;
static const gpurt_opened_t *opened;
static gpurt_boxmap_t map;
static struct bench_log_args args;
static gpurt_event_t from, to;

static void need(gpurt_status_t st, const char *what)
{
    if (st == GPURT_OK)
        return;
    fprintf(stderr, "bench_log: %s: %s %s\n", what, gpurt_status_text(st), err.text);
    exit(1);
}

static void *device_memory(size_t bytes)
{
    void *memory;

    need(gpurt_mem_create(rt, bytes, &memory, &err), "device memory");
    need(gpurt_fill(rt, GPURT_STREAM_DEFAULT, memory, 0, bytes, &err), "fill");
    return memory;
}

/* ---- the box --------------------------------------------------------------------------- */

static void box_open(void)
{
    gpurt_section_plan_t s = {
        .kind = info.backend == GPURT_BACKEND_CUDA ? GPURT_SECTION_CUDA : GPURT_SECTION_CPU,
        .sm_count = info.sm_count,
        .warp_slots = info.warp_slots,
        .ring_bytes = RAW_BYTES,
        .policy = GPURT_POLICY_OVERWRITE};
    gpurt_box_plan_t plan = {
        .struct_size = sizeof plan, .section_count = 1, .sections = &s};

    need(gpurt_boxmap_create(&plan, &map, &err), "box");
    need(opened->ops->box_connect(opened->self, &map, 0, &err), "connect");
}

/* ---- running --------------------------------------------------------------------------- */

static double run_ns(const gpurt_kernel_t *kernel, uint32_t blocks, uint32_t threads)
{
    gpurt_launch_t launch = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
    uint64_t ns;

    need(gpurt_event_record(rt, from, GPURT_STREAM_DEFAULT), "record");
    need(gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err), "launch");
    need(gpurt_event_record(rt, to, GPURT_STREAM_DEFAULT), "record");
    need(gpurt_sync(rt, &err), "sync");
    need(gpurt_event_elapsed_ns(rt, from, to, &ns, &err), "elapsed");
    return (double)ns;
}

typedef struct spread {
    double p50, p99;
} spread_t;

/* Cycles of single calls, one warp an SM. */
static spread_t call_cycles(const gpurt_kernel_t *kernel, uint32_t spin, uint32_t calls)
{
    uint32_t warps = info.sm_count, timed = warps * (calls - WARM), n = 0;
    uint32_t *cycles;
    double *sorted = malloc(timed * sizeof *sorted);
    spread_t s;

    need(gpurt_host_create(rt, (size_t)warps * calls * sizeof *cycles, (void **)&cycles,
                           &err),
         "host memory");
    args.calls = calls;
    args.cycles = cycles;
    args.spin = spin;
    run_ns(kernel, warps, GPURT_WARP_SIZE);
    args.cycles = NULL;
    for (uint32_t w = 0; w < warps; w++)
        for (uint32_t i = WARM; i < calls; i++)
            sorted[n++] = cycles[(size_t)w * calls + i];
    s.p50 = rows_median(sorted, timed);
    s.p99 = sorted[timed - timed / 100 - 1];
    need(gpurt_host_destroy(rt, cycles), "host memory");
    free(sorted);
    return s;
}

static const struct form {
    const char *name;
    const gpurt_kernel_t *kernel, *peer;
    const char *peer_name;
    uint32_t groups;   /* of a record */
    uint32_t messages; /* of a record */
} forms[] = {
    {"warp-log, 2 arguments", &gpurt_kernel_bench_log_warp_2, &gpurt_kernel_bench_log_raw_2,
     "bare 32-byte store", 2, 1},
    {"warp-log, no argument", &gpurt_kernel_bench_log_warp_0, &gpurt_kernel_bench_log_raw_2,
     "bare 32-byte store", 2, 1},
    {"lanes' log, 1 argument", &gpurt_kernel_bench_log_lanes_1,
     &gpurt_kernel_bench_log_raw_wide, "bare 512-byte store", 12, 32},
    {"lanes' log, 4 arguments", &gpurt_kernel_bench_log_lanes_4,
     &gpurt_kernel_bench_log_raw_wide, "bare 512-byte store", 44, 32},
    {"warp-log of half a warp", &gpurt_kernel_bench_log_diverged,
     &gpurt_kernel_bench_log_raw_2, "bare 32-byte store", 4, 1},
    {"1 in 1,000 passes", &gpurt_kernel_bench_log_limited, &gpurt_kernel_bench_log_raw_2,
     "bare 32-byte store", 0, 0},
    {"below the level", &gpurt_kernel_bench_log_off, &gpurt_kernel_bench_log_nothing,
     "no call", 0, 0},
};

static const char *cycle_unit(void)
{
    return info.backend == GPURT_BACKEND_CUDA ? "cycles" : "ns";
}

/* A kernel that does nothing but log: its code stays in the instruction cache. */
static void cycles_close(void)
{
    rows_add("log", "warp-log, 2 arguments, one after another, p50",
             call_cycles(forms[0].kernel, 0, 1000).p50, cycle_unit(), forms[0].peer_name,
             call_cycles(forms[0].peer, 0, 1000).p50);
}

static void cycles_all(void)
{
    const char *unit = cycle_unit();

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        uint32_t spin = 200 + forms[i].groups * 20; /* the link is not what is timed */
        spread_t ours = call_cycles(forms[i].kernel, spin, 1000);
        spread_t bare = call_cycles(forms[i].peer, spin, 1000);
        char name[64];

        snprintf(name, sizeof name, "%s, p50", forms[i].name);
        rows_add("log", name, ours.p50, unit, forms[i].peer_name, bare.p50);
        snprintf(name, sizeof name, "%s, p99", forms[i].name);
        rows_add("log", name, ours.p99, unit, forms[i].peer_name, bare.p99);
    }
}

/* Records a second (in G) of a storm of one form at so many blocks an SM. */
static double storm(const gpurt_kernel_t *kernel, uint32_t blocks, uint32_t calls)
{
    double samples[REPEATS];
    uint32_t warps = blocks * (STORM_THREADS / GPURT_WARP_SIZE);

    args.calls = calls;
    args.spin = 0;
    for (uint32_t i = 0; i < REPEATS; i++)
        samples[i] = (double)warps * (double)calls / run_ns(kernel, blocks, STORM_THREADS);
    return rows_median(samples, REPEATS);
}

/* What all rings together have counted. Context: after the box was disconnected, which brings
 * a GPU's counts. */
static uint64_t box_counted(void)
{
    uint64_t messages = 0;

    for (uint32_t r = 0; r < map.sections[0].ring_count; r++)
        messages += gpurt_boxmap_control(&map, 0, r)->head.xrecords;
    return messages;
}

static void counts_check(void)
{
    uint32_t blocks = info.sm_count * 4, calls = 20;
    uint64_t warps = (uint64_t)blocks * (STORM_THREADS / GPURT_WARP_SIZE), made = 0,
             counted;

    box_open();
    args.calls = calls;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (forms[i].messages) {
            run_ns(forms[i].kernel, blocks, STORM_THREADS);
            made += warps * calls * forms[i].messages;
        }
    opened->ops->box_disconnect(opened->self, &map, 0);
    counted = box_counted();
    gpurt_boxmap_detach(&map);
    /* Lanes may come to a call in parts, and are then more messages than one. */
    if (counted >= made)
        return;
    fprintf(stderr, "bench_log: the rings count %llu messages of %llu\n",
            (unsigned long long)counted, (unsigned long long)made);
    exit(1);
}

static void box_rows(double ns)
{
    gpurt_clock_fit_t fit;

    rows_add("log", "open the box", ns / 1e6, "ms", NULL, 0);
    rows_add("log", "box", (double)map.bytes / (1 << 20), "MiB", NULL, 0);
    if (info.backend == GPURT_BACKEND_CUDA && gpurt_boxmap_clock(&map, 0, &fit))
        rows_add("log", "clock fit, error", fit.error_ns, "ns", NULL, 0);
}

static void storm_all(void)
{
    bool gpu = info.backend == GPURT_BACKEND_CUDA;
    uint32_t calls = gpu ? 500 : 5;

    for (uint32_t per_sm = 1; per_sm <= 8; per_sm *= 2) {
        uint32_t blocks = info.sm_count * per_sm;
        char name[64];

        snprintf(name, sizeof name, "storm, 2 arguments, %u blocks", blocks);
        rows_add("log", name, storm(&gpurt_kernel_bench_log_warp_2, blocks, calls),
                 "G records/s", "bare 32-byte stores",
                 storm(&gpurt_kernel_bench_log_raw_2, blocks, calls));
    }
    for (size_t i = 2; i < 4; i++) {
        uint32_t blocks = info.sm_count * 8;
        double ours = storm(forms[i].kernel, blocks, calls);
        double bare = storm(forms[i].peer, blocks, calls);
        char name[64];

        snprintf(name, sizeof name, "storm, %s", forms[i].name);
        rows_add("log", name, ours * forms[i].groups * GPURT_GROUP_BYTES, "GB/s",
                 "bare 512-byte stores", bare * 512);
        rows_add("log", name, ours * forms[i].messages, "G messages/s", NULL, 0);
    }
}

/* printf of the CUDA toolkit, with stdout thrown away. */
static void printf_peer(void)
{
    enum {
        BLOCKS = 64,
        CALLS = 10
    };
    gpurt_launch_t launch = {.grid = {BLOCKS, 1, 1}, .block = {STORM_THREADS, 1, 1}};
    double messages = (double)BLOCKS * STORM_THREADS * CALLS, start, lines, ours;
    int keep = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    args.calls = CALLS;
    need(gpurt_sync(rt, &err), "sync");
    fflush(stdout);
    dup2(nowhere, STDOUT_FILENO);
    start = rows_now_ns();
    need(gpurt_launch(rt, &launch, bench_log_lines, &args, &err), "launch");
    need(gpurt_sync(rt, &err), "sync");
    lines = messages / (rows_now_ns() - start);
    fflush(stdout);
    dup2(keep, STDOUT_FILENO);
    close(keep);
    close(nowhere);
    ours = storm(&gpurt_kernel_bench_log_lanes_4, BLOCKS, CALLS) * GPURT_WARP_SIZE;
    rows_add("log", "64 x 256 threads, 10 messages each", ours * 1e3, "M messages/s",
             "CUDA printf", lines * 1e3);
}

int main(void)
{
    const gpurt_options_t own = {.panics = GPURT_PANICS_OFF}; /* the box is our own */
    double start;

    unsetenv("GPURT_LOG"); /* this box is our own */
    unsetenv("GPURT_DRAIN");
    need(gpurt_open(&own, &rt, &err), "open");
    need(gpurt_info(rt, &info), "info");
    need(gpurt_life_enter(rt, &opened, &err), "enter");
    need(gpurt_life_leave(opened, GPURT_OK), "leave");
    need(gpurt_event_create(rt, &from, &err), "event");
    need(gpurt_event_create(rt, &to, &err), "event");
    rows_head();
    args.slots = info.backend == GPURT_BACKEND_CUDA ? LOG_RAW_SLOTS : info.warp_slots;
    args.raw_bytes = RAW_BYTES;
    args.raw_heads = device_memory((size_t)info.sm_count * args.slots * 128);
    args.sink = device_memory(sizeof(uint32_t));
    need(gpurt_host_create(rt, (size_t)info.sm_count * args.slots * RAW_BYTES,
                           (void **)&args.raw, &err),
         "host memory");
    counts_check();
    start = rows_now_ns();
    box_open();
    box_rows(rows_now_ns() - start);
    cycles_all();
    cycles_close();
    storm_all();
    if (info.backend == GPURT_BACKEND_CUDA)
        printf_peer();
    opened->ops->box_disconnect(opened->self, &map, 0);
    gpurt_boxmap_detach(&map);
    return gpurt_close(rt, &err) == GPURT_OK ? 0 : 1;
}
