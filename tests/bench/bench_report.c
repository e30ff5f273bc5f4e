/* SPDX-License-Identifier: Apache-2.0 */
/* bench_report - from a panic to its whole report on a terminal. A child is the application, with
 * gpurt-record as everybody starts it; another is `gpurt-panic watch --whole` on a terminal, whose
 * other end this process reads. The time of each panic stands in its report; the application
 * polls its stream all the while, and says when that told it that the kernel had ended. */
#include "bench_report.h"
#include "check.h"
#include "hosttime.h"
#include "rows.h"

#include <gpurt/gpurt.h>

#include <limits.h>
#include <pty.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PANICS = 200, /* of the box's 256 slots */
    EVERY_US = 12000,
    BEFORE_US = 600000, /* until a watcher looks */
    OPEN_TRIES = 2000
};
#define MINUTE_US 60e6

/* ---- the application ----------------------------------------------------------------- */

static int application(const char *path)
{
    const gpurt_launch_t launch = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    FILE *said = fopen(path, "we");
    gpurt_error_t e = {0};
    gpurt_t *rt;

    CHECK(said != NULL);
    CHECK_MSG(gpurt_open(NULL, &rt, &e) == GPURT_OK, "%s", e.text);
    usleep(BEFORE_US);
    for (uint32_t i = 0; i < PANICS; i++) {
        struct bench_report_args args = {i};
        gpurt_status_t st;

        CHECK_MSG(gpurt_launch(rt, &launch, bench_report, &args, &e) == GPURT_OK, "%s",
                  e.text);
        do
            st = gpurt_stream_query(rt, GPURT_STREAM_DEFAULT, &e);
        while (st == GPURT_E_NOT_READY);
        fprintf(said, "%llu\n", (unsigned long long)gpurt_real_ns());
        usleep(EVERY_US);
    }
    fclose(said);
    gpurt_close(rt, &e);
    return 0;
}

/* ---- the terminal -------------------------------------------------------------------- */

typedef struct reports {
    double panic_us[PANICS]; /* within its minute */
    double seen_us[PANICS];  /* whole on the terminal, after the panic */
    uint32_t begun, count;
} reports_t;

static double within_minute(uint64_t real_ns)
{
    return (double)(real_ns % 60000000000ull) / 1e3;
}

static double after(double from_us, double to_us)
{
    double d = to_us - from_us;

    return d < -MINUTE_US / 2 ? d + MINUTE_US : d > MINUTE_US / 2 ? d - MINUTE_US : d;
}

static void line_take(reports_t *r, const char *line, uint64_t now_ns)
{
    double seconds;

    if (sscanf(line, "  time %*d-%*d-%*d %*d:%*d:%lf", &seconds) == 1 && r->begun < PANICS)
        r->panic_us[r->begun++] = seconds * 1e6;
    if (strncmp(line, "help:", 5) == 0 && r->count < r->begun) {
        r->seen_us[r->count] = after(r->panic_us[r->count], within_minute(now_ns));
        r->count++;
    }
}

static void terminal_read(int fd, reports_t *r)
{
    char line[4096], bytes[65536];
    size_t used = 0;
    ssize_t got;

    while ((got = read(fd, bytes, sizeof bytes)) > 0) {
        uint64_t now = gpurt_real_ns();

        for (ssize_t i = 0; i < got; i++) {
            if (bytes[i] != '\n') {
                line[used] = bytes[i];
                used += used + 1 < sizeof line;
                continue;
            }
            line[used] = 0;
            line_take(r, line, now);
            used = 0;
        }
    }
}

/* ---- the run ------------------------------------------------------------------------- */

static void beside_us(char *path, size_t bytes, const char *name)
{
    ssize_t length = readlink("/proc/self/exe", path, bytes - 1);
    char *slash;

    CHECK(length > 0);
    path[length] = 0;
    slash = strrchr(path, '/');
    CHECK((size_t)(slash - path) + strlen(name) + 2 < bytes);
    strcpy(slash + 1, name);
}

static pid_t record_start(const char *log, const char *said)
{
    char program[PATH_MAX], self[PATH_MAX];
    pid_t child;

    beside_us(program, sizeof program, "gpurt-record");
    beside_us(self, sizeof self, "bench_report");
    if (access(program, X_OK) != 0)
        return -1;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        execl(program, program, "-q", "-o", log, "--", self, "app", said, (char *)NULL);
        _exit(126);
    }
    return child;
}

/* The log is there as soon as the application has opened gpurt. */
static pid_t watch_start(const char *log, int *terminal)
{
    struct winsize size = {.ws_row = 50, .ws_col = 120};
    char program[PATH_MAX];
    pid_t child;

    beside_us(program, sizeof program, "gpurt-panic");
    for (int i = 0; i < OPEN_TRIES && access(log, R_OK) != 0; i++)
        usleep(1000);
    child = forkpty(terminal, NULL, NULL, &size);
    if (child == 0) {
        setenv("TZ", "UTC", 1);
        setenv("NO_COLOR", "1", 1);
        execl(program, program, "watch", "--whole", log, (char *)NULL);
        _exit(126);
    }
    return child;
}

static void rows_tell(reports_t *r, const char *said)
{
    double query_us[PANICS];
    unsigned long long ns;
    FILE *f = fopen(said, "re");
    uint32_t count = 0;

    CHECK_MSG(r->count == PANICS, "%u reports of %u panics", r->count, PANICS);
    while (f && count < PANICS && fscanf(f, "%llu", &ns) == 1) {
        query_us[count] = after(r->panic_us[count], within_minute(ns));
        count++;
    }
    if (f)
        fclose(f);
    CHECK_EQ(count, PANICS);
    rows_add("report", "whole_on_terminal.p50",
             rows_percentile(r->seen_us, count, 50) / 1e3, "ms", NULL, 0);
    rows_add("report", "whole_on_terminal.p99",
             rows_percentile(r->seen_us, count, 99) / 1e3, "ms", "promised", 50);
    rows_add("report", "stream_query.p50", rows_percentile(query_us, count, 50) / 1e3, "ms",
             NULL, 0);
    rows_add("report", "stream_query.p99", rows_percentile(query_us, count, 99) / 1e3, "ms",
             NULL, 0);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/bench_report.XXXXXX", log[64], said[64];
    static reports_t reports;
    int terminal = -1, status;
    pid_t record, watch;

    if (argc == 3 && strcmp(argv[1], "app") == 0)
        return application(argv[2]);
    CHECK(mkdtemp(folder) != NULL);
    snprintf(log, sizeof log, "%s/run.gplog", folder);
    snprintf(said, sizeof said, "%s/said", folder);
    record = record_start(log, said);
    if (record < 0) {
        fprintf(stderr, "bench_report: no gpurt-record beside it\n");
        return 77;
    }
    watch = watch_start(log, &terminal);
    CHECK(watch > 0);
    terminal_read(terminal, &reports);
    waitpid(watch, &status, 0);
    waitpid(record, &status, 0);
    CHECK_MSG(WIFEXITED(status) && WEXITSTATUS(status) == 0, "gpurt-record: %d", status);
    rows_head();
    rows_tell(&reports, said);
    close(terminal);
    unlink(log);
    unlink(said);
    rmdir(folder);
    return 0;
}
