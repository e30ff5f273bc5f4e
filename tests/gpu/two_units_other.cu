/* SPDX-License-Identifier: Apache-2.0 */
#include "two_units.cuh"

#include "plain_check.cuh"

#if defined(TWO_UNITS_RDC)
__device__ uint32_t two_other_square(uint32_t v)
{
    return v * v;
}
#endif

/* The same names as in the other unit where the language allows it: static, and shared
 * arrays. */
static __global__ void fill(uint32_t *out)
{
    GPURT_SHARED_DYN(uint32_t, stage);
    uint32_t i = gpurt_thread_x();

    stage[i] = i * i;
    gpurt_block_barrier();
    out[i] = stage[i];
    out[kTwoThreads + i] = gpurt_ballot(GPURT_FULL_MASK, i & 1);
}

void two_other_launch(uint32_t *out)
{
    fill<<<1, kTwoThreads, kTwoThreads * sizeof *out>>>(out);
    PLAIN_CUDA(cudaGetLastError());
}
