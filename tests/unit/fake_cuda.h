/* SPDX-License-Identifier: Apache-2.0 */
/* fake_cuda.h - a stand-in for the CUDA runtime, behind the seam of cuda_api.h.
 *
 * A test says what the machine is like and which calls fail, runs the CUDA back end on
 * it, and looks at what it asked. One thread only. */
#ifndef GPURT_TESTS_FAKE_CUDA_H
#define GPURT_TESTS_FAKE_CUDA_H

#include "cuda_api.h"

/* What the GPU and the kernel of the stand-in have. */
enum {
    FAKE_SMS = 132,
    FAKE_OPTIN = 232448,
    FAKE_STATIC_SHARED = 4096,
    FAKE_KERNEL_THREADS = 512,
    FAKE_BLOCKS = 16
};

typedef struct fake_cuda {
    int driver, toolkit, count, mode, major;
    int current; /* device of the thread */
    /* errors to answer with, until they are set back */
    cudaError_t on_count, on_set_device, on_stream, on_malloc, on_launch, on_sync, on_query;
    cudaError_t on_peer; /* of cudaDeviceEnablePeerAccess */
    int peers;           /* whether GPUs reach each other */
    cudaError_t on_register, on_pointer, on_symbol, on_limit;
    void (*played)(void *args);             /* what a launched kernel does, or NULL */
    void (*awaited)(void);                  /* waits until it has done it, or NULL */
    void *(*entry_point)(const char *name); /* functions of the driver, or NULL */
    cudaError_t dead;    /* what every call answers once the context died */
    cudaError_t pending; /* what cudaGetLastError would tell */
    float elapsed_ms;
    size_t stack; /* cudaLimitStackSize */
    /* what was asked */
    int launches, ex_launches, opt_ins, streams, events, contexts;
    int opt_in_bytes;
    int launched_on, filled_on; /* the device that was current */
    int reached[2];             /* by devices 0 and 1: a bit for each device */
    const void *stub;
    void *args;
    cudaStream_t stream;
    dim3 grid, block;
    unsigned clusters, cooperative;
    unsigned stream_flags, host_flags, register_flags, event_flags;
    void *blocks[FAKE_BLOCKS], *registered; /* alive */
    size_t registered_bytes;
} fake_cuda_t;

extern fake_cuda_t fake;
extern const fake_cuda_t fake_healthy;
extern const gpurt_cuda_api_t fake_api;

#endif
