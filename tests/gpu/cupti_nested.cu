/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA program that knows nothing of gpurt, and whose kernels make the GPU's next work
 * themselves: `nested` COUNT kernels that launch one kernel each; `graph` COUNT launches of a
 * graph by a kernel. */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define NEED(call_)                                                        \
    do {                                                                   \
        cudaError_t e_ = (call_);                                          \
        if (e_ != cudaSuccess) {                                           \
            fprintf(stderr, "cupti_nested:%d: %s: %s\n", __LINE__, #call_, \
                    cudaGetErrorString(e_));                               \
            exit(3);                                                       \
        }                                                                  \
    } while (0)

static __global__ void child(unsigned *counter)
{
    if (threadIdx.x == 0)
        atomicAdd(counter, 1);
}

static __global__ void parent(unsigned *counter)
{
    if (threadIdx.x == 0)
        child<<<1, 32>>>(counter);
}

static __global__ void shooter(cudaGraphExec_t graph)
{
    cudaGraphLaunch(graph, cudaStreamGraphFireAndForget);
}

static void nested(unsigned *counter, int count)
{
    for (int i = 0; i < count; i++)
        parent<<<1, 32>>>(counter);
    NEED(cudaDeviceSynchronize());
}

/* A graph that kernels may launch, of one node; and that a kernel launches, `count` times. */
static void graph(unsigned *counter, int count)
{
    cudaStream_t s;
    cudaGraph_t shot, shooting;
    cudaGraphExec_t shot_exec, shooting_exec;

    NEED(cudaStreamCreate(&s));
    NEED(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    child<<<1, 32, 0, s>>>(counter);
    NEED(cudaStreamEndCapture(s, &shot));
    NEED(cudaGraphInstantiate(&shot_exec, shot, cudaGraphInstantiateFlagDeviceLaunch));
    NEED(cudaGraphUpload(shot_exec, s));
    NEED(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    shooter<<<1, 1, 0, s>>>(shot_exec);
    NEED(cudaStreamEndCapture(s, &shooting));
    NEED(cudaGraphInstantiate(&shooting_exec, shooting, 0));
    for (int i = 0; i < count; i++) {
        NEED(cudaGraphLaunch(shooting_exec, s));
        NEED(cudaStreamSynchronize(s));
    }
    NEED(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "nested";
    int count = argc > 2 ? atoi(argv[2]) : 100;
    unsigned *counter, seen;

    NEED(cudaMalloc(&counter, sizeof *counter));
    NEED(cudaMemset(counter, 0, sizeof *counter));
    if (strcmp(mode, "graph") == 0)
        graph(counter, count);
    else
        nested(counter, count);
    NEED(cudaMemcpy(&seen, counter, sizeof seen, cudaMemcpyDeviceToHost));
    return seen == unsigned(count) ? 0 : 4;
}
