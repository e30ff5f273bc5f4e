/* SPDX-License-Identifier: Apache-2.0 */
/* bench_executor: empty tasks a second beside bare tickets, which share of the warps' time is in
 * bodies when tasks take 3 and 10 microseconds, how long a task is ready before it begins, also an
 * urgent one while long bodies run, what these pay to ask for it, fib, what a block does alone and
 * among many, and tasks of a lane.
 *
 * Each run ends with a count of what ran. On the CPU back end, GPURT_BACKEND=cpu, it shows that the kernels are right; its
 * figures mean nothing. */
#include "bench_executor.h"

#include "rows.h"

#include <gpurt/executors.h>

#include <string.h>
#include <time.h>

enum {
    REPEATS = 11,
    GPU_TASKS = 1 << 20,
    LONG_TASKS =
        1 << 25, /* of a run of which the way there and the last ones are nothing */
    LONG_ROWS = 1 << 22,
    CPU_TASKS = 1 << 12,
    USEFUL_RUNS = 4, /* times as many tasks */
    SETTLE_NS = 1000000,
    SETTLE_LOOKS = 1000,
    CLOCK_CYCLES = 2000000
};

typedef struct bench {
    gpurt_t *rt;
    gpurt_executor_t x;
    uint32_t count, rows, blocks, warps, sms;
    uint32_t slices;    /* as of its options */
    bool on_cpu, lanes; /* lanes: its tasks are of a lane each */
    double cycles_a_us;
} bench_t;

/* What one run was like. */
typedef struct run {
    double ns, useful;
} run_t;

static void need(gpurt_status_t st, const gpurt_error_t *err, const char *what)
{
    if (st == GPURT_OK)
        return;
    fprintf(stderr, "bench_executor: %s: %s\n", what, err->text);
    exit(1);
}

static gpurt_executor_status_t status_of(bench_t *b)
{
    gpurt_executor_status_t s;
    gpurt_error_t err = {0};

    need(gpurt_executor_status(b->rt, b->x, &s, &err), &err, "status");
    return s;
}

/* When all warps have told what they did: a warp adds it up now and then, and when it idles. What one
 * run leaves untold would count as of the next. */
static gpurt_executor_status_t settled(bench_t *b)
{
    struct timespec pause = {0, SETTLE_NS};
    gpurt_executor_status_t now = status_of(b), before;

    for (uint32_t i = 0; i < SETTLE_LOOKS; i++) {
        before = now;
        nanosleep(&pause, NULL);
        now = status_of(b);
        if (now.useful == before.useful)
            return now;
    }
    fprintf(stderr, "bench_executor: bodies still run behind a drain\n");
    exit(1);
}

static void executor_begin(bench_t *b, uint32_t blocks, uint32_t warps)
{
    gpurt_executor_options_t o = {
        .warps = warps, .blocks = blocks, .tasks = b->rows, .slices = b->slices};
    gpurt_error_t err = {0};

    if (b->lanes)
        need(gpurt_executor_open(b->rt, bench_executor_lanes, &o, &b->x, &err), &err,
             "open");
    else
        need(gpurt_executor_open(b->rt, bench_executor_tasks, &o, &b->x, &err), &err,
             "open");
    b->blocks = status_of(b).blocks;
    b->warps = warps;
}

static void executor_end(bench_t *b)
{
    gpurt_error_t err = {0};

    need(gpurt_executor_close(b->rt, b->x, NULL, &err), &err, "close");
}

/* count tasks of `us` microseconds, and that all of them ran. */
static run_t tasks_run(bench_t *b, uint32_t count, double us)
{
    struct bench_fan fan = {count, (uint32_t)(us * b->cycles_a_us)};
    gpurt_executor_status_t before = settled(b), after;
    gpurt_error_t err = {0};
    double begin = rows_now_ns();
    run_t r;

    if (b->lanes)
        need(gpurt_executor_submit(b->rt, b->x, strew, &fan, 1, 0, NULL, &err), &err,
             "submit");
    else
        need(gpurt_executor_submit(b->rt, b->x, fan, &fan, 1, 0, NULL, &err), &err,
             "submit");
    need(gpurt_executor_drain(b->rt, b->x, UINT64_MAX, &err), &err, "drain");
    r.ns = rows_now_ns() - begin;
    after = settled(b);
    if (after.ended - before.ended < count || after.failed || after.refused) {
        fprintf(stderr, "bench_executor: %llu of %u tasks ran\n",
                (unsigned long long)(after.ended - before.ended), count);
        exit(1);
    }
    /* Of the time that the tasks took, not of what lies before and behind it. */
    r.useful = 100.0 * (double)(after.useful - before.useful) / b->cycles_a_us * 1e3 /
               (r.ns * b->blocks * b->warps);
    return r;
}

static double tickets_run(bench_t *b)
{
    gpurt_launch_t launch = {.grid = {b->blocks, 1, 1}, .block = {b->warps * 32, 1, 1}};
    struct bench_tickets args = {NULL, b->count};
    gpurt_error_t err = {0};
    void *counter;
    double ns;

    need(gpurt_mem_create(b->rt, 4, &counter, &err), &err, "memory");
    need(gpurt_fill(b->rt, 0, counter, 0, 4, &err), &err, "memory");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    args.counter = (uint32_t *)counter;
    ns = rows_now_ns();
    need(gpurt_launch(b->rt, &launch, bench_executor_tickets, &args, &err), &err, "launch");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    ns = rows_now_ns() - ns;
    gpurt_mem_destroy(b->rt, counter);
    return ns;
}

/* Cycles of gpurt_clock in a microsecond, as the device has both: a host's clock would add its way there
 * and back. */
static void clock_find(bench_t *b)
{
    struct bench_clocks one = {.cycles = CLOCK_CYCLES};
    double clocks[REPEATS];
    gpurt_error_t err = {0};
    uint64_t of[2] = {0, 0};
    void *at;

    need(gpurt_mem_create(b->rt, sizeof of, &at, &err), &err, "memory");
    one.to = at;
    for (uint32_t i = 0; i < REPEATS; i++) {
        need(gpurt_executor_submit(b->rt, b->x, clocks, &one, 1, 0, NULL, &err), &err,
             "submit");
        need(gpurt_executor_drain(b->rt, b->x, UINT64_MAX, &err), &err, "drain");
        need(gpurt_copy(b->rt, 0, of, at, sizeof of, &err), &err, "copy");
        need(gpurt_sync(b->rt, &err), &err, "sync");
        clocks[i] = of[1] ? 1e3 * (double)of[0] / (double)of[1] : 1;
    }
    gpurt_mem_destroy(b->rt, at);
    b->cycles_a_us = rows_median(clocks, REPEATS);
}

static double tasks_a_us(bench_t *b)
{
    double tasks[REPEATS];

    for (uint32_t i = 0; i < REPEATS; i++)
        tasks[i] = b->count / tasks_run(b, b->count, 0).ns * 1e3;
    return rows_median(tasks, REPEATS);
}

static void case_empty(bench_t *b, const char *name)
{
    double tickets[REPEATS];

    for (uint32_t i = 0; i < REPEATS; i++)
        tickets[i] = b->count / tickets_run(b) * 1e3;
    rows_add("executor", name, tasks_a_us(b), "M tasks/s", "tickets",
             rows_median(tickets, REPEATS));
}

static void case_long(bench_t *b, uint32_t blocks, const char *name)
{
    const uint32_t count = b->count, rows = b->rows;

    b->count = LONG_TASKS;
    b->rows = LONG_ROWS;
    executor_begin(b, blocks, 8);
    case_empty(b, name);
    executor_end(b);
    b->count = count;
    b->rows = rows;
}

/* So many tasks that the way there and the last ones of a run are a small part of it. */
static void case_useful(bench_t *b, const char *name, double us)
{
    double useful[REPEATS];

    for (uint32_t i = 0; i < REPEATS; i++)
        useful[i] = tasks_run(b, USEFUL_RUNS * b->count, us).useful;
    rows_add("executor", name, rows_median(useful, REPEATS), "%", NULL, 0);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

#define HOPS_BYTES (sizeof(struct bench_hops) + (BENCH_HOPS + 1) * sizeof(uint64_t))

static struct bench_hops *hops_begin(bench_t *b, bool stays)
{
    struct bench_hops first = {.stays = stays};
    gpurt_error_t err = {0};
    void *at;

    need(gpurt_mem_create(b->rt, HOPS_BYTES, &at, &err), &err, "memory");
    need(gpurt_copy(b->rt, 0, at, &first, sizeof first, &err), &err, "copy");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    return (struct bench_hops *)at;
}

/* When all has run: rows of the first `count` times. */
static void hops_end(bench_t *b, struct bench_hops *at, const char *name, uint32_t count)
{
    struct bench_hops *hops = malloc(HOPS_BYTES);
    const uint32_t half = count / 2, late = (uint32_t)(count * 99ull / 100);
    gpurt_error_t err = {0};
    char row[64];

    need(gpurt_executor_drain(b->rt, b->x, UINT64_MAX, &err), &err, "drain");
    need(gpurt_copy(b->rt, 0, hops, at, HOPS_BYTES, &err), &err, "copy");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    qsort(hops->late, count, sizeof *hops->late, by_value);
    snprintf(row, sizeof row, "%s p50", name);
    rows_add("executor", row, (double)hops->late[half], "ns", NULL, 0);
    snprintf(row, sizeof row, "%s p99", name);
    rows_add("executor", row, (double)hops->late[late], "ns", NULL, 0);
    gpurt_mem_destroy(b->rt, at);
    free(hops);
}

/* How late each of a chain begins; stays: on another multiprocessor than its maker. */
static void case_hops(bench_t *b, const char *name, bool stays)
{
    struct bench_hop first = {.left = BENCH_HOPS, .hops = hops_begin(b, stays)};
    gpurt_error_t err = {0};

    need(gpurt_executor_submit(b->rt, b->x, hop, &first, 1, 0, NULL, &err), &err, "submit");
    hops_end(b, first.hops, name, BENCH_HOPS); /* all but the host's */
}

/* How late urgent tasks begin while long bodies hold all warps, but ask every 2 us what is due. */
static void case_urgent(bench_t *b)
{
    struct bench_hops *hops = hops_begin(b, false);
    uint32_t count = b->blocks * b->warps, us = (uint32_t)b->cycles_a_us;
    struct bench_long *longs = calloc(count, sizeof *longs);
    struct bench_sender sender = {hops, 20 * us};
    gpurt_error_t err = {0};

    for (uint32_t i = 0; i < count; i++)
        longs[i] = (struct bench_long){hops, 2 * us};
    need(gpurt_executor_submit(b->rt, b->x, sender, &sender, 1, 0, NULL, &err), &err,
         "submit");
    need(gpurt_executor_submit(b->rt, b->x, endure, longs, count, 0, NULL, &err), &err,
         "submit");
    hops_end(b, hops, "urgent to begun under load", BENCH_URGENT);
    free(longs);
}

/* How late tasks run that slept, `count` of them at a time. */
static void case_doze(bench_t *b, const char *name, uint32_t count)
{
    struct bench_hops *hops = hops_begin(b, false);
    struct bench_doze *all = calloc(count, sizeof *all);
    uint32_t slots = count < BENCH_HOPS ? count : (uint32_t)BENCH_HOPS;
    gpurt_error_t err = {0};

    for (uint32_t i = 0; i < count; i++)
        all[i] = (struct bench_doze){hops, 0, 200000, i * BENCH_HOPS / slots,
                                     BENCH_HOPS / slots};
    need(gpurt_executor_submit(b->rt, b->x, doze, all, count, 0, NULL, &err), &err,
         "submit");
    hops_end(b, hops, name, BENCH_HOPS / slots * slots);
    free(all);
}

static double mads_run(bench_t *b, bench_asks_t asks)
{
    struct bench_mads one = {.passes = b->on_cpu ? 1000 : 200000, .asks = (uint32_t)asks};
    gpurt_error_t err = {0};
    uint64_t ns = 0;
    void *at;

    need(gpurt_mem_create(b->rt, sizeof ns, &at, &err), &err, "memory");
    one.to = at;
    need(gpurt_executor_submit(b->rt, b->x, mads, &one, 1, 0, NULL, &err), &err, "submit");
    need(gpurt_executor_drain(b->rt, b->x, UINT64_MAX, &err), &err, "drain");
    need(gpurt_copy(b->rt, 0, &ns, at, sizeof ns, &err), &err, "copy");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    gpurt_mem_destroy(b->rt, at);
    return (double)ns / one.passes;
}

/* A pass of 16 multiply-adds that asks what is due, behind each or behind 64, beside one that does not. */
static void case_due(bench_t *b)
{
    double asks[REPEATS], seldom[REPEATS], bare[REPEATS];

    for (uint32_t i = 0; i < REPEATS; i++) {
        bare[i] = mads_run(b, BENCH_ASKS_NEVER);
        asks[i] = mads_run(b, BENCH_ASKS_EACH);
        seldom[i] = mads_run(b, BENCH_ASKS_STEPS);
    }
    rows_add("executor", "16 multiply-adds and gpurt_task_due", rows_median(asks, REPEATS),
             "ns", "16 multiply-adds", rows_median(bare, REPEATS));
    rows_add("executor", "16 multiply-adds and gpurt_task_due behind 64",
             rows_median(seldom, REPEATS), "ns", "16 multiply-adds",
             rows_median(bare, REPEATS));
}

static void case_fib(bench_t *b, uint32_t n)
{
    struct bench_fib root = {.n = n};
    gpurt_error_t err = {0};
    uint64_t value = 0;
    char row[64];
    double ns;
    void *at;

    need(gpurt_mem_create(b->rt, sizeof value, &at, &err), &err, "memory");
    root.to = at;
    ns = rows_now_ns();
    if (b->lanes)
        need(gpurt_executor_submit(b->rt, b->x, forks, &root, 1, 0, NULL, &err), &err,
             "submit");
    else
        need(gpurt_executor_submit(b->rt, b->x, fib, &root, 1, 0, NULL, &err), &err,
             "submit");
    need(gpurt_executor_drain(b->rt, b->x, UINT64_MAX, &err), &err, "drain");
    ns = rows_now_ns() - ns;
    need(gpurt_copy(b->rt, 0, &value, at, sizeof value, &err), &err, "copy");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    gpurt_mem_destroy(b->rt, at);
    snprintf(row, sizeof row, "fib(%u) = %llu%s", n, (unsigned long long)value,
             b->lanes ? ", of lanes" : "");
    rows_add("executor", row, ns * 1e-6, "ms", NULL, 0);
}

static void case_scaling(bench_t *b)
{
    double few, all;

    executor_begin(b, b->sms < 8 ? 1 : 8, 8);
    few = tasks_a_us(b) / b->blocks;
    executor_end(b);
    executor_begin(b, b->sms, 8);
    all = tasks_a_us(b) / b->blocks;
    executor_end(b);
    rows_add("executor", "empty a block, all blocks", all, "M tasks/s", "8 blocks", few);
}

/* What it costs to tell the log of bodies: by turns with an executor that does not. */
static void case_slices(bench_t *b)
{
    double empty[2][REPEATS], tens[2][REPEATS];

    for (uint32_t i = 0; i < REPEATS; i++)
        for (uint32_t on = 0; on < 2; on++) {
            b->slices = on ? 0 : GPURT_EXECUTOR_NO_SLICES;
            executor_begin(b, b->sms, 8);
            empty[on][i] = b->count / tasks_run(b, b->count, 0).ns * 1e3;
            tens[on][i] = tasks_run(b, USEFUL_RUNS * b->count, 10).ns * 1e-6;
            executor_end(b);
        }
    b->slices = 0;
    rows_add("executor", "empty, with slices", rows_median(empty[1], REPEATS), "M tasks/s",
             "without", rows_median(empty[0], REPEATS));
    rows_add("executor", "tasks of 10 us, with slices", rows_median(tens[1], REPEATS), "ms",
             "without", rows_median(tens[0], REPEATS));
}

int main(void)
{
    static const uint32_t warps[] = {2, 4, 8};
    gpurt_error_t err = {0};
    gpurt_info_t info;
    bench_t b;

    memset(&b, 0, sizeof b);
    if (gpurt_open(NULL, &b.rt, &err) != GPURT_OK || gpurt_info(b.rt, &info) != GPURT_OK) {
        fprintf(stderr, "bench_executor: %s\n", err.text);
        return 77;
    }
    b.on_cpu = info.backend == GPURT_BACKEND_CPU;
    b.count = b.on_cpu ? CPU_TASKS : GPU_TASKS;
    b.rows = 2 * b.count;
    b.sms = info.sm_count;
    rows_head();
    for (uint32_t i = 0; i < (b.on_cpu ? 1 : 3); i++) {
        char row[64];

        executor_begin(&b, b.sms, warps[i]);
        if (i == 0)
            clock_find(&b);
        snprintf(row, sizeof row, "empty, %u warps a block", warps[i]);
        case_empty(&b, row);
        executor_end(&b);
    }
    if (!b.on_cpu) { /* two blocks a multiprocessor, in seven eighths of the device */
        executor_begin(&b, b.sms * 7 / 4, 8);
        case_empty(&b, "empty, 14 warps a multiprocessor");
        executor_end(&b);
        case_long(&b, b.sms, "empty, 8 warps a block, 32 times as many");
        case_long(&b, b.sms * 7 / 4, "empty, 14 warps a multiprocessor, 32 times as many");
    }
    executor_begin(&b, b.sms, 8);
    case_useful(&b, "useful 3 us", 3);
    case_useful(&b, "useful 10 us", 10);
    case_hops(&b, "ready to begun, same SM", false);
    case_doze(&b, "late behind a nap, 1 task", 1);
    case_doze(&b, "late behind a nap, 10000 tasks", b.on_cpu ? 100 : 10000);
    case_fib(&b, b.on_cpu ? 10 : 25);
    case_due(&b);
    if (!b.on_cpu) /* there lanes take turns, and a clock's loop ends for none before the others */
        case_urgent(&b);
    executor_end(&b);
    executor_begin(&b, b.sms, 1);
    case_hops(&b, "ready to begun, other SM", true);
    executor_end(&b);
    case_scaling(&b);
    case_slices(&b);
    b.lanes = true;
    executor_begin(&b, b.sms, 8);
    case_empty(&b, "empty of a lane, 8 warps a block");
    case_fib(&b, b.on_cpu ? 10 : 25);
    executor_end(&b);
    return gpurt_close(b.rt, NULL) == GPURT_OK ? 0 : 1;
}
