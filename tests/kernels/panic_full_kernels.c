/* SPDX-License-Identifier: Apache-2.0 */
/* Assertions that cost: at GPURT_ASSERT_FULL they are there. */
#define GPURT_ASSERT_LEVEL GPURT_ASSERT_FULL
#include "panic_kernels.h"

#include <gpurt/device.h>
#include <gpurt/panic.h>

GPURT_DEV bool full_sorted(const struct panic_form_args *p)
{
    gpurt_add_relaxed_dev_u32(p->calls, 1000);
    return p->u32[0] <= p->u32[1];
}

GPURT_KERNEL(panic_full, struct panic_form_args, p)
{
    GPURT_COSTLY(GPURT_ASSERT(full_sorted(p), "sorted"));
    gpurt_add_relaxed_dev_u32(p->calls, 1);
}
