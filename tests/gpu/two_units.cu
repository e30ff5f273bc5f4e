/* SPDX-License-Identifier: Apache-2.0 */
#include "two_units.cuh"

#include "plain_check.cuh"

struct two_args {
    uint32_t *out;
};
GPURT_KERNEL(two_first, struct two_args, p)
{
    GPURT_SHARED_DYN(uint64_t, stage); /* another type than the other unit's */
    uint32_t i = gpurt_thread_x();

#if defined(TWO_UNITS_RDC)
    stage[i] = two_other_square(i);
#else
    stage[i] = (uint64_t)i * i;
#endif
    gpurt_block_barrier();
    p->out[i] += (uint32_t)stage[i];
}

static __global__ void fill(uint32_t *out)
{
    out[2 * kTwoThreads + gpurt_thread_x()] = gpurt_lane();
}

int main()
{
    constexpr uint32_t words = 3 * kTwoThreads;
    uint32_t *out = nullptr, host[words];

    plain_need_gpu();
    PLAIN_CUDA(cudaMalloc(&out, sizeof host));
    two_other_launch(out);
    two_first<<<1, kTwoThreads, kTwoThreads * sizeof(uint64_t)>>>({out});
    PLAIN_CUDA(cudaGetLastError());
    fill<<<1, kTwoThreads>>>(out);
    PLAIN_CUDA(cudaGetLastError());
    PLAIN_CUDA(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (uint32_t i = 0; i < kTwoThreads; i++) {
        PLAIN_EQUAL(host[i], 2 * i * i);
        PLAIN_EQUAL(host[kTwoThreads + i], 0xaaaaaaaau);
        PLAIN_EQUAL(host[2 * kTwoThreads + i], i % 32);
    }
    PLAIN_CUDA(cudaFree(out));
    return 0;
}
