/* SPDX-License-Identifier: Apache-2.0 */
/* nativecalls.h - the calls of host code that led to a launch: a walk up the thread's own stack, and what
 * it found as modules and offsets, from the first call outside of the driver, CUPTI and a shared
 * runtime on. */
#ifndef GPURT_CUPTI_NATIVECALLS_H
#define GPURT_CUPTI_NATIVECALLS_H

#include "cupti_api.h"

enum {
    NATIVECALLS_FRAMES = 24, /* walked, ours and the driver's among them */
    NATIVECALLS_TEXT = 640   /* at most three slots of definitions each */
};

/* Owner: the caller. */
typedef struct nativecalls {
    void *frames[NATIVECALLS_FRAMES];
    int count;
} nativecalls_t;

/* Context: before any of the below; again is harmless. */
void nativecalls_begin(const cupti_api_t *api);

/* Of the calling thread. Allocates nothing. */
void nativecalls_take(nativecalls_t *out);
/* Stacks of one hash are the same one. Not 0. */
uint64_t nativecalls_hash(const nativecalls_t *calls);

/* "/usr/bin/app+0x1f2a < /usr/lib/libfoo.so+0x77", or "(not known)". Takes the loader's lock. */
void nativecalls_write(const nativecalls_t *calls, char text[NATIVECALLS_TEXT]);

#endif
