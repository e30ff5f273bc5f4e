/* SPDX-License-Identifier: Apache-2.0 */
#include "panic_bounds.h"

#include <gpurt/device.h>
#include <gpurt/panic.h>

GPURT_KERNEL(panic_bounds, struct panic_bounds_args, p)
{
    uint32_t i = gpurt_global_id() * p->step;

    GPURT_LOG_BLOCK(GPURT_LEVEL_INFO, "block %u begins at %u", gpurt_block_x(), i);
    GPURT_ASSERT(i < p->count, "index %u of %u", i, p->count);
    p->values[i] = i;
}
