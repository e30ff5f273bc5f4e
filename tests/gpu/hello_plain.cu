/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA C++ program as anybody writes it, that uses gpurt's words in its own kernels,
 * launches with <<<>>>, and has gpurt open beside its own CUDA calls. */
#include "plain_check.cuh"

#include <gpurt/device.h>
#include <gpurt/gpurt.h>

#include <vector>

static constexpr uint32_t kBlocks = 8, kThreads = 128, kCount = kBlocks * kThreads;

/* A kernel of its own kind, template and parameters by value. */
template <typename T> __global__ void warp_sums(const T *in, T *out, uint32_t *tickets)
{
    GPURT_SHARED(T, sums, kThreads / GPURT_WARP_SIZE);
    T v = gpurt_reduce_add_u32(GPURT_FULL_MASK, in[gpurt_global_id()]);

    if (gpurt_is_leader(GPURT_FULL_MASK))
        sums[gpurt_warp()] = v;
    gpurt_block_barrier();
    if (threadIdx.x < gpurt_warps())
        out[blockIdx.x * gpurt_warps() + threadIdx.x] = sums[threadIdx.x];
    if (threadIdx.x == 0)
        gpurt_add_relaxed_dev_u32(tickets, 1);
}

struct scale_args {
    uint32_t factor;
    uint32_t *v;
    uint32_t n;
};
GPURT_KERNEL(scale, struct scale_args, p)
{
    uint32_t i = gpurt_global_id();

    if (i < p->n)
        p->v[i] *= p->factor;
}

#define OK(call)                                                                  \
    do {                                                                          \
        if ((call) != GPURT_OK) {                                                 \
            fprintf(stderr, "%s:%d: FAILED: %s: %s\n", __FILE__, __LINE__, #call, \
                    err.text);                                                    \
            exit(PLAIN_FAILED);                                                   \
        }                                                                         \
    } while (0)

/* The same kernel by <<<>>> and by gpurt_launch, on memory of gpurt's. */
static void scale_both_ways(gpurt_t *rt, uint32_t *v)
{
    gpurt_error_t err = {};
    gpurt_launch_t launch = {};
    scale_args args = {3, v, kCount};

    launch.grid.x = kBlocks;
    launch.block.x = kThreads;
    scale<<<kBlocks, kThreads>>>(args);
    PLAIN_CUDA(cudaGetLastError());
    PLAIN_CUDA(cudaDeviceSynchronize());
    OK(gpurt_launch(rt, &launch, scale, &args, &err));
    OK(gpurt_sync(rt, &err));
}

int main()
{
    plain_need_gpu();

    gpurt_options_t options = {};
    gpurt_error_t err = {};
    gpurt_info_t info = {};
    gpurt_t *rt = nullptr;
    void *memory = nullptr;
    uint32_t *in = nullptr, *tickets = nullptr;
    std::vector<uint32_t> host(kCount);

    options.struct_size = sizeof options;
    options.backend = GPURT_BACKEND_CUDA;
    OK(gpurt_open(&options, &rt, &err));
    OK(gpurt_info(rt, &info));
    printf("gpurt %d.%d.%d: %s\n", GPURT_VERSION_MAJOR, GPURT_VERSION_MINOR,
           GPURT_VERSION_PATCH, info.why);
    PLAIN_EQUAL(info.backend, GPURT_BACKEND_CUDA);

    for (uint32_t i = 0; i < kCount; i++)
        host[i] = i;
    PLAIN_CUDA(cudaMalloc(&in, kCount * sizeof *in));
    PLAIN_CUDA(cudaMalloc(&tickets, sizeof *tickets));
    PLAIN_CUDA(cudaMemset(tickets, 0, sizeof *tickets));
    PLAIN_CUDA(cudaMemcpy(in, host.data(), kCount * sizeof *in, cudaMemcpyHostToDevice));
    OK(gpurt_mem_create(rt, kCount * sizeof(uint32_t), &memory, &err));

    uint32_t *out = static_cast<uint32_t *>(memory);
    warp_sums<<<kBlocks, kThreads>>>(in, out, tickets);
    PLAIN_CUDA(cudaGetLastError());
    PLAIN_CUDA(cudaDeviceSynchronize());
    scale_both_ways(rt, out);

    PLAIN_CUDA(
        cudaMemcpy(host.data(), out, kCount / 32 * sizeof *out, cudaMemcpyDeviceToHost));
    for (uint32_t w = 0; w < kCount / 32; w++)
        PLAIN_EQUAL(host[w], 9u * (32 * 32 * w + 31 * 32 / 2));
    PLAIN_CUDA(cudaMemcpy(host.data(), tickets, sizeof *tickets, cudaMemcpyDeviceToHost));
    PLAIN_EQUAL(host[0], kBlocks);

    OK(gpurt_mem_destroy(rt, memory));
    OK(gpurt_close(rt, &err));
    PLAIN_CUDA(cudaFree(in)); /* the context outlives gpurt */
    PLAIN_CUDA(cudaFree(tickets));
    return 0;
}
