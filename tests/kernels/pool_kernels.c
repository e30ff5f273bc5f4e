/* SPDX-License-Identifier: Apache-2.0 */
#include "pool_kernels.h"

#include <gpurt/alloc.h>
#include <gpurt/device.h>

/* Chunks side by side, of one branch, of one root word, and of the next. */
GPURT_TABLE const uint32_t pool_places[POOL_CHUNKS] = {
    0, 63, 64 + 5, 64 + 6, 64 * 64, 64 * 64 + 9, 64 * 4096 + 0, 64 * 4096 + 1};

/* One lane's hand. */
typedef struct pool_hand {
    gpurt_heap_t heap;
    pool_book_t *book;
    uint32_t lane, random;
    uint32_t chunks; /* of the game; */
    uint32_t held;   /* ... its own of them */
    uint32_t leaf;   /* where it found something last, POOL_LEAVES: nowhere; */
    uint64_t word;   /* ... and what */
} pool_hand_t;

GPURT_DEV uint32_t pool_random(pool_hand_t *hand)
{
    hand->random ^= hand->random << 13;
    hand->random ^= hand->random >> 17;
    hand->random ^= hand->random << 5;
    return hand->random >> 3;
}

/* The test's chunks that lie in leaves [first, beyond). */
GPURT_DEV uint32_t pool_among(uint32_t first, uint32_t beyond)
{
    uint32_t among = 0;

    for (uint32_t i = 0; i < POOL_CHUNKS; i++)
        if (pool_places[i] / 64 >= first && pool_places[i] / 64 < beyond)
            among |= 1u << i;
    return among;
}

/* Those of a leaf's bits, and whether there are others. */
GPURT_DEV uint32_t pool_chunks(uint32_t leaf, uint64_t bits)
{
    uint32_t chunks = 0;

    for (uint32_t i = 0; i < POOL_CHUNKS; i++) {
        uint64_t bit = 1ull << (pool_places[i] % 64);

        if (pool_places[i] / 64 == leaf && (bits & bit)) {
            chunks |= 1u << i;
            bits &= ~bit;
        }
    }
    return bits ? chunks | HISTORY_STRANGE : chunks;
}

/* Bits of those chunks that lie in a leaf. */
GPURT_DEV uint64_t pool_bits(uint32_t leaf, uint32_t chunks)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < POOL_CHUNKS; i++)
        if (pool_places[i] / 64 == leaf && (chunks >> i & 1u))
            bits |= 1ull << (pool_places[i] % 64);
    return bits;
}

/* Order: all that lanes did before an earlier tick. */
GPURT_DEV uint32_t pool_tick(const pool_hand_t *hand)
{
    return gpurt_add_acq_rel_dev_u32(&hand->book->xclock, 1);
}

GPURT_DEV pool_hand_t pool_hand(const struct pool_args *p, uint32_t lane)
{
    uint32_t who = gpurt_block_rank() * (POOL_LANES + 1) + lane;
    pool_hand_t hand;

    hand.book = p->books + gpurt_block_rank();
    hand.heap = p->shape;
    hand.heap.trees = hand.book->tree;
    hand.heap.counts = &hand.book->counts;
    hand.lane = lane;
    hand.random = (who * 747796405u + p->seed * 2891336453u) | 1u;
    hand.random = (hand.random >> 15 ^ hand.random) * 2246822519u | 1u;
    hand.chunks = p->chunks;
    hand.held = 0;
    hand.leaf = POOL_LEAVES;
    hand.word = 0;
    return hand;
}

GPURT_DEV history_op_t pool_op(const pool_hand_t *hand, uint32_t what, uint32_t leaf,
                               uint32_t among)
{
    history_op_t op;

    op.what = what;
    op.lane = hand->lane;
    op.among = among;
    op.leaf = pool_among(leaf, leaf + 1);
    op.answer = op.emptied = 0;
    op.news = 0;
    op.begin = op.end = 0;
    return op;
}

/* Puts some of the lane's own chunks of a leaf, among them the one. */
GPURT_DEVN history_op_t pool_put(pool_hand_t *hand, uint32_t chunk)
{
    uint32_t leaf = pool_places[chunk] / 64;
    uint32_t own = hand->held & pool_among(leaf, leaf + 1);
    uint32_t chunks = (own & pool_random(hand)) | 1u << chunk;
    history_op_t op = pool_op(hand, HISTORY_PUT, leaf, chunks);

    hand->held &= ~chunks;
    op.begin = pool_tick(hand);
    gpurt_tree_put(&hand->heap, 0, leaf, pool_bits(leaf, chunks));
    op.end = pool_tick(hand);
    return op;
}

/* Takes those bits out, or pulls them, and keeps what it gets. */
GPURT_DEVN history_op_t pool_take(pool_hand_t *hand, uint32_t leaf, uint64_t bits,
                                  bool pulls)
{
    history_op_t op =
        pool_op(hand, pulls ? HISTORY_PULL : HISTORY_TAKE, leaf, pool_chunks(leaf, bits));
    bool emptied = false;
    uint64_t got;

    op.begin = pool_tick(hand);
    if (pulls)
        got = gpurt_tree_pull(&hand->heap, 0, leaf, bits, &emptied);
    else
        got = gpurt_tree_take(&hand->heap, 0, leaf, bits);
    op.end = pool_tick(hand);
    op.answer = pool_chunks(leaf, got);
    op.emptied = emptied;
    hand->held |= op.answer & ~HISTORY_STRANGE;
    return op;
}

/* Looks from leaf `start` on, and round; or up to leaf `beyond`, where that is not 0. */
GPURT_DEVN history_op_t pool_find(pool_hand_t *hand, uint32_t start, uint32_t beyond)
{
    uint64_t word = 0, news = gpurt_run_news(&hand->heap);
    uint32_t begin = pool_tick(hand);
    uint32_t leaf = gpurt_slab_where(&hand->heap, 0, start, beyond, &word);
    uint32_t end = pool_tick(hand);
    history_op_t op =
        pool_op(hand, HISTORY_FIND, leaf == GPURT_TREE_NONE ? (uint32_t)POOL_LEAVES : leaf,
                beyond ? pool_among(start, beyond) : (1u << POOL_CHUNKS) - 1);

    op.begin = begin;
    op.end = end;
    op.news = news;
    hand->leaf = POOL_LEAVES;
    if (leaf == GPURT_TREE_NONE)
        return op;
    op.answer = pool_chunks(leaf, word);
    hand->leaf = leaf;
    hand->word = word;
    return op;
}

/* One of a few chunks. Context: there is one. */
GPURT_DEV uint32_t pool_pick(pool_hand_t *hand, uint32_t chunks)
{
    return gpurt_tree_next(chunks, pool_random(hand) % POOL_CHUNKS) % POOL_CHUNKS;
}

/* One operation at random. */
GPURT_DEVN history_op_t pool_act(pool_hand_t *hand)
{
    uint32_t what = pool_random(hand) % 8, chunk = pool_pick(hand, hand->chunks);
    uint32_t leaf = pool_places[chunk] / 64, beyond;

    if (what < 4 && hand->held)
        return pool_put(hand, pool_pick(hand, hand->held));
    if (hand->leaf < POOL_LEAVES && what % 4) {
        leaf = hand->leaf;
        hand->leaf = POOL_LEAVES;
        return pool_take(hand, leaf, what % 2 ? hand->word : hand->word & -hand->word,
                         what == 7);
    }
    if (what == 6)
        return pool_take(hand, leaf, pool_bits(leaf, pool_random(hand) | 1u << chunk),
                         pool_random(hand) % 2);
    beyond = leaf + 1 + pool_random(hand) % 65;
    if (beyond > POOL_LEAVES)
        beyond = POOL_LEAVES;
    return pool_find(hand, leaf, what % 2 ? beyond : 0);
}

/* Each active lane does what it likes, beginning with chunks of its own. */
GPURT_KERNEL(pool_play, struct pool_args, p)
{
    uint32_t lane = gpurt_warp() * 2 + (gpurt_lane() != 0);
    pool_hand_t hand;

    if (gpurt_warp() >= POOL_WARPS || (gpurt_lane() != 0 && gpurt_lane() != 13))
        return;
    hand = pool_hand(p, lane);
    for (uint32_t i = lane; i < POOL_CHUNKS; i += POOL_LANES)
        hand.held |= p->chunks & 1u << i;
    for (uint32_t i = 0; i < p->rounds; i++)
        hand.book->ops[lane][i] = pool_act(&hand);
    gpurt_red_or_relaxed_dev_u32(&hand.book->xheld, hand.held);
}

/* One lane, when all have come to rest: finds and takes until it finds nothing. */
GPURT_KERNEL(pool_take_out, struct pool_args, p)
{
    uint32_t start = pool_places[p->seed % POOL_CHUNKS] / 64, n = 0;
    pool_hand_t hand;

    if (gpurt_thread_rank() != 0)
        return;
    hand = pool_hand(p, POOL_LANES);
    hand.book->rested = pool_tick(&hand);
    hand.book->news = gpurt_run_news(&hand.heap);
    while (n < POOL_TAKE_OUT) {
        hand.book->take_out[n++] = pool_find(&hand, start, 0);
        if (hand.leaf == POOL_LEAVES || n == POOL_TAKE_OUT)
            break;
        hand.book->take_out[n++] = pool_take(&hand, hand.leaf, hand.word, false);
    }
    hand.book->taken = n;
}
