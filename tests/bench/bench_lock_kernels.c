/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_lock.h"

#include <gpurt/device.h>

/* Thread 0 of one block: cycles in the acquire alone, summed; giving back lies outside. */
#define ACQUIRES(take, give)                   \
    uint64_t sum = 0;                          \
                                               \
    if (gpurt_global_id() != 0)                \
        return;                                \
    for (uint32_t i = 0; i < p->rounds; i++) { \
        uint64_t begin = gpurt_clock();        \
                                               \
        take;                                  \
        sum += gpurt_clock() - begin;          \
        give;                                  \
    }                                          \
    p->cycles[0] = sum

GPURT_KERNEL(bench_lock_global, struct bench_lock_args, p)
{
    ACQUIRES((void)gpurt_mutex_lock(&p->desk->mutex),
             (void)gpurt_mutex_unlock(&p->desk->mutex));
}

GPURT_KERNEL(bench_lock_shared, struct bench_lock_args, p)
{
    GPURT_SHARED(gpurt_mutex_t, mutex, 1);

    if (gpurt_thread_rank() == 0)
        gpurt_mutex_init(mutex);
    gpurt_block_barrier();
    ACQUIRES((void)gpurt_mutex_lock(mutex), (void)gpurt_mutex_unlock(mutex));
}

/* The floor: one compare-exchange, and a store to take it back. */
GPURT_KERNEL(bench_bare_global, struct bench_lock_args, p)
{
    uint64_t none;

    ACQUIRES(none = 0; (void)gpurt_cas_relaxed_far_u64(&p->desk->xword, &none, 1),
                       gpurt_store_relaxed_dev_u64(&p->desk->xword, 0));
}

GPURT_KERNEL(bench_bare_shared, struct bench_lock_args, p)
{
    GPURT_SHARED(uint64_t, word, 1);
    uint64_t none;

    if (gpurt_thread_rank() == 0)
        gpurt_store_relaxed_blk_u64(word, 0);
    gpurt_block_barrier();
    ACQUIRES(none = 0; (void)gpurt_cas_relaxed_blk_u64(word, &none, 1),
                       gpurt_store_relaxed_blk_u64(word, 0));
}

/* One lane a warp of every block. */
GPURT_KERNEL(bench_lock_contended, struct bench_lock_args, p)
{
    if (gpurt_lane() != 0)
        return;
    for (uint32_t i = 0; i < p->rounds; i++) {
        (void)gpurt_mutex_lock(&p->desk->mutex);
        p->desk->bare++;
        (void)gpurt_mutex_unlock(&p->desk->mutex);
    }
}

GPURT_KERNEL(bench_lock_warps, struct bench_lock_args, p)
{
    for (uint32_t i = 0; i < p->rounds; i++) {
        (void)gpurt_mutex_lock_warp(GPURT_FULL_MASK, &p->desk->mutex);
        if (gpurt_lane() == 0)
            p->desk->bare++;
        (void)gpurt_mutex_unlock_warp(GPURT_FULL_MASK, &p->desk->mutex);
    }
}
