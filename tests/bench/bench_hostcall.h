/* SPDX-License-Identifier: Apache-2.0 */
/* bench_hostcall.h - what bench_hostcall and its kernels share. */
#ifndef GPURT_TESTS_BENCH_HOSTCALL_H
#define GPURT_TESTS_BENCH_HOSTCALL_H

#include <gpurt/hostcall.h>
#include <gpurt/kernel.h>

GPURT_HOST_CALL(bench_add, 1, uint32_t, uint32_t);

/* Owner: the bench. */
struct bench_hostcall_args {
    gpurt_hostcalls_t calls;
    uint32_t *ask, *answer; /* words of host memory, for the bare round trip */
    uint32_t *ns;           /* of each round of thread 0 */
    uint32_t *wrong;        /* answers that were others */
    uint32_t rounds;
};

/* Each thread calls the host, `rounds` times. */
GPURT_KERNEL_DECLARE(bench_hostcall_calls, struct bench_hostcall_args);
/* Thread 0 stores a word and waits for the host's. */
GPURT_KERNEL_DECLARE(bench_hostcall_bare, struct bench_hostcall_args);

#endif
