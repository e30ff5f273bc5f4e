/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that ends its context, and with it others that hang (cuda_hang.c). */
#include "cuda_end_kernel.h"

#include <gpurt/block.h>

GPURT_KERNEL(gpurt_end_kernel, struct gpurt_end_args, p)
{
    if (p->ends)
        gpurt_trap();
}
