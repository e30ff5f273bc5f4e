/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_CANCEL_PLAIN_CUH
#define GPURT_TESTS_CANCEL_PLAIN_CUH

#include <gpurt/device.h>
#include <gpurt/panic.h>

/* Panics in lane 7 of block `victim`; the other unit's when built with -rdc=true. */
#ifdef CANCEL_PLAIN_RDC
__device__ void fail_in(uint32_t victim);
#else
static __device__ __noinline__ void fail_in(uint32_t victim)
{
    GPURT_ASSERT(blockIdx.x != victim || threadIdx.x != 7, "block %u", blockIdx.x);
}
#endif

#endif
