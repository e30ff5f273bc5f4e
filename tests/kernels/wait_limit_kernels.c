/* SPDX-License-Identifier: Apache-2.0 */
#include "wait_limit_kernels.h"

#include <gpurt/device.h>

GPURT_DEVN int32_t limit_reads(const struct wait_limit_args *p)
{
    limit_all_reader_t reader;
    uint64_t m, bytes;

    if (p->what == LIMIT_SEGRING)
        return gpurt_segring_read_for(&p->ring, &m, sizeof m, &bytes, p->ns);
    if (gpurt_reader_join(&p->all, &reader) != GPURT_OK)
        return GPURT_E_NOMEM;
    return gpurt_reader_read_for(&reader, &m, p->ns);
}

GPURT_DEVN int32_t limit_sends(const struct wait_limit_args *p)
{
    uint64_t m = 1;

    while (gpurt_try_send(&p->full, &m) == GPURT_OK)
        ;
    return gpurt_send_for(&p->full, &m, p->ns);
}

GPURT_DEVN int32_t limit_waits(const struct wait_limit_args *p)
{
    uint32_t which;
    uint64_t m;

    switch (p->what) {
    case LIMIT_RECEIVE:
        return gpurt_receive_for(&p->any, &m, p->ns);
    case LIMIT_RECEIVE_PAIR:
        return gpurt_receive_for(&p->two, &m, p->ns);
    case LIMIT_SEND:
        return limit_sends(p);
    case LIMIT_RECEIVE_FIRST:
        return gpurt_receive_first_for(&p->any, 1, &m, &which, p->ns);
    case LIMIT_PHASER:
        return gpurt_phaser_wait_for(p->phaser, gpurt_phaser_arrive(p->phaser), p->ns);
    case LIMIT_FUTEX:
        return gpurt_futex_wait_for(p->word, 0, p->ns);
    default:
        return limit_reads(p);
    }
}

/* Block 1, where there is one, waits for what block 0 does after its wait. */
GPURT_KERNEL(wait_limit, struct wait_limit_args, p)
{
    if (gpurt_block_rank() == 0) {
        *p->answer = limit_waits(p);
        gpurt_store_relaxed_dev_u32(p->over, 1); /* relaxed: a word for itself */
        return;
    }
    while (!gpurt_load_relaxed_dev_u32(p->over)) /* relaxed: likewise */
        gpurt_relax();
}

/* ... and what it does not do. */
GPURT_KERNEL(wait_limit_leaves, struct wait_limit_args, p)
{
    if (gpurt_block_rank() == 0)
        *p->answer = limit_waits(p);
    else
        while (!gpurt_load_relaxed_dev_u32(p->over)) /* relaxed: likewise */
            gpurt_relax();
}

/* ... and what never comes. */
GPURT_KERNEL(wait_limit_knot, struct wait_limit_args, p)
{
    *p->answer = limit_waits(p);
    while (!gpurt_load_relaxed_dev_u32(p->word)) /* relaxed: likewise */
        gpurt_relax();
}
