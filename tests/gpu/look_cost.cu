/* SPDX-License-Identifier: Apache-2.0 */
/* look_cost.cu - safe points, for look_cost.sh. Never run. */
#include <gpurt/device.h>

#define KERNEL(name, work)                         \
    extern "C" __global__ void name(uint32_t *out) \
    {                                              \
        out[0] = 1;                                \
        work;                                      \
        out[1] = 2;                                \
    }

KERNEL(look_block_barrier, gpurt_block_barrier())
KERNEL(look_point, gpurt_cancel_point())
