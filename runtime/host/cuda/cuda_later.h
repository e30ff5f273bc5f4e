/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_later.h - what CUDA does only when no kernel runs, beside services that run.
 *
 * cudaFree and cudaFreeHost wait for all kernels of the device. While it has services, what is freed is
 * noted instead, and freed when the last of them has ended. With GPURT_CUDA_WAITS=1 in the
 * environment of gpurt_open, each call of that kind that the back end makes beside a service fails:
 * tests find it so, and do not hang. Used by backend_cuda.c and cuda_range.c.
 * Context: host, any thread. */
#ifndef GPURT_HOST_CUDA_LATER_H
#define GPURT_HOST_CUDA_LATER_H

#include "cuda_device.h"

/* Context: open, before the first call of CUDA that could be of that kind. */
void gpurt_cuda_later_watch(void);

/* A service's stream is there; it is gone. Between the two its kernel may run. */
void gpurt_cuda_later_begin(void *self, void *stream);
void gpurt_cuda_later_end(void *self);

/* Whether the device has services. */
bool gpurt_cuda_later_serves(gpurt_cuda_device_t *d);

/* Returns: true when the memory is freed later; false: no service runs, free it. */
bool gpurt_cuda_later_free(gpurt_cuda_device_t *d, void *memory, bool host);

/* Owner: the device. Context: close, when no service is left. */
void gpurt_cuda_later_fini(gpurt_cuda_device_t *d);

#endif
