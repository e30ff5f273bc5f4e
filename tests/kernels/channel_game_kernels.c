/* SPDX-License-Identifier: Apache-2.0 */
/* Games: a few lanes call what they like of one channel, and write down what they were told. */
#include "channel_kernels.h"

#include "holding.h"

#include <gpurt/device.h>

GPURT_PAIR(channel_game_word, uint32_t, 4);

/* A pair's ends do not wait for what they store, so the clock waits for it. */
GPURT_DEV uint32_t channel_tick(channel_book_t *book, const gpurt_channel_t *c)
{
    return gpurt_channel_is_pair(c) ? gpurt_add_acq_rel_dev_u32(&book->xclock, 1)
                                    : gpurt_add_relaxed_dev_u32(&book->xclock, 1);
}

/* tries: else it waits for a short time. */
#define CHANNEL_MOVE_OF(kind, type, prefix)                                             \
    GPURT_DEVN int32_t channel_move_##kind(const type *c, channel_op_t *op, bool tries) \
    {                                                                                   \
        if (op->what == CHANNEL_OP_SEND)                                                \
            return tries ? prefix##try_send(c, &op->value)                              \
                         : prefix##send_for(c, &op->value, 400);                        \
        return tries ? prefix##try_receive(c, &op->value)                               \
                     : prefix##receive_for(c, &op->value, 400);                         \
    }
CHANNEL_MOVE_OF(any, gpurt_channel_t, gpurt_channel_)
CHANNEL_MOVE_OF(pair, channel_game_word_t, gpurt_)

GPURT_DEV int32_t channel_move_grant(const gpurt_channel_t *c, channel_op_t *op)
{
    uint32_t done = 0;
    int32_t answer;

    op->value = 1 + op->value % 3;
    answer = gpurt_channel_grant(c, op->value, &done);
    op->value |= done << 8;
    return answer;
}

GPURT_DEV int32_t channel_move(const gpurt_channel_t *c, channel_op_t *op, bool tries)
{
    channel_game_word_t pair;

    if (op->what == CHANNEL_OP_CLOSE)
        return gpurt_channel_close(c);
    if (op->what == CHANNEL_OP_GRANT)
        return channel_move_grant(c, op);
    if (op->what == CHANNEL_OP_RESIZE) {
        op->value = 1 + op->value % c->capacity;
        return gpurt_channel_resize(c, op->value);
    }
    if (!gpurt_channel_is_pair(c))
        return channel_move_any(c, op, tries);
    pair.channel = *c;
    return channel_move_pair(&pair, op, tries);
}

/* The second warp of a pair receives, the first one does the rest. */
GPURT_DEV uint32_t channel_choose(const gpurt_channel_t *c, uint32_t choice, uint32_t round)
{
    bool receives = gpurt_channel_is_pair(c) ? gpurt_warp() == 1 : choice >= 15;

    if (choice == 31 && round > 4 && !(gpurt_channel_is_pair(c) && receives))
        return CHANNEL_OP_CLOSE;
    if (gpurt_channel_is_granted(c) && choice % 4 == 3)
        return CHANNEL_OP_GRANT;
    if (gpurt_channel_is_resized(c) && choice % 8 == 5)
        return CHANNEL_OP_RESIZE;
    return receives ? CHANNEL_OP_RECEIVE : CHANNEL_OP_SEND;
}

GPURT_DEVN void channel_act(channel_book_t *book, const gpurt_channel_t *c, uint32_t lane,
                            uint32_t round, uint32_t *state)
{
    uint32_t choice = holding_random(state) % 32, value = lane * CHANNEL_ROUNDS + round + 1;
    channel_op_t op = {0, 0, 0, lane, value, 0};

    op.what = channel_choose(c, choice, round);
    op.begin = channel_tick(book, c);
    op.answer = channel_move(c, &op, choice % 3 != 0);
    op.end = channel_tick(book, c);
    book->ops[lane][round] = op;
}

/* What was left is received when all lanes are done. */
GPURT_DEVN void channel_rest(channel_book_t *book, const gpurt_channel_t *c)
{
    for (uint32_t i = 0; i < CHANNEL_REST; i++) {
        channel_op_t op = {channel_tick(book, c), 0, CHANNEL_OP_RECEIVE, 0, 0, 0};

        op.answer = channel_move(c, &op, true);
        op.end = channel_tick(book, c);
        book->rest[i] = op;
        book->rest_count = i + 1;
        if (op.answer != GPURT_OK)
            return;
    }
}

/* Two lanes of each of two warps, a block a game; of a pair one lane. */
GPURT_KERNEL(channel_game, struct channel_args, p)
{
    const gpurt_channel_t *c = &p->games[gpurt_block_x()];
    channel_book_t *book = &p->books[gpurt_block_x()];
    uint32_t state = holding_seed(p->seed), lane = gpurt_warp() * 2 + gpurt_lane();
    uint32_t lanes = gpurt_channel_is_pair(c) ? 1 : 2;

    for (uint32_t round = 0; gpurt_lane() < lanes && round < CHANNEL_ROUNDS; round++)
        channel_act(book, c, lane, round, &state);
    gpurt_block_barrier();
    if (gpurt_thread_rank() == 0)
        channel_rest(book, c);
}
