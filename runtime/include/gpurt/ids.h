/* SPDX-License-Identifier: Apache-2.0 */
/* ids.h - where a lane is: its place in the grid, in its warp and on the machine.
 *
 * Context: device code. All are plain reads with no side effect; on a GPU each is one special
 * register or constant.
 *
 *   uint32_t gpurt_thread_x/_y/_z()        threadIdx         gpurt_block_dim_x/_y/_z()
 *   uint32_t gpurt_block_x/_y/_z()         blockIdx          gpurt_grid_dim_x/_y/_z()
 *   uint32_t gpurt_lane()                  lane in the warp, 0..31
 *   uint32_t gpurt_sm()                    multiprocessor; on the CPU the worker thread
 *   uint32_t gpurt_warp_slot()             hardware warp slot of that multiprocessor: two warps
 *                                          resident at one time never share (sm, slot)
 *   uint32_t gpurt_cluster_rank()          block's place in its cluster, 0 without clusters
 *   uint32_t gpurt_cluster_size()          blocks in a cluster, 1 without clusters
 *   uint32_t gpurt_device_copy()           which of the process's devices, where they share its
 *                                          variables: on the CPU. 0 on a GPU, which has its own
 *   uint64_t gpurt_launch_number()         which launch: differs between launches of a device
 *   const char *gpurt_kernel_name()        the kernel's name; NULL on a GPU, which knows none
 * (defined in dialect_cuda.h and dialect_simt.h)
 *
 * Derived ones are below. */
#ifndef GPURT_IDS_H
#define GPURT_IDS_H

#include <gpurt/impl/dialect.h>

/* Threads of a block; a thread's linear rank in it, x fastest. */
GPURT_DEV uint32_t gpurt_block_threads(void) GPURT_QUIET
{
    return gpurt_block_dim_x() * gpurt_block_dim_y() * gpurt_block_dim_z();
}
GPURT_DEV uint32_t gpurt_thread_rank(void) GPURT_QUIET
{
    return (gpurt_thread_z() * gpurt_block_dim_y() + gpurt_thread_y()) *
               gpurt_block_dim_x() +
           gpurt_thread_x();
}

/* Blocks of the grid; a block's linear rank in it, x fastest. */
GPURT_DEV uint32_t gpurt_grid_blocks(void) GPURT_QUIET
{
    return gpurt_grid_dim_x() * gpurt_grid_dim_y() * gpurt_grid_dim_z();
}
GPURT_DEV uint32_t gpurt_block_rank(void) GPURT_QUIET
{
    return (gpurt_block_z() * gpurt_grid_dim_y() + gpurt_block_y()) * gpurt_grid_dim_x() +
           gpurt_block_x();
}

/* Warp of the block, and how many there are (the last may be partly filled). */
GPURT_DEV uint32_t gpurt_warp(void) GPURT_QUIET
{
    return gpurt_thread_rank() / GPURT_WARP_SIZE;
}
GPURT_DEV uint32_t gpurt_warps(void) GPURT_QUIET
{
    return (gpurt_block_threads() + GPURT_WARP_SIZE - 1) / GPURT_WARP_SIZE;
}

/* The lane's number in a grid of one-dimensional blocks: the index of its element. 32 bits
 * reach 4 G elements; gpurt_global_id64 goes on from there. */
GPURT_DEV uint32_t gpurt_global_id(void) GPURT_QUIET
{
    return gpurt_block_x() * gpurt_block_dim_x() + gpurt_thread_x();
}
GPURT_DEV uint64_t gpurt_global_id64(void) GPURT_QUIET
{
    return (uint64_t)gpurt_block_rank() * gpurt_block_threads() + gpurt_thread_rank();
}

/* Bits of the lanes before this one: popc(mask & lanes_below) ranks a lane in a ballot. */
GPURT_DEV uint32_t gpurt_lanes_below(void) GPURT_QUIET
{
    /* NOLINTNEXTLINE(clang-analyzer-*): a lane is below 32, which it cannot see */
    return (1u << gpurt_lane()) - 1u;
}

#endif
