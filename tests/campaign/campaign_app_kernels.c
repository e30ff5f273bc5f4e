/* SPDX-License-Identifier: Apache-2.0 */
#include "campaign_app.h"

#include <gpurt/device.h>

/* What a message carries of itself: a reader sees whether it is whole. */
GPURT_DEV uint32_t sum_of(uint32_t block, uint32_t i)
{
    return (block * 40503u + i) * 2654435761u;
}

GPURT_DEVN void fail(const struct campaign_args *p, uint32_t block, uint32_t i)
{
    gpurt_group_t group = {0, {0, 0, 0}};

    switch (p->way) {
    case CAMPAIGN_TRAP:
        gpurt_trap();
        break;
    case CAMPAIGN_ADDRESS:
        gpurt_store_relaxed_sys_u32(p->wrong, block);
        break;
    case CAMPAIGN_MISALIGNED: /* 16 bytes that must be aligned to 16 */
        gpurt_group_store((gpurt_group_t *)((char *)(p->xdone + CAMPAIGN_BLOCKS) + 4),
                          group);
        break;
    case CAMPAIGN_ASSERT:
        GPURT_ASSERT(i == ~0u, "block %u at message %u", block, i);
        break;
    case CAMPAIGN_PANIC:
        GPURT_PANIC("block %u at message %u", block, i);
        break;
    default:
        break;
    }
}

GPURT_KERNEL(campaign, struct campaign_args, p)
{
    uint32_t block = gpurt_block_rank();

    for (uint32_t i = 0; i < p->messages; i++) {
        if (block < p->failing && i == p->messages / 2) {
            gpurt_syncwarp(GPURT_FULL_MASK); /* all lanes have come as far */
            fail(p, block, i);
        }
        GPURT_LOG_BLOCK(GPURT_LEVEL_INFO, "m %u %u %u", block, p->first + i,
                        sum_of(block, p->first + i));
        if (gpurt_thread_rank() == 0)
            gpurt_store_release_sys_u64(&p->xdone[block], i + 1); /* T1.rel */
    }
}
