/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_error.h"

#include "cuda_api.h"

#define REMEDY_RESTART  "restart the process: no GPU can be used in this one any more"
#define REMEDY_DRIVER   "update the NVIDIA driver, or set GPURT_BACKEND=cpu"
#define REMEDY_MACHINE  "see what nvidia-smi says; GPURT_BACKEND=cpu runs without a GPU"
#define REMEDY_MPS      "look at the MPS server of this machine, or run without it"
#define REMEDY_KERNEL   "rebuild its file with nvcc for this GPU (GPURT_CUDA_ARCHS)"
#define REMEDY_ADDRESS  "run it under compute-sanitizer, or under gpurt-check on the CPU"
#define REMEDY_HARDWARE "have the GPU looked at (nvidia-smi -q, dmesg); " REMEDY_RESTART
#define REMEDY_PASS     "check the pointers and sizes that were passed"

#define ROW(error, status, kills, remedy)                 \
    {                                                     \
        cudaError##error, GPURT_E_##status, kills, remedy \
    }

static const gpurt_cuda_error_t rows[] = {
    ROW(InvalidValue, INVALID, false, REMEDY_PASS),
    ROW(MemoryAllocation, NOMEM, false,
        "free some, ask for less, or see in nvidia-smi who holds the rest"),
    ROW(InitializationError, DRIVER, false,
        "a forked child cannot use its parent's CUDA: fork before it is used, or exec"),
    ROW(CudartUnloading, CLOSED, false,
        "call gpurt before the process exits, not during exit"),
    ROW(InvalidConfiguration, INVALID, false, "check the sizes of the launch"),
    ROW(InvalidDevicePointer, INVALID, false, REMEDY_PASS),
    ROW(StubLibrary, DRIVER, false,
        "the stub of libcuda was loaded: take its directory out of LD_LIBRARY_PATH"),
    ROW(InsufficientDriver, DRIVER, false, REMEDY_DRIVER),
    ROW(CallRequiresNewerDriver, DRIVER, false, REMEDY_DRIVER),
    ROW(DevicesUnavailable, BUSY, false,
        "wait for the process that holds the GPU (nvidia-smi names it), take another "
        "device, or set GPURT_BACKEND=cpu"),
    ROW(InvalidDeviceFunction, KERNEL, false, REMEDY_KERNEL),
    ROW(NoDevice, NO_DEVICE, false,
        "look at CUDA_VISIBLE_DEVICES and nvidia-smi, or set GPURT_BACKEND=cpu"),
    ROW(InvalidDevice, NO_DEVICE, false, "take a device that nvidia-smi lists"),
    ROW(DeviceNotLicensed, NO_DEVICE, false, "license the virtual GPU"),
    ROW(StartupFailure, DRIVER, false, REMEDY_MACHINE),
    ROW(InvalidKernelImage, KERNEL, false, REMEDY_KERNEL),
    ROW(DeviceUninitialized, CUDA, false, REMEDY_MACHINE),
    ROW(NoKernelImageForDevice, KERNEL, false, REMEDY_KERNEL),
    ROW(ECCUncorrectable, DEVICE_LOST, true, REMEDY_HARDWARE),
    ROW(DeviceAlreadyInUse, BUSY, false, "end the process that holds the GPU"),
    ROW(InvalidPtx, KERNEL, false, REMEDY_KERNEL),
    ROW(NvlinkUncorrectable, DEVICE_LOST, true, REMEDY_HARDWARE),
    ROW(UnsupportedPtxVersion, KERNEL, false,
        "update the driver, or rebuild with machine code for this GPU (GPURT_CUDA_ARCHS)"),
    ROW(JitCompilerNotFound, KERNEL, false, REMEDY_KERNEL),
    ROW(JitCompilationDisabled, KERNEL, false, REMEDY_KERNEL),
    ROW(Contained, DEVICE_LOST, true, REMEDY_HARDWARE),
    ROW(OperatingSystem, OS, false, REMEDY_MACHINE),
    ROW(InvalidResourceHandle, HANDLE, false, "record an event before asking for its time"),
    ROW(NotReady, NOT_READY, false, "ask again later, or wait for it"),
    ROW(IllegalAddress, FAULT, true,
        REMEDY_ADDRESS "; one that recurses may need more cudaLimitStackSize"),
    ROW(LaunchOutOfResources, INVALID, false,
        "launch smaller blocks, or say to nvcc how large they are: __launch_bounds__"),
    ROW(LaunchTimeout, DEVICE_LOST, true,
        "the driver ends long kernels on a GPU with a display: shorten "
        "it; " REMEDY_RESTART),
    ROW(ContextIsDestroyed, DEVICE_LOST, true, REMEDY_RESTART),
    ROW(Assert, TRAP, true, "its message is on stderr; " REMEDY_RESTART),
    ROW(HardwareStackError, STACK, true,
        "recurse less deeply, or raise cudaLimitStackSize; " REMEDY_RESTART),
    ROW(IllegalInstruction, FAULT, true, REMEDY_ADDRESS),
    ROW(MisalignedAddress, FAULT, true, REMEDY_ADDRESS),
    ROW(InvalidAddressSpace, FAULT, true, REMEDY_ADDRESS),
    ROW(InvalidPc, FAULT, true, REMEDY_ADDRESS),
    ROW(LaunchFailure, TRAP, true,
        "a lane trapped, or left its shared memory (compute-sanitizer "
        "tells); " REMEDY_RESTART),
    ROW(CooperativeLaunchTooLarge, COOPERATIVE, false,
        "launch fewer blocks (gpurt_occupancy tells how many fit)"),
    ROW(NotPermitted, CUDA, false, "do not do it inside a stream capture"),
    ROW(NotSupported, UNSUPPORTED, false, "this GPU or driver lacks it"),
    ROW(SystemNotReady, DRIVER, false,
        "start nvidia-fabricmanager, or wait until the machine is up"),
    ROW(SystemDriverMismatch, DRIVER, false,
        "the driver was updated under the running kernel: reboot"),
    ROW(CompatNotSupportedOnDevice, DRIVER, false, REMEDY_DRIVER),
    ROW(MpsConnectionFailed, DRIVER, false, REMEDY_MPS),
    ROW(MpsRpcFailure, DRIVER, false, REMEDY_MPS),
    ROW(MpsServerNotReady, DRIVER, false, REMEDY_MPS),
    ROW(MpsMaxClientsReached, BUSY, false, REMEDY_MPS),
    ROW(MpsMaxConnectionsReached, BUSY, false, REMEDY_MPS),
    ROW(MpsClientTerminated, DEVICE_LOST, true, REMEDY_RESTART),
    ROW(InvalidClusterSize, CLUSTER, false, "make the cluster smaller, 8 blocks at most"),
    ROW(ExternalDevice, DEVICE_LOST, true, REMEDY_HARDWARE),
};

static const gpurt_cuda_error_t other = {cudaErrorUnknown, GPURT_E_CUDA, false,
                                         REMEDY_MACHINE};

const gpurt_cuda_error_t *gpurt_cuda_error_find(cudaError_t error)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].error == error)
            return &rows[i];
    return &other;
}

gpurt_status_t gpurt_cuda_fail(gpurt_error_t *err, cudaError_t error, const char *doing)
{
    const gpurt_cuda_error_t *row = gpurt_cuda_error_find(error);

    (void)gpurt_cuda_api->get_last_error();
    return gpurt_fail(err, row->status, GPURT_FROM_CUDA, error, "%s: %s (%s); %s", doing,
                      gpurt_cuda_api->get_error_string(error),
                      gpurt_cuda_api->get_error_name(error), row->remedy);
}
