/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_end_kernel.h - what ends kernels that hang behind a panic: one thread that traps. */
#ifndef GPURT_HOST_CUDA_END_KERNEL_H
#define GPURT_HOST_CUDA_END_KERNEL_H

#include <gpurt/kernel.h>

struct gpurt_end_args {
    uint32_t ends; /* 0: it only becomes known to the GPU */
};
GPURT_KERNEL_DECLARE(gpurt_end_kernel, struct gpurt_end_args);

#endif
