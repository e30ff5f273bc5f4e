/* SPDX-License-Identifier: Apache-2.0 */
/* hook_app MODE [MS]: a program over the stand-in for the driver, which launches in each way that
 * programs do. ways: each way, a known number of times. runs: launches that end in each way, and some
 * that do not; stays so long. beside: launches that take long, or that are made while another thread
 * waits; stays so long. streams: more that end than are remembered. modules: functions that go, and
 * others in their place. functions: many, by turns. busy: a stream that never comes to an end. flood: as many as it can, for so
 * long; then one that stays. forks: a child that goes on. next:
 * what RTLD_NEXT finds. local FILE: what RTLD_DEFAULT finds from FILE, loaded for itself. */
#include "check.h"
#include "fake_launcher.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef CUresult (*kernel_t)(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                             unsigned bx, unsigned by, unsigned bz, unsigned shared,
                             CUstream stream, void **args, void **extra);
typedef CUresult (*proc_t)(const char *name, void **to, int version, cuuint64_t flags,
                           CUdriverProcAddressQueryResult *status);

static fake_stream_t streams[8];

static CUstream stream_of(int i)
{
    return i < 0 ? CU_STREAM_PER_THREAD : (CUstream)(void *)&streams[i];
}

static void rest(long ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

static CUresult with(kernel_t launch, const fake_function_t *f, CUstream stream)
{
    return launch((CUfunction)(void *)(uintptr_t)f, 4, 3, 2, 96, 2, 1, 0, stream, NULL,
                  NULL);
}

static void linked(const char *name, int stream)
{
    fake_function_t *f = malloc(sizeof *f);

    CHECK(f != NULL);
    *f = (fake_function_t){.name = name};
    CHECK(with(cuLaunchKernel, f, stream_of(stream)) == CUDA_SUCCESS);
}

static void *found(const char *name)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *at = dlsym(library, name);

    CHECK(at != NULL);
    return at;
}

static kernel_t asked(cuuint64_t flags)
{
    void *entry = found("cuGetProcAddress_v2"), *at = NULL;
    kernel_t launch;
    proc_t proc;

    memcpy(&proc, &entry, sizeof proc);
    CHECK(proc("cuGetProcAddress", &entry, 12000, 0, NULL) != CUDA_SUCCESS ||
          entry != NULL);
    CHECK(proc("cuLaunchKernel", &at, 13000, flags, NULL) == CUDA_SUCCESS);
    memcpy(&launch, &at, sizeof launch);
    return launch;
}

static void ways(void)
{
    static const fake_function_t by_link = {.name = "_Z4linki"},
                                 by_name = {.name = "_Z4namei"},
                                 by_proc = {.name = "_Z4proci", .is_kernel = 1},
                                 own = {.name = "_Z3owni", .is_kernel = 1},
                                 by_ex = {.name = "_Z2exi"}, grid = {.name = "_Z4gridi"};
    CUlaunchConfig config = {.gridDimX = 1};
    void *at = found("cuLaunchKernel");
    CUgraph graph;
    kernel_t launch;

    for (int i = 0; i < 3; i++)
        CHECK(with(cuLaunchKernel, &by_link, NULL) == CUDA_SUCCESS);
    memcpy(&launch, &at, sizeof launch);
    for (int i = 0; i < 4; i++)
        CHECK(with(launch, &by_name, NULL) == CUDA_SUCCESS);
    for (int i = 0; i < 5; i++)
        CHECK(with(asked(CU_GET_PROC_ADDRESS_DEFAULT), &by_proc, NULL) == CUDA_SUCCESS);
    for (int i = 0; i < 6; i++)
        CHECK(with(asked(CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM), &own, NULL) ==
              CUDA_SUCCESS);
    for (int i = 0; i < 7; i++)
        CHECK(cuLaunchKernelEx(&config, (CUfunction)(void *)(uintptr_t)&by_ex, NULL,
                               NULL) == CUDA_SUCCESS);
    CHECK(cuLaunchKernelEx(NULL, (CUfunction)(void *)(uintptr_t)&by_ex, NULL, NULL) !=
          CUDA_SUCCESS);
    for (int i = 0; i < 8; i++)
        CHECK(cuLaunchCooperativeKernel((CUfunction)(void *)(uintptr_t)&grid, 1, 1, 1, 1, 1,
                                        1, 0, NULL, NULL) == CUDA_SUCCESS);
    for (int i = 0; i < 9; i++)
        CHECK(cuGraphLaunch((CUgraphExec)&streams[0], NULL) == CUDA_SUCCESS);
    CHECK(cuGraphLaunch(NULL, NULL) != CUDA_SUCCESS);
    CHECK(cuStreamBeginCapture(stream_of(1), CU_STREAM_CAPTURE_MODE_GLOBAL) ==
          CUDA_SUCCESS);
    CHECK(with(cuLaunchKernel, &by_link, stream_of(1)) ==
          CUDA_SUCCESS); /* into the graph */
    CHECK(with(cuLaunchKernel, &by_link, stream_of(2)) == CUDA_SUCCESS);
    CHECK(cuStreamEndCapture(stream_of(1), &graph) == CUDA_SUCCESS);
    CHECK(cuStreamEndCapture(stream_of(1), &graph) != CUDA_SUCCESS);
    CHECK(with(cuLaunchKernel, &by_link, stream_of(1)) == CUDA_SUCCESS);
}

static void runs(long ms)
{
    CUgraph graph;

    streams[1].busy = streams[2].busy = streams[3].busy = streams[4].busy = 1;
    linked("ended_by_wait", 1);
    CHECK(cuStreamSynchronize(stream_of(1)) == CUDA_SUCCESS);
    linked("ended_by_context", 2);
    CHECK(cuCtxSynchronize() == CUDA_SUCCESS);
    linked("ended_by_question", 5);
    linked("ended_with_its_stream", 3);
    CHECK(cuStreamDestroy(stream_of(3)) == CUDA_SUCCESS);
    linked("_Z5staysi", 4);
    linked("behind_it", 4);
    /* A question now would spoil it. */
    CHECK(cuStreamBeginCapture(stream_of(6), CU_STREAM_CAPTURE_MODE_GLOBAL) ==
          CUDA_SUCCESS);
    linked("captured", 6);
    rest(600);
    CHECK(cuStreamEndCapture(stream_of(6), &graph) == CUDA_SUCCESS);
    CHECK(fake_launcher_questions().spoilt == 0);
    rest(ms);
    CHECK(fake_launcher_questions().all > 0);
}

static void *waits(void *stream)
{
    CHECK(cuStreamSynchronize(stream) == CUDA_SUCCESS);
    return NULL;
}

/* Of each kind, long and short ones; the first before there is any log. */
static void host_waits(long ms)
{
    CUcontext current, other = (CUcontext)(void *)&streams[6];
    pthread_t thread;

    CHECK(cuEventSynchronize((CUevent)(uintptr_t)7) == CUDA_SUCCESS);
    linked("has_a_log", 1);
    rest(ms);
    streams[6].busy = streams[6].holds = 1;
    CHECK(pthread_create(&thread, NULL, waits, stream_of(6)) == 0);
    rest(30);
    fake_launcher_set(&streams[6].holds, 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(cuEventSynchronize((CUevent)(uintptr_t)11) == CUDA_SUCCESS);
    CHECK(cuCtxGetCurrent(&current) == CUDA_SUCCESS);
    CHECK(cuCtxSynchronize_v2(current) == CUDA_SUCCESS);
    CHECK(cuCtxSynchronize_v2(other) == CUDA_SUCCESS); /* it says nothing of this one */
    CHECK(cuStreamSynchronize(stream_of(1)) == CUDA_SUCCESS);
}

/* Each is as a program may do it, and none of it has ended. */
static void beside(long ms)
{
    static const fake_function_t slow = {.name = "slowly_made", .ms = 1200};
    pthread_t thread;

    linked("made_before", 5);
    CHECK(with(cuLaunchKernel, &slow, stream_of(5)) == CUDA_SUCCESS);
    streams[6].busy = streams[6].holds = 1;
    CHECK(pthread_create(&thread, NULL, waits, stream_of(6)) == 0);
    while (!fake_launcher_look(&streams[6].waits))
        rest(1);
    linked("made_beside_a_wait", 6);
    fake_launcher_set(&streams[6].holds, 0);
    CHECK(pthread_join(thread, NULL) == 0);
    streams[7].answer = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    linked("nobody_knows", 7);
    linked("own", -1);
    rest(ms);
}

static void many_streams(long ms)
{
    enum {
        COUNT = 1200
    };
    static fake_stream_t of[COUNT];
    static const fake_function_t f = {.name = "short_one"};

    for (int i = 0; i < COUNT; i++)
        CHECK(with(cuLaunchKernel, &f, (CUstream)(void *)&of[i]) == CUDA_SUCCESS);
    for (int i = 0; i < COUNT; i++)
        CHECK(cuStreamDestroy((CUstream)(void *)&of[i]) == CUDA_SUCCESS);
    rest(ms);
}

/* Returns: whether it finds what lies beside it. */
static int is_local(const char *file)
{
    void *library = file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : NULL, *entry;
    int (*finds)(void);

    CHECK(library != NULL);
    entry = dlsym(library, "hook_local_finds");
    CHECK(entry != NULL);
    memcpy(&finds, &entry, sizeof finds);
    return finds();
}

static void modules(void)
{
    fake_function_t f = {.name = "first"};

    CHECK(with(cuLaunchKernel, &f, NULL) == CUDA_SUCCESS);
    CHECK(cuModuleUnload(NULL) == CUDA_SUCCESS);
    f.name = "second"; /* at the same address */
    CHECK(with(cuLaunchKernel, &f, NULL) == CUDA_SUCCESS);
    CHECK(with(cuLaunchKernel, &f, NULL) == CUDA_SUCCESS);
}

/* Each is asked for its name once, wherever it lies. */
static void functions(void)
{
    enum {
        COUNT = 2000,
        ROUNDS = 20
    };
    static char names[COUNT][16];
    fake_function_t *f[COUNT];

    for (int i = 0; i < COUNT; i++) {
        f[i] = malloc(sizeof **f + (size_t)(i * 37 % 1000));
        CHECK(f[i] != NULL);
        snprintf(names[i], sizeof names[i], "of_many_%d", i % 500);
        *f[i] = (fake_function_t){.name = names[i]};
    }
    for (int i = 0; i < ROUNDS * COUNT; i++)
        CHECK(with(cuLaunchKernel, f[i % COUNT], NULL) == CUDA_SUCCESS);
    CHECK(fake_launcher_names() <= COUNT);
    for (int i = 0; i < COUNT; i++)
        free(f[i]);
}

/* Nothing says that what was launched has ended, but that so much could be launched behind it. */
static void busy(void)
{
    static const fake_function_t f = {.name = "short_one"};

    streams[1].busy = 1;
    for (int i = 0; i < 50000; i++)
        CHECK(with(cuLaunchKernel, &f, stream_of(1)) == CUDA_SUCCESS);
    linked("newest", 1);
    rest(1000);
}

/* As many as it can, for so long, into a stream that never comes to an end; then one elsewhere. */
static void flood(long ms)
{
    static const fake_function_t f = {.name = "flooded"};
    struct timespec begin, now;

    streams[1].busy = 1;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int i = 0; i < 100; i++)
            CHECK(with(cuLaunchKernel, &f, stream_of(1)) == CUDA_SUCCESS);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 <
             ms);
    rest(3 * 1000);
    streams[2].busy = 1;
    linked("seen_again", 2);
    rest(1000);
}

static void forks(void)
{
    int status = 0;
    pid_t child;

    linked("parents", 0);
    child = fork();
    if (child == 0) {
        linked("childs", 0);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static const struct {
    const char *mode;
    void (*run)(void);
    void (*run_ms)(long ms); /* in place of it */
} modes[] = {
    {.mode = "ways", .run = ways},        {.mode = "runs", .run_ms = runs},
    {.mode = "beside", .run_ms = beside}, {.mode = "streams", .run_ms = many_streams},
    {.mode = "modules", .run = modules},  {.mode = "functions", .run = functions},
    {.mode = "busy", .run = busy},        {.mode = "flood", .run_ms = flood},
    {.mode = "forks", .run = forks},      {.mode = "waits", .run_ms = host_waits},
};

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    const long ms = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

    CHECK(fake_launcher_start() || getenv("HOOK_ALONE"));
    if (strcmp(mode, "local") == 0)
        return is_local(argv[2]) ? 0 : 1;
    if (strcmp(mode, "next") == 0) /* who calls decides where the search begins */
        return dlsym(RTLD_NEXT, "gpurt_launchhook_connect") ? 0 : 1;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (strcmp(mode, modes[i].mode) == 0) {
            if (modes[i].run)
                modes[i].run();
            else
                modes[i].run_ms(ms);
            return 0;
        }
    return 2;
}
