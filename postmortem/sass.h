/* SPDX-License-Identifier: Apache-2.0 */
/* sass.h - just enough of the machine code of sm_90 to say what a failed instruction did:
 * which memory it touched through which registers, whether it is a trap or a call; and what
 * the code around a place does: branches, barriers, which registers an instruction may
 * write. What is not listed here is SASS_OTHER. Held to nvdisasm's words by test_sass. */
#ifndef GPURT_POSTMORTEM_SASS_H
#define GPURT_POSTMORTEM_SASS_H

#include "bytes.h"

enum {
    SASS_BYTES = 16,
    SASS_RZ = 255, /* reads as 0 */
    SASS_PT = 7    /* the predicate that always holds */
};
enum sass_kind {
    SASS_OTHER,
    SASS_LOAD,
    SASS_STORE,
    SASS_ATOMIC,
    SASS_TRAP,
    SASS_CALL,
    SASS_BRANCH, /* to a place that it names */
    SASS_JUMP,   /* elsewhere: through a register, or it ends a divergence */
    SASS_EXIT,
    SASS_BARRIER,  /* waits for other warps */
    SASS_CONVERGE, /* waits for other lanes of its warp */
    SASS_SLEEP,
    SASS_TRY /* asks an mbarrier whether its phase is over */
};
enum sass_space {
    SASS_NOWHERE,
    SASS_GENERIC,
    SASS_GLOBAL,
    SASS_SHARED,
    SASS_LOCAL
};

typedef struct sass_op {
    uint32_t kind, space;
    uint32_t size;   /* bytes moved, 0: not told */
    uint32_t base;   /* register of the address; a pair where wide */
    uint32_t extra;  /* uniform register that is added, SASS_RZ: none */
    uint32_t value;  /* register stored or loaded into */
    int32_t offset;  /* added too */
    bool wide;       /* the address has 64 bits */
    bool computable; /* base, extra and offset are all of the address */
    bool strong;     /* a load that other threads' stores must reach: volatile or atomic */
    uint32_t guard;  /* predicate under which it runs, SASS_PT: always */
    bool guard_not;  /* where the predicate does not hold */
    uint32_t dest, dest_count; /* registers that it may write, general or uniform ones */
    uint64_t target;           /* of a branch, from the instruction on; may be below 0 */
} sass_op_t;

/* Returns: false where there is no code, or not of a kind that is understood. */
bool sass_decode(bytes_t code, uint32_t sm_major, sass_op_t *out);

/* Whether it may write general or uniform register `number`; in doubt true. */
bool sass_writes(const sass_op_t *op, uint32_t number);
/* The same of a predicate. */
bool sass_writes_predicate(bytes_t code, const sass_op_t *op, uint32_t number);

const char *sass_space_name(uint32_t space);

#endif
