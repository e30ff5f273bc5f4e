/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_BENCH_ALLOC_H
#define GPURT_TESTS_BENCH_ALLOC_H

#include <gpurt/impl/alloc/allocmap.h>
#include <gpurt/kernel.h>

/* Who allocates. BUMP_*: a counter that only goes up, for the whole GPU or a
 * multiprocessor: no allocator, but the least that one can cost. */
enum {
    BENCH_GPURT,
    BENCH_CUDA,
    BENCH_BUMP_ONE,
    BENCH_BUMP_SM
};

struct bench_alloc_args {
    gpurt_heap_t heap;
    uint64_t *cells; /* an object a thread, or a thread's objects */
    uint64_t *bump;  /* counters of BUMP_*, 16 words apart */
    char *arena;     /* what BUMP_* hands out */
    uint32_t *cycles;
    uint64_t *sums; /* [0] wrong, [1] NULL, [2] served, [3] bytes served */
    uint64_t count;
    uint32_t min_bytes, max_bytes;
    uint32_t rounds, seed, who, every;
};

enum {
    BENCH_WRONG,
    BENCH_NULL,
    BENCH_SERVED,
    BENCH_BYTES,
    BENCH_SUMS = 8
};

#endif
