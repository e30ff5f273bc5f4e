/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_DEFER_DEPTH 2
#include "campaign_app.h"

#include <gpurt/context.h>
#include <gpurt/defer.h>
#include <gpurt/device.h>

#include <assert.h>

#if GPURT_ON_CUDA
extern "C" void *campaign_gpu_map(void *memory, size_t bytes)
{
    void *seen = NULL;

    if (cudaHostRegister(memory, bytes, cudaHostRegisterMapped) != cudaSuccess ||
        cudaHostGetDevicePointer(&seen, memory, 0) != cudaSuccess)
        return NULL;
    return seen;
}
#endif

/* What a message carries of itself: a reader sees whether it is whole. */
GPURT_DEV uint32_t sum_of(uint32_t block, uint32_t i)
{
    return (block * 40503u + i) * 2654435761u;
}

/* ---- what only a GPU has --------------------------------------------------------------- */

GPURT_DEVN void fail_as_a_gpu(const struct campaign_args *p)
{
#if GPURT_ON_CUDA
    GPURT_SHARED(uint32_t, word, 1);

    if (p->way == CAMPAIGN_SHARED)
        gpurt_store_relaxed_blk_u32(word + (1 << 18), 1);
    assert(p->way != CAMPAIGN_CUDA_ASSERT);
#else
    (void)p;
#endif
}

/* ---- a panic in a handler, and with a lock ------------------------------------------------ */

/* arg: block << 32 | message. */
GPURT_DEVN void handler_that_panics(uint64_t arg)
{
    GPURT_PANIC("handler of block %u at message %u", (uint32_t)(arg >> 32), (uint32_t)arg);
}

GPURT_DEVN void handler_that_unlocks(uint64_t arg)
{
    /* relaxed: the lock guards nothing but the turn */
    gpurt_store_relaxed_dev_u32((uint32_t *)(uintptr_t)arg, 0);
}

/* All lanes come. Whoever is cancelled with it gives it back. */
GPURT_DEVN void lock_take(const struct campaign_args *p)
{
    if (gpurt_lane() == 0) {
        uint32_t found = 0;

        while (!gpurt_cas_relaxed_dev_u32(p->xlock, &found, 1)) { /* relaxed: as above */
            found = 0;
            gpurt_relax();
        }
        gpurt_trail_hold(GPURT_HELD_LOCK, "turn", p->xlock);
    }
    (void)gpurt_defer(GPURT_FULL_MASK, handler_that_unlocks, (uint64_t)(uintptr_t)p->xlock);
}

GPURT_DEVN void lock_give(const struct campaign_args *p)
{
    (void)gpurt_undefer(GPURT_FULL_MASK, true);
    if (gpurt_lane() == 0)
        gpurt_trail_release(p->xlock);
}

/* ---- the kernel ------------------------------------------------------------------------- */

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
    case CAMPAIGN_LOCK:
        GPURT_PANIC("block %u at message %u", block, i);
        break;
    case CAMPAIGN_DEFER:
        GPURT_PANIC("block %u at message %u", block, i); /* and so does its handler */
        break;
    default:
        fail_as_a_gpu(p);
        break;
    }
}

/* Half way. With a lock every block takes it, and some fail while they have it. */
GPURT_DEVN void turning_point(const struct campaign_args *p, uint32_t block, uint32_t i)
{
    if (p->way == CAMPAIGN_LOCK)
        lock_take(p);
    if (p->way == CAMPAIGN_DEFER && block < p->failing)
        (void)gpurt_defer(GPURT_FULL_MASK, handler_that_panics, (uint64_t)block << 32 | i);
    gpurt_syncwarp(GPURT_FULL_MASK); /* all lanes have come as far */
    if (block < p->failing)
        fail(p, block, i);
    if (p->way == CAMPAIGN_LOCK)
        lock_give(p);
}

GPURT_KERNEL(campaign, struct campaign_args, p)
{
    uint32_t block = gpurt_block_rank();

    for (uint32_t i = 0; i < p->messages; i++) {
        if (i == p->messages / 2 && p->way != CAMPAIGN_NONE)
            turning_point(p, block, i);
        GPURT_LOG_BLOCK(GPURT_LEVEL_INFO, "m %u %u %u", block, p->first + i,
                        sum_of(block, p->first + i));
        gpurt_syncwarp(GPURT_FULL_MASK); /* what its lanes have stored comes before */
        if (gpurt_thread_rank() == 0)
            gpurt_store_release_sys_u64(&p->xdone[block], i + 1); /* T1.rel */
    }
}
