/* SPDX-License-Identifier: Apache-2.0 */
/* culprit.h - which lanes of a warp used the bad address. The hardware names the warp alone:
 * each lane's address is computed from the registers of the dump, and told from the others'
 * by what cannot be an address, by the memory that the dump holds, and by distance. */
#ifndef GPURT_POSTMORTEM_CULPRIT_H
#define GPURT_POSTMORTEM_CULPRIT_H

#include "gpucore.h"
#include "sass.h"

/* What tells them from the others. */
enum culprit_clue {
    CULPRIT_UNKNOWN,    /* nothing does */
    CULPRIT_ALONE,      /* no other lane ran */
    CULPRIT_GUARD,      /* the instruction's predicate let no other run it */
    CULPRIT_MISALIGNED, /* its address is no multiple of the size */
    CULPRIT_BEYOND,     /* it lies beyond the shared memory of the block */
    CULPRIT_NULL,       /* it lies in the first page */
    CULPRIT_IMPOSSIBLE, /* it has more bits than a GPU's address */
    CULPRIT_EQUAL,      /* all gave it one address */
    CULPRIT_SAME,       /* all lie in one page, which is mapped as a whole */
    CULPRIT_UNMAPPED,   /* it lies in no memory that the dump holds, others do */
    CULPRIT_FAR         /* it lies far from all others */
};
/* Why nothing does. */
enum culprit_want {
    CULPRIT_WANT_CLUE,      /* the addresses are known and look alike */
    CULPRIT_WANT_OP,        /* the instruction is not understood */
    CULPRIT_WANT_REGISTERS, /* they are not in the dump */
    CULPRIT_RAN_ON,         /* the warp ran on: its registers are of later */
    CULPRIT_OVERWRITTEN     /* the registers of the address are of later */
};

typedef struct culprit {
    uint32_t ran;   /* mask of lanes that may have run it */
    uint32_t lanes; /* mask of those that it was; 0: not known which of them */
    uint32_t known; /* mask of those whose address is known */
    uint32_t clue, want;
    bool sure; /* the clue proves it; else it is probable */
    uint64_t addresses[GPUCORE_LANES];
    uint64_t apart; /* CULPRIT_FAR: bytes to the nearest of the others, of the nearest */
} culprit_t;

/* A warp of the dump that the hardware marked. code: from the instruction that failed on. */
typedef struct culprit_case {
    const gpucore_t *core;
    const gpucore_warp_t *warp;
    const sass_op_t *op; /* NULL: not understood */
    bytes_t code;
    uint64_t pc;        /* of the instruction */
    uint32_t exception; /* CUDA's number */
} culprit_case_t;

/* Whether an exception is about an address: else all lanes that ran have failed alike. */
bool culprit_applies(uint32_t exception);

void culprit_find(const culprit_case_t *c, culprit_t *out);

/* "lane 9, by its address: 310 GiB from those of the others"; for every clue. */
void culprit_words(const culprit_t *c, char *out, size_t room);

#endif
