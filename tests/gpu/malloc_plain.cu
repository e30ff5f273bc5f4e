/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA C++ program whose kernels call malloc, free, new and delete, and know nothing of
 * gpurt: compiled with -DGPURT_REPLACE_MALLOC -include gpurt/malloc.h they use its heap. Only
 * main makes one. Its own new, std::vector and malloc stay the host's. */
#include "plain_check.cuh"

#include <gpurt/gpurt.h>
#include <gpurt/heap.h>

#include <new>
#include <vector>

static constexpr unsigned kBlocks = 8, kThreads = 96, kLength = 12;

struct Node {
    Node *next;
    unsigned value;
    __device__ Node(Node *n, unsigned v) : next(n), value(v) {}
};

struct alignas(128) Line {
    unsigned words[40];
    __device__ Line() { words[39] = threadIdx.x; }
};

struct Vast {
    char bytes[1u << 30];
    __device__ Vast() { bytes[0] = 1; } /* of none, where none was had */
};

__device__ bool is_line(const Line *l)
{
    return l && reinterpret_cast<size_t>(l) % 128 == 0 && l->words[39] == threadIdx.x;
}

/* Each form of new, and its delete. left: objects that stay. */
__global__ void forms(void **left, unsigned *wrong)
{
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x, n = id % 3 + 1, bad = 0;
    Line *one = new Line, *row = new Line[n], *quiet = new (std::nothrow) Line;
    Line *quiet_row = new (std::nothrow) Line[n];
    unsigned *small = new (std::nothrow) unsigned(id),
             *list = new (std::nothrow) unsigned[n];

    bad += !is_line(one) || !is_line(row + n - 1) || !is_line(quiet);
    bad += !is_line(quiet_row + n - 1) || !small || *small != id || !list;
    bad += new (std::nothrow) Vast != nullptr;
    delete one;
    delete[] row;
    delete[] quiet_row;
    delete small;
    operator delete[](list, std::nothrow);
    operator delete (quiet, std::align_val_t{128}, std::nothrow);
    left[id] = new Line;
    if (bad)
        atomicAdd(wrong, 1);
}

__global__ void forms_end(void **left)
{
    delete static_cast<Line *>(left[blockIdx.x * blockDim.x + threadIdx.x]);
}

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

    forms<<<kBlocks, kThreads>>>(reinterpret_cast<void **>(heads), wrong);
    PLAIN_CUDA(cudaGetLastError());
    PLAIN_CUDA(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost));
    PLAIN_EQUAL(count, 0u);
    OK(gpurt_heap_stats(rt, &heap, &stats, &err));
    PLAIN_EQUAL(stats.live, kBlocks * kThreads); /* and nothing of CUDA's own heap */
    forms_end<<<kBlocks, kThreads>>>(reinterpret_cast<void **>(heads));
    PLAIN_CUDA(cudaGetLastError());
    PLAIN_CUDA(cudaDeviceSynchronize());
    OK(gpurt_heap_stats(rt, &heap, &stats, &err));
    PLAIN_EQUAL(stats.live, 0u);
    PLAIN_EQUAL(stats.counts.xbad_frees[GPURT_FREE_FOREIGN], 0u);
    OK(gpurt_heap_destroy(rt, &heap, &err));
    OK(gpurt_close(rt, &err));
    PLAIN_CUDA(cudaFree(heads));
    PLAIN_CUDA(cudaFree(wrong));
    return 0;
}
