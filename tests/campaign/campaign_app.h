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
    CAMPAIGN_PANIC,
    CAMPAIGN_DEFER, /* a panic, and another in the handler that it runs */
    CAMPAIGN_LOCK,  /* a panic while it holds what every block wants */
    /* which only a GPU has */
    CAMPAIGN_SHARED, /* an address beyond the block's shared memory */
    CAMPAIGN_CUDA_ASSERT,
    CAMPAIGN_HEIR /* it logs, and a process that it forked outlives it */
};

struct campaign_args {
    uint64_t *xdone; /* a block: messages of this launch that are logged for sure */
    uint32_t way, first, messages;
    uint32_t failing; /* blocks from 0 on that fail, half way */
    uint32_t *wrong;  /* where no device may write */
    uint32_t *xlock;  /* 0 free; written by: the lane that takes it or gives it back */
};
GPURT_KERNEL_DECLARE(campaign, struct campaign_args);

GPURT_BEGIN_DECLS
/* The file that outlives the process, as a GPU sees it; NULL: it does not. In the half that nvcc
 * compiles, so weak. */
void *campaign_gpu_map(void *memory, size_t bytes) GPURT_WEAK;
GPURT_END_DECLS

#endif
