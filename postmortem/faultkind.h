/* SPDX-License-Identifier: Apache-2.0 */
/* faultkind.h - what can go wrong on a GPU, in words: what it means, and what to do. */
#ifndef GPURT_POSTMORTEM_FAULTKIND_H
#define GPURT_POSTMORTEM_FAULTKIND_H

#include <stdint.h>

/* Numbers beyond those of CUDA's debugger: what is concluded from the code. */
enum {
    FAULT_ILLEGAL_ADDRESS = 14,
    FAULT_OUT_OF_RANGE = 5,
    FAULT_MISALIGNED = 6,
    FAULT_ASSERT = 12,
    FAULT_TRAP = 1000,
    FAULT_STACK = 1001,
    FAULT_SHARED_RANGE = 1002,
    FAULT_SNAPSHOT = 1003
};

typedef struct faultkind {
    uint32_t number;
    const char *id;      /* for programs: "illegal-address"; never changes */
    const char *title;   /* "illegal address" */
    const char *meaning; /* one sentence */
    const char *remedy;  /* what to do first */
} faultkind_t;

/* Never NULL: a number that is not known is "unknown". */
const faultkind_t *faultkind_of(uint32_t number);
/* Place i of the table, NULL behind its end. */
const faultkind_t *faultkind_at(uint32_t i);

#endif
