/* SPDX-License-Identifier: Apache-2.0 */
/* launch_check.h - whether a launch can run on the device, decided before anything runs.
 *
 * What holds without asking the driver is checked here: sizes, limits, argument struct,
 * halves of the kernel. What needs it (static shared memory, registers, whether a
 * cooperative grid fits) the back end refuses itself. */
#ifndef GPURT_HOST_LAUNCH_CHECK_H
#define GPURT_HOST_LAUNCH_CHECK_H

#include <gpurt/gpurt.h>

/* Fills *out with *launch where each dimension that was left out is 1.
 * Returns: GPURT_E_GRID, _BLOCK, _CLUSTER, _SHARED, or _INVALID for NULL. */
gpurt_status_t gpurt_launch_check_shape(const gpurt_info_t *info,
                                        const gpurt_launch_t *launch, gpurt_launch_t *out,
                                        gpurt_error_t *err);

/* The same where the grid may be left out: asking for occupancy is how one finds it. */
gpurt_status_t gpurt_launch_check_block(const gpurt_info_t *info,
                                        const gpurt_launch_t *launch, gpurt_launch_t *out,
                                        gpurt_error_t *err);

/* Returns: GPURT_E_KERNEL when it is NULL or lacks the half for this back end. */
gpurt_status_t gpurt_launch_check_kernel(const gpurt_info_t *info,
                                         const gpurt_kernel_t *kernel, gpurt_error_t *err);

/* Returns: GPURT_E_ARGS. kernel has passed the check above. */
gpurt_status_t gpurt_launch_check_args(const gpurt_kernel_t *kernel, const void *args,
                                       size_t args_bytes, gpurt_error_t *err);

#endif
