/* SPDX-License-Identifier: Apache-2.0 */
/* The library has no other file, and no code of gpurt's: it comes into every process that a program
 * under a recorder starts. */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "launchhook.h"

#include <dlfcn.h>
#include <gpurt/atomic.h>
#include <stddef.h>
#include <string.h>

#define EXPORT     __attribute__((visibility("default")))
#define DRIVER_LIB "libcuda.so.1"

/* cuda.h makes the newest of several calls out of these names. */
#undef cuCtxDestroy
#undef cuCtxSynchronize
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuGetProcAddress
#undef cuStreamBeginCapture
#undef cuStreamDestroy

typedef void (*function_t)(void);

/* The driver's calls before which we stand: name in the library, name for cuGetProcAddress, the
 * version of CUDA from which on that means this one, whether for streams of a thread's own. */
#define HOOKS(X)                                                                    \
    X(cuLaunchKernel, "cuLaunchKernel", 4000, false)                                \
    X(cuLaunchKernel_ptsz, "cuLaunchKernel", 7000, true)                            \
    X(cuLaunchKernelEx, "cuLaunchKernelEx", 11060, false)                           \
    X(cuLaunchKernelEx_ptsz, "cuLaunchKernelEx", 11060, true)                       \
    X(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel", 9000, false)          \
    X(cuLaunchCooperativeKernel_ptsz, "cuLaunchCooperativeKernel", 9000, true)      \
    X(cuGraphLaunch, "cuGraphLaunch", 10000, false)                                 \
    X(cuGraphLaunch_ptsz, "cuGraphLaunch", 10000, true)                             \
    X(cuStreamSynchronize, "cuStreamSynchronize", 2000, false)                      \
    X(cuStreamSynchronize_ptsz, "cuStreamSynchronize", 7000, true)                  \
    X(cuEventSynchronize, "cuEventSynchronize", 2000, false)                        \
    X(cuCtxSynchronize, "cuCtxSynchronize", 2000, false)                            \
    X(cuCtxSynchronize_v2, "cuCtxSynchronize", 13000, false)                        \
    X(cuStreamDestroy, "cuStreamDestroy", 2000, false)                              \
    X(cuStreamDestroy_v2, "cuStreamDestroy", 4000, false)                           \
    X(cuCtxDestroy, "cuCtxDestroy", 2000, false)                                    \
    X(cuCtxDestroy_v2, "cuCtxDestroy", 4000, false)                                 \
    X(cuGreenCtxDestroy, "cuGreenCtxDestroy", 12040, false)                         \
    X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease", 7000, false)          \
    X(cuDevicePrimaryCtxRelease_v2, "cuDevicePrimaryCtxRelease", 11000, false)      \
    X(cuDevicePrimaryCtxReset, "cuDevicePrimaryCtxReset", 7000, false)              \
    X(cuDevicePrimaryCtxReset_v2, "cuDevicePrimaryCtxReset", 11000, false)          \
    X(cuStreamBeginCapture, "cuStreamBeginCapture", 10000, false)                   \
    X(cuStreamBeginCapture_ptsz, "cuStreamBeginCapture", 10000, true)               \
    X(cuStreamBeginCapture_v2, "cuStreamBeginCapture", 10010, false)                \
    X(cuStreamBeginCapture_v2_ptsz, "cuStreamBeginCapture", 10010, true)            \
    X(cuStreamBeginCaptureToGraph, "cuStreamBeginCaptureToGraph", 12030, false)     \
    X(cuStreamBeginCaptureToGraph_ptsz, "cuStreamBeginCaptureToGraph", 12030, true) \
    X(cuStreamEndCapture, "cuStreamEndCapture", 10000, false)                       \
    X(cuStreamEndCapture_ptsz, "cuStreamEndCapture", 10000, true)                   \
    X(cuModuleUnload, "cuModuleUnload", 2000, false)                                \
    X(cuLibraryUnload, "cuLibraryUnload", 12000, false)                             \
    X(cuGetProcAddress, "cuGetProcAddress", 11030, false)                           \
    X(cuGetProcAddress_v2, "cuGetProcAddress", 12000, false)

enum {
#define NUMBER(name_, ...) H_##name_,
    HOOKS(NUMBER)
#undef NUMBER
    COUNT
};

/* Addresses. */
static struct {
    uint64_t xclient;        /* whom to tell; written by: connect */
    uint64_t xdlsym;         /* the C library's; written by: any thread, the same */
    uint64_t xonward[COUNT]; /* where each call goes on; written by: likewise */
} hook;

static const launchhook_client_t *told(void)
{
    const uint64_t client = gpurt_load_acquire_dev_u64(&hook.xclient); /* LH1.acq */

    return (const launchhook_client_t *)(uintptr_t)client;
}

static function_t function_at(uint64_t *word)
{
    return (function_t)(uintptr_t)gpurt_load_relaxed_dev_u64(
        word); /* relaxed: code alone */
}

static void function_put(uint64_t *word, const void *at)
{
    gpurt_store_relaxed_dev_u64(word, (uint64_t)(uintptr_t)at); /* relaxed: as above */
}

/* ---- dlsym --------------------------------------------------------------------------- */

typedef void *(*dlsym_t)(void *handle, const char *name);

static dlsym_t real_dlsym(void)
{
    /* The versions of the C library in which it is, by processor and age. */
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    dlsym_t found = (dlsym_t)function_at(&hook.xdlsym);
    void *at = NULL;

    if (found)
        return found;
    for (size_t i = 0; !at && i < sizeof versions / sizeof versions[0]; i++)
        at = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    function_put(&hook.xdlsym, at);
    return (dlsym_t)(uintptr_t)at;
}

/* By its name in the driver's library, wherever that was loaded from. */
static void *driver_find(const char *name)
{
    void *library = dlopen(DRIVER_LIB, RTLD_LAZY | RTLD_NOLOAD);
    void *found = library ? real_dlsym()(library, name) : NULL;

    if (library)
        dlclose(library); /* our reference; who calls has one */
    return found;
}

/* ---- the calls ----------------------------------------------------------------------- */

/* In the place of a call that this driver does not have. */
static CUresult nowhere(void)
{
    return CUDA_ERROR_NOT_FOUND;
}

/* The program linked the call, and so asked nobody. */
static function_t onward_find(int number, const char *name)
{
    void *at = driver_find(name);

    function_put(&hook.xonward[number], at);
    return at ? (function_t)(uintptr_t)at : (function_t)nowhere;
}

/* The call `name_` itself. */
#define ONWARD(name_)                                                          \
    ({                                                                         \
        function_t f_ = function_at(&hook.xonward[H_##name_]);                 \
        (__typeof__(&hook_##name_))(f_ ? f_ : onward_find(H_##name_, #name_)); \
    })
/* A function that the program finds by the name `name_`. */
#define HOOK(name_, params_)                              \
    EXPORT CUresult hook_##name_ params_ __asm__(#name_); \
    CUresult hook_##name_ params_

static uint32_t launch_tell(const launchcall_t *call, CUfunction function)
{
    const launchhook_client_t *c = told();

    return c && c->launches ? c->launches(call, function) : 0;
}

static CUresult launch_end(uint32_t launch, CUfunction function, CUresult result)
{
    if (launch)
        told()->launched(launch, function, result);
    return result;
}

#define KERNEL_PARAMS                                                               \
    (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, \
     unsigned bz, unsigned shared, CUstream stream, void **args, void **extra)
#define COOPERATIVE_PARAMS                                                          \
    (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, \
     unsigned bz, unsigned shared, CUstream stream, void **args)
#define KERNEL(name_, params_, own_, ...)                            \
    HOOK(name_, params_)                                             \
    {                                                                \
        const launchcall_t call = {.grid = {gx, gy, gz},             \
                                   .block = {bx, by, bz},            \
                                   .shared_bytes = shared,           \
                                   .stream = stream,                 \
                                   .per_thread = (own_)};            \
        const uint32_t launch = launch_tell(&call, f);               \
                                                                     \
        return launch_end(launch, f, ONWARD(name_)(f, __VA_ARGS__)); \
    }
#define SHAPE gx, gy, gz, bx, by, bz, shared, stream, args
KERNEL(cuLaunchKernel, KERNEL_PARAMS, false, SHAPE, extra)
KERNEL(cuLaunchKernel_ptsz, KERNEL_PARAMS, true, SHAPE, extra)
KERNEL(cuLaunchCooperativeKernel, COOPERATIVE_PARAMS, false, SHAPE)
KERNEL(cuLaunchCooperativeKernel_ptsz, COOPERATIVE_PARAMS, true, SHAPE)

static launchcall_t of_config(const CUlaunchConfig *c, bool per_thread)
{
    launchcall_t call = {.per_thread = per_thread};

    if (!c)
        return call; /* the driver refuses it */
    call = (launchcall_t){.grid = {c->gridDimX, c->gridDimY, c->gridDimZ},
                          .block = {c->blockDimX, c->blockDimY, c->blockDimZ},
                          .shared_bytes = c->sharedMemBytes,
                          .stream = c->hStream,
                          .per_thread = per_thread};
    return call;
}

#define KERNEL_EX(name_, own_)                                                           \
    HOOK(name_, (const CUlaunchConfig *config, CUfunction f, void **args, void **extra)) \
    {                                                                                    \
        const launchcall_t call = of_config(config, own_);                               \
        const uint32_t launch = launch_tell(&call, f);                                   \
                                                                                         \
        return launch_end(launch, f, ONWARD(name_)(config, f, args, extra));             \
    }
KERNEL_EX(cuLaunchKernelEx, false)
KERNEL_EX(cuLaunchKernelEx_ptsz, true)

#define GRAPH(name_, own_)                                             \
    HOOK(name_, (CUgraphExec graph, CUstream stream))                  \
    {                                                                  \
        const launchcall_t call = {                                    \
            .graph = graph, .stream = stream, .per_thread = (own_)};   \
        const uint32_t launch = launch_tell(&call, NULL);              \
                                                                       \
        return launch_end(launch, NULL, ONWARD(name_)(graph, stream)); \
    }
GRAPH(cuGraphLaunch, false)
GRAPH(cuGraphLaunch_ptsz, true)

static void wait_begin(launchhook_wait_t *wait)
{
    const launchhook_client_t *c = told();

    if (c)
        c->waits(wait);
}

static CUresult wait_end(CUresult result, const launchhook_wait_t *wait)
{
    const launchhook_client_t *c = told();

    if (c && result == CUDA_SUCCESS)
        c->waited(wait);
    return result;
}

#define WAIT(name_, params_, what_, stream_, context_, own_, ...) \
    HOOK(name_, params_)                                          \
    {                                                             \
        launchhook_wait_t wait = {.what = LAUNCHHOOK_##what_,     \
                                  .stream = (stream_),            \
                                  .context = (context_),          \
                                  .per_thread = (own_)};          \
                                                                  \
        wait_begin(&wait);                                        \
        return wait_end(ONWARD(name_)(__VA_ARGS__), &wait);       \
    }
WAIT(cuStreamSynchronize, (CUstream stream), STREAM, stream, NULL, false, stream)
WAIT(cuStreamSynchronize_ptsz, (CUstream stream), STREAM, stream, NULL, true, stream)
WAIT(cuEventSynchronize, (CUevent event), EVENT, NULL, NULL, false, event)
WAIT(cuCtxSynchronize, (void), CONTEXT, NULL, NULL, false)
WAIT(cuCtxSynchronize_v2, (CUcontext context), CONTEXT, NULL, context, false, context)

/* ---- what ends ----------------------------------------------------------------------- */

#define STREAM_END(name_)                      \
    HOOK(name_, (CUstream stream))             \
    {                                          \
        const launchhook_client_t *c = told(); \
                                               \
        if (c)                                 \
            c->stream_ends(stream);            \
        return ONWARD(name_)(stream);          \
    }
STREAM_END(cuStreamDestroy)
STREAM_END(cuStreamDestroy_v2)

#define CONTEXT_END(name_, type_, which_)      \
    HOOK(name_, (type_ context))               \
    {                                          \
        const launchhook_client_t *c = told(); \
                                               \
        if (c)                                 \
            c->context_ends(which_);           \
        return ONWARD(name_)(context);         \
    }
CONTEXT_END(cuCtxDestroy, CUcontext, context)
CONTEXT_END(cuCtxDestroy_v2, CUcontext, context)
CONTEXT_END(cuGreenCtxDestroy, CUgreenCtx, NULL)
CONTEXT_END(cuDevicePrimaryCtxRelease, CUdevice, NULL)
CONTEXT_END(cuDevicePrimaryCtxRelease_v2, CUdevice, NULL)
CONTEXT_END(cuDevicePrimaryCtxReset, CUdevice, NULL)
CONTEXT_END(cuDevicePrimaryCtxReset_v2, CUdevice, NULL)

#define CODE_END(name_, type_)                 \
    HOOK(name_, (type_ code))                  \
    {                                          \
        const launchhook_client_t *c = told(); \
                                               \
        if (c)                                 \
            c->code_goes();                    \
        return ONWARD(name_)(code);            \
    }
CODE_END(cuModuleUnload, CUmodule)
CODE_END(cuLibraryUnload, CUlibrary)

/* ---- captures ------------------------------------------------------------------------ */

static void captures_tell(int more)
{
    const launchhook_client_t *c = told();

    if (c)
        c->captures(more);
}

static CUresult capture_begun(CUresult result)
{
    if (result != CUDA_SUCCESS)
        captures_tell(-1);
    return result;
}

#define CAPTURE(name_, params_, ...)                              \
    HOOK(name_, params_)                                          \
    {                                                             \
        captures_tell(1);                                         \
        return capture_begun(ONWARD(name_)(stream, __VA_ARGS__)); \
    }
#define INTO_PARAMS                                            \
    (CUstream stream, CUgraph graph, const CUgraphNode *nodes, \
     const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode)
CAPTURE(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), mode)
CAPTURE(cuStreamBeginCapture_v2_ptsz, (CUstream stream, CUstreamCaptureMode mode), mode)
CAPTURE(cuStreamBeginCaptureToGraph, INTO_PARAMS, graph, nodes, edges, count, mode)
CAPTURE(cuStreamBeginCaptureToGraph_ptsz, INTO_PARAMS, graph, nodes, edges, count, mode)
/* Of CUDA 10.0, without a mode. */
HOOK(cuStreamBeginCapture, (CUstream stream))
{
    captures_tell(1);
    return capture_begun(ONWARD(cuStreamBeginCapture)(stream));
}
HOOK(cuStreamBeginCapture_ptsz, (CUstream stream))
{
    captures_tell(1);
    return capture_begun(ONWARD(cuStreamBeginCapture_ptsz)(stream));
}

/* One that was invalidated has ended, too; where none was open, none is one less. */
static CUresult capture_ended(CUresult result)
{
    if (result != CUDA_ERROR_ILLEGAL_STATE && result != CUDA_ERROR_INVALID_VALUE &&
        result != CUDA_ERROR_STREAM_CAPTURE_UNMATCHED &&
        result != CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
        captures_tell(-1);
    return result;
}
HOOK(cuStreamEndCapture, (CUstream stream, CUgraph *graph))
{
    return capture_ended(ONWARD(cuStreamEndCapture)(stream, graph));
}
HOOK(cuStreamEndCapture_ptsz, (CUstream stream, CUgraph *graph))
{
    return capture_ended(ONWARD(cuStreamEndCapture_ptsz)(stream, graph));
}

/* ---- how the program finds them ------------------------------------------------------ */

HOOK(cuGetProcAddress, (const char *name, void **to, int version, cuuint64_t flags));
HOOK(cuGetProcAddress_v2, (const char *name, void **to, int version, cuuint64_t flags,
                           CUdriverProcAddressQueryResult *status));

typedef struct hook_row {
    const char *symbol, *name;
    int version;
    bool own; /* for streams of a thread's own */
    function_t ours;
} hook_row_t;

static const hook_row_t rows[COUNT] = {
#define ROW(symbol_, name_, version_, own_) \
    [H_##symbol_] = {#symbol_, name_, version_, own_, (function_t)hook_##symbol_},
    HOOKS(ROW)
#undef ROW
};

/* Ours in the place of the driver's, which ours goes on with. */
static void *stand_before(int number, void *theirs)
{
    void *ours = (void *)(uintptr_t)rows[number].ours;

    if (theirs != ours) /* else it is found for the second time */
        function_put(&hook.xonward[number], theirs);
    return ours;
}

static void *by_symbol(const char *symbol, void *theirs)
{
    for (int i = 0; i < COUNT; i++)
        if (strcmp(rows[i].symbol, symbol) == 0)
            return stand_before(i, theirs);
    return theirs;
}

/* The newest that a program of that version of CUDA knows. Streams of a thread's own have calls of
 * their own, where they have any. */
static int number_of(const char *name, int version, bool own)
{
    int found = -1;

    for (int i = 0; i < COUNT; i++)
        if (strcmp(rows[i].name, name) == 0 && rows[i].version <= version &&
            (found < 0 || (rows[i].own && own) >= rows[found].own) && (own || !rows[i].own))
            found = i;
    return found;
}

/* What cuGetProcAddress answered. */
static CUresult answer(CUresult result, const char *name, void **to, int version,
                       cuuint64_t flags)
{
    int number;

    if (result != CUDA_SUCCESS || !name || !to || !*to)
        return result;
    number = number_of(name, version,
                       (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0);
    if (number >= 0)
        *to = stand_before(number, *to);
    return result;
}

HOOK(cuGetProcAddress, (const char *name, void **to, int version, cuuint64_t flags))
{
    return answer(ONWARD(cuGetProcAddress)(name, to, version, flags), name, to, version,
                  flags);
}
HOOK(cuGetProcAddress_v2, (const char *name, void **to, int version, cuuint64_t flags,
                           CUdriverProcAddressQueryResult *status))
{
    return answer(ONWARD(cuGetProcAddress_v2)(name, to, version, flags, status), name, to,
                  version, flags);
}

static void *dlsym_driver(void *handle, const char *name)
{
    void *theirs = real_dlsym()(handle, name);

    return theirs ? by_symbol(name, theirs) : NULL;
}

/* What RTLD_NEXT and RTLD_DEFAULT mean depends on who calls, which the C library sees by the address
 * to return to: so that must be a jump, and is one where this file is optimised (test_hook). By
 * RTLD_DEFAULT ours is found anyway, where the driver is in the scope of all. */
EXPORT void *hook_dlsym(void *handle, const char *name) __asm__("dlsym");
void *hook_dlsym(void *handle, const char *name)
{
    dlsym_t go = real_dlsym();

    if (name && name[0] == 'c' && name[1] == 'u' && handle != RTLD_NEXT &&
        handle != RTLD_DEFAULT)
        return dlsym_driver(handle, name);
    return go(handle, name);
}

/* ---- the collector ------------------------------------------------------------------- */

EXPORT launchhook_find_t gpurt_launchhook_connect(const launchhook_client_t *to)
{
    gpurt_store_release_dev_u64(&hook.xclient, (uint64_t)(uintptr_t)to); /* LH1.rel */
    return driver_find;
}
