/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA program that includes gpurt's headers and nothing else, neither library nor
 * gpurt_open: a panic cancels its block and the context lives. */
#include "plain_check.cuh"

#include "cancel_plain.cuh"

#include <vector>

static constexpr uint32_t kBlocks = 64, kThreads = 128, kNobody = ~0u;

__global__ void half_and_half(uint32_t *out, uint32_t victim)
{
    uint32_t *mine = &out[blockIdx.x * blockDim.x + threadIdx.x];

    *mine = 1;
    fail_in(victim);
    if (threadIdx.x >= 64 && blockIdx.x == victim)
        for (;;)
            gpurt_relax();
    gpurt_block_barrier();
    *mine = 2;
}

int main()
{
    plain_need_gpu();

    std::vector<uint32_t> host(kBlocks * kThreads);
    uint32_t *out = nullptr;

    PLAIN_CUDA(cudaMalloc(&out, host.size() * sizeof *out));
    for (uint32_t round = 0; round < 200; round++) {
        uint32_t victim = round % 2 ? kNobody : round % kBlocks;

        half_and_half<<<kBlocks, kThreads>>>(out, victim);
        PLAIN_CUDA(cudaGetLastError());
        PLAIN_CUDA(cudaDeviceSynchronize());
        PLAIN_CUDA(cudaMemcpy(host.data(), out, host.size() * sizeof *out,
                              cudaMemcpyDeviceToHost));
        for (uint32_t i = 0; i < host.size(); i++)
            PLAIN_EQUAL(host[i], i / kThreads == victim ? 1u : 2u);
    }
    PLAIN_CUDA(cudaFree(out));
    puts("cancel_plain: 100 blocks cancelled, 200 launches");
    return 0;
}
