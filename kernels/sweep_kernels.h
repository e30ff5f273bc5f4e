/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_kernels.h - what the host has done on the device, where the tables are. */
#ifndef GPURT_HOST_SWEEP_KERNELS_H
#define GPURT_HOST_SWEEP_KERNELS_H

#include <gpurt/impl/reclaimmap.h>
#include <gpurt/kernel.h>

struct gpurt_arena_sweep_args {
    gpurt_heap_t heap;
    const uint64_t *pieces;
    uint64_t count;
};

GPURT_KERNEL_DECLARE(gpurt_epochs_sweep_all, gpurt_epochs_t);
GPURT_KERNEL_DECLARE(gpurt_hazards_sweep_all, gpurt_hazards_t);
GPURT_KERNEL_DECLARE(gpurt_arena_sweep_all, struct gpurt_arena_sweep_args);

/* Both halves are in archives, and refer to each other weakly: the host names the CPU's, the
 * CUDA back end names the GPU's. */
GPURT_BEGIN_DECLS
void gpurt_cpu_gpurt_epochs_sweep_all(const void *args);
extern const void *const gpurt_cuda_gpurt_epochs_sweep_all;
GPURT_END_DECLS

#endif
