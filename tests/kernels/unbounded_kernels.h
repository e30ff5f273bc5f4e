/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that use unbounded channels: a given list of calls, storms, channels that use up their heap,
 * games of a few lanes that write down what they were told, blocks that are cancelled or panic. */
#ifndef GPURT_TESTS_UNBOUNDED_KERNELS_H
#define GPURT_TESTS_UNBOUNDED_KERNELS_H

#include <gpurt/kernel.h>
#include <gpurt/unbounded.h>

/* ---- a list of calls ----------------------------------------------------------------- */

enum {
    UNBOUNDED_POST,
    UNBOUNDED_POST_FOR,
    UNBOUNDED_TRY_POST,
    UNBOUNDED_POST_SHORT, /* a message of another size */
    UNBOUNDED_POST_RUN, /* `value` messages 1, 2, 3 ..., until one is told something else */
    UNBOUNDED_FETCH,
    UNBOUNDED_FETCH_FOR,
    UNBOUNDED_TRY_FETCH,
    UNBOUNDED_FETCH_RUN, /* likewise; they come in order */
    UNBOUNDED_DEPTH,
    UNBOUNDED_CLOSE
};

typedef struct unbounded_step {
    uint32_t what;
    uint64_t value; /* sent; of a run: how many */
    uint64_t found; /* received; of a run: how many went well */
    int32_t answer;
} unbounded_step_t;

/* ---- storms -------------------------------------------------------------------------- */

GPURT_UNBOUNDED(unbounded_word, uint64_t);
typedef struct unbounded_page {
    uint32_t words[75];
} unbounded_page_t; /* 25 lines: two segments fill a chunk of the heap */
GPURT_UNBOUNDED(unbounded_pages, unbounded_page_t);

/* Written by: any lane. */
typedef struct unbounded_verdict {
    uint32_t xwrong;   /* messages and plain words that were not as they should */
    uint32_t xanswers; /* statuses that should not be */
    uint64_t xsent, xrefused, xdropped, xreceived;
    uint32_t xsenders;           /* warps that are still at work */
    uint32_t farewell;           /* plain: written before it is closed */
    gpurt_unbounded_t unbounded; /* which the last of them closes */
} unbounded_verdict_t;

enum {
    UNBOUNDED_PAGES = 1, /* modes of a storm, by bits: large messages */
    UNBOUNDED_TRIES = 2,
    UNBOUNDED_CANCELS = 4, /* some blocks are cancelled on the way */
    UNBOUNDED_FULL = 128   /* pages that a channel of two segments holds */
};

/* ---- games --------------------------------------------------------------------------- */

enum {
    UNBOUNDED_OP_SEND,
    UNBOUNDED_OP_RECEIVE,
    UNBOUNDED_OP_CLOSE,
    UNBOUNDED_LANES = 4, /* one that sends and one that receives in each of two warps */
    UNBOUNDED_ROUNDS = 6,
    UNBOUNDED_SENDS = 8 /* in all, at most */
};

typedef struct unbounded_op {
    uint32_t begin,
        end; /* one clock for all lanes: its ticks right before and right after */
    uint32_t what, lane;
    uint32_t value;
    int32_t answer;
} unbounded_op_t;

/* Of a game. Owner: its block. */
typedef struct unbounded_book {
    unbounded_op_t ops[UNBOUNDED_LANES][UNBOUNDED_ROUNDS];
    uint32_t xclock; /* written by: its lanes */
} unbounded_book_t;

struct unbounded_args {
    gpurt_unbounded_t unbounded;
    unbounded_step_t *steps;
    uint32_t *seen;  /* of each message: how often it was received */
    uint32_t *plain; /* a word of each message that its sender wrote before */
    unbounded_verdict_t *verdict;
    unbounded_book_t *books;  /* a block's game each */
    gpurt_unbounded_t *games; /* ... and its channel */
    uint32_t step_count, each, mode, seed;
};

#endif
