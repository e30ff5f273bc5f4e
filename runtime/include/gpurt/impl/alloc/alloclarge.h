/* SPDX-License-Identifier: Apache-2.0 */
/* alloclarge.h - objects above the largest class: rows of whole chunks, first fit.
 *
 * Context: device code, any lane alone. For alloc.h only. */
#ifndef GPURT_ALLOCLARGE_H
#define GPURT_ALLOCLARGE_H

#include <gpurt/impl/alloc/allocrun.h>

/* The bits of leaf word `leaf` that stand for chunks [first, first + n). */
GPURT_DEV uint64_t gpurt_large_mask(uint32_t leaf, uint32_t first, uint32_t n)
{
    uint32_t from = first > leaf * 64 ? first - leaf * 64 : 0;
    uint32_t to = first + n - leaf * 64;

    return (to >= 64 ? ~0ull : (1ull << to) - 1) & ~((1ull << from) - 1);
}

GPURT_DEVN void gpurt_large_put(const gpurt_heap_t *h, uint32_t first, uint32_t n)
{
    for (uint32_t leaf = first / 64; n > 0 && leaf * 64 < first + n; leaf++)
        gpurt_tree_put(h, GPURT_TREE_POOL, leaf, gpurt_large_mask(leaf, first, n));
}

/* Takes chunks [first, first + n), all or none. */
GPURT_DEVN bool gpurt_large_claim(const gpurt_heap_t *h, uint32_t first, uint32_t n)
{
    for (uint32_t leaf = first / 64; leaf * 64 < first + n; leaf++) {
        uint64_t want = gpurt_large_mask(leaf, first, n);
        uint64_t got = gpurt_tree_take(h, GPURT_TREE_POOL, leaf, want);

        if (got == want)
            continue;
        if (got)
            gpurt_tree_put(h, GPURT_TREE_POOL, leaf, got);
        if (leaf * 64 > first)
            gpurt_large_put(h, first, leaf * 64 - first);
        return false;
    }
    return true;
}

/* Begin of the first row of n set bits in a word, 64 when there is none. */
GPURT_DEV uint32_t gpurt_large_row(uint64_t word, uint32_t n)
{
    for (uint32_t have = 1; have < n && word;) {
        uint32_t step = n - have < have ? n - have : have;

        word &= word >> step;
        have += step;
    }
    return gpurt_ctz64(word);
}

/* One look through the pool, from chunk `from` on. free: what it met.
 * Returns: where n chunks in a row seemed free, or GPURT_TREE_NONE. */
GPURT_DEVN uint32_t gpurt_large_look(const gpurt_heap_t *h, uint32_t n, uint32_t from,
                                     uint32_t *free)
{
    const uint64_t *leaves = gpurt_tree_leaves(h, GPURT_TREE_POOL);
    uint32_t run = 0; /* free chunks right before this leaf */

    for (uint32_t leaf = from / 64; leaf < h->leaf_words; leaf++) {
        /* relaxed: a look; the claim takes with acquire */
        uint64_t word = gpurt_load_relaxed_dev_u64(leaves + leaf);
        uint32_t low = gpurt_ctz64(~word), at;

        *free += gpurt_popc64(word);
        if (run + low >= n)
            return leaf * 64 - run;
        at = n < 64 ? gpurt_large_row(word, n) : 64;
        if (at < 64)
            return leaf * 64 + at;
        run = low == 64 ? run + 64 : gpurt_clz64(~word);
    }
    return GPURT_TREE_NONE;
}

/* Context: size above GPURT_SMALL_MAX. */
GPURT_DEVN void *gpurt_large_alloc(const gpurt_heap_t *h, size_t size, uint32_t *why)
{
    size_t wanted = (size + GPURT_CHUNK_BYTES - 1) >> GPURT_CHUNK_SHIFT;
    uint32_t n = (uint32_t)wanted, first = 0, free = 0, wait = 1;

    *why = GPURT_ALLOC_TOO_LARGE;
    if (size > (size_t)h->chunk_count << GPURT_CHUNK_SHIFT)
        return NULL;
    for (;;) {
        first = gpurt_large_look(h, n, first, &free);
        if (first == GPURT_TREE_NONE) {
            *why = free >= n ? GPURT_ALLOC_FRAGMENTED : GPURT_ALLOC_FULL;
            if (!gpurt_run_gather(h))
                return NULL;
            first = free = 0;
            continue;
        }
        if (gpurt_large_claim(h, first, n))
            break;
        gpurt_backoff(&wait); /* another lane was faster */
        first = first / 64 * 64;
        free = 0;
    }
    /* relaxed: reaches others with the pointer */
    gpurt_store_relaxed_dev_u32(gpurt_slab_state(h, first), GPURT_STATE_LARGE | n);
    gpurt_red_add_relaxed_dev_u64(&h->counts->xlarge, 1); /* relaxed: a statistic */
    *why = GPURT_ALLOC_OK;
    return h->chunks + ((size_t)first << GPURT_CHUNK_SHIFT);
}

/* The first chunk of the large object in which `chunk`, whose state is the pool's, lies;
 * GPURT_TREE_NONE: in none. For bad frees only: it looks back over all of the object's chunks. */
GPURT_DEVN uint32_t gpurt_large_first(const gpurt_heap_t *h, uint32_t chunk)
{
    const uint64_t *leaves = gpurt_tree_leaves(h, GPURT_TREE_POOL);
    uint32_t state = GPURT_STATE_POOL, at = chunk;

    /* relaxed, both: a report */
    if (gpurt_load_relaxed_dev_u64(leaves + chunk / 64) >> (chunk % 64) & 1u)
        return GPURT_TREE_NONE;
    while (at > 0 && state == GPURT_STATE_POOL)
        state = gpurt_load_relaxed_dev_u32(gpurt_slab_state(h, --at));
    return (state & GPURT_STATE_KIND) == GPURT_STATE_LARGE &&
                   chunk - at < gpurt_state_chunks(state)
               ? at
               : GPURT_TREE_NONE;
}

/* Returns: GPURT_FREE_OK, or what is wrong with it. */
GPURT_DEVN uint32_t gpurt_large_free(const gpurt_heap_t *h, uint32_t chunk, uint32_t state)
{
    /* relaxed: the pool's leaves publish */
    if (!gpurt_cas_relaxed_far_u32(gpurt_slab_state(h, chunk), &state, GPURT_STATE_POOL))
        return GPURT_FREE_TWICE;
    gpurt_large_put(h, chunk, gpurt_state_chunks(state));
    return GPURT_FREE_OK;
}

#endif
