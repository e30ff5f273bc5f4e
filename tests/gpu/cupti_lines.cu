/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA program that knows nothing of gpurt, with kernels that stand where the test knows: the
 * lines are marked. Each kernel ends by itself after some seconds. */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <signal.h>
#include <unistd.h>

typedef unsigned long long u64;

#define NEED(call_)                                                       \
    do {                                                                  \
        cudaError_t e_ = (call_);                                         \
        if (e_ != cudaSuccess) {                                          \
            fprintf(stderr, "cupti_lines:%d: %s: %s\n", __LINE__, #call_, \
                    cudaGetErrorString(e_));                              \
            exit(3);                                                      \
        }                                                                 \
    } while (0)

static __device__ u64 now(void)
{
    u64 t;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

/* Two blocks, each waits for the other's flag before it sets its own. */
__global__ void stand_spin(volatile unsigned *flag, u64 ns)
{
    u64 end = now() + ns;

    for (unsigned n = 1; flag[1 - blockIdx.x] == 0; n++) /* MARK spin */
        if (n % 1024 == 0 && now() > end)
            return;
    flag[blockIdx.x] = 1;
}

/* One warp of eight does not come. */
__global__ void stand_barrier(volatile unsigned *flag, u64 ns)
{
    u64 end = now() + ns;

    if (threadIdx.x < 32)
        for (unsigned n = 1; flag[1] == 0; n++)
            if (n % 1024 == 0 && now() > end)
                break;
    __syncthreads(); /* MARK barrier */
    if (threadIdx.x == 0)
        flag[0] = 1;
}

__global__ void stand_sleep(unsigned *flag, u64 ns)
{
    u64 end = now() + ns;

    for (unsigned n = 1; atomicAdd(flag, 0) == 0; n++) {
        __nanosleep(2000); /* MARK sleep */
        if (n % 256 == 0 && now() > end)
            return;
    }
}

/* One warp takes the lock and keeps it. */
__global__ void stand_lock(unsigned *lock, u64 ns)
{
    u64 end = now() + ns;

    if (threadIdx.x == 0)
        atomicExch(lock, 1);
    __syncthreads();
    if (threadIdx.x % 32 != 0)
        return;
    for (unsigned n = 1; atomicCAS(lock, 0, 1) != 0; n++) /* MARK lock */
        if (n % 1024 == 0 && now() > end)
            return;
    atomicExch(lock, 0);
}

/* 64 steps, each on the result of the one before, all of the line that uses the word. So the loop's
 * own three instructions, which the compiler gives to the line of the `for`, are few beside them. */
#define STEP(x_)   x_ = x_ * 1.0001f + 0.5f;
#define STEP4(x_)  STEP(x_) STEP(x_) STEP(x_) STEP(x_)
#define STEP16(x_) STEP4(x_) STEP4(x_) STEP4(x_) STEP4(x_)
#define STEP64(x_) STEP16(x_) STEP16(x_) STEP16(x_) STEP16(x_)

__global__ void stand_work(float *v, int rounds)
{
    float x = v[threadIdx.x];

#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
        STEP64(x) /* MARK work */
    }
    v[threadIdx.x] = x;
}

/* The same work under another name. */
__global__ void stand_more(float *v, int rounds)
{
    float x = v[threadIdx.x];

#pragma unroll 1
    for (int i = 0; i < rounds; i++) {
        STEP64(x)
    }
    v[threadIdx.x] = x;
}

static unsigned *flags;
static float *floats;

static void buffers_make(void)
{
    NEED(cudaMalloc(&flags, 64));
    NEED(cudaMemset(flags, 0, 64));
    NEED(cudaMalloc(&floats, 4096));
    NEED(cudaMemset(floats, 0, 4096));
}

static void begin(const char *what, u64 ns)
{
    if (strcmp(what, "spin") == 0)
        stand_spin<<<2, 32>>>(flags, ns);
    else if (strcmp(what, "barrier") == 0)
        stand_barrier<<<1, 256>>>(flags, ns);
    else if (strcmp(what, "sleep") == 0)
        stand_sleep<<<4, 64>>>(flags, ns);
    else if (strcmp(what, "lock") == 0)
        stand_lock<<<1, 256>>>(flags, ns);
    else
        stand_work<<<132, 128>>>(floats, (int)(ns / 1000000) * 40000);
    NEED(cudaGetLastError());
}

/* The context ends, and another one comes. */
static void reset(void)
{
    for (int i = 0; i < 3; i++) {
        begin("work", 100000000);
        NEED(cudaDeviceSynchronize());
        NEED(cudaDeviceReset());
        buffers_make();
    }
}

/* Two kernels by turns, one with three times the work of the other; one launch is refused. */
static void pairs(u64 count)
{
    for (u64 i = 0; i < count; i++) {
        stand_work<<<132, 128>>>(floats, 4000);
        stand_more<<<132, 128>>>(floats, 12000);
        NEED(cudaGetLastError());
    }
    stand_more<<<132, 4096>>>(floats, 1);
    if (cudaGetLastError() == cudaSuccess)
        exit(4);
    NEED(cudaDeviceSynchronize());
}

/* When the kernel was launched, for who measures what is told of it. */
static void tell_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    printf("%llu\n", (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec);
    fflush(stdout);
}

/* cupti_lines KERNEL MS [exit | kill]: the program leaves in its midst. cupti_lines reset.
 * cupti_lines pairs N */
int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *how = argc > 3 ? argv[3] : "";
    u64 ms = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

    buffers_make();
    if (strcmp(what, "reset") == 0) {
        reset();
        return 0;
    }
    if (strcmp(what, "pairs") == 0) {
        pairs(ms);
        return 0;
    }
    tell_time();
    begin(what, ms * 1000000);
    if (how[0])
        usleep(1500000);
    if (strcmp(how, "exit") == 0)
        exit(0);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    NEED(cudaDeviceSynchronize());
    return 0;
}
