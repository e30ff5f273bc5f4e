/* SPDX-License-Identifier: Apache-2.0 */
#include <gpurt/phasers.h>

#include "plural.h"
#include "refuse.h"

gpurt_status_t gpurt_phaser_fits(gpurt_t *rt, const gpurt_launch_t *launch,
                                 const gpurt_kernel_t *kernel, uint32_t blocks,
                                 gpurt_error_t *err)
{
    uint32_t capacity;
    gpurt_status_t st = gpurt_occupancy(rt, launch, kernel, &capacity, err);

    if (st != GPURT_OK || blocks <= capacity)
        return st;
    return REFUSE(err, GPURT_E_OCCUPANCY,
                  "a phaser of %u block%s of %s, of which %u fit at once: the others would "
                  "be waited for; launch fewer, or smaller ones",
                  blocks, gpurt_plural(blocks, "s"), kernel->name, capacity);
}
