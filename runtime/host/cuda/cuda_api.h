/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_api.h - the seam between the CUDA back end and the CUDA runtime.
 *
 * Every entry point of CUDA that the back end uses is called through this table, so that
 * a test can put a stand-in behind it and play a missing driver, a busy device or a lost
 * context on a machine without a GPU. Each member has the signature of the function it
 * is named after. Called by backend_cuda.c and its parts only. */
#ifndef GPURT_HOST_CUDA_API_H
#define GPURT_HOST_CUDA_API_H

#include <cuda_runtime_api.h>

/* Owner: static storage of whoever fills it. Shared with: every thread, read-only. */
typedef struct gpurt_cuda_api {
    /* the machine; the first four create no context */
    cudaError_t (*driver_get_version)(int *version);
    cudaError_t (*runtime_get_version)(int *version);
    cudaError_t (*get_device_count)(int *count);
    cudaError_t (*device_get_attribute)(int *value, enum cudaDeviceAttr attribute,
                                        int device);
    cudaError_t (*get_device_properties)(struct cudaDeviceProp *properties, int device);
    cudaError_t (*get_device)(int *device);
    cudaError_t (*set_device)(int device);
    cudaError_t (*device_synchronize)(void);
    cudaError_t (*device_get_limit)(size_t *value, enum cudaLimit limit);
    cudaError_t (*device_set_limit)(enum cudaLimit limit, size_t value);
    cudaError_t (*device_can_access_peer)(int *can, int device, int peer);
    cudaError_t (*device_enable_peer_access)(int peer, unsigned flags);
    /* errors */
    cudaError_t (*get_last_error)(void);
    const char *(*get_error_name)(cudaError_t error);
    const char *(*get_error_string)(cudaError_t error);
    /* memory */
    cudaError_t (*malloc)(void **memory, size_t bytes);
    cudaError_t (*free)(void *memory);
    cudaError_t (*host_alloc)(void **memory, size_t bytes, unsigned flags);
    cudaError_t (*free_host)(void *memory);
    cudaError_t (*memcpy_async)(void *to, const void *from, size_t bytes,
                                enum cudaMemcpyKind kind, cudaStream_t stream);
    cudaError_t (*memset_async)(void *memory, int byte, size_t bytes, cudaStream_t stream);
    cudaError_t (*memcpy_to_symbol_async)(const void *symbol, const void *from,
                                          size_t bytes, size_t offset,
                                          enum cudaMemcpyKind kind, cudaStream_t stream);
    cudaError_t (*host_register)(void *memory, size_t bytes, unsigned flags);
    cudaError_t (*host_unregister)(void *memory);
    cudaError_t (*host_get_device_pointer)(void **device, void *memory, unsigned flags);
    /* A function of the driver by its name; NULL where the driver has none. The one member
     * that is named after no function of CUDA. */
    cudaError_t (*get_entry_point)(const char *name, void **function);
    /* kernels */
    cudaError_t (*launch_kernel)(const void *function, dim3 grid, dim3 block, void **args,
                                 size_t shared_bytes, cudaStream_t stream);
    cudaError_t (*launch_kernel_ex)(const cudaLaunchConfig_t *config, const void *function,
                                    void **args);
    cudaError_t (*func_get_attributes)(struct cudaFuncAttributes *out,
                                       const void *function);
    cudaError_t (*func_set_attribute)(const void *function,
                                      enum cudaFuncAttribute attribute, int value);
    cudaError_t (*occupancy_blocks)(int *blocks, const void *function, int threads,
                                    size_t shared_bytes);
    cudaError_t (*occupancy_clusters)(int *clusters, const void *function,
                                      const cudaLaunchConfig_t *config);
    /* streams and events */
    cudaError_t (*stream_create)(cudaStream_t *stream, unsigned flags);
    cudaError_t (*stream_destroy)(cudaStream_t stream);
    cudaError_t (*stream_synchronize)(cudaStream_t stream);
    cudaError_t (*stream_query)(cudaStream_t stream);
    cudaError_t (*stream_wait_event)(cudaStream_t stream, cudaEvent_t event,
                                     unsigned flags);
    cudaError_t (*event_create)(cudaEvent_t *event, unsigned flags);
    cudaError_t (*event_destroy)(cudaEvent_t event);
    cudaError_t (*event_record)(cudaEvent_t event, cudaStream_t stream);
    cudaError_t (*event_synchronize)(cudaEvent_t event);
    cudaError_t (*event_query)(cudaEvent_t event);
    cudaError_t (*event_elapsed_time)(float *ms, cudaEvent_t from, cudaEvent_t to);
} gpurt_cuda_api_t;

/* The real functions. */
extern const gpurt_cuda_api_t gpurt_cuda_api_real;

/* The table in use, the real one from start. Written by: a test, while no runtime is
 * open. */
extern const gpurt_cuda_api_t *gpurt_cuda_api;

#endif
