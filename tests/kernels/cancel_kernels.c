/* SPDX-License-Identifier: Apache-2.0 */
/* A panic while the rest of the block waits in each way there is. Nobody of the block may pass
 * the place; everybody else must. */
#define GPURT_NAMED_BARRIER 1
#include "cancel_kernels.h"

#include <gpurt/device.h>
#include <gpurt/panic.h>

/* Whether the caller is to panic: lane 5 of warp 0, all of that warp, or everybody. */
GPURT_DEV bool cancel_is_victim(const struct cancel_args *p)
{
    if (gpurt_block_rank() != p->victim)
        return false;
    if (p->where == CANCEL_BY_ALL)
        return true;
    return gpurt_warp() == 0 && (p->where == CANCEL_AT_NAMED_BARRIER || gpurt_lane() == 5);
}

GPURT_DEV void cancel_panic(const struct cancel_args *p)
{
    for (uint32_t i = 0; i < p->late; i++)
        gpurt_relax();
    GPURT_PANIC("block %u, on purpose", gpurt_block_rank());
}

/* What nobody will end but a cancellation. */
GPURT_DEV void cancel_wait(const struct cancel_args *p, uint32_t *mine)
{
    uint32_t spins = 0;

    if (gpurt_block_rank() != p->victim)
        return;
    if (p->where == CANCEL_IN_RELAX)
        for (;;)
            gpurt_relax();
    if (p->where == CANCEL_IN_LOOP)
        for (;;) {
            spins += gpurt_load_relaxed_dev_u32(mine);
            gpurt_cancel_point();
        }
    if (p->where == CANCEL_IN_PASSES)
        GPURT_LOOP(uint64_t, i, 0, UINT64_MAX, 1)
        {
            spins += gpurt_load_relaxed_dev_u32(mine);
        }
    if (p->where == CANCEL_IN_ASKED) {
        while (!gpurt_cancelled())
            spins++;
        *mine = CANCEL_FAREWELL;
        gpurt_cancel_point();
    }
}

GPURT_KERNEL(cancel_block, struct cancel_args, p)
{
    uint32_t *mine = &p->out[gpurt_global_id()];

    *mine = CANCEL_BEGAN;
    if (cancel_is_victim(p))
        cancel_panic(p);
    cancel_wait(p, mine);
    if (p->where == CANCEL_IN_WARP)
        (void)gpurt_ballot(GPURT_FULL_MASK, true);
    if (p->where == CANCEL_AT_NAMED_PART && gpurt_block_rank() == p->victim &&
        gpurt_warp() == 0)
        for (;;)
            gpurt_relax();
    if (p->where == CANCEL_AT_NAMED_BARRIER || p->where == CANCEL_AT_NAMED_PART)
        gpurt_named_barrier(3, gpurt_block_threads());
    else
        gpurt_block_barrier();
    *mine = CANCEL_PASSED;
}

GPURT_KERNEL(cancel_cluster, struct cancel_args, p)
{
    uint32_t *mine = &p->out[gpurt_global_id()];
    bool relaxes =
        p->where == CANCEL_IN_CLUSTER_RELAX && p->victim != CANCEL_NOBODY &&
        gpurt_block_rank() / gpurt_cluster_size() == p->victim / gpurt_cluster_size();

    *mine = CANCEL_BEGAN;
    gpurt_cluster_barrier();
    if (cancel_is_victim(p))
        cancel_panic(p);
    /* NOLINTNEXTLINE(bugprone-infinite-loop): until it is cancelled */
    while (relaxes)
        gpurt_relax();
    gpurt_cluster_barrier();
    *mine = CANCEL_PASSED;
}

GPURT_KERNEL(cancel_grid, struct cancel_args, p)
{
    uint32_t *mine = &p->out[gpurt_global_id()];

    *mine = CANCEL_BEGAN;
    gpurt_grid_barrier();
    if (cancel_is_victim(p))
        cancel_panic(p);
    gpurt_grid_barrier();
    *mine = CANCEL_PASSED;
}

GPURT_KERNEL(cancel_loop, struct cancel_loop_args, p)
{
    uint32_t passes = 0, hash = 0, last = 0;

    GPURT_LOOP(uint32_t, i, p->from, p->to, p->step)
    {
        if (i == p->leave)
            break;
        last = i;
        passes++;
        if (i % 3 == 0)
            continue;
        hash = hash * 31 + i;
    }
    p->out[0] = passes;
    p->out[1] = hash;
    p->out[2] = last;
}
