/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the driver that launches, under the driver's name: a program is linked to it, or finds
 * it, as it would find the driver. A stream has come to its end unless it is busy. */
#include "fake_launcher.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#undef cuCtxDestroy
#undef cuGetProcAddress
#undef cuStreamBeginCapture
#undef cuStreamDestroy

/* Of its calls, so far; all under the lock, as what streams point to. */
static struct {
    pthread_mutex_t lock;
    int questions, spoilt, captures; /* spoilt: asked while a stream was captured */
    int names;                       /* questions for a name */
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void enter(void)
{
    pthread_mutex_lock(&fake.lock);
}

static CUresult leave(CUresult result)
{
    pthread_mutex_unlock(&fake.lock);
    return result;
}

fake_questions_t fake_launcher_questions(void)
{
    fake_questions_t q;

    enter();
    q = (fake_questions_t){fake.questions, fake.spoilt};
    leave(CUDA_SUCCESS);
    return q;
}

int fake_launcher_look(const int *what)
{
    int value;

    enter();
    value = *what;
    leave(CUDA_SUCCESS);
    return value;
}

void fake_launcher_set(int *what, int value)
{
    enter();
    *what = value;
    leave(CUDA_SUCCESS);
}

int fake_launcher_start(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL, *entry;
    int (*initialise)(void);

    entry = library ? dlsym(library, "InitializeInjection") : NULL;
    if (!entry)
        return 0;
    memcpy(&initialise, &entry, sizeof initialise);
    return initialise();
}

static void rest(int ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    if (ms)
        nanosleep(&t, NULL);
}

static CUresult launched(const void *what)
{
    return what ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult launched_of(CUfunction function)
{
    const fake_function_t *f = (const void *)function;

    rest(f ? f->ms : 0);
    return launched(f);
}

#define KERNEL(name_, ...)                                                           \
    CUresult name_(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, \
                   unsigned by, unsigned bz, unsigned shared, CUstream stream,       \
                   void **args __VA_ARGS__);                                         \
    CUresult name_(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, \
                   unsigned by, unsigned bz, unsigned shared, CUstream stream,       \
                   void **args __VA_ARGS__)                                          \
    {                                                                                \
        (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared,    \
            (void)stream, (void)args;                                                \
        return launched_of(f);                                                       \
    }
#define EXTRA , __attribute__((unused)) void **extra
KERNEL(cuLaunchKernel, EXTRA)
KERNEL(cuLaunchKernel_ptsz, EXTRA)
KERNEL(cuLaunchCooperativeKernel)

CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **args, void **extra)
{
    (void)args, (void)extra;
    return c ? launched_of(f) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream)
{
    (void)stream;
    return launched(graph);
}

CUresult cuStreamSynchronize(CUstream stream)
{
    fake_stream_t *s = (fake_stream_t *)(void *)stream;
    int holds = s != NULL;

    while (holds) {
        enter();
        s->waits = 1;
        holds = s->holds;
        leave(CUDA_SUCCESS);
        rest(holds);
    }
    return CUDA_SUCCESS;
}

/* An event is the milliseconds that it takes. */
CUresult cuEventSynchronize(CUevent event)
{
    rest((int)(intptr_t)event);
    return CUDA_SUCCESS;
}

/* Of CUDA 13. */
CUresult cuCtxSynchronize_v2(CUcontext context)
{
    (void)context;
    rest(13);
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = (CUcontext)(void *)&fake;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    return context == (CUcontext)(void *)&fake ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = 1;
    return CUDA_SUCCESS;
}

int fake_launcher_names(void)
{
    return fake_launcher_look(&fake.names);
}

CUresult cuFuncGetName(const char **name, CUfunction function)
{
    const fake_function_t *f = (const void *)function;

    enter();
    fake.names++;
    leave(CUDA_SUCCESS);
    *name = f->name;
    return f->is_kernel ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **name, CUkernel kernel)
{
    const fake_function_t *f = (const void *)kernel;

    *name = f->name;
    return f->is_kernel ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuModuleUnload(CUmodule module)
{
    (void)module;
    return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream stream)
{
    const fake_stream_t *s = (const void *)stream;

    enter();
    fake.questions++;
    fake.spoilt += fake.captures > 0;
    if (s && s->gone) {
        fprintf(stderr, "fake_launcher: a stream that is gone was asked about\n");
        abort();
    }
    if (s && s->answer)
        return leave(s->answer);
    return leave(s && s->busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    return *mode == CU_STREAM_CAPTURE_MODE_RELAXED ? CUDA_SUCCESS
                                                   : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    enter();
    ((fake_stream_t *)(void *)stream)->gone = 1;
    return leave(CUDA_SUCCESS);
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
    (void)mode;
    enter();
    ((fake_stream_t *)(void *)stream)->captures = 1;
    fake.captures++;
    return leave(CUDA_SUCCESS);
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    fake_stream_t *s = (fake_stream_t *)(void *)stream;

    *graph = NULL;
    enter();
    if (!s->captures)
        return leave(CUDA_ERROR_ILLEGAL_STATE);
    s->captures = 0;
    fake.captures--;
    return leave(CUDA_SUCCESS);
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    const fake_stream_t *s = (const void *)stream;

    enter();
    *status =
        s && s->captures ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return leave(CUDA_SUCCESS);
}

/* As the driver names what it has. */
CUresult cuGetProcAddress_v2(const char *name, void **to, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    void *self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    char text[64];

    (void)version, (void)status;
    snprintf(text, sizeof text, "%s%s", name,
             flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ? "_ptsz" : "");
    *to = dlsym(self, text);
    return *to ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
