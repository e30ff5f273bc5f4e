/* SPDX-License-Identifier: Apache-2.0 */
/* plain_check.cuh - what the plain CUDA C++ programs of this folder share: they skip
 * where there is no GPU, and the first CUDA error or wrong value ends them. */
#ifndef GPURT_TESTS_PLAIN_CHECK_CUH
#define GPURT_TESTS_PLAIN_CHECK_CUH

#include <cstdio>
#include <cstdlib>

enum {
    PLAIN_FAILED = 1,
    PLAIN_SKIPPED = 77
};

#define PLAIN_CUDA(call)                                                          \
    do {                                                                          \
        cudaError_t plain_error_ = call;                                          \
        if (plain_error_ != cudaSuccess) {                                        \
            fprintf(stderr, "%s:%d: FAILED: %s: %s\n", __FILE__, __LINE__, #call, \
                    cudaGetErrorString(plain_error_));                            \
            exit(PLAIN_FAILED);                                                   \
        }                                                                         \
    } while (0)

#define PLAIN_EQUAL(actual, expected)                                               \
    do {                                                                            \
        long long plain_a_ = (long long)(actual), plain_e_ = (long long)(expected); \
        if (plain_a_ != plain_e_) {                                                 \
            fprintf(stderr, "%s:%d: FAILED: %s is %lld, expected %lld\n", __FILE__, \
                    __LINE__, #actual, plain_a_, plain_e_);                         \
            exit(PLAIN_FAILED);                                                     \
        }                                                                           \
    } while (0)

static inline void plain_need_gpu()
{
    int count = 0;
    cudaError_t e = cudaGetDeviceCount(&count);

    if (e != cudaSuccess || count == 0) {
        fprintf(stderr, "no usable GPU (%s): skipped\n", cudaGetErrorString(e));
        exit(PLAIN_SKIPPED);
    }
}

#endif
