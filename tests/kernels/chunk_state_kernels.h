/* SPDX-License-Identifier: Apache-2.0 */
/* A lane that remembers a chunk's state for a while, beside lanes that change it; and a free that
 * meets one who takes the chunk out of its set. */
#ifndef GPURT_TESTS_CHUNK_STATE_KERNELS_H
#define GPURT_TESTS_CHUNK_STATE_KERNELS_H

#include <gpurt/impl/alloc/allocmap.h>
#include <gpurt/kernel.h>

enum {
    CHUNK_STATE_WARPS = 4, /* the first one's lane remembers, others allocate and free */
    CHUNK_STATE_LANES = 2, /* ... so many of each */
    CHUNK_STATE_BYTES = 20 << 10, /* of an object where all are alike; */
    CHUNK_STATE_SLOTS = 3         /* ... so many are a chunk */
};

/* Written by: any lane, but the first three by the one that remembers. */
typedef struct chunk_state_verdict {
    uint32_t promised; /* states that let it have slots, */
    uint32_t round;    /* ... and had been another one meanwhile */
    uint32_t unkept;   /* slots that it was promised and did not get */
    uint32_t xshared;  /* objects that had another owner, too */
    uint32_t adopted;  /* runs that were found; written by: who looks for one */
    void *objects[CHUNK_STATE_SLOTS];
} chunk_state_verdict_t;

struct chunk_state_args {
    gpurt_heap_t heap; /* of one chunk */
    chunk_state_verdict_t *verdict;
    uint32_t rounds, seed;
};

#endif
