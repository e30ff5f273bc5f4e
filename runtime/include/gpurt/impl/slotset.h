/* SPDX-License-Identifier: Apache-2.0 */
/* slotset.h - takes numbers out of a set of free ones and puts them back, for tables.
 *
 * Lanes that call together share an atomic. Lock-free. Context: device code. For ref.h and
 * object.h only. */
#ifndef GPURT_SLOTSET_H
#define GPURT_SLOTSET_H

#include <gpurt/atomic.h>
#include <gpurt/ids.h>
#include <gpurt/impl/alloc/alloctree.h>
#include <gpurt/impl/reclaimmap.h>

/* The lowest n set bits. */
GPURT_DEV uint64_t gpurt_slotset_lowest(uint64_t word, uint32_t n)
{
    uint64_t rest = word;

    if (gpurt_popc64(word) <= n)
        return word;
    for (; n; n--)
        rest &= rest - 1;
    return word & ~rest;
}

/* The set bit that `rank` others lie below. Context: there are as many. */
GPURT_DEV uint32_t gpurt_slotset_nth(uint64_t word, uint32_t rank)
{
    for (; rank; rank--)
        word &= word - 1;
    return gpurt_ctz64(word);
}

/* Warps begin at leaves of their own. */
GPURT_DEV uint32_t gpurt_slotset_start(const gpurt_slotset_t *s)
{
    uint32_t who = gpurt_sm() * 61u + gpurt_warp_slot();

    return (who * 2654435761u >> 8) % s->tree.leaf_words;
}

/* A number for each lane of the mask; GPURT_SLOT_NONE when there is none left.
 * Context: all lanes of the mask. */
GPURT_DEVN uint32_t gpurt_slotset_take(const gpurt_slotset_t *s, uint32_t lanes)
{
    uint32_t mine = GPURT_SLOT_NONE, todo = lanes, leaf = 0;

    while (todo) {
        uint32_t rank = gpurt_popc(todo & gpurt_lanes_below());
        uint64_t word = 0;

        if (gpurt_is_leader(lanes)) {
            leaf = gpurt_tree_find(&s->tree, 0, gpurt_slotset_start(s), &word);
            if (leaf != GPURT_TREE_NONE)
                word = gpurt_tree_take(&s->tree, 0, leaf,
                                       gpurt_slotset_lowest(word, gpurt_popc(todo)));
        }
        gpurt_syncwarp(lanes); /* what the leader has acquired holds for all */
        leaf = gpurt_shfl_u32(lanes, leaf, gpurt_leader(lanes));
        word = gpurt_shfl_u64(lanes, word, gpurt_leader(lanes));
        if (leaf == GPURT_TREE_NONE)
            break;
        if ((todo >> gpurt_lane() & 1u) && rank < gpurt_popc64(word))
            mine = leaf * 64 + gpurt_slotset_nth(word, rank);
        todo = gpurt_ballot(lanes, mine == GPURT_SLOT_NONE);
        if (todo)
            gpurt_pause(); /* another warp was faster; numbers must not end with a lane */
    }
    return mine;
}

/* Order: release, for whoever takes it. Context: any lanes. */
GPURT_DEVN void gpurt_slotset_put(const gpurt_slotset_t *s, uint32_t number)
{
    uint32_t lanes = gpurt_activemask();
    uint32_t group = gpurt_match_any_u32(lanes, number / 64);
    uint64_t bits = gpurt_reduce_or_u64(group, 1ull << (number % 64));

    gpurt_syncwarp(group); /* the leader publishes for all */
    if (gpurt_is_leader(group))
        gpurt_tree_put(&s->tree, 0, number / 64, bits);
}

#endif
