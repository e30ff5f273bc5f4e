/* SPDX-License-Identifier: Apache-2.0 */
/* bench_forkjoin.h - two programs whose work nobody knows in advance, each as tasks and as a kernel that a person
 * cut by hand: fib by calls, and a Mandelbrot set of uneven rows. */
#ifndef GPURT_TESTS_BENCH_FORKJOIN_H
#define GPURT_TESTS_BENCH_FORKJOIN_H

#include <gpurt/task.h>

enum {
    FORKJOIN_CALLS_MOST = 16, /* fork_calls takes less than this */
    FORKJOIN_AT_ONCE = 4,     /* points of a lane: their steps do not wait for each other */
    FORKJOIN_POINTS = GPURT_WARP_SIZE * FORKJOIN_AT_ONCE
};

/* fib(n) by two children down to `cut`, below which a body makes the calls itself. */
struct fork {
    uint64_t *to;
    uint64_t parts[2];
    uint16_t n, cut;
    uint32_t again;
};

/* Points of a picture: a row has `wide`, a multiple of FORKJOIN_POINTS. sum: of all their steps. */
struct forkjoin_picture {
    uint64_t *sum;
    uint32_t wide, high, most;
};

/* `count` pieces of `points` each, from number `from` on: by a tree of itself. */
struct plot {
    struct forkjoin_picture of;
    uint32_t from, count, points;
};

#define FORKJOIN_TASKS(TASK) \
    TASK(fork, struct fork)  \
    TASK(plot, struct plot)

GPURT_EXECUTOR_DECLARE(forkjoin_tasks, FORKJOIN_TASKS);

/* The leaves of that tree, those of cut - 1 first, so that warps are even: a thread each. */
struct forkjoin_leaves {
    uint64_t *sum;
    uint32_t large, small, cut;
};
GPURT_KERNEL_DECLARE(forkjoin_leaves_sum, struct forkjoin_leaves);

/* A thread a point, and a thread FORKJOIN_AT_ONCE of them. */
GPURT_KERNEL_DECLARE(forkjoin_points, struct forkjoin_picture);
GPURT_KERNEL_DECLARE(forkjoin_points_at_once, struct forkjoin_picture);

#endif
