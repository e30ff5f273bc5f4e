/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that call the host: many lanes at once through few ports, long questions, what is
 * refused, what comes too late, blocks that end while they wait, files, close and destroy. */
#include "must.h"

#include "../kernels/hostcall_kernels.h"

#include <gpurt/hostcalls.h>
#include <gpurt/hostwords.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LATE_NS = 3000000,
    LONG_NS = 2000000000,
    ASLEEP_MS = 300
};

static gpurt_t *rt;
static gpurt_error_t err;
static struct hostcall_args args;
static int32_t status[HOSTCALL_THREADS];
static uint64_t values[HOSTCALL_THREADS];
static uint32_t asked[HOSTCALL_THREADS]; /* by the thread that serves */

/* A gate for `stall`: shut until the test opens it. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t news;
    bool open, leaves; /* leaves: the function ends its thread there */
    uint32_t came;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER};

/* ---- functions ------------------------------------------------------------------------- */

GPURT_HOST_FUNCTION(multiply, context, ask, got)
{
    *(uint64_t *)context += 1;
    CHECK_EQ(args.notes[2 * ask->thread], ask->round);
    args.notes[2 * ask->thread + 1] = ask->round + 1;
    got->product = (uint64_t)ask->thread * ask->round;
    got->thread = ask->thread;
    got->round = ask->round;
    got->calls = ++asked[ask->thread];
    return GPURT_OK;
}

GPURT_HOST_FUNCTION(reverse, context, ask, got)
{
    (void)context;
    for (uint32_t i = 0; i < HOSTCALL_PAGE; i++)
        got->bytes[i] = ask->bytes[HOSTCALL_PAGE - 1 - i];
    return GPURT_OK;
}

/* A request to cancel it does nothing; pthread_exit does. */
static void function_leaves(void)
{
    pthread_cancel(pthread_self());
    pthread_testcancel();
    gate.came += 100;
    pthread_exit(NULL);
}

GPURT_HOST_FUNCTION(stall, context, ask, got)
{
    (void)context;
    pthread_mutex_lock(&gate.lock);
    gate.came++;
    pthread_cond_broadcast(&gate.news);
    while (!gate.open)
        pthread_cond_wait(&gate.news, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
    if (gate.leaves)
        function_leaves();
    *got = *ask + 1;
    return GPURT_OK;
}

GPURT_HOST_FUNCTION(answer, context, ask, got)
{
    (void)context;
    *got = 11;
    return *ask;
}

static gpurt_status_t never(void *context, const void *ask, void *got)
{
    (void)context;
    (void)ask;
    (void)got;
    CHECK_MSG(false, "a question of another size was asked");
    return GPURT_OK;
}

static void gate_set(bool open)
{
    pthread_mutex_lock(&gate.lock);
    gate.open = open;
    gate.came = 0;
    pthread_cond_broadcast(&gate.news);
    pthread_mutex_unlock(&gate.lock);
}

static void gate_await(void)
{
    pthread_mutex_lock(&gate.lock);
    while (gate.came == 0)
        pthread_cond_wait(&gate.news, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

/* ---- stage ----------------------------------------------------------------------------- */

static uint64_t multiplied;

static void calls_make(uint32_t ports)
{
    gpurt_hostcalls_options_t options = {.ports = ports, .stop_ms = 200, .name = "desk"};

    must(gpurt_hostcalls_create(rt, &options, &args.calls, &err));
    must(gpurt_hostcalls_add(rt, &args.calls, multiply, &multiplied, &err));
    must(gpurt_hostcalls_add(rt, &args.calls, reverse, NULL, &err));
    must(gpurt_hostcalls_add(rt, &args.calls, stall, NULL, &err));
    must(gpurt_hostcalls_add(rt, &args.calls, answer, NULL, &err));
    must(gpurt_hostcalls_add_function(rt, &args.calls, 6, 8, 4, never, NULL, &err));
}

static void reset(void)
{
    const uint32_t none = 0;

    memset(status, 0x77, sizeof status);
    memset(values, 0, sizeof values);
    memset(asked, 0, sizeof asked);
    multiplied = 0;
    args.ns = UINT64_MAX;
    must(gpurt_copy(rt, 0, args.status, status, sizeof status, &err));
    must(gpurt_copy(rt, 0, args.wrong, &none, sizeof none, &err));
    must(gpurt_copy(rt, 0, args.xcame, &none, sizeof none, &err));
    must(gpurt_stream_sync(rt, 0, &err));
}

static void start(const gpurt_kernel_t *kernel, uint32_t blocks, uint32_t threads)
{
    gpurt_launch_t launch = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}};

    must(gpurt_launch_kernel(rt, &launch, kernel, &args, sizeof args, &err));
}

static gpurt_status_t finish(void)
{
    gpurt_status_t st = gpurt_sync(rt, &err);
    uint32_t wrong;

    must(gpurt_copy(rt, 0, status, args.status, sizeof status, &err));
    must(gpurt_copy(rt, 0, values, args.values, sizeof values, &err));
    must(gpurt_copy(rt, 0, &wrong, args.wrong, sizeof wrong, &err));
    must(gpurt_stream_sync(rt, 0, &err));
    CHECK_EQ(wrong, 0);
    return st;
}

static gpurt_hostcalls_status_t counts(void)
{
    gpurt_hostcalls_status_t s;

    must(gpurt_hostcalls_status(rt, &args.calls, &s, &err));
    return s;
}

/* ---- cases ----------------------------------------------------------------------------- */

static void all_are_answered(uint32_t ports, uint32_t blocks, uint32_t threads)
{
    uint64_t calls = 0;
    gpurt_hostcalls_status_t s;

    calls_make(ports);
    reset();
    args.rounds = 5;
    start(&gpurt_kernel_hostcall_multiply, blocks, threads);
    must(finish());
    for (uint32_t i = 0; i < blocks * threads; i++) {
        CHECK_EQ(values[i], i & 1 ? 3 : 5);
        calls += values[i];
    }
    s = counts();
    CHECK_EQ(multiplied, calls);
    CHECK_EQ(s.calls, calls);
    CHECK(s.groups < calls); /* lanes ask together */
    CHECK_EQ(s.in_flight, 0);
    CHECK_EQ(s.late + s.cancelled + s.refused + s.unknown, 0);
    reset();
    start(&gpurt_kernel_hostcall_reverse, 2, 33);
    must(finish());
    CHECK_EQ(status[65], GPURT_OK);
    must(gpurt_hostcalls_destroy(rt, &args.calls, &err));
    CHECK(!args.calls.words);
}

static void what_cannot_be_is_told(void)
{
    static const int32_t want[] = {GPURT_E_HELD,       GPURT_E_NO_FUNCTION, GPURT_E_INVALID,
                                   GPURT_E_HANDLE,     GPURT_E_INVALID,     GPURT_E_HANDLE,
                                   GPURT_E_NO_FUNCTION};
    gpurt_hostcalls_options_t options = {.ports = GPURT_HOSTCALL_PORTS_MOST + 1};
    gpurt_hostcalls_t calls, copy;

    calls_make(1);
    copy = args.calls;
    reset();
    start(&gpurt_kernel_hostcall_cases, 1, 32);
    must(finish());
    for (uint32_t i = 0; i < sizeof want / sizeof *want; i++)
        CHECK_MSG(status[i] == want[i], "case %u: %s", i, gpurt_status_name(status[i]));
    CHECK_EQ(values[0], 11); /* what goes with a status goes with it */
    CHECK_EQ(values[1], 0);
    CHECK_EQ(counts().unknown, 3);
    start(&gpurt_kernel_hostcall_mixed, 1, 32);
    must(finish());
    for (uint32_t i = 0; i < 32; i++)
        CHECK_EQ(status[i], i & 1 ? GPURT_E_HELD : GPURT_E_NO_FUNCTION);
    CHECK_EQ(gpurt_hostcalls_create(rt, &options, &calls, &err), GPURT_E_INVALID);
    CHECK_CONTAINS(err.text, "129 ports");
    CHECK_EQ(gpurt_hostcalls_add_function(rt, &args.calls, 240, 4, 4, never, NULL, &err),
             GPURT_E_INVALID);
    CHECK_EQ(gpurt_hostcalls_add_function(rt, &args.calls, 7, 4097, 4, never, NULL, &err),
             GPURT_E_INVALID);
    CHECK_EQ(gpurt_hostcalls_file(rt, &args.calls, "/nowhere/at/all", &args.file, &err),
             GPURT_E_OS);
    must(gpurt_hostcalls_destroy(rt, &args.calls, &err));
    CHECK_EQ(gpurt_hostcalls_destroy(rt, &copy, &err), GPURT_E_HANDLE);
    args.calls = copy; /* a kernel that uses it is told, too */
    reset();
    args.rounds = 1;
    start(&gpurt_kernel_hostcall_stall, 1, 32);
    must(finish());
    CHECK_EQ(status[0], GPURT_E_HANDLE);
    memset(&args.calls, 0, sizeof args.calls);
}

/* With one port: the first group's question is late, the others find no port. Then the answer comes,
 * nobody's, and the port serves again. Under a seed groups are smaller than warps. */
static void late_answers_are_nobodys(void)
{
    uint32_t late = 0, full = 0;
    gpurt_hostcalls_status_t s;

    calls_make(1);
    reset();
    gate_set(false);
    args.ns = LATE_NS;
    start(&gpurt_kernel_hostcall_stall, 2, 32);
    must(finish());
    for (uint32_t i = 0; i < 64; i++) {
        late += status[i] == GPURT_E_TIMEOUT;
        full += status[i] == GPURT_E_FULL;
        CHECK_EQ(values[i], 7);
    }
    CHECK(late > 0 && late <= 32);
    CHECK_EQ(late + full, 64);
    s = counts();
    CHECK_EQ(s.late, late);
    CHECK_EQ(s.refused, full);
    CHECK_EQ(s.groups, 1);
    CHECK_EQ(s.in_flight, 1); /* the host has it */
    CHECK_EQ(gpurt_hostcalls_destroy(rt, &args.calls, &err), GPURT_E_TIMEOUT);
    CHECK_CONTAINS(err.text, "function 3 has not returned for 200 ms");
    CHECK_EQ(gpurt_close(rt, &err), GPURT_E_TIMEOUT);
    CHECK_CONTAINS(err.text, "function 3");
    gate_set(true);
    reset();
    args.ns = LONG_NS; /* a port that is lost ends the test */
    start(&gpurt_kernel_hostcall_stall, 2, 32);
    must(finish());
    for (uint32_t i = 0; i < 64; i++)
        CHECK_EQ(values[i], i + 1);
    CHECK_EQ(counts().in_flight, 0);
    must(gpurt_hostcalls_destroy(rt, &args.calls, &err));
}

/* All threads of the victim but one wait, and end; the other block's are answered. */
static void ends_while_it_waits(const gpurt_kernel_t *kernel, gpurt_status_t want)
{
    calls_make(4);
    reset();
    args.victim = 1;
    gate_set(false);
    start(kernel, 2, 64);
    gate_await();
    while (counts().cancelled < 63)
        usleep(1000);
    gate_set(true);
    CHECK_EQ(finish(), want);
    for (uint32_t i = 0; i < 128; i++)
        CHECK_EQ(status[i], i < 64 ? GPURT_OK : 0x77777777);
    gate_set(true);
    reset();
    start(&gpurt_kernel_hostcall_stall, 4, 32); /* with all ports again */
    must(finish());
    CHECK_EQ(counts().in_flight, 0);
    must(gpurt_hostcalls_destroy(rt, &args.calls, &err));
}

/* What the library says meanwhile. Owner: the test. */
typedef struct heard {
    FILE *file;
    int before; /* standard error */
} heard_t;

static heard_t hear(void)
{
    heard_t h = {.file = tmpfile(), .before = dup(STDERR_FILENO)};

    CHECK(h.file && h.before >= 0);
    CHECK(dup2(fileno(h.file), STDERR_FILENO) == STDERR_FILENO);
    return h;
}

static void heard_end(const heard_t *h, char *text, size_t room)
{
    size_t n;

    CHECK(dup2(h->before, STDERR_FILENO) == STDERR_FILENO);
    close(h->before);
    rewind(h->file);
    n = fread(text, 1, room - 1, h->file);
    text[n] = '\0';
    fclose(h->file);
}

/* Its callers are told, as later ones are; the other functions run, and all ends as ever. */
static void a_function_that_ends_its_thread_is_told(void)
{
    char text[1024];
    heard_t heard;

    calls_make(2);
    gate_set(true);
    gate.leaves = true;
    for (uint32_t i = 0; i < 2; i++) {
        heard = hear();
        reset();
        args.ns = LONG_NS; /* a port that is lost ends the test */
        start(&gpurt_kernel_hostcall_stall, 2, 32);
        must(finish());
        heard_end(&heard, text, sizeof text);
        for (uint32_t k = 0; k < 64; k++)
            CHECK_MSG(status[k] == GPURT_E_NO_FUNCTION, "lane %u: %s", k,
                      gpurt_status_name(status[k]));
        if (i == 0)
            CHECK_CONTAINS(text, "host calls desk: function 3 ended the thread");
        else
            CHECK_EQ(text[0], '\0');
    }
    CHECK_EQ(gate.came, 101);
    gate.leaves = false;
    CHECK_EQ(counts().unknown, 128);
    reset();
    start(&gpurt_kernel_hostcall_reverse, 2, 33);
    must(finish());
    CHECK_EQ(status[65], GPURT_OK);
    must(gpurt_hostcalls_add(rt, &args.calls, stall, NULL, &err));
    reset();
    start(&gpurt_kernel_hostcall_stall, 2, 32);
    must(finish());
    CHECK_EQ(status[63], GPURT_OK);
    CHECK(counts().used_ns > 0);
    must(gpurt_hostcalls_destroy(rt, &args.calls, &err));
}

static void files_are_written(void)
{
    char path[] = "/tmp/gpurt_hostcall_XXXXXX", line[16];
    uint32_t lines = 0, seen[96] = {0}, thread;
    int temporary = mkstemp(path);
    FILE *f;

    CHECK(temporary >= 0);
    close(temporary);
    calls_make(0);
    reset();
    must(gpurt_hostcalls_file(rt, &args.calls, path, &args.file, &err));
    start(&gpurt_kernel_hostcall_write, 3, 32);
    must(finish());
    CHECK(values[0] > 1500000000ull * 1000000000);
    must(gpurt_hostcalls_destroy(rt, &args.calls, &err));
    f = fopen(path, "r");
    CHECK(f != NULL);
    for (; fgets(line, sizeof line, f); lines++) {
        CHECK_MSG(sscanf(line, "t%u\n", &thread) == 1 && thread < 96 && !seen[thread]++,
                  "line %u: %s", lines, line);
    }
    CHECK_EQ(lines, 96);
    fclose(f);
    unlink(path);
}

/* The thread sleeps when nobody asks. A loaded machine wakes it at other times, never more often. */
static void it_sleeps(void)
{
    uint64_t before;

    calls_make(0);
    usleep(100000);
    before = counts().used_ns;
    usleep(ASLEEP_MS * 1000);
    printf("asleep, %.2f %% of a core\n",
           (double)(counts().used_ns - before) / (ASLEEP_MS * 1e4));
    CHECK(CHECK_SANITIZED || counts().used_ns - before < ASLEEP_MS * 1000000ull / 20);
    must(gpurt_hostcalls_destroy(rt, &args.calls, &err));
}

static void a_child_is_told(void)
{
    gpurt_hostcalls_status_t s;
    int how = 0;
    pid_t child;

    if (CHECK_SANITIZED)
        return; /* a child of threads is not the race detector's */
    calls_make(0);
    child = fork();
    if (child == 0)
        _Exit(gpurt_hostcalls_status(rt, &args.calls, &s, &err) == GPURT_E_FORKED &&
                      gpurt_hostcalls_destroy(rt, &args.calls, &err) == GPURT_E_FORKED
                  ? 0
                  : 1);
    CHECK(waitpid(child, &how, 0) == child && WIFEXITED(how));
    CHECK_EQ(WEXITSTATUS(how), 0);
    reset();
    args.rounds = 2;
    start(&gpurt_kernel_hostcall_multiply, 2, 32);
    must(finish());
    must(gpurt_hostcalls_destroy(rt, &args.calls, &err));
}

/* A kernel waits, and the host comes to its close: it is answered, and all is given back. */
static void close_answers_first(void)
{
    calls_make(2);
    reset();
    args.rounds = 50;
    start(&gpurt_kernel_hostcall_multiply, 4, 64);
    must(gpurt_close(rt, &err));
    CHECK_EQ(multiplied, 4 * 64 * 50 * 3 / 4);
    CHECK_EQ(gpurt_hostcalls_destroy(rt, &args.calls, &err), GPURT_E_CLOSED);
}

int main(void)
{
    CHECK_MSG(gpurt_open(NULL, &rt, &err) == GPURT_OK, "%s", err.text);
    must(gpurt_mem_create(rt, sizeof status, (void **)&args.status, &err));
    must(gpurt_mem_create(rt, sizeof values, (void **)&args.values, &err));
    must(gpurt_host_create(rt, 2 * HOSTCALL_THREADS * sizeof(uint32_t),
                           (void **)&args.notes, &err));
    must(gpurt_mem_create(rt, 4, (void **)&args.wrong, &err));
    must(gpurt_mem_create(rt, 4, (void **)&args.xcame, &err));
    all_are_answered(1, 2, 48);
    all_are_answered(3, 4, 33);
    all_are_answered(128, 8, 64);
    what_cannot_be_is_told();
    late_answers_are_nobodys();
    ends_while_it_waits(&gpurt_kernel_hostcall_cancel, GPURT_OK);
    ends_while_it_waits(&gpurt_kernel_hostcall_panic, GPURT_E_PANIC);
    a_function_that_ends_its_thread_is_told();
    files_are_written();
    it_sleeps();
    a_child_is_told();
    close_answers_first();
    return 0;
}
