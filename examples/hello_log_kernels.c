/* SPDX-License-Identifier: Apache-2.0 */
#include "hello_log.h"

#include <gpurt/device.h>
#include <gpurt/log.h>

GPURT_KERNEL(hello_log, struct hello_log_args, p)
{
    GPURT_LOG_BLOCK(GPURT_LEVEL_INFO, "hello from block %u of %u", gpurt_block_x(),
                    gpurt_grid_dim_x());
    if (gpurt_global_id() == 42)
        GPURT_WARN("thread %u knows the answer: %u", gpurt_thread_x(), p->answer);
    GPURT_DEBUG("thread %u, below the level unless GPURT_LEVEL=debug", gpurt_thread_x());
}
