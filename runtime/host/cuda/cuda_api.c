/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_api.h"

/* Names mean what they meant in CUDA 12.0, or when they came, up to 12.9. */
static const unsigned drivers_of_names[] = {12000, 12090};

static cudaError_t entry_point(const char *name, void **function)
{
    enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    cudaError_t e = cudaSuccess;

    for (size_t i = 0; i < 2 && found != cudaDriverEntryPointSuccess; i++)
        e = cudaGetDriverEntryPointByVersion(name, function, drivers_of_names[i],
                                             cudaEnableDefault, &found);
    if (found != cudaDriverEntryPointSuccess)
        *function = NULL;
    return e;
}

const gpurt_cuda_api_t gpurt_cuda_api_real = {
    .driver_get_version = cudaDriverGetVersion,
    .runtime_get_version = cudaRuntimeGetVersion,
    .get_device_count = cudaGetDeviceCount,
    .device_get_attribute = cudaDeviceGetAttribute,
    .get_device_properties = cudaGetDeviceProperties,
    .get_device = cudaGetDevice,
    .set_device = cudaSetDevice,
    .device_synchronize = cudaDeviceSynchronize,
    .device_get_limit = cudaDeviceGetLimit,
    .device_set_limit = cudaDeviceSetLimit,
    .device_can_access_peer = cudaDeviceCanAccessPeer,
    .device_enable_peer_access = cudaDeviceEnablePeerAccess,
    .get_last_error = cudaGetLastError,
    .get_error_name = cudaGetErrorName,
    .get_error_string = cudaGetErrorString,
    .malloc = cudaMalloc,
    .free = cudaFree,
    .host_alloc = cudaHostAlloc,
    .free_host = cudaFreeHost,
    .memcpy_async = cudaMemcpyAsync,
    .memset_async = cudaMemsetAsync,
    .memcpy_to_symbol_async = cudaMemcpyToSymbolAsync,
    .host_register = cudaHostRegister,
    .host_unregister = cudaHostUnregister,
    .host_get_device_pointer = cudaHostGetDevicePointer,
    .get_entry_point = entry_point,
    .launch_kernel = cudaLaunchKernel,
    .launch_kernel_ex = cudaLaunchKernelExC,
    .func_get_attributes = cudaFuncGetAttributes,
    .func_set_attribute = cudaFuncSetAttribute,
    .occupancy_blocks = cudaOccupancyMaxActiveBlocksPerMultiprocessor,
    .occupancy_clusters = cudaOccupancyMaxActiveClusters,
    .stream_create = cudaStreamCreateWithFlags,
    .stream_destroy = cudaStreamDestroy,
    .stream_synchronize = cudaStreamSynchronize,
    .stream_query = cudaStreamQuery,
    .stream_wait_event = cudaStreamWaitEvent,
    .event_create = cudaEventCreateWithFlags,
    .event_destroy = cudaEventDestroy,
    .event_record = cudaEventRecord,
    .event_synchronize = cudaEventSynchronize,
    .event_query = cudaEventQuery,
    .event_elapsed_time = cudaEventElapsedTime,
};

const gpurt_cuda_api_t *gpurt_cuda_api = &gpurt_cuda_api_real;
