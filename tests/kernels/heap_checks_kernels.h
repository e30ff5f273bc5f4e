/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that misuse a heap, and twins that do not; compiled to check. */
#ifndef GPURT_TESTS_HEAP_CHECKS_KERNELS_H
#define GPURT_TESTS_HEAP_CHECKS_KERNELS_H

#include <gpurt/impl/alloc/allocmap.h>
#include <gpurt/impl/gcmap.h>
#include <gpurt/impl/reclaimmap.h>
#include <gpurt/kernel.h>

enum {
    LINE_ALLOC,
    LINE_FREE,
    LINE_AGAIN,
    LINE_LEAK,
    LINE_OTHER,
    LINES
};

/* Who asks a heap for what others ask of him: modes of checks_passed_on. */
enum {
    ASKED_REF,
    ASKED_OBJECT,
    ASKED_MATRIX,
    ASKED_LANES,
    ASKED_ARENA,
    ASKED_ARENA_ALIGNED,
    ASKED_ARENA_WARP,
    ASKED_ARENA_WARP_EACH,
    ASKED_BLOCK_ARENA, /* from here on: lanes by themselves */
    ASKED_BLOCK_ARENA_LARGE,
    ASKED_COUNT
};

struct checks_args {
    gpurt_heap_t heap;
    gpurt_refs_t refs;
    gpurt_gc_t gc;
    uint64_t *cells; /* objects in hand */
    uint32_t *lines; /* where the calls of the kernels stand; written by: any lane */
    uint64_t size;
    int64_t at; /* byte that is written, or freed */
    uint32_t align, count, mode, seed;
};

#endif
