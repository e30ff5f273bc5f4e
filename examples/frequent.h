/* SPDX-License-Identifier: Apache-2.0 */
/* frequent.h - which values occur most often: a histogram by all blocks, sorted by one. */
#ifndef FREQUENT_H
#define FREQUENT_H

#include <gpurt/kernel.h>

enum {
    FREQUENT_BINS = 256
};

struct frequent_args {
    const uint8_t *values; /* n */
    uint64_t n;
    uint32_t *counts; /* FREQUENT_BINS, zeroed; then upwards */
    uint32_t *order;  /* which value has the count beside */
};

GPURT_KERNEL_DECLARE(frequent_count, struct frequent_args);
GPURT_KERNEL_DECLARE(frequent_sort, struct frequent_args); /* one block */

#endif
