/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that use a heap and know every byte of what they hold. */
#ifndef GPURT_TESTS_ALLOC_KERNELS_H
#define GPURT_TESTS_ALLOC_KERNELS_H

#include <gpurt/impl/alloc/allocmap.h>
#include <gpurt/kernel.h>

/* What went wrong first, and how often. Written by: any lane. */
typedef struct alloc_verdict {
    uint32_t xwrong; /* objects whose bytes were not what was written */
    uint32_t xnull;  /* requests that got NULL */
    uint32_t xserved;
    uint32_t xmisaligned;
    uint64_t xbytes; /* asked for by served requests */
    uint64_t xfirst; /* the first wrong object */
} alloc_verdict_t;

/* Cells are the hands of all lanes: each holds an object or nothing. */
struct alloc_args {
    gpurt_heap_t heap;
    uint64_t *cells;
    alloc_verdict_t *verdict;
    uint32_t cell_count, rounds;
    uint32_t min_bytes, max_bytes; /* sizes are even in between */
    uint32_t seed;
    uint32_t mode; /* of the kernel at hand */
};

#endif
