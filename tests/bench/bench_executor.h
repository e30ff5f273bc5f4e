/* SPDX-License-Identifier: Apache-2.0 */
/* bench_executor.h - tasks that do as little as they are told, and a bare counter of tickets. */
#ifndef GPURT_TESTS_BENCH_EXECUTOR_H
#define GPURT_TESTS_BENCH_EXECUTOR_H

#include <gpurt/task.h>

enum {
    BENCH_HOPS = 2000,
    BENCH_URGENT = 500,
    BENCH_STEP_MADS = 16, /* multiply-adds of a pass */
    BENCH_DUE_STEPS = 64  /* of these, behind which one may ask what is due */
};

/* `count` of `spin`, by a tree of itself. */
struct bench_fan {
    uint32_t count, cycles;
};
struct bench_spin {
    uint32_t cycles;
};
/* The clock over so many cycles: those that they took, and nanoseconds. */
struct bench_clocks {
    uint64_t *to;
    uint32_t cycles;
};
/* A chain: each says how late it began, and spawns the next. */
struct bench_hop {
    struct bench_hops *hops;
    uint64_t spawned; /* gpurt_globaltimer */
    uint32_t left;
};
struct bench_hops {
    uint32_t xbegun; /* hops that have begun */
    uint32_t stays;  /* 1: each holds its warp until the next has begun, elsewhere */
    uint64_t late[]; /* nanoseconds from spawn to first instruction */
};
/* The naive way to fib(n): two children down to n = 2. */
struct bench_fib {
    uint64_t *to;
    uint64_t parts[2];
    uint32_t n, again;
};
typedef enum bench_asks {
    BENCH_ASKS_NEVER,
    BENCH_ASKS_EACH,
    BENCH_ASKS_STEPS
} bench_asks_t;
/* A body of `passes`, which asks what is due behind each, behind BENCH_DUE_STEPS of them, or never. to:
 * nanoseconds that they took. */
struct bench_mads {
    uint64_t *to;
    uint32_t passes, asks; /* asks: bench_asks_t */
};
/* A long body that asks every `step` cycles, and ends its run when something is due; until the urgent
 * ones are all there. */
struct bench_long {
    struct bench_hops *hops;
    uint32_t step;
};
/* Spawns BENCH_URGENT urgent tasks, one in `pause` cycles, each of which says how late it begins. */
struct bench_sender {
    struct bench_hops *hops;
    uint32_t pause;
};
struct bench_urgent {
    struct bench_hops *hops;
    uint64_t spawned;
    uint32_t number;
};

/* Naps of `ns` each; says how late each ended, from hops->late[slot] on. */
struct bench_doze {
    struct bench_hops *hops;
    uint64_t until; /* 0: it has not slept yet */
    uint32_t ns, slot, naps;
};

#define BENCH_TASKS(TASK)             \
    TASK(fan, struct bench_fan)       \
    TASK(spin, struct bench_spin)     \
    TASK(clocks, struct bench_clocks) \
    TASK(hop, struct bench_hop)       \
    TASK(fib, struct bench_fib)       \
    TASK(mads, struct bench_mads)     \
    TASK(endure, struct bench_long)   \
    TASK(sender, struct bench_sender) \
    TASK(urgent, struct bench_urgent) \
    TASK(doze, struct bench_doze)

GPURT_EXECUTOR_DECLARE(bench_executor_tasks, BENCH_TASKS);

/* The same of a lane each: strew makes `count` of spark, as fan of spin; forks is fib. */
#define BENCH_LANES(TASK)          \
    TASK(strew, struct bench_fan)  \
    TASK(spark, struct bench_spin) \
    TASK(forks, struct bench_fib)

GPURT_EXECUTOR_DECLARE(bench_executor_lanes, BENCH_LANES);

/* The floor: warps draw tickets from one counter until `count` are drawn, and do nothing with them. */
struct bench_tickets {
    uint32_t *counter, count;
};
GPURT_KERNEL_DECLARE(bench_executor_tickets, struct bench_tickets);

#endif
