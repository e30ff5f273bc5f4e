/* SPDX-License-Identifier: Apache-2.0 */
#include "gpudriver.h"

#include <dlfcn.h>
#include <string.h>

static void entry_find(void *library, const char *name, void *to)
{
    void *entry = dlsym(library, name);

    memcpy(to, &entry, sizeof entry);
}

bool gpudriver_find(gpudriver_t *d)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);

    memset(d, 0, sizeof *d);
    if (!cuda)
        return false;
    entry_find(cuda, "cuDeviceGet", &d->cuDeviceGet);
    entry_find(cuda, "cuDeviceGetCount", &d->cuDeviceGetCount);
    entry_find(cuda, "cuDeviceGetAttribute", &d->cuDeviceGetAttribute);
    entry_find(cuda, "cuDeviceGetUuid_v2", &d->uuid);
    entry_find(cuda, "cuDeviceGetName", &d->name);
    return d->cuDeviceGet != NULL;
}

bool gpudriver_uuid(const gpudriver_t *d, CUdevice device, uint8_t uuid[GPUDRIVER_UUID])
{
    CUuuid own;

    if (!d->uuid || d->uuid(&own, device) != CUDA_SUCCESS)
        return false;
    memcpy(uuid, &own, GPUDRIVER_UUID);
    return true;
}
