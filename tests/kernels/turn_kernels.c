/* SPDX-License-Identifier: Apache-2.0 */
#include "turn_kernels.h"

#include <gpurt/device.h>

GPURT_KERNEL(turn_ask, struct turn_args, p)
{
    if (gpurt_lane() == 0) {
        for (uint32_t i = 0; i < TURN_ROUNDS; i++)
            gpurt_store_relaxed_dev_u32(p->rounds, i + (gpurt_activemask() != 0));
    } else if (gpurt_lane() == 1) {
        for (uint32_t i = 0; i < TURN_ROUNDS; i++)
            if (!gpurt_activemask())
                break;
    } else if (gpurt_lane() == TURN_PATIENT) {
        *p->seen = gpurt_activemask() ? gpurt_load_relaxed_dev_u32(p->rounds) : 0;
    }
}
