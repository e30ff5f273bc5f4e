/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA program that knows nothing of gpurt, on two GPUs at once: from a thread for each,
 * kernels, fills and copies to the other, as many on each as the command line says, and from
 * the second by half as much again. Prints what the collector must have found. */
#include "plain_check.cuh"

#include <cstring>
#include <thread>
#include <vector>

static constexpr int kInts = 1 << 16;

/* Named by the device that it runs on. */
template <int Device> __global__ void work_on(int *v, int by)
{
    int i = int(blockIdx.x * blockDim.x + threadIdx.x);

    if (i < kInts)
        v[i] += by;
}

struct gpu {
    int *mine, *from_other;
    cudaStream_t stream;
};
static gpu gpus[2];

static void launch(int device, cudaStream_t stream, int *v)
{
    if (device == 0)
        work_on<0><<<kInts / 256, 256, 0, stream>>>(v, 1);
    else
        work_on<1><<<kInts / 256, 256, 0, stream>>>(v, 2);
    PLAIN_CUDA(cudaGetLastError());
}

static void prepare(int device)
{
    gpu &g = gpus[device];

    PLAIN_CUDA(cudaSetDevice(device));
    PLAIN_CUDA(cudaMalloc(&g.mine, kInts * sizeof(int)));
    PLAIN_CUDA(cudaMalloc(&g.from_other, kInts * sizeof(int)));
    PLAIN_CUDA(cudaStreamCreate(&g.stream));
    PLAIN_CUDA(cudaMemsetAsync(g.mine, 0, kInts * sizeof(int), g.stream));
    PLAIN_CUDA(cudaStreamSynchronize(g.stream));
}

static void run(int device, int kernels, int copies)
{
    gpu &g = gpus[device];

    PLAIN_CUDA(cudaSetDevice(device));
    for (int i = 0; i < kernels; i++) {
        launch(device, g.stream, g.mine);
        if (i % 100 == 99)
            PLAIN_CUDA(cudaStreamSynchronize(g.stream));
    }
    for (int i = 0; i < copies; i++)
        PLAIN_CUDA(cudaMemcpyPeerAsync(gpus[1 - device].from_other, 1 - device, g.mine,
                                       device, kInts * sizeof(int), g.stream));
    PLAIN_CUDA(cudaStreamSynchronize(g.stream));
}

static void check(int device, int expected)
{
    std::vector<int> host(kInts);

    PLAIN_CUDA(cudaMemcpy(host.data(), gpus[device].from_other, kInts * sizeof(int),
                          cudaMemcpyDefault));
    PLAIN_EQUAL(host[0], expected);
    PLAIN_EQUAL(host[kInts - 1], expected);
}

int main(int argc, char **argv)
{
    int count = 0, there = 0, back = 0;
    int kernels = argc > 1 ? atoi(argv[1]) : 1000, copies = kernels / 10;
    bool peers = argc > 2 && strcmp(argv[2], "peers") == 0;

    plain_need_gpu();
    PLAIN_CUDA(cudaGetDeviceCount(&count));
    if (count < 2) {
        fprintf(stderr, "two_gpus: %d GPU here, two are needed: skipped\n", count);
        return PLAIN_SKIPPED;
    }
    PLAIN_CUDA(cudaDeviceCanAccessPeer(&there, 0, 1));
    PLAIN_CUDA(cudaDeviceCanAccessPeer(&back, 1, 0));
    prepare(0);
    prepare(1);
    for (int device = 0; peers && there && back && device < 2; device++) {
        PLAIN_CUDA(cudaSetDevice(device));
        PLAIN_CUDA(cudaDeviceEnablePeerAccess(1 - device, 0));
    }
    std::thread first(run, 0, kernels, copies), second(run, 1, kernels * 3 / 2, copies * 2);
    first.join();
    second.join();
    check(1, kernels);
    check(0, kernels * 3 / 2 * 2);
    printf("kernels %d %d copies %d %d peers %s\n", kernels, kernels * 3 / 2, copies,
           copies * 2, there && back ? "yes" : "no");
    return 0;
}
