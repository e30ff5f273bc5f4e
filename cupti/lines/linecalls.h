/* SPDX-License-Identifier: Apache-2.0 */
/* linecalls.h - how many texts of inlined calls a box may have: definitions of a box have a fixed
 * room, which names of kernels need, too.
 *
 * Context: one thread. */
#ifndef GPURT_CUPTI_LINECALLS_H
#define GPURT_CUPTI_LINECALLS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LINECALLS_SLOTS = 1024, /* of definitions: a quarter of what a box has */
    LINECALLS_TABLE = 4 * LINECALLS_SLOTS
};

/* Owner: the caller; zeroed at first. */
typedef struct linecalls {
    uint64_t box;
    uint32_t slots;
    bool told; /* the caller's: that there is no room, of this box */
    uint64_t seen[LINECALLS_TABLE];
} linecalls_t;

/* Returns: whether the box, which may be another one than before, has it or has room for it; then it
 * counts. */
bool linecalls_fits(linecalls_t *c, uint64_t box, const char *text);

#endif
