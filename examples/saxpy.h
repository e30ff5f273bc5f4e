/* SPDX-License-Identifier: Apache-2.0 */
/* saxpy.h - what the host and the kernel agree on. */
#ifndef SAXPY_H
#define SAXPY_H

#include <gpurt/kernel.h>

struct saxpy_args {
    float a;
    const float *x;
    float *y;
    uint32_t n;
};

GPURT_KERNEL_DECLARE(saxpy, struct saxpy_args);

#endif
