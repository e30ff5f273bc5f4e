/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_range.h"

#include "cuda_later.h"
#include "refuse.h"

#include <cuda.h>

#include <stdlib.h>
#include <string.h>

enum {
    RANGE_ALIGN = 4 << 20,
    PIECES = 1024 /* times that a range can be backed */
};

/* What of the driver is used. Owner: a range. */
typedef struct vmm {
    CUresult (*granularity)(size_t *, const CUmemAllocationProp *,
                            CUmemAllocationGranularity_flags);
    CUresult (*reserve)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
    CUresult (*create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *,
                       unsigned long long);
    CUresult (*map)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle,
                    unsigned long long);
    CUresult (*access)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t);
    CUresult (*unmap)(CUdeviceptr, size_t);
    CUresult (*release)(CUmemGenericAllocationHandle);
    CUresult (*free)(CUdeviceptr, size_t);
} vmm_t;

typedef struct own {
    vmm_t vmm;
    CUmemAllocationProp prop;
    cudaStream_t stream; /* waits for no kernel */
    uint32_t pieces;
    size_t lengths[PIECES];
    CUmemGenericAllocationHandle handles[PIECES];
} own_t;

static gpurt_status_t driver_failed(CUresult result, gpurt_error_t *err, const char *doing)
{
    gpurt_status_t st = GPURT_E_CUDA;

    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        st = GPURT_E_NOMEM;
    else if (result == CUDA_ERROR_NOT_SUPPORTED)
        st = GPURT_E_UNSUPPORTED;
    return gpurt_fail(err, st, GPURT_FROM_CUDA, result, "%s: driver error %d", doing,
                      (int)result);
}

/* The driver is not linked: each function is asked for by its name. */
static bool vmm_load(vmm_t *v)
{
    const struct {
        const char *name;
        void *to;
    } wanted[] = {
        {"cuMemGetAllocationGranularity", &v->granularity},
        {"cuMemAddressReserve", &v->reserve},
        {"cuMemCreate", &v->create},
        {"cuMemMap", &v->map},
        {"cuMemSetAccess", &v->access},
        {"cuMemUnmap", &v->unmap},
        {"cuMemRelease", &v->release},
        {"cuMemAddressFree", &v->free},
    };

    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        void *found = NULL;

        if (gpurt_cuda_api->get_entry_point(wanted[i].name, &found) != cudaSuccess ||
            !found) {
            (void)gpurt_cuda_api->get_last_error();
            return false;
        }
        memcpy(wanted[i].to, &found, sizeof found);
    }
    return true;
}

static void own_free(own_t *o)
{
    if (o && o->stream)
        (void)gpurt_cuda_api->stream_destroy(o->stream);
    free(o);
}

static gpurt_status_t range_reserve(const gpurt_cuda_device_t *d, own_t *o, size_t bytes,
                                    gpurt_range_t *out, gpurt_error_t *err)
{
    size_t step = 0;
    CUdeviceptr at = 0;
    CUresult result;

    o->prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    o->prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    o->prop.location.id = d->number;
    result = o->vmm.granularity(&step, &o->prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != CUDA_SUCCESS)
        return driver_failed(result, err, "ask how GPU memory is mapped");
    if (!step || RANGE_ALIGN % step)
        return REFUSE(
            err, GPURT_E_UNSUPPORTED,
            "GPU memory is mapped in steps of %zu bytes: 4 MiB must be a multiple", step);
    result = o->vmm.reserve(&at, bytes, RANGE_ALIGN, 0, 0);
    if (result != CUDA_SUCCESS)
        return driver_failed(result, err, "reserve addresses of the GPU");
    out->base = (void *)(uintptr_t)at;
    out->bytes = bytes;
    out->backed = 0;
    return GPURT_OK;
}

gpurt_status_t gpurt_cuda_range_create(void *self, size_t bytes, gpurt_range_t *out,
                                       gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    own_t *o = (own_t *)calloc(1, sizeof *o);
    gpurt_cuda_visit_t visit;
    gpurt_status_t st;

    if (!o)
        return REFUSE(err, GPURT_E_NOMEM, "out of memory");
    st = gpurt_cuda_enter(d, &visit, err);
    if (st == GPURT_OK) {
        st = gpurt_cuda_leave(
            d, visit, gpurt_cuda_api->stream_create(&o->stream, cudaStreamNonBlocking), err,
            "create a stream");
        if (st != GPURT_OK)
            o->stream = NULL;
        else if (!vmm_load(&o->vmm))
            st = REFUSE(err, GPURT_E_UNSUPPORTED,
                        "the driver cannot reserve addresses: leave reserve_bytes 0");
        else
            st = range_reserve(d, o, bytes, out, err);
    }
    if (st != GPURT_OK) {
        own_free(o);
        return st;
    }
    out->own = o;
    return GPURT_OK;
}

/* A piece of memory behind [range->backed, bytes). */
static CUresult piece_add(const gpurt_cuda_device_t *d, own_t *o,
                          const gpurt_range_t *range, size_t bytes)
{
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)range->base + range->backed;
    CUmemAccessDesc access = {.location = o->prop.location,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    size_t length = bytes - range->backed;
    CUresult result = o->vmm.create(&handle, length, &o->prop, 0);

    (void)d;
    if (result != CUDA_SUCCESS)
        return result;
    result = o->vmm.map(at, length, 0, handle, 0);
    if (result == CUDA_SUCCESS) {
        result = o->vmm.access(at, length, &access, 1);
        if (result != CUDA_SUCCESS)
            o->vmm.unmap(at, length);
    }
    if (result != CUDA_SUCCESS) {
        o->vmm.release(handle);
        return result;
    }
    o->handles[o->pieces] = handle;
    o->lengths[o->pieces++] = length;
    return CUDA_SUCCESS;
}

gpurt_status_t gpurt_cuda_range_back(void *self, gpurt_range_t *range, size_t bytes,
                                     gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    own_t *o = (own_t *)range->own;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st;
    CUresult result;

    if (bytes <= range->backed)
        return GPURT_OK;
    if (o->pieces == PIECES)
        return REFUSE(err, GPURT_E_NOMEM, "a range was backed %d times: no more pieces",
                      PIECES);
    st = gpurt_cuda_enter(d, &visit, err);
    if (st != GPURT_OK)
        return st;
    result = piece_add(d, o, range, bytes);
    st = gpurt_cuda_leave(d, visit, cudaSuccess, NULL, "");
    if (result != CUDA_SUCCESS)
        return driver_failed(result, err, "put GPU memory behind reserved addresses");
    range->backed = bytes;
    return st;
}

gpurt_status_t gpurt_cuda_range_tell(void *self, gpurt_range_t *range, uint64_t *to,
                                     const uint64_t *from, uint32_t count,
                                     gpurt_error_t *err)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    own_t *o = (own_t *)range->own;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, err);
    cudaError_t e;

    if (st != GPURT_OK)
        return st;
    /* The release of AV1: a copy engine's work, done before the next one begins. */
    e = gpurt_cuda_api->memcpy_async(to, from, count * sizeof *to, cudaMemcpyDefault,
                                     o->stream);
    if (e == cudaSuccess)
        e = gpurt_cuda_api->stream_synchronize(o->stream);
    return gpurt_cuda_leave(d, visit, e, err, "tell kernels of memory");
}

gpurt_status_t gpurt_cuda_range_destroy(void *self, gpurt_range_t *range)
{
    gpurt_cuda_device_t *d = (gpurt_cuda_device_t *)self;
    own_t *o = (own_t *)range->own;
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)range->base;
    CUresult result = CUDA_SUCCESS;
    gpurt_cuda_visit_t visit;
    gpurt_status_t st = gpurt_cuda_enter(d, &visit, NULL);

    if (st == GPURT_OK) { /* a dead context has taken all of it with it */
        /* Whoever destroys it says that no kernel uses it; where nothing is waited for that never
         * ends, that is made sure. */
        cudaError_t e =
            gpurt_cuda_later_serves(d) ? cudaSuccess : gpurt_cuda_api->device_synchronize();

        st = gpurt_cuda_leave(d, visit, e, NULL, "wait before memory is taken away");
        for (uint32_t i = 0; i < o->pieces; i++) {
            CUresult one = o->vmm.unmap(at, o->lengths[i]);

            result = one == CUDA_SUCCESS ? result : one;
            o->vmm.release(o->handles[i]);
            at += o->lengths[i];
        }
        o->vmm.free((CUdeviceptr)(uintptr_t)range->base, range->bytes);
    }
    own_free(o);
    range->base = NULL;
    if (st == GPURT_OK && result != CUDA_SUCCESS)
        st = driver_failed(result, NULL, "unmap GPU memory");
    return st;
}
