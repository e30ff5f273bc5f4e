/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_BENCH_PLACES_H
#define GPURT_TESTS_BENCH_PLACES_H

#include <gpurt/arena.h>
#include <gpurt/kernel.h>
#include <gpurt/region.h>

enum {
    BENCH_BATCH = 8, /* objects that a lane holds at a time */
    BENCH_THREADS = 256,
    BENCH_ROUNDS_LEFT_OUT = 2 /* they look at the objects, and warm up */
};

struct bench_places_args {
    gpurt_heap_t heap;
    gpurt_arena_source_t source;
    gpurt_region_t region;
    char *scratch;    /* 4 KiB a lane */
    uint64_t *cycles; /* two a warp: of getting, of giving back, all rounds */
    uint64_t *wrong;
    uint32_t bytes, rounds, pitch;
};

#endif
