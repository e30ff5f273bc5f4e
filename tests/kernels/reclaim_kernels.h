/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels over a stack, a queue and counted objects that are freed while others look. */
#ifndef GPURT_TESTS_RECLAIM_KERNELS_H
#define GPURT_TESTS_RECLAIM_KERNELS_H

#include <gpurt/impl/reclaimmap.h>
#include <gpurt/kernel.h>

/* Who looks after what is unlinked. BARE: nobody, it is freed at once. */
enum {
    RECLAIM_BARE,
    RECLAIM_EPOCH,
    RECLAIM_HAZARD
};

/* A node of the stack or queue. */
typedef struct reclaim_node {
    uint64_t xnext;
    uint64_t value;
    uint64_t xlife; /* which allocation this is: never the same twice */
    uint64_t plain; /* the same, by an ordinary store: who reads it must be in order */
} reclaim_node_t;

/* What went wrong, and how often. Written by: any lane. */
typedef struct reclaim_verdict {
    uint32_t xreused; /* a node became another while a lane was at it */
    uint32_t xwrong;  /* an object's bytes, or an answer */
    uint32_t xfull;   /* retires that were refused */
    uint32_t xnull;   /* requests that got NULL */
    uint32_t xdead;   /* weak references that were dead */
    uint32_t xdone;   /* operations that did something */
    uint64_t xlives;
    uint32_t xinside; /* the block that is to be cancelled is in its section */
} reclaim_verdict_t;

struct reclaim_args {
    gpurt_heap_t heap;
    gpurt_epochs_t epochs;
    gpurt_hazards_t hazards;
    gpurt_refs_t refs;
    reclaim_verdict_t *verdict;
    uint64_t *ends;  /* of the stack: its top; of the queue: head, tail */
    uint32_t *taken; /* how often each value came out */
    uint64_t *cells; /* references, or what a lane could not retire */
    uint32_t value_count, cell_count;
    uint32_t node_bytes, rounds, seed;
    uint32_t guard;  /* RECLAIM_* */
    uint32_t alone;  /* each lane has a section of its own */
    uint32_t dawdle; /* turns that a lane may stay at a node it found */
    uint32_t mode;   /* of the kernel at hand */
};

#endif
