/* SPDX-License-Identifier: Apache-2.0 */
/* bench_open: what gpurt_open and gpurt_close cost a program that nobody records, with the box
 * that keeps panics and its thread (the default), with the box alone (panics quiet), and with
 * neither (panics off), which is the peer. On a GPU also over CUDA's own start, cudaFree(0).
 *
 * `first` is of a process that has opened nothing yet: each sample is a process of its own, forked
 * before anything is used. `again` is of one that opens and closes in a row; on a GPU its context
 * is there before. Samples of all kinds take turns. Before any time is believed a kernel panics,
 * and the wait says so where there is a box, and only there. */
#include "bench_open.h"

#include "rows.h"

#include <gpurt/gpurt.h>

#if GPURT_BENCH_CUDA
#    include <cuda_runtime_api.h>
#endif
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    REPEATS = 50,
    GPU_REPEATS = 20, /* a context takes a third of a second */
    BARE = 3          /* CUDA's start; below it gpurt_panics_t */
};

/* One open, one close; or CUDA's start, and nothing. */
typedef struct sample {
    double open_ns, close_ns;
} sample_t;

static bool on_gpu;

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_open: %s: %s\n", what, why);
    exit(1);
}

static gpurt_t *open_as(uint32_t panics)
{
    gpurt_options_t options = {.struct_size = sizeof options, .panics = panics};
    gpurt_error_t err;
    gpurt_t *rt;

    if (gpurt_open(&options, &rt, &err) != GPURT_OK)
        fail("gpurt_open", err.text);
    return rt;
}

static void close_well(gpurt_t *rt)
{
    gpurt_error_t err;

    if (gpurt_close(rt, &err) != GPURT_OK)
        fail("gpurt_close", err.text);
}

static void bare_start(void)
{
#if GPURT_BENCH_CUDA
    if (cudaFree(0) != cudaSuccess)
        fail("cudaFree(0)", cudaGetErrorString(cudaGetLastError()));
#endif
}

/* ---- samples ------------------------------------------------------------------------- */

static sample_t sample_take(uint32_t kind)
{
    double begin = rows_now_ns(), middle, end;
    gpurt_t *rt;

    if (kind == BARE) {
        bare_start();
        return (sample_t){rows_now_ns() - begin, 0};
    }
    rt = open_as(kind);
    middle = rows_now_ns();
    close_well(rt);
    end = rows_now_ns();
    return (sample_t){middle - begin, end - middle};
}

/* In a process of its own. again: how often, behind one that is not counted. */
static void samples_in_child(uint32_t kind, uint32_t again, sample_t *out)
{
    uint32_t count = again ? again : 1;
    int ends[2], status;
    pid_t pid;

    if (pipe(ends) != 0)
        fail("pipe", "refused");
    pid = fork();
    if (pid == 0) {
        if (again && on_gpu)
            bare_start();
        if (again)
            (void)sample_take(kind);
        for (uint32_t i = 0; i < count; i++) {
            sample_t s = sample_take(kind);

            if (write(ends[1], &s, sizeof s) != (ssize_t)sizeof s)
                _exit(1);
        }
        _exit(0);
    }
    close(ends[1]);
    for (uint32_t i = 0; i < count; i++)
        if (read(ends[0], &out[i], sizeof *out) != (ssize_t)sizeof *out)
            fail("a sample", "its process failed");
    close(ends[0]);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        fail("a sample", "its process failed");
}

/* ---- rows ---------------------------------------------------------------------------- */

static void row_add(const char *what, const sample_t *ours, const char *peer,
                    const sample_t *theirs, uint32_t count, bool closes)
{
    double a[REPEATS], b[REPEATS];
    static const uint32_t percents[] = {50, 99};

    for (uint32_t i = 0; i < count; i++) {
        a[i] = closes ? ours[i].close_ns : ours[i].open_ns;
        b[i] = closes ? theirs[i].close_ns : theirs[i].open_ns;
    }
    for (int p = 0; p < 2; p++) {
        char name[64];

        snprintf(name, sizeof name, "%s_%s_%s%s", on_gpu ? "gpu" : "cpu",
                 closes ? "close" : "open", what, p ? ".p99" : "");
        rows_add("open", name, rows_percentile(a, count, percents[p]) / 1e3, "us", peer,
                 rows_percentile(b, count, percents[p]) / 1e3);
    }
}

static void all_first(uint32_t count)
{
    static sample_t samples[BARE + 1][REPEATS];

    for (uint32_t i = 0; i < count; i++)
        for (uint32_t kind = 0; kind < (on_gpu ? BARE + 1 : BARE); kind++)
            samples_in_child(kind, 0, &samples[kind][i]);
    for (int closes = 0; closes < 2; closes++) {
        row_add("first", samples[GPURT_PANICS_TELL], "no_box", samples[GPURT_PANICS_OFF],
                count, closes);
        row_add("first_quiet", samples[GPURT_PANICS_QUIET], "no_box",
                samples[GPURT_PANICS_OFF], count, closes);
    }
    if (!on_gpu)
        return;
    row_add("first_over_cuda", samples[GPURT_PANICS_TELL], "cudaFree(0)", samples[BARE],
            count, false);
}

static void all_again(uint32_t count)
{
    static sample_t samples[BARE][REPEATS];

    for (uint32_t kind = 0; kind < BARE; kind++)
        samples_in_child(kind, count, samples[kind]);
    for (int closes = 0; closes < 2; closes++) {
        row_add("again", samples[GPURT_PANICS_TELL], "no_box", samples[GPURT_PANICS_OFF],
                count, closes);
        row_add("again_quiet", samples[GPURT_PANICS_QUIET], "no_box",
                samples[GPURT_PANICS_OFF], count, closes);
    }
}

/* ---- before -------------------------------------------------------------------------- */

static gpurt_status_t panic_heard(uint32_t panics)
{
    struct bench_open_args args = {.panics = 1};
    gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    gpurt_t *rt = open_as(panics);
    gpurt_status_t st;

    if (gpurt_launch(rt, &launch, bench_open_raise, &args, NULL) != GPURT_OK)
        fail("launch", "refused");
    st = gpurt_sync(rt, NULL);
    close_well(rt);
    return st;
}

/* In a child: 0, on a GPU; 1, on the CPU; 2, neither. */
static void look(void)
{
    gpurt_t *rt = NULL;
    gpurt_error_t err;
    gpurt_info_t info;

    if (gpurt_open(NULL, &rt, &err) != GPURT_OK) {
        fprintf(stderr, "bench_open: skipped: %s\n", err.text);
        _exit(2);
    }
    if (gpurt_info(rt, &info) != GPURT_OK)
        _exit(2);
    close_well(rt);
    if (panic_heard(GPURT_PANICS_QUIET) != GPURT_E_PANIC ||
        panic_heard(GPURT_PANICS_OFF) != GPURT_OK)
        fail("a panic", "it is heard without a box, or not with one");
    _exit(info.backend == GPURT_BACKEND_CUDA ? 0 : 1);
}

int main(void)
{
    int status;
    pid_t pid;

    unsetenv("GPURT_LOG");
    unsetenv("GPURT_DRAIN");
    unsetenv("GPURT_PANICS");
    pid = fork();
    if (pid == 0)
        look();
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) > 1)
        return WIFEXITED(status) && WEXITSTATUS(status) == 2 ? 77 : 1;
    on_gpu = WEXITSTATUS(status) == 0;
    rows_head();
    all_first(on_gpu ? GPU_REPEATS : REPEATS);
    all_again(REPEATS);
    return 0;
}
