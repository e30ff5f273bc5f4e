/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_BENCH_LOCK_H
#define GPURT_BENCH_LOCK_H

#include <gpurt/kernel.h>
#include <gpurt/mutex.h>

typedef struct bench_lock_desk {
    gpurt_mutex_t mutex;
    uint64_t xword, bare; /* of the bare atomic; what the mutex guards */
} bench_lock_desk_t;

struct bench_lock_args {
    uint64_t *cycles; /* one a block */
    bench_lock_desk_t *desk;
    uint32_t rounds;
};

GPURT_KERNEL_DECLARE(bench_lock_global, struct bench_lock_args);
GPURT_KERNEL_DECLARE(bench_lock_shared, struct bench_lock_args);
GPURT_KERNEL_DECLARE(bench_bare_global, struct bench_lock_args);
GPURT_KERNEL_DECLARE(bench_bare_shared, struct bench_lock_args);
GPURT_KERNEL_DECLARE(bench_lock_contended, struct bench_lock_args);
GPURT_KERNEL_DECLARE(bench_lock_warps, struct bench_lock_args);

#endif
