/* SPDX-License-Identifier: Apache-2.0 */
/* A CUDA C++ program whose host sends orders to its own kernel, launched with <<<>>>, and takes the
 * answers. */
#include "plain_check.cuh"

#include <gpurt/device.h>
#include <gpurt/gpurt.h>
#include <gpurt/hostchannel.h>
#include <gpurt/hostchannels.h>

static constexpr uint32_t kBlocks = 8, kOrders = 2000;

GPURT_TO_DEVICE(orders, uint32_t, 64);
GPURT_TO_HOST(squares, uint64_t, 64);

template <typename T> __global__ void square(orders_t orders, squares_t squares, T *done)
{
    uint32_t number = 0;

    while (gpurt_host_receive(&orders, &number) == GPURT_OK) {
        const uint64_t answer = static_cast<uint64_t>(number) * number;

        (void)gpurt_host_send(&squares, &answer);
    }
    if (gpurt_add_relaxed_dev_u32(done, 1) + 1 == kBlocks)
        (void)gpurt_host_close(&squares);
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
    squares_t squares = {};
    orders_t orders = {};
    gpurt_error_t err = {};
    gpurt_t *rt = nullptr;
    uint32_t *done = nullptr;
    uint64_t sum = 0, want = 0, answer = 0, got = 0;

    plain_need_gpu();
    options.backend = GPURT_BACKEND_CUDA;
    OK(gpurt_open(&options, &rt, &err));
    OK(gpurt_make_hostchannel(rt, &orders, nullptr, &err));
    OK(gpurt_make_hostchannel(rt, &squares, nullptr, &err));
    PLAIN_CUDA(cudaMalloc(&done, sizeof *done));
    PLAIN_CUDA(cudaMemset(done, 0, sizeof *done));
    square<<<kBlocks, 1>>>(orders, squares, done);
    PLAIN_CUDA(cudaGetLastError());
    for (uint32_t i = 0; i < kOrders; i++) {
        want += static_cast<uint64_t>(i) * i;
        while (gpurt_device_send(rt, &orders, &i, 0, nullptr, &err) == GPURT_E_FULL) {
            OK(gpurt_device_receive(rt, &squares, &answer, GPURT_FOREVER, &err));
            sum += answer;
            got++;
        }
    }
    OK(gpurt_hostchannel_close(rt, &orders.channel, &err));
    while (gpurt_device_receive(rt, &squares, &answer, GPURT_FOREVER, &err) == GPURT_OK) {
        sum += answer;
        got++;
    }
    PLAIN_CUDA(cudaDeviceSynchronize());
    PLAIN_EQUAL(got, kOrders);
    PLAIN_EQUAL(sum, want);
    OK(gpurt_hostchannel_destroy(rt, &orders.channel, &err));
    OK(gpurt_hostchannel_destroy(rt, &squares.channel, &err));
    OK(gpurt_close(rt, &err));
    return 0;
}
