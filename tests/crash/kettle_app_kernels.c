/* SPDX-License-Identifier: Apache-2.0 */
#include "kettle_app.h"

#include <gpurt/device.h>

/* A block a kettle, a lane a boil: kettle i is i + 1 litres full and boils so often a lane. */
GPURT_KERNEL(kettle_boil, struct kettle_args, p)
{
    kettle_t *k = &p->kettles[gpurt_block_rank()];
    uint32_t lane = gpurt_thread_rank();

    for (uint32_t i = 0; i < p->rounds; i++) {
        gpurt_add_relaxed_dev_u64(&k->xboils, 1);
        gpurt_add_relaxed_dev_u64(&k->xwaits[lane % KETTLE_BUCKETS], 1);
    }
    if (lane == 0) {
        gpurt_store_relaxed_dev_u64(&k->xlitres, gpurt_block_rank() + 1);
        gpurt_store_relaxed_dev_u64(&k->xtemperature, 60 + 20 * gpurt_block_rank());
        gpurt_store_relaxed_dev_u64(&k->xstate, 1 + gpurt_block_rank());
        gpurt_add_relaxed_dev_u64(&k->xfaults, gpurt_block_rank());
    }
}
