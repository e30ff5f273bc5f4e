/* SPDX-License-Identifier: Apache-2.0 */
/* launchnames.h - names of kernels that were launched: one copy of each, which stays, and how often
 * it was launched. The room is fixed; what comes behind it is one name together. */
#ifndef GPURT_CUPTI_LAUNCHNAMES_H
#define GPURT_CUPTI_LAUNCHNAMES_H

#include <gpurt/base.h>

enum {
    LAUNCHNAMES = 1024
};

typedef struct launchname {
    const char *text;
    bool plain;         /* no name of a kernel's, mangled */
    uint64_t xcount;    /* launches; written by: any thread (adds) */
    uint64_t xrecorded; /* of them, those that had records; written by: the reader (adds) */
    uint64_t told, told_too; /* of the two; counted.c's */
} launchname_t;

/* The same text has the same one, for ever. Context: any thread. */
launchname_t *launchnames_find(const char *text);
/* Of launches of graphs. */
launchname_t *launchnames_graphs(void);

/* The i-th that there is. NULL: no more. Context: any thread. */
launchname_t *launchnames_at(uint32_t i);

#endif
