/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_beside.h"

#include <cuda_runtime.h>

#define TRY(call_)                         \
    do {                                   \
        cudaError_t e_ = (call_);          \
        if (e_ != cudaSuccess)             \
            return cudaGetErrorString(e_); \
    } while (0)

__global__ void count_up(uint32_t *words)
{
    words[blockIdx.x * blockDim.x + threadIdx.x]++;
}

static const char *graph_run(cudaStream_t stream, uint32_t *words)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < GRAPH_NODES; i++)
        count_up<<<GRAPH_WORDS / 64, 64, 0, stream>>>(words);
    TRY(cudaStreamEndCapture(stream, &graph));
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < GRAPH_LAUNCHES; i++)
        TRY(cudaGraphLaunch(exec, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaGraphExecDestroy(exec));
    TRY(cudaGraphDestroy(graph));
    return NULL;
}

const char *graph_beside(uint32_t *words)
{
    cudaStream_t stream;
    const char *error;

    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    error = graph_run(stream, words);
    TRY(cudaStreamDestroy(stream));
    return error;
}
