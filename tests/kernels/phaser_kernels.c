/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 1 /* a block that is cancelled drops out */
#include "phaser_kernels.h"

#include <gpurt/device.h>

/* Each block's word is what its round asks for, as far as the blocks that are still there go. */
GPURT_DEV void phaser_check(const struct phaser_args *p, uint32_t first, uint32_t last,
                            uint32_t round)
{
    uint32_t b = first + gpurt_thread_rank();

    if (b < last && p->cells[b] != round)
        gpurt_red_add_relaxed_dev_u32(p->wrong, 1);
}

GPURT_DEV gpurt_status_t phaser_sync(const struct phaser_args *p, gpurt_member_t *m,
                                     uint32_t turn)
{
    uint32_t st = 0;

    if (p->what == PHASER_CLUSTER)
        return gpurt_member_sync_cluster(m);
    if (p->what != PHASER_BUTTERFLY)
        return gpurt_member_sync(m);
    gpurt_block_barrier();
    if (gpurt_thread_rank() == 0)
        st = (uint32_t)gpurt_butterfly_sync(p->words, gpurt_grid_blocks(),
                                            gpurt_block_rank(), turn);
    return (gpurt_status_t)(int32_t)gpurt_block_broadcast_u32(st, 0);
}

GPURT_KERNEL(phaser_meet, struct phaser_args, p)
{
    uint32_t block = gpurt_block_rank(), blocks = gpurt_grid_blocks(), turn = 0;
    uint32_t rounds = p->what == PHASER_DROP ? block + 1 : (uint32_t)PHASER_ROUNDS;
    GPURT_SHARED(gpurt_member_t, member, 1);

    rounds = rounds < PHASER_ROUNDS ? rounds : (uint32_t)PHASER_ROUNDS;
    if (p->what == PHASER_JOIN && block == blocks - 1 && gpurt_thread_rank() == 0)
        gpurt_phaser_join(p->phaser);
    if (p->what != PHASER_BUTTERFLY && gpurt_cluster_rank() == 0)
        gpurt_member_begin(member, p->phaser);
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t first = p->what == PHASER_DROP ? round : 0;
        gpurt_status_t st;

        if (p->what == PHASER_CANCEL && block == 1 && round == 2)
            gpurt_cancel_block();
        if (gpurt_thread_rank() == 0 && p->what != PHASER_JOIN)
            p->cells[block] = round + 1;
        st = phaser_sync(p, member, ++turn);
        if (gpurt_thread_rank() == 0)
            p->status[block * PHASER_ROUNDS + round] = st;
        if (p->what < PHASER_JOIN || p->what == PHASER_BUTTERFLY)
            phaser_check(p, first, blocks, round + 1);
        if (p->what == PHASER_DROP && round && p->cells[round - 1] != PHASER_LEFT)
            gpurt_red_add_relaxed_dev_u32(p->wrong, 1);
        phaser_sync(p, member, ++turn);
    }
    if (p->what == PHASER_DROP && gpurt_thread_rank() == 0)
        p->cells[block] = PHASER_LEFT;
    if (p->what != PHASER_BUTTERFLY && gpurt_cluster_rank() == 0)
        gpurt_member_end(member);
}

GPURT_KERNEL(phaser_late, struct phaser_args, p)
{
    gpurt_status_t first, st;
    uint32_t token;

    if (gpurt_block_rank() == 1) {
        while (!gpurt_load_relaxed_dev_u32(p->xflag)) /* relaxed: nothing goes with it */
            gpurt_relax();
        token = gpurt_phaser_arrive(p->phaser);
        gpurt_phaser_wait(p->phaser, token);
        return;
    }
    token = gpurt_phaser_arrive(p->phaser);
    first = st = gpurt_phaser_wait_for(p->phaser, token, 1000);
    gpurt_store_relaxed_dev_u32(p->xflag, 1); /* relaxed: likewise */
    while (st == GPURT_E_TIMEOUT)
        st = gpurt_phaser_wait_for(p->phaser, token, 1000);
    p->status[0] = first;
    p->status[1] = st;
}

GPURT_KERNEL(phaser_low, struct phaser_args, p)
{
    uint64_t w, low;

    if (gpurt_block_rank() == 1) {
        while (
            !gpurt_load_relaxed_dev_u32(p->xflag)) /* relaxed, all: words for themselves */
            gpurt_relax();
        gpurt_phaser_join(p->phaser);
        return;
    }
    w = gpurt_phaser_come(&p->phaser->xword);
    low = gpurt_load_relaxed_dev_u64(&p->phaser->xword);
    gpurt_store_relaxed_dev_u32(p->xflag, 1);
    for (uint32_t i = 0; i < PHASER_LOOKS && *p->wrong == 0; i++) {
        *p->wrong = gpurt_load_relaxed_dev_u64(&p->phaser->xword) != low;
        gpurt_pause();
    }
    gpurt_phaser_arm(p->phaser, w);
}

GPURT_KERNEL(phaser_broken, struct phaser_args, p)
{
    if (gpurt_block_rank() == 0)
        p->status[0] = gpurt_phaser_wait(p->phaser, gpurt_phaser_arrive(p->phaser));
    else
        gpurt_phaser_break(p->phaser);
}
