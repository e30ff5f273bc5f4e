/* SPDX-License-Identifier: Apache-2.0 */
#include "channel_close_kernels.h"

#include <gpurt/broadcast.h>
#include <gpurt/channel.h>
#include <gpurt/device.h>
#include <gpurt/hostchannel.h>
#include <gpurt/segring.h>
#include <gpurt/unbounded.h>

GPURT_KERNEL(gpurt_channel_close_one, gpurt_channel_t, p)
{
    if (gpurt_global_id() == 0)
        /* relaxed: the end of the kernel orders it; who watches the channel reads it meanwhile */
        gpurt_store_relaxed_dev_u32((uint32_t *)&p->words->desk.xanswer,
                                    (uint32_t)gpurt_channel_close(p));
}

GPURT_KERNEL(gpurt_channel_room_one, struct gpurt_channel_room_args, p)
{
    gpurt_channel_words_t *w = p->channel.words;
    uint32_t done = 0;
    gpurt_status_t st;

    if (gpurt_global_id() > 0)
        return;
    st = p->grants ? gpurt_channel_grant(&p->channel, p->n, &done)
                   : gpurt_channel_resize(&p->channel, p->n);
    gpurt_store_relaxed_dev_u32(&w->xdone, done); /* relaxed: as above */
    gpurt_store_relaxed_dev_u32((uint32_t *)&w->desk.xanswer, (uint32_t)st);
}

GPURT_KERNEL(gpurt_broadcast_close_one, gpurt_broadcast_t, p)
{
    if (gpurt_global_id() == 0) /* relaxed: as above */
        gpurt_store_relaxed_dev_u32((uint32_t *)&p->words->desk.xanswer,
                                    (uint32_t)gpurt_broadcast_close(p));
}

GPURT_KERNEL(gpurt_hostchannel_shut_one, gpurt_hostchannel_t, p)
{
    if (gpurt_global_id() == 0) /* relaxed: as above */
        gpurt_store_relaxed_dev_u32((uint32_t *)&p->words->desk.xanswer,
                                    (uint32_t)gpurt_hostchannel_shut(p));
}

GPURT_KERNEL(gpurt_segring_close_one, gpurt_segring_t, p)
{
    if (gpurt_global_id() == 0) /* relaxed: as above */
        gpurt_store_relaxed_dev_u32((uint32_t *)&p->words->desk.xanswer,
                                    (uint32_t)gpurt_segring_close(p));
}

GPURT_KERNEL(gpurt_unbounded_close_one, gpurt_unbounded_t, p)
{
    if (gpurt_global_id() == 0) /* relaxed: as above */
        gpurt_store_relaxed_dev_u32((uint32_t *)&p->words->desk.xanswer,
                                    (uint32_t)gpurt_unbounded_close(p));
}

/* relaxed: no kernel uses it */
GPURT_KERNEL(gpurt_unbounded_free_all, gpurt_unbounded_t, p)
{
    for (uint32_t i = gpurt_global_id(); i < p->row_count; i += GPURT_WARP_SIZE) {
        uint64_t row = gpurt_load_relaxed_dev_u64(&p->rows[i]);

        if (gpurt_unbounded_place(row))
            gpurt_heap_free(&p->heap, gpurt_unbounded_at(p, gpurt_unbounded_place(row)));
    }
}
