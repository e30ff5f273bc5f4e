/* SPDX-License-Identifier: Apache-2.0 */
#include "turn_kernels.h"

#include <gpurt/device.h>

GPURT_KERNEL(turn_ask, struct turn_args, p)
{
    if (gpurt_lane() == 0) {
        for (uint32_t i = 0; i < TURN_ROUNDS; i++)
            *p->rounds += gpurt_activemask() != 0;
    } else if (gpurt_lane() == 1) {
        for (uint32_t i = 0; i < TURN_ROUNDS; i++)
            if (!gpurt_activemask())
                break;
    } else if (gpurt_lane() == TURN_PATIENT) {
        *p->seen = gpurt_activemask() ? *p->rounds : 0;
    }
}
