/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GPURT_TESTS_BENCH_DRAIN_H
#define GPURT_TESTS_BENCH_DRAIN_H

#include <gpurt/kernel.h>

/* Both kernels run until `until_ns` of the device's clock. */
struct bench_ping_args {
    uint64_t until_ns;
    uint64_t every_ns; /* between two messages of one lane; 0: as fast as it can */
};

GPURT_KERNEL_DECLARE(bench_ping, struct bench_ping_args);
GPURT_KERNEL_DECLARE(bench_panic, struct bench_ping_args);
GPURT_KERNEL_DECLARE(bench_compute, struct bench_ping_args);

/* bench_drain_latency.c. only: a part of the names of its cases, or NULL. Returns: exit status. */
int bench_latency(const char *only);
/* bench_drain_flood.c */
void bench_flood(void);
/* bench_drain_trickle.c */
void bench_trickle(void);

#endif
