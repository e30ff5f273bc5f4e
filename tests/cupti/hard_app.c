/* SPDX-License-Identifier: Apache-2.0 */
#include "hard_app.h"

#include "check.h"
#include "cupti_app.h"
#include "forked.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREADS = 6,
    MANY = 300
};

/* ---- threads, and a drainer that sleeps ---------------------------------------------- */

static void *thread_run(void *context)
{
    kernels((int)(uintptr_t)context, 20000);
    return NULL;
}

void hard_threads(void)
{
    pthread_t threads[THREADS];

    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, thread_run, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void *one_of_many(void *context)
{
    kernels((int)(uintptr_t)context, 5);
    return NULL;
}

/* A server whose threads all launch for the first time, one right after another: each has a
 * buffer of CUPTI's, which is not full for long. */
void hard_many(void)
{
    pthread_t threads[MANY];

    fake->patient(0);
    for (int i = 0; i < MANY; i++)
        fake->hold(i, 1);
    for (uintptr_t i = 0; i < MANY; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, one_of_many, (void *)i), 0);
    for (int i = 0; i < MANY; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(fake->taken(), MANY);
    CHECK_EQ(fake->dropped_sum(), 0);
}

/* Our parent is the drainer; it sleeps while more comes than anything holds. */
void hard_stopped(long count)
{
    CHECK_EQ(kill(getppid(), SIGSTOP), 0);
    fake->patient(0);
    kernels(0, count);
    CHECK(fake->dropped_sum() > 0);
    CHECK_EQ(kill(getppid(), SIGCONT), 0);
}

static __attribute__((noinline)) void launch_step(long i)
{
    cuLaunchKernel_params kernel = {.gridDimX = 4,
                                    .gridDimY = 3,
                                    .gridDimZ = 2,
                                    .blockDimX = 96,
                                    .blockDimY = 2,
                                    .blockDimZ = 1,
                                    .sharedMemBytes = 128,
                                    .hStream = (CUstream)(uintptr_t)0x77};

    fake->launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &kernel, names[i % 3], 1);
}

/* ---- processes ----------------------------------------------------------------------- */

/* A child whose C library does not know that it is one. Returns: its status. A lock of the loader that a
 * thread of its parent held just then is never given back there: such a child says nothing of us. */
static int raw_child_ends(void)
{
    int status = 0;

    for (int tries = 0; tries < 3; tries++) {
        pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

        if (pid == 0) { /* no handler told that one that it is a child */
            alarm(5);
            forked_exit(0);
        }
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM)
            break;
    }
    return status;
}

void hard_fork(void)
{
    uint64_t begin;
    int status;
    pid_t pid;

    kernels(0, 1000);
    begin = fake->time();
    pid = fork();
    if (pid == 0)
        forked_exit(0); /* with its parent's exit handlers, and without its threads */
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
    CHECK_MSG(fake->time() - begin < 2000000000,
              "the child waited for its parent's threads");
    rest(300); /* what came so far is told: its box is there */
    CHECK_EQ(raw_child_ends(), 0);
    kernels(0, 1000);
}

/* The child goes on as it would without a collector: with more than all buffers hold and a
 * launch, and longer than its parent, whose records these are not. */
void hard_fork_on(void)
{
    pid_t pid;

    kernels(0, 1000);
    pid = fork();
    if (pid == 0) {
        fake->patient(0);
        launch_step(0); /* its parent's ring is still read */
        kernels(1, 300000);
        CHECK_EQ(fake->use_all(), 0); /* nobody reads them */
        launch_step(0);
        rest(1500);
        forked_exit(0);
    }
    CHECK(pid > 0);
    kernels(0, 1000);
    rest(300);
}

/* A server that starts another program of CUDA's, and waits for it or does not. */
void hard_fork_exec(char **argv, int waits)
{
    const char *log = getenv("GPURT_LOG");
    struct stat file = {0};
    int status;
    pid_t pid;

    kernels(0, 1000);
    for (int i = 0; i < 1000 && log && (stat(log, &file) != 0 || file.st_size == 0); i++)
        rest(10); /* its drainer has the file: it locks it before it writes */
    pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", argv[0], "kernels", "700", (char *)NULL);
        _exit(127);
    }
    kernels(0, 1000);
    if (!waits)
        return;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
}

/* As servers do: the driver starts in a child. */
void hard_fork_first(void)
{
    int status;
    pid_t pid = fork();

    if (pid == 0)
        return;
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    exit(WEXITSTATUS(status));
}

/* ---- launches ------------------------------------------------------------------------ */

/* Each way to launch, two of them without an end; the last one is what the program dies in. */
static __attribute__((noinline)) void launch_ways(void)
{
    static fake_graph_t graph = {.id = 12, .nodes = 3};
    CUlaunchConfig config = {.gridDimX = 7,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 64,
                             .blockDimY = 1,
                             .blockDimZ = 1};
    cuLaunchKernelEx_params ex = {.config = &config};
    cuLaunchCooperativeKernel_params together = {.gridDimX = 9,
                                                 .gridDimY = 1,
                                                 .gridDimZ = 1,
                                                 .blockDimX = 32,
                                                 .blockDimY = 1,
                                                 .blockDimZ = 1};
    cuGraphLaunch_params whole = {.hGraph = (CUgraphExec)(void *)&graph};

    fake->launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &ex, "by_config", 1);
    fake->launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, &ex, "by_config_p", 1);
    fake->launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, &together, "coop", 1);
    fake->launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz, &together,
                 "coop_p", 1);
    fake->launch(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &whole, NULL, 0);
    fake->launch(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz, &whole, NULL, 0);
    fake->launch(CUPTI_DRIVER_TRACE_CBID_cuMemAlloc, &whole, NULL, 0);
}

static __attribute__((noinline)) void launch_last(void)
{
    cuLaunchKernel_params kernel = {.gridDimX = 1,
                                    .gridDimY = 1,
                                    .gridDimZ = 1,
                                    .blockDimX = 1,
                                    .blockDimY = 1,
                                    .blockDimZ = 1};

    fake->launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, &kernel, "_Z6doomedPi",
                 getenv("FAKE_FAILED") ? 2 : 0);
}

static void *launch_thread(void *context)
{
    for (long i = 0; i < 2000; i++)
        launch_step((long)(uintptr_t)context + i);
    return NULL;
}

void hard_launch_many(long count)
{
    for (long i = 0; i < count; i++)
        launch_step(i);
}

/* Then it stands, as one whose GPU hangs, until it is killed. */
void hard_launches(long count)
{
    pthread_t threads[THREADS];

    for (uintptr_t i = 0; i < THREADS && count == 0; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, launch_thread, (void *)i), 0);
    for (int i = 0; i < THREADS && count == 0; i++)
        pthread_join(threads[i], NULL);
    hard_launch_many(count);
    launch_ways();
    rest(800); /* the collector has passed on what it holds, on a busy machine too */
    launch_last();
    if (getenv("FAKE_FAILED"))
        rest(300); /* CUPTI has time to tell of it */
    printf("%d\n", (int)getpid());
    fflush(stdout);
    if (getenv("FAKE_STANDS"))
        pause();
    kill(getpid(), SIGKILL);
}

/* ---- others in the process ----------------------------------------------------------- */

/* A careful one: what it did not give to CUPTI it leaves alone. Under the stand-in's lock. */
static struct {
    uint8_t *buffer; /* the one that is out */
    int strange;     /* buffers that came to it and are another's */
} other;

static void CUPTIAPI other_asked(uint8_t **buffer, size_t *size, size_t *most)
{
    *size = 8192;
    *most = 0;
    *buffer = other.buffer = malloc(*size);
}

static void CUPTIAPI other_done(CUcontext context, uint32_t stream, uint8_t *buffer,
                                size_t size, size_t valid)
{
    (void)context;
    (void)stream;
    (void)size;
    (void)valid;
    if (buffer == other.buffer)
        free(buffer);
    else
        other.strange++;
}

static void entry_find(const char *name, void *to)
{
    void *library = dlopen(getenv("GPURT_CUPTI_LIBRARY"), RTLD_NOW | RTLD_LOCAL), *entry;

    CHECK(library != NULL);
    entry = dlsym(library, name);
    memcpy(to, &entry, sizeof entry);
}

static void others_register(void)
{
    __typeof__(cuptiActivityRegisterCallbacks) *take;

    entry_find("cuptiActivityRegisterCallbacks", &take);
    CHECK_EQ(take(other_asked, other_done), CUPTI_SUCCESS);
}

/* Another library of the process takes CUPTI's buffers and asks nobody; with `back` it gives
 * them back. */
static void steal(int back)
{
    kernels(0, 10);
    rest(300);
    others_register();
    for (long i = 0; i < 75; i++, rest(100))
        launch_step(i);
    CHECK_EQ(fake->told_of() > 0,
             (int)(fake->kinds() >> CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL & 1));
    if (!back)
        return;
    fake->done(0);
    fake->give_back();
    for (long i = 0; i < 15; i++, rest(100))
        launch_step(i);
    CHECK_EQ(fake->told_of() > 0, strstr(getenv("GPURT_CUPTI"), "launches") != NULL);
}

/* As above, but while CUPTI has a buffer of ours, which the other gets and cannot know, and
 * back while it has one of the other's. */
void hard_stolen_out(void)
{
    fake->hold(0, 1);
    kernels(0, 10);
    others_register();
    fake->hold(0, 0);
    for (long i = 0; i < 75; i++, rest(100))
        hard_launch_many(40); /* more than fit into the buffer that CUPTI never gave back */
    CHECK_EQ(other.strange, 1);
    fake->hold(0, 1);
    launch_step(0);
    fake->give_back();
    fake->hold(0, 0);
    rest(300);
    for (long i = 0; i < 15; i++, rest(100))
        launch_step(i);
}

/* A library of the program records through CUPTI before the driver starts, and has a buffer out. */
void hard_taken_before(void)
{
    __typeof__(cuptiActivityEnable) *enable;
    const fake_cupti_t *early;

    others_register();
    entry_find("cuptiActivityEnable", &enable);
    entry_find("fake_cupti", &early);
    enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
    early->kernel(3, "theirs", 1, 2);
}

void hard_taken(void)
{
    kernels(0, 20);
    rest(300);
    CHECK_EQ(fake->taken(), 0); /* theirs came back, too: to us */
    kernels(0, 20);
}

/* Kernels of somebody else's: our collector has no part in them, and the clock is not its. */
void hard_chained(long count)
{
    __typeof__(cuptiActivityFlushAll) *flush;

    entry_find("cuptiActivityFlushAll", &flush);
    for (long i = 0; i < count; i++)
        fake->kernel(0, "theirs", 1, 2);
    CHECK_EQ(flush(0), CUPTI_SUCCESS);
    rest(300);
}

void hard_stolen(void)
{
    steal(0);
}

void hard_stolen_back(void)
{
    steal(1);
}

/* One that has not ended. */
static void launch_open(void)
{
    cuLaunchKernel_params kernel = {.gridDimX = 1, .blockDimX = 1};

    fake->launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &kernel, "open", 0);
}

/* Nothing happens for a while, then something; then all goes into a buffer that a kernel
 * holds which has not ended. */
void hard_idle(void)
{
    CHECK_EQ(fake->told_of(), 0);
    kernels(0, 10);
    for (int i = 0; i < 100 && fake->told_of() == 0; i++)
        rest(100);
    CHECK(fake->told_of() > 0);
    rest(3500);
    launch_open();
    rest(600); /* it takes its time, and brings its record then */
    kernels(0, 1);
    for (int i = 0; i < 100 && fake->told_of() != 0; i++)
        rest(100);
    CHECK_EQ(fake->told_of(), 0);
    fake->hold(0, 1);
    kernels(0, 1);
    for (long i = 0; i < 75; i++, rest(100))
        launch_step(i);
}

/* ---- ends ---------------------------------------------------------------------------- */

/* How it ends decides what the collector may still do. */
void hard_end(const char *mode, char **argv)
{
    rest(1000); /* a few flushes */
    if (strcmp(mode, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(mode, "exec") == 0)
        execl("/proc/self/exe", argv[0], "kernels", argv[2], (char *)NULL);
    _exit(0);
}
