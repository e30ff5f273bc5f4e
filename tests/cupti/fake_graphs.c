/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the driver that the collector asks about graphs and devices, under the driver's
 * name; found only in a process that has loaded it. Handles are those of fake_cupti.h. Device 0
 * is one of compute capability 9.0, device 1 of 7.5, device 2 does not tell all. FAKE_DRIVER:
 * "late", it starts while it is asked twice; "one", the program sees one device; "nameless", it
 * tells no UUID. FAKE_VISIBLE: the number of the one device that the program sees, as its 0. */
#include "fake_cupti.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEVICES = 3,
    FIRST = 100, /* device that the driver calls 0 */
    LATE = 2
};

static int mode_is(const char *word)
{
    const char *mode = getenv("FAKE_DRIVER");

    return mode && strcmp(mode, word) == 0;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    const fake_graph_t *g = (const void *)graph;

    if (nodes)
        return CUDA_ERROR_NOT_SUPPORTED;
    *count = g->nodes + (g->on_host != 0);
    return CUDA_SUCCESS;
}

CUresult cuGraphExecGetFlags(CUgraphExec graph, cuuint64_t *flags)
{
    const fake_graph_t *g = (const void *)graph;

    *flags = g->by_device ? CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH : 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    static int asked;

    if (mode_is("late") && asked++ < LATE)
        return CUDA_ERROR_NOT_INITIALIZED;
    *count = mode_is("one") || getenv("FAKE_VISIBLE") ? 1 : DEVICES;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    const char *visible = getenv("FAKE_VISIBLE");

    *device = FIRST + ordinal + (visible ? atoi(visible) : 0);
    return *device < FIRST + DEVICES ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int bytes, CUdevice device)
{
    if (mode_is("nameless"))
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)bytes, "Stand-in of kind %d", device - FIRST);
    return CUDA_SUCCESS;
}

/* GPU 2 has "gpurt stand-in 2", so to speak. */
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    char text[sizeof uuid->bytes + 1];

    if (mode_is("nameless") || device < FIRST || device >= FIRST + DEVICES)
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(text, sizeof text, "gpurt stand-in %d", device - FIRST);
    memcpy(uuid->bytes, text, sizeof uuid->bytes);
    return CUDA_SUCCESS;
}

/* The first of its name, which cuda.h no longer has. */
#undef cuDeviceGetUuid
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device);
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    return cuDeviceGetUuid_v2(uuid, device);
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

    if (device < FIRST || device >= FIRST + DEVICES)
        return CUDA_ERROR_INVALID_DEVICE;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].attribute == attribute && rows[i].of[device - FIRST] >= 0) {
            *value = rows[i].of[device - FIRST];
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}
