/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline.h - what the host and the kernels agree on. */
#ifndef PIPELINE_H
#define PIPELINE_H

#include <gpurt/kernel.h>

enum {
    PIPELINE_BLOCKS = 16,
    PIPELINE_THREADS = 64, /* an order each */
    PIPELINE_ITEMS = 1000, /* in the catalogue */
    PIPELINE_STOCK = 12    /* pieces of an item, at most, in one order */
};

typedef struct pipeline_order {
    uint32_t item, pieces;
} pipeline_order_t;

/* What became of one block's orders. */
typedef struct pipeline_result {
    uint32_t priced; /* orders */
    uint32_t settled;
    uint64_t cents;
} pipeline_result_t;

struct pipeline_args {
    uint32_t batch;
    pipeline_order_t *orders;   /* blocks * threads of them */
    pipeline_result_t *results; /* a block each */
};

GPURT_KERNEL_DECLARE(pipeline_check, struct pipeline_args);
GPURT_KERNEL_DECLARE(pipeline_price, struct pipeline_args);
GPURT_KERNEL_DECLARE(pipeline_settle, struct pipeline_args);

#endif
