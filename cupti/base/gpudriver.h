/* SPDX-License-Identifier: Apache-2.0 */
/* gpudriver.h - the driver's answers about devices, by their number among those that the
 * program sees. It is not loaded here: where the program has not done so, there is none.
 *
 * Context: any thread; the driver may keep whoever asks while it starts. */
#ifndef GPURT_CUPTI_GPUDRIVER_H
#define GPURT_CUPTI_GPUDRIVER_H

#include <gpurt/base.h>

#include <cuda.h>

enum {
    GPUDRIVER_UUID = 16 /* bytes */
};

#define GPUDRIVER_ENTRY(name_) __typeof__(name_) *name_

typedef struct gpudriver {
    GPUDRIVER_ENTRY(cuDeviceGet);
    GPUDRIVER_ENTRY(cuDeviceGetCount);     /* NULL: none */
    GPUDRIVER_ENTRY(cuDeviceGetAttribute); /* likewise */
    __typeof__(cuDeviceGetUuid) *uuid;     /* NULL: an older driver */
    __typeof__(cuDeviceGetName) *name;     /* NULL: none */
} gpudriver_t;

/* Returns: false: nobody has loaded it. */
bool gpudriver_find(gpudriver_t *d);

/* Tells parts of a GPU (MIG) apart. Returns: false: the driver does not tell. */
bool gpudriver_uuid(const gpudriver_t *d, CUdevice device, uint8_t uuid[GPUDRIVER_UUID]);

#endif
