/* SPDX-License-Identifier: Apache-2.0 */
/* look_cost.cu - safe points, for look_cost.sh. Never run. */
#define GPURT_NAMED_BARRIER 1
#include <gpurt/device.h>
#include <gpurt/panic.h>

#define KERNEL(name, work)                         \
    extern "C" __global__ void name(uint32_t *out) \
    {                                              \
        out[0] = 1;                                \
        work;                                      \
        out[1] = 2;                                \
    }

KERNEL(look_block_barrier, gpurt_block_barrier())
KERNEL(look_point, gpurt_cancel_point())

/* Everything that keeps something of a block's shared memory. */
extern "C" __global__ void look_shared(uint32_t *out)
{
    GPURT_SHARED_DYN(uint4, words);
    words[threadIdx.x].x = out[threadIdx.x];
    GPURT_LOG(GPURT_LEVEL_INFO, "%u", words[0].x);
    GPURT_ASSERT(words[0].x != 0);
    gpurt_block_barrier();
    gpurt_named_barrier(1, 64);
    out[1] = words[1].x;
}
