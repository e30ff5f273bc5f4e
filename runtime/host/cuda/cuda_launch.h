/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_launch.h - kernels on the GPU: launching them, and how many blocks fit.
 *
 * Both are members of gpurt_backend_ops_t; backend.h says what they promise. */
#ifndef GPURT_HOST_CUDA_LAUNCH_H
#define GPURT_HOST_CUDA_LAUNCH_H

#include "backend.h"

gpurt_status_t gpurt_cuda_launch(void *self, void *stream, const gpurt_launch_t *launch,
                                 const gpurt_kernel_t *kernel, const void *args,
                                 size_t args_bytes, gpurt_error_t *err);

gpurt_status_t gpurt_cuda_occupancy(void *self, const gpurt_launch_t *launch,
                                    const gpurt_kernel_t *kernel, uint32_t *blocks,
                                    gpurt_error_t *err);

#endif
