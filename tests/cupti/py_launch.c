/* SPDX-License-Identifier: Apache-2.0 */
/* py_launch.c - what a Python program calls to launch something through the stand-in for CUPTI: as an
 * extension would, in its own thread or in one that Python waits for. */
#include "fake_cupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Called by ctypes. */
int py_begin(void);
void py_launch(const char *name);
void py_launch_beside(const char *name);
double py_cost_us(long count);

static const fake_cupti_t *fake;

/* The driver starts. Returns: 0: it did, and CUPTI is there. */
int py_begin(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH"),
               *cupti = getenv("GPURT_CUPTI_LIBRARY");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL, *entry;
    int (*initialise)(void);

    entry = library ? dlsym(library, "InitializeInjection") : NULL;
    if (!entry)
        return -1;
    memcpy(&initialise, &entry, sizeof initialise);
    initialise();
    library = cupti ? dlopen(cupti, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD) : NULL;
    fake = library ? dlsym(library, "fake_cupti") : NULL;
    return fake ? 0 : -1;
}

/* A kernel that does not end. */
void py_launch(const char *name)
{
    const cuLaunchKernel_params kernel = {.gridDimX = 4,
                                          .gridDimY = 3,
                                          .gridDimZ = 2,
                                          .blockDimX = 96,
                                          .blockDimY = 2,
                                          .blockDimZ = 1,
                                          .hStream = (CUstream)(uintptr_t)0x77};

    fake->launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &kernel, name, 0);
}

static void *thread_run(void *name)
{
    py_launch(name);
    return NULL;
}

/* By a thread without Python; the caller waits for it. */
void py_launch_beside(const char *name)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, thread_run, (void *)(uintptr_t)name) == 0)
        pthread_join(thread, NULL);
}

static double cpu_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* CPU time of so many launches, of which each ends behind the next one. */
double py_cost_us(long count)
{
    const cuLaunchKernel_params kernel = {
        .gridDimX = 1, .blockDimX = 32, .hStream = (CUstream)(uintptr_t)0x77};
    const double begin = cpu_us();

    for (long i = 0; i < count; i++) {
        fake->launch(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &kernel, "cost", 0);
        if (i % 64 == 63)
            fake->launch(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, NULL, NULL, 0);
    }
    return (cpu_us() - begin) / (double)count;
}
