/* SPDX-License-Identifier: Apache-2.0 */
/* bench_segring.h - what the host and the kernels agree on. */
#ifndef GPURT_TESTS_BENCH_SEGRING_H
#define GPURT_TESTS_BENCH_SEGRING_H

#include <gpurt/kernel.h>
#include <gpurt/segring.h>

enum {
    BENCH_RING_BYTES = 1 << 22,
    BENCH_RING_CALLS = 64,
    BENCH_RING_MOST = 1024 /* bytes of a segment */
};

/* Written by: any lane. */
typedef struct bench_ring_sums {
    uint64_t xsum, xread, xother; /* values, segments that were read, other answers */
    uint64_t xnext;               /* of the floor */
    uint32_t xdone;               /* blocks that have written */
} bench_ring_sums_t;

struct bench_segring_args {
    gpurt_segring_t ring;
    bench_ring_sums_t *sums;
    uint64_t *bare;   /* the floor's memory, BENCH_RING_BYTES */
    uint64_t *cycles; /* of calls: writes, then reads */
    uint32_t each;    /* segments of a lane that writes: 1, 2, 3 ... */
    uint32_t bytes;   /* of a segment */
    uint32_t readers; /* blocks, of which one lane reads */
};

#endif
