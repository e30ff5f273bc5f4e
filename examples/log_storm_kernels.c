/* SPDX-License-Identifier: Apache-2.0 */
#include "log_storm.h"

#include <gpurt/device.h>
#include <gpurt/log.h>

GPURT_KERNEL(log_storm, struct log_storm_args, p)
{
    uint32_t thread = gpurt_global_id();

    for (uint32_t i = 0; i < p->count; i++)
        GPURT_INFO("message %u of thread %u", i, thread);
}
