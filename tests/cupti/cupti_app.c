/* SPDX-License-Identifier: Apache-2.0 */
/* A program as the collector meets it, without a GPU: it loads what CUDA_INJECTION64_PATH
 * names, as the driver would, and lets the stand-in behave as its words say. */
#include "cupti_app.h"

#include "check.h"
#include "hard_app.h"
#include "host_app.h"

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

    if (!library)
        return;
    if (getenv("FAKE_LOADED")) /* another CUPTI that the program brings along */
        CHECK(dlopen(getenv("FAKE_LOADED"), RTLD_NOW | RTLD_LOCAL) != NULL);
    if (getenv("FAKE_GRAPHS")) /* what of the driver is asked about graphs */
        CHECK(dlopen(getenv("FAKE_GRAPHS"), RTLD_NOW | RTLD_LOCAL) != NULL);
    entry = dlsym(library, "InitializeInjection");
    CHECK_MSG(entry != NULL, "no entry in %s", path);
    memcpy(&initialise, &entry, sizeof initialise);
    CHECK_EQ(initialise(), 1);
    CHECK_EQ(initialise(), 1); /* a second driver of the process changes nothing */
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

/* Six records whose times cannot be, among four good ones. */
static void bad_times(void)
{
    uint64_t now = fake->time();

    for (int i = 0; i < 4; i++)
        fake->kernel(0, "good", now - 2000, now - 1000);
    fake->kernel(0, "bad", 0, 0);
    fake->kernel(0, "bad", now, 0);
    fake->kernel(0, "bad", now, now - 1);
    fake->kernel(0, "bad", now, now + 3600000000000ull);
    fake->kernel(0, "bad", now - 3600000000000ull, now);
    fake->copy(0, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 8, 0, now);
}

/* Of what takes no time: three of each, two of them at a time that cannot be. */
static void moments(void)
{
    const uint64_t now = fake->time(), times[] = {now, 0, now + 3600000000000ull};

    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        CUpti_ActivityMemory4 memory = {.kind = CUPTI_ACTIVITY_KIND_MEMORY2,
                                        .memoryOperationType =
                                            CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
                                        .bytes = 1024 + i,
                                        .timestamp = times[i]};
        CUpti_ActivityMarker2 mark = {.kind = CUPTI_ACTIVITY_KIND_MARKER,
                                      .flags = CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS,
                                      .name = "here",
                                      .timestamp = times[i]};

        fake->put(0, &memory);
        fake->put(0, &mark);
    }
}

/* A pool's life, and one that another process made. */
static void pools(void)
{
    CUpti_ActivityMemoryPool3 pool = {
        .kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL,
        .memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED,
        .memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL,
        .deviceId = 1,
        .minBytesToKeep = 777,
        .address = 0x7f0000002000,
        .releaseThreshold = UINT64_MAX,
        .timestamp = fake->time()};

    fake->put(0, &pool);
    pool.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED;
    pool.size = 2 << 20;
    pool.utilizedSize = 1 << 20;
    pool.releaseThreshold = 4096;
    fake->put(0, &pool);
    pool.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED;
    pool.isManagedPool = 1;
    pool.timestamp = 0;
    fake->put(0, &pool);
    pool.memoryPoolOperationType = CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED;
    pool.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED;
    pool.timestamp = fake->time();
    fake->put(0, &pool);
}

/* Of each kind one, and one of a later version; the last two at times that cannot be. */
static void managed(void)
{
    CUpti_ActivityUnifiedMemoryCounter3 u = {.kind =
                                                 CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
                                             .address = 0x7f0000003000,
                                             .srcId = 2,
                                             .dstId = 1};
    uint64_t now;

    for (int tries = 0; tries < 1000 && !(fake->kinds() >> u.kind & 1); tries++)
        rest(10); /* CUPTI takes it when the driver is there */
    now = fake->time() - 1000000;
    for (int kind = 1; kind <= 9; kind++) {
        u.counterKind = (CUpti_ActivityUnifiedMemoryCounterKind)kind;
        u.value = 65536 + (uint64_t)kind;
        u.start = now + 10000 * (uint64_t)kind;
        u.end = u.start + 1000 * (uint64_t)kind;
        fake->put(0, &u);
    }
    u.counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD;
    u.end = u.start - 1;
    fake->put(0, &u);
    u.counterKind = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP;
    u.start = 0;
    fake->put(0, &u);
}

static void unmanaged(void)
{
    uint64_t now = fake->time();

    fake->kernel(0, "beside", now - 2000, now - 1000);
    rest(300);
    CHECK(!(fake->kinds() >> CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER & 1));
}

static void mixed(void)
{
    uint64_t now = fake->time() - 1000000;

    fake->kernel(0, "first", now, now + 10000);
    fake->wait(0, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE, now + 1000,
               now + 11000);
    fake->poll(0, now + 12000);
    fake->kernel(0, "second", now + 20000, now + 30000);
    fake->copy(0, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 1 << 20, now + 30000, now + 70000);
    fake->copy(0, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, 1 << 10, now + 71000, now + 72000);
    fake->fill(0, 4096, now + 73000, now + 74000);
    fake->kernel(0, "third", now + 80000, now + 90000);
    fake->kernel(0, "fourth", now + 93000, now + 100000);
    fake->other(0);
}

/* Each direction from and to memory of three kinds, 1 MB in as many us as its number says. */
static void copies(void)
{
    static const struct {
        uint8_t kind, from, to;
    } of[] = {
        {CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE,
         CUPTI_ACTIVITY_MEMORY_KIND_DEVICE},
        {CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
         CUPTI_ACTIVITY_MEMORY_KIND_DEVICE},
        {CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
         CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE},
        {CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
         CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC},
        {CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 200, 200}, /* of a later version */
        {CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
         CUPTI_ACTIVITY_MEMORY_KIND_PINNED},
    };
    uint64_t now = fake->time() - 1000000;

    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        CUpti_ActivityMemcpy6 what = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                                      .copyKind = of[i].kind,
                                      .srcKind = of[i].from,
                                      .dstKind = of[i].to,
                                      .bytes = 1000000,
                                      .start = now + 10000 * i,
                                      .end = now + 10000 * i + 1000 * (i + 1)};

        fake->put(0, &what);
    }
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

/* A kernel that launches others: they have its call's number, run while it runs, and come
 * before it. */
static void nested(void)
{
    uint64_t now = fake->time() - 1000000;
    CUpti_ActivityKernel10 k = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                .contextId = 1,
                                .streamId = 7,
                                .correlationId = 1234,
                                .name = "_Z5childi"};

    fake->kernel(0, "before", now - 20000, now - 19000);
    for (int i = 0; i < 3; i++) {
        k.start = now + 1000 + 2000 * (uint64_t)i;
        k.end = k.start + 3000; /* beside one another */
        k.gridId = -2 - i;
        fake->put(0, &k);
    }
    k.name = "_Z6parenti";
    k.start = now;
    k.end = now + 10000;
    k.gridId = 1;
    fake->put(0, &k);
}

/* Two devices, a second context on one of them, the same number of a stream in all, and a
 * node of a graph: kernel i of each runs i + 1 us. */
static void several(void)
{
    static const fake_where_t where[] = {
        {.device = 0, .context = 1, .stream = 7},
        {.device = 0, .context = 2, .stream = 7},
        {.device = 1, .context = 3, .stream = 7},
        {.device = 1, .context = 3, .stream = 7, .graph = 5, .node = 0x100000002}};
    uint64_t now = fake->time() - 1000000;

    for (uint64_t i = 0; i < 40; i++)
        fake->kernel_of((int)(i % 4), &where[i % 4], names[i % 3], now + 20000 * i,
                        now + 20000 * i + 1000 * (i % 4 + 1));
}

/* The host waits for device 1 all the time, and once for what nobody knows; nobody asks device 0
 * for anything meanwhile. */
static void two_waits(void)
{
    static const fake_where_t first = {.device = 0, .context = 1, .stream = 7},
                              second = {.device = 1, .context = 2, .stream = 7};
    CUpti_ActivitySynchronization2 wait = {
        .kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
        .type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE,
        .contextId = 2,
        .streamId = 7};
    uint64_t now = fake->time() - 100000000;

    fake->kernel_of(0, &first, "first", now, now + 1000000);
    fake->kernel_of(0, &second, "second", now, now + 80000000);
    wait.start = now;
    wait.end = now + 80000000;
    fake->put(0, &wait);
    wait.contextId = 9;
    fake->put(0, &wait);
    fake->kernel_of(0, &first, "first", now + 81000000, now + 82000000);
}

/* A node of a graph that the host launched, then one of a graph that device code did. */
static void by_device(void)
{
    fake_where_t where = {.context = 1, .stream = 7, .graph = 5, .node = 0x500000001};
    uint64_t now = fake->time() - 1000000;

    fake->kernel_of(0, &where, "node", now, now + 1000);
    where.by_device = 1;
    where.node++;
    fake->kernel_of(0, &where, "node", now + 2000, now + 3000);
    where.node = where.graph = 0; /* whatever it was of */
    fake->kernel_of(0, &where, "node", now + 4000, now + 5000);
}

/* Static kernels that nvcc linked on the device; the last is named like that by its author. */
static void static_names(void)
{
    static const char *const of[] = {
        "__nv_static_43__cf6b7fb8_15_cupti_nested_cu_78b74570_11935__Z6parentPj",
        "__nv_static_4__a_b_plain", "__nv_static_400__a_b_plain",
        "__nv_static_18446744073709551614__a"};
    uint64_t now = fake->time() - 1000000;

    for (uint64_t i = 0; i < sizeof of / sizeof of[0]; i++)
        fake->kernel(0, of[i], now + 2000 * i, now + 2000 * i + 1000);
}

/* A graph whose kernel launches another in each way that there is, and in one of a later version. */
static void device_graphs(void)
{
    static fake_graph_t launched = {5, 3, 0}, launcher = {4098, 1, 0};
    CUpti_ActivityDeviceGraphTrace g = {.kind = CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE,
                                        .deviceId = 1,
                                        .graphId = launched.id,
                                        .launcherGraphId = launcher.id,
                                        .contextId = 3,
                                        .streamId = 14};
    uint64_t now = fake->time() - 1000000;

    fake->graph_made(&launched);
    fake->graph_made(&launcher);
    fake->graph_run(0, &launcher, now, 1000);
    for (uint32_t mode = 1; mode <= 4; mode++) {
        g.deviceLaunchMode = mode;
        g.start = now + 10000 * mode;
        g.end = mode == 4 ? g.start - 1 : g.start + 2000;
        fake->put(0, &g);
    }
}

/* Three graphs are launched by turns, one is launched that was there before. */
static void graphs(void)
{
    static fake_graph_t made[] = {{2, 35, 0}, {5, 1, 0}, {4098, 6, 1}}, before = {9, 3, 0};
    uint64_t now = fake->time() - 100000000;

    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        fake->graph_made(&made[i]);
    for (uint64_t i = 0; i < 30; i++)
        fake->graph_run(0, &made[i % 3], now + i * 1000000, 1000);
    fake->graph_run(0, &before, now + 30000000, 1000);
    fake->kernel(0, "beside", now + 31000000, now + 31001000);
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
    fake_graph_t graph = {3, (uint32_t)count, 0};
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
 * meanwhile. */
static int later(long count)
{
    const char *cupti = getenv("GPURT_CUPTI_LIBRARY");
    void *library = NULL;
    char line[8];

    driver_start();
    CHECK(!fake);
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
    {.mode = "bad", .run = bad_times},
    {.mode = "mixed", .run = mixed},
    {.mode = "order", .run = out_of_order},
    {.mode = "persistent", .run = persistent},
    {.mode = "fork", .run = hard_fork},
    {.mode = "without", .run = without},
    {.mode = "seconds", .run = seconds},
    {.mode = "several", .run = several},
    {.mode = "addresses", .run = addresses},
    {.mode = "two-waits", .run = two_waits},
    {.mode = "graphs", .run = graphs},
    {.mode = "device-graphs", .run = device_graphs},
    {.mode = "static", .run = static_names},
    {.mode = "copies", .run = copies},
    {.mode = "by-device", .run = by_device},
    {.mode = "moments", .run = moments},
    {.mode = "pools", .run = pools},
    {.mode = "host", .run = host_calls},
    {.mode = "fork-on", .run = hard_fork_on},
    {.mode = "nested", .run = nested},
    {.mode = "many", .run = hard_many},
    {.mode = "stolen", .run = hard_stolen},
    {.mode = "stolen-out", .run = hard_stolen_out},
    {.mode = "taken", .run = hard_taken},
    {.mode = "stolen-back", .run = hard_stolen_back},
    {.mode = "idle", .run = hard_idle},
    {.mode = "managed", .run = managed},
    {.mode = "unmanaged", .run = unmanaged},
    {.mode = "stopped", .counted = hard_stopped},
    {.mode = "sampled", .counted = sampled},
    {.mode = "chained", .counted = hard_chained},
    {.mode = "crowd", .counted = crowd},
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
