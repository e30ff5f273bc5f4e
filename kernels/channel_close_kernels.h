/* SPDX-License-Identifier: Apache-2.0 */
/* channel_close_kernels.h - what the host has done to channels where its words are. */
#ifndef GPURT_HOST_CHANNEL_CLOSE_KERNELS_H
#define GPURT_HOST_CHANNEL_CLOSE_KERNELS_H

#include <gpurt/impl/broadcastmap.h>
#include <gpurt/impl/hostchannelmap.h>
#include <gpurt/impl/segringmap.h>
#include <gpurt/impl/unboundedmap.h>
#include <gpurt/kernel.h>

/* What the host has done to room: a grant of n, or a limit of n. */
struct gpurt_channel_room_args {
    gpurt_channel_t channel;
    uint32_t n, grants;
};

GPURT_KERNEL_DECLARE(gpurt_channel_close_one, gpurt_channel_t);
GPURT_KERNEL_DECLARE(gpurt_channel_room_one, struct gpurt_channel_room_args);
GPURT_KERNEL_DECLARE(gpurt_broadcast_close_one, gpurt_broadcast_t);
GPURT_KERNEL_DECLARE(gpurt_hostchannel_shut_one, gpurt_hostchannel_t);
GPURT_KERNEL_DECLARE(gpurt_segring_close_one, gpurt_segring_t);
GPURT_KERNEL_DECLARE(gpurt_unbounded_close_one, gpurt_unbounded_t);
GPURT_KERNEL_DECLARE(gpurt_unbounded_free_all, gpurt_unbounded_t);

/* Both halves are in archives, and refer to each other weakly: the host names the CPU's, the
 * CUDA back end names the GPU's. */
GPURT_BEGIN_DECLS
void gpurt_cpu_gpurt_channel_close_one(const void *args);
void gpurt_cpu_gpurt_channel_room_one(const void *args);
void gpurt_cpu_gpurt_broadcast_close_one(const void *args);
void gpurt_cpu_gpurt_hostchannel_shut_one(const void *args);
void gpurt_cpu_gpurt_segring_close_one(const void *args);
void gpurt_cpu_gpurt_unbounded_close_one(const void *args);
void gpurt_cpu_gpurt_unbounded_free_all(const void *args);
extern const void *const gpurt_cuda_gpurt_channel_close_one;
extern const void *const gpurt_cuda_gpurt_channel_room_one;
extern const void *const gpurt_cuda_gpurt_broadcast_close_one;
extern const void *const gpurt_cuda_gpurt_hostchannel_shut_one;
extern const void *const gpurt_cuda_gpurt_segring_close_one;
extern const void *const gpurt_cuda_gpurt_unbounded_close_one;
extern const void *const gpurt_cuda_gpurt_unbounded_free_all;
GPURT_END_DECLS

#endif
