/* SPDX-License-Identifier: Apache-2.0 */
/* heapkeep.h - a heap as a part of a checkpoint: its shape, its tables, and the chunks that
 * anybody uses. */
#ifndef GPURT_HOST_HEAPKEEP_H
#define GPURT_HOST_HEAPKEEP_H

#include <gpurt/checkpoint.h>

enum {
    GPURT_HEAPKEEP_VERSION = 1
};

typedef struct gpurt_heapkeep {
    gpurt_heap_t *heap;
    uint32_t flags; /* GPURT_CHECKPOINT_MAY_MOVE */
} gpurt_heapkeep_t;

/* context: a gpurt_heapkeep_t. */
gpurt_status_t gpurt_heapkeep_save(void *context, gpurt_t *rt,
                                   gpurt_checkpoint_stream_t *to, gpurt_error_t *err);
gpurt_status_t gpurt_heapkeep_load(void *context, gpurt_t *rt,
                                   gpurt_checkpoint_stream_t *from, gpurt_error_t *err);
uint32_t gpurt_heapkeep_heap(void *context);

#endif
