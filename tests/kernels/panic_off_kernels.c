/* SPDX-License-Identifier: Apache-2.0 */
/* The same promises, and nobody who looks: at GPURT_ASSERT_OFF no argument has an effect. */
#define GPURT_ASSERT_LEVEL GPURT_ASSERT_OFF
#include "panic_kernels.h"

#include <gpurt/device.h>
#include <gpurt/panic.h>

GPURT_DEV uint32_t off_called(const struct panic_form_args *p)
{
    return gpurt_add_relaxed_dev_u32(p->calls, 1000);
}

/* Used by a promise alone: no compiler warns of it. */
GPURT_DEV void off_costly(const struct panic_form_args *p, uint32_t only_here)
{
    GPURT_COSTLY(GPURT_ASSERT_EQ(only_here, off_called(p)));
}

GPURT_KERNEL(panic_off, struct panic_form_args, p)
{
    GPURT_ASSERT(off_called(p) == 77, "never %u", off_called(p));
    GPURT_ASSERT_LT(off_called(p), 5u);
    GPURT_ASSERT_LANES(off_called(p) == 77);
    GPURT_CHECK_BOUNDS(off_called(p), 0u);
    off_costly(p, p->u32[0]);
    if (p->which)
        GPURT_ASSERT_EQ(p->u32[0], 1u);
    else
        GPURT_ASSERT(false);
    gpurt_add_relaxed_dev_u32(p->calls, 1);
}
