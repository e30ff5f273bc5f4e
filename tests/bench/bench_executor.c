/* SPDX-License-Identifier: Apache-2.0 */
/* bench_executor: empty tasks a second beside bare tickets, how long a task is ready before it
 * begins, and which share of the warps' cycles is useful when tasks take 3 and 10 microseconds.
 *
 * Each run ends with a count of what ran. `late` is a mean under load: it holds what a task waits for
 * those before it. On the CPU back end, GPURT_BACKEND=cpu, it shows that the kernels are right; its
 * figures mean nothing. */
#include "bench_executor.h"

#include "rows.h"

#include <gpurt/executors.h>

#include <string.h>

enum {
    REPEATS = 21,
    WARPS = 8,
    GPU_TASKS = 1 << 20,
    CPU_TASKS = 1 << 12
};

typedef struct bench {
    gpurt_t *rt;
    gpurt_executor_t x;
    uint64_t *late; /* the device's */
    uint32_t count, blocks;
    double cycles_a_us;
} bench_t;

/* What one run was like. */
typedef struct run {
    double ns, late_ns, useful;
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

static run_t tasks_run(bench_t *b, double us)
{
    struct bench_fan fan = {b->late, b->count, (uint32_t)(us * b->cycles_a_us)};
    gpurt_executor_status_t before = status_of(b), after;
    gpurt_error_t err = {0};
    uint64_t late[2] = {0, 0};
    double begin;
    run_t r;

    need(gpurt_fill(b->rt, 0, b->late, 0, sizeof late, &err), &err, "fill");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    begin = rows_now_ns();
    need(gpurt_executor_submit(b->rt, b->x, fan, &fan, 1, 0, NULL, &err), &err, "submit");
    need(gpurt_executor_drain(b->rt, b->x, UINT64_MAX, &err), &err, "drain");
    r.ns = rows_now_ns() - begin;
    after = status_of(b);
    need(gpurt_copy(b->rt, 0, late, b->late, sizeof late, &err), &err, "copy");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    if (late[1] != b->count || after.failed || after.refused) {
        fprintf(stderr, "bench_executor: %llu of %u tasks ran\n",
                (unsigned long long)late[1], b->count);
        exit(1);
    }
    r.late_ns = (double)late[0] / b->count;
    r.useful = 100.0 * (double)(after.useful - before.useful) /
               (double)(after.total - before.total + 1);
    return r;
}

static double tickets_run(bench_t *b)
{
    gpurt_launch_t launch = {.grid = {b->blocks, 1, 1}, .block = {WARPS * 32, 1, 1}};
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

/* Cycles of gpurt_clock in a microsecond, by a task that takes a million. */
static void clock_find(bench_t *b)
{
    uint32_t count = b->count;

    b->count = 1;
    b->cycles_a_us = 1;
    (void)tasks_run(b, 0);
    b->cycles_a_us = 1e6 / ((tasks_run(b, 1e6).ns) * 1e-3);
    b->count = count;
}

static void case_empty(bench_t *b)
{
    double tasks[REPEATS], late[REPEATS], tickets[REPEATS];

    for (uint32_t i = 0; i < REPEATS; i++) {
        run_t r = tasks_run(b, 0);

        tasks[i] = b->count / r.ns * 1e3;
        late[i] = r.late_ns;
        tickets[i] = b->count / tickets_run(b) * 1e3;
    }
    rows_add("executor", "empty", rows_median(tasks, REPEATS), "M tasks/s", "tickets",
             rows_median(tickets, REPEATS));
    rows_add("executor", "empty late", rows_median(late, REPEATS), "ns", NULL, 0);
}

static void case_useful(bench_t *b, const char *name, double us)
{
    double useful[REPEATS];

    for (uint32_t i = 0; i < REPEATS; i++)
        useful[i] = tasks_run(b, us).useful;
    rows_add("executor", name, rows_median(useful, REPEATS), "%", NULL, 0);
}

int main(void)
{
    gpurt_executor_options_t o = {.warps = WARPS};
    gpurt_error_t err = {0};
    gpurt_info_t info;
    void *late;
    bench_t b;

    memset(&b, 0, sizeof b);
    if (gpurt_open(NULL, &b.rt, &err) != GPURT_OK || gpurt_info(b.rt, &info) != GPURT_OK) {
        fprintf(stderr, "bench_executor: %s\n", err.text);
        return 77;
    }
    b.count = info.backend == GPURT_BACKEND_CPU ? CPU_TASKS : GPU_TASKS;
    o.tasks = 2 * b.count;
    need(gpurt_mem_create(b.rt, 16, &late, &err), &err, "memory");
    b.late = (uint64_t *)late;
    need(gpurt_executor_open(b.rt, bench_executor_tasks, &o, &b.x, &err), &err, "open");
    b.blocks = status_of(&b).blocks;
    rows_head();
    clock_find(&b);
    case_empty(&b);
    case_useful(&b, "useful 3 us", 3);
    case_useful(&b, "useful 10 us", 10);
    need(gpurt_executor_close(b.rt, b.x, NULL, &err), &err, "close");
    gpurt_mem_destroy(b.rt, late);
    return gpurt_close(b.rt, NULL) == GPURT_OK ? 0 : 1;
}
