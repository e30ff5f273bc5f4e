/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA C++ program whose kernel, launched with <<<>>>, hands segments from its first block to its
 * second. */
#include "plain_check.cuh"

#include <gpurt/device.h>
#include <gpurt/gpurt.h>
#include <gpurt/segring.h>
#include <gpurt/segrings.h>

static constexpr uint32_t kThreads = 128;

__device__ void fill(const gpurt_segring_t &ring, uint32_t *wrong)
{
    gpurt_segment_t s;
    uint32_t me = gpurt_thread_rank();

    if (gpurt_segring_reserve(&ring, kThreads * sizeof me, &s) != GPURT_OK)
        gpurt_add_relaxed_dev_u32(wrong, 1);
    for (uint32_t i = 0; i <= me; i++)
        if (gpurt_segment_put(&s, &me, sizeof me) != GPURT_OK)
            gpurt_add_relaxed_dev_u32(wrong, 1);
    if (gpurt_segment_commit(&s) != GPURT_OK)
        gpurt_add_relaxed_dev_u32(wrong, 1);
    gpurt_block_barrier();
    if (me == 0 && gpurt_segring_close(&ring) != GPURT_OK)
        gpurt_add_relaxed_dev_u32(wrong, 1);
}

template <typename T>
__global__ void hand_over(gpurt_segring_t ring, T *lengths, uint32_t *wrong)
{
    uint32_t words[kThreads];
    uint64_t bytes = 0;

    if (gpurt_block_x() == 0) {
        fill(ring, wrong);
        return;
    }
    while (gpurt_thread_rank() == 0 &&
           gpurt_segring_read(&ring, words, sizeof words, &bytes) == GPURT_OK) {
        lengths[words[0]] = static_cast<T>(bytes / sizeof *words);
        for (uint32_t i = 0; i < bytes / sizeof *words; i++)
            if (words[i] != words[0])
                gpurt_add_relaxed_dev_u32(wrong, 1);
    }
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
    gpurt_segring_options_t shape = {};
    gpurt_segring_status_t status = {};
    gpurt_options_t options = {};
    gpurt_segring_t ring = {};
    gpurt_error_t err = {};
    gpurt_t *rt = nullptr;
    uint32_t *wrong = nullptr, *lengths = nullptr;

    plain_need_gpu();
    options.backend = GPURT_BACKEND_CUDA;
    shape.bytes = 1 << 17;
    OK(gpurt_open(&options, &rt, &err));
    OK(gpurt_segring_create(rt, &shape, &ring, &err));
    PLAIN_CUDA(cudaMallocManaged(&lengths, kThreads * sizeof *lengths));
    PLAIN_CUDA(cudaMallocManaged(&wrong, sizeof *wrong));
    *wrong = 0;
    hand_over<<<2, kThreads>>>(ring, lengths, wrong);
    PLAIN_CUDA(cudaGetLastError());
    PLAIN_CUDA(cudaDeviceSynchronize());
    for (uint32_t i = 0; i < kThreads; i++)
        PLAIN_EQUAL(lengths[i], i + 1);
    PLAIN_EQUAL(*wrong, 0);
    OK(gpurt_segring_status(rt, &ring, &status, &err));
    PLAIN_EQUAL(status.counts.read, kThreads);
    OK(gpurt_segring_destroy(rt, &ring, &err));
    OK(gpurt_close(rt, &err));
    return 0;
}
