/* SPDX-License-Identifier: Apache-2.0 */
/* Waits with a time limit that nobody answers, alone and beside lanes that spin without one. */
#ifndef GPURT_TESTS_WAIT_LIMIT_KERNELS_H
#define GPURT_TESTS_WAIT_LIMIT_KERNELS_H

#include <gpurt/broadcast.h>
#include <gpurt/channel.h>
#include <gpurt/futex.h>
#include <gpurt/kernel.h>
#include <gpurt/phaser.h>
#include <gpurt/segring.h>

GPURT_CHANNEL(limit_any, uint64_t, 2);
GPURT_PAIR(limit_two, uint64_t, 2);
GPURT_BROADCAST(limit_all, uint64_t, 2);

enum {
    LIMIT_RECEIVE,
    LIMIT_RECEIVE_PAIR,
    LIMIT_SEND,
    LIMIT_RECEIVE_FIRST,
    LIMIT_BROADCAST,
    LIMIT_SEGRING,
    LIMIT_PHASER,
    LIMIT_FUTEX,
    LIMIT_WAITS
};

struct wait_limit_args {
    limit_any_t any, full; /* full: of two messages */
    limit_two_t two;
    limit_all_t all;
    gpurt_segring_t ring;
    gpurt_phaser_t *phaser;
    uint32_t *word; /* stays 0 */
    uint32_t *over; /* written by: block 0, when its wait is over; zeroed by the host */
    int32_t *answer;
    uint64_t ns;
    uint32_t what;
};

#endif
