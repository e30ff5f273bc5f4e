/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the driver that the collector asks about graphs and devices, under the driver's
 * name; found only in a process that has loaded it. Handles are those of fake_cupti.h. Device 0
 * is one of compute capability 9.0, device 1 of 7.5, device 2 does not tell all. FAKE_DRIVER:
 * "late", it starts while it is asked twice; "one", the program sees one device. */
#include "fake_cupti.h"

#include <stdlib.h>
#include <string.h>

enum {
    DEVICES = 3,
    LATE = 2
};

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    const fake_graph_t *g = (const void *)graph;

    if (nodes)
        return CUDA_ERROR_NOT_SUPPORTED;
    *count = g->nodes + (g->on_host != 0);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    static int asked;
    const char *mode = getenv("FAKE_DRIVER");

    if (mode && strcmp(mode, "late") == 0 && asked++ < LATE)
        return CUDA_ERROR_NOT_INITIALIZED;
    *count = mode && strcmp(mode, "one") == 0 ? 1 : DEVICES;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = 100 + ordinal;
    return ordinal < DEVICES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    static const struct {
        CUdevice_attribute attribute;
        int of[DEVICES];
    } rows[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, {9, 7, 9}},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, {0, 5, 0}},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, {132, 40, 132}},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, {32, 32, 32}},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, {2048, 1024, 2048}},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, {32, 16, 32}},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, {65536, 65536, 65536}},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, {65536, 65536, 65536}},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, {233472, 65536, 233472}},
        {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, {1024, 0, -1}},
    };

    if (device < 100 || device >= 100 + DEVICES)
        return CUDA_ERROR_INVALID_DEVICE;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].attribute == attribute && rows[i].of[device - 100] >= 0) {
            *value = rows[i].of[device - 100];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}
