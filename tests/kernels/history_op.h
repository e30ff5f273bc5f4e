/* SPDX-License-Identifier: Apache-2.0 */
/* history_op.h - what a lane did to a set of chunks, what it was told, and when: a line of a
 * history. Sets of chunks are bit masks of the test's own few. */
#ifndef GPURT_TESTS_HISTORY_OP_H
#define GPURT_TESTS_HISTORY_OP_H

#include <stdint.h>

enum {
    HISTORY_PUT,  /* gpurt_tree_put */
    HISTORY_TAKE, /* gpurt_tree_take */
    HISTORY_PULL, /* gpurt_tree_pull */
    HISTORY_FIND  /* gpurt_tree_find, gpurt_tree_find_in */
};

/* In an answer: a chunk that is none of the test's. */
#define HISTORY_STRANGE (1u << 31)

typedef struct history_op {
    uint32_t begin,
        end; /* one clock for all lanes: its ticks right before and right after */
    uint32_t what, lane;
    uint32_t among;   /* chunks put or asked for; of a find all where it looks */
    uint32_t answer;  /* the chunks it was told; of a find 0: nothing */
    uint32_t leaf;    /* all chunks of that leaf; of a find in vain not used */
    uint32_t emptied; /* of a pull: whether it says that the leaf was emptied */
    uint64_t news;    /* of a find: what it knew of before */
} history_op_t;

#endif
