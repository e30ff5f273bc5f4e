/* SPDX-License-Identifier: Apache-2.0 */
#include "consumer.h"

#include <gpurt/device.h>

/* Adds 0 + 1 + ... + n - 1, a warp at a time. */
GPURT_KERNEL(consumer_sum, struct consumer_args, p)
{
    uint32_t i = gpurt_global_id();
    uint32_t sum = gpurt_reduce_add_u32(GPURT_FULL_MASK, i < p->n ? i : 0u);

    if (gpurt_lane() == 0)
        gpurt_add_relaxed_dev_u32(p->sum, sum); /* a total: nothing is published by it */
}
