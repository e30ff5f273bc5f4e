/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA C++ program whose kernels call malloc, free, new and delete, and know nothing of
 * gpurt: compiled with -DGPURT_REPLACE_MALLOC -include gpurt/malloc.h they use its heap. Only
 * main makes one. Its own new, std::vector and malloc stay the host's. */
#include "plain_check.cuh"

#include <gpurt/gpurt.h>
#include <gpurt/heap.h>

#include <vector>

static constexpr unsigned kBlocks = 8, kThreads = 96, kLength = 12;

struct Node {
    Node *next;
    unsigned value;
    __device__ Node(Node *n, unsigned v) : next(n), value(v) {}
};

__global__ void build(Node **heads)
{
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    Node *head = nullptr;

    for (unsigned i = 0; i < kLength; i++)
        head = new Node(head, id * 1000 + i);
    heads[id] = head;
}

__global__ void drop(Node **heads, unsigned *wrong)
{
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned other = (id + blockDim.x) % (gridDim.x * blockDim.x), i = kLength;
    char *text = static_cast<char *>(malloc(id % 200 + 1));
    unsigned *row = new unsigned[7];

    text[id % 200] = 'x';
    row[6] = id;
    for (Node *n = heads[other], *next; n; n = next) {
        next = n->next;
        if (n->value != other * 1000 + --i)
            atomicAdd(wrong, 1);
        delete n;
    }
    if (i != 0 || text[id % 200] != 'x' || row[6] != id)
        atomicAdd(wrong, 1);
    free(text);
    delete[] row;
}

#define OK(call)                                                                  \
    do {                                                                          \
        if ((call) != GPURT_OK) {                                                 \
            fprintf(stderr, "%s:%d: FAILED: %s: %s\n", __FILE__, __LINE__, #call, \
                    err.text);                                                    \
            exit(PLAIN_FAILED);                                                   \
        }                                                                         \
    } while (0)

int main()
{
    plain_need_gpu();

    gpurt_options_t options = {};
    gpurt_heap_options_t heap_options = {};
    gpurt_heap_stats_t stats = {};
    gpurt_error_t err = {};
    gpurt_heap_t heap = {};
    gpurt_t *rt = nullptr;
    Node **heads = nullptr;
    unsigned *wrong = nullptr, count = 1;

    options.struct_size = sizeof options;
    options.backend = GPURT_BACKEND_CUDA;
    OK(gpurt_open(&options, &rt, &err));
    heap_options.bytes = 16 << 20;
    heap_options.make_default = true;
    OK(gpurt_heap_create(rt, &heap_options, &heap, &err));
    PLAIN_CUDA(cudaMalloc(&heads, kBlocks * kThreads * sizeof *heads));
    PLAIN_CUDA(cudaMalloc(&wrong, sizeof *wrong));
    PLAIN_CUDA(cudaMemset(wrong, 0, sizeof *wrong));
    build<<<kBlocks, kThreads>>>(heads);
    PLAIN_CUDA(cudaGetLastError());
    PLAIN_CUDA(cudaDeviceSynchronize());
    OK(gpurt_heap_stats(rt, &heap, &stats, &err));
    PLAIN_EQUAL(stats.live, kBlocks * kThreads * kLength);

    std::vector<int> own(1000, 7); /* the host's */
    int *plain = new int[10];
    void *raw = std::malloc(100);
    plain[9] = own[999];
    PLAIN_EQUAL(plain[9], 7);
    std::free(raw);
    delete[] plain;

    drop<<<kBlocks, kThreads>>>(heads, wrong);
    PLAIN_CUDA(cudaGetLastError());
    PLAIN_CUDA(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
    PLAIN_EQUAL(count, 0u);
    OK(gpurt_heap_stats(rt, &heap, &stats, &err));
    PLAIN_EQUAL(stats.live, 0u);
    OK(gpurt_heap_destroy(rt, &heap, &err));
    OK(gpurt_close(rt, &err));
    PLAIN_CUDA(cudaFree(heads));
    PLAIN_CUDA(cudaFree(wrong));
    return 0;
}
