/* SPDX-License-Identifier: Apache-2.0 */
/* bench_heap_stats [brief | CASE]: what it costs kernels that somebody reads a heap's statistics
 * meanwhile: the thread that looks at heaps for the log (GPURT_HEAP_VIEW), or a program that
 * calls gpurt_heap_stats. What kernels count themselves cannot be turned off: slow paths of the
 * heap, and what pools add when they are flushed.
 *
 * A pair is one launch with and one without, who is first by turns; each lasts as long as several
 * looks take, and 50 ms at least, which a first launch finds out. Of a case the medians are
 * told, and of what each pair says the median and the quartiles. Objects are written and looked
 * at, and the log of each launch with a view must tell of the heap. CASE: only those whose name
 * begins so; brief: a few short launches, to see that all of it works. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "bench_heap_stats.h"

#include "reader.h"
#include "rows.h"

#include <gpurt/atomic.h>
#include <gpurt/heap.h>
#include <gpurt/impl/objectclass.h>

#include <pthread.h>
#include <string.h>
#include <unistd.h>

enum {
    PAIRS = 12,
    LOOKS = 2, /* of which a launch has room, at least */
    LEAST_MS = 50,
    BRIEF_PAIRS = 3,
    BRIEF_MS = 2,
    HEAP_CPU = 128 << 20,
    HEAP_GPU = 1 << 30
};

/* What lanes do. */
typedef struct work {
    const char *name;
    const gpurt_kernel_t *kernel;
    uint32_t min_bytes, max_bytes, ops; /* ops: of a round, requests with their frees */
} work_t;
static const work_t works[] = {
    {"64", &gpurt_kernel_bench_stats_churn, 64, 64, 1},
    {"16_8192", &gpurt_kernel_bench_stats_churn, 16, 8192, 1},
    {"pools_64", &gpurt_kernel_bench_stats_pools, 64, 64, BENCH_HELD},
};

/* Who looks. */
typedef struct reader {
    const char *name;
    uint32_t period_ms;
    bool view; /* the thread of the log; else a thread that calls gpurt_heap_stats */
} reader_t;
static const reader_t readers[] = {
    {"view_500ms", 500, true},
    {"view_10ms", 10, true},
    {"stats_10ms", 10, false},
};

typedef struct bench {
    const char *only; /* NULL: all */
    uint32_t pairs, least_ms;
    uint32_t seed;
    uint32_t xstop; /* written by: main; read by the thread that looks */
    uint32_t looks; /* of that thread */
    struct bench_stats_args args;
    gpurt_launch_t launch;
} bench_t;

static gpurt_t *rt;
static gpurt_error_t err;

static void ok_at(int line, gpurt_status_t st)
{
    if (st == GPURT_OK)
        return;
    fprintf(stderr, "bench_heap_stats.c:%d: %s: %s\n", line, gpurt_status_name(st),
            err.text);
    exit(1);
}
#define OK(call) ok_at(__LINE__, call)

static void fail(const char *what)
{
    fprintf(stderr, "bench_heap_stats: %s\n", what);
    exit(1);
}

/* ---- one launch ----------------------------------------------------------------------- */

static void device_open(bench_t *b, const char *log, const char *period)
{
    gpurt_options_t options = {.struct_size = sizeof options, .log = {.file = log}};
    gpurt_heap_options_t heap = {.bytes = HEAP_CPU};
    gpurt_info_t info;

    setenv("GPURT_HEAP_VIEW", period, 1);
    OK(gpurt_open(&options, &rt, &err));
    OK(gpurt_info(rt, &info));
    if (info.backend == GPURT_BACKEND_CUDA)
        heap.bytes = HEAP_GPU;
    b->launch.grid.x = info.backend == GPURT_BACKEND_CUDA ? info.sm_count * 4 : 16;
    b->launch.block.x = BENCH_THREADS;
    OK(gpurt_heap_create(rt, &heap, &b->args.heap, &err));
    OK(gpurt_mem_create(rt, 2 * sizeof(uint32_t), (void **)&b->args.xseen, &err));
    OK(gpurt_fill(rt, 0, b->args.xseen, 0, 2 * sizeof(uint32_t), &err));
    OK(gpurt_sync(rt, &err));
}

static void device_close(bench_t *b)
{
    uint32_t seen[2];

    OK(gpurt_copy(rt, 0, seen, b->args.xseen, sizeof seen, &err));
    OK(gpurt_sync(rt, &err));
    if (seen[0] || seen[1])
        fail("objects were overwritten, or requests refused");
    OK(gpurt_heap_check(rt, &b->args.heap, &err));
    OK(gpurt_mem_destroy(rt, b->args.xseen));
    OK(gpurt_heap_destroy(rt, &b->args.heap, &err));
    OK(gpurt_close(rt, &err));
}

static double launch_ns(bench_t *b, const work_t *w, uint32_t rounds)
{
    double begin;

    b->args.rounds = rounds;
    b->args.min_bytes = w->min_bytes;
    b->args.max_bytes = w->max_bytes;
    b->args.seed = b->seed++;
    begin = rows_now_ns();
    OK(gpurt_launch_kernel(rt, &b->launch, w->kernel, &b->args, sizeof b->args, &err));
    OK(gpurt_sync(rt, &err));
    return rows_now_ns() - begin;
}

/* ---- who looks ------------------------------------------------------------------------ */

typedef struct looker {
    bench_t *b;
    uint32_t period_ms;
} looker_t;

static void *look(void *context)
{
    const looker_t *l = (const looker_t *)context;
    const struct timespec period = {.tv_nsec = l->period_ms * 1000000L};
    gpurt_heap_stats_t stats;
    gpurt_error_t failed;

    do {
        if (gpurt_heap_stats(rt, &l->b->args.heap, &stats, &failed) != GPURT_OK)
            fail(failed.text);
        l->b->looks++;
        nanosleep(&period, NULL);
    } while (!gpurt_load_relaxed_sys_u32(&l->b->xstop));
    return NULL;
}

/* How often a log tells of a heap, the only object. */
static uint32_t states_told(const char *path)
{
    gpurt_log_t *log;
    uint32_t told = 0;

    OK(gpurt_log_open(path, &log, &err));
    for (uint64_t i = 0; i < gpurt_log_frames(log); i++) {
        gpurt_log_rows_t frame;
        const gpurt_row_t *row;
        uint32_t at = 0;

        if (gpurt_log_read(log, i, &frame, NULL) != GPURT_OK)
            fail("a log cannot be read");
        while ((row = gpurt_log_row(&frame, at, &at)) != NULL)
            told += row->kind == GPURT_KIND_OBJECT &&
                    gpurt_object_first(gpurt_row_words(row)[1]) == 0;
    }
    gpurt_log_close(log);
    return told;
}

/* Nanoseconds of a launch beside the log's thread; off: which does not look. */
static double viewed_ns(bench_t *b, const work_t *w, const reader_t *r, uint32_t rounds,
                        bool on)
{
    char path[] = "/tmp/bench_heap_stats.XXXXXX", period[16];
    int fd = mkstemp(path);
    uint32_t told;
    double ns;

    if (fd >= 0)
        close(fd);
    unlink(path); /* the drainer makes it */
    snprintf(period, sizeof period, "%u", r->period_ms);
    device_open(b, path, on ? period : "off");
    launch_ns(b, w, rounds / 16 + 1);
    ns = launch_ns(b, w, rounds);
    device_close(b);
    told = states_told(path);
    unlink(path);
    if ((told > 0) != on)
        fail(on ? "nobody looked" : "somebody looked");
    return ns;
}

/* ... beside a thread that reads the statistics, or none. */
static double read_ns(bench_t *b, const work_t *w, const reader_t *r, uint32_t rounds,
                      bool on)
{
    looker_t looker = {b, r->period_ms};
    pthread_t thread;
    double ns;

    device_open(b, NULL, "off");
    launch_ns(b, w, rounds / 16 + 1);
    gpurt_store_relaxed_sys_u32(&b->xstop, 0); /* relaxed, all: join orders */
    b->looks = 0;
    if (on && pthread_create(&thread, NULL, look, &looker) != 0)
        fail("a thread");
    ns = launch_ns(b, w, rounds);
    gpurt_store_relaxed_sys_u32(&b->xstop, 1);
    if (on)
        pthread_join(thread, NULL);
    if ((b->looks > 0) != on)
        fail("nobody looked");
    device_close(b);
    return ns;
}

/* ---- cases ---------------------------------------------------------------------------- */

/* Rounds of a launch that lasts so long. */
static uint32_t rounds_of(bench_t *b, const work_t *w, uint32_t least_ms)
{
    uint32_t rounds = 4;
    double ns;

    device_open(b, NULL, "off");
    launch_ns(b, w, rounds); /* the first one */
    while ((ns = launch_ns(b, w, rounds)) < least_ms * 1e6 / 8 && rounds < 1u << 24)
        rounds *= 2;
    device_close(b);
    ns = rounds * (least_ms * 1.2e6 / ns);
    return ns < 1 ? 1 : (uint32_t)ns;
}

static void case_tell(const char *name, const work_t *w, double *on, double *off,
                      uint32_t pairs, double ops)
{
    static const char *const parts[] = {"q1", "median", "q3"};
    double percent[PAIRS];
    char part[64];

    for (uint32_t i = 0; i < pairs; i++)
        percent[i] = 100 * (on[i] / off[i] - 1);
    rows_add("heap_stats", name, rows_median(on, pairs) / ops / w->ops, "ns",
             "nobody_looks", rows_median(off, pairs) / ops / w->ops);
    snprintf(part, sizeof part, "%s.launch", name);
    rows_add("heap_stats", part, rows_median(off, pairs) / 1e6, "ms", NULL, 0);
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(part, sizeof part, "%s.more_%s", name, parts[i]);
        rows_add("heap_stats", part, rows_percentile(percent, pairs, 25 * (i + 1)), "%",
                 NULL, 0);
    }
}

static void case_run(bench_t *b, const work_t *w, const reader_t *r)
{
    uint32_t least = b->least_ms, rounds;
    double on[PAIRS], off[PAIRS];
    char name[48];

    snprintf(name, sizeof name, "%s_%s", r->name, w->name);
    if (b->only ? strncmp(name, b->only, strlen(b->only)) != 0
                : w != works && r->period_ms > 4 * LEAST_MS)
        return; /* long launches for who seldom looks: of one work, if not asked for */
    if (least > BRIEF_MS && least < LOOKS * r->period_ms)
        least = LOOKS * r->period_ms;
    rounds = rounds_of(b, w, least);
    for (uint32_t i = 0; i < b->pairs; i++)
        for (uint32_t k = 0; k < 2; k++) {
            bool with = (i + k) % 2;
            double ns =
                r->view ? viewed_ns(b, w, r, rounds, with) : read_ns(b, w, r, rounds, with);

            (with ? on : off)[i] = ns;
        }
    case_tell(name, w, on, off, b->pairs,
              (double)b->launch.grid.x * BENCH_THREADS * rounds);
}

int main(int argc, char **argv)
{
    bool brief = argc > 1 && strcmp(argv[1], "brief") == 0;
    bench_t b = {.pairs = brief ? BRIEF_PAIRS : PAIRS,
                 .least_ms = brief ? BRIEF_MS : LEAST_MS,
                 .launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}},
                 .only = argc > 1 && !brief ? argv[1] : NULL};

    rows_head();
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++)
        for (size_t k = 0; k < sizeof readers / sizeof readers[0]; k++)
            case_run(&b, &works[i], &readers[k]);
    return 0;
}
