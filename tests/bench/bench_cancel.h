/* SPDX-License-Identifier: Apache-2.0 */
/* bench_cancel.h - what the program and its kernels agree on. */
#ifndef BENCH_CANCEL_H
#define BENCH_CANCEL_H

#include <gpurt/kernel.h>

struct bench_cancel_args {
    uint64_t *cycles; /* a word a block: of all rounds */
    uint32_t rounds;
};

/* The same text with looks for a cancelled block, and without. */
GPURT_KERNEL_DECLARE(bench_barrier_looks, struct bench_cancel_args);
GPURT_KERNEL_DECLARE(bench_barrier_bare, struct bench_cancel_args);

#define BENCH_CANCEL_BARRIERS(name)                               \
    GPURT_KERNEL(name, struct bench_cancel_args, p)               \
    {                                                             \
        uint64_t from;                                            \
                                                                  \
        gpurt_block_barrier();                                    \
        from = gpurt_clock();                                     \
        for (uint32_t i = 0; i < p->rounds; i++)                  \
            gpurt_block_barrier();                                \
        if (gpurt_thread_rank() == 0)                             \
            p->cycles[gpurt_block_rank()] = gpurt_clock() - from; \
    }

#endif
