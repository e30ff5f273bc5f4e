/* SPDX-License-Identifier: Apache-2.0 */
/* gc_kernels.h - the steps of a collection. */
#ifndef GPURT_HOST_GC_KERNELS_H
#define GPURT_HOST_GC_KERNELS_H

#include <gpurt/impl/gcmap.h>
#include <gpurt/kernel.h>

/* An object that moves. */
typedef struct gpurt_gc_move {
    uint64_t from, to; /* to: a slot of the same class */
    uint32_t entry, bytes;
} gpurt_gc_move_t;

struct gpurt_gc_args {
    gpurt_gc_t gc;
    uint64_t control; /* gpurt_gc_wait: becomes xcontrol */
    uint32_t begins;  /* ... first, and sections of then are waited for */
    uint32_t polls;   /* of a wait */
    uint32_t marked;  /* gpurt_gc_wait: gpurt_gc_mark ran, its queue counts as empty */
    const gpurt_gc_move_t *moves;
    uint32_t move_count;
    uint32_t cycle, flags;
};

GPURT_KERNEL_DECLARE(gpurt_gc_reset, struct gpurt_gc_args);
GPURT_KERNEL_DECLARE(gpurt_gc_wait, struct gpurt_gc_args);
GPURT_KERNEL_DECLARE(gpurt_gc_begin, struct gpurt_gc_args);
GPURT_KERNEL_DECLARE(gpurt_gc_mark, struct gpurt_gc_args);
GPURT_KERNEL_DECLARE(gpurt_gc_seek, struct gpurt_gc_args);
GPURT_KERNEL_DECLARE(gpurt_gc_condemn, struct gpurt_gc_args);
GPURT_KERNEL_DECLARE(gpurt_gc_free, struct gpurt_gc_args);
GPURT_KERNEL_DECLARE(gpurt_gc_let_go, struct gpurt_gc_args);
GPURT_KERNEL_DECLARE(gpurt_gc_move, struct gpurt_gc_args);

/* Both halves are in archives: see sweep_kernels.h. */
GPURT_BEGIN_DECLS
void gpurt_cpu_gpurt_gc_reset(const void *args);
extern const void *const gpurt_cuda_gpurt_gc_reset;
GPURT_END_DECLS

#endif
