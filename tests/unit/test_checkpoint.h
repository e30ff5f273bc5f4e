/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_CHECKPOINT_H
#define GPURT_TESTS_CHECKPOINT_H

#include <gpurt/impl/alloc/allocmap.h>
#include <gpurt/kernel.h>

/* An object of a list in a heap. */
struct node {
    struct node *next; /* an address: right only where the heap lies where it lay */
    uint64_t value;
    uint32_t words;
    uint32_t more[1];
};

struct list_args {
    gpurt_heap_t heap;
    struct node **head; /* device memory */
    uint64_t *sum;      /* device memory */
    uint32_t count;
    int64_t moved; /* bytes by which the heap moved */
};
GPURT_KERNEL_DECLARE(list_make, struct list_args);
GPURT_KERNEL_DECLARE(list_move, struct list_args);
GPURT_KERNEL_DECLARE(list_sum, struct list_args);

#endif
