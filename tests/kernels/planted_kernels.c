/* SPDX-License-Identifier: Apache-2.0 */
#define GPURT_NAMED_BARRIER 1
#include "planted_kernels.h"

#include <gpurt/device.h>

#if !GPURT_ON_CUDA
#    include <stdlib.h>
#endif

/* ---- order: data races --------------------------------------------------------------- */
/* Each thread reads its neighbour's cell before the neighbour need have written it. The
 * neighbour is the thread before, so lanes that run in order never see it. */
GPURT_KERNEL(planted_missing_barrier, struct planted_args, p)
{
    GPURT_SHARED(uint32_t, cell, PLANTED_THREADS);
    uint32_t t = gpurt_thread_x();

    cell[t] = t + 1;
    if (p->good)
        gpurt_block_barrier();
    p->words[gpurt_global_id()] = cell[t ? t - 1 : 0];
}

/* A cell is written again before everybody has read it: one barrier a round is not
 * enough. */
GPURT_DEV uint32_t planted_after(uint32_t t, uint32_t last)
{
    return t < last ? t + 1 : t;
}
GPURT_KERNEL(planted_second_barrier, struct planted_args, p)
{
    GPURT_SHARED(uint32_t, cell, PLANTED_THREADS);
    uint32_t t = gpurt_thread_x(), sum = 0;

    for (uint32_t i = 0; i < PLANTED_ROUNDS; i++) {
        cell[t] = t + i;
        gpurt_block_barrier();
        sum += cell[planted_after(t, PLANTED_THREADS - 1)];
        if (p->good)
            gpurt_block_barrier();
    }
    p->words[gpurt_global_id()] = sum;
}

/* The same in one warp. */
GPURT_KERNEL(planted_second_syncwarp, struct planted_args, p)
{
    GPURT_SHARED(uint32_t, cell, PLANTED_THREADS);
    uint32_t t = gpurt_thread_x(), sum = 0;

    for (uint32_t i = 0; i < PLANTED_ROUNDS; i++) {
        cell[t] = t + i;
        gpurt_syncwarp(GPURT_FULL_MASK);
        sum += cell[planted_after(t, t | 31u)];
        if (p->good)
            gpurt_syncwarp(GPURT_FULL_MASK);
    }
    p->words[gpurt_global_id()] = sum;
}

/* A ballot makes lanes meet, but orders no memory. */
GPURT_KERNEL(planted_ballot_barrier, struct planted_args, p)
{
    GPURT_SHARED(uint32_t, cell, PLANTED_THREADS);
    uint32_t t = gpurt_thread_x();

    cell[t] = t + 1;
    if (p->good)
        gpurt_syncwarp(GPURT_FULL_MASK);
    else
        (void)gpurt_ballot(GPURT_FULL_MASK, true);
    p->words[gpurt_global_id()] = cell[t ^ 1u];
}

/* Block 0 hands a plain word to block 1; the flag that says so is stored relaxed. */
GPURT_KERNEL(planted_relaxed_publish, struct planted_args, p)
{
    uint32_t t = gpurt_thread_x(), *data = p->words + t, *flag = data + PLANTED_THREADS;

    if (gpurt_block_x() == 0) {
        *data = t + 1;
        if (p->good)
            gpurt_store_release_dev_u32(flag, 1);
        else
            gpurt_store_relaxed_dev_u32(flag, 1); /* the bug */
        return;
    }
    while (!gpurt_load_acquire_dev_u32(flag))
        gpurt_relax();
    p->words[2 * PLANTED_THREADS + t] = *data;
}

/* ---- order: atomicity ---------------------------------------------------------------- */
GPURT_KERNEL(planted_lost_update, struct planted_args, p)
{
    for (uint32_t i = 0; i < PLANTED_ROUNDS; i++) {
        if (p->good) {
            gpurt_add_relaxed_dev_u32(p->words, 1); /* only the sum matters */
        } else {
            uint32_t v = gpurt_load_relaxed_dev_u32(p->words);

            gpurt_store_relaxed_dev_u32(p->words, v + 1);
        }
    }
}

GPURT_KERNEL(planted_plain_update, struct planted_args, p)
{
    for (uint32_t i = 0; i < PLANTED_ROUNDS; i++) {
        if (p->good)
            gpurt_add_relaxed_dev_u32(p->words, 1); /* only the sum matters */
        else
            p->words[0]++;
    }
}

/* A free list of nodes 1, 2, ...: head holds a node's number and, in the twin, above it a
 * tag that every change increments. Without it a head that went away and came back looks
 * unchanged, and the next pointer read before is stale. */
GPURT_DEV uint64_t planted_link(const struct planted_args *p, uint64_t head, uint32_t node)
{
    return p->good ? ((head >> 32) + 1) << 32 | node : node;
}
GPURT_DEV uint32_t *planted_next(const struct planted_args *p, uint32_t node)
{
    return p->words + 1 + node * PLANTED_NODE_WORDS;
}
GPURT_DEV uint32_t planted_pop(const struct planted_args *p)
{
    uint64_t head = gpurt_load_acquire_dev_u64(p->head);

    for (;;) {
        uint32_t node = (uint32_t)head, next;

        if (!node) {
            gpurt_relax();
            head = gpurt_load_acquire_dev_u64(p->head);
            continue;
        }
        next =
            gpurt_load_relaxed_dev_u32(planted_next(p, node)); /* the exchange checks it */
        if (gpurt_cas_acq_rel_dev_u64(p->head, &head, planted_link(p, head, next)))
            return node;
    }
}
GPURT_DEV void planted_push(const struct planted_args *p, uint32_t node)
{
    uint64_t head = gpurt_load_acquire_dev_u64(p->head);

    do
        gpurt_store_relaxed_dev_u32(planted_next(p, node), (uint32_t)head); /* ours still */
    while (!gpurt_cas_acq_rel_dev_u64(p->head, &head, planted_link(p, head, node)));
}
/* words[0] counts nodes that two lanes had at once. */
GPURT_KERNEL(planted_aba, struct planted_args, p)
{
    for (uint32_t i = 0; i < PLANTED_ROUNDS; i++) {
        uint32_t node = planted_pop(p), *owner = planted_next(p, node) + 1;

        if (gpurt_xchg_acq_rel_dev_u32(owner, 1)) {
            gpurt_add_relaxed_dev_u32(p->words, 1); /* read after the launch */
            return;
        }
        gpurt_store_release_dev_u32(owner, 0);
        planted_push(p, node);
    }
}

/* A block-scope atomic on a word that two blocks share. */
GPURT_KERNEL(planted_block_scope, struct planted_args, p)
{
    if (p->good)
        gpurt_add_relaxed_dev_u32(p->words, 1); /* only the sum matters */
    else
        gpurt_add_relaxed_blk_u32(p->words, 1); /* the bug: scope, not order */
}

/* Shared memory starts as anything, not as 0. */
GPURT_KERNEL(planted_shared_unset, struct planted_args, p)
{
    GPURT_SHARED(uint32_t, count, 1);

    if (p->good && gpurt_thread_x() == 0)
        *count = 0;
    gpurt_block_barrier();
    gpurt_add_relaxed_blk_u32(count, 1); /* the barriers order */
    gpurt_block_barrier();
    p->words[gpurt_global_id()] = *count;
}

/* ---- warps and barriers -------------------------------------------------------------- */
/* A lane names others, but not itself. */
GPURT_KERNEL(planted_outsider_mask, struct planted_args, p)
{
    uint32_t mask = GPURT_FULL_MASK;

    if (!p->good && gpurt_lane() == 5)
        mask &= ~(1u << 5);
    p->words[gpurt_global_id()] = gpurt_popc(gpurt_ballot(mask, true));
}

/* Both halves name each other, under masks that differ. */
GPURT_KERNEL(planted_mismatched_masks, struct planted_args, p)
{
    uint32_t mask = GPURT_FULL_MASK;

    if (!p->good && gpurt_lane() >= 16)
        mask = GPURT_FULL_MASK - 1;
    p->words[gpurt_global_id()] = gpurt_popc(gpurt_ballot(mask, true));
}

/* One lane at the barrier, the rest of its warp in a ballot that names it. */
GPURT_KERNEL(planted_divergent_barrier, struct planted_args, p)
{
    if (p->good || gpurt_lane() != 5)
        p->words[gpurt_global_id()] = gpurt_popc(gpurt_ballot(GPURT_FULL_MASK, true));
    gpurt_block_barrier();
}

/* Two warps are expected, one comes. */
GPURT_KERNEL(planted_named_barrier, struct planted_args, p)
{
    if (p->good || gpurt_warp() == 0)
        gpurt_named_barrier(3, PLANTED_THREADS);
    p->words[gpurt_global_id()] = 32;
}

/* Legal, but seldom meant: threads of one block meet at two different barriers. */
GPURT_KERNEL(planted_barrier_sites, struct planted_args, p)
{
    if (p->good) {
        gpurt_block_barrier();
    } else if (gpurt_lane() & 1) {
        gpurt_block_barrier();
    } else {
        gpurt_block_barrier();
    }
    p->words[gpurt_global_id()] = 32;
}

/* Legal, but seldom meant: a lane ends that others name in a warp operation. In the default
 * order the last lane ends when the others wait already, the first before they come. */
GPURT_DEV void planted_end_named(const struct planted_args *p, uint32_t lane)
{
    uint32_t mask = GPURT_FULL_MASK;

    p->words[gpurt_global_id()] = 31;
    if (p->good)
        mask = gpurt_ballot(GPURT_FULL_MASK, gpurt_lane() != lane);
    if (gpurt_lane() == lane)
        return;
    p->words[gpurt_global_id()] = gpurt_popc(gpurt_ballot(mask, true));
}
GPURT_KERNEL(planted_exit_named, struct planted_args, p)
{
    planted_end_named(p, 31);
}
GPURT_KERNEL(planted_names_ended, struct planted_args, p)
{
    planted_end_named(p, 0);
}

/* ---- memory and arithmetic ----------------------------------------------------------- */
GPURT_DEV bool planted_is_culprit(void)
{
    return gpurt_global_id() == PLANTED_CULPRIT;
}

GPURT_KERNEL(planted_heap_overflow, struct planted_args, p)
{
    if (planted_is_culprit())
        p->words[p->count - p->good] = 1;
}

GPURT_KERNEL(planted_lane_overflow, struct planted_args, p)
{
    uint32_t local[8] = {0, 0, 0, 0, 0, 0, 0, 0}, t = gpurt_global_id();

    local[t & 7u] = t;
    (void)gpurt_ballot(GPURT_FULL_MASK, true);
    if (planted_is_culprit())
        local[p->eight - p->good] = t;
    p->words[t] = local[t & 7u];
}

GPURT_KERNEL(planted_shift, struct planted_args, p)
{
    if (planted_is_culprit())
        p->words[0] = 1u << (p->good ? 0 : p->bits33);
}

/* Each frame hands its array down, so that no compiler makes a loop of it. */
GPURT_DEVN uint32_t planted_deep(uint32_t depth, uint8_t *above)
{
    uint8_t here[1024];

    for (uint32_t i = 0; i < sizeof here; i++)
        here[i] = (uint8_t)(above[i] + depth);
#if !GPURT_ON_CUDA /* where the compiler must know how deep a stack gets */
    if (depth)
        return planted_deep(depth - 1, here) + here[depth % sizeof here];
#endif
    return here[depth % sizeof here];
}
GPURT_KERNEL(planted_stack_overflow, struct planted_args, p)
{
    uint8_t top[1024] = {0};

    if (planted_is_culprit() && planted_deep(p->good ? 2 : 4096, top) < 0xffffffffu)
        p->words[0] = 1;
}

GPURT_KERNEL(planted_null, struct planted_args, p)
{
    if (planted_is_culprit())
        *(p->good ? p->words : p->none) = 1;
}

GPURT_KERNEL(planted_divide, struct planted_args, p)
{
    if (planted_is_culprit())
        p->words[0] = PLANTED_CULPRIT / (p->zero + p->good * PLANTED_CULPRIT);
}

GPURT_KERNEL(planted_trap, struct planted_args, p)
{
    if (!planted_is_culprit())
        return;
    if (!p->good)
        gpurt_trap();
    p->words[0] = 1;
}

GPURT_KERNEL(planted_abort, struct planted_args, p)
{
    if (!planted_is_culprit())
        return;
    p->words[0] = 1;
#if !GPURT_ON_CUDA /* a GPU has none */
    if (!p->good)
        abort();
#endif
}

/* All words are right, and a thread says that something else is not. */
GPURT_KERNEL(planted_broken_promise, struct planted_args, p)
{
    if (!planted_is_culprit())
        return;
    p->words[0] = 1;
    GPURT_CHECK_BOUNDS(gpurt_thread_x(), p->good ? (uint32_t)PLANTED_THREADS : p->eight,
                       "word %u of %u", gpurt_thread_x(), p->eight);
}

/* ---- progress ------------------------------------------------------------------------ */
/* Each block waits for the next one, which begins only if there is room for it. The twin
 * waits for the one before. */
GPURT_KERNEL(planted_occupancy, struct planted_args, p)
{
    uint32_t block = gpurt_block_x(), other = p->good ? block - 1 : block + 1;

    if (gpurt_thread_x() == 0) {
        while (other < gpurt_grid_dim_x() && !gpurt_load_acquire_dev_u32(p->words + other))
            gpurt_relax();
        gpurt_store_release_dev_u32(p->words + block, 1);
    }
    gpurt_block_barrier();
}

/* Thread 0 waits for a word that nobody writes; in the twin another thread does. */
GPURT_KERNEL(planted_livelock, struct planted_args, p)
{
    if (p->good && gpurt_thread_x() == 1)
        gpurt_store_release_dev_u32(p->words, 1);
    if (gpurt_thread_x() == 0)
        while (!gpurt_load_acquire_dev_u32(p->words))
            gpurt_relax();
    gpurt_block_barrier();
    p->words[gpurt_global_id()] = 1;
}

/* The same without gpurt_relax: the loop must still be found out. */
GPURT_KERNEL(planted_endless_spin, struct planted_args, p)
{
    if (p->good && gpurt_thread_x() == 1)
        gpurt_store_release_dev_u32(p->words, 1);
    if (gpurt_thread_x() == 0)
        while (!gpurt_load_acquire_dev_u32(p->words)) {
        }
    gpurt_block_barrier();
    p->words[gpurt_global_id()] = 1;
}

/* No bug that may be reported: whoever forgets gpurt_relax must still get an answer. */
GPURT_KERNEL(planted_missing_relax, struct planted_args, p)
{
    if (gpurt_thread_x() == 1)
        gpurt_store_release_dev_u32(p->words, 1);
    if (gpurt_thread_x() == 0)
        while (!gpurt_load_acquire_dev_u32(p->words))
            if (p->good)
                gpurt_relax();
    gpurt_block_barrier();
    p->words[gpurt_global_id()] = 1;
}
