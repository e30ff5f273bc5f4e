/* SPDX-License-Identifier: Apache-2.0 */
/* A plain launch goes straight to cudaLaunchKernel: what it would refuse is found out
 * only after it refused, so that a launch that passes pays for a few compares and two
 * counters. */
#include "cuda_launch.h"

#include "cuda_box.h"
#include "cuda_device.h"
#include "cuda_error.h"
#include "plural.h"

#include <stdio.h>

#define REFUSE(err, status, code, ...) \
    gpurt_fail(err, status, GPURT_FROM_CUDA, code, __VA_ARGS__)

static const void *stub_of(const gpurt_kernel_t *kernel)
{
    return *kernel->cuda;
}

static int threads_of(const gpurt_launch_t *l)
{
    return (int)(l->block.x * l->block.y * l->block.z);
}

static uint64_t blocks_of(gpurt_dim3_t d)
{
    return (uint64_t)d.x * d.y * d.z;
}

static dim3 dim3_of(gpurt_dim3_t d)
{
    return (dim3){d.x, d.y, d.z};
}

/* ---- the opt-in to more than 48 KiB of shared memory --------------------------------- */

/* Where the stub is in the set, or could be put; GPURT_CUDA_OPTED when the set is full.
 * Lock-free: entries are only ever added. */
static uint32_t opted_slot(const gpurt_cuda_device_t *d, uint64_t stub, bool *found)
{
    uint32_t first = (uint32_t)((stub * 0x9e3779b97f4a7c15u) >> 32);

    for (uint32_t i = 0; i < GPURT_CUDA_OPTED; i++) {
        uint32_t slot = (first + i) & (GPURT_CUDA_OPTED - 1);
        uint64_t there = gpurt_load_acquire_sys_u64(&d->xopted[slot]); /* COPT1.acq */

        *found = there == stub;
        if (*found || there == 0)
            return slot;
    }
    *found = false;
    return GPURT_CUDA_OPTED;
}

/* Losing a slot to another kernel, or a full set, only means that this one asks CUDA
 * again. */
static void opted_add(gpurt_cuda_device_t *d, uint32_t slot, uint64_t stub)
{
    uint64_t empty = 0;

    if (slot < GPURT_CUDA_OPTED)
        (void)gpurt_cas_release_sys_u64(&d->xopted[slot], &empty, stub); /* COPT1.rel */
}

/* Raises the limit of the kernel to all that the device has, once. */
static cudaError_t shared_opt_in(gpurt_cuda_device_t *d, const void *stub)
{
    const gpurt_cuda_api_t *api = gpurt_cuda_api;
    struct cudaFuncAttributes attributes;
    bool found;
    uint32_t slot = opted_slot(d, (uintptr_t)stub, &found);
    cudaError_t e;

    if (found)
        return cudaSuccess;
    e = api->func_get_attributes(&attributes, stub);
    if (e == cudaSuccess)
        e = api->func_set_attribute(stub, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    d->max_shared - (int)attributes.sharedSizeBytes);
    if (e == cudaSuccess)
        opted_add(d, slot, (uintptr_t)stub);
    return e;
}

/* ---- a launch that CUDA refused ------------------------------------------------------ */

static uint32_t resident_blocks(const gpurt_cuda_device_t *d, const gpurt_launch_t *l,
                                const void *stub)
{
    int per_sm = 0;

    if (gpurt_cuda_api->occupancy_blocks(&per_sm, stub, threads_of(l), l->shared_bytes) !=
        cudaSuccess)
        (void)gpurt_cuda_api->get_last_error();
    return (uint32_t)(per_sm * d->sm_count);
}

/* Which limit of the kernel itself the launch broke. Returns: GPURT_OK when none that
 * shows. */
static gpurt_status_t limits_explain(const gpurt_cuda_device_t *d, const gpurt_launch_t *l,
                                     const gpurt_kernel_t *kernel, cudaError_t e,
                                     gpurt_error_t *err)
{
    struct cudaFuncAttributes a;

    if (gpurt_cuda_api->func_get_attributes(&a, stub_of(kernel)) != cudaSuccess) {
        (void)gpurt_cuda_api->get_last_error();
        return GPURT_OK;
    }
    if (threads_of(l) > a.maxThreadsPerBlock)
        return REFUSE(
            err, GPURT_E_BLOCK, e,
            "kernel %s with %d threads a block: its %d registers a thread allow %d on "
            "%s; use smaller blocks, or compile it with __launch_bounds__",
            kernel->name, threads_of(l), a.numRegs, a.maxThreadsPerBlock, d->name);
    if (a.sharedSizeBytes + l->shared_bytes > (size_t)d->max_shared)
        return REFUSE(
            err, GPURT_E_SHARED, e,
            "kernel %s has %zu bytes of shared arrays, the launch adds %u: %s allows "
            "%d a block",
            kernel->name, a.sharedSizeBytes, l->shared_bytes, d->name, d->max_shared);
    return GPURT_OK;
}

static GPURT_NOINLINE gpurt_status_t launch_failed(gpurt_cuda_device_t *d,
                                                   const gpurt_launch_t *l,
                                                   const gpurt_kernel_t *kernel,
                                                   cudaError_t e, gpurt_error_t *err)
{
    gpurt_status_t st = gpurt_cuda_error_find(e)->status;
    char doing[128];

    (void)gpurt_cuda_api->get_last_error();
    if (st == GPURT_E_KERNEL)
        return REFUSE(err, st, e,
                      "kernel %s has no code for %s (sm_%d): rebuild its file with nvcc "
                      "-arch=sm_%d, or with GPURT_CUDA_ARCHS=%d (%s)",
                      kernel->name, d->name, d->capability, d->capability, d->capability,
                      gpurt_cuda_api->get_error_name(e));
    if (st == GPURT_E_COOPERATIVE)
        return REFUSE(
            err, st, e,
            "cooperative launch of kernel %s with %llu block%s, %u fit on %s at once: "
            "launch fewer (gpurt_occupancy tells how many)",
            kernel->name, (unsigned long long)blocks_of(l->grid),
            gpurt_plural(blocks_of(l->grid), "s"), resident_blocks(d, l, stub_of(kernel)),
            d->name);
    if (st == GPURT_E_INVALID) {
        gpurt_status_t why = limits_explain(d, l, kernel, e, err);

        if (why != GPURT_OK)
            return why;
    }
    snprintf(doing, sizeof doing, "launch kernel %.64s", kernel->name);
    return gpurt_cuda_failed(d, e, err, doing);
}

/* ---- launches ------------------------------------------------------------------------ */

/* For reports, and for gpurt_counters. Relaxed: a count, and addresses of constants. */
static inline void launch_note(gpurt_cuda_device_t *d, const gpurt_kernel_t *kernel)
{
    uint64_t slot = gpurt_add_relaxed_sys_u64(&d->xlaunches, 1) & (GPURT_CUDA_RECENT - 1);

    gpurt_store_relaxed_sys_u64(&d->xrecent[slot], (uintptr_t)kernel);
}

/* The attributes of a launch that is more than grid and block. Returns: how many were
 * set. */
static unsigned attributes_fill(const gpurt_launch_t *l, cudaLaunchAttribute *out)
{
    unsigned count = 0;

    if (blocks_of(l->cluster) > 1) {
        out[count].id = cudaLaunchAttributeClusterDimension;
        out[count].val.clusterDim.x = l->cluster.x;
        out[count].val.clusterDim.y = l->cluster.y;
        out[count].val.clusterDim.z = l->cluster.z;
        count++;
    }
    if (l->cooperative) {
        out[count].id = cudaLaunchAttributeCooperative;
        out[count].val.cooperative = 1;
        count++;
    }
    return count;
}

static cudaLaunchConfig_t config_of(const gpurt_launch_t *l, cudaStream_t stream,
                                    cudaLaunchAttribute *attributes)
{
    return (cudaLaunchConfig_t){
        .gridDim = dim3_of(l->grid),
        .blockDim = dim3_of(l->block),
        .dynamicSmemBytes = l->shared_bytes,
        .stream = stream,
        .attrs = attributes,
        .numAttrs = attributes_fill(l, attributes),
    };
}

static cudaError_t launch_call(const gpurt_launch_t *l, const void *stub, void **params,
                               cudaStream_t stream)
{
    cudaLaunchAttribute attributes[2] = {0};
    cudaLaunchConfig_t config;

    if (GPURT_LIKELY(!l->cooperative && (l->cluster.x | l->cluster.y | l->cluster.z) <= 1))
        return gpurt_cuda_api->launch_kernel(stub, dim3_of(l->grid), dim3_of(l->block),
                                             params, l->shared_bytes, stream);
    config = config_of(l, stream, attributes);
    return gpurt_cuda_api->launch_kernel_ex(&config, stub, params);
}

gpurt_status_t gpurt_cuda_launch(void *self, void *stream, const gpurt_launch_t *launch,
                                 const gpurt_kernel_t *kernel, const void *args,
                                 size_t args_bytes, gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    const void *stub = stub_of(kernel);
    void *params[1] = {
        (void *)(uintptr_t)args}; /* CUDA copies from it, and writes nothing */
    cudaError_t e = cudaSuccess;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);

    (void)args_bytes; /* checked, and known to the stub */
    if (GPURT_UNLIKELY(st != GPURT_OK))
        return st;
    if (d->box)
        gpurt_cuda_box_greet(d);
    if (launch->shared_bytes > 0)
        e = shared_opt_in(d, stub);
    if (GPURT_LIKELY(e == cudaSuccess))
        e = launch_call(launch, stub, params, gpurt_cuda_stream(d, stream));
    if (GPURT_LIKELY(e == cudaSuccess))
        launch_note(d, kernel);
    else
        st = launch_failed(d, launch, kernel, e, err);
    (void)gpurt_cuda_leave(d, visit, cudaSuccess, NULL, "");
    return st;
}

gpurt_status_t gpurt_cuda_occupancy(void *self, const gpurt_launch_t *launch,
                                    const gpurt_kernel_t *kernel, uint32_t *blocks,
                                    gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    const void *stub = stub_of(kernel);
    cudaLaunchAttribute attributes[2] = {0};
    cudaLaunchConfig_t config;
    gpurt_launch_t one = *launch;
    uint64_t cluster = blocks_of(launch->cluster);
    gpurt_cuda_visit_t visit;
    int fit = 0;
    cudaError_t e = cudaSuccess;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);

    if (st != GPURT_OK)
        return st;
    one.grid = one.cluster; /* any grid that clusters divide gives the same answer */
    one.cooperative = false;
    config = config_of(&one, d->stream, attributes);
    if (launch->shared_bytes > 0)
        e = shared_opt_in(d, stub);
    if (e == cudaSuccess && cluster > 1)
        e = gpurt_cuda_api->occupancy_clusters(&fit, stub, &config);
    else if (e == cudaSuccess)
        e = gpurt_cuda_api->occupancy_blocks(&fit, stub, threads_of(launch),
                                             launch->shared_bytes);
    if (e == cudaSuccess)
        *blocks = (uint32_t)fit * (uint32_t)(cluster > 1 ? cluster : (uint64_t)d->sm_count);
    else
        st = launch_failed(d, launch, kernel, e, err);
    (void)gpurt_cuda_leave(d, visit, cudaSuccess, NULL, "");
    return st;
}
