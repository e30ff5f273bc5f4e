/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_BENCH_ALLOC_CALLS_H
#define GPURT_TESTS_BENCH_ALLOC_CALLS_H

#include "bench_alloc.h"

enum {
    CALLS_BURST = 8, /* objects a lane asks for before it frees any */
    CALLS_LIVE = 16, /* objects a lane holds */
    CALLS_WARPS = 16 /* at most, of a block */
};

#endif
