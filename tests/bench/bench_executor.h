/* SPDX-License-Identifier: Apache-2.0 */
/* bench_executor.h - tasks that do as little as they are told, and a bare counter of tickets. */
#ifndef GPURT_TESTS_BENCH_EXECUTOR_H
#define GPURT_TESTS_BENCH_EXECUTOR_H

#include <gpurt/task.h>

/* `count` of `spin`, by a tree of itself. */
struct bench_fan {
    uint64_t *late; /* sums of nanoseconds from spawn to first instruction, and how many */
    uint32_t count, cycles;
};
struct bench_spin {
    uint64_t *late;
    uint64_t spawned; /* gpurt_globaltimer */
    uint32_t cycles;
};

#define BENCH_TASKS(TASK)       \
    TASK(fan, struct bench_fan) \
    TASK(spin, struct bench_spin)

GPURT_EXECUTOR_DECLARE(bench_executor_tasks, BENCH_TASKS);

/* The floor: warps draw tickets from one counter until `count` are drawn, and do nothing with them. */
struct bench_tickets {
    uint32_t *counter, count;
};
GPURT_KERNEL_DECLARE(bench_executor_tickets, struct bench_tickets);

#endif
