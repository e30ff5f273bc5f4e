/* SPDX-License-Identifier: Apache-2.0 */
/* hook_app MODE [MS]: a program over the stand-in for the driver, which launches in each way that
 * programs do. ways: each way, a known number of times. runs: launches that end in each way, and some
 * that do not; stays so long. modules: functions that go, and others in their place. busy: a stream
 * that never comes to an end. forks: a child that goes on. next: what RTLD_NEXT finds. */
#include "check.h"
#include "fake_launcher.h"

#include <dlfcn.h>
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
    return (CUstream)(void *)&streams[i];
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
    static const fake_function_t by_link = {"_Z4linki", 0}, by_name = {"_Z4namei", 0},
                                 by_proc = {"_Z4proci", 1}, own = {"_Z3owni", 1},
                                 by_ex = {"_Z2exi", 0}, grid = {"_Z4gridi", 0};
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

static void modules(void)
{
    fake_function_t f = {"first", 0};

    CHECK(with(cuLaunchKernel, &f, NULL) == CUDA_SUCCESS);
    CHECK(cuModuleUnload(NULL) == CUDA_SUCCESS);
    f.name = "second"; /* at the same address */
    CHECK(with(cuLaunchKernel, &f, NULL) == CUDA_SUCCESS);
    CHECK(with(cuLaunchKernel, &f, NULL) == CUDA_SUCCESS);
}

/* Nothing says that what was launched has ended, but that so much could be launched behind it. */
static void busy(void)
{
    static const fake_function_t f = {"short_one", 0};

    streams[1].busy = 1;
    for (int i = 0; i < 50000; i++)
        CHECK(with(cuLaunchKernel, &f, stream_of(1)) == CUDA_SUCCESS);
    linked("newest", 1);
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

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    const long ms = argc > 2 ? strtol(argv[2], NULL, 10) : 0;

    CHECK(fake_launcher_start() || getenv("HOOK_ALONE"));
    if (strcmp(mode, "ways") == 0)
        ways();
    else if (strcmp(mode, "runs") == 0)
        runs(ms);
    else if (strcmp(mode, "modules") == 0)
        modules();
    else if (strcmp(mode, "busy") == 0)
        busy();
    else if (strcmp(mode, "forks") == 0)
        forks();
    else if (strcmp(mode, "next") == 0) /* who calls decides where the search begins */
        return dlsym(RTLD_NEXT, "gpurt_launchhook_connect") ? 0 : 1;
    else
        return 2;
    return 0;
}
