/* SPDX-License-Identifier: Apache-2.0 */
/* lists.h - what the host and the kernels agree on. */
#ifndef LISTS_H
#define LISTS_H

#include <gpurt/impl/arenatable.h>
#include <gpurt/impl/regionmap.h>
#include <gpurt/kernel.h>

/* Numbers that grow more. Owner: one lane. */
typedef struct list {
    uint32_t *numbers; /* a block of the region */
    uint32_t count, room;
    uint64_t sum; /* of the numbers, as they were appended */
} list_t;

typedef struct lists_counts {
    uint32_t xnumbers, xrefused, xwrong; /* written by: any lane, with atomics */
} lists_counts_t;

struct lists_args {
    gpurt_region_t region;
    gpurt_arena_source_t source;
    list_t *lists; /* a lane */
    lists_counts_t *counts;
    uint32_t pass;
};

GPURT_KERNEL_DECLARE(lists_grow, struct lists_args);
GPURT_KERNEL_DECLARE(lists_check, struct lists_args);

#endif
