/* SPDX-License-Identifier: Apache-2.0 */
#include "frequent.h"

#include <gpurt/blocksort.h>
#include <gpurt/device.h>

GPURT_KERNEL(frequent_count, struct frequent_args, p)
{
    uint64_t part = (p->n + gpurt_grid_blocks() - 1) / gpurt_grid_blocks();
    uint64_t from = part * gpurt_block_rank();
    GPURT_SHARED(uint32_t, counts, FREQUENT_BINS + 1);

    for (uint32_t i = gpurt_thread_rank(); i <= FREQUENT_BINS; i += gpurt_block_threads())
        counts[i] = 0;
    if (from < p->n)
        gpurt_block_histogram_u8(counts, FREQUENT_BINS, p->values + from,
                                 p->n - from < part ? p->n - from : part,
                                 counts + FREQUENT_BINS);
    gpurt_histogram_merge(p->counts, counts, FREQUENT_BINS);
}

GPURT_KERNEL(frequent_sort, struct frequent_args, p)
{
    GPURT_SHARED_DYN(char, room);

    for (uint32_t i = gpurt_thread_rank(); i < FREQUENT_BINS; i += gpurt_block_threads())
        p->order[i] = i;
    gpurt_block_sort_u32(room, p->counts, p->order, FREQUENT_BINS);
}
