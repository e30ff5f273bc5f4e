/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_CAMPAIGN_APP_H
#define GPURT_TESTS_CAMPAIGN_APP_H

#include <gpurt/kernel.h>

enum {
    CAMPAIGN_BLOCKS = 8
};
enum {
    CAMPAIGN_NONE, /* it logs, and ends */
    CAMPAIGN_TRAP,
    CAMPAIGN_ADDRESS,
    CAMPAIGN_MISALIGNED,
    CAMPAIGN_ASSERT,
    CAMPAIGN_PANIC
};

struct campaign_args {
    uint64_t *xdone; /* a block: messages of this launch that are logged for sure */
    uint32_t way, first, messages;
    uint32_t failing; /* blocks from 0 on that fail, half way */
    uint32_t *wrong;  /* where no device may write */
};
GPURT_KERNEL_DECLARE(campaign, struct campaign_args);

#endif
