/* SPDX-License-Identifier: Apache-2.0 */
/* sass.h - just enough of the machine code of sm_90 to say what a failed instruction did:
 * which memory it touched through which registers, whether it is a trap or a call. What is
 * not listed here is SASS_OTHER. Held to nvdisasm's words by test_sass. */
#ifndef GPURT_POSTMORTEM_SASS_H
#define GPURT_POSTMORTEM_SASS_H

#include "bytes.h"

enum {
    SASS_BYTES = 16,
    SASS_RZ = 255 /* reads as 0 */
};
enum sass_kind {
    SASS_OTHER,
    SASS_LOAD,
    SASS_STORE,
    SASS_ATOMIC,
    SASS_TRAP,
    SASS_CALL
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
} sass_op_t;

/* Returns: false where there is no code, or not of a kind that is understood. */
bool sass_decode(bytes_t code, uint32_t sm_major, sass_op_t *out);

const char *sass_space_name(uint32_t space);

#endif
