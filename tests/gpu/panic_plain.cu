/* SPDX-License-Identifier: Apache-2.0 */
/* Existing CUDA C++ in which a thread of one block fails an assertion while others wait for it.
 * panic_plain CASE: runs one, and says what CUDA and gpurt_sync answer; test_gpu_panic.sh knows what
 * is right. Compiled with PANIC_GROUPS 0 the file does not include cooperative_groups.h; it has the
 * waits that nothing ends but a trap at the panic, or GPURT_PANIC_LIMIT. With PANIC_BARRIER_FIRST it
 * includes <cuda/barrier> where gpurt can know of it. */
#include "plain_check.cuh"

#ifdef PANIC_BARRIER_FIRST
#    include <cuda/barrier>
#endif
#include <gpurt/device.h>
#include <gpurt/gpurt.h>

#include <cstring>
#if !PANIC_GROUPS
#    include <cuda/barrier>
#endif
/* Behind gpurt's headers, where they cannot know of it yet. */
#if PANIC_GROUPS
#    include <cooperative_groups.h>
namespace cg = cooperative_groups;
#endif

static constexpr uint32_t kBlocks = 8, kThreads = 128, kVictim = 3;

static __device__ __noinline__ void fail(bool fails)
{
    GPURT_ASSERT(!fails, "block %u, on purpose", blockIdx.x);
}

static __device__ bool is_victim()
{
    return blockIdx.x == kVictim && threadIdx.x == 40;
}

#if PANIC_GROUPS
__global__ void at_groups(uint32_t *out, bool fails)
{
    out[blockIdx.x] = 1;
    fail(fails && is_victim());
    cg::this_grid().sync();
    out[blockIdx.x] = 2;
}

/* Hardware counts the lanes of a cluster's barrier that are left. */
__global__ void at_cluster(uint32_t *out, bool fails)
{
    fail(fails && is_victim());
#    if __CUDA_ARCH__ >= 900
    cg::this_cluster().sync();
#    endif
    out[blockIdx.x] = 2;
}
#endif

__global__ void at_grid(uint32_t *out, bool fails)
{
    out[blockIdx.x] = 1;
    fail(fails && is_victim());
    gpurt_grid_barrier();
    out[blockIdx.x] = 2;
}

/* ... and those of a block's: the rest of the block goes on. */
__global__ void at_threads(uint32_t *out, bool fails)
{
    fail(fails && is_victim());
    __syncthreads();
    out[blockIdx.x] = 2;
}

#if !PANIC_GROUPS
/* Counts arrivals: a lane that is gone makes none. */
__global__ void at_barrier(uint32_t *out, bool fails)
{
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ alignas(Barrier) char room[sizeof(Barrier)];
    Barrier *barrier = reinterpret_cast<Barrier *>(room);

    if (threadIdx.x == 0)
        init(barrier, blockDim.x);
    __syncthreads();
    fail(fails && is_victim());
    barrier->arrive_and_wait();
    out[blockIdx.x] = 2;
}
#endif

struct Case {
    const char *name;
    const void *kernel;
    bool cooperative;
    uint32_t cluster;
};

static const Case kCases[] = {
#if PANIC_GROUPS
    {"groups", (const void *)at_groups, true, 1},
    {"alone", (const void *)at_threads, false, 1}, /* in a file that includes them */
    {"cluster", (const void *)at_cluster, false, 2},
#endif
    {"grid", (const void *)at_grid, true, 1},
    {"threads", (const void *)at_threads, true, 1},
#if !PANIC_GROUPS
    {"barrier", (const void *)at_barrier, false, 1},
#endif
};

static cudaError_t run(const Case &c, uint32_t *out, bool fails)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attributes[1] = {};
    void *args[] = {&out, &fails};
    cudaError_t e;

    config.gridDim = dim3(kBlocks);
    config.blockDim = dim3(kThreads);
    config.attrs = attributes;
    config.numAttrs = c.cooperative || c.cluster > 1;
    if (c.cooperative) {
        attributes[0].id = cudaLaunchAttributeCooperative;
        attributes[0].val.cooperative = 1;
    } else {
        attributes[0].id = cudaLaunchAttributeClusterDimension;
        attributes[0].val.clusterDim.x = c.cluster;
        attributes[0].val.clusterDim.y = attributes[0].val.clusterDim.z = 1;
    }
    e = cudaLaunchKernelExC(&config, c.kernel, args);
    return e == cudaSuccess ? cudaDeviceSynchronize() : e;
}

static const Case &case_of(const char *name)
{
    for (const Case &c : kCases)
        if (strcmp(c.name, name) == 0)
            return c;
    fprintf(stderr, "panic_plain: no case %s\n", name);
    exit(PLAIN_FAILED);
}

int main(int argc, char **argv)
{
    plain_need_gpu();

    const Case &c = case_of(argc > 1 ? argv[1] : "grid");
    uint32_t *out = nullptr, host[kBlocks] = {}, written = 0;
    gpurt_options_t options = {};
    gpurt_error_t err = {};
    gpurt_t *rt = nullptr;
    cudaError_t panicked, next;

    options.struct_size = sizeof options;
    options.backend = GPURT_BACKEND_CUDA;
    PLAIN_EQUAL(gpurt_open(&options, &rt, &err), GPURT_OK);
    PLAIN_CUDA(cudaMalloc(&out, kBlocks * sizeof *out));
    PLAIN_CUDA(cudaMemset(out, 0, kBlocks * sizeof *out));
    panicked = run(c, out, true);
    printf("panicked %s, ", cudaGetErrorName(panicked));
    printf("sync %s, ", gpurt_status_name(gpurt_sync(rt, &err)));
    next = run(c, out, false);
    printf("next %s, ", cudaGetErrorName(next));
    if (next == cudaSuccess) {
        PLAIN_CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
        for (uint32_t i = 0; i < kBlocks; i++)
            written += host[i] == 2;
    }
    printf("wrote %u\n", written);
    fflush(stdout);
    (void)gpurt_close(rt, NULL);
    return 0;
}
