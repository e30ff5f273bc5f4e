/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_probe.h - whether gpurt can work with a GPU of this machine: driver, number, mode,
 * capability; what can be known without a context. */
#ifndef GPURT_CUDA_PROBE_H
#define GPURT_CUDA_PROBE_H

#include <gpurt/gpurt.h>

/* *count: GPUs that CUDA shows. Returns: GPURT_OK, or what is missing and what to do. */
gpurt_status_t gpurt_cuda_probe(const gpurt_options_t *options, int *count,
                                gpurt_error_t *err);

#endif
