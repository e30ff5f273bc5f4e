/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_KERNEL_HALVES_H
#define GPURT_TESTS_KERNEL_HALVES_H

#include <gpurt/kernel.h>

struct halves_args {
    float factor;
    const float *from;
    float *to;
    uint32_t n;
};

#endif
