/* SPDX-License-Identifier: Apache-2.0 */
/* malloc.h before code of other people: Thrust, CUB, libcu++, classes with a malloc of their own.
 * The program makes no heap. */
#include "plain_check.cuh"

#include <gpurt/gpurt.h>
#include <gpurt/heap.h>

#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <memory>
#include <thrust/device_vector.h>
#include <thrust/sort.h>
#include <thrust/system/cuda/memory.h>
#include <unistd.h>

struct Pool {
    char *bytes;
    __host__ __device__ void *malloc(size_t size) { return bytes + size; }
    __host__ __device__ void free(void *) {}
};

struct Typed {
    template <class T> __device__ T *malloc(size_t count, size_t step)
    {
        return static_cast<T *>(::malloc(count * step));
    }
};

struct Counter {
    unsigned value;
    __device__ explicit Counter(unsigned v) : value(v) {}
};

/* served[i]: whether request i got memory that holds what was written. */
__global__ void requests(unsigned *served)
{
    char room[16];
    Pool pool = {room};
    Typed typed;
    void *(*get)(size_t) = malloc;
    int *row = typed.malloc<int>(3, sizeof(int));
    void *plain = std::malloc(13), *by_pointer = get(5);

    served[0] = row != nullptr;
    served[1] = plain != nullptr;
    served[2] = by_pointer != nullptr;
    served[3] = pool.malloc(3) == room + 3;
    pool.free(room);
    free(row);
    std::free(plain);
    free(by_pointer);
}

__global__ void constructed(unsigned *served)
{
    Counter *c = new Counter(7);

    served[4] = c->value == 7;
    delete c;
}

/* What a kernel prints, which is asked for memory before there is any. */
static bool says_so(unsigned *served)
{
    char text[4096] = "";
    int ends[2], out = dup(STDOUT_FILENO);

    if (out < 0 || pipe(ends) != 0)
        return false;
    fflush(stdout);
    dup2(ends[1], STDOUT_FILENO);
    requests<<<1, 1>>>(served);
    PLAIN_CUDA(cudaDeviceSynchronize());
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(ends[1]);
    if (read(ends[0], text, sizeof text - 1) < 0)
        text[0] = '\0';
    close(ends[0]);
    close(out);
    return strstr(text, "there is no heap") != nullptr;
}

int main()
{
    plain_need_gpu();

    gpurt_options_t options = {};
    gpurt_heap_options_t heap_options = {};
    gpurt_heap_t heap = {};
    gpurt_error_t err = {};
    gpurt_t *rt = nullptr;
    thrust::device_vector<unsigned> served(5, 0u);
    thrust::device_vector<int> numbers(1000);

    PLAIN_EQUAL(says_so(thrust::raw_pointer_cast(served.data())), true);
    PLAIN_EQUAL(served[0], 0u);
    PLAIN_EQUAL(served[3], 1u);

    options.struct_size = sizeof options;
    options.backend = GPURT_BACKEND_CUDA;
    PLAIN_EQUAL(gpurt_open(&options, &rt, &err), GPURT_OK);
    requests<<<1, 1>>>(thrust::raw_pointer_cast(served.data()));
    constructed<<<1, 1>>>(thrust::raw_pointer_cast(served.data()));
    PLAIN_CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 5; i++)
        PLAIN_EQUAL(served[i], 1u);

    for (int i = 0; i < 1000; i++)
        numbers[i] = (i * 7919) % 1000;
    thrust::sort(numbers.begin(), numbers.end());
    PLAIN_EQUAL(thrust::is_sorted(numbers.begin(), numbers.end()), true);

    heap_options.bytes = 16 << 20;
    heap_options.make_default = true; /* takes the place of the one that made itself */
    PLAIN_EQUAL(gpurt_heap_create(rt, &heap_options, &heap, &err), GPURT_OK);
    constructed<<<1, 1>>>(thrust::raw_pointer_cast(served.data()));
    PLAIN_CUDA(cudaDeviceSynchronize());
    PLAIN_EQUAL(gpurt_heap_destroy(rt, &heap, &err), GPURT_OK);
    PLAIN_EQUAL(gpurt_close(rt, &err), GPURT_OK);
    return 0;
}
