/* SPDX-License-Identifier: Apache-2.0 */
/* note_kernels.h - panics with context, frames, memory; and many at once. */
#ifndef NOTE_KERNELS_H
#define NOTE_KERNELS_H

#include <gpurt/kernel.h>

enum {
    NOTE_TABLE = 200, /* words of the table */
    NOTE_DEEP = 12    /* frames */
};

struct note_args {
    uint32_t *table; /* NOTE_TABLE words, i at i */
    uint32_t
        which; /* 0: notes and a panic; 1: a panic alone; 2: an index; 3: memory given */
    int32_t index;
    const void *bad; /* not to be read */
};

struct many_args {
    uint32_t seed;
    uint32_t *done;
};

#endif
