/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_probe.h"

#include "backend.h"
#include "cuda_api.h"
#include "cuda_error.h"
#include "process.h"

#include <stdlib.h>

enum {
    OLDEST_CAPABILITY = 75
};

#define REFUSE(err, status, ...) gpurt_fail(err, status, GPURT_FROM_GPURT, 0, __VA_ARGS__)

/* Loads every kernel of the process when its context is made, so that no first launch
 * stalls in the middle of a run, and none waits for a kernel that never ends. CUDA reads
 * it only once. */
static void modules_load_eagerly(void)
{
    (void)setenv("CUDA_MODULE_LOADING", "EAGER", 0);
}

static gpurt_status_t driver_check(gpurt_error_t *err)
{
    int driver = 0, toolkit = 0;
    cudaError_t e = gpurt_cuda_api->driver_get_version(&driver);

    if (e == cudaSuccess)
        e = gpurt_cuda_api->runtime_get_version(&toolkit);
    if (e != cudaSuccess)
        return gpurt_cuda_fail(err, e, "ask for the driver");
    if (driver == 0)
        return gpurt_fail(
            err, GPURT_E_DRIVER, GPURT_FROM_CUDA, cudaErrorInsufficientDriver,
            "no NVIDIA driver (libcuda.so.1 does not load): install %s or newer, for CUDA "
            "%d, or set GPURT_BACKEND=cpu",
            toolkit / 1000 == 12 ? "570" : "580", toolkit / 1000);
    /* Within one major version an older driver still serves. */
    if (driver / 1000 < toolkit / 1000)
        return gpurt_fail(
            err, GPURT_E_DRIVER, GPURT_FROM_CUDA, cudaErrorInsufficientDriver,
            "the driver serves CUDA %d.%d, this program was built with %d.%d: "
            "update the driver, or build with an older toolkit",
            driver / 1000, driver % 1000 / 10, toolkit / 1000, toolkit % 1000 / 10);
    return GPURT_OK;
}

static gpurt_status_t count_check(int device, int *count, gpurt_error_t *err)
{
    cudaError_t e = gpurt_cuda_api->get_device_count(count);

    if (e == cudaErrorInitializationError && gpurt_process_is_forked()) {
        (void)gpurt_cuda_api->get_last_error();
        return gpurt_fail(err, GPURT_E_FORKED, GPURT_FROM_CUDA, e, GPURT_FORKED_CUDA);
    }
    if (e != cudaSuccess)
        return gpurt_cuda_fail(err, e, "count the GPUs");
    if (*count <= 0)
        return gpurt_cuda_fail(err, cudaErrorNoDevice, "count the GPUs");
    if (device < 0 || device >= *count)
        return REFUSE(
            err, GPURT_E_NO_DEVICE,
            "there is no GPU %d: CUDA shows %d, numbered from 0 (CUDA_VISIBLE_DEVICES "
            "can hide some)",
            device, *count);
    return GPURT_OK;
}

static gpurt_status_t device_check(int device, gpurt_error_t *err)
{
    const gpurt_cuda_api_t *api = gpurt_cuda_api;
    int mode = 0, major = 0, minor = 0;
    cudaError_t e = api->device_get_attribute(&mode, cudaDevAttrComputeMode, device);

    if (e == cudaSuccess)
        e = api->device_get_attribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    if (e == cudaSuccess)
        e = api->device_get_attribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    if (e != cudaSuccess)
        return gpurt_cuda_fail(err, e, "ask for the GPU's attributes");
    if (mode == cudaComputeModeProhibited)
        return REFUSE(
            err, GPURT_E_PROHIBITED,
            "GPU %d is in compute mode Prohibited: its administrator can change that "
            "(nvidia-smi -c DEFAULT); take another, or set GPURT_BACKEND=cpu",
            device);
    if (major * 10 + minor < OLDEST_CAPABILITY)
        return REFUSE(
            err, GPURT_E_UNSUPPORTED,
            "GPU %d has compute capability %d.%d, gpurt needs 7.5 (Turing) or later: "
            "take another, or set GPURT_BACKEND=cpu",
            device, major, minor);
    return GPURT_OK;
}

gpurt_status_t gpurt_cuda_probe(const gpurt_options_t *options, int *count,
                                gpurt_error_t *err)
{
    int device = options ? options->device : 0;
    gpurt_status_t st;

    modules_load_eagerly();
    st = driver_check(err);
    if (st == GPURT_OK)
        st = count_check(device, count, err);
    if (st == GPURT_OK)
        st = device_check(device, err);
    return st;
}
