// SPDX-License-Identifier: Apache-2.0
// What assertions cost where they hold: kernels with none, one and two of a form, all else alike. assert_cost.py counts.
#include <gpurt/device.h>
#include <gpurt/panic.h>

struct cost_args {
    const float *in;
    float *out;
    uint32_t n, m;
};

// The operands are used by the kernel anyway, so that what is counted is the assertion's alone.
#define COST_KERNEL(name)                                                       \
    extern "C" __global__ void cost_##name(const __grid_constant__ cost_args p) \
    {                                                                           \
        uint32_t i = gpurt_global_id(), k = i * p.m;
#define COST_END                     \
    p.out[i] = p.in[k] * (float)p.n; \
    }

COST_KERNEL(none)
COST_END

COST_KERNEL(assert_1)
GPURT_ASSERT(i < p.n, "index %u of %u", i, p.n);
COST_END
COST_KERNEL(assert_2)
GPURT_ASSERT(i < p.n, "index %u of %u", i, p.n);
GPURT_ASSERT(k < p.n, "row %u", k);
COST_END

COST_KERNEL(compare_1)
GPURT_ASSERT_LT(i, p.n);
COST_END
COST_KERNEL(compare_2)
GPURT_ASSERT_LT(i, p.n);
GPURT_ASSERT_NE(k, p.n, "row %u", i);
COST_END

COST_KERNEL(bounds_1)
GPURT_CHECK_BOUNDS(i, p.n);
COST_END
COST_KERNEL(bounds_2)
GPURT_CHECK_BOUNDS(i, p.n);
GPURT_CHECK_BOUNDS(k, p.n);
COST_END

COST_KERNEL(lanes_1)
GPURT_ASSERT_LANES(i < p.n, "%u", i);
COST_END
COST_KERNEL(lanes_2)
GPURT_ASSERT_LANES(i < p.n, "%u", i);
GPURT_ASSERT_LANES(k < p.n, "%u", k);
COST_END

COST_KERNEL(panic_1)
if (i >= p.n)
    GPURT_PANIC("no");
COST_END
COST_KERNEL(panic_2)
if (i >= p.n)
    GPURT_PANIC("no");
if (k >= p.n)
    GPURT_UNREACHABLE();
COST_END
