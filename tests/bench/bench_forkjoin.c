/* SPDX-License-Identifier: Apache-2.0 */
/* bench_forkjoin: programs whose work nobody knows in advance, as tasks of an executor, beside a kernel that a person
 * cut by hand and beside oneTBB on all cores of the host. fib(40) in which bodies make the calls below fib(16), fib(40)
 * in which each call is a task, and a Mandelbrot set whose rows take very different times.
 *
 * Each run is checked: fib by its value, a picture by the sum of its steps. The faster of two kernels counts for the
 * picture. On the CPU back end, GPURT_BACKEND=cpu, the bench shows that all of it is right; its figures mean nothing. */
#include "bench_forkjoin.h"

#include "bench_forkjoin_tbb.h"
#include "rows.h"

#include <gpurt/executors.h>

#include <string.h>

enum {
    REPEATS = 7,
    THREADS = 256,
    PIECE = 4 * FORKJOIN_POINTS
};

/* What one side did: the median time, and what it computed. */
typedef struct took {
    double ms;
    uint64_t value;
} took_t;

typedef struct bench {
    gpurt_t *rt;
    gpurt_executor_t x;
    uint64_t *sum; /* a word of the device */
    struct forkjoin_picture picture;
    uint32_t fib, cut, fib_each, sms;
    bool on_cpu;
} bench_t;

typedef double (*run_fn)(bench_t *b, const void *what, uint64_t *value);

static void need(gpurt_status_t st, const gpurt_error_t *err, const char *what)
{
    if (st == GPURT_OK)
        return;
    fprintf(stderr, "bench_forkjoin: %s: %s: %s\n", what, gpurt_status_name(st), err->text);
    exit(1);
}

static void sum_clear(bench_t *b)
{
    gpurt_error_t err = {0};

    need(gpurt_fill(b->rt, 0, b->sum, 0, sizeof *b->sum, &err), &err, "fill");
    need(gpurt_sync(b->rt, &err), &err, "sync");
}

static uint64_t sum_read(bench_t *b)
{
    gpurt_error_t err = {0};
    uint64_t sum = 0;

    need(gpurt_copy(b->rt, 0, &sum, b->sum, sizeof sum, &err), &err, "copy");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    return sum;
}

static took_t took(bench_t *b, run_fn run, const void *what, uint32_t repeats)
{
    double ns[REPEATS];
    took_t t;

    (void)run(b, what, &t.value); /* warms up */
    for (uint32_t i = 0; i < repeats; i++)
        ns[i] = run(b, what, &t.value);
    t.ms = rows_median(ns, repeats) * 1e-6;
    return t;
}

static void same(const char *what, uint64_t a, uint64_t b, uint64_t apart)
{
    if ((a > b ? a - b : b - a) <= apart)
        return;
    fprintf(stderr, "bench_forkjoin: %s: %llu and %llu\n", what, (unsigned long long)a,
            (unsigned long long)b);
    exit(1);
}

/* ---- tasks ----------------------------------------------------------------------------------------------------- */

static void executor_begin(bench_t *b, uint32_t blocks, uint32_t tasks, uint32_t deep)
{
    gpurt_executor_options_t o = {
        .blocks = blocks, .warps = 8, .tasks = tasks, .deep = deep};
    gpurt_error_t err = {0};

    need(gpurt_executor_open(b->rt, forkjoin_tasks, &o, &b->x, &err), &err, "open");
}

/* Says how many tasks its blocks ran, where nothing failed. */
static uint64_t executor_end(bench_t *b)
{
    gpurt_executor_status_t s;
    gpurt_error_t err = {0};

    need(gpurt_executor_status(b->rt, b->x, &s, &err), &err, "status");
    need(gpurt_executor_close(b->rt, b->x, NULL, &err), &err, "close");
    if (s.failed || s.refused) {
        fprintf(stderr, "bench_forkjoin: %llu tasks failed, %llu were refused\n",
                (unsigned long long)s.failed, (unsigned long long)s.refused);
        exit(1);
    }
    return s.ended;
}

static double fork_run(bench_t *b, const void *what, uint64_t *value)
{
    struct fork root = *(const struct fork *)what;
    gpurt_error_t err = {0};
    double ns = rows_now_ns();

    root.to = b->sum;
    need(gpurt_executor_submit(b->rt, b->x, fork, &root, 1, 0, NULL, &err), &err, "submit");
    need(gpurt_executor_drain(b->rt, b->x, UINT64_MAX, &err), &err, "drain");
    ns = rows_now_ns() - ns;
    *value = sum_read(b);
    return ns;
}

static double plot_run(bench_t *b, const void *what, uint64_t *value)
{
    struct plot all = {*(const struct forkjoin_picture *)what, 0, 0, PIECE};
    gpurt_error_t err = {0};
    double ns;

    all.of.sum = b->sum;
    all.count = all.of.wide * all.of.high / PIECE;
    sum_clear(b);
    ns = rows_now_ns();
    need(gpurt_executor_submit(b->rt, b->x, plot, &all, 1, 0, NULL, &err), &err, "submit");
    need(gpurt_executor_drain(b->rt, b->x, UINT64_MAX, &err), &err, "drain");
    ns = rows_now_ns() - ns;
    *value = sum_read(b);
    return ns;
}

/* ---- kernels cut by hand ----------------------------------------------------------------------------------------- */

static gpurt_launch_t threads_of(uint32_t threads)
{
    gpurt_launch_t l = {.grid = {(threads + THREADS - 1) / THREADS, 1, 1},
                        .block = {THREADS, 1, 1}};

    return l;
}

/* Where the tree of fork(n) ends: how many leaves of each kind. */
static struct forkjoin_leaves leaves_of(const struct fork *root)
{
    uint32_t large[2] = {0, 1}, small[2] = {1, 0}; /* of cut - 2 and of cut - 1 */
    struct forkjoin_leaves l = {.cut = root->cut};

    for (uint32_t n = root->cut; n <= root->n; n++) {
        uint32_t next[2] = {large[0] + large[1], small[0] + small[1]};

        large[0] = large[1];
        small[0] = small[1];
        large[1] = next[0];
        small[1] = next[1];
    }
    l.large = large[1];
    l.small = small[1];
    return l;
}

static double leaves_run(bench_t *b, const void *what, uint64_t *value)
{
    struct forkjoin_leaves l = leaves_of(what);
    gpurt_launch_t launch = threads_of(l.large + l.small);
    gpurt_error_t err = {0};
    double ns;

    l.sum = b->sum;
    sum_clear(b);
    ns = rows_now_ns();
    need(gpurt_launch(b->rt, &launch, forkjoin_leaves_sum, &l, &err), &err, "launch");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    ns = rows_now_ns() - ns;
    *value = sum_read(b);
    return ns;
}

static double points_run(bench_t *b, const void *what, uint64_t *value)
{
    struct forkjoin_picture p = *(const struct forkjoin_picture *)what;
    gpurt_launch_t launch = threads_of(p.wide * p.high);
    gpurt_error_t err = {0};
    double ns;

    p.sum = b->sum;
    sum_clear(b);
    ns = rows_now_ns();
    need(gpurt_launch(b->rt, &launch, forkjoin_points, &p, &err), &err, "launch");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    ns = rows_now_ns() - ns;
    *value = sum_read(b);
    return ns;
}

static double points_at_once_run(bench_t *b, const void *what, uint64_t *value)
{
    struct forkjoin_picture p = *(const struct forkjoin_picture *)what;
    gpurt_launch_t launch = threads_of(p.wide * p.high / FORKJOIN_AT_ONCE);
    gpurt_error_t err = {0};
    double ns;

    p.sum = b->sum;
    sum_clear(b);
    ns = rows_now_ns();
    need(gpurt_launch(b->rt, &launch, forkjoin_points_at_once, &p, &err), &err, "launch");
    need(gpurt_sync(b->rt, &err), &err, "sync");
    ns = rows_now_ns() - ns;
    *value = sum_read(b);
    return ns;
}

/* ---- the host's cores -------------------------------------------------------------------------------------------- */

static double tbb_fib_run(bench_t *b, const void *what, uint64_t *value)
{
    const struct fork *root = what;
    double ns = rows_now_ns();

    (void)b;
    *value = forkjoin_tbb_fib(root->n, root->cut);
    return rows_now_ns() - ns;
}

static double tbb_points_run(bench_t *b, const void *what, uint64_t *value)
{
    const struct forkjoin_picture *p = what;
    double ns = rows_now_ns();

    (void)b;
    *value = forkjoin_tbb_points(p->wide, p->high, p->most);
    return rows_now_ns() - ns;
}

/* ---- cases ------------------------------------------------------------------------------------------------------- */

/* A row beside oneTBB, whose sums may differ by what the rounding of two compilers does. */
static void beside_tbb(bench_t *b, const char *name, took_t tasks, run_fn run,
                       const void *what, uint32_t parts)
{
    char peer[32];
    took_t t;

    if (!forkjoin_tbb_threads())
        return;
    t = took(b, run, what, 3);
    same(name, tasks.value, t.value, parts ? tasks.value / parts : 0);
    snprintf(peer, sizeof peer, "oneTBB, %u threads", forkjoin_tbb_threads());
    rows_add("forkjoin", name, tasks.ms, "ms", peer, t.ms);
}

static void case_fib(bench_t *b, const char *label, uint32_t blocks)
{
    struct fork root = {.n = (uint16_t)b->fib, .cut = (uint16_t)b->cut};
    took_t tasks, leaves;
    char name[80];

    executor_begin(b, blocks, b->on_cpu ? 1 << 12 : 1 << 22, 0);
    tasks = took(b, fork_run, &root, REPEATS);
    (void)executor_end(b);
    leaves = took(b, leaves_run, &root, REPEATS);
    snprintf(name, sizeof name, "fib(%u), calls below fib(%u)%s", b->fib, b->cut, label);
    same(name, tasks.value, leaves.value, 0);
    rows_add("forkjoin", name, tasks.ms, "ms", "kernel", leaves.ms);
    beside_tbb(b, name, tasks, tbb_fib_run, &root, 0);
}

static void case_fib_each(bench_t *b, const char *label, uint32_t deep)
{
    struct fork root = {.n = (uint16_t)b->fib_each, .cut = 2};
    const uint32_t runs = 4;
    uint64_t ended;
    took_t tasks;
    char name[80];

    executor_begin(b, b->sms, b->on_cpu ? 1 << 14 : 1 << 25, deep);
    tasks = took(b, fork_run, &root, runs - 1);
    ended = executor_end(b);
    snprintf(name, sizeof name, "fib(%u), each call a task%s", b->fib_each, label);
    rows_add("forkjoin", name, tasks.ms, "ms", NULL, 0);
    beside_tbb(b, name, tasks, tbb_fib_run, &root, 0);
    snprintf(name, sizeof name, "tasks of fib(%u)%s", b->fib_each, label);
    rows_add("forkjoin", name, (double)ended / runs * 1e-3 / tasks.ms, "M tasks/s", NULL,
             0);
}

static void case_picture(bench_t *b, const char *label, uint32_t blocks)
{
    took_t tasks, points, at_once;
    char name[80];

    executor_begin(b, blocks, 1 << 16, 0);
    tasks = took(b, plot_run, &b->picture, REPEATS);
    (void)executor_end(b);
    points = took(b, points_run, &b->picture, REPEATS);
    at_once = took(b, points_at_once_run, &b->picture, REPEATS);
    snprintf(name, sizeof name, "picture of %u x %u, %u steps%s", b->picture.wide,
             b->picture.high, b->picture.most, label);
    same(name, tasks.value, at_once.value, 0);
    same(name, tasks.value, points.value, tasks.value / 1000);
    if (at_once.ms < points.ms)
        rows_add("forkjoin", name, tasks.ms, "ms", "kernel, points at once", at_once.ms);
    else
        rows_add("forkjoin", name, tasks.ms, "ms", "kernel, a thread a point", points.ms);
    beside_tbb(b, name, tasks, tbb_points_run, &b->picture, 100);
}

static void sizes(bench_t *b)
{
    gpurt_info_t info;

    if (gpurt_info(b->rt, &info) != GPURT_OK)
        exit(1);
    b->on_cpu = info.backend == GPURT_BACKEND_CPU;
    b->sms = info.sm_count;
    b->cut = b->on_cpu ? 8 : FORKJOIN_CALLS_MOST;
    b->fib = b->on_cpu ? 14 : 40;
    b->fib_each = b->on_cpu ? 10 : 40;
    b->picture = (struct forkjoin_picture){NULL, b->on_cpu ? PIECE : 4096,
                                           b->on_cpu ? 8 : 4096, b->on_cpu ? 20 : 2000};
}

int main(void)
{
    gpurt_error_t err = {0};
    void *sum = NULL;
    bench_t b;

    memset(&b, 0, sizeof b);
    if (gpurt_open(NULL, &b.rt, &err) != GPURT_OK) {
        fprintf(stderr, "bench_forkjoin: %s\n", err.text);
        return 77;
    }
    sizes(&b);
    need(gpurt_mem_create(b.rt, sizeof *b.sum, &sum, &err), &err, "memory");
    b.sum = sum;
    if (!forkjoin_tbb_threads())
        fprintf(
            stderr,
            "bench_forkjoin: built without oneTBB (libtbb-dev), so no row is beside it\n");
    rows_head();
    case_fib(&b, "", b.sms);
    case_picture(&b, "", b.sms);
    if (!b.on_cpu) { /* two blocks a multiprocessor, in seven eighths of the device */
        case_fib(&b, ", 14 warps a multiprocessor", b.sms * 7 / 4);
        case_picture(&b, ", 14 warps a multiprocessor", b.sms * 7 / 4);
    }
    case_fib_each(&b, "", 0);
    case_fib_each(&b, ", deep", 1);
    gpurt_mem_destroy(b.rt, sum);
    return gpurt_close(b.rt, NULL) == GPURT_OK ? 0 : 1;
}
