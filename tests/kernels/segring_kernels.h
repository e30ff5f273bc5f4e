/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that write and read segments: a given list of calls, storms, games of a few lanes that write
 * down what they were told, blocks that are cancelled or panic. */
#ifndef GPURT_TESTS_SEGRING_KERNELS_H
#define GPURT_TESTS_SEGRING_KERNELS_H

#include <gpurt/kernel.h>
#include <gpurt/segring.h>

/* ---- a list of calls ----------------------------------------------------------------- */

enum {
    SEGRING_WRITE,
    SEGRING_WRITE_FOR,
    SEGRING_TRY_WRITE,
    SEGRING_RESERVE,
    SEGRING_TRY_RESERVE,
    SEGRING_PUT,
    SEGRING_COMMIT,
    SEGRING_ABORT,
    SEGRING_SPOIL, /* a store where the segment's first line was, whoever has it now */
    SEGRING_READ,
    SEGRING_READ_FOR,
    SEGRING_TRY_READ,
    SEGRING_CLOSE,
    SEGRING_SEGMENTS = 4, /* of a list */
    SEGRING_TRACE_MOST = 512
};

/* A segment with value v: its byte i is v + 13 i. */
typedef struct segring_step {
    uint32_t what, who; /* who: which segment */
    uint32_t bytes;     /* written, reserved; of a read: room */
    uint32_t value;
    uint64_t found; /* of a read: value << 32 | bytes, or bytes alone */
    int32_t answer;
} segring_step_t;

/* ---- storms -------------------------------------------------------------------------- */

enum {
    SEGRING_PIECES = 1,  /* modes of a storm, by bits: reserved, put in pieces, committed */
    SEGRING_ABORTS = 2,  /* some are aborted */
    SEGRING_FORGETS = 4, /* some are never committed */
    SEGRING_TRIES = 8,   /* writers try, and give up */
    SEGRING_CANCELS = 16, /* some blocks are cancelled between reserve and commit */
    SEGRING_READERS = 2,  /* lanes of each second warp */
    SEGRING_STORM_MOST = 300
};

/* Written by: any lane. */
typedef struct segring_verdict {
    uint32_t xwrong;   /* segments that were not as they should */
    uint32_t xanswers; /* statuses that should not be */
    uint64_t xwritten, xrefused, xaborted, xforgot;
    uint64_t xread, xlost, xtorn; /* as readers were told */
    uint32_t xwriters;            /* warps that are still at work */
    uint32_t farewell;            /* plain: written before it is closed */
    gpurt_segring_t ring;         /* which the last of them closes */
} segring_verdict_t;

/* ---- games --------------------------------------------------------------------------- */

enum {
    SEGRING_OP_WRITE,
    SEGRING_OP_READ,
    SEGRING_OP_CLOSE,
    SEGRING_LANES = 4, /* one that writes and one that reads in each of two warps */
    SEGRING_ROUNDS = 6,
    SEGRING_WRITES = 8 /* in all, at most */
};

typedef struct segring_op {
    uint32_t begin,
        end; /* one clock for all lanes: its ticks right before and right after */
    uint32_t what, lane;
    uint32_t value;
    int32_t answer;
} segring_op_t;

/* Of a game. Owner: its block. */
typedef struct segring_book {
    segring_op_t ops[SEGRING_LANES][SEGRING_ROUNDS];
    uint32_t xclock; /* written by: its lanes */
} segring_book_t;

/* Bytes of a game's segment: one unit, or two. */
GPURT_HD uint32_t segring_game_bytes(uint32_t value)
{
    return value % 2 ? 20 : 70;
}

struct segring_args {
    gpurt_segring_t ring;
    segring_step_t *steps;
    gpurt_segment_t *segments; /* of a list: from kernel to kernel */
    uint32_t *seen;            /* of each message: how often it was read */
    uint32_t *plain;           /* a word of each message that its writer wrote before */
    segring_verdict_t *verdict;
    segring_book_t *books;  /* a block's game each */
    gpurt_segring_t *games; /* ... and its ring */
    uint32_t step_count, each, mode, seed;
};

#endif
