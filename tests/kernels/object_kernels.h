/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that change a graph of collected objects. */
#ifndef GPURT_TESTS_OBJECT_KERNELS_H
#define GPURT_TESTS_OBJECT_KERNELS_H

#include <gpurt/impl/gcmap.h>
#include <gpurt/kernel.h>

/* Both types have a serial number and what it must be beside it. */
enum {
    OBJECT_NODE = 0,  /* handle, handle, serial, check, payload */
    OBJECT_ARRAY = 1, /* serial, check, handles to the end */
    OBJECT_TYPES = 2,
    OBJECT_NODE_SERIAL = 2,
    OBJECT_ARRAY_SERIAL = 0
};

/* Written by: any lane. */
typedef struct object_verdict {
    uint32_t xgone;    /* objects that a section could reach and that were not there */
    uint32_t xwrong;   /* objects with other words than were written */
    uint32_t xanswers; /* calls that should have been OK */
    uint32_t xsteps;   /* from object to object */
    uint32_t xnull;    /* requests that were refused */
    uint32_t xcycles;  /* collections under the same schedule */
    uint32_t xended;   /* mutators of a storm that have ended */
    uint32_t xlost;    /* waits that did not end, or ended too early */
    uint32_t xdied;    /* handles kept too long, whose objects went */
    uint64_t xserial;
} object_verdict_t;

struct object_args {
    gpurt_gc_t gc;
    object_verdict_t *verdict;
    uint64_t *cells; /* handles or answers, by kernel */
    uint32_t cell_count;
    uint32_t rounds, ops; /* sections of a lane, and what it does in each */
    uint32_t seed;
    uint32_t alone;  /* each lane has sections of its own */
    uint32_t active; /* lanes of a warp that change something */
    uint32_t dawdle; /* turns that a lane keeps something in its hands */
    uint32_t cycles; /* collections of block 0, at least */
    uint32_t bytes;  /* of payload, at most */
    uint32_t mode;
};

#endif
