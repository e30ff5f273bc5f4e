/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are inlined in each other, from several places and files' headers. */
#include <cooperative_groups.h>

__device__ __forceinline__ unsigned leaf(unsigned x)
{
    for (int i = 0; i < 64; i++)
        x = x * 1664525u + 1013904223u;
    return x;
}

struct Walk {
    const unsigned *from;

    __device__ __forceinline__ unsigned step(unsigned x) const
    {
        x ^= from[x & 1023];
        return leaf(x);
    }
};

template <int N> __device__ __forceinline__ unsigned outer(unsigned x, const unsigned *p)
{
    const Walk walk = {p};

    for (int i = 0; i < N; i++)
        x += walk.step(x);
    return x;
}

__device__ __noinline__ unsigned far_away(unsigned x, const unsigned *p)
{
    return outer<5>(x, p) + leaf(x ^ 7);
}

__global__ void nested(unsigned *p, unsigned n)
{
    unsigned x = threadIdx.x + blockIdx.x * blockDim.x;

    for (unsigned i = 0; i < n; i++) {
        x = outer<3>(x, p);
        x ^= leaf(x + i);
        x += far_away(x, p);
        cooperative_groups::this_thread_block().sync();
    }
    if (x == 0x12345)
        p[0] = x;
}

__global__ void flat(unsigned *p, float by)
{
    p[threadIdx.x] = leaf((unsigned)(sinf((float)p[threadIdx.x]) * powf(by, 1.5f)));
}
