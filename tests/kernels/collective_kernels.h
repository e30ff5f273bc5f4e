/* SPDX-License-Identifier: Apache-2.0 */
/* collective_kernels.h - collectives of warps, blocks and clusters, for test_collective. */
#ifndef GPURT_TESTS_COLLECTIVE_KERNELS_H
#define GPURT_TESTS_COLLECTIVE_KERNELS_H

#include <gpurt/base.h>
#include <gpurt/kernel.h>

enum {
    COLLECTIVE_ADD,
    COLLECTIVE_MIN,
    COLLECTIVE_MAX,
    COLLECTIVE_OPS
};

/* A row of the answer: an element a thread. */
enum {
    COLLECTIVE_WARP_SCAN,
    COLLECTIVE_WARP_EXSCAN,
    COLLECTIVE_WARP_SEGSCAN,
    COLLECTIVE_REDUCE,
    COLLECTIVE_SCAN,
    COLLECTIVE_EXSCAN,
    COLLECTIVE_TOTAL,
    COLLECTIVE_SEGSCAN,
    COLLECTIVE_CLUSTER,
    COLLECTIVE_ROWS
};

/* Without an operator. */
enum {
    COLLECTIVE_BROADCAST,
    COLLECTIVE_SCATTER,
    COLLECTIVE_GATHER,
    COLLECTIVE_STRIPED, /* COLLECTIVE_ITEMS rows */
    COLLECTIVE_ITEMS = 3,
    COLLECTIVE_BLOCKED = COLLECTIVE_STRIPED + COLLECTIVE_ITEMS,
    COLLECTIVE_CLUSTER_BROADCAST = COLLECTIVE_BLOCKED + COLLECTIVE_ITEMS,
    COLLECTIVE_MOVES
};

/* Owner: the test. Shared with: all blocks, each its own elements. */
struct collective_args {
    const void *in;      /* an element a thread */
    const uint8_t *head; /* likewise */
    void *out;           /* COLLECTIVE_OPS * COLLECTIVE_ROWS + COLLECTIVE_MOVES rows */
    uint32_t mask;       /* of the lanes that scan as a warp; the others do nothing there */
    uint32_t from;       /* thread whose value is broadcast; scatters go `from` places on */
};

/* Of a map x -> a x + b in 32 bits, a in the low half: composing them does not commute. */
GPURT_HD uint64_t collective_compose(uint64_t first, uint64_t then)
{
    uint32_t a = (uint32_t)then * (uint32_t)first;
    uint32_t b = (uint32_t)then * (uint32_t)(first >> 32) + (uint32_t)(then >> 32);

    return a | (uint64_t)b << 32;
}

GPURT_KERNEL_DECLARE(collective_u32, struct collective_args);
GPURT_KERNEL_DECLARE(collective_i32, struct collective_args);
GPURT_KERNEL_DECLARE(collective_u64, struct collective_args);
GPURT_KERNEL_DECLARE(collective_i64, struct collective_args);
GPURT_KERNEL_DECLARE(collective_f32, struct collective_args);
GPURT_KERNEL_DECLARE(collective_f64, struct collective_args);
GPURT_KERNEL_DECLARE(collective_maps,
                     struct collective_args); /* COLLECTIVE_ROWS rows, u64 */

#endif
