/* SPDX-License-Identifier: Apache-2.0 */
/* planted_kernels.h - bugs put into kernels on purpose, each beside its corrected twin.
 *
 * One kernel a bug; `good` chooses the twin. The program tests/seeded/planted.c runs
 * them, and planted_matrix.py holds which tool must find which. Never an example of how
 * to write. */
#ifndef GPURT_TESTS_PLANTED_KERNELS_H
#define GPURT_TESTS_PLANTED_KERNELS_H

#include <gpurt/base.h>
#include <gpurt/kernel.h>

/* Owner: planted.c. Shared with: every lane. */
struct planted_args {
    uint32_t *words; /* `count` of them, 0 before */
    uint64_t *head;  /* one word, 0 before */
    uint32_t *none;  /* NULL: known to the host only, as all below */
    uint32_t count;
    uint32_t good;   /* 1: the corrected twin */
    uint32_t zero;   /* 0 */
    uint32_t eight;  /* 8, one past the end of a lane's array */
    uint32_t bits33; /* 33, more than a word has */
};

enum {
    PLANTED_THREADS = 64,
    PLANTED_ROUNDS = 4,
    PLANTED_NODES = 3,      /* of the free list: so few that a node comes back soon */
    PLANTED_NODE_WORDS = 2, /* next, owner */
    PLANTED_CULPRIT = 37    /* the thread that does what only one thread does */
};

/* clang-format off */
#define PLANTED_BUGS(X)                                                                   \
    X(missing_barrier) X(second_barrier) X(second_syncwarp) X(ballot_barrier)             \
    X(relaxed_publish) X(lost_update) X(plain_update) X(aba) X(block_scope)               \
    X(shared_unset) X(outsider_mask) X(mismatched_masks) X(divergent_barrier)             \
    X(named_barrier) X(barrier_sites) X(exit_named) X(names_ended) X(heap_overflow)       \
    X(lane_overflow) X(shift) X(stack_overflow) X(null) X(divide) X(trap) X(occupancy)    \
    X(livelock) X(endless_spin) X(missing_relax) X(broken_promise) X(abort)
/* clang-format on */
#define PLANTED_DECLARE(bug) GPURT_KERNEL_DECLARE(planted_##bug, struct planted_args);
PLANTED_BUGS(PLANTED_DECLARE)

#endif
