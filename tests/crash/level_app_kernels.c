/* SPDX-License-Identifier: Apache-2.0 */
#include "level_app.h"

#include <gpurt/device.h>
#include <gpurt/log.h>

/* Says something of each level now and then, until it is told to stop: one kernel all along. */
GPURT_KERNEL(level_app, struct level_app_args, p)
{
    uint32_t round = 0;

    while (!gpurt_load_relaxed_sys_u32(p->xstop)) { /* relaxed: nothing else to read */
        uint64_t until = gpurt_globaltimer() + p->pause_ns;

        GPURT_LOG_WARP(GPURT_LEVEL_DEBUG, "detail %u", round);
        GPURT_LOG_WARP(GPURT_LEVEL_WARN, "round %u", round);
        if (round++ == 200)
            GPURT_LOG_WARP(GPURT_LEVEL_DEBUG, "a late site");
        while (gpurt_globaltimer() < until)
            gpurt_relax();
    }
}
