/* SPDX-License-Identifier: Apache-2.0 */
/* bench_hostchannel.h - what bench_hostchannel and its kernels share. */
#ifndef GPURT_TESTS_BENCH_HOSTCHANNEL_H
#define GPURT_TESTS_BENCH_HOSTCHANNEL_H

#include <gpurt/hostchannel.h>
#include <gpurt/kernel.h>

struct bench_hostchannel_large {
    uint32_t words[16];
};
GPURT_TO_DEVICE(bench_commands, uint64_t, 1024);
GPURT_TO_DEVICE(bench_larges, struct bench_hostchannel_large, 1024);
GPURT_TO_HOST(bench_answers, uint64_t, 1024);

/* Owner: the bench. */
struct bench_hostchannel_args {
    bench_commands_t commands;
    bench_larges_t larges;
    bench_answers_t answers;
    uint32_t *ask, *answer; /* words of host memory, for the bare round trip */
    uint32_t *xstop;   /* in device memory: busy blocks end; written by: the first block */
    uint64_t *sums;    /* of the numbers that came, in device memory */
    uint64_t delay_ns; /* before an answer */
    uint32_t rounds, busy; /* busy: all blocks but the first multiply meanwhile */
};

/* Thread 0 waits for each word of the host's and stores it back. */
GPURT_KERNEL_DECLARE(bench_hostchannel_bare, struct bench_hostchannel_args);
/* All threads receive, until the host closes. */
GPURT_KERNEL_DECLARE(bench_hostchannel_receive, struct bench_hostchannel_args);
GPURT_KERNEL_DECLARE(bench_hostchannel_receive_large, struct bench_hostchannel_args);
/* Thread 0 answers each command, after a delay. */
GPURT_KERNEL_DECLARE(bench_hostchannel_answer, struct bench_hostchannel_args);
/* Each thread sends `rounds` numbers. */
GPURT_KERNEL_DECLARE(bench_hostchannel_send, struct bench_hostchannel_args);

#endif
