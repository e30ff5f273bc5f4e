/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA C++ program that calls functions of the host from its own kernel, launched with <<<>>>. */
#include "plain_check.cuh"

#include <gpurt/device.h>
#include <gpurt/gpurt.h>
#include <gpurt/hostcall.h>
#include <gpurt/hostcalls.h>

static constexpr uint32_t kBlocks = 8, kThreads = 128;

GPURT_HOST_CALL(square, 1, uint32_t, uint64_t);

GPURT_HOST_FUNCTION(square, context, ask, answer)
{
    ++*static_cast<uint32_t *>(context);
    *answer = static_cast<uint64_t>(*ask) * *ask;
    return GPURT_OK;
}

template <typename T>
__global__ void ask_squares(gpurt_hostcalls_t calls, T *out, uint32_t *wrong)
{
    uint32_t number = gpurt_global_id();
    uint64_t time = 0;

    if (gpurt_host_call(&calls, square, &number, &out[number]) != GPURT_OK)
        gpurt_add_relaxed_dev_u32(wrong, 1);
    if (number == 0 && (gpurt_host_time(&calls, &time) != GPURT_OK || time == 0 ||
                        gpurt_host_print(&calls, "a line of a kernel") != GPURT_OK))
        gpurt_add_relaxed_dev_u32(wrong, 1);
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
    gpurt_options_t options = {};
    gpurt_hostcalls_t calls = {};
    gpurt_error_t err = {};
    gpurt_t *rt = nullptr;
    uint32_t asked = 0, *wrong = nullptr;
    uint64_t *out = nullptr;

    plain_need_gpu();
    options.backend = GPURT_BACKEND_CUDA;
    OK(gpurt_open(&options, &rt, &err));
    OK(gpurt_hostcalls_create(rt, nullptr, &calls, &err));
    OK(gpurt_hostcalls_add(rt, &calls, square, &asked, &err));
    PLAIN_CUDA(cudaMallocManaged(&out, kBlocks * kThreads * sizeof *out));
    PLAIN_CUDA(cudaMallocManaged(&wrong, sizeof *wrong));
    *wrong = 0;
    ask_squares<<<kBlocks, kThreads>>>(calls, out, wrong);
    PLAIN_CUDA(cudaGetLastError());
    PLAIN_CUDA(cudaDeviceSynchronize());
    for (uint32_t i = 0; i < kBlocks * kThreads; i++)
        PLAIN_EQUAL(out[i], static_cast<uint64_t>(i) * i);
    PLAIN_EQUAL(*wrong, 0);
    PLAIN_EQUAL(asked, kBlocks * kThreads);
    OK(gpurt_hostcalls_destroy(rt, &calls, &err));
    OK(gpurt_close(rt, &err));
    return 0;
}
