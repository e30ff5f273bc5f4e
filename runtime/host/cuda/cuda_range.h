/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_range.h - addresses of the GPU that are reserved, and backed piece by piece: the
 * driver's virtual memory management. For backend_cuda.c only. */
#ifndef GPURT_HOST_CUDA_RANGE_H
#define GPURT_HOST_CUDA_RANGE_H

#include "cuda_device.h"

gpurt_status_t gpurt_cuda_range_create(void *self, size_t bytes, gpurt_range_t *out,
                                       gpurt_error_t *err);
gpurt_status_t gpurt_cuda_range_back(void *self, gpurt_range_t *range, size_t bytes,
                                     gpurt_error_t *err);
gpurt_status_t gpurt_cuda_range_tell(void *self, gpurt_range_t *range, uint64_t *to,
                                     const uint64_t *from, uint32_t count,
                                     gpurt_error_t *err);
gpurt_status_t gpurt_cuda_range_destroy(void *self, gpurt_range_t *range);

#endif
