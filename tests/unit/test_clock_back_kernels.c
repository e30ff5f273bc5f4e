/* SPDX-License-Identifier: Apache-2.0 */
#include "test_clock_back.h"

#include <gpurt/device.h>

GPURT_KERNEL(clock_back_mark, struct clock_back_args, p)
{
    if (gpurt_global_id() == 0)
        gpurt_store_relaxed_sys_u32(p->flag, 1);
}
