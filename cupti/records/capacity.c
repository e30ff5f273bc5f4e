/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NO_POINTS /* host code: no schedule is explored here */

#include "capacity.h"

#include "gpudriver.h"
#include "hosttime.h"
#include "outlet.h"

#include <string.h>

enum {
    LOOKS = 600, /* a minute, at ten a second */
    DEVICES = 8, /* as many as a log's reader has room for */
    NAME_BYTES = 64
};

static struct {
    uint32_t looks;  /* the flusher's */
    uint32_t xcount; /* devices whose limits are below; written by: the flusher, once */
    gpurt_activity_device_t devices[DEVICES]; /* warp 0: not known */
    char names[DEVICES][NAME_BYTES];          /* empty: not known */
    uint64_t told;                            /* box; under the outlet's lock */
} capacity;

/* Of one that does not tell all that it holds nothing is said. */
static void device_read(const gpudriver_t *d, int index)
{
    static const struct {
        CUdevice_attribute attribute;
        size_t offset;
    } rows[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
         offsetof(gpurt_activity_device_t, major)},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
         offsetof(gpurt_activity_device_t, minor)},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, offsetof(gpurt_activity_device_t, sms)},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, offsetof(gpurt_activity_device_t, warp)},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
         offsetof(gpurt_activity_device_t, threads)},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
         offsetof(gpurt_activity_device_t, blocks)},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
         offsetof(gpurt_activity_device_t, registers)},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK,
         offsetof(gpurt_activity_device_t, block_registers)},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
         offsetof(gpurt_activity_device_t, shared_bytes)},
        {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK,
         offsetof(gpurt_activity_device_t, kept_bytes)},
    };
    gpurt_activity_device_t out = {0};
    CUdevice device;
    int value;

    if (d->cuDeviceGet(&device, index) != CUDA_SUCCESS)
        return;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (d->cuDeviceGetAttribute(&value, rows[i].attribute, device) != CUDA_SUCCESS)
            return;
        memcpy((char *)&out + rows[i].offset, &value, sizeof value);
    }
    gpudriver_uuid(d, device, out.uuid);
    if (!d->name || d->name(capacity.names[index], NAME_BYTES, device) != CUDA_SUCCESS)
        capacity.names[index][0] = '\0';
    capacity.names[index][NAME_BYTES - 1] = '\0';
    capacity.devices[index] = out;
}

/* Returns: 0 where it is starting yet, or nobody has loaded it. */
static int devices_count(gpudriver_t *d)
{
    int count = 0;

    return gpudriver_find(d) && d->cuDeviceGetCount && d->cuDeviceGetAttribute &&
                   d->cuDeviceGetCount(&count) == CUDA_SUCCESS
               ? count
               : 0;
}

uint32_t capacity_devices(void)
{
    gpudriver_t driver;

    return (uint32_t)devices_count(&driver);
}

void capacity_look(void)
{
    gpudriver_t driver;
    int count;

    if (capacity.looks == LOOKS)
        return;
    capacity.looks++;
    count = devices_count(&driver);
    if (count == 0)
        return;
    count = count < DEVICES ? count : DEVICES;
    for (int i = 0; i < count; i++)
        device_read(&driver, i);
    capacity.looks = LOOKS;
    gpurt_store_release_dev_u32(&capacity.xcount, (uint32_t)count); /* CUP5.rel */
}

bool capacity_waits(void)
{
    const uint64_t place = outlet_place();

    return place && capacity.told != place &&
           gpurt_load_relaxed_dev_u32(&capacity.xcount) > 0; /* relaxed: a hint */
}

static void device_tell(uint32_t index, uint64_t since_ns)
{
    gpurt_activity_device_t row = capacity.devices[index];

    if (!row.warp)
        return;
    if (capacity.names[index][0]) /* each box has its own numbers */
        row.name = outlet_name(capacity.names[index], false);
    outlet_put(GPURT_KIND_DEVICE, index, since_ns, &row);
}

void capacity_tell(uint64_t since_ns)
{
    uint32_t count = gpurt_load_acquire_dev_u32(&capacity.xcount); /* CUP5.acq */

    if (count == 0 || capacity.told == outlet_place())
        return;
    if (capacity.told) /* a log that begins now does not begin with the program */
        since_ns = gpurt_real_ns();
    capacity.told = outlet_place();
    for (uint32_t i = 0; i < count; i++)
        device_tell(i, since_ns);
}
