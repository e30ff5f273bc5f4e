/* SPDX-License-Identifier: Apache-2.0 */
/* pool_stage.h - blocks that quarrel over a set of chunks each, and what their histories must
 * keep. */
#ifndef GPURT_TESTS_POOL_STAGE_H
#define GPURT_TESTS_POOL_STAGE_H

#include "history.h"
#include "pool_kernels.h"
#include "stage.h"

GPURT_KERNEL_DECLARE(pool_play, struct pool_args);
GPURT_KERNEL_DECLARE(pool_take_out, struct pool_args);

typedef struct pool_stage {
    struct pool_args args;
    gpurt_launch_t launch;
} pool_stage_t;

static inline void pool_stage_open(pool_stage_t *s, uint32_t blocks)
{
    gpurt_heap_t *h = &s->args.shape;

    memset(s, 0, sizeof *s);
    h->leaf_words = POOL_LEAVES;
    h->branch_words = POOL_BRANCHES;
    h->root_words = POOL_ROOTS;
    h->tree_words = POOL_LEAVES + POOL_BRANCHES + POOL_ROOTS;
    s->args.books = (pool_book_t *)stage_zeros(blocks * sizeof(pool_book_t));
    s->launch.grid = (gpurt_dim3_t){blocks, 1, 1};
    s->launch.block = (gpurt_dim3_t){POOL_WARPS * GPURT_WARP_SIZE, 1, 1};
}

static inline void pool_stage_close(pool_stage_t *s)
{
    CHECK_EQ(gpurt_mem_destroy(rt, s->args.books), GPURT_OK);
}

static inline void pool_history(const pool_book_t *book, uint32_t rounds, uint32_t chunks,
                                history_t *h)
{
    memset(h, 0, sizeof *h);
    for (uint32_t lane = 0; lane < POOL_LANES; lane++)
        for (uint32_t i = 0; i < rounds; i++)
            h->ops[h->count++] = book->ops[lane][i];
    for (uint32_t i = 0; i < book->taken; i++)
        h->ops[h->count++] = book->take_out[i];
    h->rest = chunks & ~book->xheld;
    h->rested = book->rested;
    h->news = book->news;
}

static inline void pool_judge(const history_t *h)
{
    const char *amiss = !history_is_linear(h)  ? "it cannot have happened in any order"
                        : !history_sees_all(h) ? "a find missed what was there all along"
                        : !history_heard(h)    ? "a find missed what no news tells of"
                                               : NULL;

    if (amiss)
        history_print(h);
    CHECK_MSG(!amiss, "%s", amiss);
}

/* Runs all blocks under a seed, and judges what they wrote down. Returns: finds in vain. */
static inline uint32_t pool_run(pool_stage_t *s, uint32_t seed, uint32_t rounds)
{
    static pool_book_t book;
    static history_t history;
    uint32_t vain = 0;

    s->args.seed = seed;
    /* all, or two of one branch, whose root bit comes and goes */
    s->args.chunks = seed % 4 ? 0x05 : (1u << POOL_CHUNKS) - 1;
    s->args.rounds = rounds;
    OK(gpurt_fill(rt, 0, s->args.books, 0, s->launch.grid.x * sizeof book, &err));
    RUN(s, pool_play);
    RUN(s, pool_take_out);
    for (uint32_t i = 0; i < s->launch.grid.x; i++) {
        stage_read(&book, s->args.books + i, sizeof book);
        pool_history(&book, rounds, s->args.chunks, &history);
        pool_judge(&history);
        for (uint32_t k = 0; k < rounds * POOL_LANES; k++)
            vain += history_is_vain(&history.ops[k]);
    }
    return vain;
}

#endif
