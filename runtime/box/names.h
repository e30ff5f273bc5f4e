/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - texts as numbers of string definitions, each defined once.
 *
 * Found by a 64-bit hash of the text, not by its address: a module that is unloaded gives
 * its addresses to other names. The room is fixed; what comes when it is used up is called
 * "(no room for more names)". One thread at a time. */
#ifndef GPURT_NAMES_H
#define GPURT_NAMES_H

#include "hostring.h"

enum {
    NAMES_SLOTS = 8192, /* a power of two; at most three quarters are used */
    NAMES_MAX = NAMES_SLOTS / 4 * 3
};

/* Owner: the caller; zeroed at first. */
typedef struct names {
    uint64_t hash[NAMES_SLOTS]; /* 0: free */
    uint32_t number[NAMES_SLOTS];
    uint32_t count;
    uint32_t overflow; /* the number of what has no room */
    bool full;         /* something had none */
} names_t;

void names_clear(names_t *n);

/* is_kernel: a mangled name is shown as it was written. text NULL: "(no name)". */
uint32_t names_number(names_t *n, const gpurt_hostring_t *ring, const char *text,
                      bool is_kernel);

/* As people write a mangled name: heap, to be freed. NULL: it is none, or nothing here knows. */
char *names_demangled(const char *text);

#endif
