/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA program that knows nothing of gpurt and is hard on a collector: memory and pools that
 * are taken and given back, threads without number, another library that takes CUPTI's buffers,
 * kernels that keep the device busy. Each mode does what is known and says so. */
#include "plain_check.cuh"

#include <atomic>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <thread>
#include <vector>

#define MIB (size_t(1) << 20)

static __global__ void tick(unsigned *out)
{
    if (threadIdx.x == 0)
        atomicAdd(out, 1u);
}
static __global__ void stream_through(float *v, size_t n)
{
    size_t all = size_t(gridDim.x) * blockDim.x;

    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += all)
        v[i] = v[i] * 0.5f + 1.0f;
}

/* At most 6 MiB of the device at a time, 2 at the end; 4 MiB of the host, none at the end. */
static void memory()
{
    void *device[4], *host;

    PLAIN_CUDA(cudaMallocHost(&host, 4 * MIB));
    for (int i = 0; i < 3; i++)
        PLAIN_CUDA(cudaMalloc(&device[i], 2 * MIB));
    PLAIN_CUDA(cudaFree(device[0]));
    PLAIN_CUDA(cudaFree(device[1]));
    PLAIN_CUDA(cudaFreeHost(host));
}

/* A pool of its own: four times a MiB, three of them given back, trimmed; then gone. */
static void pool()
{
    cudaMemPoolProps props = {};
    cudaMemPool_t own;
    cudaStream_t s;
    void *p[4];

    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    PLAIN_CUDA(cudaMemPoolCreate(&own, &props));
    PLAIN_CUDA(cudaStreamCreate(&s));
    for (auto &each : p)
        PLAIN_CUDA(cudaMallocFromPoolAsync(&each, MIB, own, s));
    for (int i = 0; i < 3; i++)
        PLAIN_CUDA(cudaFreeAsync(p[i], s));
    PLAIN_CUDA(cudaStreamSynchronize(s));
    PLAIN_CUDA(cudaMemPoolTrimTo(own, 0));
    PLAIN_CUDA(cudaFreeAsync(p[3], s));
    PLAIN_CUDA(cudaStreamSynchronize(s));
    PLAIN_CUDA(cudaMemPoolDestroy(own));
}

/* Each thread launches once, and all hold what CUPTI gave them until the last has: then again. */
static void crowd(unsigned *counter, int threads, int each)
{
    std::atomic<int> ready{0};
    std::vector<std::thread> all;

    for (int t = 0; t < threads; t++)
        all.emplace_back([&] {
            tick<<<1, 32>>>(counter);
            PLAIN_CUDA(cudaGetLastError());
            for (ready++; ready < threads;)
                std::this_thread::yield();
            for (int i = 1; i < each; i++)
                tick<<<1, 32>>>(counter);
            PLAIN_CUDA(cudaGetLastError());
        });
    for (auto &t : all)
        t.join();
    PLAIN_CUDA(cudaDeviceSynchronize());
}

/* For some seconds, a thousand launches each tenth of one. */
static void launches_for(unsigned *counter, int seconds)
{
    for (int round = 0; round < 10 * seconds; round++) {
        for (int i = 0; i < 1000; i++)
            tick<<<1, 32>>>(counter);
        PLAIN_CUDA(cudaDeviceSynchronize());
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

/* A library of the program's own that registers with CUPTI after the collector has. */
static void stolen(unsigned *counter, const char *path, int seconds)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *entry = library ? dlsym(library, "InitializeInjection") : nullptr;

    launches_for(counter, 1);
    PLAIN_EQUAL(entry != nullptr, true);
    PLAIN_EQUAL(reinterpret_cast<int (*)()>(entry)(), 1);
    launches_for(counter, seconds);
}

/* Prints how long a kernel that the memory limits takes on the device, in ns. */
static void work(int count)
{
    const size_t n = 64 * MIB;
    cudaEvent_t begin, end;
    float *v, ms;

    PLAIN_CUDA(cudaMalloc(&v, n * sizeof *v));
    PLAIN_CUDA(cudaMemset(v, 0, n * sizeof *v));
    PLAIN_CUDA(cudaEventCreate(&begin));
    PLAIN_CUDA(cudaEventCreate(&end));
    for (int i = 0; i < count + count / 5; i++) {
        if (i == count / 5)
            PLAIN_CUDA(cudaEventRecord(begin));
        stream_through<<<1056, 256>>>(v, n);
    }
    PLAIN_CUDA(cudaEventRecord(end));
    PLAIN_CUDA(cudaEventSynchronize(end));
    PLAIN_CUDA(cudaEventElapsedTime(&ms, begin, end));
    printf("%.1f\n", double(ms) * 1e6 / count);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    int count = argc > 2 ? atoi(argv[2]) : 1;
    unsigned *counter;

    if (strcmp(mode, "memory") == 0)
        memory();
    else if (strcmp(mode, "pool") == 0)
        pool();
    else if (strcmp(mode, "work") == 0)
        work(count);
    else {
        PLAIN_CUDA(cudaMalloc(&counter, sizeof *counter));
        PLAIN_CUDA(cudaMemset(counter, 0, sizeof *counter));
        if (strcmp(mode, "crowd") == 0)
            crowd(counter, count, argc > 3 ? atoi(argv[3]) : 100);
        else if (strcmp(mode, "while") == 0)
            launches_for(counter, count);
        else if (strcmp(mode, "stolen") == 0)
            stolen(counter, argc > 3 ? argv[3] : "", count);
        else
            return 2;
    }
    return 0;
}
