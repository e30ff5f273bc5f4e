/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_device.h - the GPU that the CUDA back end has open, and the frame of each call on
 * it.
 *
 * A call enters (is the context alive, is this GPU the thread's current one), makes one
 * CUDA call and leaves with its result. Used by backend_cuda.c and cuda_launch.c only. */
#ifndef GPURT_HOST_CUDA_DEVICE_H
#define GPURT_HOST_CUDA_DEVICE_H

#include "backend.h"
#include "cuda_api.h"

#include <gpurt/atomic.h>

#include <pthread.h>

enum {
    GPURT_CUDA_RECENT = 8,  /* kernels a report names; a power of two */
    GPURT_CUDA_OPTED = 512, /* kernels remembered as opted in; a power of two */
    GPURT_CUDA_REPORT_BYTES = 4096
};

/* cuda_later.h: memory to be freed when no service is left. */
typedef struct gpurt_cuda_freed {
    void *memory;
    bool host; /* of cudaHostAlloc */
} gpurt_cuda_freed_t;

typedef struct gpurt_cuda_later {
    pthread_mutex_t lock;
    uint32_t serving; /* services of the device */
    gpurt_cuda_freed_t *freed;
    size_t count, room;
} gpurt_cuda_later_t;

/* Owner: backend_cuda.c, from open to close. Shared with: every thread; what changes starts
 * with x or lies under report_lock. */
typedef struct gpurt_cuda_device {
    int number;
    bool many; /* there are other GPUs, so a thread's current one may be another */
    int sm_count, capability; /* capability: 90 for 9.0 */
    int max_shared;           /* of a block that has opted in */
    char name[96];
    cudaStream_t stream; /* the default one */
    uint32_t xlost;      /* cudaError_t that killed the context, 0 while it is alive;
                                 written once by: the thread that meets the error first */
    uint64_t xlaunches;  /* written by: any thread */
    uint64_t xrecent[GPURT_CUDA_RECENT]; /* const gpurt_kernel_t *, newest at xlaunches - 1;
                                            written by: any thread */
    uint64_t xopted[GPURT_CUDA_OPTED]; /* set of stubs; written by: any thread, never taken
                                            out */
    /* cuLogsDumpToMemory; NULL: a driver before CUDA 12.9 */
    int (*logs_dump)(void **iterator, char *buffer, size_t *size, unsigned flags);
    struct {
        cudaEvent_t event;                               /* NULL: nothing can be marked */
        cudaStream_t stream;                             /* NULL: nothing can be ended */
        int (*record)(void *context, cudaEvent_t event); /* cuCtxRecordEvent */
        void *context;
    } hang;                     /* cuda_hang.c's; written by: open and prepare */
    struct gpurt_cuda_box *box; /* NULL: nothing is logged; written by: open and close */
    gpurt_cuda_later_t later;
    pthread_mutex_t report_lock;
    char report[GPURT_CUDA_REPORT_BYTES];
} gpurt_cuda_device_t;

/* The device that was current before a call, or -1 where nothing has to be put back. */
typedef int gpurt_cuda_visit_t;

/* Context: host, any thread, for all of these. */

/* Returns: GPURT_E_DEVICE_LOST, told in *err. */
gpurt_status_t gpurt_cuda_refuse_lost(const gpurt_cuda_device_t *d, gpurt_error_t *err);

/* What follows a failed call: the error is taken out of CUDA, a dead context is noted
 * with a report, and *err tells it. error is not cudaSuccess. */
gpurt_status_t gpurt_cuda_failed(gpurt_cuda_device_t *d, cudaError_t error,
                                 gpurt_error_t *err, const char *doing);

/* A new context: what a lane may use of its stack, it may use before a panic, too; and what is
 * asked for when the context is dead is looked up. Context: the GPU is current. */
void gpurt_cuda_context_prepare(gpurt_cuda_device_t *d);

/* Makes the GPU current. */
gpurt_status_t gpurt_cuda_visit(gpurt_cuda_device_t *d, gpurt_cuda_visit_t *visit,
                                gpurt_error_t *err);

static inline bool gpurt_cuda_is_lost(const gpurt_cuda_device_t *d)
{
    /* relaxed: nothing else is read on the strength of it */
    return GPURT_UNLIKELY(gpurt_load_relaxed_sys_u32(&d->xlost) != 0);
}

static inline gpurt_status_t gpurt_cuda_enter(gpurt_cuda_device_t *d,
                                              gpurt_cuda_visit_t *visit, gpurt_error_t *err)
{
    *visit = -1;
    if (gpurt_cuda_is_lost(d))
        return gpurt_cuda_refuse_lost(d, err);
    return d->many ? gpurt_cuda_visit(d, visit, err) : GPURT_OK;
}

/* Puts back what enter changed. result: of the CUDA call between the two. */
static inline gpurt_status_t gpurt_cuda_leave(gpurt_cuda_device_t *d,
                                              gpurt_cuda_visit_t visit, cudaError_t result,
                                              gpurt_error_t *err, const char *doing)
{
    gpurt_status_t st = GPURT_OK;

    if (GPURT_UNLIKELY(result != cudaSuccess))
        st = gpurt_cuda_failed(d, result, err, doing);
    if (GPURT_UNLIKELY(visit >= 0))
        (void)gpurt_cuda_api->set_device(visit);
    return st;
}

static inline cudaStream_t gpurt_cuda_stream(const gpurt_cuda_device_t *d, void *stream)
{
    return stream ? (cudaStream_t)stream : d->stream;
}

#endif
