/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_MALLOC_KERNELS_H
#define GPURT_TESTS_MALLOC_KERNELS_H

#include <gpurt/kernel.h>

/* A list of each lane: `length` nodes; wrong: nodes that were not what was written. */
struct malloc_args {
    void **heads;
    uint32_t *xwrong;
    uint32_t length;
};

/* The same on the host, by the C library. Returns: wrong nodes. */
uint32_t malloc_on_host(uint32_t length);
/* free of host code, of what a kernel allocated. */
void malloc_free_on_host(void *object);

#endif
