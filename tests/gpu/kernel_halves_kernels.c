/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_halves.h"

#include <gpurt/device.h>

/* A word of everything that could make a compiler emit something with external linkage. */
GPURT_KERNEL(halves, struct halves_args, p)
{
    GPURT_SHARED(float, stage, 32);
    GPURT_SHARED_DYN(float, more);
    uint32_t i = gpurt_global_id();

    if (i >= p->n)
        return;
    stage[gpurt_lane()] = p->from[i];
    more[gpurt_lane()] = p->factor;
    gpurt_block_barrier();
    p->to[i] = stage[gpurt_lane()] * more[gpurt_lane()];
}

GPURT_KERNEL(halves_second, struct halves_args, p)
{
    float sum = gpurt_reduce_add_f32(GPURT_FULL_MASK, p->factor);

    if (gpurt_is_leader(gpurt_activemask()))
        p->to[0] = sum;
}
