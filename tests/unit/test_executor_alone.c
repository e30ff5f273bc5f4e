/* SPDX-License-Identifier: Apache-2.0 */
/* test_executor_alone [THREADS]: tasks spawn, wait for each other and end while no thread of the library on the host runs. On the CPU
 * back end every thread but the caller's and those that are the multiprocessors stands in a signal
 * handler; on a GPU the whole process is stopped, the caller with it. A host call is the proof: it is
 * answered only when they go on. */
#include "../executor_stage.h"

#include <gpurt/hostcalls.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    GATE, /* marks */
    BEHIND_FIB,
    FANNED,
    CPU_MANY = CHECK_SANITIZED ? 200 : 1000, /* marks of each graph */
    GPU_MANY = 60000,                        /* at a microsecond or more each */
    FIB = 12,
    FIB_VALUE = 144,
    HELPERS = 2, /* threads of the library, at least: panics, host calls */
    STOP_S = 5,  /* how long a GPU's process stands */
    NAP_NS = 1000000,
    NAPS = 40000,
    SAME = 50 /* looks that find the same threads */
};

static void nap(void)
{
    const struct timespec moment = {0, NAP_NS};

    nanosleep(&moment, NULL);
}

/* ---- threads that stand ------------------------------------------------------------------ */

static uint32_t xstanding, xgo_on;

/* relaxed, all: words for themselves. */
static void stand(int signal)
{
    int saved = errno;

    (void)signal;
    gpurt_add_relaxed_sys_u32(&xstanding, 1);
    while (!gpurt_load_relaxed_sys_u32(&xgo_on))
        nap();
    errno = saved;
}

/* A line of a thread's file in /proc. */
static void thread_line(const char *tid, const char *file, const char *key, char line[128])
{
    char path[64];
    FILE *f;

    snprintf(path, sizeof path, "/proc/self/task/%.16s/%s", tid, file);
    f = fopen(path, "r");
    CHECK(f != NULL);
    while (fgets(line, 128, f) && strncmp(line, key, strlen(key)) != 0) {
    }
    fclose(f);
}

/* Those of gpurt let SIGPROF in; a thread of a sanitizer's does not. */
static bool is_helper(const char *tid)
{
    char line[128];

    if (tid[0] == '.' || atoi(tid) == (int)getpid())
        return false;
    thread_line(tid, "comm", "", line);
    if (strncmp(line, "gpurt-sm", 8) == 0)
        return false;
    thread_line(tid, "status", "SigBlk:", line);
    return !(strtoull(line + strlen("SigBlk:"), NULL, 16) >> (SIGPROF - 1) & 1u);
}

/* signal: 0, they are only counted. */
static uint32_t helpers_signal(int signal)
{
    DIR *dir = opendir("/proc/self/task");
    uint32_t count = 0;
    struct dirent *d;

    CHECK(dir != NULL);
    while ((d = readdir(dir)))
        if (is_helper(d->d_name)) {
            CHECK_EQ(syscall(SYS_tgkill, getpid(), atoi(d->d_name), signal), 0);
            count++;
        }
    closedir(dir);
    return count;
}

static void threads_stop(uint32_t least)
{
    const struct sigaction action = {.sa_handler = stand, .sa_flags = SA_RESTART};
    uint32_t count, same = 0, before = 0;

    CHECK_EQ(sigaction(SIGPROF, &action, NULL), 0);
    /* A helper that begins lets no signal in yet, and a worker has no name of its own. */
    for (uint32_t i = 0; i < NAPS && same < SAME; i++, before = count) {
        nap();
        count = helpers_signal(0);
        same = count >= least && count == before ? same + 1 : 0;
    }
    count = helpers_signal(SIGPROF);
    CHECK_MSG(count >= least, "%u threads to stop", count);
    for (uint32_t i = 0; i < NAPS && gpurt_load_relaxed_sys_u32(&xstanding) < count; i++)
        nap();
    CHECK_EQ(gpurt_load_relaxed_sys_u32(&xstanding), count);
}

/* ---- a process that stands --------------------------------------------------------------- */

static int child_pipe[2];

static bool is_stopped(pid_t process)
{
    char path[64], line[512] = "";
    const char *state;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    f = fopen(path, "r");
    if (!f)
        return false;
    if (!fgets(line, sizeof line, f))
        line[0] = 0;
    fclose(f);
    state = strrchr(line, ')');
    return state && state[2] == 'T';
}

/* Its child lets this process go on some time after it stopped. */
static pid_t waker_begin(void)
{
    pid_t parent = getpid(), child;
    char byte;

    CHECK_EQ(pipe(child_pipe), 0);
    child = fork();
    CHECK(child >= 0);
    if (child)
        return child;
    close(child_pipe[1]);
    if (read(child_pipe[0], &byte, 1) == 1) {
        for (uint32_t i = 0; i < NAPS && !is_stopped(parent); i++)
            nap();
        sleep(STOP_S);
        kill(parent, SIGCONT);
    }
    _exit(0);
}

static void process_stop(void)
{
    CHECK_EQ(write(child_pipe[1], "", 1), 1);
    raise(SIGSTOP);
}

/* ---- the test ---------------------------------------------------------------------------- */

/* In memory that both sides reach. */
typedef struct desk {
    gpurt_hostcalls_t calls;
    uint64_t fib, xtime;
} desk_t;

static void submit_behind(gpurt_executor_t x, gpurt_submitted_t gate,
                          gpurt_submitted_t task)
{
    must(gpurt_executor_after(rt, x, gate, task, &err));
    must(gpurt_executor_start(rt, x, task, &err));
}

/* A fan, a chain, children, and one that asks the host: all behind the gate. That one has a level to
 * itself, since tasks of its batch would wait behind it. */
static void tasks_submit(gpurt_executor_t x, gpurt_submitted_t gate, desk_t *desk,
                         uint32_t many)
{
    struct task_graph_args chain = {.board = board, .first = FANNED + many, .count = many};
    struct task_fan_args fan = {.board = board, .first = FANNED, .count = many};
    struct task_asks_args asks = {.calls = &desk->calls, .to = &desk->xtime};
    struct task_fib_args fib = {.to = &desk->fib, .n = FIB};
    const uint32_t held = GPURT_TASK_HELD;
    gpurt_submitted_t task, behind = submit_mark(x, BEHIND_FIB, held);

    for (uint32_t i = 1; i < many; i++) {
        board->marks[chain.first + i].before_count = 1;
        board->marks[chain.first + i].befores[0] = chain.first + i - 1;
    }
    must(gpurt_executor_submit(rt, x, asks, &asks, 1, held | GPURT_TASK_PRIORITY(3), &task,
                               &err));
    submit_behind(x, gate, task);
    must(gpurt_executor_submit(rt, x, fan, &fan, 1, held, &task, &err));
    submit_behind(x, gate, task);
    must(gpurt_executor_submit(rt, x, graph, &chain, 1, held, &task, &err));
    submit_behind(x, gate, task);
    must(gpurt_executor_submit(rt, x, fib, &fib, 1, held, &task, &err));
    submit_behind(x, task, behind);
    submit_behind(x, gate, task);
}

static bool all_ran(uint32_t marks)
{
    return gpurt_load_relaxed_sys_u32(&board->xorder) ==
           marks; /* relaxed: a drain follows */
}

int main(int argc, char **argv)
{
    uint32_t least = argc > 1 ? (uint32_t)atoi(argv[1]) : HELPERS;
    pid_t child = waker_begin();
    uint32_t many, marks;
    gpurt_submitted_t gate;
    gpurt_executor_t x;
    gpurt_info_t info;
    void *memory;
    desk_t *desk;
    bool cpu;

    must(gpurt_open(NULL, &rt, &err));
    must(gpurt_info(rt, &info));
    cpu = info.backend == GPURT_BACKEND_CPU;
    many = cpu ? CPU_MANY : GPU_MANY;
    marks = 2 * many + FANNED;
    board_make(marks);
    must(gpurt_host_create(rt, sizeof *desk, &memory, &err));
    memset(memory, 0, sizeof *desk);
    desk = memory;
    must(gpurt_hostcalls_create(rt, NULL, &desk->calls, &err));
    x = executor_open(3, 3 * many);
    gate = gate_shut(x, GATE, 1);
    tasks_submit(x, gate, desk, many);
    if (cpu)
        threads_stop(least);
    gate_open();
    CHECK(!all_ran(marks));
    if (!cpu)
        process_stop();
    for (uint32_t i = 0; cpu && i < NAPS && !all_ran(marks); i++)
        nap();
    CHECK_MSG(all_ran(marks), "%u of %u marks", gpurt_load_relaxed_sys_u32(&board->xorder),
              marks); /* relaxed: for a text */
    if (cpu)          /* relaxed: as above */
        CHECK_EQ(gpurt_load_relaxed_sys_u64(&desk->xtime), 0);
    gpurt_store_relaxed_sys_u32(&xgo_on, 1);
    must(gpurt_executor_drain(rt, x, WAIT_NS, &err));
    CHECK(desk->xtime != 0);
    CHECK_EQ(desk->fib, FIB_VALUE);
    each_ran_once(0, marks);
    executor_end(x);
    must(gpurt_hostcalls_destroy(rt, &desk->calls, &err));
    must(gpurt_host_destroy(rt, desk));
    board_free();
    must(gpurt_close(rt, &err));
    close(child_pipe[1]);
    CHECK_EQ(waitpid(child, NULL, 0), child);
    return 0;
}
