/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled twice: as C for the CPU, by nvcc for the GPU. */
#include "saxpy.h"

#include <gpurt/device.h>

GPURT_KERNEL(saxpy, struct saxpy_args, p)
{
    uint32_t i = gpurt_global_id();

    if (i < p->n)
        p->y[i] += p->a * p->x[i];
}
