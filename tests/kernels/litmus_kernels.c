/* SPDX-License-Identifier: Apache-2.0 */
/* litmus_kernels.c - the roles of each litmus test, at each scope, and what is weak. */
#include "litmus_kernels.h"

#include <gpurt/device.h>

/* What one role does. Each form is written out, so that nothing lies between its two accesses. */
#define LITMUS_ROLES(s, second_load)                                                   \
    GPURT_DEV void litmus_mp_##s(bool strong, uint32_t role, uint32_t *x, uint32_t *y, \
                                 uint32_t *seen)                                       \
    {                                                                                  \
        if (role == 0 && strong) {                                                     \
            gpurt_store_relaxed_##s##_u32(x, 1);                                       \
            gpurt_store_release_##s##_u32(y, 1);                                       \
        } else if (role == 0) {                                                        \
            gpurt_store_relaxed_##s##_u32(x, 1);                                       \
            gpurt_store_relaxed_##s##_u32(y, 1);                                       \
        } else if (strong) {                                                           \
            seen[0] = gpurt_load_acquire_##s##_u32(y);                                 \
            seen[1] = gpurt_load_relaxed_##s##_u32(x);                                 \
        } else {                                                                       \
            uint32_t v = gpurt_load_relaxed_##s##_u32(y);                              \
                                                                                       \
            seen[1] = gpurt_load_relaxed_##s##_u32(x);                                 \
            seen[0] = v;                                                               \
        }                                                                              \
    }                                                                                  \
    /* One role with the words the other way round is the other. */                    \
    GPURT_DEV void litmus_sb_##s(bool strong, uint32_t *mine, uint32_t *other,         \
                                 uint32_t *seen)                                       \
    {                                                                                  \
        gpurt_store_relaxed_##s##_u32(mine, 1);                                        \
        if (strong)                                                                    \
            gpurt_fence_seq_cst_##s();                                                 \
        *seen = gpurt_load_relaxed_##s##_u32(other);                                   \
    }                                                                                  \
    GPURT_DEV void litmus_lb_##s(bool strong, uint32_t *mine, uint32_t *other,         \
                                 uint32_t *seen)                                       \
    {                                                                                  \
        if (strong) {                                                                  \
            *seen = gpurt_load_acquire_##s##_u32(mine);                                \
            gpurt_store_release_##s##_u32(other, 1);                                   \
        } else {                                                                       \
            uint32_t v = gpurt_load_relaxed_##s##_u32(mine);                           \
                                                                                       \
            gpurt_store_relaxed_##s##_u32(other, 1);                                   \
            *seen = v;                                                                 \
        }                                                                              \
    }                                                                                  \
    GPURT_DEV void litmus_look_##s(bool strong, uint32_t *first, uint32_t *then,       \
                                   uint32_t *seen)                                     \
    {                                                                                  \
        uint32_t v = gpurt_load_relaxed_##s##_u32(first);                              \
                                                                                       \
        if (strong)                                                                    \
            gpurt_fence_seq_cst_##s();                                                 \
        seen[1] = gpurt_load_relaxed_##s##_u32(then);                                  \
        seen[0] = v;                                                                   \
    }                                                                                  \
    GPURT_DEV void litmus_corr_##s(bool strong, uint32_t *x, uint32_t *seen)           \
    {                                                                                  \
        uint32_t v = gpurt_load_relaxed_##s##_u32(x);                                  \
                                                                                       \
        seen[1] = strong ? gpurt_load_relaxed_##s##_u32(x) : second_load(x);           \
        seen[0] = v;                                                                   \
    }                                                                                  \
    GPURT_DEV void litmus_role_##s(uint32_t shape, bool strong, uint32_t role,         \
                                   uint32_t *x, uint32_t *y, uint32_t *seen)           \
    {                                                                                  \
        switch (shape) {                                                               \
        case LITMUS_MP:                                                                \
            litmus_mp_##s(strong, role, x, y, seen);                                   \
            break;                                                                     \
        case LITMUS_SB:                                                                \
            litmus_sb_##s(strong, role ? y : x, role ? x : y, seen + role);            \
            break;                                                                     \
        case LITMUS_LB:                                                                \
            litmus_lb_##s(strong, role ? y : x, role ? x : y, seen + role);            \
            break;                                                                     \
        case LITMUS_IRIW:                                                              \
            if (role < 2)                                                              \
                gpurt_store_relaxed_##s##_u32(role ? y : x, 1);                        \
            else                                                                       \
                litmus_look_##s(strong, role == 2 ? x : y, role == 2 ? y : x,          \
                                seen + (role == 2 ? 0 : 2));                           \
            break;                                                                     \
        default:                                                                       \
            if (role == 0)                                                             \
                gpurt_store_relaxed_##s##_u32(x, 1);                                   \
            else                                                                       \
                litmus_corr_##s(strong, x, seen);                                      \
        }                                                                              \
    }

#define LITMUS_PLAIN(p) (*(p))
LITMUS_ROLES(blk, LITMUS_PLAIN)
LITMUS_ROLES(clu, gpurt_load_relaxed_blk_u32)
LITMUS_ROLES(dev, gpurt_load_relaxed_blk_u32)
LITMUS_ROLES(sys, gpurt_load_relaxed_blk_u32)

GPURT_DEV void litmus_role(const struct litmus_args *p, uint32_t role, uint64_t instance)
{
    uint32_t *x = p->cells + instance * LITMUS_STRIDE;
    uint32_t *y = p->cells + (p->instances + instance) * LITMUS_STRIDE;
    uint32_t *seen = p->seen + instance * LITMUS_SEEN;
    bool strong = p->form != LITMUS_WEAK;
    uint32_t scope = p->form == LITMUS_NARROW ? (uint32_t)LITMUS_BLK : p->scope;

    if (scope == LITMUS_BLK)
        litmus_role_blk(p->shape, strong, role, x, y, seen);
    else if (scope == LITMUS_CLU)
        litmus_role_clu(p->shape, strong, role, x, y, seen);
    else if (scope == LITMUS_DEV)
        litmus_role_dev(p->shape, strong, role, x, y, seen);
    else
        litmus_role_sys(p->shape, strong, role, x, y, seen);
}

/* The thread whose instance this one plays `role` in. Roles of one instance are in different warps,
 * blocks of a cluster, or blocks. */
GPURT_DEV uint32_t litmus_owner(const struct litmus_args *p, uint32_t role, uint32_t round)
{
    uint32_t threads = gpurt_block_threads(), thread = gpurt_thread_rank();
    uint32_t block = gpurt_block_rank(), blocks = gpurt_grid_blocks();

    if (p->scope == LITMUS_BLK) {
        thread = (thread + role * GPURT_WARP_SIZE) % threads;
    } else if (p->scope == LITMUS_CLU) {
        uint32_t size = gpurt_cluster_size(), place = gpurt_cluster_rank();

        block = block - place + (place + role) % size;
    } else {
        block = (block + role * (1 + round % ((blocks - 1) / 3))) % blocks;
    }
    return block * threads + thread;
}

GPURT_DEV void litmus_meet(uint32_t scope)
{
    if (scope == LITMUS_BLK)
        gpurt_block_barrier();
    else if (scope == LITMUS_CLU)
        gpurt_cluster_barrier();
    else
        gpurt_grid_barrier();
}

GPURT_DEV uint32_t litmus_hash(uint32_t v)
{
    v = (v ^ v >> 16) * 0x7feb352du;
    v = (v ^ v >> 15) * 0x846ca68bu;
    return v ^ v >> 16;
}

GPURT_KERNEL(litmus_run, struct litmus_args, p)
{
    uint32_t roles = p->shape == LITMUS_IRIW ? 4 : 2,
             all = gpurt_grid_blocks() * gpurt_block_threads();
    uint32_t mix = p->seed, stale = 0;

    for (uint32_t round = 0; round < p->rounds; round++) {
        uint32_t warp = (uint32_t)gpurt_global_id() / GPURT_WARP_SIZE;
        uint32_t wait = litmus_hash(warp * 64 + round + p->seed), first = wait >> 16;

        litmus_meet(p->scope);
        for (uint32_t k = 0; k < roles; k++) {
            uint32_t role = (first + k) % roles;
            uint64_t instance = (uint64_t)round * all + litmus_owner(p, role, round);

            /* A copy in the multiprocessor's cache, which a load of block scope may find. */
            if (role >= roles / 2)
                stale += gpurt_load_relaxed_blk_u32(p->cells + instance * LITMUS_STRIDE);
            for (uint32_t j = 0; j < wait % (p->jitter + 1); j++)
                mix = mix * 3 + (j ^ mix >> 7);
            wait = litmus_hash(wait);
            litmus_role(p, role, instance);
        }
    }
    if (mix == 0x5eed && stale == 0x5eed) /* neither is left out */
        p->seen[0] = mix;
}

GPURT_DEV bool litmus_is_weak(uint32_t shape, const uint32_t *seen)
{
    switch (shape) {
    case LITMUS_SB:
        return seen[0] == 0 && seen[1] == 0;
    case LITMUS_LB:
        return seen[0] == 1 && seen[1] == 1;
    case LITMUS_IRIW:
        return seen[0] == 1 && seen[1] == 0 && seen[2] == 1 && seen[3] == 0;
    default: /* MP: flag, data. CoRR: first, second */
        return seen[0] == 1 && seen[1] == 0;
    }
}

/* relaxed: a sum, read by the host when the kernel has ended. */
GPURT_KERNEL(litmus_judge, struct litmus_args, p)
{
    uint64_t all = (uint64_t)gpurt_grid_blocks() * gpurt_block_threads();

    for (uint64_t i = gpurt_global_id(); i < p->instances; i += all)
        if (litmus_is_weak(p->shape, p->seen + i * LITMUS_SEEN))
            gpurt_red_add_relaxed_dev_u64(p->weak, 1);
}
