/* SPDX-License-Identifier: Apache-2.0 */
/* bench_collector: what the collector costs by itself, over the stand-in for CUPTI: its start
 * (loading the library, its threads, its memory; CUPTI's own part is not in it), and a
 * record from CUPTI's buffer to the file: CPU time of all threads of all processes that take
 * part, without that of the thread that stands in for CUDA. `record`: three kernels by turns;
 * `loop_record`: 61, each with its own shape and time, as a training loop has them. */
#include "rows.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    STARTS = 40,
    RUNS = 9,
    RECORDS =
        10000000, /* so many that processes, which begin and end, are a hundredth of it */
    SKIPPED = 77
};
#define START_NS  20000000.0 /* what it may cost in all */
#define RECORD_NS 200.0      /* five million a second on one core */

static char folder[PATH_MAX]; /* of the benches */
static char log_path[] = "/tmp/bench_collector.XXXXXX";

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_collector: %s: %s\n", what, why);
    exit(1);
}

/* In a process of its own, as the driver does it. */
static double start_once(const char *library)
{
    int ends[2], status;
    double ns = 0;
    pid_t pid;

    if (pipe(ends) != 0)
        fail("pipe", strerror(errno));
    pid = fork();
    if (pid == 0) {
        double begin = rows_now_ns();
        void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        void *entry = handle ? dlsym(handle, "InitializeInjection") : NULL;
        int (*initialise)(void);

        memcpy(&initialise, &entry, sizeof initialise);
        if (!entry || initialise() != 1)
            _exit(1);
        ns = rows_now_ns() - begin;
        _exit(write(ends[1], &ns, sizeof ns) == (ssize_t)sizeof ns ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &ns, sizeof ns) != (ssize_t)sizeof ns ||
        waitpid(pid, &status, 0) != pid || status != 0)
        fail(library, "it does not start");
    close(ends[0]);
    return ns;
}

static void starts(void)
{
    char library[PATH_MAX + 64];
    double samples[STARTS];

    snprintf(library, sizeof library, "%s/../lib/libgpurt-inject.so", folder);
    for (int i = 0; i < STARTS; i++)
        samples[i] = start_once(library);
    rows_add("bench_collector", "start_p50", rows_percentile(samples, STARTS, 50), "ns",
             "limit", START_NS);
    rows_add("bench_collector", "start_p99", rows_percentile(samples, STARTS, 99), "ns",
             "limit", START_NS);
}

/* CPU time of all children; kernel: of it, what the kernel took. */
typedef struct used {
    double all, kernel;
} used_t;

static double ns_of(struct timeval t)
{
    return (double)t.tv_sec * 1e9 + (double)t.tv_usec * 1e3;
}

static used_t used_now(void)
{
    struct rusage u;

    getrusage(RUSAGE_CHILDREN, &u);
    return (used_t){ns_of(u.ru_utime) + ns_of(u.ru_stime), ns_of(u.ru_stime)};
}

/* Each record must be in the file before any time is believed. */
static void check(void)
{
    char line[2 * PATH_MAX], out[4096] = "", want[64];
    FILE *pipe;

    snprintf(line, sizeof line, "exec %s/gpurt-log stat --json %s", folder, log_path);
    pipe = popen(line, "r");
    if (!pipe || fread(out, 1, sizeof out - 1, pipe) == 0)
        fail("gpurt-log", "says nothing");
    pclose(pipe);
    snprintf(want, sizeof want, "\"activity\":{\"kernels\":%d,", RECORDS);
    if (!strstr(out, want) || !strstr(out, "\"dropped\":0,\"sites\""))
        fail("records are missing", out);
}

/* Returns: what a record took of the stand-in's thread, in ns. */
static double record_run(const char *line)
{
    char out[64] = "";
    FILE *pipe = popen(line, "r");
    bool told = pipe && fgets(out, sizeof out, pipe);

    if (!pipe || pclose(pipe) != 0 || !told)
        fail(line, "failed");
    return strtod(out, NULL);
}

/* mode: of cupti_app. */
static void records(const char *mode, const char *prefix)
{
    double cpu[RUNS], wall[RUNS], ours[RUNS], kernel[RUNS];
    char line[3 * PATH_MAX], name[64];
    struct stat file;

    snprintf(line, sizeof line,
             "exec %s/gpurt-record -q -o %s -- %s/../tests/cupti_app %s %d", folder,
             log_path, folder, mode, RECORDS);
    for (int i = 0; i < RUNS; i++) {
        const double begin = rows_now_ns();
        const used_t before = used_now();
        double apart;
        used_t after;

        unlink(log_path);
        apart = record_run(line);
        wall[i] = (rows_now_ns() - begin) / RECORDS;
        after = used_now();
        cpu[i] = (after.all - before.all) / RECORDS;
        kernel[i] = (after.kernel - before.kernel) / RECORDS;
        ours[i] = cpu[i] - apart;
        if (i == 0)
            check();
    }
    snprintf(name, sizeof name, "%s_to_file_cpu", prefix);
    rows_add("bench_collector", name, rows_median(ours, RUNS), "ns", "limit", RECORD_NS);
    snprintf(name, sizeof name, "%s_to_file_cpu_of_all", prefix);
    rows_add("bench_collector", name, rows_median(cpu, RUNS), "ns", NULL, 0);
    snprintf(name, sizeof name, "%s_to_file_in_kernel", prefix);
    rows_add("bench_collector", name, rows_median(kernel, RUNS), "ns", NULL, 0);
    snprintf(name, sizeof name, "%s_to_file_wall", prefix);
    rows_add("bench_collector", name, rows_median(wall, RUNS), "ns", NULL, 0);
    snprintf(name, sizeof name, "%s_in_file", prefix);
    if (stat(log_path, &file) == 0)
        rows_add("bench_collector", name, (double)file.st_size / RECORDS, "bytes", "limit",
                 12);
}

int main(void)
{
    ssize_t bytes = readlink("/proc/self/exe", folder, sizeof folder - 1);
    char path[PATH_MAX + 64], *slash;
    int fd;

    folder[bytes > 0 ? bytes : 0] = '\0';
    slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
    snprintf(path, sizeof path, "%s/../tests/libfake_cupti.so", folder);
    if (access(path, R_OK) != 0) {
        fprintf(stderr, "bench_collector: skipped: no %s\n", path);
        return SKIPPED;
    }
    setenv("GPURT_CUPTI_LIBRARY", path, 1);
    setenv("GPURT_NVML", "off", 1);
    setenv("GPURT_CUPTI", "kernels", 1);
    fd = mkstemp(log_path);
    if (fd < 0)
        fail(log_path, strerror(errno));
    close(fd);
    setenv("GPURT_LOG", log_path, 1); /* somebody wants records */
    rows_head();
    starts();
    unsetenv("GPURT_LOG");
    records("timed", "record");
    records("loop", "loop_record");
    unlink(log_path);
    return 0;
}
