/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that use arenas of all kinds and know every byte of what they hold. */
#ifndef GPURT_TESTS_ARENA_KERNELS_H
#define GPURT_TESTS_ARENA_KERNELS_H

#include "holding.h"

#include <gpurt/arena.h>
#include <gpurt/kernel.h>

enum {
    ARENA_CANCELS = 1, /* modes, by bits: some blocks are cancelled on the way */
    ARENA_SWEEPS = 2   /* the kernel begins with a sweep */
};

/* What arena_rules found out, one answer a line. */
enum {
    RULE_FIXED_FULL,
    RULE_ALIGNMENT,
    RULE_OUTER_ALLOC,
    RULE_OUTER_RESET,
    RULE_INNER_GETS_REST,
    RULE_OUTER_GOES_ON,
    RULE_STALE_MARK,
    RULE_STALE_NEAR,  /* in the piece at hand */
    RULE_STALE_RESET, /* ... of the pass before */
    RULE_HUGE,
    RULE_HUGE_SERVED, /* requests of 4 GiB and more that were not refused as they should be */
    RULE_HUGE_TOGETHER, /* the same of a warp's and a block's arena */
    RULE_HUGE_ALIGNMENT,
    RULE_HUGE_MEMORY,
    RULE_ZERO,
    RULE_NO_TABLE,
    RULE_LARGE_APART, /* a large object leaves the piece at hand as it was */
    RULE_SPARE,       /* the piece that a reset kept is used again */
    RULE_HEAP_OUT,
    RULE_STALE_BLOCK, /* of a block's arena */
    RULE_PART_FIXED, /* lanes that a block's arena served, a bit each, where there is not room for all: */
    RULE_PART_LAST,  /* ... what was left after that */
    RULE_PART_GROWN, /* ... out of a heap */
    RULE_COUNT
};

struct arena_args {
    gpurt_arena_source_t source, narrow; /* one with one slot */
    gpurt_heap_t heap;
    uint32_t *rules;
    holding_verdict_t *verdict;
    uint32_t piece_bytes, max_bytes, rounds, seed, mode;
};

#endif
