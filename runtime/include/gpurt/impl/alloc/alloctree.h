/* SPDX-License-Identifier: Apache-2.0 */
/* alloctree.h - sets of chunks: bit trees in which any lane puts in and takes out.
 *
 * Three levels of 64-bit words; 3 loads find a member among 16 GiB of chunks. A leaf bit is
 * the truth. A branch or root bit says where to look: it may stay set too long, which costs
 * a look, and is never clear for longer than a lane takes that has just put the first bit in,
 * or is looking whether it may stay clear; that lane then makes it news. What is promised to
 * a search that finds nothing is in docs/HEAP_ORDER.md. Context: device code, any lane alone. Lock-free.
 * For alloc.h only. */
#ifndef GPURT_ALLOCTREE_H
#define GPURT_ALLOCTREE_H

#include <gpurt/block.h>
#include <gpurt/impl/alloc/allocmap.h>

#define GPURT_TREE_NONE 0xffffffffu

GPURT_DEV uint64_t *gpurt_tree_leaves(const gpurt_heap_t *h, uint32_t tree)
{
    return h->trees + (size_t)tree * h->tree_words;
}

/* There is something to find that was not there before: a look that found nothing is out of
 * date. Context: after what can be found was made so. */
GPURT_DEV void gpurt_tree_news(const gpurt_heap_t *h)
{
    if (h->counts) /* a table's set of free numbers has none */
        gpurt_red_add_release_dev_u64(&h->counts->xnews, 1); /* AV2.rel */
}

/* Says upward that a leaf has bits again. */
GPURT_DEVN void gpurt_tree_raise(const gpurt_heap_t *h, uint64_t *leaves, uint32_t leaf)
{
    uint64_t *branch = leaves + h->leaf_words + leaf / 64;
    uint64_t *root = leaves + h->leaf_words + h->branch_words + leaf / 4096;
    uint64_t bit = 1ull << (leaf / 64 % 64);

    gpurt_red_or_release_dev_u64(branch, 1ull << (leaf % 64)); /* AT1.rel */
    /* Not only where a look finds it clear: the look could come before the bit above, and who
     * clears this one after the look might not see that one. */
    gpurt_red_or_release_dev_u64(root, bit); /* AT1.rel */
    gpurt_tree_news(h);
}

/* The same of leaves [from, to), whether they have or not: a word of the branches at a time. */
GPURT_DEVN void gpurt_tree_raise_row(const gpurt_heap_t *h, uint64_t *leaves, uint32_t from,
                                     uint32_t to)
{
    uint64_t *branches = leaves + h->leaf_words, *roots = branches + h->branch_words;

    for (uint32_t branch = from / 64; branch * 64 < to; branch++) {
        uint32_t first = from > branch * 64 ? from % 64 : 0, end = to - branch * 64;
        uint64_t bits = (end < 64 ? (1ull << end) - 1 : ~0ull) & (~0ull << first);

        gpurt_red_or_release_dev_u64(branches + branch, bits); /* AT1.rel */
        gpurt_red_or_release_dev_u64(roots + branch / 64,
                                     1ull << branch % 64); /* AT1.rel */
    }
    gpurt_tree_news(h);
}

/* Says upward that a leaf was emptied, and takes it back where that is no longer so. */
GPURT_DEVN void gpurt_tree_lower(const gpurt_heap_t *h, uint32_t tree, uint32_t leaf)
{
    uint64_t *leaves = gpurt_tree_leaves(h, tree);
    uint64_t *branch = leaves + h->leaf_words + leaf / 64;
    uint64_t *root = leaves + h->leaf_words + h->branch_words + leaf / 4096;
    uint64_t bit = 1ull << (leaf % 64), old;

    old = gpurt_and_acquire_far_u64(branch, ~bit);   /* AT1.acq */
    if (gpurt_load_relaxed_dev_u64(leaves + leaf)) { /* relaxed: after the acquire above */
        gpurt_tree_raise(h, leaves, leaf);
        return;
    }
    if (old & ~bit)
        return;
    bit = 1ull << (leaf / 64 % 64);
    gpurt_and_acquire_far_u64(root, ~bit);    /* AT1.acq */
    if (gpurt_load_relaxed_dev_u64(branch)) { /* relaxed: likewise */
        /* relaxed: who set the branch's bit has said so at the root, or is about to, and what
         * changes a word with one atomic hands on what was released to it */
        gpurt_red_or_relaxed_dev_u64(root, bit);
        gpurt_tree_news(h); /* who looked meanwhile missed it */
    }
}

/* Puts chunks of one leaf in, without a word to those above. Order: release, for whoever takes them
 * out. Returns: whether the leaf was empty; then gpurt_tree_raise is due. */
GPURT_DEV bool gpurt_tree_put_quiet(const gpurt_heap_t *h, uint32_t tree, uint32_t leaf,
                                    uint64_t bits)
{
    uint64_t *leaves = gpurt_tree_leaves(h, tree);

    return gpurt_or_release_far_u64(leaves + leaf, bits) == 0; /* AH3.rel */
}

/* The same behind gpurt_release_ahead_dev. */
GPURT_DEV bool gpurt_tree_put_ahead(const gpurt_heap_t *h, uint32_t tree, uint32_t leaf,
                                    uint64_t bits)
{
    uint64_t *leaves = gpurt_tree_leaves(h, tree);

    return gpurt_or_ahead_far_u64(leaves + leaf, bits) == 0; /* AH3.rel */
}

/* Puts chunks of one leaf in, for all to find. */
GPURT_DEV void gpurt_tree_put(const gpurt_heap_t *h, uint32_t tree, uint32_t leaf,
                              uint64_t bits)
{
    if (gpurt_tree_put_quiet(h, tree, leaf, bits))
        gpurt_tree_raise(h, gpurt_tree_leaves(h, tree), leaf);
}

/* Takes those of the bits out that are in. Those above the leaf are not told that it was emptied;
 * gpurt_tree_lower does that, or a look in vain. emptied: NULL, or whether it was. Order: acquire.
 * Returns: them. */
GPURT_DEV uint64_t gpurt_tree_pull(const gpurt_heap_t *h, uint32_t tree, uint32_t leaf,
                                   uint64_t bits, bool *emptied)
{
    uint64_t *leaves = gpurt_tree_leaves(h, tree);
    uint64_t old = gpurt_and_acquire_far_u64(leaves + leaf, ~bits); /* AH3.acq */

    if (emptied)
        *emptied = old && !(old & ~bits);
    return old & bits;
}

/* The same, and tells those above. */
GPURT_DEV uint64_t gpurt_tree_take(const gpurt_heap_t *h, uint32_t tree, uint32_t leaf,
                                   uint64_t bits)
{
    bool emptied;
    uint64_t got = gpurt_tree_pull(h, tree, leaf, bits, &emptied);

    if (emptied)
        gpurt_tree_lower(h, tree, leaf);
    return got;
}

/* First set bit at or after position `from`, going round. Context: word is not 0. */
GPURT_DEV uint32_t gpurt_tree_next(uint64_t word, uint32_t from)
{
    uint64_t above = word >> from << from;

    return gpurt_ctz64(above ? above : word);
}

/* The first leaf with bits of those that `hints`, of a branch word, name, from leaf `from` on. */
GPURT_DEV uint32_t gpurt_tree_in_branch(const gpurt_heap_t *h, uint32_t tree,
                                        uint32_t branch, uint64_t hints, uint32_t from,
                                        uint64_t *word)
{
    while (hints) {
        uint32_t leaf = branch * 64 + gpurt_tree_next(hints, from);

        /* relaxed: a look; what is found is taken with acquire */
        *word = gpurt_load_relaxed_dev_u64(gpurt_tree_leaves(h, tree) + leaf);
        if (*word)
            return leaf;
        gpurt_tree_lower(h, tree, leaf);
        hints &= ~(1ull << (leaf % 64));
    }
    return GPURT_TREE_NONE;
}

/* Looks for a leaf with bits among [first, beyond). Returns: likewise. */
GPURT_DEVN uint32_t gpurt_tree_find_in(const gpurt_heap_t *h, uint32_t tree, uint32_t first,
                                       uint32_t beyond, uint64_t *word)
{
    const uint64_t *branches = gpurt_tree_leaves(h, tree) + h->leaf_words;

    for (uint32_t branch = first / 64; branch * 64 < beyond; branch++) {
        uint64_t hints =
            gpurt_load_relaxed_dev_u64(branches + branch); /* relaxed: a look */
        uint32_t end = beyond - branch * 64, leaf;

        if (branch == first / 64)
            hints &= ~0ull << (first % 64);
        if (end < 64)
            hints &= (1ull << end) - 1;
        leaf = gpurt_tree_in_branch(h, tree, branch, hints, 0, word);
        if (leaf != GPURT_TREE_NONE)
            return leaf;
    }
    return GPURT_TREE_NONE;
}

/* Looks for a leaf with bits, from leaf `start` on and round. Returns: it and what it held,
 * or GPURT_TREE_NONE. */
GPURT_DEVN uint32_t gpurt_tree_find(const gpurt_heap_t *h, uint32_t tree, uint32_t start,
                                    uint64_t *word)
{
    const uint64_t *leaves = gpurt_tree_leaves(h, tree);
    const uint64_t *branches = leaves + h->leaf_words, *roots = branches + h->branch_words;
    uint32_t first = start / 4096;

    /* relaxed, here and below: looks */
    *word = gpurt_load_relaxed_dev_u64(leaves + start);
    if (*word)
        return start;
    for (uint32_t i = 0; i < h->root_words; i++) {
        uint32_t r = first + i < h->root_words ? first + i : first + i - h->root_words;
        uint64_t hints = gpurt_load_relaxed_dev_u64(roots + r);

        while (hints) {
            uint32_t at = gpurt_tree_next(hints, i == 0 ? start / 64 % 64 : 0);
            uint32_t branch = r * 64 + at;
            uint32_t leaf = gpurt_tree_in_branch(
                h, tree, branch, gpurt_load_relaxed_dev_u64(branches + branch),
                branch == start / 64 ? start % 64 : 0, word);

            if (leaf != GPURT_TREE_NONE)
                return leaf;
            /* NOLINTNEXTLINE(clang-analyzer-*): below 64, for hints is not 0, which it forgets */
            hints &= ~(1ull << at);
        }
    }
    return GPURT_TREE_NONE;
}

#endif
