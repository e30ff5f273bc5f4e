/* SPDX-License-Identifier: Apache-2.0 */
/* A forked child, or a program that called daemon(), hung for ever in gpurt_sync and gpurt_close:
 * the threads that it waited for are its parent's. Each case is a program of its own that opens
 * gpurt and forks; a child that hangs is ended by its alarm. `test_fork CASE` runs one of them. */
#include "../check.h"
#include "../forked.h"
#include "../kernels/fork_kernels.h"
#include "../must.h"

#include <gpurt/arenas.h>
#include <gpurt/atomic.h>
#include <gpurt/heap.h>
#include <gpurt/hostlog.h>
#include <gpurt/recover.h>
#include <gpurt/regions.h>

#include <dirent.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    PATIENCE_S = 20, /* of a child: what hangs, hangs for ever */
    THREADS = 4,
    CHILDREN = 24, /* of a program whose threads call all the time */
    SAYS = 10
};

/* Under the race detector a child starts no threads unless it is told that it may. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

static gpurt_error_t err;
static gpurt_t *rt;
static gpurt_launch_t launch = {.grid = {FORK_BLOCKS, 1, 1}, .block = {FORK_THREADS, 1, 1}};
static gpurt_heap_options_t small = {.struct_size = sizeof small, .bytes = 2 << 20};

/* ---- children ---------------------------------------------------------------------------- */

static void child_awaited(const char *name, pid_t pid)
{
    int status;

    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    CHECK_MSG(status == 0, "%s: %s (%x)", name,
              WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? "hangs" : "failed",
              (unsigned)status);
}

/* The allocator of the address sanitizer takes locks that a child does not get back: its parent's
 * other threads sleep at the fork, none is being made. Elsewhere they do what they will. */
static void threads_rest(void)
{
    for (int tries = 0; CHECK_SANITIZED && tries < 100; tries++) {
        DIR *tasks = opendir("/proc/self/task");
        struct dirent *entry;
        uint32_t awake = 0;

        CHECK(tasks);
        while ((entry = readdir(tasks))) {
            char path[64], state = 'S';
            FILE *f;

            snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", entry->d_name);
            f = fopen(path, "r");
            if (!f)
                continue;
            (void)!fscanf(f, "%*d (%*[^)]) %c", &state);
            fclose(f);
            awake += state == 'R';
        }
        closedir(tasks);
        if (awake <= 1) /* we */
            return;
        usleep(5000);
    }
}

/* It ends as programs do: what gpurt does at exit is done in the child, too. */
static void child(const char *name, void (*work)(void))
{
    pid_t pid;

    threads_rest();
    pid = fork();
    if (pid == 0) {
        alarm(PATIENCE_S);
        work();
        forked_exit(0);
    }
    child_awaited(name, pid);
}

/* ---- what a program does ------------------------------------------------------------------- */

static bool on_gpu(void)
{
    const char *word = getenv("GPURT_BACKEND");

    return word && strcmp(word, "cuda") == 0;
}

static uint32_t panics = GPURT_PANICS_TELL; /* who is to hear of them */

static void open_here(gpurt_t **out)
{
    gpurt_options_t options = {
        .struct_size = sizeof options, .log = {.policy = "block"}, .panics = panics};

    CHECK_MSG(gpurt_open(&options, out, &err) == GPURT_OK, "%s", err.text);
}

/* served: lanes whose object comes from the default heap. */
static void work_in(gpurt_t *in, uint32_t factor, uint32_t says, uint32_t served)
{
    struct fork_args args = {.factor = factor, .says = says};
    void *words;

    CHECK_EQ(gpurt_host_create(in, (FORK_LANES + 1) * sizeof *args.out, &words, &err),
             GPURT_OK);
    args.out = words;
    args.xserved = args.out + FORK_LANES;
    *args.xserved = 0;
    CHECK_MSG(gpurt_launch(in, &launch, fork_work, &args, &err) == GPURT_OK, "%s",
              err.text);
    CHECK_MSG(gpurt_sync(in, &err) == GPURT_OK, "%s", err.text);
    for (uint32_t i = 0; i < FORK_LANES; i++)
        CHECK_EQ(args.out[i], i * factor);
    CHECK_EQ(*args.xserved, served);
    CHECK_EQ(gpurt_host_destroy(in, words), GPURT_OK);
}

static void heap_in(gpurt_t *in)
{
    gpurt_heap_t own;

    CHECK_MSG(gpurt_heap_create(in, &small, &own, &err) == GPURT_OK, "%s", err.text);
    CHECK_EQ(gpurt_heap_set_default(in, &own, &err), GPURT_OK);
    work_in(in, 3, 0, FORK_LANES);
    CHECK_EQ(gpurt_heap_destroy(in, &own, &err), GPURT_OK);
}

/* Of the CPU back end. */
static void failures_in(gpurt_t *in)
{
    struct fork_args args = {.factor = 1};

    CHECK_EQ(gpurt_launch(in, &launch, fork_raise, &args, &err), GPURT_OK);
    CHECK_EQ(gpurt_sync(in, &err), GPURT_E_PANIC);
    CHECK_CONTAINS(err.text, "fork_kernels.c:"); /* the site has its number in this box */
    if (CHECK_SANITIZED)
        return; /* faults are the sanitizer's */
    CHECK_EQ(gpurt_launch(in, &launch, fork_fault, &args, &err), GPURT_OK);
    CHECK_EQ(gpurt_sync(in, &err), GPURT_E_FAULT);
}

/* On a GPU that is out of a child's reach, and the CPU is not. */
static void open_anew(gpurt_t **out)
{
    if (on_gpu()) {
        CHECK_EQ(gpurt_open(NULL, out, &err), GPURT_E_FORKED);
        CHECK_CONTAINS(err.text, "fork before gpurt_open, or exec");
        setenv("GPURT_BACKEND", "auto", 1); /* not the CPU, unasked */
        CHECK_EQ(gpurt_open(NULL, out, &err), GPURT_E_FORKED);
        setenv("GPURT_BACKEND", "cpu", 1);
    }
    open_here(out);
}

/* All of a new runtime, from open to close. */
static void new_life(uint32_t says)
{
    gpurt_t *own;

    panics = GPURT_PANICS_QUIET;
    open_anew(&own);
    CHECK(own != rt);
    work_in(own, 5, says, 0);
    heap_in(own);
    failures_in(own);
    CHECK_MSG(gpurt_close(own, &err) == GPURT_OK, "%s", err.text);
}

/* ---- handles of the parent's ----------------------------------------------------------------- */

static gpurt_stream_t stream;
static gpurt_event_t event;
static gpurt_heap_t heap;
static gpurt_region_t region;
static gpurt_arena_source_t source;
static gpurt_guard_handle_t guard;
static void *memory;

static void all_made(void)
{
    gpurt_recovery_t policy = {0};
    struct fork_args args = {.factor = 1};

    open_here(&rt);
    must(gpurt_mem_create(rt, FORK_LANES * 4, &memory, &err));
    args.out = memory;
    must(gpurt_stream_create(rt, &stream, &err));
    must(gpurt_event_create(rt, &event, &err));
    must(gpurt_heap_create(rt, &small, &heap, &err));
    must(gpurt_heap_set_default(rt, &heap, &err));
    must(gpurt_region_create(rt, NULL, &region, &err));
    must(gpurt_arena_source_create(rt, &heap, 0, &source, &err));
    must(gpurt_launch_guarded(rt, &launch, fork_guarded, &args, &policy, &guard, &err));
    must(gpurt_sync(rt, &err));
}

#define FORKED(call)                                         \
    do {                                                     \
        memset(&err, 0, sizeof err);                         \
        CHECK_EQ(call, GPURT_E_FORKED);                      \
        CHECK_CONTAINS(err.text, "before this process was"); \
    } while (0)

static void calls_refused(void)
{
    struct fork_args args = {.factor = 1};
    gpurt_heap_stats_t stats;
    gpurt_info_t info;
    uint64_t handle;
    void *none;

    FORKED(gpurt_sync(rt, &err));
    FORKED(gpurt_launch(rt, &launch, fork_work, &args, &err));
    FORKED(gpurt_mem_create(rt, 8, &none, &err));
    FORKED(gpurt_fill(rt, stream, memory, 0, 8, &err));
    FORKED(gpurt_stream_create(rt, &handle, &err));
    FORKED(gpurt_stream_sync(rt, stream, &err));
    FORKED(gpurt_event_sync(rt, event, &err));
    FORKED(gpurt_guard_wait(rt, guard, NULL, &err));
    FORKED(gpurt_heap_create(rt, &small, &(gpurt_heap_t){0}, &err));
    FORKED(gpurt_heap_stats(rt, &heap, &stats, &err));
    FORKED(gpurt_heap_destroy(rt, &heap, &err));
    FORKED(gpurt_region_destroy(rt, &region, &err));
    FORKED(gpurt_arena_source_destroy(rt, &source, &err));
    CHECK_EQ(gpurt_info(rt, &info), GPURT_E_FORKED);
    CHECK_EQ(gpurt_mem_destroy(rt, memory), GPURT_E_FORKED);
    CHECK_EQ(gpurt_stream_destroy(rt, stream), GPURT_E_FORKED);
    CHECK_EQ(gpurt_event_record(rt, event, stream), GPURT_E_FORKED);
}

static void close_frees(void)
{
    CHECK_EQ(gpurt_close(rt, &err), GPURT_OK);
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_CLOSED);
    CHECK_EQ(gpurt_close(rt, &err), GPURT_E_CLOSED);
}

static void refused_and_closed(void)
{
    calls_refused();
    close_frees();
}

/* Its own pointer does not make them its own. */
static void handles_refused(void)
{
    gpurt_arena_source_t arena = source;
    gpurt_region_t place = region;
    gpurt_heap_stats_t stats;
    gpurt_stream_t fresh;
    gpurt_t *own;

    open_anew(&own);
    CHECK_EQ(gpurt_stream_create(own, &fresh, &err), GPURT_OK); /* in the same slot */
    FORKED(gpurt_stream_sync(own, stream, &err));
    FORKED(gpurt_event_sync(own, event, &err));
    FORKED(gpurt_guard_wait(own, guard, NULL, &err));
    FORKED(gpurt_heap_stats(own, &heap, &stats, &err));
    FORKED(gpurt_region_destroy(own, &place, &err));
    FORKED(gpurt_arena_source_destroy(own, &arena, &err));
    work_in(own, 7, 0, 0); /* and kernels find no default heap of the parent's */
    heap_in(own);
    CHECK_EQ(gpurt_stream_sync(own, fresh, &err), GPURT_OK);
    calls_refused();
    CHECK_MSG(gpurt_close(own, &err) == GPURT_OK, "%s", err.text);
    close_frees();
}

static void handles(void)
{
    all_made();
    child("calls with the parent's pointer", refused_and_closed);
    child("the parent's handles with a pointer of one's own", handles_refused);
    work_in(rt, 9, 0, FORK_LANES); /* the parent has noticed nothing */
    must(gpurt_arena_source_destroy(rt, &source, &err));
    must(gpurt_region_destroy(rt, &region, &err));
    must(gpurt_guard_destroy(rt, guard));
    must(gpurt_stream_destroy(rt, stream));
    must(gpurt_event_destroy(rt, event));
    must(gpurt_heap_destroy(rt, &heap, &err));
    must(gpurt_mem_destroy(rt, memory));
    must(gpurt_close(rt, &err));
}

/* ---- lives ----------------------------------------------------------------------------------- */

static void grandchild(void)
{
    FORKED(gpurt_sync(rt, &err));
    new_life(0);
}

static void child_lives(void)
{
    gpurt_t *parent = rt, *own;

    open_anew(&own);
    rt = own;
    child("a child of a child", grandchild);
    rt = parent;
    work_in(own, 5, 0, 0);
    CHECK_EQ(gpurt_close(own, &err), GPURT_OK);
    new_life(0);
}

static void lives(void)
{
    struct fork_args args = {.factor = 1};

    panics = GPURT_PANICS_QUIET;
    open_here(&rt);
    must(gpurt_launch(rt, &launch, fork_raise, &args, &err));
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_PANIC);
    child("a life of its own", child_lives);
    work_in(rt, 2, 0, 0);
    must(gpurt_close(rt, &err));
    child("after the close", child_lives); /* CUDA stays out of reach */
}

/* Each place of a device is free again. */
static void all_places_taken(void)
{
    gpurt_t *all[GPURT_MAX_DEVICES];
    gpurt_options_t options = {.struct_size = sizeof options};

    for (int i = 0; i < GPURT_MAX_DEVICES; i++) {
        options.device = i;
        CHECK_MSG(gpurt_open(&options, &all[i], &err) == GPURT_OK, "%s", err.text);
    }
    for (int i = 0; i < GPURT_MAX_DEVICES; i++)
        work_in(all[i], 11, 0, 0);
    for (int i = 0; i < GPURT_MAX_DEVICES; i++)
        CHECK_EQ(gpurt_close(all[i], &err), GPURT_OK);
}

static void places(void)
{
    gpurt_options_t options = {.struct_size = sizeof options};

    if (on_gpu())
        return; /* there are not so many */
    for (int i = 0; i < GPURT_MAX_DEVICES; i++) {
        options.device = i;
        CHECK_MSG(gpurt_open(&options, &rt, &err) == GPURT_OK, "%s", err.text);
    }
    child("as many devices as the parent", all_places_taken);
}

/* ---- a kernel that runs ------------------------------------------------------------------------ */

/* Of a child that wants its own. */
static void another_life(void)
{
    FORKED(gpurt_sync(rt, &err));
    new_life(0);
    close_frees();
}

static void running(void)
{
    struct fork_args args = {0};
    void *words[2];

    open_here(&rt);
    for (int i = 0; i < 2; i++) {
        must(gpurt_host_create(rt, 4, &words[i], &err));
        memset(words[i], 0, 4);
    }
    args.xgo = words[0];
    args.xbegun = words[1];
    must(gpurt_launch(rt, &launch, fork_last, &args, &err));
    must(gpurt_fill(rt, 0, words[1], 0, 4, &err));   /* queued behind it */
    while (!gpurt_load_relaxed_sys_u32(args.xbegun)) /* relaxed: a count */
        sched_yield();
    child("beside a kernel of the parent's", another_life);
    gpurt_store_relaxed_sys_u32(args.xgo, 1); /* relaxed: a flag alone */
    must(gpurt_sync(rt, &err));
    must(gpurt_host_destroy(rt, words[0]));
    must(gpurt_host_destroy(rt, words[1]));
    must(gpurt_close(rt, &err));
}

/* ---- threads that call --------------------------------------------------------------------------- */

static uint32_t xenough; /* written by: the first thread */

static void *caller(void *context)
{
    gpurt_stream_t mine;
    gpurt_error_t e;
    gpurt_heap_t h;

    (void)context;
    while (!gpurt_load_relaxed_sys_u32(&xenough)) { /* relaxed: a flag alone */
        CHECK_EQ(gpurt_stream_create(rt, &mine, &e), GPURT_OK);
        CHECK_EQ(gpurt_heap_create(rt, &small, &h, &e), GPURT_OK);
        gpurt_log(GPURT_LEVEL_INFO, "from a thread");
        CHECK_EQ(gpurt_stream_sync(rt, mine, &e), GPURT_OK);
        CHECK_EQ(gpurt_heap_destroy(rt, &h, &e), GPURT_OK);
        CHECK_EQ(gpurt_stream_destroy(rt, mine), GPURT_OK);
    }
    return NULL;
}

/* Of a second device: a fork falls into each step of it. */
static void *opener(void *context)
{
    gpurt_options_t options = {.struct_size = sizeof options, .device = 1};
    gpurt_error_t e;
    gpurt_t *own;

    while (!on_gpu() && !gpurt_load_relaxed_sys_u32(&xenough)) { /* relaxed: a flag */
        CHECK_MSG(gpurt_open(&options, &own, &e) == GPURT_OK, "%s", e.text);
        CHECK_MSG(gpurt_close(own, &e) == GPURT_OK, "%s", e.text);
    }
    return context;
}

static void threads(void)
{
    pthread_t ids[THREADS];

    if (CHECK_SANITIZED)
        return; /* the sanitizers' own locks are taken at the fork */

    open_here(&rt);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&ids[i], NULL, i ? caller : opener, NULL), 0);
    for (int i = 0; i < CHILDREN; i++) {
        work_in(rt, 2, 0, 0);
        child("beside threads that call", another_life);
    }
    gpurt_store_relaxed_sys_u32(&xenough, 1); /* relaxed: a flag alone */
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    must(gpurt_close(rt, &err));
}

/* ---- other ways to fork ---------------------------------------------------------------------------- */

/* The C library does not hear of it: nothing of the program is told. */
static void raw(void)
{
    pid_t pid;

    open_here(&rt);
    pid = (pid_t)syscall(SYS_fork);
    if (pid == 0) {
        alarm(PATIENCE_S);
        gpurt_log(GPURT_LEVEL_INFO, "from a child");
        _exit(gpurt_sync(rt, NULL) == GPURT_E_FORKED &&
                      gpurt_stream_sync(rt, 0, NULL) == GPURT_E_FORKED
                  ? 0
                  : 1);
    }
    child_awaited("a raw fork", pid);
    must(gpurt_close(rt, &err));
}

/* The process that called it ends, and what goes on is a child. */
static void daemonized(void)
{
    int ends[2];
    char answer = 0;
    pid_t pid;

    CHECK_EQ(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        alarm(PATIENCE_S);
        close(ends[0]);
        open_here(&rt);
        work_in(rt, 2, 0, 0);
        threads_rest();
        CHECK_EQ(daemon(1, 1), 0);
        alarm(PATIENCE_S); /* is not inherited */
        another_life();
        CHECK_EQ(write(ends[1], "y", 1), 1);
        forked_exit(0);
    }
    close(ends[1]);
    child_awaited("a program that calls daemon()", pid);
    CHECK_MSG(read(ends[0], &answer, 1) == 1 && answer == 'y', "the daemon failed");
    close(ends[0]);
}

/* What most children do. */
static void nothing(void) {}

static void untouched(void)
{
    struct fork_args args = {.factor = 1};

    open_here(&rt);
    must(gpurt_launch(rt, &launch, fork_raise, &args, &err));
    CHECK_EQ(gpurt_sync(rt, &err), GPURT_E_PANIC);
    child("a child that never calls", nothing);
    must(gpurt_close(rt, &err));
}

/* ---- recorded ----------------------------------------------------------------------------------------- */

static uint32_t boxes_held(void)
{
    char path[64], leads[128];
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    uint32_t found = 0;
    ssize_t length;

    CHECK(folder);
    while ((entry = readdir(folder))) {
        snprintf(path, sizeof path, "/proc/self/fd/%.20s", entry->d_name);
        length = readlink(path, leads, sizeof leads - 1);
        leads[length > 0 ? length : 0] = '\0';
        found += strstr(leads, "memfd:gpurt") != NULL;
    }
    closedir(folder);
    return found;
}

static void say(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        gpurt_log(GPURT_LEVEL_INFO, "message %u of the host", i);
}

/* Says nothing before it has a log of its own, and lets its parent's box go. */
static void recorded_child(void)
{
    gpurt_t *own;

    say(SAYS);
    CHECK_EQ(boxes_held(), 1);
    open_anew(&own);
    CHECK_EQ(boxes_held(), 1);
    say(SAYS);
    work_in(own, 5, SAYS, 0);
    CHECK_EQ(gpurt_close(own, &err), GPURT_OK);
    CHECK_EQ(boxes_held(), 0);
}

/* test_user_faults.sh counts: the parent's 2 * SAYS of the host and FORK_BLOCKS * SAYS of a
 * kernel; of each child SAYS of the host and as many of a kernel. */
static void recorded(void)
{
    open_here(&rt);
    say(SAYS);
    child("a child that has a log", recorded_child);
    child("a child that never calls", nothing);
    work_in(rt, 2, SAYS, 0);
    say(SAYS);
    must(gpurt_close(rt, &err));
}

/* ---- all -------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"handles", handles},   {"lives", lives},         {"places", places},
    {"running", running},   {"threads", threads},     {"raw", raw},
    {"daemon", daemonized}, {"untouched", untouched}, {"recorded", recorded},
};
enum {
    CASES = sizeof cases / sizeof cases[0]
};

int main(int argc, char **argv)
{
    for (uint32_t i = 0; i < CASES; i++) {
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
        if (argc == 1 && cases[i].run != recorded)
            child(cases[i].name, cases[i].run);
    }
    return argc > 1;
}
