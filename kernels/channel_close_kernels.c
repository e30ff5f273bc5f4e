/* SPDX-License-Identifier: Apache-2.0 */
#include "channel_close_kernels.h"

#include <gpurt/channel.h>
#include <gpurt/device.h>

GPURT_KERNEL(gpurt_channel_close_one, gpurt_channel_t, p)
{
    if (gpurt_global_id() == 0)
        p->words->xanswer = gpurt_channel_close(p);
}
