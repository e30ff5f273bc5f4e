/* SPDX-License-Identifier: Apache-2.0 */
/* log_cost.cu - what a log call adds to a kernel, for log_cost.sh. Never run. */
#include <gpurt/device.h>
#include <gpurt/log.h>

extern "C" __global__ void log_none(uint32_t *out, uint32_t a)
{
    out[0] = a;
    out[1] = 2;
}

extern "C" __global__ void log_two(uint32_t *out, uint32_t a)
{
    out[0] = a;
    GPURT_LOG_WARP(GPURT_LEVEL_INFO, "call %u of %u", a, a + 7);
    out[1] = 2;
}

/* A loop that keeps 32 values in registers, about 40 in all. */
enum {
    KEPT = 32
};

template <class Call> __device__ __forceinline__ void work(float *x, int n, Call call)
{
    float a[KEPT];

    for (int i = 0; i < KEPT; i++)
        a[i] = x[threadIdx.x + 32 * i];
    for (int k = 0; k < n; k++) {
        call(k);
        for (int i = 0; i < KEPT; i++)
            a[i] = a[i] * a[(i + 1) % KEPT] + a[(i + 5) % KEPT];
    }
    for (int i = 0; i < KEPT; i++)
        x[threadIdx.x + 32 * i] = a[i];
}

extern "C" __global__ void work_none(float *x, int n)
{
    work(x, n, [](int) {});
}

extern "C" __global__ void work_two(float *x, int n)
{
    work(x, n, [](int k) { GPURT_LOG_WARP(GPURT_LEVEL_INFO, "step %d of %d", k, k + 7); });
}
