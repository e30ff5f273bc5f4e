/* SPDX-License-Identifier: Apache-2.0 */
/* launchhook.h - tells the collector of each launch, without CUPTI: a callback of CUPTI's costs a
 * launch 1.7 us, this some tens of nanoseconds.
 *
 * libgpurt-launch.so is preloaded into a program (LD_PRELOAD). It stands before the driver's launches
 * and a few more calls, whichever way the program gets them: linked, by dlsym, or by
 * cuGetProcAddress, as the CUDA runtime does. Without a collector it does nothing but go on. It links
 * to the C library alone, starts no thread and allocates nothing.
 *
 * The collector finds launchhook_connect by its name, because it may be there without the library. */
#ifndef GPURT_CUPTI_LAUNCHHOOK_H
#define GPURT_CUPTI_LAUNCHHOOK_H

#include <cuda.h>
#include <gpurt/base.h>

#define LAUNCHHOOK_LIB     "libgpurt-launch.so"
#define LAUNCHHOOK_CONNECT "gpurt_launchhook_connect"

/* Each launch runs through such a function: the linker puts them into one page instead of many. */
#define LAUNCHHOOK_PATH __attribute__((hot))

typedef struct launchcall {
    uint32_t grid[3], block[3], shared_bytes;
    CUstream stream;
    CUgraphExec graph; /* NULL: a kernel */
    bool per_thread;   /* stream 0 is the thread's own */
} launchcall_t;

/* What the host waits for. */
typedef enum launchhook_what {
    LAUNCHHOOK_STREAM,
    LAUNCHHOOK_CONTEXT,
    LAUNCHHOOK_EVENT
} launchhook_what_t;

/* Owner: the thread that waits. */
typedef struct launchhook_wait {
    launchhook_what_t what;
    CUstream stream;
    CUcontext context; /* NULL: the current one */
    bool per_thread;
    uint32_t before; /* the client's, as is the next */
    uint64_t since_ns;
} launchhook_wait_t;

/* What is told. Context of all: the program's thread, inside of its call; none may call what is
 * hooked. */
typedef struct launchhook_client {
    /* Both or none. Before a launch; function NULL: of a graph. Returns: what `launched` is to get as the driver
     * has answered, 0: nothing. */
    uint32_t (*launches)(const launchcall_t *call, CUfunction function);
    void (*launched)(uint32_t launch, CUfunction function, CUresult result);
    /* Before the host waits, and when it has waited. */
    void (*waits)(launchhook_wait_t *wait);
    void (*waited)(const launchhook_wait_t *wait);
    /* Before one ends. context NULL: some contexts. */
    void (*stream_ends)(CUstream stream);
    void (*context_ends)(CUcontext context);
    /* Captures of streams that are open: one more, before it begins (1), one less (-1). */
    void (*captures)(int more);
    /* Functions go, and their addresses may be others' next. Before they do. */
    void (*code_goes)(void);
} launchhook_client_t;

/* A function of the driver as it is, by its name in the library. NULL: there is none. */
typedef void *(*launchhook_find_t)(const char *name);

/* One client, for ever. Returns: how it finds functions. */
launchhook_find_t gpurt_launchhook_connect(const launchhook_client_t *client);

#endif
