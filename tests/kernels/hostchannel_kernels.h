/* SPDX-License-Identifier: Apache-2.0 */
/* hostchannel_kernels.h - kernels with an end of a channel whose other end is the host's, for
 * test_hostchannel and its seeds. */
#ifndef GPURT_TESTS_HOSTCHANNEL_KERNELS_H
#define GPURT_TESTS_HOSTCHANNEL_KERNELS_H

#include <gpurt/hostchannel.h>
#include <gpurt/kernel.h>

enum {
    HOSTCHANNEL_THREADS = 512, /* of a launch at most */
    HOSTCHANNEL_NOTES = 1024   /* messages of a run at most */
};

struct hostchannel_order {
    uint32_t number;    /* its note has it, too */
    uint32_t words[18]; /* more than a unit, and no whole number of them */
};
struct hostchannel_answer {
    uint32_t number, lane;
};
struct hostchannel_small { /* it comes with its turn */
    uint32_t number, twice;
};
GPURT_TO_DEVICE(hostchannel_orders, struct hostchannel_order, 4);
GPURT_TO_DEVICE(hostchannel_smalls, struct hostchannel_small, 4);
GPURT_TO_HOST(hostchannel_answers, struct hostchannel_answer, 4);

/* Owner: the test. */
struct hostchannel_args {
    hostchannel_orders_t orders;
    hostchannel_smalls_t smalls;
    hostchannel_answers_t answers;
    uint32_t *asks; /* in host memory: a note of the host's for each order */
    uint32_t *did;  /* likewise, of who did it, before it acknowledges */
    int32_t *status;
    uint32_t *wrong; /* orders that were others */
    uint32_t *xcame; /* threads that are about to wait, or are through */
    uint32_t rounds, victim, threads;
    uint64_t ns; /* a limit; UINT64_MAX: none */
};

/* One thread a block. Each takes orders until there are no more, notes that it did them, acknowledges. The last
 * thread closes the answers. Each order is answered. */
GPURT_KERNEL_DECLARE(hostchannel_serve, struct hostchannel_args);
/* Likewise; receives acknowledge, and nothing is answered. */
GPURT_KERNEL_DECLARE(hostchannel_drink, struct hostchannel_args);
/* Likewise, of small ones. */
GPURT_KERNEL_DECLARE(hostchannel_sip, struct hostchannel_args);
/* Each thread sends `rounds` answers. The last one closes. */
GPURT_KERNEL_DECLARE(hostchannel_pour, struct hostchannel_args);
/* Each thread sends until it is told that it is closed, `rounds` at most; thread 0 sends two and
 * closes. */
GPURT_KERNEL_DECLARE(hostchannel_rush, struct hostchannel_args);
/* Each thread tries once. */
GPURT_KERNEL_DECLARE(hostchannel_try, struct hostchannel_args);
/* Each thread waits for an order, for `ns` at most. */
GPURT_KERNEL_DECLARE(hostchannel_wait, struct hostchannel_args);
/* Likewise; block `victim` is cancelled by its last thread. */
GPURT_KERNEL_DECLARE(hostchannel_cancel, struct hostchannel_args);
/* Thread 0 alone, one call after the other, into status[i]. */
GPURT_KERNEL_DECLARE(hostchannel_cases, struct hostchannel_args);

#endif
