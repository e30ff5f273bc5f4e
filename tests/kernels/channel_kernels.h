/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that send and receive: a given list of calls, storms of four sizes of messages, games of
 * a few lanes that write down what they were told, and blocks that are cancelled. */
#ifndef GPURT_TESTS_CHANNEL_KERNELS_H
#define GPURT_TESTS_CHANNEL_KERNELS_H

#include "channel_op.h"

#include <gpurt/channel.h>
#include <gpurt/kernel.h>

/* ---- a list of calls ----------------------------------------------------------------- */

enum {
    CHANNEL_SEND,
    CHANNEL_SEND_FOR,
    CHANNEL_TRY_SEND,
    CHANNEL_RECEIVE,
    CHANNEL_RECEIVE_FOR,
    CHANNEL_TRY_RECEIVE,
    CHANNEL_CLOSE,
    CHANNEL_DEPTH,
    CHANNEL_SEND_SHORT, /* a message of another size */
    CHANNEL_SEND_OTHER, /* into a pair as into any other, or the other way round */
    CHANNEL_SEND_MANY,  /* value: how many, from 1000 on; found: so many went */
    CHANNEL_RECEIVE_MANY,
    CHANNEL_GRANT, /* value: how many; found: so many were */
    CHANNEL_RESIZE /* value: the limit */
};

typedef struct channel_step {
    uint32_t what;
    uint64_t value; /* sent */
    uint64_t found; /* received; the depth */
    int32_t answer;
} channel_step_t;

/* ---- storms -------------------------------------------------------------------------- */

typedef struct channel_pair {
    uint64_t id;
} channel_pair_t; /* a line */
typedef struct channel_card {
    uint32_t words[10];
} channel_card_t; /* four lines */
typedef struct channel_page {
    uint32_t words[25];
} channel_page_t; /* larger */
typedef struct GPURT_ALIGN(16) channel_sheet {
    uint32_t words[163]; /* and one that fills it up */
} channel_sheet_t;       /* which all lanes copy together */
GPURT_PAIR(channel_two, uint64_t, 64);

/* Written by: any lane. */
typedef struct channel_verdict {
    uint32_t xwrong;   /* payloads, or plain words, that were not what was written */
    uint32_t xanswers; /* statuses that should not be */
    uint64_t xsent, xreceived, xdropped, xrefused;
    uint32_t xsenders;       /* warps that are still at work */
    gpurt_channel_t channel; /* which the last of them closes */
    uint32_t farewell;       /* plain: written before it is closed */
} channel_verdict_t;

enum {
    CHANNEL_TRIES = 1,   /* modes of a storm, by bits: senders try, and give up */
    CHANNEL_MANY = 2,    /* several at a time */
    CHANNEL_PART = 4,    /* some lanes of a warp only */
    CHANNEL_CANCELS = 8, /* some blocks are cancelled on the way */
    CHANNEL_MIXED = 16,  /* a warp's lanes send and receive by turns */
    CHANNEL_LONE = 32,   /* the channel is a pair */
    CHANNEL_LIMITS = 64, /* lanes change the limit on the way */
    CHANNEL_WIDE =
        128 /* slots: room enough for groups of receivers that grant afterwards */
};

struct channel_args {
    gpurt_channel_t channel;
    channel_two_t two; /* the same, as a pair; of a list: mode says that it is one */
    channel_step_t *steps;
    uint32_t *seen;  /* of each message: how often it was received */
    uint32_t *plain; /* ... and a word that its sender wrote before */
    channel_verdict_t *verdict;
    channel_book_t *books;  /* a block's game each */
    gpurt_channel_t *games; /* ... and its channel */
    uint32_t step_count, each, mode, seed;
};

/* ---- several, the most urgent first ---------------------------------------------------- */

enum {
    CHANNEL_URGENCIES = 3,
    CHANNEL_URGENT_EACH = 20 /* messages of a lane */
};
GPURT_CHANNEL(channel_urgent, uint32_t, 8);

struct channel_urgent_args {
    channel_urgent_t lanes[CHANNEL_URGENCIES];
    channel_verdict_t *verdict;
};

/* ---- halves of calls ------------------------------------------------------------------ */

enum {
    CHANNEL_HALF_RECEIVE, /* modes: a lane has a credit, and draws its ticket much later */
    CHANNEL_HALF_SEND,
    CHANNEL_HALF_SEND_CLOSED, /* ... and it is closed in between */
    CHANNEL_HALF_CLOSE,       /* it says that it is closed, and takes the credits later */
    CHANNEL_HALF_LIMIT, /* two credits of two slots, and the limit goes down in between */
    CHANNEL_HALVES
};

/* ---- a pair that another lane closes ------------------------------------------------- */

enum {
    CHANNEL_CUT_MOST = 300
};

/* answers: of the last send, of the last receive. */
struct channel_cut_args {
    channel_two_t two;
    uint64_t *sent, *received, *wrong;
    int32_t *answers;
    uint32_t pauses, many; /* before the close; messages of a send, one: gpurt_send */
};

/* ---- the deadlock -------------------------------------------------------------------- */

struct channel_knot_args {
    gpurt_channel_t left, right;
};

#endif
