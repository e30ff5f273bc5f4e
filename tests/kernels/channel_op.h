/* SPDX-License-Identifier: Apache-2.0 */
/* channel_op.h - what a lane asked of a channel, what it was told, and when: a line of a history. */
#ifndef GPURT_TESTS_CHANNEL_OP_H
#define GPURT_TESTS_CHANNEL_OP_H

#include <stdint.h>

enum {
    CHANNEL_OP_SEND,
    CHANNEL_OP_RECEIVE,
    CHANNEL_OP_CLOSE,
    CHANNEL_OP_GRANT, /* value: asked for, and << 8 so many as were granted */
    CHANNEL_OP_RESIZE /* value: the limit */
};

typedef struct channel_op {
    uint32_t begin,
        end; /* one clock for all lanes: its ticks right before and right after */
    uint32_t what, lane;
    uint32_t value; /* sent or received */
    int32_t answer; /* gpurt_status_t */
} channel_op_t;

enum {
    CHANNEL_LANES = 4, /* of a game, two in a warp */
    CHANNEL_ROUNDS = 7,
    CHANNEL_REST = 6 /* messages that may be left, at most, and a look that finds none */
};

/* Of a game. Owner: its block. */
typedef struct channel_book {
    channel_op_t ops[CHANNEL_LANES][CHANNEL_ROUNDS];
    channel_op_t rest[CHANNEL_REST]; /* when all are done: what was left */
    uint32_t rest_count;
    uint32_t xclock; /* written by: its lanes */
} channel_book_t;

#endif
