/* SPDX-License-Identifier: Apache-2.0 */
#include "stuck.h"

#include <gpurt/device.h>

/* The mask names lane 5, and lane 5 is elsewhere. */
GPURT_KERNEL(stuck, struct stuck_args, p)
{
    if (gpurt_lane() != 5)
        p->votes[gpurt_lane()] = gpurt_ballot(GPURT_FULL_MASK, true);
    gpurt_block_barrier();
}
