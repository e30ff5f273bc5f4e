/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that misuse a heap, and twins that do not; compiled to check. */
#ifndef GPURT_TESTS_HEAP_CHECKS_KERNELS_H
#define GPURT_TESTS_HEAP_CHECKS_KERNELS_H

#include <gpurt/allocmap.h>
#include <gpurt/kernel.h>

enum {
    LINE_ALLOC,
    LINE_FREE,
    LINE_AGAIN,
    LINE_LEAK,
    LINE_OTHER,
    LINES
};

struct checks_args {
    gpurt_heap_t heap;
    uint64_t *cells; /* objects in hand */
    uint32_t *lines; /* where the calls of the kernels stand; written by: any lane */
    uint64_t size;
    int64_t at; /* byte that is written, or freed */
    uint32_t align, count, mode, seed;
};

#endif
