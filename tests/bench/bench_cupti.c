/* SPDX-License-Identifier: Apache-2.0 */
/* bench_cupti [kernels | default | all | words | budget | start | samples]...: what the collector adds to a launch of a
 * program that knows nothing of gpurt.
 *
 * The program (tests/gpu/cupti_plain.cu) launches an empty kernel in batches that stay below
 * the depth of the launch queue, from one processor, and says the median time of a call. Rounds
 * of three: bare, under gpurt-record, and with CUPTI recording the same kinds for nobody
 * (cupti_peer); every second round the other way round. One process differs from the next by a
 * tenth, so what counts is the median of the rounds' ratios, with its quartiles beside it.
 * Before any time is believed, the log must hold each kernel once and nothing lost. Of words: what
 * each part of the default set and each word on request adds, all by turns. Of a budget: what it takes
 * of a loop of launches for seconds, as the program sees it. And what
 * it adds to the start of CUDA, as long as the program has to wait for it, beside what CUPTI
 * alone adds. And what counters read meanwhile take from kernels that the memory limits
 * (tests/gpu/cupti_hard.cu), by the device's own clock. */
#include "rows.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAIRS = 24,
    STARTS = 24,
    TURNS = 8,
    WORD_ROUNDS = 12,
    BUDGET_ROUNDS = 5,
    BUDGET_MS = 6000, /* of which a third warms up */
    WORKS = 10000,    /* kernels of 0.1 ms and more */
    LAUNCHES = 20000,
    SKIPPED = 77
};
#define START_NS   20000000.0 /* what it may add */
#define ADDED_NS   4000.0     /* to a launch */
#define OVER_CUPTI 5.0        /* percent of a launch with CUPTI alone */

typedef struct bench {
    char folder[PATH_MAX]; /* of the programs */
    char log[64];
    int processor; /* that launches */
} bench_t;

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_cupti: %s: %s\n", what, why);
    exit(1);
}

/* Runs a line of shell words and reads what it prints. Returns: its exit status. */
static int run(const char *line, char *out, size_t room)
{
    FILE *pipe = popen(line, "r");
    size_t used;
    int status;

    if (!pipe)
        fail(line, strerror(errno));
    used = fread(out, 1, room - 1, pipe);
    out[used] = '\0';
    status = pclose(pipe);
    return status < 0 ? 1 : status;
}

static double bare(const bench_t *b)
{
    char line[2 * PATH_MAX], out[64];

    snprintf(line, sizeof line, "exec %s/../tests/cupti_plain launch %d %d", b->folder,
             LAUNCHES, b->processor);
    if (run(line, out, sizeof out) != 0)
        fail("the bare program", out);
    return strtod(out, NULL);
}

static double alone(const bench_t *b, const char *kinds)
{
    char line[3 * PATH_MAX], out[64];

    snprintf(line, sizeof line,
             "GPURT_CUPTI=%s CUDA_INJECTION64_PATH=%s/../tests/libcupti_peer.so exec "
             "%s/../tests/cupti_plain launch %d %d",
             kinds, b->folder, b->folder, LAUNCHES, b->processor);
    if (run(line, out, sizeof out) != 0)
        fail("the program with CUPTI alone", out);
    return strtod(out, NULL);
}

/* Not each word asks for records of kernels. */
static bool has_kernels(const char *kinds)
{
    return strstr(kinds, "kernels") || strstr(kinds, "default") || strstr(kinds, "live") ||
           strstr(kinds, "counted") || strstr(kinds, "sampled") ||
           strcmp(kinds, "all") == 0;
}

/* kinds: for GPURT_CUPTI. */
static double watched(const bench_t *b, const char *kinds)
{
    char line[3 * PATH_MAX], out[8192], want[64];
    double time;

    unlink(b->log);
    snprintf(line, sizeof line,
             "GPURT_CUPTI=%s exec %s/gpurt-record -q -o %s -- %s/../tests/cupti_plain "
             "launch %d %d",
             kinds, b->folder, b->log, b->folder, LAUNCHES, b->processor);
    if (run(line, out, sizeof out) != 0)
        fail("the program under gpurt-record", out);
    time = strtod(out, NULL);
    snprintf(line, sizeof line, "exec %s/gpurt-log stat --json %s", b->folder, b->log);
    if (run(line, out, sizeof out) != 0)
        fail("gpurt-log", out);
    snprintf(want, sizeof want, "\"activity\":{\"kernels\":%d,",
             has_kernels(kinds) ? LAUNCHES : 0);
    if (!strstr(out, want) || !strstr(out, "\"dropped\":0,\"sites\""))
        fail("records are missing", out);
    return time;
}

typedef enum start {
    START_BARE,
    START_WATCHED,
    START_ALONE, /* CUPTI */
    START_GRAPHS, /* likewise, with the graphs that kernels launch, which the collector leaves */
    START_WAYS
} start_t;

/* Until CUDA is there. */
static double started(const bench_t *b, start_t way)
{
    char line[3 * PATH_MAX], out[64];

    unlink(b->log);
    if (way == START_WATCHED)
        snprintf(line, sizeof line,
                 "exec %s/gpurt-record -q -o %s -- %s/../tests/cupti_plain start",
                 b->folder, b->log, b->folder);
    else
        snprintf(line, sizeof line, "%s%s%s%s exec %s/../tests/cupti_plain start",
                 way == START_GRAPHS ? "GPURT_CUPTI=default,device-graphs " : "",
                 way == START_BARE ? "" : "CUPTI_PEER_KIB=64 CUDA_INJECTION64_PATH=",
                 way == START_BARE ? "" : b->folder,
                 way == START_BARE ? "" : "/../tests/libcupti_peer.so", b->folder);
    if (run(line, out, sizeof out) != 0)
        fail("the program that starts CUDA", out);
    return strtod(out, NULL);
}

static void start_case(const bench_t *b)
{
    double took[START_WAYS][STARTS], added[START_WAYS][STARTS];

    for (int i = 0; i < STARTS; i++) {
        for (int k = 0; k < START_WAYS; k++) { /* each way in each place */
            int way = (i + k) % START_WAYS;

            took[way][i] = started(b, (start_t)way);
        }
        for (int k = 0; k < START_WAYS; k++)
            added[k][i] = took[k][i] - took[START_BARE][i];
    }
    rows_add("bench_cupti", "added_to_start", rows_median(added[START_WATCHED], STARTS),
             "ns", "limit", START_NS);
    rows_add("bench_cupti", "cupti_adds_to_start", rows_median(added[START_ALONE], STARTS),
             "ns", NULL, 0);
    rows_add("bench_cupti", "cupti_and_device_graphs_add_to_start",
             rows_median(added[START_GRAPHS], STARTS), "ns", NULL, 0);
    rows_add("bench_cupti", "start_bare", rows_median(took[START_BARE], STARTS), "ns", NULL,
             0);
}

/* Returns: what a kernel took; *samples: whether the log has any. */
static double worked(const bench_t *b, const char *kinds, bool *samples)
{
    char line[3 * PATH_MAX], out[16384];
    double time;

    unlink(b->log);
    snprintf(
        line, sizeof line,
        "GPURT_CUPTI=%s exec %s/gpurt-record -q -o %s -- %s/../tests/cupti_hard work %d",
        kinds, b->folder, b->log, b->folder, WORKS);
    if (run(line, out, sizeof out) != 0)
        fail("the program that works", out);
    time = strtod(out, NULL);
    snprintf(line, sizeof line, "exec %s/gpurt-log cat %s | grep -c -m 1 ' sample of '",
             b->folder, b->log);
    run(line, out, sizeof out); /* grep has its own opinion of none */
    *samples = out[0] != '0';
    return time;
}

static void samples_case(const bench_t *b)
{
    double without[TURNS], with[TURNS], over[TURNS];
    bool samples;

    for (int i = 0; i < TURNS; i++) {
        if (i % 2)
            without[i] = worked(b, "default", &samples);
        with[i] = worked(b, "default,samples", &samples);
        if (!samples) {
            fprintf(stderr, "bench_cupti: samples: skipped: the driver gives none\n");
            return;
        }
        if (i % 2 == 0)
            without[i] = worked(b, "default", &samples);
        over[i] = 100 * (with[i] / without[i] - 1);
    }
    rows_add("bench_cupti", "work_with_samples", rows_median(with, TURNS), "ns", "without",
             rows_median(without, TURNS));
    rows_add("bench_cupti", "samples_take", rows_median(over, TURNS), "%", NULL, 0);
    rows_add("bench_cupti", "samples_take_q1", rows_percentile(over, TURNS, 25), "%", NULL,
             0);
    rows_add("bench_cupti", "samples_take_q3", rows_percentile(over, TURNS, 75), "%", NULL,
             0);
}

typedef struct rounds {
    double bare[PAIRS], watched[PAIRS], alone[PAIRS];
} rounds_t;

static void round_run(const bench_t *b, const char *kinds, int i, rounds_t *out)
{
    bool back = i % 2 != 0;

    if (back)
        out->alone[i] = alone(b, kinds);
    else
        out->bare[i] = bare(b);
    out->watched[i] = watched(b, kinds);
    if (back)
        out->bare[i] = bare(b);
    else
        out->alone[i] = alone(b, kinds);
}

static void row(const char *name, const char *kinds, double value, const char *unit,
                const char *peer, double peer_value)
{
    char text[64];

    snprintf(text, sizeof text, name, kinds);
    rows_add("bench_cupti", text, value, unit, peer, peer_value);
}

static void one_case(const bench_t *b, const char *kinds)
{
    double added[PAIRS], over[PAIRS];
    rounds_t r;

    for (int i = 0; i < PAIRS; i++) {
        round_run(b, kinds, i, &r);
        added[i] = r.watched[i] - r.bare[i];
        over[i] = 100 * (r.watched[i] / r.alone[i] - 1);
    }
    row("launch_%s", kinds, rows_median(r.watched, PAIRS), "ns", "bare",
        rows_median(r.bare, PAIRS));
    row("cupti_alone_%s", kinds, rows_median(r.alone, PAIRS), "ns", NULL, 0);
    row("added_%s", kinds, rows_median(added, PAIRS), "ns", "limit", ADDED_NS);
    row("over_cupti_%s", kinds, rows_median(over, PAIRS), "%", "limit", OVER_CUPTI);
    row("over_cupti_%s_q1", kinds, rows_percentile(over, PAIRS, 25), "%", NULL, 0);
    row("over_cupti_%s_q3", kinds, rows_percentile(over, PAIRS, 75), "%", NULL, 0);
}

/* Each word by turns with all others, since machines and processes differ by more. */
static void words_case(const bench_t *b)
{
    static const char *const words[] = {"kernels",
                                        "kernels,copies,fills,graphs",
                                        "kernels,copies,fills,graphs,waits",
                                        "default,host-waits",
                                        "default",
                                        "lines",
                                        "running",
                                        "counted",
                                        "counted,running",
                                        "sampled",
                                        "default,running",
                                        "default,lines"};
    enum {
        WORDS = sizeof words / sizeof words[0]
    };
    double without[WORD_ROUNDS], with[WORDS][WORD_ROUNDS], added[WORDS][WORD_ROUNDS];

    for (int i = 0; i < WORD_ROUNDS; i++) {
        without[i] = bare(b);
        for (int k = 0; k < WORDS; k++) {
            int word = i % 2 ? WORDS - 1 - k : k;

            with[word][i] = watched(b, words[word]);
            added[word][i] = with[word][i] - without[i];
        }
    }
    for (int k = 0; k < WORDS; k++) {
        row("word_%s", words[k], rows_median(with[k], WORD_ROUNDS), "ns", "bare",
            rows_median(without, WORD_ROUNDS));
        row("word_adds_%s", words[k], rows_median(added[k], WORD_ROUNDS), "ns", NULL, 0);
    }
}

/* Of a launch: ns, and that over what a fixed piece of work takes beside it. */
typedef struct steady {
    double ns, ratio;
} steady_t;

/* budget: in percent; 0: bare. */
static steady_t steady(const bench_t *b, int budget)
{
    char line[3 * PATH_MAX], record[PATH_MAX + 128] = "", out[64], *end;
    steady_t s;

    unlink(b->log);
    if (budget)
        snprintf(record, sizeof record, "%s/gpurt-record -q --budget %d -o %s -- ",
                 b->folder, budget, b->log);
    snprintf(line, sizeof line, "exec %s%s/../tests/cupti_plain steady %d %d", record,
             b->folder, BUDGET_MS, b->processor);
    if (run(line, out, sizeof out) != 0)
        fail("the program under a budget", out);
    s.ns = strtod(out, &end);
    s.ratio = strtod(end, NULL);
    return s;
}

/* What a budget takes of the program's time. */
static void budget_case(const bench_t *b)
{
    static const int budgets[] = {0, 5, 20};
    enum {
        BUDGETS = sizeof budgets / sizeof budgets[0]
    };
    double bare[BUDGET_ROUNDS], takes[BUDGETS][BUDGET_ROUNDS];

    for (int i = 0; i < BUDGET_ROUNDS; i++) {
        steady_t took[BUDGETS];

        for (int k = 0; k < BUDGETS; k++) /* each in each place */
            took[(i + k) % BUDGETS] = steady(b, budgets[(i + k) % BUDGETS]);
        for (int k = 0; k < BUDGETS; k++)
            takes[k][i] = 100 * (1 - took[0].ratio / took[k].ratio);
        bare[i] = took[0].ns;
    }
    for (int k = 1; k < BUDGETS; k++) {
        char name[32];

        snprintf(name, sizeof name, "budget_%d_takes", budgets[k]);
        rows_add("bench_cupti", name, rows_median(takes[k], BUDGET_ROUNDS), "%", "budget",
                 budgets[k]);
    }
    rows_add("bench_cupti", "budget_bare", rows_median(bare, BUDGET_ROUNDS), "ns", NULL, 0);
}

/* The last one that we may use: the first serves interrupts. */
static int processor_choose(void)
{
    cpu_set_t set;
    int last = -1;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return -1;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            last = i;
    return last;
}

static bool is_asked(int argc, char **argv, const char *what)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], what) == 0)
            return true;
    return argc < 2;
}

int main(int argc, char **argv)
{
    static const char *const cases[] = {"kernels", "default", "all"};
    bench_t b = {.log = "/tmp/bench_cupti.XXXXXX"};
    char program[PATH_MAX + 32];
    ssize_t bytes = readlink("/proc/self/exe", b.folder, sizeof b.folder - 1);
    char *slash;
    int fd;

    b.folder[bytes > 0 ? bytes : 0] = '\0';
    slash = strrchr(b.folder, '/');
    if (slash)
        *slash = '\0';
    snprintf(program, sizeof program, "%s/../tests/cupti_plain", b.folder);
    if (access(program, X_OK) != 0 || access("/dev/nvidiactl", F_OK) != 0) {
        fprintf(stderr, "bench_cupti: skipped: no GPU, or no %s\n", program);
        return SKIPPED;
    }
    unsetenv("CUDA_INJECTION64_PATH");
    fd = mkstemp(b.log);
    if (fd < 0)
        fail(b.log, strerror(errno));
    close(fd);
    b.processor = processor_choose();
    rows_head();
    bare(&b); /* the driver warms up */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (is_asked(argc, argv, cases[i]))
            one_case(&b, cases[i]);
    if (is_asked(argc, argv, "words"))
        words_case(&b);
    if (is_asked(argc, argv, "budget"))
        budget_case(&b);
    if (is_asked(argc, argv, "start"))
        start_case(&b);
    if (is_asked(argc, argv, "samples"))
        samples_case(&b);
    unlink(b.log);
    return 0;
}
