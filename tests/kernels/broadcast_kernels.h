/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that publish and read: a given list of calls, storms of five sizes of messages, games of
 * a few lanes that write down what they were told, blocks that are cancelled or panic. */
#ifndef GPURT_TESTS_BROADCAST_KERNELS_H
#define GPURT_TESTS_BROADCAST_KERNELS_H

#include <gpurt/broadcast.h>
#include <gpurt/kernel.h>

/* ---- a list of calls ----------------------------------------------------------------- */

enum {
    BROADCAST_PUBLISH,
    BROADCAST_PUBLISH_FOR,
    BROADCAST_TRY_PUBLISH,
    BROADCAST_PUBLISH_SHORT, /* a message of another size */
    BROADCAST_JOIN,
    BROADCAST_LEAVE,
    BROADCAST_READ,
    BROADCAST_READ_FOR,
    BROADCAST_TRY_READ,
    BROADCAST_READ_SHORT,
    BROADCAST_LAG,
    BROADCAST_LOST,
    BROADCAST_COPY, /* of reader `value` */
    BROADCAST_CLOSE
};

enum {
    BROADCAST_TRACED = 4 /* readers of a list */
};

typedef struct broadcast_step {
    uint32_t what, who; /* who: which reader */
    uint64_t value;     /* published */
    uint64_t found;     /* read; a lag, a loss */
    int32_t answer;
} broadcast_step_t;

/* ---- storms -------------------------------------------------------------------------- */

GPURT_BROADCAST(cast_word, uint64_t, 64);
typedef struct cast_card {
    uint32_t words[10];
} cast_card_t; /* four lines */
typedef struct cast_page {
    uint32_t words[25];
} cast_page_t; /* nine */

/* Written by: any lane. */
typedef struct broadcast_verdict {
    uint32_t
        xwrong; /* payloads, plain words, places in the order that were not as they should */
    uint32_t xanswers; /* statuses that should not be */
    uint64_t xsent, xrefused;
    uint64_t xread, xlost, xspan; /* of readers; span: messages while they had joined */
    uint32_t xready;              /* lanes that read, and have joined */
    uint32_t xsenders;            /* warps that are still at work */
    gpurt_broadcast_t broadcast;  /* which the last of them closes */
    uint32_t farewell;            /* plain: written before it is closed */
} broadcast_verdict_t;

enum {
    BROADCAST_TRIES = 1,   /* modes of a storm, by bits: senders try, and give up */
    BROADCAST_REJOINS = 2, /* readers leave on the way, and come back */
    BROADCAST_CANCELS = 4, /* some blocks are cancelled on the way */
    BROADCAST_READING = 4  /* lanes of each odd warp that read */
};

/* ---- halves of calls ------------------------------------------------------------------ */

enum {
    BROADCAST_HALF_JOIN, /* modes: a lane has a seat and a ticket, and says so later; */
    BROADCAST_HALF_JOIN_OTHER,   /* ... another one joins, where there is one seat */
    BROADCAST_HALF_PUBLISH,      /* a lane has a ticket, and stores its message later */
    BROADCAST_HALF_PUBLISH_READ, /* ... another one reads */
    BROADCAST_HALVES
};

/* ---- games --------------------------------------------------------------------------- */

enum {
    BROADCAST_OP_SEND,
    BROADCAST_OP_JOIN,
    BROADCAST_OP_LEAVE,
    BROADCAST_OP_READ,
    BROADCAST_OP_CLOSE,
    BROADCAST_LANES = 4, /* two that publish, two that read, one of each in a warp */
    BROADCAST_ROUNDS = 9,
    BROADCAST_SENDS = 8 /* in all, at most */
};

typedef struct broadcast_op {
    uint32_t begin,
        end; /* one clock for all lanes: its ticks right before and right after */
    uint32_t what, lane;
    uint32_t value; /* published or read; of a loss: how many */
    int32_t answer; /* gpurt_status_t */
} broadcast_op_t;

/* Of a game. Owner: its block. */
typedef struct broadcast_book {
    broadcast_op_t ops[BROADCAST_LANES][BROADCAST_ROUNDS];
    uint32_t xclock; /* written by: its lanes */
} broadcast_book_t;

struct broadcast_args {
    gpurt_broadcast_t broadcast;
    broadcast_step_t *steps;
    gpurt_reader_t *readers; /* of a list: from kernel to kernel; of a storm: one a lane */
    uint32_t *order;         /* of each ticket: the message + 1 that its readers found */
    uint32_t *plain;         /* a word of each message that its sender wrote before */
    broadcast_verdict_t *verdict;
    broadcast_book_t *books;  /* a block's game each */
    gpurt_broadcast_t *games; /* ... and its broadcast */
    uint32_t step_count, each, mode, seed;
};

#endif
