/* SPDX-License-Identifier: Apache-2.0 */
#include "tally.h"

#include <gpurt/device.h>

/* Each access is atomic, the update is not: between load and store another lane may store. */
GPURT_KERNEL(tally_wrong, struct tally_args, p)
{
    for (uint32_t i = 0; i < p->rounds; i++) {
        uint32_t seen = gpurt_load_relaxed_dev_u32(p->count);

        gpurt_store_relaxed_dev_u32(p->count, seen + 1);
    }
}

GPURT_KERNEL(tally_right, struct tally_args, p)
{
    for (uint32_t i = 0; i < p->rounds; i++)
        gpurt_add_relaxed_dev_u32(p->count, 1);
}
