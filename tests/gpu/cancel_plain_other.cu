/* SPDX-License-Identifier: Apache-2.0 */
/* The unit that panics, far from the barriers of the kernel: they share a block's state. */
#include "cancel_plain.cuh"

__device__ void fail_in(uint32_t victim)
{
    GPURT_ASSERT(blockIdx.x != victim || threadIdx.x != 7, "block %u", blockIdx.x);
}
