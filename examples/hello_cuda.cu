/* SPDX-License-Identifier: Apache-2.0 */
/* hello_cuda - a CUDA program as anybody writes it, __global__ and <<<>>>, whose kernel logs.
 * What it takes is two headers and gpurt_open.
 *
 *   nvcc hello_cuda.cu $(pkg-config --cflags --libs gpurt-cuda) -o hello_cuda
 *   gpurt-record -o hello.gplog -- ./hello_cuda && gpurt-log cat hello.gplog */
#include <gpurt/device.h>
#include <gpurt/gpurt.h>

#include <cstdio>

__global__ void scale(float *v, float factor, unsigned count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        v[i] *= factor;
    if (threadIdx.x == 0)
        GPURT_INFO("block %u of %u scales by %g", blockIdx.x, gridDim.x, factor);
    if (i == 42)
        GPURT_WARN("thread %u of block %u knows the answer: %g", threadIdx.x, blockIdx.x,
                   v[i]);
}

int main()
{
    const unsigned blocks = 4, threads = 32, count = blocks * threads;
    gpurt_error_t err = {};
    cudaError_t failed;
    float *v = nullptr;
    unsigned wrong = 0;
    gpurt_t *rt;

    if (gpurt_open(nullptr, &rt, &err) != GPURT_OK) {
        fprintf(stderr, "hello_cuda: %s\n", err.text);
        return 1;
    }
    if ((failed = cudaMallocManaged(&v, count * sizeof *v)) == cudaSuccess) {
        for (unsigned i = 0; i < count; i++)
            v[i] = 1;
        scale<<<blocks, threads>>>(v, 42, count);
        failed = cudaDeviceSynchronize();
        for (unsigned i = 0; failed == cudaSuccess && i < count; i++)
            wrong += v[i] != 42;
    }
    if (failed != cudaSuccess)
        fprintf(stderr, "hello_cuda: %s\n", cudaGetErrorString(failed));
    else
        printf("hello_cuda: %u values scaled, %u wrong\n", count, wrong);
    cudaFree(v);
    gpurt_close(rt, nullptr);
    return failed != cudaSuccess || wrong ? 1 : 0;
}
