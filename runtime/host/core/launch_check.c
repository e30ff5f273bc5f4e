/* SPDX-License-Identifier: Apache-2.0 */
#include "launch_check.h"

#include "plural.h"
#include "refuse.h"

#include <inttypes.h>

/* A failed check is rare and wordy: it is told out of line where it can be, so that a
 * launch that passes runs through a dozen compares and little else. */

static gpurt_dim3_t dim3_filled(gpurt_dim3_t d)
{
    return (gpurt_dim3_t){d.x, d.y ? d.y : 1, d.z ? d.z : 1};
}

/* x of 0 wraps and is beyond every limit; y and z are at least 1 by now. */
static bool dim3_within(gpurt_dim3_t d, gpurt_dim3_t max)
{
    return d.x - 1 < max.x && d.y <= max.y && d.z <= max.z;
}

static GPURT_NOINLINE gpurt_status_t dim3_refuse(gpurt_error_t *err, gpurt_status_t status,
                                                 const char *what, gpurt_dim3_t d,
                                                 gpurt_dim3_t max, const char *device)
{
    if (d.x == 0)
        return REFUSE(err, status,
                      "%s.x is 0: a launch has at least one block of one thread", what);
    return REFUSE(err, status, "%s %u x %u x %u: %s allows %u x %u x %u", what, d.x, d.y,
                  d.z, device, max.x, max.y, max.z);
}

static gpurt_status_t grid_check(const gpurt_info_t *info, gpurt_dim3_t d,
                                 gpurt_error_t *err)
{
    uint64_t blocks;

    if (GPURT_UNLIKELY(!dim3_within(d, info->max_grid)))
        return dim3_refuse(err, GPURT_E_GRID, "grid", d, info->max_grid, info->name);
    /* a block's rank is 32 bits wide in the dialect */
    if (GPURT_UNLIKELY(__builtin_mul_overflow((uint64_t)d.x * d.y, d.z, &blocks) ||
                       blocks > UINT32_MAX))
        return REFUSE(err, GPURT_E_GRID,
                      "grid %u x %u x %u: more blocks than 32 bits count; launch it "
                      "in parts",
                      d.x, d.y, d.z);
    return GPURT_OK;
}

static gpurt_status_t block_check(const gpurt_info_t *info, gpurt_dim3_t d,
                                  gpurt_error_t *err)
{
    uint64_t threads = (uint64_t)d.x * d.y;

    if (GPURT_UNLIKELY(!dim3_within(d, info->max_block)))
        return dim3_refuse(err, GPURT_E_BLOCK, "block", d, info->max_block, info->name);
    /* In two steps: three limits of a back end to come may multiply beyond 64 bits. */
    if (GPURT_UNLIKELY(threads > info->max_block_threads ||
                       threads * d.z > info->max_block_threads))
        return REFUSE(err, GPURT_E_BLOCK,
                      "block %u x %u x %u: %s allows %u threads a block; use more blocks",
                      d.x, d.y, d.z, info->name, info->max_block_threads);
    return GPURT_OK;
}

static GPURT_NOINLINE gpurt_status_t cluster_check(const gpurt_info_t *info, gpurt_dim3_t c,
                                                   gpurt_dim3_t grid, gpurt_error_t *err)
{
    uint32_t max = info->max_cluster;

    if (max <= 1)
        return REFUSE(err, GPURT_E_CLUSTER,
                      "cluster %u x %u x %u: %s has no clusters (GPUs from sm_90 "
                      "on have them); set it to 0",
                      c.x, c.y, c.z, info->name);
    /* y and z first: then the product cannot overflow. */
    if (c.y > max || c.z > max || (uint64_t)c.x * c.y * c.z > max)
        return REFUSE(err, GPURT_E_CLUSTER, "cluster %u x %u x %u: %s allows %u blocks",
                      c.x, c.y, c.z, info->name, max);
    if (grid.x % c.x != 0 || grid.y % c.y != 0 || grid.z % c.z != 0)
        return REFUSE(err, GPURT_E_CLUSTER,
                      "cluster %u x %u x %u does not divide the grid %u x %u x %u: "
                      "round the grid up and let what is beyond the end return",
                      c.x, c.y, c.z, grid.x, grid.y, grid.z);
    return GPURT_OK;
}

static gpurt_status_t shape_check(const gpurt_info_t *info, gpurt_launch_t *l,
                                  gpurt_error_t *err)
{
    gpurt_dim3_t c = l->cluster;
    gpurt_status_t st = block_check(info, l->block, err);

    if (GPURT_LIKELY(st == GPURT_OK))
        st = grid_check(info, l->grid, err);
    if (st == GPURT_OK && GPURT_UNLIKELY((c.x | c.y | c.z) != 1))
        st = cluster_check(info, c, l->grid, err);
    if (GPURT_UNLIKELY(st != GPURT_OK))
        return st;
    if (GPURT_UNLIKELY(l->shared_bytes > info->max_shared))
        return REFUSE(err, GPURT_E_SHARED,
                      "shared_bytes %u: %s allows %" PRIu64
                      " bytes a block, the kernel's own shared arrays among them",
                      l->shared_bytes, info->name, info->max_shared);
    return GPURT_OK;
}

static void shape_fill(const gpurt_launch_t *launch, gpurt_launch_t *out)
{
    *out = *launch;
    out->grid = dim3_filled(launch->grid);
    out->block = dim3_filled(launch->block);
    out->cluster = dim3_filled(launch->cluster);
    out->cluster.x += out->cluster.x == 0;
}

gpurt_status_t gpurt_launch_check_shape(const gpurt_info_t *info,
                                        const gpurt_launch_t *launch, gpurt_launch_t *out,
                                        gpurt_error_t *err)
{
    if (GPURT_UNLIKELY(!launch))
        return REFUSE(err, GPURT_E_INVALID, "launch is NULL: it must say grid and block");
    shape_fill(launch, out);
    return shape_check(info, out, err);
}

gpurt_status_t gpurt_launch_check_block(const gpurt_info_t *info,
                                        const gpurt_launch_t *launch, gpurt_launch_t *out,
                                        gpurt_error_t *err)
{
    if (!launch)
        return REFUSE(err, GPURT_E_INVALID, "launch is NULL: it must say the block");
    shape_fill(launch, out);
    if (out->grid.x == 0)
        out->grid = out->cluster;
    return shape_check(info, out, err);
}

static GPURT_NOINLINE gpurt_status_t kernel_refuse(bool on_cuda,
                                                   const gpurt_kernel_t *kernel,
                                                   gpurt_error_t *err)
{
    if (!kernel)
        return REFUSE(err, GPURT_E_KERNEL,
                      "kernel is NULL: pass &gpurt_kernel_NAME, or use gpurt_launch");
    if (!kernel->cpu && !kernel->cuda)
        return REFUSE(err, GPURT_E_KERNEL,
                      "kernel %s was built for no back end: link the object of its file",
                      kernel->name);
    if (on_cuda)
        return REFUSE(err, GPURT_E_KERNEL,
                      "kernel %s has a CPU half only: compile its file with nvcc too "
                      "(gpurt_add_kernels does), or set GPURT_BACKEND=cpu",
                      kernel->name);
    return REFUSE(err, GPURT_E_KERNEL,
                  "kernel %s has a CUDA half only: compile its file as C too "
                  "(gpurt_add_kernels does), or set GPURT_BACKEND=cuda",
                  kernel->name);
}

gpurt_status_t gpurt_launch_check_kernel(const gpurt_info_t *info,
                                         const gpurt_kernel_t *kernel, gpurt_error_t *err)
{
    bool on_cuda = info->backend == GPURT_BACKEND_CUDA;

    if (GPURT_UNLIKELY(!kernel || !(on_cuda ? kernel->cuda != NULL : kernel->cpu != NULL)))
        return kernel_refuse(on_cuda, kernel, err);
    return GPURT_OK;
}

gpurt_status_t gpurt_launch_check_args(const gpurt_kernel_t *kernel, const void *args,
                                       size_t args_bytes, gpurt_error_t *err)
{
    if (GPURT_UNLIKELY(args_bytes != kernel->args_bytes))
        return REFUSE(err, GPURT_E_ARGS,
                      "kernel %s takes %u byte%s of arguments, the launch passes %zu: was "
                      "the kernel file rebuilt since its struct changed?",
                      kernel->name, kernel->args_bytes,
                      gpurt_plural(kernel->args_bytes, "s"), args_bytes);
    if (GPURT_UNLIKELY(args_bytes > GPURT_MAX_ARGS_BYTES))
        return REFUSE(err, GPURT_E_ARGS,
                      "kernel %s takes %zu bytes of arguments, at most %d fit: put them "
                      "in memory and pass its address",
                      kernel->name, args_bytes, GPURT_MAX_ARGS_BYTES);
    if (GPURT_UNLIKELY(!args && args_bytes > 0))
        return REFUSE(err, GPURT_E_ARGS,
                      "args is NULL: kernel %s takes %u byte%s of arguments", kernel->name,
                      kernel->args_bytes, gpurt_plural(kernel->args_bytes, "s"));
    return GPURT_OK;
}
