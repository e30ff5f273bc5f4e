/* SPDX-License-Identifier: Apache-2.0 */
/* hang_app.h - locks, a queue and barriers that say who waits for whom, and ways to hang
 * with them. */
#ifndef GPURT_TESTS_HANG_APP_H
#define GPURT_TESTS_HANG_APP_H

#include <gpurt/atomic.h>
#include <gpurt/channel.h>
#include <gpurt/hostcall.h>
#include <gpurt/hostchannel.h>
#include <gpurt/impl/state.h>
#include <gpurt/kernel.h>

enum {
    HANG_LOCKS = 4,
    HANG_NAMES = 64,
    HANG_NOISES = 2000000 /* a second or more: longer than it takes until a hang is told */
};
enum {
    HANG_RING,     /* block i holds lock i and wants lock i + 1 */
    HANG_SELF,     /* one lane wants what it holds */
    HANG_QUEUE,    /* the reader holds the lock that the writer wants before it writes */
    HANG_BARRIER,  /* one block wants a lock whose holder is at the grid barrier */
    HANG_GONE,     /* a block ended with the lock that another wants */
    HANG_BUSY,     /* the holder computes for ever: long, but no deadlock */
    HANG_WENT,     /* a wait that is over, and code that computes for ever after it */
    HANG_OPEN,     /* what was held and let go keeps nobody in a circle */
    HANG_LATE,     /* two waits, each long after the last record */
    HANG_NOISE,    /* as RING, and a block more that logs beside it */
    HANG_CHANNELS, /* block i is told by i + 1, and all wait to be told first */
    HANG_FULL,     /* senders and a receiver wait, and nobody is to blame */
    HANG_CREDIT, /* block 0 wants a credit of block 1, which wants a message of it first */
    HANG_NAMED,  /* all name the same objects at once, and have their numbers behind it */
    HANG_ORDER,  /* the host awaits an order whose kernel waits until it receives answers */
    HANG_CALL,   /* a function of the host waits for what its caller would send */
    HANG_LISTEN, /* the host waits for an answer of a kernel that waits for an order */
    HANG_NOT     /* many lanes, many locks, and an end */
};

struct hang_lock {
    uint32_t xheld; /* written by: who takes it */
    gpurt_waitable_t object;
};
struct hang_queue {
    uint32_t xfull; /* written by: writer and reader in turn */
    gpurt_waitable_t object;
};
struct hang_state {
    struct hang_lock locks[HANG_LOCKS];
    struct hang_queue queue;
    gpurt_waitable_t names[HANG_NAMES];
    uint32_t xready; /* blocks that hold what they hold */
    uint32_t xsum;
    uint32_t xnameless; /* objects that had no number; written by: all */
};

GPURT_CHANNEL(hang_words, uint32_t, 2);
GPURT_TO_DEVICE(orders, uint32_t, 4);
GPURT_TO_HOST(answers, uint32_t, 2);
GPURT_HOST_CALL(hang_ask, 1, uint32_t, uint32_t);

struct hang_app_args {
    struct hang_state *state;
    hang_words_t left, right;
    orders_t orders;
    answers_t answers;
    gpurt_hostcalls_t calls;
    uint32_t way, rounds;
};
GPURT_KERNEL_DECLARE(hang_app, struct hang_app_args);

#endif
