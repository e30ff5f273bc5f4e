/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy.h - how many of a device's places for warps a kernel can take at a time: what
 * NVIDIA calls theoretical occupancy. */
#ifndef GPURT_OCCUPANCY_H
#define GPURT_OCCUPANCY_H

#include <gpurt/impl/activity.h>

/* Of one multiprocessor, with as much of its memory given to shared memory as it can: what
 * blocks of `threads` threads with `registers` registers a thread and `shared_bytes` in all
 * fill of its places for warps, in hundredths of a percent. Clusters are not looked at. Returns:
 * 0 where that is not known: the device told of no limits (warp 0), or no such block fits it. */
uint32_t gpurt_model_occupancy(const gpurt_activity_device_t *device, uint64_t threads,
                               uint32_t registers, uint32_t shared_bytes);

#endif
