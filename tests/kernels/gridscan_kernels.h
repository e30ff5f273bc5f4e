/* SPDX-License-Identifier: Apache-2.0 */
/* gridscan_kernels.h - scans and reductions by a whole grid, for test_gridscan and its seeds. */
#ifndef GPURT_TESTS_GRIDSCAN_KERNELS_H
#define GPURT_TESTS_GRIDSCAN_KERNELS_H

#include "collective_kernels.h"

#include <gpurt/status.h>

enum {
    GRIDSCAN_REDUCE,
    GRIDSCAN_SCAN,
    GRIDSCAN_EXSCAN,
    GRIDSCAN_SEGSCAN,
    GRIDSCAN_MIN, /* a scan */
};

/* An element of gridscan_poison that cancels the block whose thread combines it. */
#define GRIDSCAN_POISON 0xdeadu

/* Of gridscan_kinds: blocks of so many threads, and how many are resident on a multiprocessor. */
enum {
    GRIDSCAN_FIT_THREADS = 256,
    GRIDSCAN_FIT_BLOCKS = 4
};

/* Owner: the test. */
struct gridscan_args {
    void *area;
    const void *in;
    const uint8_t *heads;
    void *out;
    int32_t *status; /* a block's last, GPURT_E_NOT_READY at first */
    uint64_t n;
    uint32_t kind, rounds; /* rounds: behind grid barriers, each into a part of `out` */
};

GPURT_KERNEL_DECLARE(gridscan_u32, struct gridscan_args);
GPURT_KERNEL_DECLARE(gridscan_i32, struct gridscan_args);
GPURT_KERNEL_DECLARE(gridscan_u64, struct gridscan_args);
GPURT_KERNEL_DECLARE(gridscan_i64, struct gridscan_args);
GPURT_KERNEL_DECLARE(gridscan_f32, struct gridscan_args);
GPURT_KERNEL_DECLARE(gridscan_f64, struct gridscan_args);
GPURT_KERNEL_DECLARE(gridscan_kinds, struct gridscan_args);    /* u32 */
GPURT_KERNEL_DECLARE(gridscan_segments, struct gridscan_args); /* u64 */
GPURT_KERNEL_DECLARE(gridscan_maps, struct gridscan_args);     /* scans of compose, u64 */
GPURT_KERNEL_DECLARE(gridscan_rounds, struct gridscan_args);   /* cooperative; u32, add */
GPURT_KERNEL_DECLARE(gridscan_poison, struct gridscan_args);   /* a scan of u32 */

#endif
