/* SPDX-License-Identifier: Apache-2.0 */
/* Code that cupti_modules loads, over and over: each time with another number in it, so that each is
 * another module to whoever looks at its bytes. */
extern "C" __device__ unsigned long long module_number[2] = {0x6770757274636f64ull,
                                                             0x656e756d62657221ull};

extern "C" __global__ void module_work(unsigned long long *out, int rounds)
{
    float x = (float)threadIdx.x;

#pragma unroll 1
    for (int i = 0; i < rounds; i++)
        x = sqrtf(x * 1.0001f + 0.5f) + x; /* MARK module */
    if (threadIdx.x == 0)
        *out = module_number[1] + (x < 0.0f);
}
