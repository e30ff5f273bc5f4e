/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_hang.h - kernels that hang behind a panic in existing CUDA C++: whether what ran at a moment
 * runs still, and how it is ended. Called by backend_cuda.c; its verbs are those of backend.h. */
#ifndef GPURT_HOST_CUDA_HANG_H
#define GPURT_HOST_CUDA_HANG_H

#include "cuda_device.h"

/* Context: open and close; the GPU is current. */
void gpurt_cuda_hang_init(gpurt_cuda_device_t *d);
void gpurt_cuda_hang_fini(gpurt_cuda_device_t *d);

bool gpurt_cuda_hang_prepare(void *self);
bool gpurt_cuda_hang_mark(void *self);
bool gpurt_cuda_hang_busy(void *self);
void gpurt_cuda_hang_end(void *self);

#endif
