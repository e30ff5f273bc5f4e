/* SPDX-License-Identifier: Apache-2.0 */
/* A program as the collector meets it, without a GPU: it loads what CUDA_INJECTION64_PATH
 * names, as the driver would, and lets the stand-in behave as its words say. */
#include "cupti_app.h"

#include "check.h"
#include "device_app.h"
#include "hard_app.h"
#include "host_app.h"
#include "lines_app.h"
#include "running_app.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    CROWD_KIB = 4096,
    MEMORY_KIB = 64 << 10, /* all that the collector may take */
    LOOP_NAMES = 61
};

const fake_cupti_t *fake;
const char *const names[APP_NAMES] = {"_Z5saxpyPfPKfi", "plain_kernel",
                                      "_Z6reduceIfEvPT_S1_i"};

void rest(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

/* As the driver does at cuInit. */
static void driver_start(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    const char *cupti = getenv("GPURT_CUPTI_LIBRARY");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL, *entry;
    int (*initialise)(void);
    struct rlimit limit;

    if (!library)
        return;
    if (getenv("FAKE_LOADED")) /* another CUPTI that the program brings along */
        CHECK(dlopen(getenv("FAKE_LOADED"), RTLD_NOW | RTLD_LOCAL) != NULL);
    if (getenv("FAKE_GRAPHS")) /* what of the driver is asked about graphs */
        CHECK(dlopen(getenv("FAKE_GRAPHS"), RTLD_NOW | RTLD_LOCAL) != NULL);
    entry = dlsym(library, "InitializeInjection");
    CHECK_MSG(entry != NULL, "no entry in %s", path);
    memcpy(&initialise, &entry, sizeof initialise);
    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (getenv("FAKE_STARVED")) /* as CUDA starts there is no descriptor left */
        CHECK_EQ(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, limit.rlim_max}), 0);
    CHECK_EQ(initialise(), 1);
    CHECK_EQ(initialise(), 1); /* a second driver of the process changes nothing */
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    library = cupti ? dlopen(cupti, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) : NULL;
    fake = library ? dlsym(library, "fake_cupti") : NULL;
}

void kernels(int lane, long count)
{
    for (long i = 0; i < count; i++) {
        uint64_t now = fake->time();

        fake->kernel(lane, names[i % 3], now - 5000, now - 4000 + (uint64_t)(i % 100));
    }
}

static void kernels_of_one(long count)
{
    kernels(0, count);
}

/* Two buffers, the later one comes back first. */
static void out_of_order(void)
{
    uint64_t now = fake->time() - 1000000;

    fake->hold(0, 1);
    fake->hold(1, 1);
    fake->kernel(0, "early", now, now + 1000);
    fake->kernel(1, "late", now + 5000, now + 6000);
    fake->done(1);
    rest(150);
    fake->done(0);
}

/* A kernel that has not ended stays with CUPTI while the program runs. */
static void persistent(void)
{
    uint64_t now = fake->time();

    fake->hold(0, 1);
    fake->kernel(0, "persistent", now, 0);
    rest(350);
    CHECK_EQ(fake->taken(), 1);
    CHECK_EQ(fake->forced(), 0);
}

/* Long enough for samples, with one kernel that does not end. */
static void sampled(long ms)
{
    uint64_t now = fake->time();

    fake->hold(0, 1);
    fake->kernel(0, "persistent", now, 0);
    rest(ms);
}

/* A module is unloaded, and the next one has its addresses: when the first one's records have
 * been read, the same address is another name. */
static void addresses(void)
{
    static char name[] = "before";
    int all = fake->use_all();

    for (const char *is = "before"; is; is = strcmp(is, "before") == 0 ? "behind" : NULL) {
        uint64_t now = fake->time();

        memcpy(name, is, sizeof name);
        for (int i = 0; i < 10; i++)
            fake->kernel(0, name, now - 2000, now - 1000);
        fake->done(0);
        while (fake->use_all() < all)
            rest(5);
    }
}

/* The pool and what else is fixed, and nothing for each kernel. What a sanitizer holds
 * besides is fixed too, but no part of the collector's bound. */
static void crowd(long count)
{
    struct rusage before, after;

    fake->use_all(); /* however fast the reader is */
    kernels(0, 500000);
    CHECK_EQ(getrusage(RUSAGE_SELF, &before), 0);
    kernels(0, count - 500000);
    CHECK_EQ(getrusage(RUSAGE_SELF, &after), 0);
    CHECK_MSG(after.ru_maxrss - before.ru_maxrss < CROWD_KIB, "%ld KiB for %ld kernels",
              after.ru_maxrss - before.ru_maxrss, count);
    CHECK_MSG(CHECK_SANITIZED || after.ru_maxrss < MEMORY_KIB, "%ld KiB in all",
              after.ru_maxrss);
}

/* As a training loop has them: each of LOOP_NAMES with a shape of its own and a time that is
 * nearly the same, in an order that comes again. */
static void loop(long count)
{
    static char texts[LOOP_NAMES][128];
    static fake_where_t where[LOOP_NAMES];
    uint32_t noise = 1;

    for (int i = 0; i < LOOP_NAMES; i++) {
        snprintf(texts[i], sizeof texts[i],
                 "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_%"
                 "02dfunctorIfEESt5arrayIPcLm2EEEEviT0_T1_",
                 i);
        where[i] = (fake_where_t){.context = 1,
                                  .stream = 7,
                                  .grid = 1 + i * i * 13 % 5000,
                                  .block = 32 << i % 6,
                                  .registers = (uint16_t)(16 + i % 15 * 16),
                                  .shared = i % 4 * 16384};
    }
    for (long i = 0; i < count; i++) {
        uint64_t now = fake->time();
        uint32_t k = (uint32_t)(i % 900) * 7919u % LOOP_NAMES, usual = 1500 + k * k * 37;

        noise = noise * 1664525u + 1013904223u;
        fake->kernel_of(0, &where[k], texts[k], now,
                        now + usual + (noise >> 8) % (usual / 25));
    }
}

/* Prints what CPU time a kernel took in this thread: the stand-in's part. */
static void timed(long count, void (*make)(long count))
{
    struct timespec t;

    make(count);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    printf("%.1f\n", ((double)t.tv_sec * 1e9 + (double)t.tv_nsec) / (double)count);
}

static void without(void)
{
    rest(300);
}

static void seconds(void)
{
    uint64_t now = fake->time();

    fake->kernel(0, "before", now - 2000, now - 1000);
    rest(5500);
    now = fake->time();
    fake->kernel(0, "after", now - 2000, now - 1000);
}

/* One of several processes, each with its device 0 and the same numbers of all: says that it
 * is there, and goes on when the others are, too. As many kernels as its number of nodes. */
static void rank(const char *name, long count)
{
    CUpti_ActivityGraphTrace2 g = {.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
                                   .graphId = 3,
                                   .contextId = 1,
                                   .endContextId = 1,
                                   .streamId = 7};
    fake_graph_t graph = {.id = 3, .nodes = (uint32_t)count};
    char line[8];

    fake->graph_made(&graph);
    for (long i = 0; i < count; i++) {
        uint64_t now = fake->time();

        fake->kernel(0, name, now, now + 1000);
        rest(1);
    }
    g.start = fake->time();
    g.end = g.start + 5000;
    fake->put(0, &g);
    fake->wait(0, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, g.end,
               g.end + 1000);
    puts("ready");
    fflush(stdout);
    CHECK(read(STDIN_FILENO, line, sizeof line) > 0);
    kernels(0, 1);
    rest(500); /* figures of NVML come */
}

/* Loads nothing, waits until somebody says go, and finds the stand-in that was loaded
 * meanwhile: by then, or as early as the collector listens. */
static int later(long count)
{
    const char *cupti = getenv("GPURT_CUPTI_LIBRARY");
    void *library = NULL;
    char line[8];

    driver_start();
    CHECK(read(STDIN_FILENO, line, sizeof line) > 0);
    for (int tries = 0; tries < 1000 && !library; tries++, rest(10))
        library = dlopen(cupti, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    CHECK(library != NULL);
    fake = dlsym(library, "fake_cupti");
    for (int tries = 0; tries < 1000 && !fake->kinds(); tries++)
        rest(10); /* it is being woken */
    fake->patient(1);
    do
        kernels(0, count);
    while (read(STDIN_FILENO, line, sizeof line) > 0);
    return 0;
}

/* Modes: of nothing, of a count, and loops that are timed. */
static const struct {
    const char *mode;
    void (*run)(void);
    void (*counted)(long count);
    void (*timed)(long count);
} modes[] = {
    {.mode = "threads", .run = hard_threads},
    {.mode = "bad", .run = device_bad_times},
    {.mode = "mixed", .run = device_mixed},
    {.mode = "order", .run = out_of_order},
    {.mode = "persistent", .run = persistent},
    {.mode = "fork", .run = hard_fork},
    {.mode = "without", .run = without},
    {.mode = "seconds", .run = seconds},
    {.mode = "several", .run = device_several},
    {.mode = "addresses", .run = addresses},
    {.mode = "two-waits", .run = device_two_waits},
    {.mode = "graphs", .run = device_graphs},
    {.mode = "host-graph", .run = device_host_graph},
    {.mode = "device-graphs", .run = device_graphs_of_graphs},
    {.mode = "static", .run = device_static_names},
    {.mode = "copies", .run = device_copies},
    {.mode = "by-device", .run = device_nodes},
    {.mode = "moments", .run = device_bad_moments},
    {.mode = "pools", .run = device_pools},
    {.mode = "host", .run = host_calls},
    {.mode = "fork-on", .run = hard_fork_on},
    {.mode = "nested", .run = device_nested},
    {.mode = "many", .run = hard_many},
    {.mode = "stolen", .run = hard_stolen},
    {.mode = "stolen-out", .run = hard_stolen_out},
    {.mode = "taken", .run = hard_taken},
    {.mode = "stolen-back", .run = hard_stolen_back},
    {.mode = "idle", .run = hard_idle},
    {.mode = "managed", .run = device_managed},
    {.mode = "unmanaged", .run = device_unmanaged},
    {.mode = "stopped", .counted = hard_stopped},
    {.mode = "sampled", .counted = sampled},
    {.mode = "chained", .counted = hard_chained},
    {.mode = "crowd", .counted = crowd},
    {.mode = "lines", .counted = lines_run},
    {.mode = "lines-hang", .counted = lines_hang},
    {.mode = "lines-turns", .counted = lines_turns},
    {.mode = "lines-stopped", .counted = lines_stopped},
    {.mode = "lines-leave", .counted = lines_leave},
    {.mode = "lines-contexts", .run = lines_contexts},
    {.mode = "lines-inlined", .counted = lines_inlined},
    {.mode = "lines-modules", .counted = lines_modules},
    {.mode = "lines-taken", .counted = lines_taken},
    {.mode = "lines-refused", .counted = lines_refused},
    {.mode = "lines-forked", .counted = lines_forked},
    {.mode = "lines-many", .counted = lines_many},
    {.mode = "lines-none", .run = lines_none},
    {.mode = "running-ends", .counted = running_ends},
    {.mode = "running-late", .counted = running_late},
    {.mode = "running-last", .counted = running_last},
    {.mode = "running-many", .counted = running_many},
    {.mode = "running-busy", .counted = running_busy},
    {.mode = "running-windows", .counted = running_windows},
    {.mode = "running-mixed", .counted = running_mixed},
    {.mode = "running-graphs", .counted = running_graphs},
    {.mode = "running-hang", .counted = running_hang},
    {.mode = "launches", .counted = hard_launches},
    {.mode = "timed", .timed = kernels_of_one},
    {.mode = "timed-launches", .timed = hard_launch_many},
    {.mode = "loop", .timed = loop},
};

/* Returns: whether there is such a mode. */
static bool mode_run(const char *mode, long count)
{
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(mode, modes[i].mode) != 0)
            continue;
        if (modes[i].run)
            modes[i].run();
        else if (modes[i].counted)
            modes[i].counted(count);
        else
            timed(count, modes[i].timed);
        return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    long count = argc > 2 ? atol(argv[2]) : 1000;

    if (strcmp(mode, "fork-first") == 0)
        hard_fork_first();
    if (strcmp(mode, "later") == 0)
        return later(count);
    if (strcmp(mode, "taken") == 0)
        hard_taken_before();
    driver_start();
    if (!fake)
        return strcmp(mode, "without") == 0 ? without(), 0 : 3;
    CHECK(fake->times_registered() <= 1);
    if (strcmp(mode, "taken") != 0 && strcmp(mode, "chained") != 0) /* another's kinds */
        CHECK_EQ(fake->kinds_before_time(), 0);
    fake->patient(1);
    if (mode_run(mode, count))
        return 0;
    if (strcmp(mode, "fork-exec") == 0)
        hard_fork_exec(argv, 1);
    else if (strcmp(mode, "fork-exec-on") == 0)
        hard_fork_exec(argv, 0);
    else if (strcmp(mode, "rank") == 0)
        rank(argc > 3 ? argv[3] : "rank", count);
    else
        kernels(0, count);
    if (strcmp(mode, "kill") == 0 || strcmp(mode, "_exit") == 0 ||
        strcmp(mode, "exec") == 0)
        hard_end(mode, argv);
    return 0;
}
