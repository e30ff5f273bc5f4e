/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_ATOMICFLOAT_KERNELS_H
#define GPURT_TESTS_ATOMICFLOAT_KERNELS_H

#include <gpurt/kernel.h>

enum {
    FLOATS_HALVES = 1 << 16, /* all there are */
    FLOATS_NEAR = 3,         /* floats around each middle of two halves */
    FLOATS_ROUNDS = 4,
    FLOATS_SUMS = 6, /* f16, both of f16x2; bf16, both of bf16x2 */
    FLOATS_BLOCKS = 4,
    FLOATS_THREADS = 48,
    FLOATS_ADDS = FLOATS_BLOCKS * FLOATS_THREADS, /* bf16 counts so far */
    FLOATS_TYPES = 8,
    FLOATS_PARTS = 4 /* of a vector, at most */
};
GPURT_STATIC_ASSERT(FLOATS_ADDS < 256, "bf16 counts no further");

enum floats_place {
    FLOATS_GLOBAL,
    FLOATS_SHARED,
    FLOATS_OTHERS /* in shared memory of the cluster's first block */
};

/* The second operand of a sum: every kind of number meets every half. */
GPURT_HD uint16_t floats_operand(uint32_t half, uint32_t round)
{
    uint32_t x = (half ^ (round + 1u) * 0x9e3779b9u) * 0x85ebca6bu;

    x = (x ^ x >> 13) * 0xc2b2ae35u;
    x ^= x >> 16;
    if (round ==
        0) /* one that is near, so that the sum has bits on both sides of the last one kept */
        x = half ^ (x & 0x8fffu);
    if (round == 1) /* the edges: zeros, subnormals, the largest, infinities, NaNs */
        x = (x & 1u ? 0x8000u : 0u) | (x >> 1 & 1u ? 0x7bfcu + (x >> 2 & 7u) : x >> 2 & 3u);
    return (uint16_t)x;
}

/* Owner: the test. */
struct floats_args {
    uint32_t *up;           /* of each half its float: f16, then bf16 */
    const uint32_t *floats; /* bits: of each half FLOATS_NEAR */
    uint16_t *down;         /* of each of those f16, then bf16 */
    uint16_t *sums;         /* [round][sum][half] */
    uint32_t *cells;        /* one a lane; of a storm 16 bytes a type */
    uint32_t *wrong;        /* one a lane: the first form that is, or 0 */
    uint32_t *seen;         /* [type][part][answer] */
    float *left;            /* [type][part] at the end */
    uint32_t place;         /* enum floats_place */
};

GPURT_KERNEL_DECLARE(floats_convert, struct floats_args);
GPURT_KERNEL_DECLARE(floats_sums, struct floats_args);
GPURT_KERNEL_DECLARE(floats_forms, struct floats_args);
GPURT_KERNEL_DECLARE(floats_storm, struct floats_args);
GPURT_KERNEL_DECLARE(floats_between, struct floats_args);
GPURT_KERNEL_DECLARE(floats_subnormal, struct floats_args);
GPURT_KERNEL_DECLARE(floats_astray, struct floats_args);

#endif
