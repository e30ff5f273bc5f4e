/* SPDX-License-Identifier: Apache-2.0 */
#include "level_app.h"

#include <gpurt/device.h>
#include <gpurt/log.h>

/* Block 0 says something of each level now and then, until it is told to stop: one kernel all
 * along. The other blocks hold their places, so that no other kernel gets one. */
GPURT_KERNEL(level_app, struct level_app_args, p)
{
    uint32_t round = 0, stop;

    while (gpurt_block_rank() && gpurt_load_acquire_sys_u32(p->xstop) != LEVEL_APP_STOP)
        gpurt_relax();
    if (gpurt_block_rank())
        return;
    while ((stop = gpurt_load_acquire_sys_u32(p->xstop)) != LEVEL_APP_STOP) {
        uint64_t until = gpurt_globaltimer() + p->pause_ns;

        GPURT_LOG_WARP(GPURT_LEVEL_DEBUG, "detail %u", round);
        GPURT_LOG_WARP(GPURT_LEVEL_WARN, "round %u", round);
        round++;
        if (stop == LEVEL_APP_LATE)
            GPURT_LOG_WARP(GPURT_LEVEL_DEBUG, "a late site");
        while (gpurt_globaltimer() < until)
            gpurt_relax();
    }
}
