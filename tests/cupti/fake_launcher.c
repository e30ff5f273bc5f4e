/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the driver that launches, under the driver's name: a program is linked to it, or finds
 * it, as it would find the driver. A stream has come to its end unless it is busy. */
#include "fake_launcher.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef cuCtxDestroy
#undef cuGetProcAddress
#undef cuStreamBeginCapture
#undef cuStreamDestroy

fake_launcher_t fake_launcher;
static int captures; /* open */

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

static CUresult launched(const void *function)
{
    fake_launcher.launches++;
    return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
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
        return launched(f);                                                          \
    }
#define EXTRA , __attribute__((unused)) void **extra
KERNEL(cuLaunchKernel, EXTRA)
KERNEL(cuLaunchKernel_ptsz, EXTRA)
KERNEL(cuLaunchCooperativeKernel)

CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **args, void **extra)
{
    (void)args, (void)extra;
    return c ? launched(f) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream)
{
    (void)stream;
    return launched(graph);
}

CUresult cuStreamSynchronize(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = (CUcontext)&fake_launcher;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    return context == (CUcontext)&fake_launcher ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = 1;
    return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction function)
{
    const fake_function_t *f = (const void *)function;

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

    fake_launcher.questions++;
    fake_launcher.spoilt += captures > 0;
    if (!s)
        return CUDA_SUCCESS;
    if (s->gone) {
        fprintf(stderr, "fake_launcher: a stream that is gone was asked about\n");
        abort();
    }
    return s->busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    return *mode == CU_STREAM_CAPTURE_MODE_RELAXED ? CUDA_SUCCESS
                                                   : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    ((fake_stream_t *)(void *)stream)->gone = 1;
    return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
    (void)mode;
    ((fake_stream_t *)(void *)stream)->captures = 1;
    captures++;
    return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    fake_stream_t *s = (fake_stream_t *)(void *)stream;

    if (!s->captures)
        return CUDA_ERROR_ILLEGAL_STATE;
    s->captures = 0;
    captures--;
    *graph = NULL;
    return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    const fake_stream_t *s = (const void *)stream;

    *status =
        s && s->captures ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
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
