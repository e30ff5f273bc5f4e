/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a device a kernel can fill: values worked out by hand for three chips, then, where
 * NVIDIA's header was there at build time, against that for some 260,000 shapes. */
#include "check.h"
#include "occupancy.h"

#if defined(__has_include)
#    if __has_include(<cuda_occupancy.h>)
#        pragma GCC diagnostic push
#        pragma GCC diagnostic ignored "-Wunused-function"
#        pragma GCC diagnostic ignored "-Wstrict-prototypes"
#        include <cuda_occupancy.h>
#        pragma GCC diagnostic pop
#        define AGAINST_NVIDIA 1
#    endif
#endif

static const gpurt_activity_device_t sm_75 = {7,     5,     40,    32, 1024, 16,
                                              65536, 65536, 65536, 0,  {0},  0};
static const gpurt_activity_device_t sm_80 = {8,     0,     108,        32,   2048, 32,
                                              65536, 65536, 164 * 1024, 1024, {0},  0};
static const gpurt_activity_device_t sm_90 = {9,     0,     132,        32,   2048, 32,
                                              65536, 65536, 228 * 1024, 1024, {0},  0};

static void check_known(void)
{
    static const struct {
        const gpurt_activity_device_t *device;
        uint32_t threads, registers, shared_bytes, percent;
    } rows[] = {
        {&sm_90, 256, 32, 0, 10000},        /* all 64 warps */
        {&sm_90, 256, 40, 1536, 7500},      /* registers: 12 warps a part, 6 blocks */
        {&sm_90, 96, 40, 0, 7500},          /* 48 warps in 16 blocks of three */
        {&sm_90, 1024, 64, 0, 5000},        /* registers: one block */
        {&sm_90, 1024, 65, 0, 0},           /* no such block */
        {&sm_90, 32, 16, 0, 5000},          /* 32 blocks */
        {&sm_90, 33, 16, 0, 10000},         /* of two warps each, half empty */
        {&sm_90, 256, 255, 0, 1250},        /* two warps a part */
        {&sm_90, 128, 32, 227 * 1024, 625}, /* one block has all there is */
        {&sm_90, 128, 32, 113 * 1024, 1250},
        {&sm_90, 128, 32, 113 * 1024 + 1, 625}, /* a byte more: 128 */
        {&sm_90, 128, 32, 228 * 1024, 0},
        {&sm_80, 128, 32, 48 * 1024, 1875}, /* three blocks of 49 KiB */
        {&sm_75, 256, 40, 1536, 10000},     /* 32 warps are the most */
        {&sm_75, 256, 40, 20 * 1024, 7500},
        {&sm_75, 32, 16, 0, 5000}, /* 16 blocks */
        {&sm_75, 64, 16, 4096, 10000},
        {&sm_75, 64, 16, 4900, 7500}, /* given by 256 bytes: 12 blocks */
        {&sm_90, 0, 32, 0, 0},
        {&sm_90, 4096, 16, 0, 0},
        {&sm_90, 256, 0, 0, 10000}, /* a record without them */
    };
    gpurt_activity_device_t none = {0}, old = sm_75, half = sm_90;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t got = gpurt_model_occupancy(rows[i].device, rows[i].threads,
                                             rows[i].registers, rows[i].shared_bytes);

        CHECK_MSG(got == rows[i].percent, "row %zu: %u, not %u", i, got, rows[i].percent);
    }
    CHECK_EQ(gpurt_model_occupancy(&none, 256, 32, 0), 0); /* of an older log */
    half.block_registers /= 2;
    CHECK_EQ(gpurt_model_occupancy(&half, 512, 64, 0), 5000);
    CHECK_EQ(gpurt_model_occupancy(&half, 512, 65, 0),
             0); /* no such block, though it had room */
    old.major = 6;
    CHECK_EQ(gpurt_model_occupancy(&old, 256, 32, 0), 0); /* its rules are others */
    CHECK_EQ(gpurt_model_occupancy(&sm_90, UINT32_MAX * (uint64_t)1024, 32, 0), 0);
}

#ifdef AGAINST_NVIDIA
static uint32_t by_nvidia(const gpurt_activity_device_t *d, int threads, int registers,
                          int shared)
{
    cudaOccDeviceProp device = {.computeMajor = (int)d->major,
                                .computeMinor = (int)d->minor,
                                .maxThreadsPerBlock = 1024,
                                .maxThreadsPerMultiprocessor = (int)d->threads,
                                .regsPerBlock = (int)d->block_registers,
                                .regsPerMultiprocessor = (int)d->registers,
                                .warpSize = 32,
                                .sharedMemPerBlock = 48 * 1024,
                                .sharedMemPerMultiprocessor = d->shared_bytes,
                                .numSms = (int)d->sms,
                                .sharedMemPerBlockOptin = d->shared_bytes - d->kept_bytes,
                                .reservedSharedMemPerBlock = d->kept_bytes};
    cudaOccFuncAttributes kernel = {.maxThreadsPerBlock = 1024,
                                    .numRegs = registers,
                                    .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
                                    .maxDynamicSharedSizeBytes =
                                        d->shared_bytes - d->kept_bytes,
                                    .numBlockBarriers = 1};
    cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED};
    cudaOccResult result = {.activeBlocksPerMultiprocessor = 0};
    uint32_t most = d->threads / 32, warps = ((uint32_t)threads + 31) / 32;

    CHECK_EQ(cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state,
                                                     threads, (size_t)shared),
             CUDA_OCC_SUCCESS);
    return ((uint32_t)result.activeBlocksPerMultiprocessor * warps * 10000 + most / 2) /
           most;
}

static void check_nvidia(void)
{
    const gpurt_activity_device_t *devices[] = {&sm_75, &sm_80, &sm_90};

    for (size_t i = 0; i < 3; i++)
        for (int threads = 1; threads <= 1024; threads += 31)
            for (int registers = 1; registers <= 255; registers += 13)
                for (int shared = 0; shared < 228 * 1024; shared += 1777) {
                    uint32_t want = by_nvidia(devices[i], threads, registers, shared);
                    uint32_t got =
                        gpurt_model_occupancy(devices[i], (uint64_t)threads,
                                              (uint32_t)registers, (uint32_t)shared);

                    CHECK_MSG(want == got,
                              "capability %u: %d threads, %d registers, %d B: %u, NVIDIA "
                              "says %u",
                              devices[i]->major, threads, registers, shared, got, want);
                }
}
#else
static void check_nvidia(void) {}
#endif

int main(void)
{
    check_known();
    check_nvidia();
    return 0;
}
