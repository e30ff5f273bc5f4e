/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that use the four pools, rows with a pitch, and many frees by one call. */
#ifndef GPURT_TESTS_PLACE_KERNELS_H
#define GPURT_TESTS_PLACE_KERNELS_H

#include "holding.h"

#include <gpurt/impl/alloc/allocmap.h>
#include <gpurt/kernel.h>

enum {
    PLACE_WARPS = 4,
    PLACE_ROWS = 64 /* the most that place_rows holds */
};

struct place_args {
    gpurt_heap_t heap;
    uint64_t *cells;
    uint64_t *out; /* what a kernel found out */
    holding_verdict_t *verdict;
    uint32_t cell_count, rounds, seed;
    uint32_t max_bytes, rows, alike;
    uint64_t matrix_rows, row_bytes, align;
    uint32_t
        *gate; /* in host memory: lanes that found no memory, then what the host says */
};

#endif
