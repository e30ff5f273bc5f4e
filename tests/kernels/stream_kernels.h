/* SPDX-License-Identifier: Apache-2.0 */
/* stream_kernels.h - small kernels whose order shows in what they leave behind. */
#ifndef GPURT_TESTS_STREAM_KERNELS_H
#define GPURT_TESTS_STREAM_KERNELS_H

#include <gpurt/base.h>
#include <gpurt/kernel.h>

/* Owner: the test. Shared with: every lane. */
struct stream_args {
    uint32_t *flag;
    uint64_t *data;
    uint32_t value;
};

/* data[id] = data[id] * 31 + value: the order of launches shows. */
GPURT_KERNEL_DECLARE(stream_step, struct stream_args);
/* Waits until *flag is value; then as stream_step. */
GPURT_KERNEL_DECLARE(stream_wait, struct stream_args);
/* *flag = value. */
GPURT_KERNEL_DECLARE(stream_signal, struct stream_args);
/* data[0] += 1, by one thread of each block. */
GPURT_KERNEL_DECLARE(stream_count, struct stream_args);
/* Traps. CPU back end only: a GPU loses its context. */
GPURT_KERNEL_DECLARE(stream_trap, struct stream_args);

#endif
