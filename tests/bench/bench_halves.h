/* SPDX-License-Identifier: Apache-2.0 */
/* bench_halves.h - what the program and its kernels agree on. */
#ifndef BENCH_HALVES_H
#define BENCH_HALVES_H

#include <gpurt/kernel.h>

enum {
    HALVES_LINE = 128, /* bytes of a cache line */
    HALVES_LINES = 8192,
    HALVES_LOOKS = 5,
    HALVES_STEPS = 256 /* of a walk */
};

/* Owner: the program. Shared with: a lane, or a warp, on each multiprocessor. */
struct bench_halves_args {
    char *memory;     /* HALVES_LINES lines */
    uint16_t *cycles; /* of each line, by multiprocessor */
    uint32_t *walks;  /* lines to go to, HALVES_STEPS for each multiprocessor */
    uint32_t *walked; /* cycles of one step, by multiprocessor */
    uint32_t sm_count;
};

/* An atomic on each line, by one lane of each multiprocessor: the fastest of some. */
GPURT_KERNEL_DECLARE(bench_halves_map, struct bench_halves_args);
/* One after another along the walk of its multiprocessor, by one lane. */
GPURT_KERNEL_DECLARE(bench_halves_walk, struct bench_halves_args);
/* ... by every lane of the block, each from a place of its own. */
GPURT_KERNEL_DECLARE(bench_halves_crowd, struct bench_halves_args);

#endif
