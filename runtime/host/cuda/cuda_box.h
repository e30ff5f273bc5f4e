/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_box.h - ties a GPU's kernels to a section of a black box.
 *
 * The box is registered with the GPU, so that a kernel stores straight into it. What only
 * kernels read and write (where each ring's producer stands, which strings are defined)
 * lies in device memory. Every translation unit of CUDA code gets its port; units that
 * are loaded later get theirs before the next launch. Used by backend_cuda.c and
 * cuda_launch.c. */
#ifndef GPURT_HOST_CUDA_BOX_H
#define GPURT_HOST_CUDA_BOX_H

#include "cuda_device.h"

/* Members connect and disconnect of the back end's table. */
gpurt_status_t gpurt_cuda_box_connect(void *self, const struct gpurt_boxmap *map,
                                      uint32_t section, gpurt_error_t *err);
void gpurt_cuda_box_span_store(void *self, uint32_t span);
void gpurt_cuda_box_disconnect(void *self, const struct gpurt_boxmap *map,
                               uint32_t section);
/* In a forked child: frees the host's memory alone. */
void gpurt_cuda_box_forked(gpurt_cuda_device_t *d);
/* Member gate_store: a copy on a stream of its own, which no kernel holds up. */
void gpurt_cuda_box_gate_store(void *self, uint64_t gate, uint32_t value);

/* Before a launch: units that came since the last look get their port. */
void gpurt_cuda_box_greet(gpurt_cuda_device_t *d);

/* After a wait for the GPU: measures the clock again when the last fit is old. */
void gpurt_cuda_box_tick(gpurt_cuda_device_t *d);

#endif
