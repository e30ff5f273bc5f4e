/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that put chunks into one set and take them out, and write down what happened. */
#ifndef GPURT_TESTS_POOL_KERNELS_H
#define GPURT_TESTS_POOL_KERNELS_H

#include "history_op.h"

#include <gpurt/impl/alloc/allocmap.h>
#include <gpurt/kernel.h>

enum {
    POOL_CHUNKS = 8, /* which they are: pool_places */
    POOL_LANES = 6,  /* two of each warp, */
    POOL_WARPS = 3,
    POOL_ROUNDS = 8,    /* ... so many operations each */
    POOL_TAKE_OUT = 9,  /* of one lane afterwards: what is found is taken, leaf by leaf */
    POOL_LEAVES = 4097, /* two words of branches that are used, and two roots */
    POOL_BRANCHES = 65,
    POOL_ROOTS = 2
};

/* A history of one block, and its tree. */
typedef struct pool_book {
    uint32_t xclock; /* written by: any lane */
    uint32_t xheld;  /* chunks that lanes have in the end; likewise */
    uint32_t taken;  /* operations of the last lane */
    uint32_t rested; /* the clock when all had come to rest, */
    uint64_t news;   /* ... and the count of news */
    gpurt_heap_counts_t counts;
    history_op_t ops[POOL_LANES][POOL_ROUNDS];
    history_op_t take_out[POOL_TAKE_OUT];
    uint64_t tree[POOL_LEAVES + POOL_BRANCHES + POOL_ROOTS];
} pool_book_t;

struct pool_args {
    gpurt_heap_t shape; /* of a heap that has one set alone */
    pool_book_t *books; /* a block */
    uint32_t rounds, seed;
    uint32_t chunks; /* those that are played with */
};

#endif
