/* SPDX-License-Identifier: Apache-2.0 */
/* peerchannel_kernels.h - kernels that send to another device, and that receive there, for
 * test_peerchannel and its seeds. */
#ifndef GPURT_TESTS_PEERCHANNEL_KERNELS_H
#define GPURT_TESTS_PEERCHANNEL_KERNELS_H

#include <gpurt/kernel.h>
#include <gpurt/peerchannel.h>

enum {
    PEER_THREADS = 512, /* of a launch at most */
    PEER_NOTES = 2048,  /* messages of a run at most */
    PEER_SLOTS = 4,
    PEER_WORDS = 18
};

struct peer_parcel {
    uint32_t number;            /* its note has it, too */
    uint32_t words[PEER_WORDS]; /* more than a unit, and no whole number of them */
};
struct peer_pea { /* a slot of one unit */
    uint32_t number, twice;
};
struct peer_page { /* lanes copy it together */
    uint32_t number;
    uint32_t words[255];
};
GPURT_PEERS(parcels, struct peer_parcel, PEER_SLOTS);
GPURT_PEERS(peas, struct peer_pea, PEER_SLOTS);
GPURT_PEERS(pages, struct peer_page, PEER_SLOTS);

/* Which of the channels. */
enum {
    PEER_PARCELS,
    PEER_PEAS,
    PEER_PAGES,
    PEER_KINDS
};

/* Of the device that sends. Owner: the test. */
struct peer_send_args {
    parcels_out_t parcels;
    peas_out_t peas;
    pages_out_t pages;
    uint32_t *
        asks; /* memory of the receiver: a note for each message, made before it is sent; the
                       last one before a close */
    struct peer_page *sheets; /* of a thread each: lanes copy these together */
    int32_t *status;
    uint32_t *xcame; /* threads that are through */
    uint32_t kind, rounds, threads;
    uint32_t told; /* as the receiver's */
    uint64_t ns;
};

/* Of the one that receives. */
struct peer_take_args {
    parcels_in_t parcels;
    peas_in_t peas;
    pages_in_t pages;
    const uint32_t *asks;
    struct peer_page *sheets;
    uint32_t *seen; /* how often a number came */
    uint32_t *wrong;
    int32_t *status;
    uint32_t *xcame; /* threads that are about to wait */
    uint32_t kind, victim;
    uint32_t told; /* what the last note says behind a close of the sender's */
    uint64_t ns;
};

/* Each thread sends `rounds` messages, waiting `ns` for each (UINT64_MAX: by the policy), and counts
 * them. The last one closes. */
GPURT_KERNEL_DECLARE(peer_pour, struct peer_send_args);
/* Each thread sends until it is told that it is closed, `rounds` at most; thread 0 sends two and
 * closes. */
GPURT_KERNEL_DECLARE(peer_rush, struct peer_send_args);
/* Thread 0 sends two and panics. */
GPURT_KERNEL_DECLARE(peer_panics, struct peer_send_args);
/* Each thread receives until it is told that it is closed. */
GPURT_KERNEL_DECLARE(peer_drink, struct peer_take_args);
/* Each thread waits for one, for `ns` at most; block `victim` is cancelled by its last thread. */
GPURT_KERNEL_DECLARE(peer_wait, struct peer_take_args);
/* Thread 0 alone, one call after the other, into status[i]. */
GPURT_KERNEL_DECLARE(peer_send_cases, struct peer_send_args);
GPURT_KERNEL_DECLARE(peer_take_cases, struct peer_take_args);

#endif
