/* SPDX-License-Identifier: Apache-2.0 */
/* blocksort_kernels.h - sorts and counts of one block, for test_blocksort. */
#ifndef GPURT_TESTS_BLOCKSORT_KERNELS_H
#define GPURT_TESTS_BLOCKSORT_KERNELS_H

#include <gpurt/kernel.h>

enum {
    BLOCKSORT_BINS = 100
};

/* Owner: the test. A block sorts or counts its own n keys. */
struct blocksort_args {
    void *keys;
    uint32_t *values; /* NULL: none */
    char *room;       /* room_bytes a block; NULL: the launch's shared memory */
    int32_t *status;
    uint64_t room_bytes;
    uint32_t n;
    uint32_t *total, *outside; /* of a histogram */
};

GPURT_KERNEL_DECLARE(blocksort_u32, struct blocksort_args);
GPURT_KERNEL_DECLARE(blocksort_i32, struct blocksort_args);
GPURT_KERNEL_DECLARE(blocksort_u64, struct blocksort_args);
GPURT_KERNEL_DECLARE(blocksort_i64, struct blocksort_args);
GPURT_KERNEL_DECLARE(blocksort_f32, struct blocksort_args);
GPURT_KERNEL_DECLARE(blocksort_f64, struct blocksort_args);
GPURT_KERNEL_DECLARE(blocksort_count, struct blocksort_args); /* keys of u32 */
GPURT_KERNEL_DECLARE(blocksort_bytes, struct blocksort_args); /* keys of u8 */

#endif
