/* SPDX-License-Identifier: Apache-2.0 */
/* A plain CUDA program in which one lane of a full warp uses a bad address, or two warps poll
 * for what never comes while the others wait at a barrier. It knows nothing of gpurt.
 *
 *   fault_lane CAUSE    pick load self null row atomic poll none
 *
 * Thread 9 of block 3 alone is given the bad address; its warp runs as one. */
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

static const unsigned BLOCK = 3, THREAD = 9, BLOCKS = 6, THREADS = 128, POLLERS = 64;
static const uint64_t LINGER_NS = 300000000u;

/* A block that lives on gives a bad store the time to be heard of. */
static __device__ void linger(void)
{
    uint64_t start, now;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < LINGER_NS);
}

static __device__ bool is_victim(void)
{
    return blockIdx.x == BLOCK && threadIdx.x == THREAD;
}

__global__ void pick(float *good, float *bad, float v)
{
    float *p = is_victim() ? bad : good + threadIdx.x;

    *p = v; /* line of pick */
    __syncthreads();
    linger();
    *p = v + 1;
}
static const int PICK_LINE = __LINE__ - 5;

__global__ void load(float *good, float *bad, float *out)
{
    float *p = is_victim() ? bad : good + threadIdx.x;
    float v = *(volatile float *)p; /* line of load */

    linger();
    out[threadIdx.x] = v + *(volatile float *)p;
}
static const int LOAD_LINE = __LINE__ - 5;

/* The pointer is loaded, and the load through it may take its register. */
__global__ void self(float **rows, float *out)
{
    out[threadIdx.x] = *rows[blockIdx.x * blockDim.x + threadIdx.x] * 2; /* line of self */
}
static const int SELF_LINE = __LINE__ - 2;

/* Reads only what belongs to the block, up to the victim, whose index is far off. */
__global__ void row(const float *good, float *out, long long far)
{
    long long i = is_victim() ? far : (long long)threadIdx.x;
    float v = good[i]; /* line of row */

    out[threadIdx.x] = v + (float)i;
}
static const int ROW_LINE = __LINE__ - 4;

__global__ void atomic(int *good, int *bad, int *out)
{
    int *p = is_victim() ? bad : good + threadIdx.x;

    out[threadIdx.x] = atomicAdd(p, 3); /* line of atomic */
}
static const int ATOMIC_LINE = __LINE__ - 2;

__global__ void poll(volatile int *flag, int *out)
{
    if (threadIdx.x < POLLERS)
        while (*flag == 0) /* line of poll */
            __nanosleep(100);
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] += 2;
}
static const int POLL_LINE = __LINE__ - 6;

int main(int argc, char **argv)
{
    const char *cause = argc > 1 ? argv[1] : "";
    float *good, *out, *bad = (float *)(uintptr_t)0x123456780000u, **rows, *list[768];
    int line = 0;
    cudaError_t e;

    if (cudaMalloc((void **)&good, 4096) != cudaSuccess ||
        cudaMalloc((void **)&out, 4096) != cudaSuccess ||
        cudaMalloc((void **)&rows, sizeof list) != cudaSuccess ||
        cudaMemset(good, 0, 4096) != cudaSuccess)
        return 3;
    for (unsigned i = 0; i < BLOCKS * THREADS; i++)
        list[i] = i == BLOCK * THREADS + THREAD ? bad : good + i % 1024;
    if (cudaMemcpy(rows, list, sizeof list, cudaMemcpyHostToDevice) != cudaSuccess)
        return 3;
    line = strcmp(cause, "pick") == 0 || strcmp(cause, "null") == 0 ? PICK_LINE
           : strcmp(cause, "load") == 0                             ? LOAD_LINE
           : strcmp(cause, "self") == 0                             ? SELF_LINE
           : strcmp(cause, "row") == 0                              ? ROW_LINE
           : strcmp(cause, "atomic") == 0                           ? ATOMIC_LINE
                                                                    : POLL_LINE;
    printf("line %d good 0x%llx bad 0x%llx\n", line, (unsigned long long)(uintptr_t)good,
           (unsigned long long)(uintptr_t)bad);
    fflush(stdout);
    if (strcmp(cause, "pick") == 0)
        pick<<<BLOCKS, THREADS>>>(good, bad, 1);
    else if (strcmp(cause, "null") == 0)
        pick<<<BLOCKS, THREADS>>>(good, (float *)(uintptr_t)8, 1);
    else if (strcmp(cause, "load") == 0)
        load<<<BLOCKS, THREADS>>>(good, bad, out);
    else if (strcmp(cause, "self") == 0)
        self<<<BLOCKS, THREADS>>>(rows, out);
    else if (strcmp(cause, "row") == 0)
        row<<<BLOCKS, THREADS>>>(good, out, 1ll << 38);
    else if (strcmp(cause, "atomic") == 0)
        atomic<<<BLOCKS, THREADS>>>((int *)good, (int *)bad, (int *)out);
    else if (strcmp(cause, "poll") == 0)
        poll<<<1, 4 * POLLERS>>>((int *)good, (int *)out);
    e = cudaDeviceSynchronize();
    fprintf(stderr, "status %s\n", cudaGetErrorName(e));
    return e == cudaSuccess ? 0 : 1;
}
