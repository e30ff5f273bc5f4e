/* SPDX-License-Identifier: Apache-2.0 */
#include "channel_close_kernels.h"

#include <gpurt/broadcast.h>
#include <gpurt/channel.h>
#include <gpurt/device.h>
#include <gpurt/segring.h>

GPURT_KERNEL(gpurt_channel_close_one, gpurt_channel_t, p)
{
    if (gpurt_global_id() == 0)
        /* relaxed: the end of the kernel orders it; who watches the channel reads it meanwhile */
        gpurt_store_relaxed_dev_u32((uint32_t *)&p->words->desk.xanswer,
                                    (uint32_t)gpurt_channel_close(p));
}

GPURT_KERNEL(gpurt_broadcast_close_one, gpurt_broadcast_t, p)
{
    if (gpurt_global_id() == 0) /* relaxed: as above */
        gpurt_store_relaxed_dev_u32((uint32_t *)&p->words->desk.xanswer,
                                    (uint32_t)gpurt_broadcast_close(p));
}

GPURT_KERNEL(gpurt_segring_close_one, gpurt_segring_t, p)
{
    if (gpurt_global_id() == 0) /* relaxed: as above */
        gpurt_store_relaxed_dev_u32((uint32_t *)&p->words->desk.xanswer,
                                    (uint32_t)gpurt_segring_close(p));
}
